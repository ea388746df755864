/**
 * Numbers that the ledger counts on from. One that was damaged would be refused with every write that follows it, so a start
 * judges them by what they count (inspect.ts tells of those that are not right, state-writer.ts goes on from those that are).
 */
import type Database from '../base/sqlite.js';

/** No appliance counts so far, a million a second for nine years; what is beyond it was damaged. */
export const COUNT_MAX = 2 ** 48;

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX;
}

/** Of text, as `meta` keeps it. */
export function countIn(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,16}$/.test(text) && isCount(Number(text)) ? Number(text) : undefined;
}

export interface StreamCount {
  readonly stream: string;
  /** As it is stored. */
  readonly last: unknown;
  /** What the next entry follows. */
  readonly counted: number;
  readonly isSound: boolean;
}

/** Of the streams that may still grow. A number that was given is not given again, so more than there are entries stands; what cannot be one does not. */
export function streamCounts(database: Database.Database): StreamCount[] {
  const rows = database
    .prepare(`SELECT stream, last, (SELECT MAX(sequence) FROM facts f WHERE f.stream = s.stream AND f.sequence <= ?) AS entries FROM streams s${presentOf(database, 'streams')}`)
    .all(COUNT_MAX) as { stream: string; last: unknown; entries: number | null }[];
  return rows.map(({ stream, last, entries }) => {
    const isSound = isCount(last) && last >= (entries ?? 0);
    return { stream, last, counted: isSound ? last : (entries ?? 0), isSound };
  });
}

export interface LostFacts {
  readonly stream: string;
  readonly first: number;
  readonly last: number;
}

/** What had been written of streams, past or not, and is not there. */
export function lostFacts(database: Database.Database, ends: readonly (readonly [stream: string, last: number])[]): LostFacts[] {
  const lastOf = database.prepare('SELECT last FROM streams WHERE stream = ?').pluck();
  const entriesOf = database.prepare('SELECT MAX(sequence) FROM facts WHERE stream = ? AND sequence <= ?').pluck();
  return ends.flatMap(([stream, last]) => {
    const stored = lastOf.get(stream);
    const there = Math.max(isCount(stored) ? stored : 0, (entriesOf.get(stream, COUNT_MAX) as number | null) ?? 0);
    return there < last ? [{ stream, first: there + 1, last }] : [];
  });
}

/** `events 12 to 17 of demo/b-1`. */
export function lostInWords({ stream, first, last }: LostFacts): string {
  const cut = stream.indexOf('/');
  const [what, whose] = cut < 0 ? [stream, ''] : [stream.slice(0, cut), ` of ${stream.slice(cut + 1)}`];
  return `${what} ${first === last ? first : `${first} to ${last}`}${whose}`;
}

/** The condition for what is not past; none for a table of a version that knew no past. */
export function presentOf(database: Database.Database, table: 'resources' | 'streams'): string {
  const columns = database.pragma(`table_info(${table})`) as { readonly name: string }[];
  return columns.some(({ name }) => name === 'past') ? " WHERE past = ''" : '';
}

export interface LastRecord {
  readonly sequence: number;
  readonly hash: Buffer;
  readonly keyId: string;
}

/** The last record of the trail, and one behind it whose number is not the one that its sealed text has. */
export function lastRecords(database: Database.Database): { readonly last: LastRecord | undefined; readonly misnumbered: (LastRecord & { readonly own: number }) | undefined } {
  const rows = database
    .prepare("SELECT sequence, hash, key_id AS keyId, CASE WHEN json_valid(body) THEN body ->> '$.sequence' END AS own FROM audit ORDER BY sequence DESC LIMIT 2")
    .all() as (LastRecord & { own: unknown })[];
  const [end, before] = rows;
  const own = end?.own;
  if (!end || own === end.sequence || (!isCount(own) && isCount(end.sequence))) return { last: end, misnumbered: undefined }; // a text that says nothing of its number is found by the chain
  return { last: before, misnumbered: { ...end, own: isCount(own) ? own : 0 } };
}

/** Whether the record is the one that is missing at the end of the trail. */
export function isNextOf({ last, misnumbered }: ReturnType<typeof lastRecords>, archivedTo: number): boolean {
  return misnumbered !== undefined && misnumbered.own === Math.max(last?.sequence ?? 0, archivedTo) + 1;
}
