/**
 * Batch (contract 3, Batches; decisions 1.7, 3.3): one execution of a master recipe. Its spec is what was asked for, its
 * status is what the batch controller has made of it.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Condition, type ToldBy } from '../../platform/http/replies.js';
import { type BatchState, type State, STATES } from '../../../runtime/vocabulary/states.js';
import { JUDGED_ELSEWHERE, type Kind, named, type Reference, type StatusMembers } from '../../platform/store/kind.js';
import type { LifeSign } from '../../platform/store/life-sign.js';
import { type RunEntry, runEntry } from '../../platform/store/past-index.js';
import { isFlag, isNumber, isText, listOf, mapOf, maybe, type PastShape, RUN_SHAPE, shaped } from '../../platform/store/past-shape.js';
import type { Condition as StoredCondition, Metadata, Ref, Resource } from '../../platform/store/resource.js';
import { ElementOutput, ParameterValue } from '../procedures/kind.js';
import { CANDIDATE_POLICIES } from '../recipes/kind.js';
import { ElementFailure } from '../runs/failures.js';
import { BATCH_STREAMS, type BatchStream, lastFacts, streamsOf } from '../runs/execution-log.js';
import { Hold } from '../runs/holds.js';
import { CommandRejection } from '../runs/command-rejection.js';
import { isInstantText } from '../../platform/base/instant.js';
import { LABEL_TEXT } from '../../platform/store/fields.js';
import type { PendingCommand } from '../runs/pending-command.js';
import { freeMap } from '../../platform/store/free-map.js';
import { BATCH_PARAMETER_WORDS, BATCH_WORDS } from './field-words.js';

const Text = v.optional(v.string(), '');

const BatchParameter = v.strictObject({ name: v.string(), value: v.string() });

export const BatchSpec = v.strictObject({
  batchID: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(128, 'must be at most 128 characters'),
    v.regex(LABEL_TEXT, 'must not contain control characters'),
  ),
  masterRecipeRef: v.pipe(v.string(), v.minLength(1)),
  formulaName: Text,
  quantity: Text,
  engineeringUnit: Text,
  /** Larger is more urgent (decisions Q-MES-30). */
  priority: v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(0, 'must be at least 0'), v.maxValue(1000, 'must be at most 1000')), 100),
  parameters: v.optional(v.array(BatchParameter), []),
  equipment: v.optional(freeMap(v.string()), {}),
  description: Text,
  scheduledStartTime: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text === '' || isInstantText(text), 'must be a time such as 2026-01-31T09:05:07Z'),
    ),
    '',
  ),
  /** Set by the MES only. */
  workOrderID: Text,
  lotID: v.optional(v.pipe(v.string(), v.regex(LABEL_TEXT, 'must not contain control characters')), ''),
  mode: v.optional(v.picklist(['', 'Automatic', 'Semi-Automatic', 'Manual']), ''),
});
export type BatchSpec = v.InferOutput<typeof BatchSpec>;

describeFields(BatchParameter, BATCH_PARAMETER_WORDS);
describeFields(BatchSpec, BATCH_WORDS);

/** How one of a class was chosen (D-C-12). */
export const UnitChoice = v.strictObject({
  policy: v.picklist(CANDIDATE_POLICIES),
  /** Those that fitted, in the order in which they were tried. */
  candidates: v.array(v.string()),
  /** Those that were not free or did not fit. */
  passedOver: v.array(v.strictObject({ unit: v.string(), reason: v.string() })),
});
export type UnitChoice = ToldBy<typeof UnitChoice>;

export const Allocation = v.strictObject({
  capability: v.string(),
  /** '' while it may be any unit of the class. */
  unit: v.string(),
  state: v.picklist(['Requested', 'Granted', 'Released']),
  /** '' while the batch has the unit planned and has not asked for it (decisions 3.3, OnDemand). */
  since: v.string(),
  /** Absent where the unit was known beforehand. */
  choice: v.optional(UnitChoice),
});
export type Allocation = ToldBy<typeof Allocation>;

/** Earliest and latest instant that the wall clock has shown. */
export const ClockSpan = v.strictObject({
  from: v.string(),
  to: v.string(),
});
export type ClockSpan = ToldBy<typeof ClockSpan>;

/** What a phase of the batch has measured or made, by its step path. */
export const BatchOutput = v.strictObject({ element: v.string(), ...ElementOutput.entries });
export type BatchOutput = ToldBy<typeof BatchOutput>;

export interface WorkOrderOrigin {
  /** The request as first submitted, for the comparison of a resubmission (decisions Q-MES-05). */
  readonly request: Readonly<Record<string, unknown>>;
  readonly createdBy: string;
}

/** Event values, and causes of failover events in the record. */
export const REBIND_CAUSES = ['ApplianceRestart', 'RuntimeRestart'] as const;
export type RebindCause = (typeof REBIND_CAUSES)[number];

/** What the table of decisions 3.8 does with the state an element was found in. */
export const RecoveredElement = v.strictObject({
  kind: v.string(),
  name: v.string(),
  path: v.string(),
  unit: v.string(),
  found: v.picklist(STATES),
  /** `stays`; `holds`: its holding chart, then Held; `repeats`: the chart it was in, from its initial step. */
  action: v.picklist(['stays', 'holds', 'repeats']),
});
export type RecoveredElement = ToldBy<typeof RecoveredElement>;

export const RecoveredUnit = v.strictObject({
  unit: v.string(),
  /** Last sign of life that is on record; '' when there is none. */
  lastAliveAt: v.string(),
  /** '' until the unit is scanned again. */
  reboundAt: v.string(),
  /** Between the two; by elapsed time; null while one is missing, and where it cannot be measured: another boot of the machine, and a clock that follows no server or went back. */
  gapMs: v.nullable(v.number()),
  auditRecordRef: v.string(),
});
export type RecoveredUnit = ToldBy<typeof RecoveredUnit>;

/** What a phase has consumed or produced, as the record of a batch has it (phases/materials.ts). */
export const MaterialUse = v.strictObject({
  material: v.string(),
  lotID: v.string(),
  quantity: v.string(),
  unit: v.string(),
  element: v.string(),
  unitName: v.string(),
  at: v.string(),
  auditRecordRef: v.string(),
});
export type MaterialUse = ToldBy<typeof MaterialUse>;

nameSchemas({ BatchSpec, BatchAllocation: Allocation, UnitChoice, ClockSpan, MaterialUse, BatchOutput, RecoveredElement, RecoveredUnit });

/** The last interruption of a batch. */
export const RecoverySummary = v.strictObject({
  cause: v.picklist(REBIND_CAUSES),
  /** Last sign of life of what ended. */
  lastAliveAt: v.string(),
  backAt: v.string(),
  /** As of a unit. */
  gapMs: v.nullable(v.number()),
  units: v.array(RecoveredUnit),
  elements: v.array(RecoveredElement),
  /** When the batch had come to rest in Held because of it, and when it went on or was ended; '' before. */
  heldAt: v.string(),
  leftAt: v.string(),
});
export type RecoverySummary = ToldBy<typeof RecoverySummary>;

export interface BatchStatus {
  readonly phase: BatchState;
  /** When it entered its phase, as its events say; absent in what a release before this one has kept. */
  readonly stateAt?: string;
  readonly allocations: readonly Allocation[];
  readonly parameterValues: readonly ParameterValue[];
  readonly controlRecipe: string;
  /** Name of the root element: the Procedure. */
  readonly procedure: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Only where the clock was set back while it ran. */
  readonly clockSpan?: ClockSpan;
  readonly recordRef: string;
  /** As they were at the end, once its elements are reset. */
  readonly outputs?: readonly BatchOutput[];
  /** False while the record may still be repaired: its elements were moving when it was made. */
  readonly recordSettled?: boolean;
  readonly heldInside: boolean;
  /** A descendant was paused by Semi-Automatic mode while the batch runs. */
  readonly pausedInside?: boolean;
  readonly blockedBecause: string;
  /** Why it is held: the first cause, whatever came after it. */
  readonly failure?: ElementFailure | undefined;
  /** What came after the first and stands beside it. */
  readonly furtherFailures?: readonly ElementFailure[];
  /** Its holds, oldest first; the last one lasts while its `until` is ''. */
  readonly holds?: readonly Hold[] | undefined;
  readonly commandRejection?: CommandRejection;
  /** The command that waits to be judged; not served. */
  readonly pendingCommand?: PendingCommand;
  readonly conditions: readonly StoredCondition[];
  readonly workOrder?: WorkOrderOrigin;
  /** When the batch controller last wrote it; not served, absent in data of 0.1.0. */
  readonly savedAt?: LifeSign;
  /** The last interruption of its control (decisions 3.8). */
  readonly recovery?: RecoverySummary;
  /** It has ended without waiting for its elements any longer. */
  readonly settleExceeded?: boolean;
  /** Last number of each stream of facts before it: what has a larger one happened to it. Absent in data of 0.1.0. */
  readonly factsBefore?: Readonly<Record<BatchStream, number>>;
  /** Wall time by which Stop and Abort must have settled, as it is told; judged by elapsed time. */
  readonly settleBy: string;
}

/** As they are listed, and as a filter names them. */
export const BATCH_STATES = [
  'Pending',
  'Running',
  'Pausing',
  'Paused',
  'Holding',
  'Held',
  'Restarting',
  'Complete',
  'Stopping',
  'Stopped',
  'Aborting',
  'Aborted',
  'Failed',
] as const satisfies readonly BatchState[];

const BATCH_STATUS: StatusMembers<BatchStatus> = {
  phase: v.picklist(BATCH_STATES),
  stateAt: v.string(),
  allocations: v.array(Allocation),
  parameterValues: v.array(ParameterValue),
  controlRecipe: v.string(),
  procedure: v.string(),
  startedAt: v.string(),
  endedAt: v.string(),
  clockSpan: ClockSpan,
  recordRef: v.string(),
  outputs: v.array(BatchOutput),
  recordSettled: v.boolean(),
  heldInside: v.boolean(),
  pausedInside: v.boolean(),
  blockedBecause: v.string(),
  failure: ElementFailure,
  furtherFailures: v.array(ElementFailure),
  holds: v.array(Hold),
  commandRejection: CommandRejection,
  pendingCommand: JUDGED_ELSEWHERE, // `orderOn`: one that cannot be read has a verdict
  conditions: v.array(Condition),
  workOrder: v.object({ request: v.record(v.string(), v.unknown()), createdBy: v.string() }),
  savedAt: JUDGED_ELSEWHERE, // `readSign`
  recovery: RecoverySummary,
  settleExceeded: v.boolean(),
  factsBefore: v.object(v.entriesFromList(BATCH_STREAMS, v.number())),
  settleBy: v.string(),
};

/** What lists show of a batch, here and in the MES, and what it is found by; of one that is past it is all that stays in memory (ADR 0033). */
export interface ListedBatch {
  readonly metadata: Pick<Metadata, 'name' | 'site' | 'uid' | 'labels' | 'generation' | 'createdAt' | 'updatedAt'>;
  readonly spec: Pick<
    BatchSpec,
    | 'batchID'
    | 'masterRecipeRef'
    | 'quantity'
    | 'engineeringUnit'
    | 'priority'
    | 'parameters'
    | 'equipment'
    | 'description'
    | 'scheduledStartTime'
    | 'workOrderID'
    | 'lotID'
    | 'mode'
  >;
  readonly status: Pick<BatchStatus, 'phase' | 'heldInside' | 'holds' | 'recordRef' | 'startedAt' | 'endedAt'> & {
    readonly allocations: readonly Pick<Allocation, 'unit'>[];
    readonly workOrder?: { readonly request: { readonly workOrderID?: unknown }; readonly createdBy: string };
  };
}

/** Each member by itself, so that a list reads of each batch what it is filtered and ordered by; name and site are those of the entry. */
export type PastBatch = RunEntry & Omit<ListedBatch['metadata'], 'name' | 'site'> & ListedBatch['spec'] & ListedBatch['status'];

function pastBatch({ metadata, spec, status }: Resource<BatchSpec, BatchStatus>, members: readonly Ref[]): PastBatch {
  const { uid, labels, generation, createdAt, updatedAt } = metadata;
  const { formulaName: _formula, ...listed } = spec;
  const { phase, heldInside, recordRef, startedAt, endedAt, workOrder } = status;
  const allocations = (status.allocations as BatchStatus['allocations'] | undefined) ?? []; // a row of 0.1.0 may have none
  const lasting = status.holds?.filter(({ until }) => until === '') ?? [];
  return {
    ...runEntry(members),
    ...{ uid, labels, generation, createdAt, updatedAt },
    ...listed,
    ...{ phase, heldInside, recordRef, startedAt, endedAt },
    allocations: allocations.flatMap(({ unit }) => (unit === '' ? [] : [{ unit }])),
    ...(lasting.length === 0 ? {} : { holds: lasting }),
    ...(workOrder ? { workOrder: { request: { workOrderID: workOrder.request.workOrderID }, createdBy: workOrder.createdBy } } : {}),
  };
}

const PAST_TEXTS = [
  ...['uid', 'createdAt', 'updatedAt', 'batchID', 'masterRecipeRef', 'quantity', 'engineeringUnit', 'description', 'scheduledStartTime', 'workOrderID', 'lotID', 'mode'],
  ...['recordRef', 'startedAt', 'endedAt'],
];
const PAST_SHAPE: PastShape = {
  ...RUN_SHAPE,
  ...Object.fromEntries(PAST_TEXTS.map((member) => [member, maybe(isText)])),
  phase: (phase) => saysWhatItIs({ phase } as Partial<PastBatch>),
  allocations: listOf(shaped({ unit: isText })),
  labels: maybe(mapOf(isText)),
  generation: maybe(isNumber),
  priority: maybe(isNumber),
  parameters: maybe(listOf(shaped({ name: isText, value: isText }))),
  equipment: maybe(mapOf(isText)),
  heldInside: maybe(isFlag),
  holds: maybe(listOf(shaped({}))),
  workOrder: maybe(shaped({ request: shaped({}), createdBy: isText })),
};

/** One that is damaged says nothing, or says that it runs: it is left out of lists, as the batch of a damaged row is. */
export function saysWhatItIs({ phase }: Partial<PastBatch>): boolean {
  return phase !== undefined && isFinalBatch(phase);
}

/** Lists that show what is new first are ordered by it; of a time that cannot be read it is the oldest. */
export function msOf(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? 0 : ms;
}

const said =
  <Said>(of: (batch: PastBatch, name: string) => Said) =>
  (batch: PastBatch, name: string) =>
    saysWhatItIs(batch) ? of(batch, name) : undefined;

export const Batch: Kind<BatchSpec, BatchStatus> = {
  kind: 'Batch',
  group: 'recipe',
  runs: true,
  scope: 'site',
  action: 'batch',
  path: 'batches',
  spec: BatchSpec,
  body: 'spec',
  apply: { how: 'yes' },
  initialStatus: () => ({
    phase: 'Pending',
    allocations: [],
    parameterValues: [],
    controlRecipe: '',
    procedure: '',
    startedAt: '',
    endedAt: '',
    recordRef: '',
    heldInside: false,
    blockedBecause: '',
    conditions: [],
    settleBy: '',
  }),
  status: BATCH_STATUS,
  born: (status, { site, name, lastFact }) => ({ factsBefore: lastFacts(site, name, lastFact), ...status }),
  pastWith: { kind: 'Batch', named: 'alike' },
  pastIndex: (batch, members) => ({ ...pastBatch(batch, members) }),
  pastShape: PAST_SHAPE,
  pastOrders: {
    listed: said(() => 0), // by name; kept, since one damaged entry would else have every list look for it among all
    recent: said(({ endedAt, createdAt }) => -msOf(endedAt || createdAt)),
    created: said(({ createdAt }) => -msOf(createdAt)),
    batchID: ({ batchID }: Partial<PastBatch>) => batchID,
    workOrderID: ({ workOrderID }: Partial<PastBatch>) => workOrderID,
    // as the MES asks for it: by its work order, and one that was made at the plant by its own ID (decisions Q-MES-11)
    'found by order': said(({ workOrder, batchID }, name) => (workOrder ? String((workOrder as { request?: { workOrderID?: unknown } }).request?.workOrderID) : batchID || name)),
  },
  streams: streamsOf,
  references: ({ masterRecipeRef, equipment }, site) =>
    named(
      { path: 'masterRecipeRef', kind: 'MasterRecipe', site, name: masterRecipeRef, when: 'write', ownWords: true },
      ...Object.entries(equipment).map(([capability, unit]): Reference => ({ path: `equipment.${capability}`, kind: 'Unit', site, name: unit, when: 'write', ownWords: true })),
    ),
};

export const FINAL_BATCH_STATES: readonly BatchState[] = ['Complete', 'Stopped', 'Aborted', 'Failed'];

export function isFinalBatch(phase: BatchState): boolean {
  return FINAL_BATCH_STATES.includes(phase);
}

/** The batch itself is held after a restart of the appliance when it is found in one of these. */
export const HELD_FROM: readonly (BatchState | State)[] = ['Running', 'Pausing', 'Paused', 'Restarting'];

/** Condition of a batch whose row was lost (recovery/made-anew.ts). */
export const MADE_ANEW = 'MadeAnew';

/** Why the batch is not what was written; undefined where it is. */
export function madeAnewBecause({ status }: { readonly status: Pick<BatchStatus, 'conditions'> }): string | undefined {
  return status.conditions.find(({ type }) => type === MADE_ANEW)?.message;
}
