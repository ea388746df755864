/** Every scenario there is. A new one is a row. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from '../../src/platform/base/sqlite.js';
import { eventually } from '../support/api-client.js';
import { runUntilKilled } from '../support/batch-story.js';
import type { Bench } from './bench.js';
import { STEPS, WallClock } from './clock.js';
import { firstAdmin, flood, logins, modes } from './loads.js';
import { DAMAGES, damagedFiles } from './damaged-files.js';
import { Disk, type Rule } from './disk.js';
import { diskFaults } from './disk-faults.js';
import { edits } from './edits.js';
import { afterwards, serveUntil, whereItStands, worked } from './rounds.js';
import type { Round, Scenario } from './scenario.js';
import { trust } from './trust.js';
import { twoBoxes } from './two-boxes.js';

/** The batch takes about 4 s at ten times its speed. */
const MOMENT_MAX_MS = 4500;

/** Kills at a random moment of a running batch under load. */
async function* kills(bench: Bench, rounds: number): AsyncIterable<Round> {
  await bench.start();
  for (let round = 0; round < rounds; round += 1) {
    const afterMs = Math.round(bench.random() * MOMENT_MAX_MS);
    await bench.running();
    bench.load.start();
    await runUntilKilled(bench.story, bench.batch, afterMs, bench.told);
    await bench.load.stop();
    yield await afterwards(bench, `killed after ${afterMs} ms, the batch was ${bench.told.phase}`);
  }
}

/** What the process can be in the middle of, by the file that it is writing: it ends itself in the n-th of them. */
const INSIDE: readonly { readonly inside: string; readonly rule: Rule; readonly afterMax: number }[] = [
  { inside: 'a commit, before its sync', rule: { operation: 'write', file: '/state.db-wal', does: 'kill', times: 1 }, afterMax: 400 },
  { inside: 'a commit, after its sync and before its answer', rule: { operation: 'sync', file: '/state.db-wal', does: 'kill', times: 1 }, afterMax: 300 },
  { inside: 'a checkpoint', rule: { operation: 'write', file: '/state.db', does: 'kill', times: 1 }, afterMax: 60 },
];

async function* killsInside(bench: Bench, rounds: number): AsyncIterable<Round> {
  const disk = new Disk(bench.dataDir, bench.work);
  await bench.start();
  await bench.box.end();
  for (let round = 0; round < rounds; round += 1) {
    const place = INSIDE[round % INSIDE.length];
    if (place === undefined) return;
    const after = Math.round(bench.random() * place.afterMax);
    const reached = await worked(bench, disk.faulty({ ...place.rule, after }));
    yield { ...(await afterwards(bench, `${place.rule.operation} ${after} of ${place.rule.file.slice(1)}`)), inside: reached ? place.inside : undefined };
    await bench.box.end();
  }
}

/** Dies in the commit that holds the record of a batch. */
const inRecordOf = (batch: string, after: number): Rule => ({ operation: 'write', file: '/state.db-wal', does: 'kill', times: 1, holds: `BatchRecorddemo${batch}`, after });

/** Kills between the end of a batch and its record: at a random moment, and in the commit of the record. */
async function* killsInRecords(bench: Bench, rounds: number): AsyncIterable<Round> {
  const disk = new Disk(bench.dataDir, bench.work);
  await bench.start();
  await bench.box.end();
  for (let round = 0; round < rounds; round += 1) {
    const inCommit = round % 2 === 1;
    const afterMs = inCommit ? undefined : Math.round(bench.random() * 60);
    const reached = await worked(bench, disk.faulty(), { load: 0, afterMs, begun: () => inCommit && disk.set(inRecordOf(bench.batch, 0)) });
    const name = bench.batch;
    const record = lastRecord(bench.dataDir, name);
    const found = await afterwards(bench, inCommit ? `killed in the commit of the record of ${name}` : `killed ${afterMs} ms after the end of ${name}`);
    const { status } = await eventually('the record is made', async () => {
      const made = await bench.story.admin.get(`/api/v1/sites/demo/batches/${name}/record`);
      return made.status === 404 ? undefined : made;
    }).catch(() => ({ status: 404 }));
    const problems = status === 200 ? found.problems : [...found.problems, `batch ${name} has no record after the start (${status})`];
    yield { ...found, problems, inside: reached && !record ? 'a record assembly' : undefined };
    await bench.box.end();
  }
}

function lastRecord(dataDir: string, name: string): boolean {
  const db = new Database(path.join(dataDir, 'state.db'), { readonly: true });
  try {
    return db.prepare("SELECT 1 FROM resources WHERE kind = 'BatchRecord' AND name = ?").get(name) !== undefined;
  } finally {
    db.close();
  }
}

/** Where the power is cut, in turn: in the n-th such write, in the commit of a record, or at a random moment. */
const CUTS = ['commit', 'checkpoint', 'record', 'commit', 'checkpoint', 'record', 'moment'] as const;
const CUT_IN: Readonly<Record<string, { readonly rule: Rule; readonly afterMax: number }>> = {
  commit: { rule: { operation: 'write', file: '/state.db-wal', does: 'kill', times: 1 }, afterMax: 400 },
  checkpoint: { rule: { operation: 'write', file: '/state.db', does: 'kill', times: 1 }, afterMax: 20 },
};

/** Power cuts: whatever was not synced is gone, or torn. */
async function* powerCuts(bench: Bench, rounds: number): AsyncIterable<Round> {
  const disk = new Disk(bench.dataDir, bench.work);
  yield await proof(bench, disk, 'NORMAL');
  yield await proof(bench, disk, 'FULL');
  await bench.start();
  await bench.box.end();
  for (let round = 0; round < rounds; round += 1) {
    const torn = bench.random() < 0.5;
    const cut = CUTS[round % CUTS.length] ?? 'moment';
    const place = CUT_IN[cut];
    const after = Math.round(bench.random() * (place?.afterMax ?? 2));
    const afterMs = Math.round(bench.random() * MOMENT_MAX_MS);
    if (place) await worked(bench, disk.environment({ ...place.rule, after }));
    else if (cut === 'record') await worked(bench, disk.environment(), { begun: () => disk.set(inRecordOf(bench.batch, after)) });
    else {
      await bench.start(disk.environment());
      await bench.running();
      bench.load.start();
      await runUntilKilled(bench.story, bench.batch, afterMs, bench.told);
      await bench.load.stop();
    }
    const undone = disk.forgetUnsynced(torn ? () => bench.random() < 0.5 : undefined);
    const lost = [...undone].map(([file, bytes]) => `${file} ${bytes}`).join(', ');
    const record = cut === 'record' && disk.met > 0 && !lastRecord(bench.dataDir, bench.batch);
    const inside = record ? 'a record assembly' : undone.has('state.db') ? 'a checkpoint' : undone.has('state.db-wal') ? 'a commit' : undefined;
    const where = cut === 'moment' ? `after ${afterMs} ms` : `in a ${cut}, ${after}`;
    yield { ...(await afterwards(bench, `power cut${torn ? ', torn' : ''} ${where}; unsynced: ${lost || 'nothing'}`)), inside };
    await bench.box.end();
  }
}

/** The shim itself: it must lose rows of synchronous=NORMAL and none of FULL. */
async function proof(bench: Bench, disk: Disk, synchronous: 'NORMAL' | 'FULL'): Promise<Round> {
  const folder = path.join(bench.dataDir, `proof-${synchronous}`);
  mkdirSync(folder);
  let lostIn = 0;
  let whole = 0;
  for (let time = 0; time < 5; time += 1) {
    const file = path.join(folder, `${time}.db`);
    const script = fileURLToPath(new URL('./proof-child.js', import.meta.url));
    const child = spawn(process.execPath, [script, file, synchronous], { env: { PATH: process.env.PATH ?? '', ...disk.environment() }, stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
    await once(child.stdout, 'data');
    await pause(50 + bench.random() * 200);
    child.kill('SIGKILL');
    await once(child, 'close');
    disk.forgetUnsynced();
    const last = Math.max(0, ...told.split('\n').slice(0, -1).map(Number));
    const db = new Database(file);
    const hasRows = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'rows'").get() !== undefined; // the making of the table may be lost too
    const kept = hasRows ? (db.prepare('SELECT COUNT(*) AS n FROM rows WHERE n <= ?').get(last) as { n: number }).n : 0;
    if (db.pragma('integrity_check', { simple: true }) === 'ok') whole += 1;
    db.close();
    if (kept < last) lostIn += 1;
  }
  const problems = synchronous === 'NORMAL' && lostIn === 0 ? ['the shim loses nothing of synchronous=NORMAL: it does not cut the power'] : [];
  if (synchronous === 'FULL' && lostIn > 0) problems.push(`synchronous=FULL lost rows in ${lostIn} of 5 cuts`);
  return { what: `the shim with synchronous=${synchronous}: rows lost in ${lostIn} of 5, ${whole} of 5 databases whole`, problems };
}

/** A few of them are of every kind: forth, back, short and long. */
function stepOf(round: number): (typeof STEPS)[number] | undefined {
  return STEPS[(round * 4) % STEPS.length];
}

/** Somebody sets the clock while a batch runs: nothing starts, holds, fails or is forgotten for it (D-C-07). */
async function* clockSteps(bench: Bench, rounds: number): AsyncIterable<Round> {
  const clock = new WallClock(bench.work);
  await bench.start(clock.environment);
  for (let round = 0; round < rounds; round += 1) {
    const step = stepOf(round);
    if (step === undefined) return;
    clock.stepTo(0);
    await bench.running();
    bench.load.start(2);
    await pause(500);
    clock.stepTo(step.ms());
    await pause(1500);
    await bench.load.stop();
    const problems = [...(await bench.load.lost())];
    const { phase } = await bench.story.batch(bench.batch);
    if (phase !== 'Running' && phase !== 'Complete') problems.push(`after the step: ${await whereItStands(bench)}`);
    const verified = (await bench.story.admin.get('/api/v1/audit/verify')).body;
    if (verified?.ok !== true) problems.push(`the audit chain after the step: ${JSON.stringify(verified).slice(0, 300)}`);
    const left = await serveUntil(bench, 'Complete');
    if (left !== undefined) problems.push(left);
    yield { what: `the clock was set ${step.what} while a batch ran`, problems };
  }
}

/** The clock is another one at the start: everything falls to the safe side. */
async function* clockRestarts(bench: Bench, rounds: number): AsyncIterable<Round> {
  const clock = new WallClock(bench.work);
  await bench.start(clock.environment);
  for (let round = 0; round < rounds; round += 1) {
    const step = stepOf(round);
    if (step === undefined) return;
    await bench.running();
    bench.load.start(2);
    await runUntilKilled(bench.story, bench.batch, 800, bench.told);
    await bench.load.stop();
    clock.stepTo(step.ms());
    yield await afterwards(bench, `started with the clock set ${step.what}`, clock.environment);
    await bench.box.end();
    clock.stepTo(0);
    await bench.start(clock.environment);
  }
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'kill',
    proves: 'promise 1, 3, 4: kill -9 at any moment loses nothing that was acknowledged and starts nothing',
    load: 'mixed',
    count: { short: 9, long: 100 },
    run: kills,
  },
  { name: 'kill-inside', proves: 'promise 1: the same in the middle of a commit and of a checkpoint', load: 'mixed', count: { short: 9, long: 75 }, run: killsInside },
  { name: 'kill-record', proves: 'promise 1: the same between the end of a batch and its record', load: 'none', count: { short: 8, long: 25 }, run: killsInRecords },
  {
    name: 'power-cut',
    proves: 'promise 1: what was not synced is gone or torn; acknowledged writes are not among it',
    load: 'mixed',
    count: { short: 5, long: 84 },
    run: powerCuts,
  },
  {
    name: 'disk-faults',
    proves: 'promise 2, G3, G4: while the disk refuses nothing is done that is not recorded, control goes on, somebody is told, and it ends without a restart',
    load: 'mixed',
    count: { short: 3, long: 12 },
    alone: true,
    run: diskFaults,
  },
  {
    name: 'damaged-files',
    proves: 'D-C-09, D-C-10, G3: a damaged file is refused with a way out or told by the box that started, and never healed in silence',
    load: 'none',
    count: { short: 6, long: DAMAGES },
    run: damagedFiles,
  },
  {
    name: 'edits',
    proves: 'D-C-10, ADR 0018: a row of any table that was edited past the gateway is found',
    load: 'none',
    count: { short: 15, long: 400 },
    run: edits,
  },
  {
    name: 'trust',
    proves: 'promise 7, G16: one edit anywhere in what is evidence, or in a copy of it, is found, and what nobody has edited is not said to be',
    load: 'none',
    count: { short: 0, long: 0 }, // npm run long trust
    run: trust,
  },
  {
    name: 'two-boxes',
    proves: 'D-C-06, TAG-27: of two boxes that are configured for one device one writes, whichever starts first',
    load: 'none',
    count: { short: 4, long: 25 },
    peer: 'the Modbus device of pymodbus',
    run: twoBoxes,
  },
  {
    name: 'clock-step',
    proves: 'D-C-07, promise 11: a clock that is set while a batch runs changes nothing',
    load: 'mixed',
    count: { short: 5, long: 12 },
    peer: 'the wall clock of libfaketime',
    run: clockSteps,
  },
  {
    name: 'clock-restart',
    proves: 'D-C-07, D-C-08: with another clock at the start nothing starts and no nonce is good again',
    load: 'mixed',
    count: { short: 3, long: 10 },
    peer: 'the wall clock of libfaketime',
    run: clockRestarts,
  },
  {
    name: 'flood',
    proves: 'G10: a unit whose chart sends 9,999 messages a scan takes nothing from the others, and is aborted like any other',
    load: 'none',
    count: { short: 1, long: 3 },
    alone: true,
    run: flood,
  },
  { name: 'modes', proves: 'ADR 0008: 100 changes of mode in a row delay no write by more than two scans', load: 'none', count: { short: 1, long: 5 }, alone: true, run: modes },
  { name: 'logins', proves: 'D-C-21: of 60 passwords at once five are judged, and nobody learns which was right', load: 'none', count: { short: 2, long: 20 }, run: logins },
  { name: 'first-admin', proves: 'D-C-19: of 64 first administrators at once one is made', load: 'none', count: { short: 1, long: 20 }, run: firstAdmin },
];
