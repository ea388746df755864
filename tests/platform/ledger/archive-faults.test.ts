/** The archive of the audit trail when the process dies, the disk fills, or the folder is not what it should be. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { type ArchiveDraft, archiveFileName, archiveFolder } from '../../../src/platform/ledger/archive-format.js';
import { Archiver } from '../../../src/platform/ledger/archiver.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import {
  archive,
  asked,
  cleanTrail,
  cutOf,
  cutReaches,
  dataDir,
  isWhole,
  NEVER,
  RECORDS as MANY_RECORDS,
  sequencesOf,
  trail,
  upTo,
  withWriter,
} from '../../support/archive-data.js';
import { canLimitFiles } from '../../support/disk-limit.js';
import { TestClock } from '../../support/test-clock.js';

const CHILD = fileURLToPath(new URL('../../support/ledger-child.js', import.meta.url));
/** As few as hold a border of a block (512) and a signed head (1000), both in the span that is archived: every record is read four ways each time. */
const RECORDS = 1300;
const SPAN = { first: 1, last: 1030 };
/** Slices of 64 records that the span takes. */
const SLICES = 17;
const KILLS = 5;
const copy = cleanTrail(t, RECORDS);

t.test('8.6: a crash at any point of archiving loses nothing and doubles nothing', async (t) => {
  const name = archiveFileName(SPAN.first, SPAN.last);
  const write = (dir: string): Promise<ArchiveDraft> => asked(dir, (queries) => queries.writeArchive(SPAN));
  /** What is left goes on as after a start. */
  const again = async (dir: string, aside: readonly string[] = []): Promise<void> => {
    await asked(dir, async (queries) => t.match(await queries.verify(), { ok: true, archivedTo: 0 }));
    await archive(dir, SPAN.first, SPAN.last);
    const left = readdirSync(archiveFolder(dir)).map((file) => file.replace(/(?<=\.lost-).*/, 'now'));
    t.same(left.sort(), [name, ...aside].sort(), 'nothing else is left');
  };

  const started = copy(t);
  await write(started);
  copyFileSync(path.join(archiveFolder(started), name), path.join(archiveFolder(started), `${name}.part`));
  rmSync(path.join(archiveFolder(started), name));
  truncateSync(path.join(archiveFolder(started), `${name}.part`), 700);
  await again(started);
  await isWhole(t, started, RECORDS, SPAN.last, 'a torn draft was left');

  const named = copy(t);
  await write(named);
  await isWhole(t, named, RECORDS, 0, 'a file that nobody has noted');
  await again(named);
  await isWhole(t, named, RECORDS, SPAN.last, 'a file that nobody has noted was left');

  const torn = copy(t);
  await write(torn);
  truncateSync(path.join(archiveFolder(torn), name), 700); // its trailer and more are gone
  copyFileSync(path.join(archiveFolder(torn), name), path.join(archiveFolder(torn), archiveFileName(1, 900)));
  await again(torn, [`${archiveFileName(1, 900)}.lost-now`, `${name}.lost-now`]);
  await isWhole(t, torn, RECORDS, SPAN.last, 'files that a disk has damaged were left, and may be the only ones with what can be read of them');

  for (const slices of [0, 1, SLICES - 1, SLICES]) {
    const dir = copy(t);
    const draft = await write(dir);
    withWriter(dir, (writer) => {
      writer.noteArchive(draft);
      for (let slice = 0; slice < slices; slice += 1) writer.removeArchived();
    });
    const cut = Math.min(SPAN.last, slices * 64);
    t.equal(cutOf(dir), cut);
    await isWhole(t, dir, RECORDS, cut, `${slices} slices were deleted`);
    t.equal((await asked(dir, (queries) => queries.archiveDue({ recordsMax: 100, ageMaxMs: 1 }, Date.now()))) === null, slices < SLICES, 'the next file waits for this one');
    const ledger = await openLedger(dir);
    await cutReaches(dir, SPAN.last);
    await ledger.close();
    await isWhole(t, dir, RECORDS, SPAN.last, `${slices} slices, and the rest after a start`);
  }

  const twice = copy(t);
  const draft = await write(twice);
  const ledger = await openLedger(twice);
  await ledger.load(0);
  await ledger.archived(draft);
  await t.rejects(ledger.archived(draft), /does not begin where the archive ends/, 'a file is noted once');
  await ledger.close();
});

t.test('Q-TAG-16: who reads while rows leave the table sees every record once, and verification finds nothing', async (t) => {
  const dir = copy(t);
  const queries = openQueries(dir);
  const draft = await queries.writeArchive(SPAN);
  const ledger = await openLedger(dir);
  await ledger.load(0);
  await ledger.archived(draft);
  let rounds = 0;
  for (let cut = 0; cut < SPAN.last; cut = cutOf(dir)) {
    const [asc, desc, verified, archived] = await Promise.all([
      sequencesOf(queries, { order: 'asc', limit: 700 }),
      sequencesOf(queries, { order: 'desc', limit: 700 }),
      queries.verify(),
      queries.verifyArchives(),
    ]);
    rounds += 1;
    t.same(asc, upTo(RECORDS));
    t.same(desc, upTo(RECORDS).reverse());
    t.match([verified, archived], [{ ok: true }, { ok: true }]);
  }
  t.ok(rounds > 0, `${rounds} rounds`);
  await ledger.close();
  await queries.close();
});

t.test('promise 1, G1: kills while records are archived and others are written lose nothing', async (t) => {
  const dir = dataDir(t);
  trail(dir, 1, 1200);
  for (let round = 0; round < KILLS; round += 1) {
    const child = startNode(['archive', dir]);
    const acknowledged = await killedAfter(child, 1 + Math.floor(Math.random() * 60));
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
  if (!canLimitFiles(t)) return;
  const dir = cleanTrail(t)(t);
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
  await isWhole(t, dir, MANY_RECORDS + 1, 1601, 'after the disk had space again');
});

t.test('8.6: the archiver looks by itself, says why it cannot, and leaves the last space to the records', async (t) => {
  const dir = dataDir(t);
  trail(dir, 1, 1300);
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
    limits: { ...NEVER, recordsMax: 1000 },
    newestMs: null,
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

t.test('D-C-07: a clock that is set years forth archives nothing early, neither while it runs nor at the next start', async (t) => {
  const DAY_MS = 86_400_000;
  const clock = new TestClock();
  const [startMs, asked] = [clock.wallMs(), [] as number[]];
  const started = (newestMs: number | null) =>
    new Archiver({
      queries: { archiveDue: async (_limits, nowMs) => (asked.push(nowMs), null), writeArchive: async () => Promise.reject(new Error('nothing is due')) },
      ledger: { archived: async () => undefined },
      clock,
      log: pino({ level: 'silent' }),
      limits: NEVER,
      newestMs,
      storageLow: () => false,
      archived: () => undefined,
    });
  const first = started(startMs);
  clock.jump(3650 * DAY_MS);
  clock.advance(1000);
  await first.look();
  await started(startMs).look();
  clock.jump(-3650 * DAY_MS);
  await first.look();
  t.same(asked, [startMs + 1000, startMs, startMs + 1000]);
});
