/**
 * What a start found wrong with the stored past (D-C-09): kept in `state.db` until an administrator acknowledges it with a
 * signature, and shown in every verification afterwards. Nothing that is found is healed without being noted here first.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type Database from '../base/sqlite.js';
import { CHAIN_PROBLEMS } from './problems.js';

const Finding = v.object({
  /** `loss`: records are gone; the others say what vouches for the trail no more. */
  kind: v.picklist(['loss', 'head', 'heads', 'keys', 'marker', 'number']),
  text: v.string(),
  /** Records that are concerned; 0 and 0 where none can be named. */
  first: v.number(),
  last: v.number(),
  /** What verification finds in them because of it. */
  covers: v.array(v.picklist(CHAIN_PROBLEMS)),
});

export const Gap = v.object({
  ...Finding.entries,
  id: v.string(),
  foundAt: v.string(),
  acknowledged: v.nullable(v.object({ by: v.string(), accountId: v.string(), at: v.string(), reason: v.string(), signature: v.string() })),
});

export type Finding = Readonly<v.InferOutput<typeof Finding>>;
export type Gap = Readonly<v.InferOutput<typeof Gap>>;
export type GapAcknowledgement = NonNullable<Gap['acknowledged']>;

/** Row of table `meta`; its digest stands in the seal of the rows: nobody else acknowledges what he has edited. */
const GAPS_KEY = 'gaps';
const List = v.array(Gap);

/** SHA-256 (hex) of the list as it is stored; '' without one. */
export function digestOfGaps(database: Database.Database): string {
  const text = database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(GAPS_KEY);
  return text === undefined ? '' : createHash('sha256').update(String(text)).digest('hex');
}

export function readGaps(database: Database.Database): Gap[] {
  const text = database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(GAPS_KEY) as string | undefined;
  if (text === undefined) return [];
  try {
    return v.parse(List, JSON.parse(text));
  } catch {
    const finding: Finding = { kind: 'marker', text: 'the list of gaps in state.db cannot be read', first: 0, last: 0, covers: [] };
    return [gapOf(finding, '')];
  }
}

/** Notes what is not known yet. @returns what was new. */
export function noteFindings(database: Database.Database, findings: readonly Finding[], foundAt: string): Gap[] {
  const known = readGaps(database);
  const fresh = findings.map((finding) => gapOf(finding, foundAt)).filter(({ id }) => known.every((gap) => gap.id !== id));
  if (fresh.length > 0) writeGaps(database, [...known, ...fresh]);
  return fresh;
}

/** @returns all gaps as they are then. */
export function acknowledgeGaps(database: Database.Database, ids: readonly string[], acknowledged: GapAcknowledgement): Gap[] {
  const gaps = readGaps(database).map((gap) => (ids.includes(gap.id) && !gap.acknowledged ? { ...gap, acknowledged } : gap));
  writeGaps(database, gaps);
  return gaps;
}

function writeGaps(database: Database.Database, gaps: readonly Gap[]): void {
  database.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(GAPS_KEY, JSON.stringify(gaps));
}

/** The same finding has the same id, so that it is noted once however often it is met. */
function gapOf(finding: Finding, foundAt: string): Gap {
  const { kind, text, first, last } = finding;
  const id = createHash('sha256')
    .update(JSON.stringify([kind, text, first, last]))
    .digest('hex')
    .slice(0, 16);
  return { ...finding, id, foundAt, acknowledged: null };
}
