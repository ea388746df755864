/** Read bodies of phases, operations, unit procedures and procedures (contract 3, Procedural resources; decisions 1.7). */
import { progression, validCommands } from '../../../../runtime/vocabulary/transitions.js';
import { metadataBody } from '../../../platform/store/read-body.js';
import type { Condition, Resource } from '../../../platform/store/resource.js';
import { blockedBecause, type BlockedWorld, type Blocker, elementBlockedBy, itemBlockedBecause, lookAtElement } from './blocked-by.js';
import { heldBy } from '../../runs/holds.js';
import { elementIndex } from '../tree/element-index.js';
import { asShown, lookAtShown } from '../recovery/unrecovered.js';
import { type ElementStatus, Phase, type PhaseSpec, type ProcedureSpec } from '../../procedures/kind.js';

/** What elements of every level have; `unitRef` is missing on procedures. */
type ElementSpec = Pick<ProcedureSpec, 'templateRef' | 'batchRef' | 'parentRef' | 'stepName' | 'stepPath' | 'mode'> & { readonly unitRef?: string };
type Element = Resource<ElementSpec, ElementStatus>;

/** List items omit spec, children and sfcStatus; of the last an item of a phase has where it stands. */
export function elementItem(stored: Resource<object, ElementStatus>, { store }: BlockedWorld): Record<string, unknown> {
  const { shown, blockedBy } = lookAtShown(store, stored);
  const { sfcStatus } = shown.status;
  const activeSteps = shown.kind === Phase.kind ? { activeSteps: sfcStatus?.activeSteps ?? [] } : {};
  return { ...itemOf(shown), ...activeSteps, ...(blockedBy ? { blockedBecause: blockedBecause(blockedBy) } : {}) };
}

function itemOf(element: Resource<object, ElementStatus>): Record<string, unknown> {
  const { metadata, spec, status } = element as Element;
  const { failure, commandRejection, pendingPrompt } = status;
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

export function elementBody(stored: Resource<object, ElementStatus>, world: BlockedWorld): unknown {
  const { shown: element, blockedBy: standing } = lookAtShown(world.store, stored);
  const { blockedBy, ...chart } = lookAtElement(world, element);
  return { ...itemOf(element), ...blocked(standing ?? blockedBy), children: childrenOf(element, world), ...chart, ...pausedAt(element), spec: element.spec };
}

function blocked(blockedBy: readonly Blocker[]) {
  return { blockedBecause: blockedBecause(blockedBy), blockedBy };
}

/** The transition that Resume fires (decisions 3.7). */
function pausedAt({ status }: Resource<object, ElementStatus>) {
  return status.pausedAt ? { pausedAt: status.pausedAt } : {};
}

/** Phase detail shows where its charts stand; the checkpoint stays inside. */
export function phaseBody(stored: Resource<PhaseSpec, ElementStatus>, world: BlockedWorld): unknown {
  const { shown: phase, blockedBy: standing } = lookAtShown(world.store, stored);
  const { sfcStatus, chartStatus } = phase.status;
  return {
    ...itemOf(phase),
    ...blocked(standing ?? elementBlockedBy(world, phase)),
    children: [],
    ...(sfcStatus ? { sfcStatus } : {}),
    ...(chartStatus ? { chartStatus } : {}),
    ...pausedAt(phase),
    spec: phase.spec,
  };
}

/** In name order; the element knows its parent, not the parent its children. */
function childrenOf(element: Resource<object, ElementStatus>, { store }: BlockedWorld): unknown[] {
  const children = elementIndex(store).childrenOf(element);
  return children.map((child) => ({ kind: child.kind, name: child.metadata.name, stepName: child.spec.stepName, state: asShown(store, child).status.state }));
}
