/** Verification of the archive of the audit trail: what an edit of a file, of the register or of the table betrays, and what nobody is told of it by mistake. */
import { readFileSync, rmSync, truncateSync, writeFileSync, cpSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { ArchiveNotes } from '../../../src/platform/ledger/archive-notes.js';
import Database from '../../../src/platform/base/sqlite.js';
import { archiveFileName, archiveFolder, archiveLine, readLine } from '../../../src/platform/ledger/archive-format.js';
import { hashOf } from '../../../src/platform/ledger/chain.js';
import { markerFileOf } from '../../../src/platform/ledger/marker.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { ArchiveVerifier } from '../../../src/platform/ledger/verify-archives.js';
import { archive, asked, cleanTrail, copyOf, dataDir, RECORDS, sequencesOf, trail, upTo } from '../../support/archive-data.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { verified } from '../../support/row-edits.js';
import { at } from '../../support/at.js';

const copy = cleanTrail(t);

interface Edit {
  readonly what: string;
  readonly edit: (dir: string, file: string) => void;
  /** Of the first file. */
  readonly problem: string;
  readonly sequences?: readonly number[];
  readonly repacked?: true;
}

/** Of a time when the digests of blocks were not noted. */
const OLD_REGISTER = 'UPDATE audit_archive_blocks SET text_bytes = NULL, sha256 = NULL';

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

/** Writes a file again as any gzip program does: as one member, or as some of `lines` lines each. */
function packAgain(file: string, edit: (text: string) => string, lines = Number.POSITIVE_INFINITY): void {
  const text = edit(gunzipSync(readFileSync(file)).toString('utf8')).split(/(?<=\n)/);
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < text.length; at += lines) parts.push(gzipSync(text.slice(at, at + lines).join('')));
  writeFileSync(file, Buffer.concat(parts));
}

/** A record that somebody has changed and hashed anew, as anybody can who has no key. */
function withNewHash(line: string): string {
  const row = readLine(line);
  if (!row) throw new Error('no record');
  const body = row.body.replace('"Ann Op"', '"Eve Op"');
  return archiveLine({ ...row, body, hash: hashOf(body) }).trimEnd();
}

const EDITS: readonly Edit[] = [
  { what: 'the file is gone', edit: (_, file) => rmSync(file), problem: 'absent', sequences: upTo(600) },
  { what: 'the file is cut', edit: (_, file) => truncateSync(file, 900), problem: 'unreadable' },
  { what: 'a byte is changed', edit: (_, file) => writeFileSync(file, flipped(readFileSync(file), 2000)), problem: 'unreadable' },
  {
    what: 'the text is changed and packed again',
    edit: (_, file) => packAgain(file, (text) => text.replace('"Ann Op"', '"Eve Op"')),
    problem: 'hash',
    sequences: [1],
    repacked: true,
  },
  {
    what: 'a record is changed with its hash, and the text packed again in other parts',
    edit: (_, file) => packAgain(file, (text) => text.replace(/^.*"name":"audit-000000000555".*$/m, withNewHash), 100),
    problem: 'signature',
    sequences: [555, 556],
    repacked: true,
  },
  {
    what: 'records are taken out and the text packed again',
    edit: (_, file) => packAgain(file, (text) => text.replace(/^.*"name":"audit-00000000051[23]".*\n/gm, '')),
    problem: 'missing',
    sequences: [512, 513],
    repacked: true,
  },
  {
    what: 'a line is made no record, and the text packed again',
    edit: (_, file) => packAgain(file, (text) => text.replace(/^.*"name":"audit-000000000600".*$/m, 'x'.repeat(70_000))),
    problem: 'unreadable',
    sequences: [600, 600],
    repacked: true,
  },
  {
    what: 'lines are added before the trailer and the text packed again',
    edit: (_, file) => packAgain(file, (text) => text.replace(/^.*"name":"audit-000000000600".*\n/m, (line) => `${line}${line.replaceAll('600', '601')}`)),
    problem: 'trailer',
    sequences: [600],
    repacked: true,
  },
  {
    what: 'the trailer is taken away and the text packed again',
    edit: (_, file) => packAgain(file, (text) => text.replace(/^\{"records".*\n/m, '')),
    problem: 'trailer',
    sequences: [600],
    repacked: true,
  },
  { what: 'nothing is left of the text', edit: (_, file) => packAgain(file, () => ''), problem: 'missing', sequences: upTo(600), repacked: true },
  { what: 'a line that never ends', edit: (_, file) => packAgain(file, (text) => `${text}${'0'.repeat(5_000_000)}`), problem: 'unreadable' },
  { what: 'lines that never end', edit: (_, file) => packAgain(file, (text) => `${text}${'\n'.repeat(5_000_000)}`), problem: 'unreadable' },
  { what: 'short lines that never end', edit: (_, file) => packAgain(file, (text) => `${text}${'\n'.repeat(20_000)}`), problem: 'unreadable' },
  { what: 'it is no longer packed', edit: (_, file) => writeFileSync(file, gunzipSync(readFileSync(file))), problem: 'unreadable' },
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
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x55, at);
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
  for (const { what, edit, problem, sequences, repacked } of EDITS) {
    const dir = copyOf(t, archived);
    edit(dir, path.join(archiveFolder(dir), archiveFileName(1, 600)));
    const { ok, archives, problems } = await asked(dir, (queries) => queries.verifyArchives());
    t.equal(ok, false, what);
    t.match(archives, [{ ok: false, problem }, { ok: true }], what);
    t.equal(at(archives, 0).repacked, repacked, what);
    if (sequences)
      t.same(
        problems.map((one) => one.sequence),
        sequences,
        what,
      );
    t.ok(problems.length > 0, what);
  }
});

const BLOCK_EDITS = ['first', 'last', 'start', 'bytes', 'text_bytes', 'from_at', 'to_at']
  .flatMap((column) => [`${column} = ${column} - 1`, `${column} = ${column} + 1`])
  .concat('text_bytes = NULL', 'sha256 = NULL', 'sha256 = upper(sha256)', "file = 'a' || file");

t.test('promise 7, G16: every value that is noted of a block is that of its records, or the file is named', async (t) => {
  const archived = copy(t);
  await archive(archived, 1, 600);
  await archive(archived, 601, 1200);
  for (const edit of BLOCK_EDITS)
    for (const last of [512, 1200]) {
      const dir = copyOf(t, archived);
      sql(dir, `UPDATE audit_archive_blocks SET ${edit} WHERE last = ${last}`);
      const { archives } = await asked(dir, (queries) => queries.verifyArchives());
      t.ok(
        archives.some(({ ok, repacked }) => !ok || repacked === true),
        `${edit} of the block to ${last}`,
      );
    }
});

t.test('G16: where the archive ends is told by its files when the mark was damaged, and that it was is found', async (t) => {
  const dir = copy(t);
  await archive(dir, 1, 600);
  sql(dir, "UPDATE meta SET value = 'x' || value WHERE key = 'auditArchivedTo'");
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  t.match(new ArchiveNotes(database).cut(), { sequence: 600, isDamaged: true });
  database.close();
  t.equal((await verified(dir)).ok, false);
});

t.test('8.6: a file that was packed again is named; its records verify, and reads refuse it rather than give another record', async (t) => {
  const dir = copy(t);
  await archive(dir, 1, 1100);
  const name = archiveFileName(1, 1100);
  const refused = async (at: string, what: string): Promise<void> =>
    asked(at, async (queries) => {
      await t.rejects(queries.auditRecord(600, {}), { name: 'Refusal', context: { code: 'archive_unreadable', file: name } }, what);
      const { items, unreadable } = await queries.auditPage({ order: 'asc', limit: 1000, toMs: Date.UTC(2026, 0, 31, 9, 16, 0) });
      t.same({ items, unreadable }, { items: [], unreadable: [name] }, what);
      t.same((await queries.auditPage({ correlationID: 'corr-300', limit: 10 })).unreadable, [name], what);
    });
  for (const lines of [Number.POSITIVE_INFINITY, 700, 512]) {
    const again = copyOf(t, dir);
    const file = path.join(archiveFolder(again), name);
    packAgain(file, (text) => text, lines);
    if (lines === 700) sql(again, OLD_REGISTER);
    if (lines === 512) writeFileSync(file, Buffer.concat([gzipSync(''), readFileSync(file)])); // the same borders, a little further on
    const { ok, problems, checked, archives } = await asked(again, (queries) => queries.verifyArchives());
    t.same({ ok, problems, checked }, { ok: true, problems: [], checked: 1100 });
    t.same(archives, [{ file: name, firstSequence: 1, lastSequence: 1100, ok: false, problem: 'repacked', repacked: true }]);
    await refused(again, `packed again, ${lines} lines in a part`);
  }
  // parts that fit where others were noted
  const changes: readonly [string, (texts: readonly string[]) => readonly string[]][] = [
    ['changed', (texts) => texts.map((text) => text.replaceAll('"Ann Op"', '"Eve Op"'))],
    ['changed and hashed anew', (texts) => texts.map((text) => text.replace(/^.*$/gm, (line) => line && withNewHash(line)))],
    ['moved', (texts) => [...texts.slice(1), at(texts, 0)]],
    ['shortened', (texts) => texts.map((text) => text.replace(/^.*"name":"audit-\d*7".*\n/gm, ''))],
  ];
  for (const noted of [true, false]) {
    for (const [what, change] of changes) {
      const edited = copyOf(t, dir);
      const file = path.join(archiveFolder(edited), name);
      const texts = change(
        blocksOf(edited, file)
          .slice(0, -1)
          .map(({ text }) => text),
      );
      let at = 0;
      rewrite(edited, file, (text) => texts[at++] ?? text);
      if (!noted) sql(edited, OLD_REGISTER);
      if (noted || what === 'changed' || what === 'moved') await refused(edited, `${what}, ${noted}`);
    }
  }
});

t.test('promise 2: a check of the archive holds nothing while it rests: records are written and read meanwhile', async (t) => {
  const dir = copy(t);
  await archive(dir, 1, 1100);
  const ledger = await openLedger(dir);
  await ledger.load(0);
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  let rests = 0;
  const { ok, checked } = await new ArchiveVerifier(database, openDeviceKeys(dir), archiveFolder(dir)).verify({}, async () => {
    rests += 1;
    await ledger.commit(transaction({ audits: [auditDraft(RECORDS + rests)] }));
    t.notOk(database.inTransaction);
  });
  t.same({ ok, checked, rests }, { ok: true, checked: 1100, rests: 3 }, 'three blocks');
  database.close();
  await ledger.close();
});

t.test('promise 7, G16: broken links between two files, and between the last file and the table, are found', async (t) => {
  const dir = dataDir(t);
  trail(dir, 1, 900);
  await archive(dir, 1, 300);
  await archive(dir, 301, 600);
  const findings = (): Promise<readonly { readonly ok: boolean; readonly problem?: string; readonly sequence?: number }[]> =>
    asked(dir, async (queries) => (await queries.verifyArchives()).archives);
  const file = path.join(archiveFolder(dir), archiveFileName(1, 300));
  // a file that is good in itself, of a trail that went another way
  const other = dataDir(t);
  cpSync(path.join(dir, 'keys'), path.join(other, 'keys'), { recursive: true });
  rmSync(markerFileOf(other)); // it is not the appliance whose trail had come so far
  trail(other, 1, 299);
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
  trail(dir, 1, 300);
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
  trail(dir, 1, 900);
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
    t.equal(await queries.auditRecord(50, {}), undefined);
  });
});
