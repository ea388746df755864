/**
 * Electronic signatures (decisions 8.6, 21 CFR Part 11): who signed what content when, for which meaning, over the
 * canonical form of the record. The digest of the record is what responses show; the whole record lies in the audit trail.
 */
import { createHmac, type KeyObject, randomUUID, sign as signWithKey, timingSafeEqual, verify as verifyWithKey } from 'node:crypto';
import { exactBase64 } from '../../platform/base/exact-base64.js';
import type { Caller } from '../../platform/http/caller.js';
import { canonicalDigest, canonicalJson } from '../../platform/ledger/canonical-json.js';
import { publicKeyOf } from '../../platform/ledger/keys.js';
import type { SignatureAlgorithm, SignatureSubject, SignedRecord } from './kind.js';

export const SIGNATURE_MEANINGS = [
  'recipe-approve',
  'recipe-reject',
  'recipe-release',
  'recipe-activate',
  'recipe-withdraw',
  'recipe-revert',
  'record-finalize',
  'change-create',
  'change-approve',
  'change-reject',
  'ad-hoc-execution',
  'active-step-change',
  'prompt-response',
  'external-result-manual-entry',
  'prompt-confirmation',
  'qualification',
  'restore-confirm',
] as const;
export type SignatureMeaning = (typeof SIGNATURE_MEANINGS)[number];

/** Always with the HMAC key (decisions 8.6). */
const OF_PROMPTS: ReadonlySet<string> = new Set<SignatureMeaning>(['prompt-response', 'external-result-manual-entry', 'prompt-confirmation']);

/** Who signs, as far as a signature records it: a caller, or the identity of a component. */
export type Signatory = Pick<Caller, 'accountId' | 'displayName' | 'groups' | 'issuedAtMs'>;

/** The keys of the appliance (platform/ledger/keys.ts) and what the deployment chose. */
export interface SigningKeys {
  /** Setting `security.signing.algorithm`. */
  readonly algorithm: SignatureAlgorithm;
  /** Setting `auth.mode`, recorded in every signature. */
  readonly authMode: string;
  readonly auditHmac: Buffer;
  readonly auditKeyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly kid: string;
  /** Of boxes that this one was restored from. */
  readonly former?: ReadonlyMap<string, KeyObject>;
}

export interface SignatureRequest {
  readonly meaning: string;
  readonly signatory: Signatory;
  readonly reason: string;
  readonly subject: SignatureSubject;
  readonly content: Readonly<Record<string, unknown>>;
  readonly signedAt: string;
}

/** The signed record and its digest, the `signature` member of responses. Prompt responses always use the HMAC key. */
export function sign(request: SignatureRequest, keys: SigningKeys): { readonly record: SignedRecord; readonly digest: string } {
  const onlyHmac = OF_PROMPTS.has(request.meaning);
  const algorithm = onlyHmac ? 'HMAC-SHA256' : keys.algorithm;
  const { accountId, displayName, groups, issuedAtMs } = request.signatory;
  const base = {
    id: randomUUID(),
    meaning: request.meaning,
    signer: { accountId, displayName, groups },
    authMode: keys.authMode,
    signedAt: request.signedAt,
    tokenIssuedAt: issuedAtMs === null ? '' : new Date(issuedAtMs).toISOString(),
    reason: request.reason,
    subject: request.subject,
    content: request.content,
    algorithm,
    keyId: algorithm === 'Ed25519' ? keys.kid : keys.auditKeyId,
  } as const;
  const bytes = Buffer.from(canonicalJson(base), 'utf8');
  const value = algorithm === 'Ed25519' ? signWithKey(null, bytes, keys.privateKey) : createHmac('sha256', keys.auditHmac).update(bytes).digest();
  return { record: { ...base, value: value.toString('base64') }, digest: canonicalDigest(base) };
}

/** Whether a record is unchanged since it was signed with one of these keys. */
export function isSignatureValid(record: SignedRecord, keys: SigningKeys): boolean {
  const { value, ...base } = record;
  const bytes = Buffer.from(canonicalJson(base), 'utf8');
  const given = exactBase64(value);
  if (given === undefined) return false;
  if (record.algorithm === 'Ed25519') {
    const key = publicKeyOf(keys, record.keyId);
    return key !== undefined && verifyWithKey(null, bytes, key, given);
  }
  const expected = createHmac('sha256', keys.auditHmac).update(bytes).digest();
  return record.keyId === keys.auditKeyId && given.length === expected.length && timingSafeEqual(given, expected);
}
