/** The archive of the audit trail on real files: what it keeps, what a crash leaves, what a search finds, what an edit betrays. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { type ArchiveDraft, archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import type { ArchiveLimits } from '../../../src/platform/ledger/archive-writer.js';
import { Archiver } from '../../../src/platform/ledger/archiver.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type AuditQuery, type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { StateWriter } from '../../../src/platform/ledger/state-writer.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { TestClock } from '../../support/test-clock.js';

const CHILD = fileURLToPath(new URL('../../support/ledger-child.js', import.meta.url));
const RECORDS = 2600;
const SPAN = { first: 1, last: 1500 };
const KILLS = 5;
const LONG_AGO: ArchiveLimits = { recordsMax: 1_000_000_000, ageMaxMs: 100 * 365 * 86_400_000 };

function dataDir(test: Pick<Test, 'teardown'>): string {
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

const clean = mkdtempSync(path.join(tmpdir(), 'lineside-archive-'));
t.teardown(() => rmSync(clean, { recursive: true, force: true }));

/** A closed data directory with `RECORDS` records. */
function copy(test: Pick<Test, 'teardown'>): string {
  const dir = dataDir(test);
  cpSync(clean, dir, { recursive: true });
  return dir;
}

async function trail(dir: string, first: number, last: number): Promise<void> {
  const ledger = await openLedger(dir);
  await ledger.load(0);
  for (let sequence = first; sequence <= last; sequence += 100) {
    const some = Array.from({ length: Math.min(100, last - sequence + 1) }, (_, index) => draftOf(sequence + index));
    await Promise.all(some.map((audit) => ledger.commit(transaction({ audits: [audit] }))));
  }
  await ledger.close();
}

/** Uses the queries and gives them back. */
async function asked<T>(dir: string, ask: (queries: LedgerQueries) => Promise<T>): Promise<T> {
  const queries = openQueries(dir);
  try {
    return await ask(queries);
  } finally {
    await queries.close();
  }
}

function cutOf(dir: string): number {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    return Number(database.prepare("SELECT value FROM meta WHERE key = 'auditArchivedTo'").pluck().get() ?? 0);
  } finally {
    database.close();
  }
}

async function cutReaches(dir: string, sequence: number): Promise<void> {
  while (cutOf(dir) < sequence) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The ledger notes a file and takes all its rows out of the table. */
async function adopt(dir: string, draft: ArchiveDraft): Promise<void> {
  const ledger = await openLedger(dir);
  await ledger.load(0);
  await ledger.archived(draft);
  await cutReaches(dir, draft.note.last);
  await ledger.close();
}

async function archive(dir: string, first: number, last: number): Promise<void> {
  await adopt(dir, await asked(dir, (queries) => queries.writeArchive({ first, last })));
}

async function sequencesOf(queries: LedgerQueries, query: AuditQuery): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await queries.auditPage({ limit: 170, ...query, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.items.map((record) => record.sequence));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Every record is there once, in every way of reading, and all of it verifies. */
async function isWhole(test: Test, dir: string, last: number, archivedTo: number, what: string): Promise<void> {
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

await trail(clean, 1, RECORDS);

t.test('8.6: a file is NDJSON under gzip with a trailer; records, heads and index leave the table, the chain goes on over the cut', async (t) => {
  const dir = copy(t);
  const before = await asked(dir, (queries) => queries.auditPage({ limit: 1000, order: 'asc' }));
  await archive(dir, SPAN.first, SPAN.last);
  const file = path.join(archiveFolder(dir), archiveFileName(SPAN.first, SPAN.last));
  t.equal(path.basename(file), 'audit-000000000001-000000001500.ndjson.gz');
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
  const trailer = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  t.same(Object.keys(trailer), ['records', 'headHash', 'sha256']);
  t.equal(trailer.records, 1500);
  t.equal(lines.length, 1501);
  const { mac, keyId, ...first } = JSON.parse(lines[0]) as Record<string, unknown>;
  t.same(first, before.items[0], 'a line is the served record with mac and keyId');
  t.match({ mac, keyId }, { mac: /^[A-Za-z0-9+/]{43}=$/, keyId: /^[0-9a-f]{16}$/ });
  const digest = execFileSync('sh', ['-c', `gzip -dc "${file}" | head -n -1 | sha256sum`], { encoding: 'utf8' });
  t.equal(digest.slice(0, 64), trailer.sha256, 'anybody can check the digest without Lineside');
  t.equal((JSON.parse(lines[1499]) as { hash: string }).hash, trailer.headHash);
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  const count = (text: string): unknown => database.prepare(`SELECT COUNT(*) FROM ${text}`).pluck().get();
  t.equal(count('audit'), 1100);
  t.equal(count('audit WHERE sequence <= 1500'), 0);
  t.equal(count('audit_targets WHERE sequence <= 1500'), 0);
  t.equal(count('audit_correlations WHERE sequence <= 1500'), 0);
  t.equal(count('audit_spans WHERE last <= 1500'), 0);
  t.equal(count('audit_heads WHERE sequence < 1500'), 0);
  t.equal(count('audit_heads WHERE sequence = 1500'), 1, 'the end of the file is signed');
  database.close();
  await isWhole(t, dir, RECORDS, 1500, 'one file');
  await trail(dir, RECORDS + 1, RECORDS + 700);
  await archive(dir, 1501, 2900);
  await isWhole(t, dir, RECORDS + 700, 2900, 'a second file');
  t.same(readdirSync(archiveFolder(dir)).length, 2);
});

t.test('Q-TAG-16: a search finds the same on both sides of the cut, page by page, and a cursor from before the cut goes on after it', async (t) => {
  const dir = copy(t);
  const [from, to] = [400, 1900].map((sequence) => Date.UTC(2026, 0, 31, 9, 0, 0) + sequence * 1000);
  const searches: readonly AuditQuery[] = [
    { site: 'south' },
    { sites: ['south', 'west'] },
    { action: 'Command' },
    { kind: 'Unit', name: 'u7' },
    { kind: 'Unit', name: 'nothing' },
    { name: 'u3', action: 'Command' },
    { correlationID: 'rare' },
    { correlationID: 'corr-350' },
    { text: '"TANK' },
    { fromMs: from, toMs: to, site: 'north' },
    { accountId: 'nobody' },
  ];
  const of = { site: 'north', targets: [{ kind: 'Unit', name: 'u9' }], correlationIDs: ['rare', 'corr-5'] };
  const ask = (queries: LedgerQueries): Promise<unknown> =>
    Promise.all([
      ...searches.flatMap((query) => (['asc', 'desc'] as const).map((order) => sequencesOf(queries, { ...query, order, limit: 23 }))),
      queries.auditOf(of),
      queries.auditOf({ ...of, limit: 200 }),
      queries.auditRecord(600, { site: 'south' }),
      queries.auditRecord(601, { site: 'south' }),
      queries.auditRecord(601, {}),
    ]);
  const live = await asked(dir, ask);
  const page = await asked(dir, (queries) => queries.auditPage({ site: 'south', limit: 20 }));
  const next = await asked(dir, (queries) => queries.auditPage({ site: 'south', limit: 20, cursor: page.nextCursor ?? '' }));
  await archive(dir, 1, 900);
  t.same(await asked(dir, ask), live, 'one file');
  await archive(dir, 901, 2300);
  t.same(await asked(dir, ask), live, 'two files');
  t.same(await asked(dir, (queries) => queries.auditPage({ site: 'south', limit: 20, cursor: page.nextCursor ?? '' })), next);
  t.equal(await asked(dir, (queries) => queries.auditRecord(RECORDS + 1, {})), undefined);

  rmSync(path.join(archiveFolder(dir), archiveFileName(1, 900)));
  await asked(dir, async (queries) => {
    const { items, nextCursor, unreadable } = await queries.auditPage({ correlationID: 'rare', limit: 1000 });
    t.same(
      { sequences: items.map((record) => record.sequence), nextCursor, unreadable },
      { sequences: [2403, 2003, 1603, 1203], nextCursor: null, unreadable: [archiveFileName(1, 900)] },
    );
    t.equal((await queries.auditPage({ limit: 10 })).unreadable, undefined, 'nobody is told of a file that the page does not need');
    await t.rejects(queries.auditRecord(601, {}), { name: 'Refusal', kind: 'missing', context: { code: 'archive_unreadable', file: archiveFileName(1, 900) } });
  });
});

t.test('reliability: a page opens a bounded number of blocks; where it stops its cursor goes on', async (t) => {
  const dir = dataDir(t);
  const records = 40_000;
  const ledger = await openLedger(dir);
  await ledger.load(0);
  for (let sequence = 1; sequence <= records; sequence += 2000) {
    await ledger.commit(
      transaction({ audits: Array.from({ length: 2000 }, (_, index) => auditDraft(sequence + index, { action: (sequence + index) % 39_000 === 5 ? 'Command' : 'Update' })) }),
    );
  }
  await ledger.close();
  await archive(dir, 1, 39_500);
  await asked(dir, async (queries) => {
    const page = await queries.auditPage({ action: 'Command', limit: 10 });
    t.same(
      page.items.map((record) => record.sequence),
      [39_005],
    );
    t.type(page.nextCursor, 'string', 'there is more to look at');
    for (const order of ['asc', 'desc'] as const) t.same((await sequencesOf(queries, { action: 'Command', order })).sort(), [39_005, 5].sort(), order);
    t.same(await sequencesOf(queries, { action: 'Sign' }), []);
    t.match(await queries.verifyArchives(), { ok: true, checked: 39_500 });
  });
});

t.test('8.6: what is due: the oldest records over the number or over the age, never the last one', async (t) => {
  const dir = copy(t);
  const day = 86_400_000;
  const now = Date.UTC(2026, 0, 31, 9, 0, 0);
  await asked(dir, async (queries) => {
    const due = (limits: Partial<ArchiveLimits>, nowMs = now): Promise<unknown> => queries.archiveDue({ ...LONG_AGO, ...limits }, nowMs);
    t.equal(await due({ recordsMax: RECORDS }), null);
    t.same(await due({ recordsMax: RECORDS - 1 }), { first: 1, last: 260 }, 'a tenth of the table');
    t.same(await due({ recordsMax: 1000 }), { first: 1, last: 1600 });
    t.equal(await due({ ageMaxMs: day }, now + day), null, 'nothing is so old');
    t.same(await due({ ageMaxMs: day }, now + 2000 + day), { first: 1, last: RECORDS - 1 }, 'and what comes of age within a tenth of it');
    t.same(await due({ ageMaxMs: 1_000_000 }, now + 1_002_000), { first: 1, last: 101 }, 'up to the first one that is younger');
    t.same(await due({ ageMaxMs: day }, now + 9000 * day), { first: 1, last: RECORDS - 1 });
  });
  await archive(dir, 1, 1600);
  t.equal(await asked(dir, (queries) => queries.archiveDue({ ...LONG_AGO, recordsMax: 1000 }, now)), null);
});

t.test('8.6: a crash at any point of archiving loses nothing and doubles nothing', async (t) => {
  const name = archiveFileName(SPAN.first, SPAN.last);
  const write = (dir: string): Promise<ArchiveDraft> => asked(dir, (queries) => queries.writeArchive(SPAN));
  /** What is left goes on as after a start. */
  const again = async (dir: string): Promise<void> => {
    await asked(dir, async (queries) => t.match(await queries.verify(), { ok: true, archivedTo: 0 }));
    await archive(dir, SPAN.first, SPAN.last);
    t.same(readdirSync(archiveFolder(dir)), [name], 'nothing else is left');
  };

  const started = copy(t);
  await write(started);
  copyFileSync(path.join(archiveFolder(started), name), path.join(archiveFolder(started), `${name}.part`));
  rmSync(path.join(archiveFolder(started), name));
  truncateSync(path.join(archiveFolder(started), `${name}.part`), 700);
  await again(started);
  await isWhole(t, started, RECORDS, 1500, 'a torn draft was left');

  const named = copy(t);
  await write(named);
  await isWhole(t, named, RECORDS, 0, 'a file that nobody has noted');
  await again(named);
  await isWhole(t, named, RECORDS, 1500, 'a file that nobody has noted was left');

  const torn = copy(t);
  await write(torn);
  truncateSync(path.join(archiveFolder(torn), name), 700); // its trailer and more are gone
  copyFileSync(path.join(archiveFolder(torn), name), path.join(archiveFolder(torn), archiveFileName(1, 1400)));
  await again(torn);
  await isWhole(t, torn, RECORDS, 1500, 'torn files that nobody has noted were left');

  for (const slices of [0, 1, 11, 12]) {
    const dir = copy(t);
    const draft = await write(dir);
    const writer = new StateWriter(dir, openDeviceKeys(dir));
    writer.noteArchive(draft);
    for (let slice = 0; slice < slices; slice += 1) writer.removeArchived();
    const cut = Math.min(1500, slices * 128);
    t.equal(cutOf(dir), cut);
    await isWhole(t, dir, RECORDS, cut, `${slices} slices were deleted`);
    t.equal((await asked(dir, (queries) => queries.archiveDue({ recordsMax: 100, ageMaxMs: 1 }, Date.now()))) === null, slices < 12, 'the next file waits for this one');
    writer.close();
    const ledger = await openLedger(dir);
    await cutReaches(dir, 1500);
    await ledger.close();
    await isWhole(t, dir, RECORDS, 1500, `${slices} slices, and the rest after a start`);
  }

  const twice = copy(t);
  const draft = await write(twice);
  const ledger = await openLedger(twice);
  await ledger.load(0);
  await ledger.archived(draft);
  await t.rejects(ledger.archived(draft), /does not begin where the archive ends/, 'a file is noted once');
  await ledger.close();
});

t.test('8.6: a file that does not follow, or does not end with the record of the table, is refused', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 300);
  const draft = await asked(dir, (queries) => queries.writeArchive({ first: 1, last: 200 }));
  const ledger = await openLedger(dir);
  await ledger.load(0);
  await t.rejects(ledger.archived({ ...draft, note: { ...draft.note, first: 2 } }), /does not begin/);
  await t.rejects(ledger.archived({ ...draft, note: { ...draft.note, headHash: 'f'.repeat(64) } }), /does not end/);
  await ledger.archived(draft);
  await cutReaches(dir, 200);
  await ledger.close();
  await isWhole(t, dir, 300, 200, 'the right one');
});

interface Edit {
  readonly what: string;
  readonly edit: (dir: string, file: string) => void;
  /** Of the first file. */
  readonly problem: string;
  readonly sequences?: readonly number[];
}

function sql(dir: string, text: string, ...values: unknown[]): void {
  const database = new Database(path.join(dir, 'state.db'));
  database.prepare(text).run(...values);
  database.close();
}

/** The blocks of a file as they lie in it, the trailer last. */
function blocksOf(dir: string, file: string): { readonly last: number; readonly text: string }[] {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  const rows = database.prepare('SELECT last, start, bytes FROM audit_archive_blocks WHERE file = ? ORDER BY last').all(path.basename(file)) as {
    last: number;
    start: number;
    bytes: number;
  }[];
  database.close();
  const bytes = readFileSync(file);
  const end = rows.reduce((sum, row) => sum + row.bytes, 0);
  const textAt = (start: number, length: number): string => gunzipSync(bytes.subarray(start, start + length)).toString('utf8');
  return [...rows.map((row) => ({ last: row.last, text: textAt(row.start, row.bytes) })), { last: 0, text: textAt(end, bytes.length - end) }];
}

/** Writes a file again with an edit of its text, and makes the places in the database fit: what a clever hand would do. */
function rewrite(dir: string, file: string, edit: (text: string) => string): void {
  let start = 0;
  const parts = blocksOf(dir, file).map(({ last, text }) => {
    const bytes = gzipSync(edit(text));
    if (last > 0) sql(dir, 'UPDATE audit_archive_blocks SET start = ?, bytes = ? WHERE last = ?', start, bytes.length, last);
    start += bytes.length;
    return bytes;
  });
  writeFileSync(file, Buffer.concat(parts));
}

const EDITS: readonly Edit[] = [
  { what: 'the file is gone', edit: (_, file) => rmSync(file), problem: 'absent', sequences: upTo(600) },
  { what: 'the file is cut', edit: (_, file) => truncateSync(file, 900), problem: 'unreadable' },
  { what: 'a byte is changed', edit: (_, file) => writeFileSync(file, flipped(readFileSync(file), 2000)), problem: 'unreadable' },
  {
    what: 'the text is changed and packed again',
    edit: (_, file) => writeFileSync(file, gzipSync(gunzipSync(readFileSync(file)).toString('utf8').replace('"Ann Op"', '"Eve Op"'))),
    problem: 'unreadable',
  },
  { what: 'something is added behind', edit: (_, file) => writeFileSync(file, Buffer.concat([readFileSync(file), gzipSync('{"sequence":601}\n')])), problem: 'trailer' },
  {
    what: 'a record is changed, and every place with it',
    edit: (dir, file) => rewrite(dir, file, (text) => text.replace('"name":"audit-000000000007"', '"name":"audit-000000000008"')),
    problem: 'hash',
    sequences: [7],
  },
  {
    what: 'a record is taken out',
    edit: (dir, file) => rewrite(dir, file, (text) => text.replace(/^.*"name":"audit-000000000007".*\n/m, '')),
    problem: 'missing',
    sequences: [7],
  },
  { what: 'the trailer is changed', edit: (dir, file) => rewrite(dir, file, (text) => text.replace('{"records":600', '{"records":599')), problem: 'trailer', sequences: [600] },
  { what: 'the note is changed', edit: (dir) => sql(dir, 'UPDATE audit_archives SET sha256 = ? WHERE last = 600', 'f'.repeat(64)), problem: 'note', sequences: [600] },
  { what: 'the list of sites is changed', edit: (dir) => sql(dir, `UPDATE audit_archive_blocks SET sites = '["north"]' WHERE last = 600`), problem: 'hash', sequences: [550, 600] },
  { what: 'the keys are changed', edit: (dir) => sql(dir, 'UPDATE audit_archive_blocks SET keys = zeroblob(64) WHERE last = 600'), problem: 'hash' },
  { what: 'a block is no longer listed', edit: (dir) => sql(dir, 'DELETE FROM audit_archive_blocks WHERE last = 600'), problem: 'missing' },
  { what: 'the signed head is gone', edit: (dir) => sql(dir, 'DELETE FROM audit_heads WHERE sequence = 600'), problem: 'signature', sequences: [600] },
];

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] ^= 0x55;
  return bytes;
}

t.test('promise 7, G16: verification finds every edit of the archive, and nothing in a clean one', async (t) => {
  const archived = copy(t);
  await archive(archived, 1, 600);
  await archive(archived, 601, 1200);
  t.match(await asked(archived, (queries) => queries.verifyArchives()), {
    ok: true,
    checked: 1200,
    firstSequence: 1,
    lastSequence: 1200,
    problems: [],
    archives: [
      { file: archiveFileName(1, 600), firstSequence: 1, lastSequence: 600, ok: true },
      { file: archiveFileName(601, 1200), ok: true },
    ],
  });
  for (const { what, edit, problem, sequences } of EDITS) {
    const dir = dataDir(t);
    cpSync(archived, dir, { recursive: true });
    edit(dir, path.join(archiveFolder(dir), archiveFileName(1, 600)));
    const { ok, archives, problems } = await asked(dir, (queries) => queries.verifyArchives());
    t.equal(ok, false, what);
    t.match(archives, [{ ok: false, problem }, { ok: true }], what);
    if (sequences)
      t.same(
        problems.map((one) => one.sequence),
        sequences,
        what,
      );
    t.ok(problems.length > 0, what);
  }
});

t.test('promise 7, G16: broken links between two files, and between the last file and the table, are found', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 900);
  await archive(dir, 1, 300);
  await archive(dir, 301, 600);
  const findings = (): Promise<readonly { readonly ok: boolean; readonly problem?: string; readonly sequence?: number }[]> =>
    asked(dir, async (queries) => (await queries.verifyArchives()).archives);
  const file = path.join(archiveFolder(dir), archiveFileName(1, 300));
  // a file that is good in itself, of a trail that went another way
  const other = dataDir(t);
  cpSync(path.join(dir, 'keys'), path.join(other, 'keys'), { recursive: true });
  await trail(other, 1, 299);
  const ledger = await openLedger(other);
  await ledger.load(0);
  await ledger.commit(transaction({ audits: [auditDraft(300, { displayName: 'Eve' })] }));
  await ledger.commit(transaction({ audits: [auditDraft(301)] }));
  await ledger.close();
  await archive(other, 1, 300);
  const kept = readFileSync(file);
  writeFileSync(file, readFileSync(path.join(archiveFolder(other), archiveFileName(1, 300))));
  const tables = ['audit_archives', 'audit_archive_blocks'];
  const before = readFileSync(path.join(dir, 'state.db'));
  const database = new Database(path.join(dir, 'state.db'));
  database.exec(`ATTACH '${path.join(other, 'state.db')}' AS other`);
  for (const table of tables) database.exec(`DELETE FROM main.${table} WHERE last <= 300; INSERT INTO main.${table} SELECT * FROM other.${table}`);
  database.exec('DELETE FROM main.audit_heads WHERE sequence = 300; INSERT INTO main.audit_heads SELECT * FROM other.audit_heads WHERE sequence = 300');
  database.close();
  t.match(await findings(), [{ ok: true }, { ok: false, problem: 'link', sequence: 301 }], 'between two files');
  writeFileSync(path.join(dir, 'state.db'), before);
  writeFileSync(file, kept);
  t.match(await findings(), [{ ok: true }, { ok: true }]);

  sql(dir, "UPDATE meta SET value = ? WHERE key = 'auditArchivedHash'", 'a'.repeat(64));
  t.match(await findings(), [{ ok: true }, { ok: false, problem: 'link', sequence: 601 }], 'between the last file and the table');
  t.match(await asked(dir, (queries) => queries.verify()), {
    ok: false,
    problems: [
      { sequence: 600, problem: 'link' },
      { sequence: 601, problem: 'link' },
    ],
  });
});

t.test('promise 7, G16: rows that were deleted and called archived are missing', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 300);
  sql(dir, 'DELETE FROM audit WHERE sequence <= 40');
  sql(dir, "INSERT INTO meta (key, value) VALUES ('auditArchivedTo', '40')");
  const { ok, problems } = await asked(dir, (queries) => queries.verify());
  t.equal(ok, false);
  t.same(
    problems.filter(({ problem }) => problem === 'missing').map(({ sequence }) => sequence),
    upTo(40),
  );
  t.equal((await asked(dir, (queries) => queries.verifyArchives())).ok, false);
});

t.test('G16: a hole in the table goes into the archive as a hole: it keeps nothing from being archived, and stays visible', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 900);
  sql(dir, 'DELETE FROM audit WHERE sequence IN (50, 51, 600)');
  await archive(dir, 1, 500);
  await archive(dir, 501, 600); // ends with 599, the last one that is there
  await asked(dir, async (queries) => {
    t.same(
      (await queries.verifyArchives()).problems.map((one) => [one.sequence, one.problem]),
      [
        [50, 'missing'],
        [51, 'missing'],
      ],
    );
    t.same(
      (await queries.verify()).problems.map((one) => [one.sequence, one.problem]),
      [[600, 'missing']],
    );
    t.equal((await sequencesOf(queries, {})).length, 897);
  });
});

t.test('promise 1, G1: kills while records are archived and others are written lose nothing', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 1200);
  for (let round = 0; round < KILLS; round += 1) {
    const child = startNode(['archive', dir]);
    const acknowledged = await killedAfter(child, 1 + Math.floor(Math.random() * 300));
    const ledger = await openLedger(dir);
    const { auditSequence } = await ledger.load(0);
    t.ok(auditSequence >= acknowledged, `round ${round}: ${acknowledged} acknowledged`);
    t.same(ledger.findings, []);
    const noted = notedTo(dir);
    await cutReaches(dir, noted);
    await ledger.close();
    await isWhole(t, dir, auditSequence, noted, `round ${round}`);
  }
});

function notedTo(dir: string): number {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    return database.prepare('SELECT COALESCE(MAX(last), 0) FROM audit_archives').pluck().get() as number;
  } finally {
    database.close();
  }
}

/** A Node process without the loaders that the test runner adds to its children. */
function startNode(args: readonly string[]): ChildProcess {
  return spawn('/usr/bin/env', ['-i', `PATH=${process.env.PATH}`, process.execPath, CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** @returns the highest audit sequence that it was told is on disk. */
async function killedAfter(child: ChildProcess, lines: number): Promise<number> {
  let text = '';
  const gone = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.split('\n').length > lines) resolve();
    });
    child.once('exit', () => resolve());
  });
  child.kill('SIGKILL');
  await gone;
  return Math.max(0, ...text.split('\n').slice(0, -1).map(Number));
}

t.test('promise 2, G4: a full disk refuses the archiving and nothing else, and it is tried again', async (t) => {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
  } catch {
    t.pass('prlimit is not installed: not tried here');
    return;
  }
  const dir = copy(t);
  const child = startNode(['archive-full', dir]);
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  t.equal(await new Promise((resolve) => child.once('close', (exit, signal) => resolve(exit ?? signal))), 0);
  const [full, again] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.match(full, { made: null, fault: /EFBIG/, written: true, left: [] });
  t.match(again, { made: archiveFileName(1, 1601), fault: null });
  const ledger = await openLedger(dir);
  await cutReaches(dir, 1601);
  await ledger.close();
  await isWhole(t, dir, RECORDS + 1, 1601, 'after the disk had space again');
});

t.test('8.6: the archiver looks by itself, says why it cannot, and leaves the last space to the records', async (t) => {
  const dir = dataDir(t);
  await trail(dir, 1, 1300);
  const clock = new TestClock();
  const queries = openQueries(dir);
  const ledger = await openLedger(dir);
  await ledger.load(0);
  let low = true;
  const made: string[] = [];
  const archiver = new Archiver({
    queries,
    ledger,
    clock,
    log: pino({ level: 'silent' }),
    limits: { ...LONG_AGO, recordsMax: 1000 },
    storageLow: () => low,
    archived: ({ file }) => made.push(file),
  });
  archiver.start();
  t.equal(await archiver.look(), null);
  t.match(archiver.fault, /storage.reserveBytes/);
  t.notOk(existsSync(archiveFolder(dir)));
  writeFileSync(archiveFolder(dir), 'in the way');
  low = false;
  t.equal(await archiver.look(), null);
  t.match(archiver.fault, /EEXIST|ENOTDIR/);
  rmSync(archiveFolder(dir));
  clock.advance(60_000);
  await archiver.look(); // the look that the clock has begun
  t.same(made, [archiveFileName(1, 300)]);
  t.equal(archiver.fault, null);
  t.equal(await archiver.look(), null, 'nothing is left to do');
  archiver.stop();
  await cutReaches(dir, 300);
  await queries.close();
  await ledger.close();
  await isWhole(t, dir, 1300, 300, 'by itself');
});
