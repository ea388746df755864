/** What is served of a batch record (decisions 8.1, Q-RECIPE-34). */
import { metadataBody } from '../../platform/store/read-body.js';
import type { RecordResource } from './kind.js';
import { isRecordSettled, type SealCheck } from './seal.js';

/** `seal`: of a finalized record, whether it still is what was signed. */
export function recordBody(record: RecordResource, seal?: SealCheck): Record<string, unknown> {
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
    ...(seal ? { seal } : {}),
    digest,
    ...metadataBody(record),
  };
}

export function recordItem({ metadata, spec, status }: RecordResource): Record<string, unknown> {
  const { batch, recipe } = spec;
  return {
    name: metadata.name,
    batch: batch.name,
    batchID: batch.batchID,
    productID: recipe.productID,
    recipe: recipe.name,
    version: recipe.version,
    phase: status.phase,
    outcome: status.outcome,
    startedAt: batch.startedAt,
    endedAt: batch.endedAt,
    settled: isRecordSettled(status),
  };
}
