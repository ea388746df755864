/** What is served of a batch record (decisions 8.1, Q-RECIPE-34). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import { BatchRecordSpec, BatchRecordStatus, RECORD_OUTCOMES, RECORD_PHASES, type RecordResource } from './kind.js';
import { ListedSignature } from '../signatures/served.js';
import type { ListedRecord } from './past-records.js';
import { SealCheck } from './seal.js';

export const RecordBody = v.strictObject({
  name: v.string(),
  ...BatchRecordStatus.entries,
  spec: BatchRecordSpec,
  /** Of a finalized record, whether it still is what was signed. */
  seal: v.optional(SealCheck),
  /** Over the record, with their state, oldest first. */
  signatures: v.array(ListedSignature),
  /** Legal holds that keep it. */
  legalHolds: v.array(v.string()),
  ...SITE_METADATA,
});
export type RecordBody = ToldBy<typeof RecordBody>;

export const RecordItem = v.strictObject({
  name: v.string(),
  batch: v.string(),
  batchID: v.string(),
  productID: v.string(),
  recipe: v.string(),
  version: v.string(),
  phase: v.picklist(RECORD_PHASES),
  outcome: v.picklist(RECORD_OUTCOMES),
  startedAt: v.string(),
  endedAt: v.string(),
  settled: v.boolean(),
  legalHolds: v.array(v.string()),
});
export type RecordItem = ToldBy<typeof RecordItem>;

nameSchemas({ BatchRecordBody: RecordBody, BatchRecordItem: RecordItem });

/** `seal`: of a finalized record, whether it still is what was signed. */
export function recordBody(record: RecordResource, beside: Pick<RecordBody, 'signatures' | 'legalHolds' | 'seal'>): RecordBody {
  const { metadata, spec, status } = record;
  const { phase, outcome, digest, conditions, review, comments, finalized } = status;
  return {
    name: metadata.name,
    phase,
    outcome,
    spec,
    conditions,
    ...(review ? { review } : {}),
    comments,
    ...(finalized ? { finalized } : {}),
    ...beside,
    digest,
    ...metadataBody(record),
  };
}

export function recordItem({ name, entry }: ListedRecord, legalHolds: string[]): RecordItem {
  const { batchID, productID, recipe, version, phase, outcome, startedAt, endedAt, settled } = entry;
  return { name, batch: name, batchID, productID, recipe, version, phase, outcome, startedAt, endedAt, settled, legalHolds };
}
