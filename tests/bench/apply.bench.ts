/**
 * A plant of 1,000 manifests in one transaction, by the command line as an engineer gives it (`lineside apply -f plant/`), on a box as
 * shipped: it takes at most 5 s from the start of the command to its end, and who reads meanwhile notices little. Then the same files
 * again, of which nothing differs, and a dry run of files in which each manifest differs.
 *
 * The plant is the premix vessel of the demonstration plant, its modules and two alarms for each of them, as often as it takes, on top of what
 * they share. Another process reads one resource 200 times a second, signed in, in an open loop (`open-loop.ts`). Its p99 while the
 * request is at the box (a proxy on the loopback notes when it comes and when it is answered) is held against that of the seconds before
 * it, in which the box does what it does anyway: judged is the median of the rounds, each with a box of its own.
 * By hand `MANIFESTS=300` and `ROUNDS=1` for less.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inside } from '../../src/platform/base/assert.js';
import { yamlText } from '../../src/platform/base/yaml.js';
import { eventually } from '../support/api-client.js';
import { least, median, quantile, tell, verdict } from './judge.js';
import { monoMs, OpenLoop, type Sample } from './open-loop.js';
import { demoManifests, firstAdministrator, type Manifest, productBox } from './product-box.js';

const MANIFESTS = Number(process.env.MANIFESTS ?? 1000);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const READS_PER_SECOND = 200;
const IDLE_MS = 4000;
const TAKES_MAX_MS = 5000;
const RATIO_MAX = 2;
const SITE = '/api/v1/sites/demo';

// ---------------------------------------------------------------- the plant

const demo = demoManifests();
const named = (kind: string, name: string): Manifest =>
  inside(
    demo.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name),
    0,
    `the demonstration plant has ${kind} ${name}`,
  );
const SHARED = ['Enterprise', 'Site', 'Area', 'ProcessCell', 'Controller', 'FunctionBlockType', 'ControlModuleTemplate', 'SimulationPreset', 'PhaseTemplate'];
const shared = demo.filter(({ kind }) => SHARED.includes(kind));

type Watch = Readonly<Record<string, string>>;
/** Two alarms for each module, by its template; a plant of 50 units, as most boxes take, has 1,000 manifests then. */
const MEASURED: readonly Watch[] = [
  { conditionType: 'TagHigh', tagName: 'pv', threshold: '95', deadband: '1' },
  { conditionType: 'TagLow', tagName: 'pv', threshold: '-1', deadband: '1' },
];
const SWITCHED: readonly Watch[] = [
  { conditionType: 'TagTrue', tagName: 'fault' },
  { conditionType: 'TagTrue', tagName: 'interlock' },
];
const WATCHED: Readonly<Record<string, readonly Watch[]>> = { 'analog-tx': MEASURED, 'flow-totalizer': MEASURED, 'on-off-valve': SWITCHED, motor: SWITCHED };

/** Of a module by its name in the demonstration plant. */
function alarmOf(module: string, watch: Watch, unit: string): Manifest {
  const { apiVersion, kind, metadata, spec } = named('AlarmDefinition', 'xv101-fault');
  const name = `${module}-${unit}-${watch.conditionType?.toLowerCase()}-${watch.tagName}`;
  return { apiVersion, kind, metadata: { ...metadata, name }, spec: { ...spec, ...watch, sourceName: module, message: `${module} of ${unit}: ${watch.tagName}` } };
}

/** A vessel under names of its own, with its I/O module, modules and their alarms. */
function vessel(number: number): Manifest[] {
  const unit = `u${String(number).padStart(3, '0')}`;
  const modules = demo.filter(({ kind, spec }) => kind === 'ControlModule' && spec.parentName === 'mx101');
  const own = new Map([['mx101', unit], ['io-mx101', `io-${unit}`], ...modules.map(({ metadata: { name } }) => [name, `${name}-${unit}`] as const)]);
  const alarms = modules.flatMap(({ metadata: { name }, spec }) => (WATCHED[String(spec.templateRef)] ?? []).map((watch) => alarmOf(name, watch, unit)));
  return [named('IOModule', 'io-mx101'), named('Unit', 'mx101'), ...modules, ...alarms].map((manifest) => renamed(manifest, own));
}

/** Names, and what speaks of them: `li111`, `li111.hh` of a module and `io-mx101:lt111` of a channel, which keeps its own. */
function renamed(manifest: Manifest, own: ReadonlyMap<string, string>): Manifest {
  const isIo = manifest.kind === 'IOModule';
  const text = JSON.stringify(manifest).replace(/"([a-z0-9-]+)([.:][^"]*)?"/g, (all, name: string, rest = '') => {
    const next = isIo && name !== 'io-mx101' ? undefined : own.get(name);
    return next === undefined ? all : `"${next}${rest}"`;
  });
  return JSON.parse(text) as Manifest;
}

/** As an engineer keeps it: a file of what is shared, and one for each vessel. */
function plantFiles(folder: string, changed = false): void {
  mkdirSync(folder);
  const manifests = [...shared];
  for (let number = 1; manifests.length < MANIFESTS; number += 1) manifests.push(...vessel(number).slice(0, MANIFESTS - manifests.length));
  const said = manifests.map((each) => (changed ? { ...each, metadata: { ...each.metadata, labels: { plant: 'bench' } } } : each));
  for (let from = 0, file = 0; from < said.length; from += 14, file += 1)
    writeFileSync(
      path.join(folder, `${String(file).padStart(3, '0')}.yaml`),
      said
        .slice(from, from + 14)
        .map(yamlText)
        .join('---\n'),
    );
}

// ---------------------------------------------------------------- the request

/** Passes everything on, and notes when the request was at the box. */
interface Watched {
  readonly url: string;
  /** Begin of the last request and end of its answer, ms of `monoMs`. */
  readonly window: () => { readonly fromMs: number; readonly toMs: number };
  close(): void;
}

async function watched(port: number): Promise<Watched> {
  let [fromMs, toMs] = [Number.NaN, Number.NaN];
  const server = net.createServer((client) => {
    const box = net.connect({ port, host: '127.0.0.1', noDelay: true });
    let isApply = false;
    client.on('data', (bytes) => {
      if (bytes.toString('latin1', 0, 20).startsWith('POST /api/v1/apply')) {
        isApply = true;
        fromMs = monoMs();
      }
      box.write(bytes);
    });
    box.on('data', (bytes) => {
      if (isApply) toMs = monoMs();
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, box],
      [box, client],
    ] as const) {
      one.on('end', () => other.end());
      one.on('error', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, window: () => ({ fromMs, toMs }), close: () => server.close() };
}

// ---------------------------------------------------------------- the run

const WORK = ['created', 'again, unchanged', 'dry run, all changed'] as const;
type Work = (typeof WORK)[number];

interface Measured {
  /** The command from its start to its end. */
  readonly commandMs: number;
  /** Of that, the request at the box. */
  readonly requestMs: number;
  readonly during: readonly number[];
  readonly idle: readonly number[];
}

async function round(folder: string): Promise<ReadonlyMap<Work, Measured>> {
  const box = await productBox();
  const made: { readonly close: () => void }[] = [];
  try {
    await box.start();
    const proxy = await watched(box.port);
    made.push(proxy);
    const engineer = await firstAdministrator(box, proxy.url);
    made.push({ close: () => engineer.remove() });
    await engineer.run('apply', '-f', path.join(folder, 'site'));
    const loop = new OpenLoop({ port: box.port, path: SITE, credential: engineer.credential, perSecond: READS_PER_SECOND });
    await pause(1000);
    const noted: { readonly work: Work; readonly idleMs: number; readonly commandMs: number; readonly fromMs: number; readonly toMs: number }[] = [];
    for (const work of WORK) {
      const idleMs = monoMs();
      await pause(IDLE_MS);
      const beganMs = monoMs();
      await engineer.run('apply', '-f', path.join(folder, work === 'dry run, all changed' ? 'changed' : 'plant'), ...(work === 'dry run, all changed' ? ['--dry-run'] : []));
      noted.push({ work, idleMs, commandMs: monoMs() - beganMs, ...proxy.window() });
      if (work === 'created')
        await eventually('all units scan', async () =>
          ((await box.api.with(engineer.credential).get(`${SITE}/units`)).body as { readonly runtimeReady: boolean }[]).every((unit) => unit.runtimeReady),
        );
    }
    const samples = await loop.stop();
    return new Map(
      noted.map(({ work, idleMs, commandMs, fromMs, toMs }) => [
        work,
        { commandMs, requestMs: toMs - fromMs, during: between(samples, fromMs, toMs), idle: between(samples, idleMs, idleMs + IDLE_MS) },
      ]),
    );
  } catch (fault) {
    console.log(box.output.slice(-3000));
    throw fault;
  } finally {
    for (const each of made) each.close();
    await box.end();
    box.remove();
  }
}

function between(samples: readonly Sample[], fromMs: number, toMs: number): readonly number[] {
  return samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ ms }) => ms);
}

function report(rounds: readonly ReadonlyMap<Work, Measured>[]): void {
  console.log(`${MANIFESTS} manifests, ${ROUNDS} boxes; ${READS_PER_SECOND} reads/s from their intended times; medians of the rounds (min..max)`);
  for (const work of WORK) {
    const of = rounds.map((each) =>
      inside(
        [each.get(work)].flatMap((one) => one ?? []),
        0,
        'each round does all',
      ),
    );
    const takes = of.map(({ commandMs }) => commandMs);
    const ratios = of.map(({ during, idle }) => quantile(during, 0.99) / quantile(idle, 0.99));
    const [during, idle] = [of.flatMap((each) => each.during), of.flatMap((each) => each.idle)];
    const figures = (values: readonly number[], digits: number): string =>
      `${median(values).toFixed(digits)} (${least(values).toFixed(digits)}..${Math.max(...values).toFixed(digits)})`;
    console.log(`\n${work}`);
    console.log(`  the command            ${figures(takes, 0)} ms (at most ${TAKES_MAX_MS}) ${verdict(median(takes) <= TAKES_MAX_MS)}`);
    console.log(
      `  of it at the box       ${figures(
        of.map(({ requestMs }) => requestMs),
        0,
      )} ms`,
    );
    console.log(`  reads at rest, all     p50 ${quantile(idle, 0.5).toFixed(2)}, p99 ${quantile(idle, 0.99).toFixed(2)}, max ${Math.max(...idle).toFixed(1)} ms of ${idle.length}`);
    console.log(
      `  reads meanwhile, all   p50 ${quantile(during, 0.5).toFixed(2)}, p99 ${quantile(during, 0.99).toFixed(2)}, max ${Math.max(...during).toFixed(1)} ms of ${during.length}`,
    );
    console.log(`  p99 meanwhile / rest   ${figures(ratios, 2)} (at most ${RATIO_MAX}) ${verdict(median(ratios) <= RATIO_MAX)}`);
    tell(`${work}: the command, ms`, median(takes));
    tell(`${work}: reads meanwhile, p99, x that at rest`, median(ratios));
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-plant-'));
try {
  mkdirSync(path.join(folder, 'site'));
  writeFileSync(
    path.join(folder, 'site', 'site.yaml'),
    demo
      .filter(({ kind }) => ['Enterprise', 'Site'].includes(kind))
      .map(yamlText)
      .join('---\n'),
  );
  plantFiles(path.join(folder, 'plant'));
  plantFiles(path.join(folder, 'changed'), true);
  const rounds: ReadonlyMap<Work, Measured>[] = [];
  for (let n = 0; n < ROUNDS; n += 1) rounds.push(await round(folder));
  report(rounds);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
