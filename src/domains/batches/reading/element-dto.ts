/** Read bodies of phases, operations, unit procedures and procedures (contract 3, Procedural resources; decisions 1.7). */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import { MODES } from '../../../../runtime/vocabulary/modes.js';
import { COMMANDS, STATES } from '../../../../runtime/vocabulary/states.js';
import { progression, validCommands } from '../../../../runtime/vocabulary/transitions.js';
import { Condition as ConditionBody, type ToldBy } from '../../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../../platform/store/read-body.js';
import type { Condition, Resource } from '../../../platform/store/resource.js';
import { blockedBecause, type BlockedWorld, Blocker, elementBlockedBy, itemBlockedBecause, lookAtElement, phaseBlockedBy } from './blocked-by.js';
import { sfcNow } from './phase-now.js';
import { CommandRejection } from '../../runs/command-rejection.js';
import { ElementFailure } from '../../runs/failures.js';
import { heldBy, Hold } from '../../runs/holds.js';
import { elementIndex } from '../tree/element-index.js';
import { asShown, lookAtShown } from '../recovery/unrecovered.js';
import type { Store } from '../../../platform/store/store.js';
import { ChartStatus, ExceptionStatus } from '../../procedures/chart-status.js';
import { Level, levelsAbove } from '../../procedures/manual-levels.js';
import { ManualSince } from '../../procedures/manual-since.js';
import { voidPrompts } from '../../procedures/void-prompts.js';
import { ElementOutput, type ElementStatus, OperationSpec, PendingPrompt, Phase, PhaseSpec, ProcedureSpec } from '../../procedures/kind.js';

/** What elements of every level have; `unitRef` is missing on procedures. */
type ElementSpec = Pick<ProcedureSpec, 'templateRef' | 'batchRef' | 'parentRef' | 'stepName' | 'stepPath' | 'mode'> & { readonly unitRef?: string };
type Element = Resource<ElementSpec, ElementStatus>;

const ITEM = {
  name: v.string(),
  adhoc: v.boolean(),
  templateRef: v.string(),
  /** Empty on procedures. */
  unit: v.string(),
  batch: v.string(),
  parent: v.nullable(v.strictObject({ kind: v.string(), name: v.string() })),
  stepName: v.string(),
  stepPath: v.string(),
  state: v.picklist(STATES),
  mode: v.picklist(MODES),
  progression: v.picklist(['waiting', 'acting', 'final']),
  validCommands: v.array(v.picklist(COMMANDS)),
  runCount: v.number(),
  startedAt: v.string(),
  endedAt: v.string(),
  failure: v.optional(ElementFailure),
  heldBy: v.optional(v.omit(Hold, ['until'])),
  commandRejection: v.optional(CommandRejection),
  outputs: v.array(ElementOutput),
  pendingPrompt: v.optional(PendingPrompt),
  heldInside: v.boolean(),
  holdIncomplete: v.boolean(),
  blockedBecause: v.string(),
  conditions: v.array(ConditionBody),
  ...SITE_METADATA,
};
/** `activeSteps` of phases, and `blockedBy` as they were last told. */
export const ElementItem = v.strictObject({ ...ITEM, activeSteps: v.optional(v.array(v.string())), blockedBy: v.optional(v.array(Blocker)) });
export type ElementItem = ToldBy<typeof ElementItem>;
type Item = Omit<ElementItem, 'activeSteps' | 'blockedBy'>;

const Child = v.strictObject({ kind: v.string(), name: v.string(), stepName: v.string(), state: v.picklist(STATES) });
type Child = ToldBy<typeof Child>;

function elementBodyOf<const Spec extends v.GenericSchema>(spec: Spec) {
  return v.strictObject({
    ...ITEM,
    blockedBy: v.array(Blocker),
    children: v.array(Child),
    /** Why it is in Manual; absent while it is not. */
    manual: v.optional(ManualSince),
    /** From the next one up; one in Manual fires nothing, whatever the mode of this one is (decisions 3.7). */
    levelsAbove: v.array(Level),
    /** Absent before anything has looked at its chart. */
    sfcStatus: v.optional(ChartStatus),
    /** Of the exception chart of a phase, while it is the one that is executed. */
    chartStatus: v.optional(ExceptionStatus),
    /** The transition that Resume fires. */
    pausedAt: v.optional(v.string()),
    spec,
  });
}

export const ProcedureBody = elementBodyOf(ProcedureSpec);
/** Of operations and unit procedures. */
export const SequenceBody = elementBodyOf(OperationSpec);
export const PhaseBody = elementBodyOf(PhaseSpec);

nameSchemas({ ElementItem, ElementChild: Child, ProcedureBody, SequenceBody, PhaseBody });
export type ElementBody<Spec> = Omit<ToldBy<typeof PhaseBody>, 'spec'> & { readonly spec: Spec };

/** List items omit spec, children and sfcStatus; of the last an item of a phase has where it stands. */
export function elementItem(stored: Resource<object, ElementStatus>, { store }: BlockedWorld): ElementItem {
  const { shown, blockedBy } = lookAtShown(store, stored);
  const { sfcStatus } = shown.status;
  const ofPhase =
    shown.kind === Phase.kind ? { activeSteps: sfcStatus?.activeSteps ?? [], blockedBy: blockedBy ?? phaseBlockedBy(shown as Resource<PhaseSpec, ElementStatus>) } : {};
  return { ...itemOf(store, shown), ...ofPhase, ...(blockedBy ? { blockedBecause: blockedBecause(blockedBy) } : {}) };
}

function itemOf(store: Store, element: Resource<object, ElementStatus>): Item {
  const { metadata, spec, status } = element as Element;
  const { failure, commandRejection } = status;
  const pendingPrompt = voidPrompts(store).asked(metadata.site, metadata.name, status);
  return {
    name: metadata.name,
    adhoc: status.adhoc === true,
    templateRef: spec.templateRef,
    unit: spec.unitRef ?? '',
    batch: spec.batchRef,
    parent: spec.parentRef,
    stepName: spec.stepName,
    stepPath: spec.stepPath,
    state: status.state,
    mode: status.mode,
    progression: progression(status.state),
    validCommands: validCommands(status.state, { heldInside: status.heldInside, pausedInside: status.pausedInside, failureActive: failure?.active === true }),
    runCount: status.runCount,
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    ...(failure ? { failure } : {}),
    ...heldBy(status.holds),
    ...(commandRejection ? { commandRejection } : {}),
    outputs: status.outputs,
    ...(pendingPrompt ? { pendingPrompt } : {}),
    heldInside: status.heldInside,
    holdIncomplete: isHoldIncomplete(status),
    blockedBecause: itemBlockedBecause(element),
    conditions: [...status.conditions, ...(isHoldIncomplete(status) ? [HOLD_INCOMPLETE] : [])],
    ...metadataBody(element),
  };
}

/** The holding chart went past its limit, and the phase is Held without the end of it (decisions 3.1). */
function isHoldIncomplete({ state, checkpoint }: ElementStatus): boolean {
  return (state === 'Holding' || state === 'Held') && checkpoint?.holdIncomplete === true;
}

const HOLD_INCOMPLETE: Condition = {
  type: 'HoldIncomplete',
  status: 'True',
  reason: 'HoldingChartNotFinished',
  message: 'the holding chart has not come to its end: the outputs may not stand where it would have left them',
};

export function elementBody<Spec extends object>(stored: Resource<Spec, ElementStatus>, world: BlockedWorld): ElementBody<Spec> {
  const { shown: element, blockedBy: standing } = lookAtShown(world.store, stored);
  const { blockedBy, ...chart } = lookAtElement(world, element);
  return {
    ...itemOf(world.store, element),
    ...blocked(standing ?? blockedBy),
    children: childrenOf(element, world),
    ...levels(world.store, element),
    ...chart,
    ...pausedAt(element),
    spec: element.spec,
  };
}

function blocked(blockedBy: readonly Blocker[]) {
  return { blockedBecause: blockedBecause(blockedBy), blockedBy };
}

function levels(store: Store, element: Resource<object, ElementStatus>) {
  const { mode, manual } = element.status;
  return { ...(mode === 'Manual' && manual ? { manual } : {}), levelsAbove: levelsAbove(store, element as never) };
}

/** The transition that Resume fires (decisions 3.7). */
function pausedAt({ status }: Resource<object, ElementStatus>) {
  return status.pausedAt ? { pausedAt: status.pausedAt } : {};
}

/** Phase detail shows where its charts stand; the checkpoint stays inside. */
export function phaseBody(stored: Resource<PhaseSpec, ElementStatus>, world: BlockedWorld): ElementBody<PhaseSpec> {
  const { shown: phase, blockedBy: standing } = lookAtShown(world.store, stored);
  const { sfcStatus, chartStatus } = phase.status;
  return {
    ...itemOf(world.store, phase),
    ...blocked(standing ?? elementBlockedBy(world, phase)),
    children: [],
    ...levels(world.store, phase),
    ...(sfcStatus ? { sfcStatus: sfcNow(phase, sfcStatus, 'running', world) } : {}),
    ...(chartStatus ? { chartStatus: sfcNow(phase, chartStatus, 'exception', world) } : {}),
    ...pausedAt(phase),
    spec: phase.spec,
  };
}

/** In name order; the element knows its parent, not the parent its children. */
function childrenOf(element: Resource<object, ElementStatus>, { store }: BlockedWorld): Child[] {
  const children = elementIndex(store).childrenOf(element);
  return children.map((child) => ({ kind: child.kind, name: child.metadata.name, stepName: child.spec.stepName, state: asShown(store, child).status.state }));
}
