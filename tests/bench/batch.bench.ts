/**
 * Fifty batches on fifty simulated units in one process at scans of 100 ms, while callers read and commands are given.
 * The plant is the premix vessel of the demonstration plant, fifty times over, made by apply; the appliance is its own
 * process, the callers are this one. By hand `UNITS=10` or `SECONDS_OF_RUN=15` for a smaller run.
 *
 * Measured while all run: scans missed, from the diagnostics of every unit; reads through the gateway; memory of the process
 * per running unit; and from the audit record with which the gateway accepts a command to the scan in which the state of the
 * phase changes. That last figure counts scans: the counter and the wall time of its newest scan that a unit publishes say
 * which scan was the newest at the acceptance, and which one the phase names as the moment of its change. 1 is the next scan.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MANIFESTS_MAX } from '../../src/domains/apply/manifest.js';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { tell, verdict } from './judge.js';
import { at } from '../support/at.js';

const UNITS = Number(process.env.UNITS ?? 50);
const WINDOW_MS = Number(process.env.SECONDS_OF_RUN ?? 60) * 1000;
const SCAN_MS = 100;
const READERS = 8;
/** All readers together: the load of the reference plant. */
const READS_PER_SECOND = 200;
const SITE = '/api/v1/sites/demo';

const MISSED_MAX = 0.001;
const READ_P99_MS_MAX = 50;
/** A scan thread; what the unit, its batch and its values need elsewhere in the process comes on top. */
const UNIT_MB_MAX = 7;
const COMMAND_SCANS_MAX = 2;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Counter {
  readonly scanCount: number;
  readonly lastScanAt: string;
}

const unitNames = Array.from({ length: UNITS }, (_, index) => `u${String(index + 1).padStart(2, '0')}`);

// ---------------------------------------------------------------- the plant

const DEMO = fileURLToPath(new URL('../../demo/', import.meta.url));
const demo = readdirSync(DEMO)
  .sort()
  .flatMap((file) => JSON.parse(readFileSync(path.join(DEMO, file), 'utf8')) as Manifest[]);
const named = (kind: string, name: string): Manifest =>
  demo.find((manifest) => manifest.kind === kind && manifest.metadata.name === name) ?? raise(`the demonstration plant has no ${kind} ${name}`);

function raise(message: string): never {
  throw new Error(message);
}

/** What all units share: hierarchy, controller, control-module and phase templates, and a recipe for one unit. */
function common(): Manifest[] {
  const kinds = ['Enterprise', 'Site', 'Area', 'ProcessCell', 'Controller', 'FunctionBlockType', 'ControlModuleTemplate', 'SimulationPreset', 'PhaseTemplate'];
  const site = (apiVersion: string, kind: string, name: string, spec: Manifest['spec']): Manifest => ({ apiVersion, kind, metadata: { name, namespace: 'site-demo' }, spec });
  const step = (name: string, template: string, bindings: unknown[], roleMap: unknown, initial = false) => ({
    name,
    templateRef: template,
    templateKind: 'PhaseTemplate',
    stepLevel: 'Phase',
    parameterBindings: bindings,
    roleMap,
    ...(initial ? { initial } : {}),
  });
  const round = (n: number, mixSeconds: string) => [
    step(`charge${n}`, 'charge', [{ name: 'amount', value: '8' }], { inlet: 'solventInlet', flow: 'chargeFlow' }, n === 1),
    step(`mix${n}`, 'mix', [{ name: 'duration', value: mixSeconds }], {}),
    step(`drain${n}`, 'drain', [], {}),
  ];
  const [op, up] = [named('OperationTemplate', 'premix'), named('UnitProcedureTemplate', 'prepare-premix')];
  const recipe = named('MasterRecipe', 'clean-train');
  const charted = (steps: unknown[]) => ({ steps, transitions: [], divergences: [] });
  return [
    ...demo.filter(({ kind }) => kinds.includes(kind)),
    site(op.apiVersion, 'OperationTemplate', 'bench-op', {
      description: 'Fills, mixes and drains',
      category: 'process',
      parameters: [],
      outputs: [],
      timeoutSeconds: 0,
      chart: charted([...round(1, '6'), ...round(2, '6'), ...round(3, '3600')]),
    }),
    site(up.apiVersion, 'UnitProcedureTemplate', 'bench-up', {
      description: 'One vessel at work',
      category: 'process',
      parameters: [],
      outputs: [],
      timeoutSeconds: 0,
      chart: charted([{ name: 'work', templateRef: 'bench-op', templateKind: 'OperationTemplate', stepLevel: 'Operation', parameterBindings: [], initial: true }]),
    }),
    site(recipe.apiVersion, 'MasterRecipe', 'bench', {
      ...recipe.spec,
      productID: 'BENCH',
      productName: 'Bench',
      equipmentRequirements: [{ capability: 'bench', description: 'Vessel', defaultUnit: unitNames[0] }],
      formulas: [{ name: 'standard', default: true, description: '', parameters: [] }],
      procedure: {
        chart: charted([
          {
            name: 'vessel',
            templateRef: 'bench-up',
            templateKind: 'UnitProcedureTemplate',
            stepLevel: 'UnitProcedure',
            targetCapability: 'bench',
            parameterBindings: [],
            initial: true,
          },
        ]),
      },
    }),
  ];
}

/** The premix vessel with its I/O module and control modules under names of its own; it drains without its pump. */
function vessel(name: string): Manifest[] {
  const modules = demo.filter(({ kind, spec }) => kind === 'ControlModule' && spec.parentName === 'mx101');
  const number = name.slice(1);
  const text = JSON.stringify([named('IOModule', 'io-mx101'), named('Unit', 'mx101'), ...modules])
    .replaceAll('"mx101"', `"${name}"`)
    .replaceAll('io-mx101', `io-${name}`)
    .replaceAll('[p111.run], ', '')
    .replaceAll('"premix"', '"bench"');
  return (JSON.parse(text) as Manifest[]).map((manifest) =>
    manifest.kind === 'ControlModule' ? (JSON.parse(renamed(manifest, number)) as Manifest) : manifest.kind === 'Unit' ? rolesOf(manifest, number) : manifest,
  );
}

/** `xv111` of the demonstration plant becomes `xv111-07`, also where another module is read. */
function renamed(manifest: Manifest, number: string): string {
  const bindings = manifest.spec.inputBindings as readonly { readonly name: string; readonly source: string }[] | undefined;
  const spec = { ...manifest.spec, ...(bindings ? { inputBindings: bindings.map(({ name, source }) => ({ name, source: source.replace('.', `-${number}.`) })) } : {}) };
  return JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, name: `${manifest.metadata.name}-${number}` }, spec });
}

function rolesOf(manifest: Manifest, number: string): Manifest {
  const roles = manifest.spec.roleBindings as readonly { readonly role: string; readonly controlModule: string }[];
  return { ...manifest, spec: { ...manifest.spec, roleBindings: roles.map(({ role, controlModule }) => ({ role, controlModule: `${controlModule}-${number}` })) } };
}

async function apply(api: ApiClient, manifests: readonly Manifest[]): Promise<void> {
  for (let from = 0; from < manifests.length; from += MANIFESTS_MAX) ok(await api.post('/api/v1/apply', manifests.slice(from, from + MANIFESTS_MAX)), 'apply');
}

function ok<Answer extends { readonly status: number; readonly text: string }>(answer: Answer, what: string): Answer {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 600)}`);
  return answer;
}

async function build(api: ApiClient): Promise<void> {
  await apply(api, unitNames.flatMap(vessel));
  await eventually(
    'all units scan and all inputs are measured',
    async () => {
      const units = (await api.get(`${SITE}/units`)).body as { readonly runtimeReady: boolean }[];
      const modules = (await api.get(`${SITE}/iomodules`)).body as { readonly connectivity: { readonly verdict: string } }[];
      return (
        units.length === UNITS && units.every((unit) => unit.runtimeReady) && modules.length === UNITS && modules.every(({ connectivity }) => connectivity.verdict === 'measured')
      );
    },
    120_000,
    200,
  );
}

/** @returns the name of the batch on each unit. */
async function startBatches(api: ApiClient): Promise<string[]> {
  const batches = await Promise.all(
    unitNames.map(
      async (unit) => ok(await api.post(`${SITE}/batches`, { batchID: `B-${unit}`, masterRecipeRef: 'bench', equipment: { bench: unit } }), `batch of ${unit}`).body.name as string,
    ),
  );
  await Promise.all(batches.map(async (name) => ok(await api.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Start' }), `Start of ${name}`)));
  await eventually('all batches run', async () => (await running(api)).length === UNITS, 60_000, 100);
  return batches;
}

async function running(api: ApiClient): Promise<unknown[]> {
  return ((await api.get(`${SITE}/batches`)).body as { readonly phase: string }[]).filter(({ phase }) => phase === 'Running');
}

// ---------------------------------------------------------------- figures

interface Scans {
  readonly count: number;
  readonly missed: number;
  readonly overruns: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

function scansOf(api: ApiClient): Promise<Scans[]> {
  return Promise.all(unitNames.map(async (unit) => ok(await api.get(`${SITE}/units/${unit}/runtime/diagnostics`), `diagnostics of ${unit}`).body.scan as Scans));
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** CPU of the threads of the process by their role, in ms. */
function cpuByThread(pid: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      const role =
        task === String(pid)
          ? 'main'
          : readFileSync(`/proc/${pid}/task/${task}/sched`, 'utf8').includes('prio                                         :                   89')
            ? 'scan'
            : 'other';
      const ms = Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
      found.set(role, (found.get(role) ?? 0) + ms);
    } catch {
      // the thread has ended
    }
  }
  return found;
}

function quantile(values: readonly number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
}

// ---------------------------------------------------------------- callers

/** Reads until told to stop, each reader at its share of the rate; a reader that falls behind does not catch up. */
async function readers(base: string, paths: readonly string[], stop: AbortSignal): Promise<Map<string, number[]>> {
  const agent = new Agent({ keepAlive: true, maxSockets: READERS });
  const took = new Map<string, number[]>();
  const everyMs = (READERS * 1000) / READS_PER_SECOND;
  await Promise.all(
    Array.from({ length: READERS }, async (_, reader) => {
      await pause((everyMs * reader) / READERS);
      for (let n = reader; !stop.aborted; n += READERS) {
        const began = performance.now();
        const route = at(paths, n % paths.length);
        const status = await read(base + route, agent);
        const ms = performance.now() - began;
        if (status !== 200) throw new Error(`${route}: ${status}`);
        const kind = route.replace(/\/(u\d\d|B-[^/]*|b-[^/]*)(?=\/|$)/, '/{name}').replace(SITE, '');
        took.set(kind, [...(took.get(kind) ?? []), ms]);
        await pause(Math.max(0, everyMs - ms));
      }
    }),
  );
  agent.destroy();
  return took;
}

function read(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

interface Answered {
  readonly command: string;
  /** From the scan that was the newest when the command was accepted. */
  readonly scans: number;
  readonly sinceSentMs: number;
}

/** Hold, Restart, Pause and Resume of one batch after the other, each waited for at its phase. */
async function commander(api: ApiClient, batches: readonly string[], stop: AbortSignal): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (let n = 0; !stop.aborted; n += 1) {
    const index = n % batches.length;
    for (const [command, state, rest] of n % 2 === 0 ? ROUND_OF_HOLD : ROUND_OF_PAUSE) {
      const found = await answerOf(api, at(batches, index), at(unitNames, index), command, state, rest);
      if (found) answered.push(found);
    }
  }
  return answered;
}

/** The state that the phase enters first, and the one it comes to rest in. */
const ROUND_OF_HOLD = [
  ['Hold', 'Holding', 'Held'],
  ['Restart', 'Restarting', 'Running'],
] as const;
const ROUND_OF_PAUSE = [
  ['Pause', 'Pausing', 'Paused'],
  ['Resume', 'Running', 'Running'],
] as const;

interface PhaseState {
  readonly name: string;
  readonly batch: string;
  readonly state: string;
}

async function answerOf(api: ApiClient, batch: string, unit: string, command: string, first: string, rest: string): Promise<Answered | undefined> {
  const phaseOf = async (): Promise<PhaseState | undefined> =>
    ((await api.get(`${SITE}/phases?batch=${batch}`)).body as PhaseState[]).find((phase) => phase.batch === batch && !['Idle', 'Complete'].includes(phase.state));
  const phase = await phaseOf();
  const isAt = async (wanted: string): Promise<boolean> => (await api.get(`${SITE}/batches/${batch}`)).body.phase === wanted;
  // between two phases nothing can be measured, but a batch that was held there must go on
  if (!phase && (rest !== 'Running' || (await isAt(rest)))) return undefined;
  const sentAtMs = Date.now();
  const answer = await api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command, reason: 'asked for by the bench' });
  ok(answer, `${command} of ${batch}`);
  const atRest = (): Promise<boolean> => eventually(`${batch} has come to rest`, () => isAt(rest), 20_000, 25);
  if (!phase) {
    await atRest();
    return undefined;
  }
  const changed = await eventually(
    `${phase.name} is ${first} after ${command}`,
    // it may have ended before the command was sent, and been reported after it was looked at
    async () => (await stateEntries(api, batch, phase.name, first, sentAtMs))[0] ?? ((await phaseOf())?.name !== phase.name && 'was over'),
    20_000,
    25,
  );
  await atRest();
  if (changed === 'was over') return undefined;
  const accepted = await eventually(
    'the acceptance is on record',
    async () => {
      const records = (await api.get(`${SITE.replace(/\/sites.*/, '')}/sites/demo/audit/correlation/${answer.headers.get('x-correlation-id')}`)).body as {
        readonly result: string;
        readonly timestamp: string;
      }[];
      return records.find((record) => record.result === 'Accepted');
    },
    10_000,
    25,
  );
  const counter = (await api.get(`${SITE}/units/${unit}/runtime/status`)).body as Counter;
  const changedAtMs = Date.parse(changed);
  return { command, scans: scanAt(counter, changedAtMs) - newestScanAt(counter, Date.parse(accepted.timestamp)), sinceSentMs: changedAtMs - sentAtMs };
}

/** Number of the scan that began at the given wall time, which is a scan's own. */
function scanAt({ scanCount, lastScanAt }: Counter, atMs: number): number {
  return scanCount - Math.round((Date.parse(lastScanAt) - atMs) / SCAN_MS);
}

/** Number of the newest scan that had begun at a wall time. */
function newestScanAt({ scanCount, lastScanAt }: Counter, atMs: number): number {
  return scanCount - Math.ceil((Date.parse(lastScanAt) - atMs) / SCAN_MS);
}

async function stateEntries(api: ApiClient, batch: string, phase: string, state: string, sinceMs: number): Promise<string[]> {
  const events = (await api.get(`${SITE}/batches/${batch}/events?limit=20&order=desc`)).body.items as {
    readonly ts: string;
    readonly eventSubType: string;
    readonly value: string;
    readonly element: { readonly name: string };
  }[];
  return events
    .filter((event) => event.eventSubType === 'State Change' && event.element.name === phase && event.value === state && Date.parse(event.ts) >= sinceMs)
    .map(({ ts }) => ts);
}

// ---------------------------------------------------------------- the run

function goal(name: string, measured: number, unit: string, max: number, digits: number, figure = name): void {
  tell(`${figure}, ${unit}`, measured);
  console.log(`${name.padEnd(44)} ${measured.toFixed(digits).padStart(8)} ${unit.padEnd(5)} (at most ${max}) ${verdict(measured <= max)}`);
}

async function run(box: ApplianceProcess): Promise<void> {
  const { api } = box;
  await apply(api, common());
  for (const step of ['approve', 'release', 'activate']) ok(await api.post(`${SITE}/recipes/master/bench/${step}`, { reason: 'for the bench' }), step);
  const emptyMb = residentMb(box.pid);
  await build(api);
  const idleMb = residentMb(box.pid);
  const batches = await startBatches(api);
  const before = await scansOf(api);
  const cpuBefore = cpuByThread(box.pid);
  const beganMs = performance.now();
  const end = new AbortController();
  const paths = unitNames.flatMap((unit, index) => [
    `${SITE}/batches/${batches[index]}`,
    `${SITE}/units/${unit}`,
    `${SITE}/units/${unit}/tags`,
    `${SITE}/units/${unit}/runtime/status`,
    ...(index % 10 === 0 ? [`${SITE}/batches`, `${SITE}/phases`, `${SITE}/units`, `${SITE}/prompts`] : []),
  ]);
  const timer = setTimeout(() => end.abort(), WINDOW_MS);
  const [took, answered] = await Promise.all([readers(box.base, paths, end.signal), commander(api, batches, end.signal)]);
  clearTimeout(timer);
  const windowMs = performance.now() - beganMs;
  const cpuAfter = cpuByThread(box.pid);
  const after = await scansOf(api);
  const still = (await running(api)).length;
  const runMb = residentMb(box.pid);
  report({ windowMs, before, after, took, answered, still, emptyMb, idleMb, runMb, cpu: new Map([...cpuAfter].map(([role, ms]) => [role, ms - (cpuBefore.get(role) ?? 0)])) });
}

interface Measured {
  readonly windowMs: number;
  readonly before: readonly Scans[];
  readonly after: readonly Scans[];
  readonly took: ReadonlyMap<string, readonly number[]>;
  readonly answered: readonly Answered[];
  readonly still: number;
  readonly emptyMb: number;
  readonly idleMb: number;
  readonly runMb: number;
  readonly cpu: ReadonlyMap<string, number>;
}

function report({ windowMs, before, after, took, answered, still, emptyMb, idleMb, runMb, cpu }: Measured): void {
  const sum = (scans: readonly Scans[], of: 'count' | 'missed' | 'overruns'): number => scans.reduce((total, scan) => total + scan[of], 0);
  const count = sum(after, 'count') - sum(before, 'count');
  const missed = sum(after, 'missed') - sum(before, 'missed');
  const reads = [...took.values()].flat();
  console.log(`${UNITS} batches on ${UNITS} units for ${(windowMs / 1000).toFixed(0)} s; ${still} of them run at the end`);
  console.log(`CPU of the process, % of one core: ${[...cpu].map(([role, ms]) => `${role} ${((ms / windowMs) * 100).toFixed(1)}`).join(', ')}`);
  console.log(
    `${count} scans, ${missed} missed, ${sum(after, 'overruns') - sum(before, 'overruns')} overruns; slowest unit's scan p99 ${Math.max(...after.map((scan) => scan.p99Ms)).toFixed(2)} ms`,
  );
  goal('scans missed', (missed / (count + missed)) * 100, '%', MISSED_MAX * 100, 3);
  for (const [kind, ms] of took)
    console.log(`  ${kind.padEnd(30)} ${String(ms.length).padStart(6)} reads, p50 ${quantile(ms, 0.5).toFixed(1)}, p99 ${quantile(ms, 0.99).toFixed(1)} ms`);
  goal(`reads, p99 of ${reads.length} (${(reads.length / (windowMs / 1000)).toFixed(0)}/s)`, quantile(reads, 0.99), 'ms', READ_P99_MS_MAX, 1, 'reads, p99');
  console.log(`resident ${emptyMb.toFixed(0)} MB without units, ${idleMb.toFixed(0)} MB with ${UNITS} idle ones, ${runMb.toFixed(0)} MB at the end`);
  goal('memory per running unit', (runMb - emptyMb) / UNITS, 'MB', UNIT_MB_MAX, 1);
  histogram(answered);
  if (still !== UNITS) {
    console.log('not every batch ran to the end of the window');
    process.exitCode = 1;
  }
}

function histogram(answered: readonly Answered[]): void {
  const scans = answered.map((one) => one.scans);
  console.log(`${answered.length} commands, from the record of their acceptance to the scan that changes the phase:`);
  for (let n = Math.min(...scans); n <= Math.max(...scans); n += 1) {
    const here = scans.filter((one) => one === n).length;
    console.log(`  ${String(n).padStart(3)} scans ${String(here).padStart(5)} ${'#'.repeat(Math.ceil((here / scans.length) * 60))}`);
  }
  for (const command of new Set(answered.map((one) => one.command))) {
    const own = answered.filter((one) => one.command === command);
    console.log(
      `  ${command.padEnd(8)} median ${quantile(
        own.map((one) => one.scans),
        0.5,
      )} scans, ${quantile(
        own.map((one) => one.sinceSentMs),
        0.5,
      )} ms since it was sent`,
    );
  }
  goal('command to change of the phase, median', quantile(scans, 0.5), 'scans', COMMAND_SCANS_MAX, 0);
}

const box = await applianceProcess({
  environment: { LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false', LINESIDE_AUTH__MODE: 'none', LINESIDE_LOG_LEVEL: 'warn' },
});
try {
  await box.start();
  await run(box);
} catch (fault) {
  console.log(box.output.slice(0, 3000));
  throw fault;
} finally {
  await box.end();
  box.remove();
}
