/**
 * What a signature is worth by now (ADR 0130): it stands, was withdrawn, was superseded by a newer one or by a change of what was signed, or is
 * not genuine. It is shown with that state wherever it is shown. Pure.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Resource } from '../../platform/store/resource.js';
import { describeFields } from '../../platform/base/field-words.js';
import { SIGNATURE_STATE_WORDS } from './field-words.js';
import type { SignatureStatus, SignedRecord } from './kind.js';

export const SIGNATURE_STATES = ['Valid', 'Withdrawn', 'Superseded', 'Broken'] as const;

export const SignatureState = v.strictObject({
  state: v.picklist(SIGNATURE_STATES),
  why: v.string(),
  words: v.string(),
});
export type SignatureState = ToldBy<typeof SignatureState>;

nameSchemas({ SignatureState });
describeFields(SignatureState, SIGNATURE_STATE_WORDS);

/** What is there of the signed thing: undefined of what has gone. */
export type Subject = Pick<Resource, 'spec'> | undefined;

export interface Judged {
  readonly record: SignedRecord;
  readonly status: SignatureStatus;
  /** What is wrong with it, one sentence each. */
  readonly problems: readonly string[];
  /** `'unjudged'` of what has no content that stays, as an answer to a prompt. */
  readonly subject: Subject | 'unjudged';
}

export function stateOf(judged: Judged): SignatureState {
  const { state, why } = judgement(judged);
  return { state, why, words: wordsOf(judged.record, state, why) };
}

function judgement({ record, status, problems, subject }: Judged): Omit<SignatureState, 'words'> {
  if (problems.length > 0) return { state: 'Broken', why: problems.join('; ') };
  if (status.withdrawal) {
    const { signer, signedAt, reason } = status.withdrawal.record;
    return { state: 'Withdrawn', why: `withdrawn by ${signer.displayName} at ${signedAt}: ${reason}` };
  }
  if (status.supersededBy !== undefined) return { state: 'Superseded', why: `the same person signed again, with signature ${status.supersededBy}` };
  if (subject === 'unjudged') return { state: 'Valid', why: '' };
  const { kind, name, digest } = record.subject;
  if (!subject) return { state: 'Superseded', why: `${kind} ${name} does not exist any more` };
  return digestsOf(subject.spec).includes(digest) ? { state: 'Valid', why: '' } : { state: 'Superseded', why: `${kind} ${name} was changed since` };
}

/**
 * Digests under which the content was signed: its own, and of what carries signatures itself (a change request) those it had before the later
 * ones were stamped on it, for they are not its content.
 */
export function digestsOf(spec: unknown): readonly string[] {
  const { signatures } = (spec ?? {}) as { readonly signatures?: unknown };
  if (!Array.isArray(signatures)) return [canonicalDigest(spec)];
  return Array.from({ length: signatures.length + 1 }, (_, count) => canonicalDigest({ ...(spec as object), signatures: signatures.slice(0, count) }));
}

/** Name, time, meaning and reason (21 CFR 11.50), and what became of it, in one sentence for a page and a print. */
export function wordsOf({ meaning, signer, signedAt, reason }: SignedRecord, state: SignatureState['state'], why: string): string {
  const signed = `${meaning}, signed by ${signer.displayName} (${signer.accountId}) at ${signedAt}${reason === '' ? '' : `: ${reason}`}`;
  return state === 'Valid' ? signed : `${signed} — ${state === 'Broken' ? 'NOT GENUINE' : state.toUpperCase()}: ${why}`;
}
