/**
 * A disk that fails while a batch runs under load (goals G3, G4): what cannot be recorded is refused and does nothing, control and
 * reading go on, somebody is told within ten seconds, and when the disk is good again so is everything else, without a restart.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/api-client.js';
import { ApplianceProcess } from '../support/appliance-process.js';
import { ENVIRONMENT } from '../support/batch-story.js';
import { SITE, UNITS } from '../support/plant.js';
import type { Bench } from './bench.js';
import { Disk, type Rule } from './disk.js';
import { afterwards, serveUntil, whereItStands } from './rounds.js';
import type { Round } from './scenario.js';

const FAULT_MS = 5000;
const QUIET_MS = 3000;
const TOLD_WITHIN_MS = 10_000;
const BACK_WITHIN_MS = 10_000;
/** On a machine that others keep busy too scans are missed: twice as many as without the fault are chance, and so is what is less than a third of all. */
const MISSED_BY_CHANCE = 3;
const MISSED_SHARE_MAX = 1 / 3;

interface Fault {
  readonly what: string;
  readonly rules: readonly Rule[];
  /** Whether writes are refused meanwhile (`refused`), or accepted (`accepted`), at once or after a while. */
  readonly writes: 'refused' | 'accepted' | 'either';
  /** Topic of the alarm that tells of it. */
  readonly alarm?: string;
  readonly toldWithinMs?: number;
  /** The batch is over before it and nobody writes: for what takes long. */
  readonly quiet?: true;
}

/** Nobody changes its mode but the scenario. */
const MODULE = 'tic101';
const WAL = '/state.db-wal';

/** The first nine are those of the reference run. */
const FAULTS: readonly Fault[] = [
  { what: 'the disk is full', rules: [{ operation: 'write', file: '', does: 'ENOSPC' }], writes: 'refused', alarm: 'storage' },
  { what: 'every write of the WAL fails', rules: [{ operation: 'write', file: WAL, does: 'EIO' }], writes: 'refused', alarm: 'storage' },
  { what: 'every sync of the WAL fails', rules: [{ operation: 'sync', file: WAL, does: 'EIO' }], writes: 'refused', alarm: 'storage' },
  { what: 'one sync of the WAL fails', rules: [{ operation: 'sync', file: WAL, does: 'EIO', times: 1 }], writes: 'either' },
  {
    what: 'the file system is mounted for reading',
    rules: [
      { operation: 'write', file: '', does: 'EROFS' },
      { operation: 'sync', file: '', does: 'EROFS' },
      { operation: 'open', file: '', does: 'EROFS' },
    ],
    writes: 'refused',
    alarm: 'storage',
  },
  { what: 'every sync of the WAL takes 400 ms', rules: [{ operation: 'sync', file: WAL, does: 400 }], writes: 'accepted', alarm: 'slow-storage' },
  { what: 'a sync of the WAL hangs for 8 s', rules: [{ operation: 'sync', file: WAL, does: 8000, times: 1 }], writes: 'either', alarm: 'slow-storage' },
  { what: 'every read of state.db fails', rules: [{ operation: 'read', file: '/state.db', does: 'EIO' }], writes: 'either' },
  { what: 'nothing of the historian can be written', rules: [{ operation: 'write', file: '*/historian', does: 'EIO' }], writes: 'accepted' },
  { what: 'audit-head cannot be written', rules: [{ operation: 'write', file: '/audit-head', does: 'EIO' }], writes: 'either' },
  {
    what: 'the audit archive cannot be written',
    rules: [{ operation: 'open', file: '*/audit-archive/', does: 'EIO' }],
    writes: 'accepted',
    alarm: 'audit-archive',
    toldWithinMs: 75_000, // the archiver looks once a minute
    quiet: true, // a batch that nobody serves for ten minutes of its time is held
  },
];

export async function* diskFaults(bench: Bench, rounds: number): AsyncIterable<Round> {
  const disk = new Disk(bench.dataDir, bench.work);
  const environment = (): Record<string, string> => ({ ...disk.faulty(), LINESIDE_AUDIT__MAXRECORDS: '1000' });
  await bench.start(environment());
  for (let round = 0; round < rounds; round += 1) {
    const at = round % (FAULTS.length + 1);
    const fault = FAULTS[at];
    if (!fault) {
      yield await folderNotWritable(bench, disk);
      await bench.start(environment());
      continue;
    }
    const found = await underFault(bench, disk, fault);
    await bench.box.end('SIGKILL');
    const after = await afterwards(bench, found.what, environment());
    yield { ...after, problems: [...found.problems, ...after.problems] };
  }
}

interface Scans {
  readonly missed: number;
  readonly done: number;
}

async function scansOf({ story }: Bench): Promise<ReadonlyMap<string, Scans>> {
  const scans = new Map<string, Scans>();
  for (const unit of UNITS) {
    const { missed, scanCount } = (await story.admin.get(`${SITE}/units/${unit}/runtime/status`)).body as { missed: number; scanCount: number };
    scans.set(unit, { missed, done: scanCount });
  }
  return scans;
}

/** What happened between two looks. */
function between(unit: string, from: ReadonlyMap<string, Scans>, to: ReadonlyMap<string, Scans>): Scans {
  const [first, last] = [from.get(unit), to.get(unit)];
  return { missed: (last?.missed ?? 0) - (first?.missed ?? 0), done: (last?.done ?? 0) - (first?.done ?? 0) };
}

async function underFault(bench: Bench, disk: Disk, { what, rules, writes, alarm, toldWithinMs = TOLD_WITHIN_MS, quiet }: Fault): Promise<Round> {
  const problems: string[] = [];
  const { story } = bench;
  await bench.running();
  bench.load.start(2);
  const early = await scansOf(bench);
  await pause(QUIET_MS);
  const before = await scansOf(bench);
  if (quiet) {
    await bench.load.stop();
    await serveUntil(bench, 'Complete');
  }
  disk.set(...rules);
  const begun = performance.now();
  let refused = 0;
  let accepted = 0;
  let toldMs: number | undefined;
  const odd = new Set<string>();
  let over = false;
  const watch = (async () => {
    while (alarm !== undefined && toldMs === undefined && !over) {
      if (await isRaised(bench, alarm)) toldMs = Math.round(performance.now() - begun);
      await pause(100);
    }
  })();
  for (let n = 0; performance.now() - begun < FAULT_MS || (alarm !== undefined && toldMs === undefined && performance.now() - begun < toldWithinMs); n += 1) {
    const name = `faulty-${Math.round(begun)}-${n}`;
    const answer = await story.admin.post(`${SITE}/areas`, { name, description: what });
    if (answer.status === 201) accepted += 1;
    else if (answer.status === 503) {
      refused += 1;
      const { status } = await story.admin.get(`${SITE}/areas/${name}`);
      if (status === 200) odd.add('a write that was refused is there all the same');
    } else odd.add(`a write was answered ${answer.status}: ${answer.text.slice(0, 200)}`);
    for (const address of ['/healthz', `${SITE}/overview`, `${SITE}/audit?limit=5`]) {
      const { status, text } = await story.admin.get(address);
      if (status !== 200 && !(status === 503 && address.includes('audit'))) odd.add(`GET ${address} was answered ${status}: ${text.slice(0, 200)}`);
    }
    if (writes === 'refused' && refused > 0 && n % 10 === 5) {
      const mode = await story.admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: MODULE, mode: 'Manual' });
      if (mode.status !== 503) odd.add(`a change of mode was answered ${mode.status}: ${mode.text.slice(0, 200)}`);
      if ((await modeOf(bench)) === 'Manual') odd.add('a change of mode that was refused has reached the unit');
    }
    await pause(quiet ? 1000 : 100);
  }
  over = true;
  await watch;
  problems.push(...odd);
  const met = disk.met;
  if (met === 0) problems.push('the fault was never met');
  if (writes === 'refused' && refused === 0) problems.push(`none of ${accepted} writes was refused`);
  if (writes === 'accepted' && refused > 0) problems.push(`${refused} of ${accepted + refused} writes were refused`);
  if (writes === 'refused' && (await story.admin.get('/readyz')).status !== 503) problems.push('/readyz says that all is well');
  if (alarm !== undefined && toldMs === undefined) problems.push(`no alarm ${alarm} within ${toldWithinMs / 1000} s`);
  const { phase } = await story.batch(bench.batch);
  if (phase !== 'Running' && phase !== 'Complete') problems.push(await whereItStands(bench));

  disk.set();
  const good = performance.now();
  const back = await eventually(
    'writes are accepted',
    async () => (await story.admin.post(`${SITE}/areas`, { name: `back-${Math.round(good)}` })).status === 201,
    BACK_WITHIN_MS,
  ).catch(() => false);
  const backMs = Math.round(performance.now() - good);
  if (!back) problems.push(`no write was accepted within ${BACK_WITHIN_MS / 1000} s after it was good again`);
  const after = await scansOf(bench);
  const times = (performance.now() - begun) / QUIET_MS;
  await pause(QUIET_MS);
  const late = await scansOf(bench);
  for (const unit of UNITS) {
    const { missed, done } = between(unit, before, after);
    const without = Math.max(between(unit, early, before).missed, between(unit, after, late).missed);
    const byChance = 2 * times * without + MISSED_BY_CHANCE;
    if (missed > byChance && missed > MISSED_SHARE_MAX * (missed + done))
      problems.push(`${unit} missed ${missed} of ${missed + done} scans, and ${without} in ${QUIET_MS / 1000} s before it or behind it`);
  }
  await bench.load.stop();
  problems.push(...(await bench.load.lost()));
  const gone = alarm === undefined || (await eventually('the alarm goes', async () => !(await isRaised(bench, alarm)), 90_000, 500).catch(() => false));
  if (!gone) problems.push(`the alarm ${alarm} stands although the disk is good again`);
  const left = await serveUntil(bench, 'Complete');
  if (left !== undefined) problems.push(left);
  const told = toldMs === undefined ? '' : `, alarm after ${toldMs} ms`;
  return { what: `${what}: met ${met} times, ${refused} writes refused, ${accepted} accepted${told}, back after ${backMs} ms`, problems };
}

async function modeOf({ story }: Bench): Promise<string> {
  return (await story.admin.get(`${SITE}/controlmodules/${MODULE}`)).body.mode as string;
}

async function isRaised({ story }: Bench, topic: string): Promise<boolean> {
  const { status, body } = await story.admin.get(`${SITE}/alarms?type=System`);
  return status === 200 && (body as { name: string; state: string }[]).some(({ name, state }) => name.startsWith(`system-${topic}-`) && state.startsWith('Active'));
}

/** A start in a folder where nothing can be made says so and where. */
async function folderNotWritable(bench: Bench, disk: Disk): Promise<Round> {
  await bench.box.end();
  const box = new ApplianceProcess(bench.dataDir, 0, { ...ENVIRONMENT, ...disk.faulty({ operation: 'open', file: '', does: 'EROFS' }) });
  const { code, output } = await box.attempt();
  const problems: string[] = [];
  if (code === 0 || code === null) problems.push(`the start ended with ${code}`);
  if (!output.includes(bench.dataDir)) problems.push(`it does not name the folder: ${output.slice(-300)}`);
  return { what: `the folder is not writable at the start: it ends with ${code}`, problems };
}
