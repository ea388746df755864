/** Scenarios in which nothing dies: the box is asked too much at once, by a chart or by people, and everybody else must not notice. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiAnswer, ApiClient } from '../support/api-client.js';
import { eventually } from '../support/api-client.js';
import { ApplianceProcess, freePort } from '../support/appliance-process.js';
import { ENVIRONMENT, PASSWORD } from '../support/batch-story.js';
import { SITE } from '../support/plant.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';

const FLOODED = 'rx101';
const OTHERS = ['mx101', 'tk201'];
const FLOOD_MS = 20_000;
const QUIET_MS = 10_000;
const MESSAGES = 9999; // a loop of a step runs 10,000 times at most
const PROBE_EVERY_MS = 20;
const HEALTHZ_P99_MS_MAX = 100;
/** On a machine that answers slowly without the flood too. */
const SLOWER_BY_CHANCE = 4;
const ABORT_MS_MAX = 1000;
const GROWTH_MB_MAX = 200;
const SCAN_MS = 100;
/** On a machine that others keep busy too, a scan is missed now and then; a flood that reaches other units misses a third of them and more. */
const MISSED_SHARE_BY_CHANCE = 0.01;

/** Every scan of one unit says thousands of things. */
export async function* flood(bench: Bench, rounds: number): AsyncIterable<Round> {
  await bench.start();
  const { admin } = bench.story;
  await bench.story.unitsReady();
  const actionST = `FOR i := 1 TO ${MESSAGES} DO MESSAGE('again'); END_FOR;`;
  const template = {
    name: 'flood',
    timeoutSeconds: 0,
    steps: [
      { name: 'A', initial: true, actionST },
      { name: 'B', actionST },
    ],
    transitions: [
      { from: 'A', to: 'B', conditionST: 'TRUE' },
      { from: 'B', to: 'A', conditionST: 'TRUE' },
    ],
  };
  expect(201, await admin.post(`${SITE}/phasetemplates`, template));
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await watched(bench, QUIET_MS);
    const launched = expect(201, await admin.post(`${SITE}/units/${FLOODED}/execute-phase`, { phaseTemplateRef: 'flood', parameterValues: [] }));
    const { name } = launched.body as { name: string };
    const flooded = await watched(bench, FLOOD_MS);
    const begun = performance.now();
    const abort = await admin.post(`${SITE}/command`, { kind: 'Phase', name, command: 'Abort', reason: 'it takes the box from the others' });
    const abortMs = Math.round(performance.now() - begun);
    const problems: string[] = [];
    if (abort.status !== 200) problems.push(`Abort was answered ${abort.status}: ${abort.text}`);
    if (abortMs > ABORT_MS_MAX) problems.push(`Abort was answered after ${abortMs} ms`);
    if (flooded.p99Ms > Math.max(HEALTHZ_P99_MS_MAX, SLOWER_BY_CHANCE * quiet.p99Ms)) problems.push(`p99 of /healthz was ${flooded.p99Ms} ms, before the flood ${quiet.p99Ms} ms`);
    if (flooded.unanswered > 0) problems.push(`${flooded.unanswered} of ${flooded.probes} looks at /healthz were not answered`);
    for (const unit of OTHERS) {
      const before = quiet.scans.get(unit) ?? NO_SCANS;
      const { missed, done } = flooded.scans.get(unit) ?? NO_SCANS;
      const expected = (2 * before.missed * FLOOD_MS) / QUIET_MS + MISSED_SHARE_BY_CHANCE * (missed + done);
      if (missed > expected) problems.push(`${unit} missed ${missed} of ${missed + done} scans in the flood, ${before.missed} in the ${QUIET_MS / 1000} s before it`);
    }
    if (flooded.growthMB > GROWTH_MB_MAX) problems.push(`the memory grew by ${flooded.growthMB} MB`);
    const state = async (): Promise<string> => (await admin.get(`${SITE}/phases/${name}`)).body.state as string;
    await eventually('the phase is Aborted', async () => (await state()) === 'Aborted').catch(async () => problems.push(`the phase is ${await state()} after its Abort`));
    expect(200, await admin.post(`${SITE}/command`, { kind: 'Phase', name, command: 'Reset', reason: 'the flood is over again' }));
    await eventually('the unit is Idle', async () => (await admin.get(`${SITE}/units/${FLOODED}`)).body.state === 'Idle');
    const missed = OTHERS.map((unit) => `${unit} ${flooded.scans.get(unit)?.missed}`).join(', ');
    yield {
      what: `healthz p99 ${flooded.p99Ms} ms (quiet ${quiet.p99Ms}), Abort ${abortMs} ms, memory +${flooded.growthMB} MB, missed scans ${missed}`,
      problems: [...problems, ...(await bench.examine())],
    };
  }
}

interface Scans {
  readonly missed: number;
  readonly done: number;
}

const NO_SCANS: Scans = { missed: 0, done: 0 };

interface Watched {
  readonly probes: number;
  readonly unanswered: number;
  readonly p99Ms: number;
  /** Of each other unit. */
  readonly scans: ReadonlyMap<string, Scans>;
  /** The most that the process held above what it held before. */
  readonly growthMB: number;
}

/** Looks at the box for so long as everybody else sees it. */
async function watched(bench: Bench, forMs: number): Promise<Watched> {
  const { admin, box } = bench.story;
  const scansOf = async (unit: string): Promise<Scans> => {
    const { missed, scanCount } = (await admin.get(`${SITE}/units/${unit}/runtime/status`)).body as { missed: number; scanCount: number };
    return { missed, done: scanCount };
  };
  const before = new Map<string, Scans>();
  for (const unit of OTHERS) before.set(unit, await scansOf(unit));
  const heldMB = residentMB(box.pid);
  let mostMB = heldMB;
  let unanswered = 0;
  const tookMs: number[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const begun = performance.now();
    const answered = await fetch(`${box.base}/healthz`, { signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (!answered) unanswered += 1;
    tookMs.push(performance.now() - begun);
    mostMB = Math.max(mostMB, residentMB(box.pid));
    await pause(PROBE_EVERY_MS);
  }
  const scans = new Map<string, Scans>();
  for (const [unit, { missed, done }] of before) {
    const now = await scansOf(unit);
    scans.set(unit, { missed: now.missed - missed, done: now.done - done });
  }
  return { probes: tookMs.length, unanswered, p99Ms: Math.round(atShare(tookMs, 0.99)), scans, growthMB: mostMB - heldMB };
}

function residentMB(pid: number): number {
  const kB = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return Math.round(Number(kB) / 1024);
}

function atShare(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const MODES = 100;
const WRITES_QUIET = 50;
/** Of the writes among the changes: what the machine holds up, and not the changes. Those would hold up most of them. */
const LATE_SHARE_BY_CHANCE = 0.05;

/** One module changes its mode a hundred times in a row; writes to the same unit wait for none of it. */
export async function* modes(bench: Bench, rounds: number): AsyncIterable<Round> {
  await bench.start();
  await bench.story.unitsReady();
  const { admin } = bench.story;
  expect(200, await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' }));
  const write = async (value: number): Promise<number> => {
    const begun = performance.now();
    expect(200, await admin.post(`${SITE}/units/${FLOODED}/tags/tic101.sp`, { value }));
    return performance.now() - begun;
  };
  for (let round = 0; round < rounds; round += 1) {
    const quietMs: number[] = [];
    for (let n = 0; n < WRITES_QUIET; n += 1) quietMs.push(await write(20 + (n % 10)));
    let changing = true;
    const changes = (async () => {
      try {
        for (let n = 0; n < MODES; n += 1) {
          const mode = n % 2 === 0 ? 'Manual' : 'Automatic';
          expect(200, await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv101', mode }));
        }
      } finally {
        changing = false;
      }
    })();
    const busyMs: number[] = [];
    while (changing) busyMs.push(await write(20 + (busyMs.length % 10)));
    await changes;
    const quiet = Math.max(...quietMs);
    const busy = Math.max(...busyMs);
    const late = busyMs.filter((ms) => ms > quiet + 2 * SCAN_MS).length;
    const problems =
      late > LATE_SHARE_BY_CHANCE * busyMs.length
        ? [`${late} of ${busyMs.length} writes took up to ${Math.round(busy)} ms among the changes, ${Math.round(quiet)} ms at most without them`]
        : [];
    const what = `slowest of ${busyMs.length} writes ${Math.round(busy)} ms among ${MODES} changes of mode, ${Math.round(quiet)} ms without`;
    yield { what, problems: [...problems, ...(await bench.examine())] };
  }
}

const LOGINS = 60;
const JUDGED = 5; // failures that lock a name
/** The right one forgives the failures before it: four, and five more behind it. Whoever has entered learns nothing from them. */
const JUDGED_WITH_RIGHT = 4 + 1 + 5;

/** Somebody tries many passwords at once, one of them right: he learns no more than from five. */
export async function* logins(bench: Bench, rounds: number): AsyncIterable<Round> {
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) await bench.box.end(); // failures of an address are counted in memory, and a few rounds of them would be too many
    await bench.start();
    const { admin } = bench.story;
    const username = `guessed-${round}`;
    const account = { username, password: PASSWORD, displayName: username, groups: ['lineside-operator', 'lineside-site-demo'], mustChangePassword: false };
    expect(201, await admin.post('/api/v1/auth/users', account));
    const right = Math.floor(bench.random() * LOGINS);
    const login = (password: string) => bench.box.api.post('/api/v1/auth/login', { username, password });
    const answers = await Promise.all(Array.from({ length: LOGINS }, (_, index) => login(index === right ? PASSWORD : `wrong battery ${index}`)));
    const locked = answers.filter(({ body }) => body.code === 'account_locked');
    const entered = answers.filter(({ status }) => status === 200);
    const judged = answers.filter(({ status, body }) => status === 200 || body.code === 'invalid_credentials').length;
    const others = answers.filter((answer) => answer.status !== 200 && answer.body.code !== 'invalid_credentials' && answer.body.code !== 'account_locked');
    // what is left of the lock-out becomes less while they are answered
    const shapes = new Set(
      locked.map(
        ({ status, body }) => `${status} ${JSON.stringify({ ...body, error: body.error.replace(/\d+ s$/, 'some s'), correlationID: undefined, retryAfterSeconds: undefined })}`,
      ),
    );
    const problems: string[] = [];
    if (entered.length === 0 ? judged !== JUDGED : judged > JUDGED_WITH_RIGHT) problems.push(`${judged} of ${LOGINS} passwords were judged`);
    for (const { status, text } of others.slice(0, 1)) problems.push(`${others.length} were answered otherwise, as ${status} ${text.slice(0, 200)}`);
    if (shapes.size > 1) problems.push(`those behind the lock-out were answered in ${shapes.size} ways: ${[...shapes].join('; ')}`);
    const after = await login(PASSWORD);
    if (entered.length === 0 && after.body.code !== 'account_locked') problems.push(`after the lock-out the right password was answered ${after.status}`);
    yield { what: `the right password as number ${right + 1} of ${LOGINS}: ${judged} judged, ${entered.length === 0 ? 'not entered' : 'it was among them'}`, problems };
  }
}

const FIRST_ADMINS = 64;

/** The commissioning code serves once, however many use it in the same moment. */
export async function* firstAdmin(bench: Bench, rounds: number): AsyncIterable<Round> {
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = path.join(bench.work, `fresh-${round}`);
    mkdirSync(dataDir);
    const box = new ApplianceProcess(dataDir, await freePort(), { ...ENVIRONMENT, LINESIDE_DEMO__ENABLED: 'false' }, true);
    try {
      await box.start();
      yield await claimed(box);
    } finally {
      await box.end('SIGKILL');
    }
  }
}

async function claimed(box: ApplianceProcess): Promise<Round> {
  const code = await box.commissioningCode();
  const claim = (index: number) => box.api.post('/api/v1/auth/first-admin', { code, username: `admin-${index}`, password: PASSWORD });
  const answers = await Promise.all(Array.from({ length: FIRST_ADMINS }, (_, index) => claim(index)));
  const made = answers.flatMap(({ status }, index) => (status === 201 ? [`admin-${index}`] : []));
  const problems: string[] = made.length === 1 ? [] : [`${made.length} of ${FIRST_ADMINS} were made: ${made.join(', ')}`];
  for (const { status, text } of answers) if (status !== 201 && status !== 409) problems.push(`one was answered ${status}: ${text.slice(0, 200)}`);
  const users = await usersSeenBy(box.api, made[0]);
  if (users.join() !== made.join()) problems.push(`answered 201: ${made.join(', ')}; accounts there are: ${users.join(', ')}`);
  return { what: `${FIRST_ADMINS} at once, ${made.join(', ')} was made`, problems };
}

async function usersSeenBy(api: ApiClient, username: string | undefined): Promise<readonly string[]> {
  const login = expect(200, await api.post('/api/v1/auth/login', { username, password: PASSWORD }));
  const users = expect(200, await api.with(`Bearer ${login.body.accessToken}`).get('/api/v1/auth/users'));
  return (users.body as { username: string }[]).map((user) => user.username);
}

/** What has to work before anything can be judged. */
function expect(status: number, answer: ApiAnswer): ApiAnswer {
  if (answer.status !== status) throw new Error(`${answer.status} in place of ${status}: ${answer.text}`);
  return answer;
}
