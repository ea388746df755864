/**
 * What verifying a signature comes to (21 CFR 11.70; decisions 8.6, D-C-10), check by check, in words: what was verified, and what no longer
 * holds. What was signed may be genuine and yet not stand any more: the one is `valid`, the other `state`.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { publicKeyOf } from '../../platform/ledger/keys.js';
import type { SignatureDeps } from './deps.js';
import { SIGNATURE_CHECK_WORDS } from './field-words.js';
import { SignatureRecord, type SignedRecord } from './kind.js';
import { VerifiedSignature, verified } from './served.js';
import { isSignatureValid, type SigningKeys } from './signature.js';
import type { ToldSignature } from './told.js';
import { kindOf, lendTarget } from './target.js';

export const SIGNATURE_CHECKS = ['digest', 'value', 'key', 'row', 'chain', 'content', 'standing'] as const;

const Check = v.strictObject({
  check: v.picklist(SIGNATURE_CHECKS),
  ok: v.nullable(v.boolean()),
  message: v.string(),
});
type Check = ToldBy<typeof Check>;

export const SignatureVerification = v.strictObject({ ...VerifiedSignature.entries, checkedAt: v.string(), checks: v.array(Check) });
export type SignatureVerification = ToldBy<typeof SignatureVerification>;

nameSchemas({ SignatureCheck: Check, SignatureVerification });
describeFields(Check, SIGNATURE_CHECK_WORDS);

type CheckDeps = Pick<SignatureDeps, 'store' | 'queries' | 'keys' | 'kinds' | 'refusalToSign'>;

export async function verification(deps: CheckDeps, told: ToldSignature, checkedAt: string): Promise<SignatureVerification> {
  const { record, digest } = told;
  const checks = [digestCheck(record, digest), valueCheck(record, deps.keys), keyCheck(record, deps.keys)];
  checks.push(await rowCheck(deps, told), await chainCheck(deps, told), await contentCheck(deps, told), standingCheck(told));
  const failed = checks.filter(({ check, ok }) => ok === false && (check === 'row' || check === 'chain')).map(({ message }) => message);
  const problems = [...new Set([...told.problems, ...failed])];
  return { ...verified({ ...told, problems }), checkedAt, checks };
}

function attempt(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false; // it cannot be read as a signature, and so is none
  }
}

function digestCheck({ value: _value, ...base }: SignedRecord, digest: string): Check {
  const ok = attempt(() => canonicalDigest(base) === digest);
  return { check: 'digest', ok, message: ok ? 'the signed record has the digest it was given' : 'the signed record does not have its digest: a field of it was changed' };
}

function valueCheck(record: SignedRecord, keys: SigningKeys): Check {
  const ok = attempt(() => isSignatureValid(record, keys));
  const how = record.algorithm === 'Ed25519' ? 'the Ed25519 signature' : 'the HMAC-SHA256 seal';
  return { check: 'value', ok, message: ok ? `${how} is that of all its fields` : `${how} is not that of its fields: it was not signed so with a key of this appliance` };
}

function keyCheck({ algorithm, keyId }: SignedRecord, keys: SigningKeys): Check {
  const isPresent = algorithm === 'Ed25519' ? keyId === keys.kid : keyId === keys.auditKeyId;
  if (isPresent) return { check: 'key', ok: true, message: `key ${keyId} is the present one of this appliance` };
  const isFormer = algorithm === 'Ed25519' && publicKeyOf(keys, keyId) !== undefined;
  return { check: 'key', ok: isFormer, message: isFormer ? `key ${keyId} is that of a box that this one was restored from` : `key ${keyId} is not known to this appliance` };
}

/** The seal over the stored row (ADR 0018). */
async function rowCheck({ store, queries }: CheckDeps, { id }: ToldSignature): Promise<Check> {
  if (!store.get(SignatureRecord, '', id)) return { check: 'row', ok: null, message: 'it has no row of its own: the audit trail is where it is kept' };
  const ok = await queries.isRowRecorded({ kind: SignatureRecord.kind, site: '', name: id });
  return { check: 'row', ok, message: ok ? 'its row is the one that was stored' : 'its row is not the one that was stored: it was changed past the gateway' };
}

/** Its record in the audit trail, by its place in the chain. */
async function chainCheck({ queries }: CheckDeps, { audit }: ToldSignature): Promise<Check> {
  if (!audit) return { check: 'chain', ok: false, message: 'the audit trail does not tell of it' };
  const atMs = Date.parse(audit.timestamp);
  const range = { fromMs: atMs, toMs: atMs + 1 };
  const { archivedTo, problems } = await queries.verify(range);
  const isArchived = audit.sequence <= archivedTo;
  const found = isArchived ? (await queries.verifyArchives(range)).problems : problems;
  const own = found.find(({ sequence }) => sequence === audit.sequence);
  if (own) return { check: 'chain', ok: false, message: `${audit.name} is not what the chain of the audit trail holds: ${own.problem}` };
  return { check: 'chain', ok: true, message: `${audit.name} tells of it${isArchived ? ', in the archive,' : ''} and stands in the chain with its hash, link and seal` };
}

async function contentCheck(deps: CheckDeps, { record, state, target }: ToldSignature): Promise<Check> {
  const { store, kinds, refusalToSign } = deps;
  const { kind, name, namespace, digest } = record.subject;
  const known = kindOf(kinds, kind);
  if (state.state === 'Broken') return { check: 'content', ok: null, message: 'what was signed cannot be told: the signature is not genuine' };
  if (!known) return { check: 'content', ok: null, message: `a ${kind} is not kept with a content that could be compared` };
  await lendTarget(deps, target);
  const now = store.get(known, namespace.replace(/^site-/, ''), name);
  if (!now) return { check: 'content', ok: false, message: `${kind} ${name} does not exist any more` };
  if (state.state === 'Superseded' && state.why.endsWith('was changed since')) {
    return { check: 'content', ok: false, message: `${kind} ${name} has the digest ${canonicalDigest(now.spec)} now, and ${digest} was signed` };
  }
  const refusal = await refusalToSign(now);
  if (refusal) return { check: 'content', ok: false, message: refusal.message };
  return { check: 'content', ok: true, message: `${kind} ${name} is what was signed, with digest ${digest}` };
}

function standingCheck({ state: { state, why } }: ToldSignature): Check {
  return { check: 'standing', ok: state === 'Valid', message: state === 'Valid' ? 'it stands: it was neither withdrawn nor superseded' : `it is ${state}: ${why}` };
}
