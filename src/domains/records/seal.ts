/**
 * From Open over Reviewed to Finalized (contract 3, Batch record; decisions Q-RECIPE-28, Q-RECIPE-36). Pure: each step gives
 * the next status, or refuses. A finalized record is never changed again.
 */
import { conflict } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { sign, type Signatory, type SignatureRecord, type SigningKeys } from '../recipes/signature.js';
import type { RecordResource } from './consolidated.js';
import type { BatchRecordStatus } from './kind.js';

/** Reasons of condition PhaseHistorySettled that allow sealing although it is not True (decisions Q-RECIPE-36). */
const SEALABLE_REASONS: readonly string[] = ['SettleDeadlineExceeded', 'RepairWouldLoseEntries'];

export function isRecordSettled(status: BatchRecordStatus): boolean {
  return settling(status)?.status === 'True';
}

function settling(status: BatchRecordStatus): BatchRecordStatus['conditions'][number] | undefined {
  return status.conditions.find((condition) => condition.type === 'PhaseHistorySettled');
}

/** @throws Refusal 409 `record_sealed`. */
export function refuseSealed({ metadata, status }: RecordResource): void {
  if (status.phase !== 'Finalized') return;
  throw conflict('record_sealed', `the record of batch ${metadata.name} was sealed by ${status.finalized?.by ?? ''} at ${status.finalized?.at ?? ''}; it cannot be changed`, {
    phase: status.phase,
  });
}

/** @throws Refusal 409 while elements of the batch are still moving. */
export function refuseUnsettled({ metadata, status }: RecordResource): void {
  const condition = settling(status);
  if (condition?.status === 'True' || SEALABLE_REASONS.includes(condition?.reason ?? '')) return;
  throw conflict(
    'record_not_settled',
    `the record of batch ${metadata.name} is not settled: ${condition?.message ?? 'its history is not complete'}; wait until every element is at rest`,
    { reason: condition?.reason ?? '' },
  );
}

export interface Sealed {
  readonly status: BatchRecordStatus;
  readonly signature: { readonly record: SignatureRecord; readonly digest: string };
}

/** @throws Refusal 409 `record_sealed`, `record_not_settled`. */
export function finalize(record: RecordResource, by: Signatory, reason: string, at: string, keys: SigningKeys): Sealed {
  refuseSealed(record);
  refuseUnsettled(record);
  const { metadata, spec, status } = record;
  const digest = canonicalDigest(spec);
  const signature = sign(
    {
      meaning: 'record-finalize',
      signatory: by,
      reason,
      subject: { apiVersion: 'record.lineside.io/v1alpha1', kind: 'BatchRecord', namespace: `site-${metadata.site}`, name: metadata.name, revision: metadata.generation, digest },
      content: { action: 'finalize', from: status.phase, to: 'Finalized', batchID: spec.batch.batchID, outcome: status.outcome },
      signedAt: at,
    },
    keys,
  );
  return { status: { ...status, phase: 'Finalized', digest, finalized: { by: by.displayName, at, reason, signature: signature.digest } }, signature };
}
