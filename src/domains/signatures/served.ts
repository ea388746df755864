/** A signature as it is served (21 CFR 11.50): who, when, with which meaning and why, over what, and what it is worth by now. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { SignatureRecordSpec } from './kind.js';
import { SignatureState } from './state.js';
import type { ToldSignature } from './told.js';

export const Signature = v.strictObject({
  id: v.string(),
  target: v.strictObject({ kind: v.string(), name: v.string(), site: v.optional(v.string()) }),
  meaning: v.string(),
  reason: v.string(),
  /** Of the content that was signed. */
  digest: v.string(),
  /** Digest of the signed record, as other records name it. */
  signature: v.string(),
  keyId: v.string(),
  signedBy: v.strictObject({ accountId: v.string(), displayName: v.string() }),
  signedAt: v.string(),
  correlationID: v.string(),
});
export type Signature = ToldBy<typeof Signature>;

export const ListedSignature = v.strictObject({ ...Signature.entries, ...SignatureState.entries });
export type ListedSignature = ToldBy<typeof ListedSignature>;

export const VerifiedSignature = v.strictObject({ ...ListedSignature.entries, valid: v.boolean(), problems: v.array(v.string()), auditRecordRef: v.string() });
export type VerifiedSignature = ToldBy<typeof VerifiedSignature>;

nameSchemas({ SignatureBody: Signature, ListedSignature, VerifiedSignature });

export function served({ record, digest, target, correlationID }: SignatureRecordSpec): Signature {
  const { id, meaning, reason, subject, keyId, signer, signedAt } = record;
  return {
    id,
    target,
    meaning,
    reason,
    digest: subject.digest,
    signature: digest,
    keyId,
    signedBy: { accountId: signer.accountId, displayName: signer.displayName },
    signedAt,
    correlationID,
  };
}

export function listed(told: ToldSignature): ListedSignature {
  return { ...served(told), id: told.id, ...told.state };
}

export function verified(told: ToldSignature): VerifiedSignature {
  return { ...listed(told), valid: told.problems.length === 0, problems: [...told.problems], auditRecordRef: told.audit?.name ?? '' };
}
