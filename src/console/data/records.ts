/** The record of a batch that has ended (contract 3, Batch record): read, commented, reviewed, sealed and handed out. */
import { get, getText, post } from './api.js';
import { logPage, type Page } from './listed.js';
import type { Once } from './once.js';
import { atSite } from './plant.js';
import { me } from './session.js';
import type { BatchRecord, ConsolidatedRecord, RecordItem, SignatureVerification } from './types.js';

/** What a list asks of its records: `search`, `phase`, `from`, `to` and `order` of the route. */
export type RecordQuestion = Readonly<Record<string, string>>;

export function recordPage(question: RecordQuestion, cursor: string): Promise<Page<RecordItem>> {
  return logPage<RecordItem>(atSite('batchrecords'), question, cursor);
}

/** How many there are of each of these phases; of '' how many in all. */
export async function countRecords(question: RecordQuestion, phases: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const counts = await Promise.all(phases.map(async (phase) => (await logPage<RecordItem>(atSite('batchrecords'), { ...question, phase, limit: '1' }, '')).total ?? 0));
  return Object.fromEntries(phases.map((phase, at) => [phase, counts[at] ?? 0]));
}

const recordAt = (name: string): string => atSite(`batchrecords/${encodeURIComponent(name)}`);
const documentAt = (name: string): string => atSite(`batches/${encodeURIComponent(name)}/record`);

/** A document of a long batch takes longer than an answer of a list. */
const DOCUMENT_MS_MAX = 60_000;

export function readRecord(name: string): Promise<BatchRecord> {
  return get<BatchRecord>(recordAt(name));
}

/** Whether what is recorded is what the audit trail tells of it; of a sealed record the record itself says so. */
export async function readIntegrity(name: string): Promise<ConsolidatedRecord['integrity']> {
  return (await get<Pick<ConsolidatedRecord, 'integrity'>>(documentAt(name), { signal: AbortSignal.timeout(DOCUMENT_MS_MAX) })).integrity;
}

/** @param once of the dialog in which it is written: a comment whose answer was lost is not written twice. */
export function comment(name: string, text: string, reference: string, once: Once): Promise<void> {
  const path = `${recordAt(name)}/comments`;
  const by = me.peek()?.displayName;
  const isThere = async (sinceMs: number): Promise<boolean> =>
    (await readRecord(name)).comments.some((known) => Date.parse(known.at) >= sinceMs && known.by === by && known.text === text && known.reference === reference);
  return once.send({ path, text, reference }, (options) => post(path, { text, reference }, options), isThere);
}

export function review(name: string, outcome: string, reason: string): Promise<unknown> {
  return post(`${recordAt(name)}/review`, { outcome, comment: reason });
}

export function finalize(name: string, reason: string): Promise<unknown> {
  return post(`${recordAt(name)}/finalize`, { reason });
}

/** @param signature its id, or the digest by which a record names it. */
export function verifySignature(signature: string): Promise<SignatureVerification> {
  return get<SignatureVerification>(`/api/v1/signatures/${encodeURIComponent(signature)}/verify`);
}

export const FORMS = { json: 'application/json', xml: 'application/xml' } as const;
export type Form = keyof typeof FORMS;

/** Everything that is on record about the batch, letter by letter as the gateway hands it out: JSON with its digest, or BatchML. */
export function readDocument(name: string, form: Form): Promise<string> {
  return getText(`${documentAt(name)}${form === 'xml' ? '?format=b2mml' : ''}`, { accept: FORMS[form], signal: AbortSignal.timeout(DOCUMENT_MS_MAX) });
}
