/**
 * Why work does not go on, of batches, elements and units (decisions 3.9): first as data, so that a console can offer the
 * way on, then as the one sentence `blockedBecause`, which is made of the same parts.
 *
 * Everything is computed on read. What a chart has last told of its conditions is judged anew with the present values of
 * the tags it reads, because a chart that waits tells nothing.
 */
import * as v from 'valibot';
import { withTold } from '../../../../runtime/vocabulary/told.js';
import { ToldSchema } from '../../runs/told-schema.js';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { ConditionPart, type TransitionState } from '../../procedures/chart-status.js';
import type { SfcStatus } from '../../../../runtime/port.js';
import { transitionKey } from '../../../../runtime/vocabulary/chart.js';
import { COMMANDS } from '../../../../runtime/vocabulary/states.js';
import { groupBy } from '../../../platform/base/group-by.js';
import type { Clock } from '../../../platform/base/clock.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { type ElementStatus, Phase, type PhaseSpec } from '../../procedures/kind.js';
import { type ElementFailure } from '../../runs/failures.js';
import { faultTagsOf, faultText } from '../../control-modules/device-faults.js';
import { ControlModule } from '../../control-modules/kind.js';
import { adhocRoot, scopeOf } from '../../procedures/roots.js';
import { judgeCondition } from '../../placement/conditions.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { deadChoicesOf } from '../../procedures/template-notes.js';
import { AdhocReconciliation } from '../tree/adhoc-reconciliation.js';
import { allocationQueue, placeOf, waitersOf } from '../start/allocation-queue.js';
import { CandidateNow, candidatesNow, ownUnits, startedClass } from '../start/unit-class.js';
import { elementIndex } from '../tree/element-index.js';
import { BatchReconciliation } from '../tree/batch-reconciliation.js';
import { chartStatus, sideNames } from './chart-status.js';
import { withSides } from './condition-sides.js';
import { deadlockOf } from './deadlock.js';
import { lowerCased, PhaseNames, transitionNow } from './phase-now.js';
import type { ElementReconciliation, ReconciliationWorld } from '../tree/element-reconciliation.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../kind.js';
import { boundRoles } from '../phases/phase-plan.js';
import { stepIsComplete, type TreeNode, walk } from '../tree/procedure-tree.js';
import { enabledTransitions } from '../tree/chart-moves.js';
import { startWaitText } from '../start/start-wait.js';
import { Unit } from '../../plant/kind.js';
import { isAvailable } from '../../plant/unit-owner.js';
import { withheldBy } from '../start/equipment-conditions.js';

/** A transition that is looked at, with the parts of its condition. */
export const WaitingTransition = v.strictObject({
  /** `<from>-><to>#<index>` */
  transition: v.string(),
  conditions: v.array(ConditionPart),
});
export type WaitingTransition = ToldBy<typeof WaitingTransition>;

export const BLOCKER_REASONS = [
  'start',
  'command-rejected',
  'failure',
  'child-failure',
  'held',
  'paused',
  /** Semi-Automatic stopped before `transition`; Resume fires it (decisions 3.7). */
  'semi-automatic',
  /** Manual: `transition` is true and fires by hand only. */
  'manual',
  'prompt',
  'external-result',
  'condition',
  'action',
  /** A device of the phase is in latched fault while the phase waits (ADR 0029). */
  'device-fault',
  'no-unit',
  'allocation',
  'permissive',
  'signal',
  'barrier',
] as const;

export const Blocker = v.strictObject({
  reason: v.picklist(BLOCKER_REASONS),
  element: v.strictObject({
    kind: v.string(),
    name: v.string(),
    path: v.string(),
    unit: v.string(),
  }),
  /** This part of `blockedBecause`. */
  text: v.string(),
  step: v.optional(v.string()),
  transition: v.optional(v.string()),
  conditions: v.optional(v.array(ConditionPart)),
  /** Other ways on from the same step. */
  alternatives: v.optional(v.array(WaitingTransition)),
  /** The missing unit; `holder` is the batch or ad-hoc root that has it. */
  unit: v.optional(
    v.strictObject({
      name: v.string(),
      holder: v.string(),
      /** The holder has done its work, and what it has left there is being reset; absent otherwise. */
      resetting: v.optional(v.literal(true)),
    }),
  ),
  /** Any unit of the class would do: all of them, in the order in which they are tried. */
  unitClass: v.optional(v.strictObject({ capability: v.string(), candidates: v.array(CandidateNow) })),
  /** Other batches that wait for each other and for this one, so that none goes on by itself. */
  deadlock: v.optional(v.array(v.string())),
  /** Place in the queue for the unit, or for the class; 1 is next. */
  queuePosition: v.optional(v.number()),
  permissive: v.optional(
    v.strictObject({
      rule: v.string(),
      message: v.string(),
    }),
  ),
  signal: v.optional(v.string()),
  barrier: v.optional(v.string()),
  /** The control module in fault; its reset is one request. */
  controlModule: v.optional(v.string()),
  prompt: v.optional(
    v.strictObject({
      id: v.string(),
      text: v.string(),
      type: v.string(),
      resultKey: v.string(),
    }),
  ),
  /** Who may answer or command: tiers, or `apiKey` for an external system. */
  by: v.optional(v.array(v.string())),
  failure: v.optional(
    v.strictObject({
      rule: v.string(),
      message: v.string(),
      told: v.optional(ToldSchema),
      active: v.boolean(),
    }),
  ),
  /** Command to the batch or ad-hoc root that goes on. */
  command: v.optional(v.picklist(COMMANDS)),
});
export type Blocker = ToldBy<typeof Blocker>;

nameSchemas({ WaitingTransition, Blocker });

export interface BlockedWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: UnitRuntimes;
}

type PhaseResource = Resource<PhaseSpec, ElementStatus>;
type BatchResource = Resource<BatchSpec, BatchStatus>;

/** One sentence; empty when nothing blocks (decisions 3.9). */
export function blockedBecause(blockers: readonly Blocker[]): string {
  return blockers.map(({ text }) => text).join('; ');
}

// ---------------------------------------------------------------- batch, element, unit

export function batchBlockedBy(world: BlockedWorld, batch: BatchResource): Blocker[] {
  const { status } = batch;
  const element = { kind: 'Batch', name: batch.metadata.name, path: '', unit: '' };
  if (status.phase === 'Pending') return [pendingBlocker(element, status)];
  if (isFinalBatch(status.phase)) return [];
  if (status.failure && status.phase !== 'Running' && status.phase !== 'Restarting')
    return [
      ...[status.failure, ...(status.furtherFailures ?? [])].map((failure) => ({ ...failureBlocker(element, failure), text: `${failure.rule}: ${failure.message}` })),
      ...elementIndex(world.store)
        .phasesOf(batch.metadata.site, batch.metadata.name)
        .flatMap((phase) => failedDevices(phase, world)),
    ];
  if (status.phase === 'Held') return [{ reason: 'held', element, text: 'held; Restart goes on', command: 'Restart', by: ['operate'] }];
  if (status.phase !== 'Running' && status.phase !== 'Paused' && status.phase !== 'Restarting') return [];
  const reconciliation = new BatchReconciliation(batch, world.store, lookOnly(world, batch));
  const below = reconciliation.tree ? blockersBelow(world, reconciliation, reconciliation.tree.root) : [];
  if (status.phase !== 'Paused') return below;
  const stopped = below.filter(({ reason }) => reason === 'semi-automatic');
  return stopped.length > 0 ? stopped : [{ reason: 'paused', element, text: 'paused; Resume goes on', command: 'Resume', by: ['operate'] }];
}

function pendingBlocker(element: Blocker['element'], { commandRejection: rejection }: BatchStatus): Blocker {
  const way = { command: 'Start', by: ['operate'] } as const;
  // another command than Start that a pending batch was given keeps nothing from starting
  if (rejection?.command !== 'Start') return { reason: 'start', element, text: 'waits for an operator to start it', ...way };
  const { rule, message, told } = rejection;
  return { reason: 'command-rejected', element, text: `Start was rejected: ${message}`, failure: { rule, message, ...withTold(told), active: true }, ...way };
}

/** What is seen of an element: what blocks it and all below it, and of an element above the phase where its chart stands. */
export interface ElementLook {
  readonly blockedBy: readonly Blocker[];
  readonly sfcStatus?: SfcStatus;
}

export function lookAtElement(world: BlockedWorld, element: Resource<object, ElementStatus>): ElementLook {
  const reconciliation = reconciliationOf(world, element);
  const node = reconciliation?.tree && [...walk(reconciliation.tree.root)].find(({ kind, name }) => kind === element.kind && name === element.metadata.name);
  if (!reconciliation || !node) return { blockedBy: element.kind === 'Phase' ? phaseBlockedBy(element as PhaseResource, world) : [] };
  const sfcStatus = chartStatus(world.store, reconciliation, node);
  return { blockedBy: blockersBelow(world, reconciliation, node), ...(sfcStatus ? { sfcStatus } : {}) };
}

/** Of an element and all below it; of a phase that belongs to nobody itself. */
export function elementBlockedBy(world: BlockedWorld, element: Resource<object, ElementStatus>): readonly Blocker[] {
  return lookAtElement(world, element).blockedBy;
}

function reconciliationOf(world: BlockedWorld, element: Resource<object, ElementStatus>): ElementReconciliation | undefined {
  const { site } = element.metadata;
  const scope = scopeOf(world.store, element as never);
  const batch = world.store.get(Batch, site, scope);
  if (batch) return new BatchReconciliation(batch, world.store, lookOnly(world, batch));
  const root = adhocRoot(world.store, site, scope);
  return root && new AdhocReconciliation(root, world.store, lookOnly(world));
}

/** What keeps the work on a unit; a free unit waits for nothing. */
export function unitBlockedBy(world: BlockedWorld, site: string, unit: string, holder: string): readonly Blocker[] {
  if (holder === '') return [];
  const batch = world.store.get(Batch, site, holder);
  const { resetFailed = '', promisedTo = '' } = world.store.get(Unit, site, unit)?.status ?? {};
  const root = batch ? undefined : adhocRoot(world.store, site, holder);
  if (resetFailed !== '') return [resetBlocker({ kind: batch ? Batch.kind : (root?.kind ?? ''), name: holder, path: '', unit }, resetFailed, promisedTo)];
  if (batch) return batchBlockedBy(world, batch).filter((blocker) => blocker.element.unit === unit || blocker.element.kind === 'Batch');
  return root ? elementBlockedBy(world, root) : [];
}

/** A reconciliation that only reads. */
function lookOnly(world: BlockedWorld, batch?: BatchResource): ReconciliationWorld {
  const { clock } = world;
  return {
    ...(batch ? { candidates: (capability) => classNow(world, batch, capability) } : {}),
    readOnly: true,
    nowMs: clock.wallMs(),
    clock,
    timeScale: 1,
    holdPropagation: 'batch',
    onPhaseFailure: 'Hold',
    resumeCancelsPause: false,
    settleDeadlineMs: 0,
    commandPhase: () => undefined,
    awaitsAnswer: () => false,
    isReady: () => true,
    isRefused: () => false,
  };
}

function classNow(world: BlockedWorld, { metadata: { site }, status }: BatchResource, capability: string): readonly CandidateNow[] {
  const unitClass = startedClass(world.store, site, status.controlRecipe, capability);
  return unitClass ? candidatesNow(world, site, unitClass, ownUnits(status.allocations)) : [];
}

// ---------------------------------------------------------------- a tree of elements

function blockersBelow(world: BlockedWorld, reconciliation: ElementReconciliation, top: TreeNode): Blocker[] {
  // what a parent is in is told once, at the top
  return [...walk(top)].flatMap((node) => nodeBlockers(world, reconciliation, node, node !== top && node.parent?.state === node.state));
}

function nodeBlockers(world: BlockedWorld, reconciliation: ElementReconciliation, node: TreeNode, follows: boolean): Blocker[] {
  if (node.state === 'Idle') return startBlockers(world, reconciliation, node);
  if (node.kind === 'Phase') {
    const own = phaseBlockedBy(reconciliation.element(node) as PhaseResource, world, node.parent?.state === 'Restarting');
    return follows ? own.filter(({ reason }) => reason !== 'held' && reason !== 'paused') : own;
  }
  const element = elementOf(node);
  if (node.state === 'Held' && !follows) return node.failure ? [failureBlocker(element, node.failure)] : hasFailureBelow(node) ? [] : [heldBlocker(element)];
  if (node.state === 'Paused' && node.pausedAt !== '') return [semiAutomaticBlocker(element, node.pausedAt)];
  if (node.state === 'Paused' && !follows) return [pausedBlocker(element)];
  return node.state === 'Running' ? transitionBlockers(world, reconciliation, node) : [];
}

function hasFailureBelow(node: TreeNode): boolean {
  return node.children.some((child) => child.failure !== undefined || hasFailureBelow(child));
}

function startBlockers(world: BlockedWorld, reconciliation: ElementReconciliation, node: TreeNode): Blocker[] {
  const free = node.kind === 'UnitProcedure' && isAvailable(reconciliation.units.get(node.unit));
  const withheld = free ? withheldBy(world, reconciliation.site, node.unit) : undefined;
  if (withheld) reconciliation.withheld.set(node.unit, withheld);
  const wait = reconciliation.startWait(node);
  if (!wait) return [];
  const waits = { element: elementOf(node), text: `${node.path} waits: ${startWaitText(wait)}` };
  if (wait.reason === 'signal' || wait.reason === 'barrier') return [{ ...waits, ...wait }];
  const deadlock = deadlockOf(world.store, reconciliation.site, reconciliation.scope);
  const inVain = `${waits.text}; it waits in vain: ${deadlock.join(', ')} and this batch each have what another of them waits for; end one of them`;
  const common = deadlock.length > 0 ? { ...waits, text: inVain, deadlock } : waits;
  if (wait.reason === 'class') {
    const { capability, candidates } = wait;
    return [{ ...common, reason: 'allocation', unitClass: { capability, candidates: [...candidates] }, ...placeInClass(world, reconciliation, capability) }];
  }
  const { unit: name } = wait;
  const queue = allocationQueue(world.store, reconciliation.site, name);
  const position = 1 + queue.findIndex((entry) => entry.batch === reconciliation.scope);
  return [
    {
      ...common,
      reason: wait.reason === 'resetting' ? 'allocation' : wait.reason,
      unit: {
        name,
        holder: wait.reason === 'allocation' || wait.reason === 'resetting' ? wait.holder : '',
        ...(wait.reason === 'resetting' && wait.failed === '' ? { resetting: true as const } : {}),
      },
      ...(position > 0 ? { queuePosition: position } : {}),
      ...(wait.reason === 'permissive' ? { permissive: wait.permissive } : {}),
    },
  ];
}

/** Among all who wait for one of its units. */
function placeInClass({ store }: BlockedWorld, { site, scope }: ElementReconciliation, capability: string): { readonly queuePosition?: number } {
  const waiters = waitersOf(store, site);
  const own = waiters.find((waiter) => waiter.batch === scope && waiter.capability === capability);
  const place = own && placeOf(own, waiters);
  return place === undefined ? {} : { queuePosition: place };
}

/** Steps that are done and whose transitions do not fire (decisions 2.2): the condition is not met, or the mode forbids it. */
function transitionBlockers(world: BlockedWorld, reconciliation: ElementReconciliation, node: TreeNode): Blocker[] {
  const scope = reconciliation.conditionScope(node);
  const waiting = [...enabledTransitions(node.chart ?? {}, node.progress, (step) => stepIsComplete(node, step))];
  return [...groupBy(waiting, ({ from }) => from.join(', '))].flatMap(([step, transitions]) => {
    const looked = transitions.map(({ key, source: { conditionST = '' } }) => {
      const { result, parts } = judgeCondition(conditionST, scope);
      return { transition: key, met: result === 'TRUE', conditions: parts.map((part) => withSides(part, sideNames(world.store, reconciliation, node))) };
    });
    return stepBlockers(elementOf(node), step, looked, node.mode === 'Manual');
  });
}

interface LookedAt extends WaitingTransition {
  readonly met: boolean;
  readonly unfinished?: string;
}

/** `READ('m.state') = 'Stopped', now 'Fault'`: what the condition says already is not said again, since `'Fault' = 'Stopped'` reads as if it were so. */
function conditionText({ expression, now }: Pick<ConditionPart, 'expression' | 'now'>): string {
  if (now === undefined || now === '') return expression;
  const [said] = [...now.matchAll(/ (=|<>) /g)].filter(({ index }) => expression.endsWith(now.slice(index)));
  return `${expression}, now ${said ? now.slice(0, said.index) : now}`;
}

/** Nothing while a transition is about to fire by itself. */
function stepBlockers(element: Blocker['element'], step: string, transitions: readonly LookedAt[], isManual: boolean): Blocker[] {
  const ready = transitions.find(({ met }) => met);
  if (ready && !isManual) return [];
  if (ready)
    return [
      {
        reason: 'manual',
        element,
        step,
        transition: ready.transition,
        text: `${element.path} is in Manual before ${ready.transition}; it fires by hand only: a lead operator touches it in the chart on the panel (/hmi), or sets ${element.kind} ${element.path || element.name} back to Automatic`,
        by: ['operate-lead'],
      },
    ];
  const [{ unfinished } = {}] = transitions;
  const [first, ...others] = transitions.map(({ transition, conditions }) => ({ transition, conditions }));
  if (!first) return [];
  const common = { element, step, ...first, ...(others.length > 0 ? { alternatives: others } : {}) };
  if (unfinished) return [{ ...common, reason: 'action', text: `${element.path}, step ${step}: ${unfinished}` }];
  const part = first.conditions.find(({ met }) => !met);
  return [{ ...common, reason: 'condition', text: `${element.path}, step ${step}: ${part ? conditionText(part) : first.transition}` }];
}

// ---------------------------------------------------------------- one phase

/** `restarting`: its parent waits for it to run again (decisions 3.4). Without `world` the values are those of the last report. */
export function phaseBlockedBy(phase: PhaseResource, world?: BlockedWorld, restarting = false): Blocker[] {
  const { status } = phase;
  const element = elementOfPhase(phase);
  const { failure, pendingPrompt } = status;
  if (failure && (status.state === 'Held' || status.state === 'Holding')) {
    const blocker = failureBlocker(element, failure);
    return [restarting ? { ...blocker, reason: 'child-failure', text: `child-failure: ${blocker.text}` } : blocker, ...(world ? failedDevices(phase, world) : [])];
  }
  if (status.state === 'Held') return [heldBlocker(element)];
  if (status.state === 'Paused') return [status.pausedAt ? semiAutomaticBlocker(element, status.pausedAt) : pausedBlocker(element)];
  if (status.state !== 'Running') return [];
  if (pendingPrompt && !status.answer) return [promptBlocker(element, pendingPrompt)];
  return chartBlockers(phase, element, world);
}

function promptBlocker(element: Blocker['element'], { id, text, type, stepName, resultKey = '' }: NonNullable<ElementStatus['pendingPrompt']>): Blocker {
  const prompt = { id, text, type, resultKey };
  if (resultKey === '') return { reason: 'prompt', element, step: stepName, prompt, by: ['operate-lead'], text: `${element.path} waits for an answer: ${text}` };
  // the laboratory answers with its key; a lead operator may enter the result by hand (decisions Q-MES-26)
  return { reason: 'external-result', element, step: stepName, prompt, by: ['apiKey', 'operate-lead'], text: `${element.path} waits for the external result ${resultKey}` };
}

function chartBlockers(phase: PhaseResource, element: Blocker['element'], world: BlockedWorld | undefined): Blocker[] {
  const reports = phase.status.sfcStatus?.transitionStates ?? [];
  const names = world && new PhaseNames(phase, 'running', world);
  const looked = reports.map((report) => ({ step: report.fromStep, ...waitingOf(names ? transitionNow(report, names) : report) }));
  const waits = [...groupBy(looked, ({ step }) => step)].flatMap(([step, transitions]) =>
    stepBlockers(element, step, transitions, phase.status.mode === 'Manual').map((blocker) => (world ? afterDeadChoice(phase, step, blocker) : blocker)),
  );
  // only beside what waits: a phase that needs nothing of the device goes on
  return world && waits.length > 0 ? [...waits, ...deviceBlockers(phase, element, world)] : waits;
}

function waitingOf({ index, fromStep: from, toStep: to, conditionST, reason, subConditions, met }: TransitionState): LookedAt {
  const unfinished = conditionST.trim() === '' && !met ? { unfinished: reason ?? '' } : {};
  return { transition: transitionKey({ from, to }, index), conditions: [...subConditions], met, ...unfinished };
}

/** The answer that was given leads nowhere: that the conditions are not met would let people wait for what cannot come. A run by hand has no batch. */
function afterDeadChoice({ spec, status }: PhaseResource, step: string, blocker: Blocker): Blocker {
  if (blocker.reason !== 'condition') return blocker;
  const values = lowerCased(status.sfcStatus?.variableSnapshot ?? {});
  const dead = deadChoicesOf(spec).find((each) => each.step === step && values.get(each.variable.toLowerCase()) === each.choice);
  if (!dead) return blocker;
  const text = `${blocker.element.path}, step ${step}: the recipe has no way on for the answer '${dead.choice}'; stop the ${spec.batchRef === '' ? 'run' : 'batch'}, or take the step on by hand in Manual`;
  return { ...blocker, text, by: ['operate', 'operate-lead'] };
}

/** Devices of the phase that are in fault: no condition names them, and they may be what it waits for. */
function deviceBlockers({ spec, metadata }: PhaseResource, element: Blocker['element'], { store, runtimes }: BlockedWorld): Blocker[] {
  const { site } = metadata;
  const link = runtimes.link(site, spec.unitRef);
  if (!link) return [];
  return [...new Set(Object.values(boundRoles(store, site, spec)))].flatMap((name) => {
    const module = store.get(ControlModule, site, name);
    const fault = module ? faultText(link, name, faultTagsOf(store, module)) : '';
    return fault === '' ? [] : [{ reason: 'device-fault' as const, element, controlModule: name, text: `${element.path}: ${fault}; reset it`, by: ['operate'] }];
  });
}

/** Behind a step timeout of a phase that it holds: the failure names what the step waited for, and not why it did not come. */
function failedDevices(phase: PhaseResource, world: BlockedWorld): Blocker[] {
  const { failure, state } = phase.status;
  return failure?.rule === 'step-timeout' && (state === 'Held' || state === 'Holding') ? deviceBlockers(phase, elementOfPhase(phase), world) : [];
}

// ---------------------------------------------------------------- parts

function elementOfPhase({ spec, metadata }: PhaseResource): Blocker['element'] {
  return { kind: 'Phase', name: metadata.name, path: spec.stepPath || metadata.name, unit: spec.unitRef };
}

function elementOf({ kind, name, path, unit }: TreeNode): Blocker['element'] {
  return { kind, name, path: path || name, unit };
}

function failureBlocker(element: Blocker['element'], { rule, message, told, active, step }: ElementFailure): Blocker {
  const way = active ? {} : ({ command: 'Restart', by: ['operate'] } as const);
  return { reason: 'failure', element, ...(step ? { step } : {}), failure: { rule, message, ...withTold(told), active }, ...way, text: `${element.path}: ${rule}: ${message}` };
}

/** The unit is promised, and what was left on it could not be reset (ADR 0014). */
function resetBlocker(element: Blocker['element'], message: string, promisedTo: string): Blocker {
  const failure = { rule: 'exception-chart-timeout', message, active: false };
  return { reason: 'failure', element, failure, command: 'Reset', by: ['operate'], text: `could not be reset for ${promisedTo}: ${message}; Reset of ${element.name} tries again` };
}

function heldBlocker(element: Blocker['element']): Blocker {
  return { reason: 'held', element, command: 'Restart', by: ['operate'], text: `${element.path} is held; Restart goes on` };
}

function pausedBlocker(element: Blocker['element']): Blocker {
  return { reason: 'paused', element, command: 'Resume', by: ['operate'], text: `${element.path} is paused; Resume goes on` };
}

function semiAutomaticBlocker(element: Blocker['element'], transition: string): Blocker {
  return { reason: 'semi-automatic', element, transition, command: 'Resume', by: ['operate'], text: `${element.path} waits before ${transition}; Resume fires it` };
}

/** For lists: no walk over the tree, and what a phase waits for as it was last told. */
export function itemBlockedBecause(element: Resource<object, ElementStatus>): string {
  return (element.kind === Phase.kind ? blockedBecause(phaseBlockedBy(element as PhaseResource)) : '') || element.status.blockedBecause;
}
