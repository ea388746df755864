/**
 * What each domain and each protocol costs the box: memory, processor, time to start, bytes in the data directory, size in the package.
 * `costs-standing.ts` has what costs by being there, `costs-loads.ts` what costs by being asked for; both say at which load. It writes
 * docs/reference/costs.md when all of it was measured. Words on the command line choose rows and write nothing; `ROUNDS=1` for a look.
 * A folder that `COSTS_DIR` names is kept, with the data directories that take minutes to make, and measured again where it is there.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { assert } from '../../src/platform/base/assert.js';
import type { ApplianceProcess } from '../support/appliance-process.js';
import { atWork, firstPerson, folderKb, person, processorMs, residentMb, share } from './costs-box.js';
import { LOADS, type LoadCase, prepareForLoads } from './costs-loads.js';
import { type CodeRow, codeTable, type Figure, type LoadRow, loadTable, page, type StandingRow, standingTable } from './costs-page.js';
import { type Peers, STANDING, type StandingCase, startPeers } from './costs-standing.js';
import { at } from '../support/at.js';
import { median, tell, verdict } from './judge.js';
import { productBox } from './product-box.js';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** After the last start: code is compiled, what was stored is verified, first collections are done. */
const SETTLE_MS = 30_000;
const WINDOW_MS = 10_000;
const LOAD_SETTLE_MS = 1500;
const LOAD_WINDOW_MS = 5000;
const PAST_MS = 5000;
/** A little above what the documents promise (operations/sizing.md), so that a part that has grown is told. */
const UNIT_MB_MAX = 15;
const BOX_MB_MAX = 150;
const BOX_MS_PER_SECOND_MAX = 50;

const words = process.argv.slice(2);
const isChosen = (what: string): boolean => words.length === 0 || words.some((word) => what.includes(word));

interface Look {
  readonly memoryMb: number;
  readonly msPerSecond: number;
  /** Of the processor, all threads together, until the box is ready. */
  readonly startMs: number;
}

/** Median of the differences, by the number, and half of what lies between the extremes. */
function figure(differences: readonly number[], count: number): Figure {
  const each = differences.map((difference) => difference / count);
  return { value: median(each), noise: (Math.max(...each) - Math.min(...each)) / 2 };
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

// ---------------------------------------------------------------- by being there

interface Prepared {
  readonly one: StandingCase;
  readonly dataDir: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly dataKb: number;
  readonly looks: Look[];
}

async function prepared(one: StandingCase, folder: string, peers: Peers): Promise<Prepared> {
  const dataDir = path.join(folder, one.name);
  const settings = one.settings?.(peers) ?? {};
  if (existsSync(dataDir) && !one.isOfRun) return { one, dataDir, settings, dataKb: folderKb(dataDir), looks: [] };
  rmSync(dataDir, { recursive: true, force: true });
  const box = await productBox(settings, dataDir);
  try {
    await box.start();
    await one.prepare(await firstPerson(box), peers);
    await pause(PAST_MS);
  } catch (fault) {
    throw new Error(`${one.name}: ${(fault as Error).message}\n${box.output.slice(-2000)}`);
  } finally {
    await box.end();
  }
  return { one, dataDir, settings, dataKb: folderKb(dataDir), looks: [] };
}

/** All of them at the same time: they are started one after the other, and looked at together when the last one has come to rest. */
async function looked(all: readonly Prepared[]): Promise<void> {
  const boxes: { readonly each: Prepared; readonly box: ApplianceProcess; readonly startMs: number }[] = [];
  try {
    for (const each of all) {
      const box = await productBox(each.settings, each.dataDir);
      await box.start();
      boxes.push({ each, box, startMs: processorMs(box.pid) });
      await atWork(await person(box));
    }
    await pause(SETTLE_MS);
    const looks = await Promise.all(boxes.map(async ({ box, startMs }) => ({ startMs, msPerSecond: await share(box.pid, WINDOW_MS), memoryMb: await residentMb(box.pid) })));
    boxes.forEach(({ each }, n) => {
      const look = at(looks, n);
      each.looks.push(look);
      progress(`round ${each.looks.length} ${each.one.name}: ${JSON.stringify(look)}`);
    });
  } finally {
    await Promise.all(boxes.map(({ box }) => box.end()));
  }
}

async function standing(folder: string): Promise<StandingRow[]> {
  const needed = new Set<string>();
  for (const { name, what, beyond } of [...STANDING].reverse())
    if (isChosen(what) || needed.has(name)) {
      needed.add(name);
      if (beyond !== undefined) needed.add(beyond);
    }
  const peers = await startPeers();
  const all = new Map<string, Prepared>();
  try {
    for (const one of STANDING) {
      if (!needed.has(one.name) || one.needs?.(peers) !== undefined) continue;
      progress(`prepare ${one.name}`);
      all.set(one.name, await prepared(one, folder, peers));
    }
    for (let round = 0; round < ROUNDS; round += 1) await looked(round % 2 === 0 ? [...all.values()] : [...all.values()].reverse());
    return STANDING.filter(({ name }) => needed.has(name)).map((one) => standingRow(one, all, one.needs?.(peers)));
  } finally {
    peers.modbus.close();
    peers.broker?.close();
  }
}

function standingRow(one: StandingCase, all: ReadonlyMap<string, Prepared>, absent: string | undefined): StandingRow {
  const beyond = STANDING.find(({ name }) => name === one.beyond);
  const said = { what: one.what, load: one.load, beyond: beyond?.what ?? '' };
  if (absent !== undefined) return { ...said, absent };
  const own = all.get(one.name);
  const base = one.beyond === undefined ? undefined : all.get(one.beyond);
  assert(own && (base || one.beyond === undefined), `${one.name} and what it stands beside were measured`);
  const of = (name: keyof Look): Figure =>
    figure(
      own.looks.map((look, round) => look[name] - (base?.looks[round]?.[name] ?? 0)),
      one.count,
    );
  const dataKb = { value: (own.dataKb - (base?.dataKb ?? 0)) / one.count };
  return { ...said, memoryMb: of('memoryMb'), msPerSecond: of('msPerSecond'), startMs: of('startMs'), dataKb };
}

// ---------------------------------------------------------------- by being asked for

async function loads(folder: string): Promise<LoadRow[]> {
  const chosen = LOADS.filter(({ what }) => isChosen(what));
  if (chosen.length === 0) return [];
  rmSync(path.join(folder, 'loads'), { recursive: true, force: true });
  const box = await productBox({}, path.join(folder, 'loads'));
  try {
    await box.start();
    await prepareForLoads(await firstPerson(box));
    await atWork(await person(box));
    await pause(SETTLE_MS);
    const rows: LoadRow[] = [];
    for (const one of chosen) {
      rows.push(await loadRow(one, box));
      progress(`load ${one.what}: ${JSON.stringify(rows.at(-1))}`);
    }
    return rows;
  } catch (fault) {
    throw new Error(`${(fault as Error).message}\n${box.output.slice(-2000)}`);
  } finally {
    await box.end();
  }
}

interface Seconds {
  readonly msPerSecond: number;
  readonly kb: number;
  readonly count: number;
  readonly tookMs: number;
}

async function seconds(box: ApplianceProcess, count: () => Promise<number>): Promise<Seconds> {
  const [beganMs, kb] = [performance.now(), folderKb(box.dataDir)];
  const msPerSecond = await share(box.pid, LOAD_WINDOW_MS);
  const done = await count();
  const tookMs = performance.now() - beganMs;
  return { msPerSecond, kb: folderKb(box.dataDir) - kb, count: done, tookMs };
}

interface Window extends Seconds {
  /** At its end. */
  readonly memoryMb: number;
}

async function loadRow(one: LoadCase, box: ApplianceProcess): Promise<LoadRow> {
  const none = async (): Promise<number> => 0;
  const api = await person(box);
  const ended = async (seconds: Seconds): Promise<Window> => ({ ...seconds, memoryMb: await residentMb(box.pid) });
  const rest = async (): Promise<Window> => {
    await pause(LOAD_SETTLE_MS);
    return ended(await seconds(box, none));
  };
  const work = async (): Promise<Window> => {
    const running = await one.start(api, box);
    if (one.each === undefined) await pause(LOAD_SETTLE_MS);
    return ended(await seconds(box, () => running.stop()));
  };
  const [idle, busy]: [Window[], Window[]] = [[], []];
  if (one.stays) {
    for (let round = 0; round < ROUNDS; round += 1) idle.push(await rest());
    busy.push(await work());
    for (let round = 1; round < ROUNDS; round += 1) busy.push(await (one.each === undefined ? rest() : work()));
  } else
    for (let round = 0; round < ROUNDS; round += 1) {
      idle.push(await rest());
      busy.push(await work());
    }
  const pairs = busy.map((each, round) => ({ each, without: idle[round] ?? each }));
  const more = (of: (pair: (typeof pairs)[number]) => number): Figure => figure(pairs.map(of), 1);
  const said = {
    ...{ what: one.what, load: one.load, each: one.each ?? '' },
    msPerSecond: more(({ each, without }) => each.msPerSecond - without.msPerSecond),
    memoryMb: more(({ each, without }) => each.memoryMb - without.memoryMb),
  };
  if (one.each === undefined) return said;
  return {
    ...said,
    perOneMs: more(({ each, without }) => ((each.msPerSecond - without.msPerSecond) * each.tookMs) / 1000 / each.count),
    perOneKb: more(({ each, without }) => (each.kb - (without.kb / without.tookMs) * each.tookMs) / each.count),
  };
}

// ---------------------------------------------------------------- the package

interface Build {
  programBytes(): Promise<ReadonlyMap<string, number>>;
}

async function code(): Promise<CodeRow[]> {
  const { programBytes } = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/build.mjs')).href)) as Build;
  const folders = new Map<string, number>();
  for (const [file, bytes] of await programBytes()) {
    const [first = '', second = '', third = ''] = file.split('/');
    const folder =
      first === 'src' && ['domains', 'platform'].includes(second) && !third.endsWith('.ts') ? `src/${second}/${third}` : second.endsWith('.ts') ? first : `${first}/${second}`;
    const own = first === 'runtime' && second === 'io' && !third.endsWith('.ts') ? `runtime/io/${third}` : folder;
    folders.set(own, (folders.get(own) ?? 0) + bytes / 1024);
  }
  const dist = process.env.LINESIDE_DIST ?? 'dist';
  for (const served of ['console', 'docs']) folders.set(`${served} (as served)`, folderKb(path.join(dist, served)));
  return [...folders].map(([folder, kb]) => ({ folder, kb })).sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

// ---------------------------------------------------------------- the run

const folder = process.env.COSTS_DIR ?? mkdtempSync(path.join(tmpdir(), 'lineside-bench-costs-'));
try {
  const costs = { standing: await standing(folder), loads: await loads(folder), code: await code(), rounds: ROUNDS };
  console.log(standingTable(costs.standing));
  console.log(`\n${loadTable(costs.loads)}`);
  if (words.length === 0) {
    console.log(`\n${codeTable(costs.code)}`);
    writeFileSync('docs/reference/costs.md', page(costs));
    judge(costs.standing);
  }
} finally {
  if (process.env.COSTS_DIR === undefined) rmSync(folder, { recursive: true, force: true });
}

function judge(rows: readonly StandingRow[]): void {
  const valueOf = (what: string, of: 'memoryMb' | 'msPerSecond'): number => rows.find((row) => row.what === what)?.[of]?.value ?? Number.NaN;
  const [memory, processor, unit] = [valueOf('the box itself', 'memoryMb'), valueOf('the box itself', 'msPerSecond'), valueOf('unit with a thread of its own', 'memoryMb')];
  tell('a box that does nothing: memory, MB', memory);
  tell('a box that does nothing: processor, ms per second', processor);
  tell('a unit of 50 tags with a thread of its own: memory, MB', unit);
  console.log(`\na box that does nothing: ${memory.toFixed(0)} MB (at most ${BOX_MB_MAX}) ${verdict(memory <= BOX_MB_MAX)}`);
  console.log(`its share of the processor: ${processor.toFixed(1)} ms per second (at most ${BOX_MS_PER_SECOND_MAX}) ${verdict(processor <= BOX_MS_PER_SECOND_MAX)}`);
  console.log(`a unit with a thread of its own: ${unit.toFixed(1)} MB (at most ${UNIT_MB_MAX}) ${verdict(unit <= UNIT_MB_MAX)}`);
}
