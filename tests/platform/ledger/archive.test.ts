/** The archive of the audit trail on real files: what it keeps and what a search finds in it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import type { ArchiveLimits } from '../../../src/platform/ledger/archive-writer.js';
import { AuditTrail } from '../../../src/platform/ledger/audit-trail.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { AuditQuery, LedgerQueries } from '../../../src/platform/ledger/queries.js';
import { archive, asked, cleanTrail, cutReaches, dataDir, isWhole, NEVER, RECORDS, sequencesOf, trail } from '../../support/archive-data.js';
import { at } from '../../support/at.js';

const SPAN = { first: 1, last: 1500 };
const copy = cleanTrail(t);

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
  const { mac, keyId, ...first } = JSON.parse(at(lines, 0)) as Record<string, unknown>;
  t.same(first, before.items[0], 'a line is the served record with mac and keyId');
  t.match({ mac, keyId }, { mac: /^[A-Za-z0-9+/]{43}=$/, keyId: /^[0-9a-f]{16}$/ });
  const digest = execFileSync('sh', ['-c', `gzip -dc "${file}" | head -n -1 | sha256sum`], { encoding: 'utf8' });
  t.equal(digest.slice(0, 64), trailer.sha256, 'anybody can check the digest without Lineside');
  t.equal((JSON.parse(at(lines, 1499)) as { hash: string }).hash, trailer.headHash);
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
  trail(dir, RECORDS + 1, RECORDS + 700);
  await archive(dir, 1501, 2900);
  await isWhole(t, dir, RECORDS + 700, 2900, 'a second file');
  t.same(readdirSync(archiveFolder(dir)).length, 2);
});

t.test('Q-TAG-16: a search finds the same on both sides of the cut, page by page, and a cursor from before the cut goes on after it', async (t) => {
  const dir = copy(t);
  const timeOf = (sequence: number): number => Date.UTC(2026, 0, 31, 9, 0, 0) + sequence * 1000;
  const [from, to] = [timeOf(400), timeOf(1900)];
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
  const dir = copy(t);
  await archive(dir, 1, 2500); // 5 blocks
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  const trailOf = new AuditTrail(database, archiveFolder(dir), () => new Promise((resolve) => setImmediate(resolve)), 2);
  t.teardown(() => {
    trailOf.close();
    database.close();
  });
  for (const [filter, found] of [
    [{ action: 'Command' }, [3, 403, 803, 1203, 1603, 2003, 2403]],
    [{ action: 'Sign' }, []],
    [{ text: 'tank 2007' }, [2007]],
  ] as const) {
    for (const order of ['asc', 'desc'] as const) {
      const sequences: number[] = [];
      let pages = 0;
      let beyond: number | undefined;
      do {
        const { rows, next, unreadable } = await trailOf.page(filter, { order, limit: 100, beyond });
        t.same(unreadable, []);
        sequences.push(...rows.map((row) => row.sequence));
        pages += 1;
        beyond = next;
      } while (beyond !== undefined);
      t.same(sequences, order === 'asc' ? found : found.toReversed(), `${JSON.stringify(filter)} ${order}`);
      t.equal(pages, 3, 'two blocks, two blocks, one');
    }
  }
});

t.test('8.6: what is due: the oldest records over the number or over the age, never the last one', async (t) => {
  const dir = copy(t);
  const day = 86_400_000;
  const now = Date.UTC(2026, 0, 31, 9, 0, 0);
  await asked(dir, async (queries) => {
    const due = (limits: Partial<ArchiveLimits>, nowMs = now): Promise<unknown> => queries.archiveDue({ ...NEVER, ...limits }, nowMs);
    t.equal(await due({ recordsMax: RECORDS }), null);
    t.same(await due({ recordsMax: RECORDS - 1 }), { first: 1, last: 260 }, 'a tenth of the table');
    t.same(await due({ recordsMax: 1000 }), { first: 1, last: 1600 });
    t.equal(await due({ ageMaxMs: day }, now + day), null, 'nothing is so old');
    t.same(await due({ ageMaxMs: day }, now + 2000 + day), { first: 1, last: RECORDS - 1 }, 'and what comes of age within a tenth of it');
    t.same(await due({ ageMaxMs: 1_000_000 }, now + 1_002_000), { first: 1, last: 101 }, 'up to the first one that is younger');
    t.same(await due({ ageMaxMs: day }, now + 9000 * day), { first: 1, last: RECORDS - 1 });
  });
  await archive(dir, 1, 1600);
  t.equal(await asked(dir, (queries) => queries.archiveDue({ ...NEVER, recordsMax: 1000 }, now)), null);
});

t.test('8.6: a file that does not follow, or does not end with the record of the table, is refused', async (t) => {
  const dir = dataDir(t);
  trail(dir, 1, 300);
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

t.test('8.6: records are archived on while a file of before is away: it is named as missing, and with it back all is whole', async (t) => {
  const dir = copy(t);
  await archive(dir, SPAN.first, SPAN.last);
  const away = path.join(dir, 'away');
  renameSync(archiveFolder(dir), away); // as where the disk of the archive is not there
  await archive(dir, 1501, 2400);
  t.same(readdirSync(archiveFolder(dir)), [archiveFileName(1501, 2400)]);
  const { ok, archives } = await asked(dir, (queries) => queries.verifyArchives());
  t.same(
    [ok, archives.map(({ file, ok }) => [file, ok])],
    [
      false,
      [
        [archiveFileName(1, 1500), false],
        [archiveFileName(1501, 2400), true],
      ],
    ],
  );
  await t.rejects(
    asked(dir, (queries) => queries.auditRecord(7, {})),
    { message: /is archived in audit-000000000001-000000001500.ndjson.gz, which is not in the archive folder/ },
  );
  copyFileSync(path.join(away, archiveFileName(1, 1500)), path.join(archiveFolder(dir), archiveFileName(1, 1500)));
  await isWhole(t, dir, RECORDS, 2400, 'the file is back');
});

t.test('8.6: a file with records of another trail is kept beside the one that takes its place: nobody else has them', async (t) => {
  const [dir, other] = [copy(t), dataDir(t)];
  trail(other, 1, 1000, { operatorReason: 'of another trail' });
  await archive(other, 1, 900);
  const name = path.join(archiveFolder(dir), archiveFileName(1, 900));
  await asked(dir, (queries) => queries.writeArchive({ first: 1, last: 900 }));
  copyFileSync(path.join(archiveFolder(other), archiveFileName(1, 900)), name); // as where an older copy of the data directory was put back, and its archive is another disk
  const kept = readFileSync(name);
  await archive(dir, 1, 1200);
  const [first = '', aside = ''] = readdirSync(archiveFolder(dir)).sort((a, b) => a.length - b.length);
  t.equal(first, archiveFileName(1, 1200));
  t.match(aside, /^audit-000000000001-000000000900\.ndjson\.gz\.lost-/);
  t.equal(readFileSync(path.join(archiveFolder(dir), aside)).equals(kept), true);
  await isWhole(t, dir, RECORDS, 1200, 'the other one is no part of it');
});
