/**
 * Signatures as the audit trail tells of them, each against its stored row (D-C-10, ADR 0130): the trail is protected by its chain, so a row
 * whose withdrawal was taken out, or put in, is found by what the trail says.
 */
import * as v from 'valibot';
import { assert } from '../../platform/base/assert.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { untold } from '../../platform/ledger/unread.js';
import type { AuditRecord } from '../../platform/store/audit-record.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { SignatureRecord, type SignatureRecordSpec, type SignatureResource, type SignatureStatus, SignedRecord } from './kind.js';
import type { SigningKeys } from './signature.js';
import { type SignatureState, stateOf, type Subject } from './state.js';
import { siteOf, type Target } from './target.js';
import { signatureProblems, signedProblems } from './verify.js';

/** Of audit records of signatures that stand beside what they are given over. */
export const SIGNATURE_CATEGORY = 'signature';
export const WITHDRAWAL_CATEGORY = 'signature-withdrawal';
export const WITHDRAW_MEANING = 'signature-withdraw';

/** What the trail tells of a target, oldest first, and the files without which it may not be all. */
export interface Told {
  readonly items: readonly AuditRecord[];
  readonly unreadable: readonly string[];
}

export interface ToldSignature extends SignatureRecordSpec {
  /** Under which it is kept. */
  readonly id: string;
  readonly status: SignatureStatus;
  readonly audit: AuditRecord | undefined;
  readonly problems: readonly string[];
  readonly state: SignatureState;
}

const PAGE = 500;
/** Actions whose records carry signatures. */
const ACTIONS = ['Sign', 'Lifecycle', 'PromptAcknowledge', 'Execute', 'Update', 'Request', 'Create'] as const;
/** Meanings whose subject stays as it was signed until somebody changes it. */
const JUDGED = /^(recipe-|change-|record-finalize$)/;

export async function trailOf(queries: Pick<LedgerQueries, 'auditPage'>, target: Target, actions: readonly string[] = ACTIONS): Promise<Told> {
  const items: AuditRecord[] = [];
  const unreadable = new Set<string>();
  for (const action of actions) {
    let cursor: string | null | undefined;
    do {
      const filter = { site: siteOf(target), kind: target.kind, name: target.name, action, result: 'Success', order: 'asc', limit: PAGE } as const;
      const page = await queries.auditPage({ ...filter, ...(cursor ? { cursor } : {}) });
      for (const file of page.unreadable ?? []) unreadable.add(file);
      items.push(...page.items.filter(({ signature }) => signature !== undefined));
      cursor = page.nextCursor;
    } while (cursor !== null);
  }
  return { items: items.sort((a, b) => a.sequence - b.sequence), unreadable: [...unreadable] };
}

export interface JudgeParts {
  readonly read: StoreReader;
  readonly keys: SigningKeys;
  /** What is there of the subject of a signature. */
  readonly subject: (subject: SignedRecord['subject']) => Subject | 'unjudged';
}

/** Every signature that the records carry, oldest first. */
export function toldSignatures(told: Told, parts: JudgeParts): ToldSignature[] {
  return told.items.flatMap((audit) => {
    if (audit.result !== 'Success') return [];
    const signed = signedIn(audit);
    if (!signed) return [];
    return parts.read.get(SignatureRecord, '', signed.record.id) ? [storedSignature(signed.record.id, audit, told, parts)] : [toldAlone(audit, signed, parts)];
  });
}

/** One that lives in the record of what it brought about; of those that are kept beside it the row has gone. */
function toldAlone(audit: AuditRecord, { record, digest }: Signed, { keys, subject }: JudgeParts): ToldSignature {
  const gone = audit.category === SIGNATURE_CATEGORY ? ['it does not exist any more: this is what the audit trail tells of it'] : [];
  const problems = [...signedProblems(record, digest, keys), ...gone];
  const site = record.subject.namespace.replace(/^site-/, '');
  const state = stateOf({ record, status: {}, problems, subject: JUDGED.test(record.meaning) ? subject(record.subject) : 'unjudged' });
  const target = { kind: record.subject.kind, name: record.subject.name, ...(site === '' ? {} : { site }) };
  return { id: record.id, record, digest, target, correlationID: audit.correlationID, status: {}, audit, problems, state };
}

/** A stored one, with its record of the trail where that tells of it. */
export function storedSignature(id: string, audit: AuditRecord | undefined, told: Told, { read, keys, subject }: JudgeParts): ToldSignature {
  const stored = read.get(SignatureRecord, '', id);
  assert(stored, 'who asks has found it');
  const { spec, status } = stored;
  const isItself = spec.record.id === id ? [] : ['it is kept under another id than the one that was signed'];
  const agrees =
    audit === undefined
      ? [untold(told.unreadable)]
      : signedIn(audit)?.digest === spec.digest && audit.correlationID === spec.correlationID
        ? []
        : ['it is not the one that the audit trail tells of'];
  const problems = [...signatureProblems(spec, keys), ...isItself, ...agrees, ...withdrawalProblems(stored, told, keys), ...supersessionProblems(stored, told)];
  const state = stateOf({ record: spec.record, status, problems, subject: isGiven(spec.record) ? subject(spec.record.subject) : 'unjudged' });
  return { id, ...spec, status, audit, problems, state };
}

export interface Signed {
  readonly record: SignedRecord;
  readonly digest: string;
}

/** The signature of an audit record, undefined of one that has none of its shape; records of what it brought about leave its digest out. */
export function signedIn({ signature }: AuditRecord): Signed | undefined {
  const { digest, ...record } = signature ?? {};
  if (!v.is(SignedRecord, record) || (digest !== undefined && typeof digest !== 'string')) return undefined;
  const { value: _value, ...base } = record;
  return { record, digest: digest ?? canonicalDigest(base) };
}

/** Given through POST /signatures, beside what is signed: of all others something came that is undone by its own route. */
export function isGiven({ content }: SignedRecord): boolean {
  return content.action === 'sign';
}

/** The withdrawal that is kept is genuine, is of this signature, and is the one that is told of; and none is told of that is not kept. */
export function withdrawalProblems({ metadata: { name: id }, spec, status }: SignatureResource, { items, unreadable }: Told, keys: SigningKeys): string[] {
  const told = items.find(({ category, details }) => category === WITHDRAWAL_CATEGORY && details?.withdrawn === id);
  const { withdrawal } = status;
  if (!withdrawal) return told ? [`the audit trail tells that ${told.displayName} has withdrawn it, and its row does not`] : [];
  const { record, digest } = withdrawal;
  const own = signedProblems(record, digest, keys).map((problem) => `its withdrawal: ${problem}`);
  const isOfIt = record.meaning === WITHDRAW_MEANING && record.content.withdrawn === id && record.content.digest === spec.digest;
  const ofIt = isOfIt ? [] : ['its withdrawal is that of another signature'];
  const untoldOf =
    told === undefined ? [`its withdrawal: ${untold(unreadable)}`] : signedIn(told)?.digest === digest ? [] : ['its withdrawal is not the one that the audit trail tells of'];
  return [...own, ...ofIt, ...untoldOf];
}

/** What has taken its place is told by the record of that one. */
export function supersessionProblems({ metadata: { name: id }, status }: SignatureResource, { items, unreadable }: Told): string[] {
  const told = items.find(({ details }) => Array.isArray(details?.supersedes) && details.supersedes.includes(id));
  const by = told && signedIn(told)?.record.id;
  if (by === status.supersededBy) return [];
  if (status.supersededBy === undefined) return [`the audit trail tells that signature ${by ?? ''} has taken its place, and its row does not`];
  return [told ? 'it is superseded by another signature than the audit trail tells of' : `that it is superseded: ${untold(unreadable)}`];
}
