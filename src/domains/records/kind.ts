/** Batch record (contract 3, Batch record; decisions 8.1): built from facts at the end of a batch, sealed by signature. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Condition, type ToldBy } from '../../platform/http/replies.js';
import { asWritten } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import { isFlag, isNumber, isText, maybe } from '../../platform/store/past-shape.js';
import { BatchAlarm } from '../alarms/kind.js';
import { ExecutionEvent, ExternalResultFact, OperatorAction } from '../runs/execution-log.js';
import { ClockSpan, MaterialUse, UnitChoice } from '../batches/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ParameterValue } from '../procedures/kind.js';
import { ElementFailure } from '../runs/failures.js';

export const RECORD_PHASES = ['Open', 'Reviewed', 'Finalized'] as const;
export type RecordPhase = (typeof RECORD_PHASES)[number];

export const PhaseHistoryEntry = v.strictObject({
  kind: v.string(),
  name: v.string(),
  path: v.string(),
  unit: v.string(),
  templateRef: v.string(),
  run: v.number(),
  states: v.array(
    v.strictObject({
      state: v.string(),
      from: v.string(),
      to: v.string(),
      cause: v.string(),
    }),
  ),
});
export type PhaseHistoryEntry = ToldBy<typeof PhaseHistoryEntry>;

/** A moment that an audit record evidences; both members are empty when none does. */
export const GapBound = v.strictObject({
  at: v.string(),
  auditRecordRef: v.string(),
});
export type GapBound = ToldBy<typeof GapBound>;

export const FailoverEvent = v.strictObject({
  unit: v.string(),
  reboundAt: v.string(),
  cause: v.string(),
  controlGap: v.strictObject({ from: GapBound, to: GapBound, bounds: v.literal('Exact') }),
  dataGap: v.strictObject({ from: GapBound, to: GapBound, bounds: v.picklist(['Containing', 'Overlapping']) }),
});
export type FailoverEvent = ToldBy<typeof FailoverEvent>;

export const BatchRecordSpec = v.strictObject({
  batch: v.strictObject({
    name: v.string(),
    batchID: v.string(),
    uid: v.string(),
    workOrderID: v.string(),
    lotID: v.string(),
    description: v.string(),
    quantity: v.string(),
    engineeringUnit: v.string(),
    priority: v.number(),
    scheduledStartTime: v.string(),
    createdAt: v.string(),
    startedAt: v.string(),
    endedAt: v.string(),
    /** What the wall clock showed meanwhile, where it was set back: the historian holds the batch under these times. */
    clockSpan: v.optional(ClockSpan),
  }),
  recipe: v.strictObject({
    name: v.string(),
    productID: v.string(),
    productName: v.string(),
    version: v.string(),
    revision: v.number(),
    formulaName: v.string(),
    masterDigest: v.string(),
    controlRecipe: v.string(),
    controlDigest: v.string(),
  }),
  equipment: v.array(
    v.strictObject({
      capability: v.string(),
      unit: v.string(),
      /** Where it was one of a class. */
      choice: v.optional(UnitChoice),
      allocatedAt: v.string(),
      releasedAt: v.string(),
    }),
  ),
  parameterValues: v.array(v.strictObject({ ...ParameterValue.entries, element: v.string() })),
  outputs: v.array(
    v.strictObject({
      element: v.string(),
      name: v.string(),
      type: v.string(),
      unit: v.string(),
      value: v.string(),
      at: v.string(),
      quality: v.string(),
    }),
  ),
  materials: v.strictObject({
    inputs: v.array(MaterialUse),
    outputs: v.array(MaterialUse),
  }),
  operatorActions: v.array(OperatorAction),
  externalResults: v.array(ExternalResultFact),
  /** Units that were bound again while the batch was under way; on one appliance always to the same node. */
  failoverEvents: v.array(FailoverEvent),
  executionEvents: v.array(ExecutionEvent),
  phaseHistory: v.array(PhaseHistoryEntry),
  alarms: v.array(BatchAlarm),
  failure: v.optional(ElementFailure),
});
export type BatchRecordSpec = ToldBy<typeof BatchRecordSpec>;

export const RECORD_OUTCOMES = ['Complete', 'Stopped', 'Aborted', 'Failed'] as const;

export const Review = v.strictObject({ outcome: v.picklist(['Accepted', 'Rejected']), comment: v.string(), by: v.string(), at: v.string() });
export const RecordComment = v.strictObject({ id: v.string(), text: v.string(), reference: v.string(), by: v.string(), at: v.string() });

nameSchemas({ PhaseHistoryEntry, RecordGapBound: GapBound, FailoverEvent, BatchRecordSpec, RecordReview: Review, RecordComment });

export const BatchRecordStatus = v.strictObject({
  phase: v.picklist(RECORD_PHASES),
  outcome: v.picklist(RECORD_OUTCOMES),
  digest: v.string(),
  conditions: v.array(Condition),
  review: v.optional(Review),
  comments: v.array(RecordComment),
  finalized: v.optional(v.strictObject({ by: v.string(), at: v.string(), reason: v.string(), signature: v.string() })),
});
export type BatchRecordStatus = ToldBy<typeof BatchRecordStatus>;

export type RecordResource = Resource<BatchRecordSpec, BatchRecordStatus>;

/** Condition: what is told of its elements is all there will be. */
export const SETTLED = 'PhaseHistorySettled';

export function isRecordSettled({ conditions }: BatchRecordStatus): boolean {
  return conditions.some(({ type, status }) => type === SETTLED && status === 'True');
}

/** Nothing of its content is made or repaired any more: it is sealed, has settled, or cannot be repaired without a loss. */
export function isClosed({ status }: RecordResource): boolean {
  const settling = status.conditions.find(({ type }) => type === SETTLED);
  return status.phase === 'Finalized' || settling?.status === 'True' || settling?.reason === 'RepairWouldLoseEntries';
}

/** What stays in memory of a record that is past (ADR 0038): what lists filter, order and show, and what its batch is known by. */
export interface PastRecord {
  /** Of its batch. */
  readonly uid: string;
  readonly batchID: string;
  readonly workOrderID: string;
  readonly lotID: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  /** When its batch was made. */
  readonly createdAt: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Lists are ordered by it: the end of the batch. A number, so that nothing is parsed for those that a page does not show. */
  readonly atMs: number;
  readonly recipe: string;
  readonly productID: string;
  readonly version: string;
  readonly phase: RecordPhase;
  readonly outcome: BatchRecordStatus['outcome'];
  readonly settled: boolean;
}

/** As a list shows it, present or past. */
export function listedOf({ metadata, spec: { batch, recipe }, status }: RecordResource): PastRecord {
  const { uid, batchID, workOrderID, lotID, quantity, engineeringUnit, createdAt, startedAt, endedAt } = batch;
  const { name, productID, version } = recipe;
  const { phase, outcome } = status;
  const settled = isRecordSettled(status);
  return {
    uid,
    batchID,
    workOrderID,
    lotID,
    quantity,
    engineeringUnit,
    createdAt,
    startedAt,
    endedAt,
    atMs: Date.parse(endedAt || metadata.createdAt),
    recipe: name,
    productID,
    version,
    phase,
    outcome,
    settled,
  };
}

export const BatchRecord: Kind<BatchRecordSpec, BatchRecordStatus> = {
  kind: 'BatchRecord',
  group: 'record',
  scope: 'site',
  action: 'batchrecord',
  path: 'batchrecords',
  spec: asWritten<BatchRecordSpec>(),
  body: 'document',
  apply: { how: 'no', reason: 'a batch record is the evidence of an execution; it is made when its batch ends' },
  initialStatus: () => ({ phase: 'Open', outcome: 'Complete', digest: '', conditions: [], comments: [] }),
  status: BatchRecordStatus.entries,
  foundByName: true,
  pastOrders: { ended: ({ atMs }: Partial<PastRecord>) => (typeof atMs === 'number' ? -atMs : undefined), batchID: ({ batchID }: Partial<PastRecord>) => batchID },
  pastShape: {
    ...Object.fromEntries(
      ['uid', 'batchID', 'workOrderID', 'lotID', 'quantity', 'engineeringUnit', 'createdAt', 'startedAt', 'endedAt', 'recipe', 'productID', 'version'].map((member) => [
        member,
        maybe(isText),
      ]),
    ),
    phase: maybe(isText),
    outcome: maybe(isText),
    atMs: (atMs) => atMs === null || isNumber(atMs), // of a time that cannot be read there is none
    settled: maybe(isFlag),
  },
  pastIndex: (record): Readonly<Record<keyof PastRecord, string | number | boolean>> => ({ ...listedOf(record) }),
};
