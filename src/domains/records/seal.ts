/**
 * From Open over Reviewed to Finalized (contract 3, Batch record; decisions Q-RECIPE-28, Q-RECIPE-36). Pure: each step gives
 * the next status, or refuses. A finalized record is never changed again.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { conflict } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { isSignatureValid, sign, type Signatory, type SigningKeys } from '../signatures/signature.js';
import type { SignedRecord } from '../signatures/kind.js';
import { type BatchRecordStatus, type RecordResource, SETTLED } from './kind.js';
import { comparison, type Comparison, same, tellings, type Trail, UNLIKE_ITS_DIGEST } from './open-records.js';

/** Reasons of condition PhaseHistorySettled that allow sealing although it is not True (decisions Q-RECIPE-36). */
const SEALABLE_REASONS: readonly string[] = ['SettleDeadlineExceeded', 'RepairWouldLoseEntries'];

function settling(status: BatchRecordStatus): BatchRecordStatus['conditions'][number] | undefined {
  return status.conditions.find((condition) => condition.type === SETTLED);
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

/** Of audit records that tell what was done to a record. */
export const RECORD_CATEGORY = 'batch-record';

export interface Sealed {
  readonly status: BatchRecordStatus;
  readonly signature: { readonly record: SignedRecord; readonly digest: string };
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
      content: { action: 'finalize', from: status.phase, to: 'Finalized', batchID: spec.batch.batchID, outcome: status.outcome, conditions: status.conditions },
      signedAt: at,
    },
    keys,
  );
  return { status: { ...status, phase: 'Finalized', digest, finalized: { by: by.displayName, at, reason, signature: signature.digest } }, signature };
}

/** The trail has signatures of people beside it, who have signed the record as it was (POST /signatures) and have not sealed it. */
export function isSealing({ action, category, result, signature }: AuditRecord): boolean {
  return action === 'Sign' && category === RECORD_CATEGORY && result === 'Success' && signature !== undefined;
}

export const SealCheck = v.strictObject({
  ok: v.boolean(),
  /** One sentence each. */
  problems: v.array(v.string()),
});
export type SealCheck = ToldBy<typeof SealCheck>;

nameSchemas({ SealCheck });

export function sealCheck({ problems }: Pick<Comparison, 'problems'>): SealCheck {
  return { ok: problems.length === 0, problems };
}

/**
 * Whether a sealed record is still what was signed (21 CFR Part 11, 11.70). `trail` is the audit trail of the record, which
 * its chain protects: a record that was changed past the gateway no longer agrees with it.
 */
export function compareSealed({ metadata, spec, status }: RecordResource, trail: Trail, keys: SigningKeys): Comparison {
  const problems: string[] = [];
  const lacking: string[] = [];
  const digest = canonicalDigest(spec);
  const signed = trail.items.findLast(isSealing)?.signature as SignedDigest | undefined;
  if (digest !== status.digest) problems.push(UNLIKE_ITS_DIGEST);
  if (!signed) lacking.push('the audit trail has no signature of it');
  else {
    const { digest: signatureDigest, ...record } = signed;
    if (!isSignatureValid(record, keys)) problems.push('its signature is not one of this appliance');
    if (record.subject.digest !== digest || record.subject.name !== metadata.name) problems.push('its content is not what was signed');
    if (signatureDigest !== status.finalized?.signature) problems.push('it names another signature than the audit trail');
    problems.push(...shownOtherwise(status, record));
  }
  lacking.push(...tellings(status, trail.items));
  const written = trail.items.findLast(({ details }) => details?.settling !== undefined)?.details;
  if (written && signed && !('conditions' in (signed.content ?? {})) && written.settling !== status.conditions[0]?.reason)
    lacking.push('its conditions are not those of the audit trail');
  return comparison(problems, lacking, trail);
}

type SignedDigest = SignedRecord & { readonly digest: string };

/** What is shown beside the signature is what was signed. Conditions are signed since records carry them in their content. */
function shownOtherwise({ outcome, conditions, finalized }: BatchRecordStatus, { content, signer, signedAt, reason }: SignedRecord): string[] {
  const rows: readonly (readonly [string, boolean])[] = [
    ['outcome', content.outcome === outcome],
    ['signer', finalized?.by === signer.displayName],
    ['time of sealing', finalized?.at === signedAt],
    ['reason', finalized?.reason === reason],
    ['conditions', content.conditions === undefined || same(content.conditions, conditions)],
  ];
  return rows.flatMap(([what, agrees]) => (agrees ? [] : [`its ${what} is not what was signed`]));
}
