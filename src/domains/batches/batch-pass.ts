/**
 * One look at one batch: reads the batch and its elements into a tree, lets it settle, and gathers what changed into one
 * change of the store (decisions 3.3, 3.4). Nothing is written but through `change()`, so a pass either happens whole or
 * not at all.
 */
import { evaluateCondition } from '../../../runtime/language/evaluate.js';
import { parseDecimal, parseValueText } from '../../../runtime/language/value-text.js';
import { Any, anyOf, zeroValue } from '../../../runtime/language/values.js';
import type { ChartTransition } from '../../../runtime/vocabulary/chart.js';
import type { DataType } from '../../../runtime/vocabulary/data-types.js';
import type { BatchState, Command, State } from '../../../runtime/vocabulary/states.js';
import { isFinal } from '../../../runtime/vocabulary/transitions.js';
import { timestamp } from '../../platform/base/clock.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { Unit, type UnitStatus } from '../plant/kind.js';
import { type ElementStatus, Operation, type OperationSpec, Phase, type PhaseSpec, Procedure, type ProcedureSpec, UnitProcedure } from '../procedures/kind.js';
import { conditionOf } from '../units/conditions.js';
import { executionEvent, type PendingFact, stateEntry } from './execution-log.js';
import { type Allocation, Batch, type BatchSpec, type BatchStatus, isFinalBatch } from './kind.js';
import { type ElementKind, hasInside, type HoldPropagation, ProcedureTree, type TreeNode, type TreeWorld, walk } from './procedure-tree.js';
import { NO_PROGRESS } from './rules.js';

export const CONTROLLER = component('batch-controller');
const WAITING = 'WaitingForAllocation';

type ElementResource = Resource<ProcedureSpec | OperationSpec | PhaseSpec, ElementStatus>;

const KINDS: Readonly<Record<ElementKind, Kind<never, ElementStatus>>> = {
  Procedure: Procedure as unknown as Kind<never, ElementStatus>,
  UnitProcedure: UnitProcedure as unknown as Kind<never, ElementStatus>,
  Operation: Operation as unknown as Kind<never, ElementStatus>,
  Phase: Phase as unknown as Kind<never, ElementStatus>,
};

/** What a pass needs from outside the store. */
export interface PassWorld {
  readonly nowMs: number;
  readonly holdPropagation: HoldPropagation;
  readonly onPhaseFailure: 'Hold' | 'Fail';
  readonly resumeCancelsPause: boolean;
  readonly settleDeadlineMs: number;
  commandPhase(phase: Resource<PhaseSpec, ElementStatus>, command: Command): void;
  awaitsAnswer(unit: string, phase: string): boolean;
}

export class BatchPass {
  readonly batch: Resource<BatchSpec, BatchStatus>;
  readonly site: string;
  readonly tree: ProcedureTree | undefined;
  readonly at: string;
  status: BatchStatus;
  /** Set when an annotation (the pending command) has been dealt with. */
  annotations: Readonly<Record<string, string>> | undefined;
  readonly #store: Store;
  readonly #world: PassWorld;
  readonly #elements = new Map<string, ElementResource>();
  readonly #before = new Map<string, string>();
  readonly #units = new Map<string, UnitStatus>();
  readonly facts: PendingFact[] = [];
  readonly audits: AuditDraft[] = [];
  /** Units that are free but not given out now, with the reason. */
  readonly withheld = new Map<string, string>();

  constructor(batch: Resource<BatchSpec, BatchStatus>, store: Store, world: PassWorld) {
    this.batch = batch;
    this.site = batch.metadata.site;
    this.status = batch.status;
    this.at = timestamp(world.nowMs);
    this.#store = store;
    this.#world = world;
    const root = this.#readTree();
    if (root) this.tree = new ProcedureTree(root, this.#treeWorld());
    for (const node of root ? walk(root) : []) this.#before.set(node.name, lookOf(node));
  }

  /** Lets the tree settle and carries its root's state over to the batch. */
  settle(): void {
    if (!this.tree) return;
    this.tree.settle();
    this.#mirrorRoot(this.tree.root);
    this.#mirrorUnits(this.tree.root);
  }

  event(event: Parameters<typeof executionEvent>[3]): void {
    this.facts.push(executionEvent(this.site, this.batch.metadata.name, this.at, event));
  }

  setPhase(phase: BatchState, cause: string): void {
    const from = this.status.phase;
    if (from === phase) return;
    this.status = { ...this.status, phase };
    if (phase === 'Stopping' || phase === 'Aborting') this.status = { ...this.status, settleBy: timestamp(this.#world.nowMs + this.#world.settleDeadlineMs) };
    if (isFinalBatch(phase)) this.#finish();
    const element = { kind: 'Batch', name: this.batch.metadata.name, path: '' };
    this.event({ eventType: 'Procedural Execution', eventSubType: 'State Change', element, value: phase, previousValue: from, message: cause });
    this.facts.push(
      stateEntry(this.site, this.batch.metadata.name, {
        ts: this.at,
        ...element,
        unit: '',
        templateRef: this.batch.spec.masterRecipeRef,
        run: 1,
        state: phase,
        previousState: from,
        cause,
      }),
    );
  }

  unit(name: string): UnitStatus | undefined {
    return this.#units.get(name) ?? this.#store.get(Unit, this.site, name)?.status;
  }

  setUnit(name: string, status: UnitStatus): void {
    this.#units.set(name, status);
  }

  /** Everything this pass wants to write; undefined when nothing changed. */
  change(): Change | undefined {
    const puts: Put[] = [];
    for (const node of this.tree ? walk(this.tree.root) : []) {
      if (lookOf(node) !== this.#before.get(node.name) || this.waitsFor(node) !== this.element(node).status.blockedBecause) puts.push(this.#elementPut(node));
    }
    for (const [name, status] of this.#units) puts.push({ kind: Unit, site: this.site, name, status } as Put);
    if (this.status !== this.batch.status || this.annotations) {
      puts.push({ kind: Batch, site: this.site, name: this.batch.metadata.name, status: this.status, ...(this.annotations ? { annotations: this.annotations } : {}) } as Put);
    }
    if (puts.length === 0 && this.facts.length === 0 && this.audits.length === 0) return undefined;
    return { puts, facts: this.facts, audits: this.audits };
  }

  element(node: TreeNode): ElementResource {
    return this.#elements.get(node.name) as ElementResource;
  }

  // ------------------------------------------------------------ reading

  #readTree(): TreeNode | undefined {
    const batch = this.batch.metadata.name;
    const nodes = new Map<string, TreeNode>();
    const children: [string, TreeNode][] = [];
    for (const kind of ['Procedure', 'UnitProcedure', 'Operation', 'Phase'] as const) {
      for (const resource of this.#store.list(KINDS[kind], this.site) as unknown as readonly ElementResource[]) {
        if (resource.spec.batchRef !== batch) continue;
        const node = readNode(kind, resource);
        nodes.set(`${kind}/${node.name}`, node);
        this.#elements.set(node.name, resource);
        const parent = resource.spec.parentRef;
        if (parent) children.push([`${parent.kind}/${parent.name}`, node]);
      }
    }
    for (const [parentKey, node] of children) {
      const parent = nodes.get(parentKey);
      if (!parent) continue;
      node.parent = parent;
      parent.children.push(node);
    }
    return [...nodes.values()].find((node) => node.kind === 'Procedure');
  }

  #treeWorld(): TreeWorld {
    return {
      nowMs: this.#world.nowMs,
      nowText: this.at,
      holdPropagation: this.#world.holdPropagation,
      onPhaseFailure: this.#world.onPhaseFailure,
      resumeCancelsPause: this.#world.resumeCancelsPause,
      isTrue: (node, transition) => this.#isTrue(node, transition),
      startBlockedBy: (node) => this.startBlockedBy(node),
      commandPhase: (node, command) => this.#world.commandPhase(this.element(node) as Resource<PhaseSpec, ElementStatus>, command),
      awaitsAnswer: (node) => this.#world.awaitsAnswer(node.unit, node.name),
      stateChanged: (node, from, cause) => this.#stateChanged(node, from, cause),
    };
  }

  #isTrue(node: TreeNode, transition: ChartTransition): boolean {
    const text = transition.conditionST?.trim() ?? '';
    if (text === '') return true;
    const expression = conditionOf(text);
    if (!expression) return false;
    const spec = this.element(node).spec;
    const outcome = evaluateCondition(expression, {
      name: (name) => valueOf(spec, name),
      member: (step, member) => this.#member(node, step, member),
      read: (address) => (address.startsWith('signal:') ? new Any('BOOL', this.raisedSignals().includes(address.slice('signal:'.length))) : undefined),
    });
    return outcome.result === 'TRUE';
  }

  #member(node: TreeNode, step: string, member: string): Any | undefined {
    const child = node.children.find((candidate) => candidate.step.toLowerCase() === step.toLowerCase());
    if (!child) return undefined;
    if (member.toUpperCase() === 'X') return new Any('BOOL', node.progress.active.includes(child.step));
    if (member.toUpperCase() === 'T') return anyOf('TIME', this.#world.nowMs - (node.progress.activatedAtMs[child.step] ?? this.#world.nowMs));
    return this.#output(child, member);
  }

  #output(node: TreeNode, name: string): Any | undefined {
    const output = this.element(node).status.outputs.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    return output && fromText(output.type, output.value);
  }

  /** Text of `<step>.<output>` among the children of a node, for parameter bindings. */
  outputText(parent: TreeNode, step: string, output: string): string | undefined {
    const child = parent.children.find((candidate) => candidate.step.toLowerCase() === step.toLowerCase());
    return child && this.element(child).status.outputs.find((candidate) => candidate.name.toLowerCase() === output.toLowerCase())?.value;
  }

  raisedSignals(): string[] {
    return this.#store
      .list(CoordinationBlock, this.site)
      .filter((block) => block.spec.batchRef === this.batch.metadata.name && block.status.signalRaised)
      .map((block) => block.spec.signal?.signalName ?? '');
  }

  /** '' when the element may start. */
  startBlockedBy(node: TreeNode): string {
    if (node.kind === 'UnitProcedure') {
      const unit = this.unit(node.unit);
      if (!unit) return `unit ${node.unit} does not exist`;
      if (unit.allocatedTo !== this.batch.metadata.name) return this.withheld.get(node.unit) ?? `unit ${node.unit} is allocated to ${unit.allocatedTo || 'nobody yet'}`;
    }
    for (const block of this.#store.list(CoordinationBlock, this.site)) {
      if (block.spec.batchRef !== this.batch.metadata.name || block.status.signalRaised) continue;
      const waits = block.spec.signal?.consumers.some((consumer) => consumer.waitFor === 'Start' && consumer.kind === node.kind && consumer.name === node.name);
      if (waits) return `signal ${block.spec.signal?.signalName}`;
    }
    for (const barrier of this.#store.list(SyncBarrier, this.site)) {
      if (barrier.spec.batchRef !== this.batch.metadata.name || barrier.status.satisfiedAt !== '') continue;
      const waits = barrier.spec.participants.some((participant) => participant.waitFor === 'Start' && participant.kind === node.kind && participant.name === node.name);
      if (waits) return `barrier ${barrier.metadata.name}`;
    }
    return '';
  }

  /** What keeps an element from starting whose turn it is; '' when nothing does (decisions 3.9). */
  waitsFor(node: TreeNode): string {
    const { parent } = node;
    if (node.state !== 'Idle' || parent?.state !== 'Running' || !parent.progress.active.includes(node.step)) return '';
    const blocked = this.startBlockedBy(node);
    return blocked === '' ? '' : `${node.path} waits: ${blocked}`;
  }

  // ------------------------------------------------------------ writing

  #stateChanged(node: TreeNode, from: State, cause: string): void {
    const spec = this.element(node).spec;
    const element = { kind: node.kind, name: node.name, path: node.path };
    this.event({ eventType: 'Procedural Execution', eventSubType: 'State Change', element, unit: node.unit, value: node.state, previousValue: from, message: cause });
    this.facts.push(
      stateEntry(this.site, this.batch.metadata.name, {
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

  #mirrorRoot(root: TreeNode): void {
    if (isFinalBatch(this.status.phase) || this.status.phase === 'Pending') return;
    const heldInside = hasInside(root, 'Held');
    const pausedInside = hasInside(root, 'Paused');
    if (heldInside !== this.status.heldInside || pausedInside !== (this.status.pausedInside ?? false)) this.status = { ...this.status, heldInside, pausedInside };
    const failure = root.failure ?? failureBelow(root);
    if (failure !== this.status.failure) this.status = { ...this.status, failure };
    if (root.state === 'Idle' || root.state === 'Resetting') return;
    const failed = root.state === 'Aborted' && root.failure?.class === 'fail';
    this.setPhase(failed ? 'Failed' : root.state, 'procedure');
    const overdue = this.status.settleBy !== '' && (this.status.phase === 'Stopping' || this.status.phase === 'Aborting') && this.at >= this.status.settleBy;
    if (overdue) this.setPhase(this.status.phase === 'Stopping' ? 'Stopped' : root.failure?.class === 'fail' ? 'Failed' : 'Aborted', 'settle-deadline');
  }

  /** A unit shows the state of the root of its active work, and is released after the last unit procedure on it. */
  #mirrorUnits(root: TreeNode): void {
    const batch = this.batch.metadata.name;
    const byUnit = new Map<string, TreeNode[]>();
    for (const node of root.children) byUnit.set(node.unit, [...(byUnit.get(node.unit) ?? []), node]);
    const over = isFinalBatch(this.status.phase);
    for (const [name, nodes] of byUnit) {
      const unit = this.unit(name);
      if (!unit || unit.allocatedTo !== batch) continue;
      const active = nodes.find((node) => node.state !== 'Idle' && !isFinal(node.state)) ?? nodes.findLast((node) => isFinal(node.state));
      let next: UnitStatus = unit;
      if (active) {
        const since = unit.activeWork?.name === active.name && unit.activeWork.state === active.state ? unit.activeWork.since : this.at;
        next = {
          ...unit,
          state: active.state,
          mode: active.mode,
          heldInside: hasInside(active, 'Held'),
          activeWork: { kind: active.kind, name: active.name, state: active.state, batchRef: batch, since },
        };
      }
      if (over || nodes.every((node) => isFinal(node.state))) next = this.#release(name, next);
      if (JSON.stringify(next) !== JSON.stringify(unit)) this.setUnit(name, next);
    }
  }

  #release(name: string, unit: UnitStatus): UnitStatus {
    this.status = {
      ...this.status,
      allocations: this.status.allocations.map(
        (allocation): Allocation => (allocation.unit === name && allocation.state === 'Granted' ? { ...allocation, state: 'Released', since: this.at } : allocation),
      ),
    };
    this.event({ eventType: 'Equipment', eventSubType: 'Deallocation', unit: name, equipment: name, value: name });
    const work = unit.activeWork;
    const lastWork = work ? { kind: work.kind, name: work.name, state: work.state, endedAt: this.at } : undefined;
    return { ...unit, allocatedTo: '', activeWork: null, heldInside: false, ...(lastWork ? { lastWork } : {}) };
  }

  #finish(): void {
    this.status = { ...this.status, endedAt: this.at, heldInside: false, pausedInside: false };
  }

  #elementPut(node: TreeNode): Put {
    const resource = this.element(node);
    const blockedBecause = this.waitsFor(node);
    const status: ElementStatus = {
      ...resource.status,
      blockedBecause,
      conditions: this.#conditions(node, resource.status.conditions, blockedBecause),
      ...(node.kind === 'Phase'
        ? {}
        : {
            state: node.state,
            mode: node.mode,
            progress: node.progress,
            budgetSinceMs: node.budgetSinceMs,
            runCount: node.runCount,
            startedAt: node.startedAt,
            endedAt: node.endedAt,
            pausedAt: node.pausedAt,
            failure: node.failure,
          }),
      escalated: node.escalated,
      heldInside: hasInside(node, 'Held'),
      pausedInside: hasInside(node, 'Paused'),
    };
    return { kind: KINDS[node.kind] as unknown as Put['kind'], site: this.site, name: node.name, status };
  }

  /** A unit procedure whose unit is not granted yet says so (decisions 3.3, Allocation). */
  #conditions(node: TreeNode, before: ElementStatus['conditions'], message: string): ElementStatus['conditions'] {
    const waits = node.kind === 'UnitProcedure' && message !== '' && this.unit(node.unit)?.allocatedTo !== this.batch.metadata.name;
    const others = before.filter((condition) => condition.type !== WAITING);
    return waits ? [...others, { type: WAITING, status: 'True', reason: 'UnitNotGranted', message }] : others;
  }
}

function readNode(kind: ElementKind, resource: ElementResource): TreeNode {
  const { spec, status } = resource;
  return {
    kind,
    name: resource.metadata.name,
    step: spec.stepName,
    path: spec.stepPath,
    unit: 'unitRef' in spec ? spec.unitRef : '',
    chart: 'chart' in spec ? spec.chart : null,
    timeoutMs: kind !== 'Phase' && 'timeoutSeconds' in spec ? spec.timeoutSeconds * 1000 : 0,
    children: [],
    parent: null,
    state: status.state,
    mode: status.mode,
    progress: status.progress ?? NO_PROGRESS,
    budgetSinceMs: status.budgetSinceMs ?? 0,
    runCount: status.runCount,
    pausedAt: status.pausedAt ?? '',
    failure: status.failure,
    escalated: status.escalated ?? '',
    startedAt: status.startedAt,
    endedAt: status.endedAt,
  };
}

/** What is persisted of a node, as one comparable text. */
function lookOf(node: TreeNode): string {
  return JSON.stringify([
    node.state,
    node.mode,
    node.progress,
    node.budgetSinceMs,
    node.runCount,
    node.pausedAt,
    node.failure,
    node.escalated,
    hasInside(node, 'Held'),
    hasInside(node, 'Paused'),
  ]);
}

function failureBelow(node: TreeNode): TreeNode['failure'] {
  for (const child of node.children) {
    const found = (child.state === 'Held' || child.state === 'Holding' || child.state === 'Aborting' ? child.failure : undefined) ?? failureBelow(child);
    if (found) return found;
  }
  return undefined;
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
