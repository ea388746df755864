/**
 * Assembles the content of a batch record from what was recorded of the batch (decisions 8.1, 8.4): its resources and its
 * facts. Pure but for reading; the same content serves the record itself and the provisional view of a running batch.
 */
import { isActive, isFinal } from '../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { type BatchAlarmFact, batchAlarms } from '../alarms/batch-alarms.js';
import type { StandingAlarmFact } from '../alarms/kind.js';
import { elementIndex } from '../batches/tree/element-index.js';
import type { ExecutionEvent, ExternalResultFact, OperatorAction, StateEntry } from '../runs/execution-log.js';
import { type BatchSpec, type BatchStatus, type MaterialUse, REBIND_CAUSES } from '../batches/kind.js';
import { materialUses } from '../batches/phases/materials.js';
import type { ElementStatus, PhaseSpec } from '../procedures/kind.js';
import { ControlRecipe, MasterRecipe } from '../recipes/kind.js';
import type { BatchRecordSpec, FailoverEvent, PhaseHistoryEntry } from './kind.js';

/** Everything that was written down about one batch, oldest first. */
export interface BatchFacts {
  readonly events: readonly ExecutionEvent[];
  readonly states: readonly StateEntry[];
  readonly actions: readonly OperatorAction[];
  readonly results: readonly ExternalResultFact[];
  readonly alarms: readonly (BatchAlarmFact | StandingAlarmFact)[];
  /** What is damaged on the disk and stands in none of them: `events 17`. */
  readonly unreadable: readonly string[];
}

type BatchResource = Resource<BatchSpec, BatchStatus>;
type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export function assembleRecord(batch: BatchResource, read: Store, facts: BatchFacts): BatchRecordSpec {
  const { site, name } = batch.metadata;
  const phases = elementIndex(read).phasesOf(site, name);
  const { status } = batch;
  return {
    batch: batchPart(batch),
    recipe: recipePart(batch, read),
    equipment: status.allocations
      .filter(({ unit }) => unit !== '')
      .map((allocation) => ({
        capability: allocation.capability,
        unit: allocation.unit,
        ...(allocation.choice ? { choice: allocation.choice } : {}),
        allocatedAt: facts.events.find((event) => event.eventSubType === 'Allocation' && event.unit === allocation.unit)?.ts ?? allocation.since,
        releasedAt: facts.events.findLast((event) => event.eventSubType === 'Deallocation' && event.unit === allocation.unit)?.ts ?? '',
      })),
    parameterValues: [...status.parameterValues.map((value) => ({ ...value, element: '' })), ...elementParameters(read, site, name)],
    outputs: phases.flatMap((phase) => phase.status.outputs.map((output) => ({ element: phase.spec.stepPath, ...output, at: phase.status.endedAt, quality: 'Good' }))),
    materials: materialsOf(phases, batch.spec.lotID),
    operatorActions: facts.actions,
    externalResults: facts.results,
    failoverEvents: failoversOf(facts.events),
    executionEvents: facts.events,
    phaseHistory: historyOf(facts.states),
    alarms: batchAlarms(facts.alarms),
    ...(status.failure ? { failure: status.failure } : {}),
  };
}

function batchPart(batch: BatchResource): BatchRecordSpec['batch'] {
  const { spec, status, metadata } = batch;
  return {
    name: metadata.name,
    batchID: spec.batchID,
    uid: metadata.uid,
    workOrderID: spec.workOrderID,
    lotID: spec.lotID,
    description: spec.description,
    quantity: spec.quantity,
    engineeringUnit: spec.engineeringUnit,
    priority: spec.priority,
    scheduledStartTime: spec.scheduledStartTime,
    createdAt: metadata.createdAt,
    startedAt: status.startedAt,
    endedAt: status.endedAt,
    ...(status.clockSpan ? { clockSpan: status.clockSpan } : {}),
  };
}

function recipePart(batch: BatchResource, read: StoreReader): BatchRecordSpec['recipe'] {
  const { site } = batch.metadata;
  const master = read.get(MasterRecipe, site, batch.spec.masterRecipeRef);
  const control = read.get(ControlRecipe, site, batch.status.controlRecipe)?.spec;
  return {
    name: batch.spec.masterRecipeRef,
    productID: control?.productID ?? master?.spec.productID ?? '',
    productName: master?.spec.productName ?? '',
    version: control?.version ?? master?.spec.version ?? '',
    revision: control?.masterRevision ?? master?.status.revision ?? 0,
    formulaName: control?.formulaName ?? batch.spec.formulaName,
    masterDigest: master?.status.digest ?? '',
    controlRecipe: batch.status.controlRecipe,
    controlDigest: control?.digest ?? '',
  };
}

function elementParameters(store: Store, site: string, batch: string): BatchRecordSpec['parameterValues'] {
  return elementIndex(store)
    .elementsOf(site, batch)
    .filter(({ spec }) => spec.stepPath !== '')
    .flatMap(({ spec }) => spec.parameterValues.map((value) => ({ ...value, element: spec.stepPath })));
}

/** Consume and Produce of the phases that ended (decisions 8.4). */
function materialsOf(phases: readonly PhaseResource[], batchLot: string): BatchRecordSpec['materials'] {
  const uses = phases.filter(({ status }) => isFinal(status.state)).flatMap(({ spec, status }) => materialUses(spec, status.outputs, batchLot, status.endedAt));
  const of = (wanted: string): MaterialUse[] => uses.filter(({ direction }) => direction === wanted).map(({ direction: _direction, ...use }) => use);
  return { inputs: of('input'), outputs: of('output') };
}

/**
 * Units that were bound again while the batch was under way (contract 3, Batch record). Both ends of the control gap are in one
 * audit record. The historian samples what is scanned, so its gap contains that of a runtime; an appliance that ends takes
 * samples with it that were not on disk, and may have recorded after the last sign of life of the unit: the two overlap.
 */
export function failoversOf(events: readonly ExecutionEvent[]): FailoverEvent[] {
  return events.filter(isRebind).map(({ unit, ts, value: cause, previousValue, auditRecordRef }) => {
    const from = previousValue === '' ? { at: '', auditRecordRef: '' } : { at: previousValue, auditRecordRef };
    const to = { at: ts, auditRecordRef };
    return {
      unit,
      reboundAt: ts,
      cause,
      controlGap: { from, to, bounds: 'Exact' },
      dataGap: { from, to, bounds: cause === 'RuntimeRestart' ? 'Containing' : 'Overlapping' },
    };
  });
}

function isRebind({ eventType, eventSubType, unit, value }: ExecutionEvent): boolean {
  return eventType === 'General' && eventSubType === 'System' && unit !== '' && (REBIND_CAUSES as readonly string[]).includes(value);
}

/** Spans per element and run: a state lasts until the next entry of the same run. */
export function historyOf(states: readonly StateEntry[]): PhaseHistoryEntry[] {
  const lanes = new Map<string, Omit<PhaseHistoryEntry, 'states'> & { readonly states: { state: string; from: string; to: string; cause: string }[] }>();
  for (const entry of states) {
    const key = `${entry.kind}/${entry.name}/${entry.run}`;
    const { kind, name, path, unit, templateRef, run } = entry;
    const lane = lanes.get(key) ?? { kind, name, path, unit, templateRef, run, states: [] };
    const last = lane.states.at(-1);
    if (last) last.to = entry.ts;
    lane.states.push({ state: entry.state, from: entry.ts, to: '', cause: entry.cause });
    lanes.set(key, lane);
  }
  return [...lanes.values()];
}

/** True when every element of the batch is at rest in a final state or was never started (condition PhaseHistorySettled). */
export function isSettled(store: Store, site: string, batch: string): boolean {
  return elementIndex(store)
    .elementsOf(site, batch)
    .every(({ status: { state } }) => !isActive(state));
}
