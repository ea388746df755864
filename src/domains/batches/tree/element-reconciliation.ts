/**
 * One look at a tree of procedural elements: reads them, lets the tree settle, and gathers what changed into one change of
 * the store (decisions 3.4). What it belongs to, a batch or an ad-hoc run, is the business of its two kinds. Nothing is written
 * but through `change()`, so a reconciliation either happens whole or not at all.
 */
import type { WallMs } from '../../../platform/base/times.js';
import assert from 'node:assert/strict';
import { evaluateCondition, type EvaluationScope } from '../../../../runtime/language/evaluate.js';
import type { ChartTransition } from '../../../../runtime/vocabulary/chart.js';
import { parseDecimal, parseValueText } from '../../../../runtime/language/value-text.js';
import { Any, anyOf, zeroValue } from '../../../../runtime/language/values.js';
import type { DataType } from '../../../../runtime/vocabulary/data-types.js';
import type { Command, State } from '../../../../runtime/vocabulary/states.js';
import { told, withTold } from '../../../../runtime/vocabulary/told.js';
import { isActive, isFinal } from '../../../../runtime/vocabulary/transitions.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { type AuditDraft, component } from '../../../platform/store/audit-record.js';
import type { Kind } from '../../../platform/store/kind.js';
import { refOf, type Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { barrierWord, trueNames } from '../../coordination/progress.js';
import { type ElementOutput, type ElementStatus, Operation, Phase, type PhaseSpec, Procedure, UnitProcedure, type ParameterValue } from '../../procedures/kind.js';
import type { ElementFailure, Reason } from '../../runs/failures.js';
import { conditionOf } from '../../placement/conditions.js';
import { ALARM_EXCEPTION, commandedByAlarm, leavesFailure, seenNow } from './alarm-failure.js';
import { asksForTime, isNext, lookOf, progressOf, readNode } from './element-node.js';
import { elementIndex, type ElementResource } from './element-index.js';
import { HeldUnits } from './held-units.js';
import { executionEvent, type PendingFact, stateEntry } from '../../runs/execution-log.js';
import { type ElementKind, hasInside, type HoldPropagation, isPausedInside, keyOf, ProcedureTree, type TreeNode, type TreeWorld, walk } from './procedure-tree.js';
import type { CommandRejection } from '../../runs/command-rejection.js';
import { faultOf } from '../creation/unfit-values.js';
import { isFromOutput, outputParameters } from '../creation/parameters.js';
import { type PendingCommand, UNREADABLE_ORDER } from '../../runs/pending-command.js';
import type { OrderFailure } from '../phases/phase-orders.js';
import { NO_PROGRESS } from './chart-moves.js';
import { runClocks } from './run-clocks.js';
import { capabilityOf } from '../start/allocation-queue.js';
import { type StartWait, startWaitText, type Withheld } from '../start/start-wait.js';
import type { CandidateNow } from '../start/unit-class.js';

export const BATCH_COMPONENT = component('batch-controller');
const WAITING = 'WaitingForAllocation';
/** How often a condition on a step time is looked at, which nobody reports. */
const STEP_TIME_LOOK_MS = 500;
/** Commands after which work goes on, or begins. */
export const TAKES_UP: readonly Command[] = ['Start', 'Restart', 'Resume'];

const KINDS: Readonly<Record<ElementKind, Kind<never, ElementStatus>>> = {
  Procedure: Procedure as Kind<never, ElementStatus>,
  UnitProcedure: UnitProcedure as Kind<never, ElementStatus>,
  Operation: Operation as Kind<never, ElementStatus>,
  Phase: Phase as Kind<never, ElementStatus>,
};

/** What a reconciliation needs from outside the store. */
export interface ReconciliationWorld {
  /** One that is asked and never written keeps no copy to compare with. */
  readonly readOnly?: true;
  readonly nowMs: WallMs;
  readonly clock: Clock;
  /** Plant time to wall time. */
  readonly timeScale: number;
  readonly holdPropagation: HoldPropagation;
  readonly onPhaseFailure: 'Hold' | 'Fail';
  readonly resumeCancelsPause: boolean;
  readonly settleDeadlineMs: number;
  commandPhase(phase: Resource<PhaseSpec, ElementStatus>, command: Command, failure?: OrderFailure): void;
  awaitsAnswer(unit: string, phase: string): boolean;
  /** The runtime of the unit is there to obey. */
  isReady(unit: string): boolean;
  /** Units of the class of a capability as they stand now; absent where nobody chooses. */
  candidates?(capability: string): readonly CandidateNow[];
  /** The worker has refused what it was asked last, as the phase stands. */
  isRefused(phase: Resource<PhaseSpec, ElementStatus>): boolean;
}

/** Why a command is not obeyed. */
export type CommandRefusal = Reason;

export abstract class ElementReconciliation {
  readonly site: string;
  /** Batch or ad-hoc root: the name that units are allocated to and facts are kept under. */
  readonly scope: string;
  readonly tree: ProcedureTree | undefined;
  readonly at: string;
  readonly facts: PendingFact[] = [];
  readonly audits: AuditDraft[] = [];
  /** Units that are free but not given out now, with the reason. */
  readonly withheld = new Map<string, Withheld>();
  /** A unit is free that it waits for and is not given: nobody reports when it may be. */
  waitsForFree = false;
  protected readonly store: Store;
  protected readonly world: ReconciliationWorld;
  /** Why the root has gone to the state it is in, if it has in this reconciliation: command word or rule. */
  protected rootCause = '';
  /** Of each node, by `keyOf`: an operation and a phase of one batch may have one name. */
  readonly #elements = new Map<string, ElementResource>();
  readonly #before = new Map<string, string>();
  readonly units: HeldUnits;
  /** Elements that have entered another state. */
  readonly #entered = new Set<TreeNode>();
  /** Elements that have taken parameters from outputs, or a unit. */
  readonly #taken = new Set<string>();
  /** Unit procedures that were given their unit in this reconciliation: they start when that is on record. */
  readonly #assigned = new Set<TreeNode>();

  /** Of the elements the one whose parent is not among them is the root. */
  constructor(site: string, scope: string, store: Store, world: ReconciliationWorld, elements: readonly ElementResource[]) {
    this.site = site;
    this.scope = scope;
    this.at = timestamp(world.nowMs);
    this.store = store;
    this.world = world;
    const released = (unit: string): void => this.released(unit);
    this.units = new HeldUnits({ site, scope, at: this.at, store, world, released, element: (node) => this.element(node), event: (event) => this.event(event) });
    const root = this.#readTree(elements);
    if (root) this.tree = new ProcedureTree(root, this.#treeWorld());
    if (root && !world.readOnly) for (const node of walk(root)) this.#before.set(keyOf(node), lookOf(node, this.element(node).status.pausedInside === true));
    if (root) root.failure = seenNow(root.failure, store, site);
  }

  /** Gives a command to the root; what an alarm has commanded leaves its failure behind. */
  protected give(root: TreeNode, { command, alarm }: Pick<PendingCommand, 'command' | 'alarm'>, judged: CommandRefusal | undefined): CommandRefusal | undefined {
    const verdict = judged ? undefined : this.tree?.command(command, alarm === undefined ? command : ALARM_EXCEPTION);
    const refused = verdict?.accepted === false ? refusedBy(root, command, verdict.rule) : judged;
    if (alarm !== undefined && leavesFailure(refused?.rule)) root.failure = commandedByAlarm(root.failure, alarm, this.at, this.store, this.site);
    return refused;
  }

  event(event: Parameters<typeof executionEvent>[3]): void {
    this.facts.push(executionEvent(this.site, this.scope, this.at, event));
  }

  /**
   * The second audit record of a command, and the event beside it (contract 3, Command rules); answers with the name of the
   * record.
   */
  verdict(
    pending: PendingCommand,
    target: { readonly kind: string; readonly state: string },
    result: 'Success' | 'Rejected',
    { rule = '', message = '', told: as }: Partial<CommandRefusal> = {},
  ): string {
    const { command, by, correlationID } = pending;
    const auditRecordRef = this.store.nextAuditName(this.audits.length);
    this.audits.push({
      site: this.site,
      actor: BATCH_COMPONENT,
      action: 'Command',
      category: 'command',
      target: { kind: target.kind, name: this.scope, site: this.site },
      result,
      ...(rule ? { rule } : {}),
      details: { command, state: target.state, ...(message ? { message } : {}), requestedBy: by.accountId },
      correlationID,
    });
    this.event({
      eventType: 'Procedural Execution',
      eventSubType: 'State Command',
      value: command,
      previousValue: rule,
      message: message || pending.reason,
      ...withTold(message !== '' ? as : pending.alarm === undefined ? undefined : told('alarm-commands', { alarm: pending.alarm })),
      person: { accountId: by.accountId, displayName: by.displayName },
      correlationID,
      auditRecordRef,
    });
    return auditRecordRef;
  }

  /** An order that cannot be read back is dropped and told; whoever gave it gives it again. */
  unreadable(target: { readonly kind: string; readonly state: string }, message: string): CommandRejection {
    const correlationID = `unreadable-${this.scope}-${this.world.nowMs}`;
    this.audits.push({
      site: this.site,
      actor: BATCH_COMPONENT,
      action: 'Command',
      category: 'command',
      target: { kind: target.kind, name: this.scope, site: this.site },
      result: 'Rejected',
      rule: UNREADABLE_ORDER,
      details: { message, state: target.state },
      correlationID,
    });
    return {
      command: '',
      state: target.state,
      rule: UNREADABLE_ORDER,
      message: `the order that waited could not be read back and was dropped (${message}); give it again`,
      told: told('order-unreadable', { fault: message }),
      at: this.at,
      correlationID,
    };
  }

  /** Why nothing of it is taken up: part of it stands as its kind begins, because its row was damaged (D-C-02). It can be held, stopped and aborted. */
  damaged(command: Command, owner?: Resource): CommandRefusal | undefined {
    if (!TAKES_UP.includes(command)) return undefined;
    for (const resource of [...(owner ? [owner] : []), ...this.#elements.values()]) {
      const fault = this.store.replacedBecause(refOf(resource));
      if (fault !== undefined)
        return {
          rule: 'stored-data',
          message: `${resource.kind} ${resource.metadata.name} is not stored as it was written (${fault}): it can be stopped and aborted`,
          told: told('stored-data', { kind: resource.kind, name: resource.metadata.name, fault }),
        };
    }
    return undefined;
  }

  /** Bookkeeping of whoever had the unit. */
  protected released(_unit: string): void {}

  element(node: TreeNode): ElementResource {
    return this.#elements.get(keyOf(node)) as ElementResource;
  }

  /** In how many ms the budgets that are being spent run out, and a condition on a step time is looked at again. */
  budgetsLeftMs(): number[] {
    return [...(this.tree ? walk(this.tree.root) : [])].flatMap((node) => [
      ...(node.timeoutMs > 0 && node.spentMs !== null ? [node.timeoutMs - node.spentMs] : []),
      ...(node.state === 'Running' && asksForTime(node) ? [STEP_TIME_LOOK_MS] : []),
    ]);
  }

  /** Elements and units that this reconciliation wants to write. */
  protected puts(): Put[] {
    assert(!this.world.readOnly, 'a reconciliation that only reads is never written');
    for (const node of this.tree ? walk(this.tree.root) : [])
      if (node.kind !== 'Phase') runClocks(this.store).note(this.#clockKey(node), node, node.state, this.world.timeScale, this.world.clock);
    const puts: Put[] = [];
    for (const node of this.tree ? walk(this.tree.root) : []) {
      if (
        this.#taken.has(keyOf(node)) ||
        lookOf(node, this.isPausedInside(node)) !== this.#before.get(keyOf(node)) ||
        waitText(node, this.startWait(node)) !== this.element(node).status.blockedBecause
      )
        puts.push(this.#elementPut(node));
    }
    return [...puts, ...this.units.puts()];
  }

  #clockKey({ kind, name }: TreeNode): string {
    return `${this.site}/${kind}/${name}`;
  }

  // ------------------------------------------------------------ reading

  #readTree(elements: readonly ElementResource[]): TreeNode | undefined {
    const nodes = new Map<string, TreeNode>();
    const children: [string, TreeNode][] = [];
    for (const resource of elements) {
      const kind = resource.kind as ElementKind;
      const node = readNode(kind, resource);
      if (kind !== 'Phase') Object.assign(node, runClocks(this.store).read(this.#clockKey(node), node));
      nodes.set(keyOf(node), node);
      this.#elements.set(keyOf(node), resource);
      const parent = resource.spec.parentRef;
      if (parent) children.push([keyOf(parent), node]);
    }
    for (const [parentKey, node] of children) {
      const parent = nodes.get(parentKey);
      if (!parent) continue;
      node.parent = parent;
      parent.children.push(node);
    }
    for (const node of nodes.values()) if (node.kind !== 'Phase' && node.progress === NO_PROGRESS && isActive(node.state)) node.progress = progressOf(node);
    return [...nodes.values()].find((node) => node.parent === null);
  }

  isPausedInside(node: TreeNode): boolean {
    return isPausedInside(node, { awaitsAnswer: ({ unit, name }) => this.world.awaitsAnswer(unit, name) });
  }

  #treeWorld(): TreeWorld {
    return {
      nowText: this.at,
      holdPropagation: this.world.holdPropagation,
      onPhaseFailure: this.world.onPhaseFailure,
      resumeCancelsPause: this.world.resumeCancelsPause,
      isTrue: (node, transition) => this.#isTrue(node, transition),
      startBlockedBy: (node) => this.startBlockedBy(node),
      takeParameters: (node) => this.#takeParameters(node),
      commandPhase: (node, command, failure) => this.world.commandPhase(this.element(node) as Resource<PhaseSpec, ElementStatus>, command, failure),
      awaitsAnswer: (node) => this.world.awaitsAnswer(node.unit, node.name),
      stateChanged: (node, from, cause) => this.#stateChanged(node, from, cause),
    };
  }

  #isTrue(node: TreeNode, transition: ChartTransition): boolean {
    const text = transition.conditionST?.trim() ?? '';
    if (text === '') return true;
    const expression = conditionOf(text);
    if (!expression) return false;
    return evaluateCondition(expression, this.conditionScope(node)).result === 'TRUE';
  }

  /** What the conditions of the chart of an element may name. */
  conditionScope(node: TreeNode): EvaluationScope {
    const { spec } = this.element(node);
    return {
      name: (name) => valueOf(spec, name),
      member: (step, member) => this.#member(node, step, member),
      read: (address) => this.#coordination(address),
    };
  }

  #member(node: TreeNode, step: string, member: string): Any | undefined {
    const child = node.children.find((candidate) => candidate.step.toLowerCase() === step.toLowerCase());
    if (!child) return undefined;
    if (member.toUpperCase() === 'X') return new Any('BOOL', node.progress.active.includes(child.step));
    if (member.toUpperCase() === 'T') return anyOf('TIME', Math.round(node.ranMs - (node.progress.activatedRanMs?.[child.step] ?? 0)));
    return this.#output(child, member);
  }

  #output(node: TreeNode, name: string): Any | undefined {
    const output = this.outputsOf(node).find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    return output && fromText(output.type, output.value);
  }

  /** Outputs of an element: a phase has its own, those above take them from their steps (decisions 1.7, `from`). */
  outputsOf(node: TreeNode): readonly ElementOutput[] {
    const { spec, status } = this.element(node);
    if (node.kind === 'Phase') return status.outputs;
    if (node.state === 'Idle' || !('outputs' in spec)) return [];
    return spec.outputs.flatMap(({ name, type, unit, from = '' }) => {
      const [step = '', output = ''] = from.split('.', 2);
      const value = this.#outputText(node, step, output);
      return value === undefined ? [] : [{ name, type, unit, value }];
    });
  }

  /** Text of `<step>.<output>` among the children of a node. */
  #outputText(parent: TreeNode, step: string, output: string): string | undefined {
    const child = parent.children.find((candidate) => candidate.step.toLowerCase() === step.toLowerCase());
    return child && this.outputsOf(child).find((candidate) => candidate.name.toLowerCase() === output.toLowerCase())?.value;
  }

  /** Kept with the element, so that its record, and a worker that starts again, have what it ran with. */
  #takeParameters(node: TreeNode): Omit<Reason, 'rule'> | undefined {
    const { parent } = node;
    const element = this.element(node);
    const { parameters, parameterValues } = element.spec;
    if (!parent) return undefined;
    const bindings = parent.chart?.steps?.find(({ name }) => name === node.step)?.parameterBindings ?? [];
    const values = outputParameters(parameterValues, bindings, this.element(parent).spec.parameterValues, (step, output) => this.#outputText(parent, step, output));
    const unfit = values.filter(isFromOutput).flatMap((value) => unfitReasonOf(parameters, value))[0];
    if (unfit !== undefined || values === parameterValues) return unfit;
    this.#elements.set(keyOf(node), { ...element, spec: { ...element.spec, parameterValues: [...values] } } as ElementResource);
    this.#taken.add(keyOf(node));
    for (const value of values.filter((candidate) => !parameterValues.includes(candidate))) this.#dataEvent(node, value, `${value.name} (${value.sourceRef})`);
    return undefined;
  }

  #dataEvent(node: TreeNode, { value }: { readonly value: string }, message: string): void {
    const element = { kind: node.kind, name: node.name, path: node.path };
    this.event({ eventType: 'Procedural Execution', eventSubType: 'Parameter Data', element, unit: node.unit, value, message });
  }

  /** READ('signal:..') and READ('barrier:..'). */
  #coordination(address: string): Any | undefined {
    const [prefix, word = ''] = address.split(':', 2);
    if (prefix !== 'signal' && prefix !== 'barrier') return undefined;
    return new Any(
      'BOOL',
      trueNames(this.#blocks(), this.#barriers()).some((name) => name.toLowerCase() === word.toLowerCase()),
    );
  }

  /** '' when the element may start. */
  startBlockedBy(node: TreeNode): string {
    const wait = this.#missing(node);
    return wait ? startWaitText(wait) : '';
  }

  /** A unit is not asked for before its signal is raised, so that is what is told first (decisions 3.3, D-C-12). */
  #missing(node: TreeNode): StartWait | undefined {
    return this.#coordinationMissing(node) ?? this.#unitMissing(node);
  }

  #unitMissing(node: TreeNode): StartWait | undefined {
    if (node.kind !== 'UnitProcedure') return undefined;
    if (node.unit === '') {
      const capability = this.capabilityOf(node);
      return { reason: 'class', capability, candidates: this.world.candidates?.(capability) ?? [] };
    }
    if (this.#assigned.has(node)) return { reason: 'allocation', unit: node.unit, holder: '' };
    const unit = this.units.get(node.unit);
    if (!unit) return { reason: 'no-unit', unit: node.unit };
    if (unit.allocatedTo === this.scope) return undefined;
    if (unit.promisedTo === this.scope) return { reason: 'resetting', unit: node.unit, holder: unit.allocatedTo, failed: unit.resetFailed ?? '' };
    const permissive = this.withheld.get(node.unit);
    return permissive ? { reason: 'permissive', unit: node.unit, permissive } : { reason: 'allocation', unit: node.unit, holder: unit.allocatedTo };
  }

  /** What the unit of a unit procedure must be able to do. */
  capabilityOf({ parent, step }: TreeNode): string {
    return capabilityOf(parent ? this.element(parent).spec : undefined, step);
  }

  /** The unit of a unit procedure that has not begun, and of all below it (D-C-12). Nothing of it moves before it is on record. */
  protected assignUnit(node: TreeNode, unit: string): void {
    for (const each of walk(node)) {
      const element = this.element(each);
      each.unit = unit;
      this.#elements.set(keyOf(each), { ...element, spec: { ...element.spec, unitRef: unit } } as ElementResource);
      this.#taken.add(keyOf(each));
    }
    this.#assigned.add(node);
  }

  #blocks() {
    return elementIndex(this.store).blocksOf(this.site, this.scope);
  }

  #barriers() {
    return elementIndex(this.store).barriersOf(this.site, this.scope);
  }

  #coordinationMissing(node: TreeNode): StartWait | undefined {
    for (const block of this.#blocks()) {
      if (block.status.signalRaised) continue;
      const waits = block.spec.signal?.consumers.some((consumer) => consumer.waitFor === 'Start' && consumer.kind === node.kind && consumer.name === node.name);
      if (waits) return { reason: 'signal', signal: block.spec.signal?.signalName ?? '' };
    }
    for (const barrier of this.#barriers()) {
      if (barrier.status.satisfiedAt !== '') continue;
      const waits = barrier.spec.participants.some((participant) => participant.waitFor === 'Start' && participant.kind === node.kind && participant.name === node.name);
      if (waits) return { reason: 'barrier', barrier: barrierWord(barrier) };
    }
    return undefined;
  }

  /** What keeps an element from starting whose turn it is (decisions 3.9). */
  startWait(node: TreeNode): StartWait | undefined {
    return isNext(node) ? this.#missing(node) : undefined;
  }

  /** Its turn has come, but for a signal or a barrier (decisions 2.7); its unit is not looked at before. */
  waitsForCoordination(node: TreeNode): boolean {
    return isNext(node) && this.#coordinationMissing(node) !== undefined;
  }

  /** Its turn has come and no signal keeps it: what it needs now is its unit. Also while the batch is held. */
  wantsUnit(node: TreeNode): boolean {
    return node.kind === 'UnitProcedure' && node.state === 'Idle' && node.parent?.progress.active.includes(node.step) === true && !this.#coordinationMissing(node);
  }

  // ------------------------------------------------------------ writing

  #stateChanged(node: TreeNode, from: State, cause: string): void {
    if (node === this.tree?.root && cause !== 'complete') this.rootCause = cause;
    this.#entered.add(node);
    const spec = this.element(node).spec;
    const element = { kind: node.kind, name: node.name, path: node.path };
    this.event({ eventType: 'Procedural Execution', eventSubType: 'State Change', element, unit: node.unit, value: node.state, previousValue: from, message: cause });
    if (isFinal(node.state)) for (const output of this.outputsOf(node)) this.#dataEvent(node, output, output.name);
    this.facts.push(
      stateEntry(this.site, this.scope, {
        ts: this.at,
        ...element,
        unit: node.unit,
        templateRef: spec.templateRef,
        run: node.runCount,
        state: node.state,
        previousState: from,
        cause,
      }),
    );
  }

  #elementPut(node: TreeNode): Put {
    const resource = this.element(node);
    const wait = this.startWait(node);
    const blockedBecause = waitText(node, wait);
    const status: ElementStatus = {
      ...resource.status,
      blockedBecause,
      conditions: conditionsOf(resource.status.conditions, wait, blockedBecause),
      ...(node.kind === 'Phase'
        ? node.failure?.alarms && { failure: node.failure }
        : {
            state: node.state,
            ...(this.#entered.has(node) ? { stateAt: this.at } : {}),
            mode: node.mode,
            progress: node.progress,
            ranMs: Math.round(node.ranMs),
            spentMs: node.spentMs === null ? null : Math.round(node.spentMs),
            runCount: node.runCount,
            startedAt: node.startedAt,
            endedAt: node.endedAt,
            pausedAt: node.pausedAt,
            failure: node.failure,
            outputs: this.outputsOf(node),
            ...(node.returnTo === '' && resource.status.returnTo === undefined ? {} : { returnTo: node.returnTo }),
          }),
      ...(node.resetFailed === '' && resource.status.resetFailed === undefined ? {} : { resetFailed: node.resetFailed }),
      escalated: node.escalated,
      heldInside: hasInside(node, 'Held'),
      pausedInside: this.isPausedInside(node),
    };
    const taken = this.#taken.has(keyOf(node)) ? { spec: resource.spec } : {};
    return { kind: KINDS[node.kind], site: this.site, name: node.name, ...taken, status };
  }
}

function waitText({ path }: TreeNode, wait: StartWait | undefined): string {
  return wait ? `${path} waits: ${startWaitText(wait)}` : '';
}

/** A unit procedure whose unit is not granted yet says so (decisions 3.3, Allocation). */
function conditionsOf(before: ElementStatus['conditions'], wait: StartWait | undefined, message: string): ElementStatus['conditions'] {
  const waits = wait !== undefined && wait.reason !== 'signal' && wait.reason !== 'barrier';
  const others = before.filter((condition) => condition.type !== WAITING);
  return waits ? [...others, { type: WAITING, status: 'True', reason: 'UnitNotGranted', message }] : others;
}

/** Why an element or a batch does not obey; an active failure is named (decisions 3.2). */
export function refusalOf(rule: string, command: Command, what: string, state: string, failure: ElementFailure | undefined): CommandRefusal {
  if (rule === 'failure-active' && failure) {
    const as = told('failure-active', { command, rule: failure.rule, message: failure.message }, failure.told);
    return { rule, message: `${command} is not possible while ${failure.rule} is active: ${failure.message}`, told: as };
  }
  return { rule, message: `${command} is not possible while ${what} is ${state}`, told: told('not-possible', { command, state }) };
}

function refusedBy({ kind, name, state }: TreeNode, command: Command, rule: string): CommandRefusal {
  return { rule, message: `${command} was refused by ${kind} ${name} in ${state}`, told: told('refused-by', { command, kind, name, state }) };
}

/** Why an element cannot run with a value that another step has left (decisions 3.2, `formula-out-of-range`). */
function unfitReasonOf(formals: ElementResource['spec']['parameters'], { name, value }: ParameterValue): Omit<Reason, 'rule'>[] {
  const formal = formals.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  const fault = formal && faultOf(formal, value);
  return fault ? [fault] : [];
}

function valueOf(spec: ElementResource['spec'], name: string): Any | undefined {
  const at = spec.parameterValues.find((parameter) => parameter.name.toLowerCase() === name.toLowerCase());
  if (!at) return undefined;
  const declared = spec.parameters.find((parameter) => parameter.name.toLowerCase() === name.toLowerCase())?.type;
  const type = declared ?? (parseDecimal(at.value) === null ? 'STRING' : 'REAL');
  return at.value === '' ? new Any(type, zeroValue(type)) : fromText(type, at.value);
}

/** The value of a parameter or output, which are kept as text (decisions 4.4). */
function fromText(type: DataType, text: string): Any | undefined {
  return anyOf(type, parseValueText(type, text));
}
