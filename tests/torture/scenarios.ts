/** Every scenario there is. A new one is a row. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from '../../src/platform/base/sqlite.js';
import { runUntilKilled } from '../support/batch-story.js';
import type { Bench } from './bench.js';
import { STEPS, WallClock } from './clock.js';
import { firstAdmin, flood, logins, modes } from './loads.js';
import { type EndsIn, PowerCut } from './power-cut.js';
import type { Round, Scenario } from './scenario.js';

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
const INSIDE: readonly { readonly inside: string; readonly endsIn: Omit<EndsIn, 'count'>; readonly countMax: number }[] = [
  { inside: 'a commit, before its sync', endsIn: { operation: 'write', file: 'state.db-wal' }, countMax: 400 },
  { inside: 'a commit, after its sync and before its answer', endsIn: { operation: 'sync', file: 'state.db-wal' }, countMax: 300 },
  { inside: 'a checkpoint', endsIn: { operation: 'write', file: 'state.db' }, countMax: 60 },
];

async function* killsInside(bench: Bench, rounds: number): AsyncIterable<Round> {
  const cut = new PowerCut(bench.dataDir, bench.work);
  await bench.start();
  await bench.box.end();
  for (let round = 0; round < rounds; round += 1) {
    const place = INSIDE[round % INSIDE.length];
    if (place === undefined) return;
    const count = Math.round(bench.random() * place.countMax);
    const reached = await worked(bench, cut.environment({ ...place.endsIn, count }));
    yield { ...(await afterwards(bench, `${place.endsIn.operation} ${count} of ${place.endsIn.file}`)), inside: reached ? place.inside : undefined };
    await bench.box.end();
  }
}

/** Kills between the end of a batch and its record. */
async function* killsInRecords(bench: Bench, rounds: number): AsyncIterable<Round> {
  await bench.start();
  for (let round = 0; round < rounds; round += 1) {
    const afterMs = Math.round(bench.random() * 100);
    await bench.running();
    const name = bench.batch;
    await serveUntil(bench, 'Complete');
    await pause(afterMs);
    await bench.box.end('SIGKILL');
    const record = lastRecord(bench.dataDir, name);
    const found = await afterwards(bench, `killed ${afterMs} ms after the end of ${name}`);
    const made = await bench.story.admin.get(`/api/v1/sites/demo/batches/${name}/record`);
    const problems = made.status === 200 ? found.problems : [...found.problems, `batch ${name} has no record after the start (${made.status})`];
    yield { ...found, problems, inside: record ? undefined : 'a record assembly' };
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

/** Power cuts: whatever was not synced is gone, or torn. */
async function* powerCuts(bench: Bench, rounds: number): AsyncIterable<Round> {
  const cut = new PowerCut(bench.dataDir, bench.work);
  yield await proof(bench, cut, 'NORMAL');
  yield await proof(bench, cut, 'FULL');
  await bench.start();
  await bench.box.end();
  for (let round = 0; round < rounds; round += 1) {
    const torn = round % 2 === 1;
    const place = bench.random() < 0.5 ? INSIDE[Math.floor(bench.random() * INSIDE.length)] : undefined;
    const count = Math.round(bench.random() * (place?.countMax ?? 0));
    const afterMs = Math.round(bench.random() * MOMENT_MAX_MS);
    if (place) await worked(bench, cut.environment({ ...place.endsIn, count }));
    else {
      await bench.start(cut.environment());
      await bench.running();
      bench.load.start();
      await runUntilKilled(bench.story, bench.batch, afterMs, bench.told);
      await bench.load.stop();
    }
    const undone = cut.forgetUnsynced(torn ? () => bench.random() < 0.5 : undefined);
    const lost = [...undone].map(([file, bytes]) => `${file} ${bytes}`).join(', ');
    const inside = undone.has('state.db') ? 'a checkpoint' : undone.has('state.db-wal') ? 'a commit' : undefined;
    yield { ...(await afterwards(bench, `power cut${torn ? ', torn' : ''}${place ? ` in ${place.inside}` : ` after ${afterMs} ms`}; unsynced: ${lost || 'nothing'}`)), inside };
    await bench.box.end();
  }
}

/** The shim itself: it must lose rows of synchronous=NORMAL and none of FULL. */
async function proof(bench: Bench, cut: PowerCut, synchronous: 'NORMAL' | 'FULL'): Promise<Round> {
  const folder = path.join(bench.dataDir, `proof-${synchronous}`);
  mkdirSync(folder);
  let lostIn = 0;
  let whole = 0;
  for (let time = 0; time < 5; time += 1) {
    const file = path.join(folder, `${time}.db`);
    const script = fileURLToPath(new URL('./proof-child.js', import.meta.url));
    const child = spawn(process.execPath, [script, file, synchronous], { env: { PATH: process.env.PATH ?? '', ...cut.environment() }, stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
    await once(child.stdout, 'data');
    await pause(50 + bench.random() * 200);
    child.kill('SIGKILL');
    await once(child, 'close');
    cut.forgetUnsynced();
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

/** Starts a process that ends itself and works until it does, which may be in its start; whether it did. */
async function worked(bench: Bench, environment: Readonly<Record<string, string>>): Promise<boolean> {
  let gone = false;
  const work = (async () => {
    await bench.start(environment);
    await bench.running();
    bench.load.start();
    await serveUntil(bench, 'Complete', () => gone);
  })().catch(() => undefined); // the appliance is gone in the middle of a request
  const ended = await bench.ended(20_000);
  gone = true;
  if (!ended) await bench.box.end('SIGKILL');
  await work;
  await bench.load.stop();
  return ended;
}

async function serveUntil(bench: Bench, state: string, over: () => boolean = () => false): Promise<void> {
  while (!over()) {
    await bench.story.serve(bench.batch, bench.told);
    const { phase } = await bench.story.batch(bench.batch);
    bench.told.events = await bench.story.events(bench.batch);
    bench.told.phase = phase;
    if (phase === state) return;
    await pause(10);
  }
}

/** The appliance is gone: the files are looked at, it is started again, and everything is examined before anybody acts. */
async function afterwards(bench: Bench, what: string, environment: Readonly<Record<string, string>> = {}): Promise<Round> {
  const damaged = bench.filesWhole();
  await bench.start(environment);
  await bench.story.inState(bench.batch, 'Held', 'Pending', 'Complete', 'Aborted', 'Idle').catch(() => undefined); // examine says where it stands
  return { what, problems: [...damaged, ...(await bench.examine())] };
}

/** Somebody sets the clock while a batch runs: nothing starts, holds, fails or is forgotten for it (D-C-07). */
async function* clockSteps(bench: Bench, rounds: number): AsyncIterable<Round> {
  const clock = new WallClock(bench.work);
  await bench.start(clock.environment);
  for (let round = 0; round < rounds; round += 1) {
    const step = STEPS[round % STEPS.length];
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
    if (phase !== 'Running' && phase !== 'Complete') problems.push(`the batch is ${phase} after the step: ${JSON.stringify((await bench.story.batch(bench.batch)).failure)}`);
    const verified = (await bench.story.admin.get('/api/v1/audit/verify')).body;
    if (verified?.ok !== true) problems.push(`the audit chain after the step: ${JSON.stringify(verified).slice(0, 300)}`);
    await serveUntil(bench, 'Complete');
    yield { what: `the clock was set ${step.what} while a batch ran`, problems };
  }
}

/** The clock is another one at the start: everything falls to the safe side. */
async function* clockRestarts(bench: Bench, rounds: number): AsyncIterable<Round> {
  const clock = new WallClock(bench.work);
  await bench.start(clock.environment);
  for (let round = 0; round < rounds; round += 1) {
    const step = STEPS[round % STEPS.length];
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
    count: { short: 14, long: 100 },
    run: kills,
  },
  { name: 'kill-inside', proves: 'promise 1: the same in the middle of a commit and of a checkpoint', load: 'mixed', count: { short: 24, long: 75 }, run: killsInside },
  { name: 'kill-record', proves: 'promise 1: the same between the end of a batch and its record', load: 'none', count: { short: 12, long: 25 }, run: killsInRecords },
  {
    name: 'power-cut',
    proves: 'promise 1: what was not synced is gone or torn; acknowledged writes are not among it',
    load: 'mixed',
    count: { short: 10, long: 60 },
    run: powerCuts,
  },
  { name: 'clock-step', proves: 'D-C-07, promise 11: a clock that is set while a batch runs changes nothing', load: 'mixed', count: { short: 0, long: 12 }, run: clockSteps },
  {
    name: 'clock-restart',
    proves: 'D-C-07, D-C-08: with another clock at the start nothing starts and no nonce is good again',
    load: 'mixed',
    count: { short: 0, long: 10 },
    run: clockRestarts,
  },
  {
    name: 'flood',
    proves: 'G10: a unit whose chart sends 9,999 messages a scan takes nothing from the others, and is aborted like any other',
    load: 'none',
    count: { short: 0, long: 3 },
    run: flood,
  },
  { name: 'modes', proves: 'ADR 0008: 100 changes of mode in a row delay no write by more than two scans', load: 'none', count: { short: 0, long: 5 }, run: modes },
  { name: 'logins', proves: 'D-C-21: of 60 passwords at once five are judged, and nobody learns which was right', load: 'none', count: { short: 3, long: 20 }, run: logins },
  { name: 'first-admin', proves: 'D-C-19: of 64 first administrators at once one is made', load: 'none', count: { short: 2, long: 20 }, run: firstAdmin },
];
