/** What is served of a batch record (decisions 8.1, Q-RECIPE-34). */
import { metadataBody } from '../../platform/store/read-body.js';
import type { RecordResource } from './consolidated.js';
import { isRecordSettled } from './seal.js';

export function recordBody(record: RecordResource): Record<string, unknown> {
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
