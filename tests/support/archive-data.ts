/** Audit trails on disk for tests of the archive, and what must hold of them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import Database from '../../src/platform/base/sqlite.js';
import type { ArchiveDraft } from '../../src/platform/ledger/archive-format.js';
import type { ArchiveLimits } from '../../src/platform/ledger/archive-writer.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { type AuditQuery, type LedgerQueries, openQueries } from '../../src/platform/ledger/queries.js';
import { StateWriter } from '../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../src/platform/ledger/wire.js';
import { auditDraft, transaction } from './ledger-data.js';

/** Of `cleanTrail`. */
export const RECORDS = 2600;
export const NEVER: ArchiveLimits = { recordsMax: 1_000_000_000, ageMaxMs: 100 * 365 * 86_400_000 };

type Owner = Pick<Test, 'teardown'>;

export function dataDir(test: Owner): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-archive-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Records as a plant writes them: another site now and then, times that step back once. */
function draftOf(sequence: number): ReturnType<typeof auditDraft> {
  const at = Date.UTC(2026, 0, 31, 9, 0, 0) + (sequence > 700 && sequence < 720 ? sequence - 600 : sequence) * 1000;
  return auditDraft(sequence, {
    site: sequence % 50 === 0 ? 'south' : 'north',
    timestamp: new Date(at).toISOString(),
    ...(sequence % 100 === 7 ? { operatorReason: `checked by hand, "tank ${sequence}"` } : {}),
    ...(sequence % 400 === 3 ? { action: 'Command' as const, correlationID: 'rare' } : {}),
  });
}

/** The writer of a data directory without its thread: it does what it is told, and then it is gone. */
export function withWriter(dir: string, work: (writer: StateWriter) => void): void {
  const writer = new StateWriter(dir, openDeviceKeys(dir));
  work(writer);
  writer.close();
}

/** Adds records to a trail. @param more what is other in each than in those of other trails. */
export function trail(dir: string, first: number, last: number, more: Parameters<typeof auditDraft>[1] = {}): void {
  withWriter(dir, (writer) => {
    writer.load(0);
    for (let sequence = first; sequence <= last; sequence += 100) {
      const message = new Message();
      for (let next = sequence; next < Math.min(sequence + 100, last + 1); next += 1) message.add(transaction({ audits: [{ ...draftOf(next), ...more }] }));
      let taken = decode(message.fields);
      const refused = writer.commit(() => taken.splice(0)).filter((answer) => answer !== null);
      if (refused.length > 0) throw new Error(String(refused[0]));
      taken = [];
    }
  });
}

/** Gives copies of a closed data directory with so many records. */
export function cleanTrail(test: Owner, records = RECORDS): (test: Owner) => string {
  const clean = dataDir(test);
  trail(clean, 1, records);
  return (each) => copyOf(each, clean);
}

export function copyOf(test: Owner, dir: string): string {
  const copy = dataDir(test);
  cpSync(dir, copy, { recursive: true });
  return copy;
}

/** Uses the queries and gives them back. */
export async function asked<T>(dir: string, ask: (queries: LedgerQueries) => Promise<T>): Promise<T> {
  const queries = openQueries(dir);
  try {
    return await ask(queries);
  } finally {
    await queries.close();
  }
}

export function cutOf(dir: string): number {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    return Number(database.prepare("SELECT value FROM meta WHERE key = 'auditArchivedTo'").pluck().get() ?? 0);
  } finally {
    database.close();
  }
}

export async function cutReaches(dir: string, sequence: number): Promise<void> {
  while (cutOf(dir) < sequence) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Writes a file, notes it and takes its rows out of the table. */
export async function archive(dir: string, first: number, last: number): Promise<void> {
  const draft: ArchiveDraft = await asked(dir, (queries) => queries.writeArchive({ first, last }));
  withWriter(dir, (writer) => {
    writer.noteArchive(draft);
    while (writer.hasArchivedRecords) writer.removeArchived();
  });
}

export async function sequencesOf(queries: LedgerQueries, query: AuditQuery): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await queries.auditPage({ limit: 170, ...query, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.items.map((record) => record.sequence));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Every record is there once, in every way of reading, and all of it verifies. */
export async function isWhole(test: Test, dir: string, last: number, archivedTo: number, what: string): Promise<void> {
  await asked(dir, async (queries) => {
    test.match(await queries.verify(), { ok: true, problems: [], archivedTo, lastSequence: last, firstSequence: archivedTo + 1 }, `${what}: the table verifies`);
    test.match(await queries.verifyArchives(), { ok: true, problems: [], archivedTo }, `${what}: the files verify`);
    test.same(await sequencesOf(queries, { order: 'asc', limit: 1000 }), upTo(last), `${what}: oldest first`);
    test.same(await sequencesOf(queries, { order: 'desc', limit: 1000 }), upTo(last).reverse(), `${what}: newest first`);
    let text = '';
    for await (const chunk of queries.auditLines()) text += new TextDecoder().decode(chunk);
    const lines = text.trimEnd().split('\n');
    test.same(
      lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence),
      upTo(last),
      `${what}: exported`,
    );
  });
}
