/** Read bodies of procedural templates and resources (contract 3, Procedural resources; decisions 1.7). */
import { progression, validCommands } from '../../../runtime/vocabulary/transitions.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import { metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { ADHOC_LABEL, type ElementStatus, Operation, Phase, type PhaseSpec, type ProcedureSpec, UnitProcedure } from './kind.js';

export function templateBody({ metadata, spec, ...resource }: Resource): unknown {
  return { name: metadata.name, spec, ...metadataBody({ metadata, spec, ...resource }) };
}

/** What elements of every level have; `unitRef` is missing on procedures. */
type ElementSpec = Pick<ProcedureSpec, 'templateRef' | 'batchRef' | 'parentRef' | 'stepName' | 'stepPath' | 'mode'> & { readonly unitRef?: string };
type Element = Resource<ElementSpec, ElementStatus>;

/** List items omit spec, children and sfcStatus. */
export function elementItem(element: Resource<object, ElementStatus>): Record<string, unknown> {
  const { metadata, spec, status } = element as Element;
  const { failure, commandRejection, pendingPrompt } = status;
  return {
    name: metadata.name,
    adhoc: metadata.labels[ADHOC_LABEL] === 'true',
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
    ...(commandRejection ? { commandRejection } : {}),
    outputs: status.outputs,
    ...(pendingPrompt ? { pendingPrompt } : {}),
    heldInside: status.heldInside,
    blockedBecause: status.blockedBecause,
    conditions: status.conditions,
    ...metadataBody(element),
  };
}

export function elementBody(element: Resource<object, ElementStatus>, read: StoreReader): unknown {
  return { ...elementItem(element), children: childrenOf(element, read), spec: element.spec };
}

/** Phase detail shows where its charts stand; the checkpoint stays inside. */
export function phaseBody(phase: Resource<PhaseSpec, ElementStatus>): unknown {
  const { sfcStatus, chartStatus, pausedAt } = phase.status;
  return {
    ...elementItem(phase),
    blockedBecause: phaseBlockedBecause(phase),
    children: [],
    ...(sfcStatus ? { sfcStatus } : {}),
    ...(chartStatus ? { chartStatus } : {}),
    ...(pausedAt ? { pausedAt } : {}),
    spec: phase.spec,
  };
}

const CHILD_KINDS = { Procedure: UnitProcedure, UnitProcedure: Operation, Operation: Phase } as const;

/** In name order; the element knows its parent, not the parent its children. */
function childrenOf({ kind, metadata }: Resource<object, ElementStatus>, read: StoreReader): unknown[] {
  const below = CHILD_KINDS[kind as keyof typeof CHILD_KINDS] as unknown as Kind<ElementSpec, ElementStatus> | undefined;
  if (!below) return [];
  return read
    .list(below, metadata.site)
    .filter((child) => child.spec.parentRef?.kind === kind && child.spec.parentRef.name === metadata.name)
    .map((child) => ({ kind: child.kind, name: child.metadata.name, stepName: child.spec.stepName, state: child.status.state }));
}

/** What a phase waits for, in words: its failure, the answer or the first condition that is not met (decisions 3.9). */
export function phaseBlockedBecause({ spec, status }: Resource<PhaseSpec, ElementStatus>): string {
  if (status.failure && (status.state === 'Held' || status.state === 'Holding')) return `${spec.stepPath}: ${status.failure.rule}: ${status.failure.message}`;
  if (status.state !== 'Running') return '';
  if (status.pendingPrompt && !status.answer) {
    const { pendingPrompt } = status;
    return pendingPrompt.resultKey ? `${spec.stepPath} waits for the external result ${pendingPrompt.resultKey}` : `${spec.stepPath} waits for an answer: ${pendingPrompt.text}`;
  }
  const unmet = status.sfcStatus?.transitionStates.find((transition) => !transition.met);
  if (!unmet) return '';
  const part = unmet.subConditions.find((sub) => !sub.met);
  return `${spec.stepPath}, step ${unmet.fromStep}: ${part?.expression ?? unmet.conditionST}${part?.now ? `, now ${part.now}` : ''}`;
}
