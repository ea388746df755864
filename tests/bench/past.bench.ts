/**
 * A box with years behind it (ADR 0033, 0035, 0037, 0038): past batches with their phases, recipes, records and streams, as the product
 * leaves them behind, put into a store by the real writer, beside some that wait and one phase at work. Lists are asked for as the
 * gateway asks their routes. `PAST_BATCHES` and `PAST_PHASES` (100000, 30) make it smaller; a record is written without what lies in it,
 * which no list reads. A folder that `PAST_DIR` names is kept, and measured again where it is there. Each box is opened by a process of its own: what the past costs is what it takes more than an empty one.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Batch } from '../../src/domains/batches/kind.js';
import { batchRoutes } from '../../src/domains/batches/routes.js';
import { mesRoutes } from '../../src/domains/mes/routes.js';
import { Site } from '../../src/domains/plant/kind.js';
import { Phase, Procedure } from '../../src/domains/procedures/kind.js';
import { ControlRecipe } from '../../src/domains/recipes/kind.js';
import { BatchRecord } from '../../src/domains/records/kind.js';
import { recordRoutes } from '../../src/domains/records/routes.js';
import { BATCH_STREAMS, streamOf } from '../../src/domains/runs/execution-log.js';
import { assert } from '../../src/platform/base/assert.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { Reply, type Route, StreamedReply } from '../../src/platform/http/route.js';
import { inspectDataDir } from '../../src/platform/ledger/inspect.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import type { LedgerTransaction, PastRun } from '../../src/platform/ledger/protocol.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import { StateWriter } from '../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../src/platform/ledger/wire.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { type Ref, refOf, type Resource } from '../../src/platform/store/resource.js';
import { Store } from '../../src/platform/store/store.js';
import { transaction } from '../support/ledger-data.js';
import { least, tell, verdict } from './judge.js';

const SITE = 'demo';
const PHASES = Number(process.env.PAST_PHASES ?? 30);
const WAITING = 20;
const START_MAX_MS = 3000;
const MEMORY_MAX_MB = 100;
const CHANGE_MAX_MS = 5;
const PAGE_MAX_MS = 20;
const TURN_MAX_MS = 20;
const PAGE = 60; // as the console asks
const CHANGES = 1000;
const PAGES = 300;
const WHOLE_LISTS = 3;
const GROUP = 500; // transactions in one commit of the writer

type Loose = Record<string, unknown>;
/** As `npm start` starts the process. */
const OPTIONS = JSON.parse(readFileSync('scripts/process-options.json', 'utf8')) as { readonly env: Readonly<Record<string, string>>; readonly execArgv: readonly string[] };
const KINDS = [Site, Batch, BatchRecord, Procedure, Phase, ControlRecipe] as unknown as readonly Kind[];

const at = (number: number): string => new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
const nameOf = (number: number): string => `wo-${String(number).padStart(7, '0')}`;

let version = 0;
function row(of: string, name: string, spec: object, status: object, number = version): Resource {
  version += 1;
  const metadata = { name, site: SITE, uid: `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`, labels: {}, annotations: {}, ownerReferences: [], generation: 1 };
  return { kind: of, metadata: { ...metadata, resourceVersion: version, createdAt: at(number), updatedAt: at(number + 1) }, spec, status };
}

const element = (batch: string, templateRef: string): Loose => ({ mode: '', batchRef: batch, parentRef: null, templateRef, stepPath: templateRef, unitRef: 'rx101' });

function phaseOf(batch: string, number: number): Resource {
  const status = { state: 'Complete', previousState: 'Completing', outputs: [], startedAt: at(version), endedAt: at(version + 1) };
  const spec = { ...element(batch, 'heat'), parameters: [] };
  return row('Phase', `${batch}-p${number}`, spec, { ...(batch === 'running' ? Phase.initialStatus(spec as never) : {}), ...status }); // what is present has all of its members
}

function batchOf(number: number, phase: 'Complete' | 'Pending'): Resource {
  const name = nameOf(number);
  const ordered = { workOrderID: `WO-${number}`, productDefinition: `resin-${number % 20}`, quantity: '1000', engineeringUnit: 'kg' };
  const spec = {
    ...{ batchID: `B-2026-${number}`, masterRecipeRef: ordered.productDefinition, formulaName: '', quantity: '1000', engineeringUnit: 'kg', priority: 100 },
    ...{ parameters: [{ name: 'temperature', value: '80' }], equipment: { reactor: 'rx101' }, description: '', scheduledStartTime: '', mode: '' },
    ...{ workOrderID: ordered.workOrderID, lotID: `L-${number}` },
  };
  const hasEnded = phase === 'Complete';
  const ran = hasEnded ? { controlRecipe: name, procedure: name, recordRef: name, recordSettled: true, startedAt: at(number), endedAt: at(number + (number % 7)) } : {};
  const allocations = hasEnded ? [{ capability: 'reactor', unit: 'rx101', state: 'Released', since: at(number) }] : [];
  return row('Batch', name, spec, { ...Batch.initialStatus(spec as never), ...ran, phase, allocations, workOrder: { request: ordered, createdBy: 'MES' } }, number);
}

function recordOf({ metadata, spec, status }: Resource): Resource {
  const { batchID, workOrderID, lotID, quantity, engineeringUnit, masterRecipeRef } = spec as Record<string, string>;
  const { startedAt, endedAt } = status as Record<string, string>;
  const { name, uid, createdAt } = metadata;
  const batch = { name, batchID, uid, workOrderID, lotID, description: '', quantity, engineeringUnit, priority: 100, scheduledStartTime: '', createdAt, startedAt, endedAt };
  const recipe = { name: masterRecipeRef, productID: masterRecipeRef, productName: '', version: '1.0', revision: 1, formulaName: '', controlRecipe: name };
  const conditions = [{ type: 'PhaseHistorySettled', status: 'True', reason: 'Settled', message: '' }];
  return row('BatchRecord', name, { batch, recipe }, { phase: 'Open', outcome: 'Complete', digest: String(version).padStart(64, 'a'), conditions, comments: [] });
}

/** One batch that has ended: its rows, what was told of it, and its going, which is that of three runs. */
function ended(number: number): LedgerTransaction {
  const batch = batchOf(number, 'Complete');
  const { name } = batch.metadata;
  const procedure = row('Procedure', name, element(name, 'resin'), { state: 'Complete' });
  const record = recordOf(batch);
  const below = [procedure, row('ControlRecipe', name, { recipe: 'resin' }, {}), ...Array.from({ length: PHASES }, (_, phase) => phaseOf(name, phase))];
  const facts = BATCH_STREAMS.flatMap((kind) =>
    [1, 2].map((sequence) => ({ stream: streamOf(kind, SITE, name), sequence, body: { id: sequence, ts: at(number), value: 'Running' } })),
  );
  const pasts = [goneWith(procedure, below, []), goneWith(record, [record], []), goneWith(batch, [batch], Batch.streams?.(SITE, name) ?? [])];
  const puts = [batch, record, ...below].sort((a, b) => a.metadata.resourceVersion - b.metadata.resourceVersion);
  return transaction({ puts, facts, pasts });
}

function goneWith(run: Resource, rows: readonly Resource[], streams: readonly string[]): PastRun {
  const members: readonly Ref[] = rows.map(refOf);
  const entryOf = (each: Resource): string => {
    const entry = KINDS.find(({ kind }) => kind === each.kind)?.pastIndex?.(each, members);
    return entry === undefined ? '' : JSON.stringify(entry);
  };
  return { run: `${run.kind}/${SITE}/${run.metadata.name}`, rows: rows.map((each) => ({ kind: each.kind, site: SITE, name: each.metadata.name, entry: entryOf(each) })), streams };
}

function fill(dir: string, batches: number): void {
  const writer = new StateWriter(dir, openDeviceKeys(dir));
  writer.load(0);
  const write = (transactions: readonly LedgerTransaction[]): void => {
    const message = new Message();
    for (const each of transactions) message.add(each);
    const taken = decode(message.fields);
    for (const refused of writer.commit(() => taken.splice(0))) assert(refused === null, String(refused));
    writer.restIfOverfull();
  };
  const site = row('Site', SITE, { enterpriseName: '', description: '' }, Site.initialStatus({} as never) as object);
  write([transaction({ puts: [{ ...site, metadata: { ...site.metadata, site: '' } }] })]);
  for (let done = 0; done < batches; done += GROUP) write(Array.from({ length: Math.min(GROUP, batches - done) }, (_, next) => ended(done + next)));
  write([
    transaction({ puts: [...Array.from({ length: 30 }, (_, phase) => phaseOf('running', phase)), ...Array.from({ length: WAITING }, (_, n) => batchOf(batches + n, 'Pending'))] }),
  ]);
  writer.close();
}

function p99(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

/** By its row, as the gateway calls it: whether it is there, then its answer, until its last byte is made. */
async function served(rows: readonly Route<never>[], pattern: string, params: Record<string, string>, search: string, deps: object): Promise<number> {
  const found = rows.find(({ method, path: of }) => method === 'GET' && of === pattern);
  assert(found, `there is a list ${pattern}`);
  const parameters = new URLSearchParams(search);
  const query = { get: (name: string) => parameters.get(name) ?? undefined, all: (name: string) => parameters.getAll(name) };
  found.exists?.(params, deps as never);
  const reply = await found.handle({ params, query, path: pattern, format: 'json', header: () => undefined } as never, deps as never);
  if (!(reply instanceof StreamedReply))
    return Buffer.byteLength(reply instanceof Reply ? (typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)) : JSON.stringify(reply));
  let bytes = 0;
  for await (const chunk of reply.chunks) bytes += chunk.length;
  return bytes;
}

/** What one takes of the processor, with whatever else this process does meanwhile: p99, and on an average; and p99 of the clock. */
interface Timed {
  readonly processorMs: number;
  readonly averageMs: number;
  readonly ms: number;
}

/** Of the processor, as other programs of the machine do not lengthen it. */
function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

async function timed(count: number, work: (n: number) => Promise<unknown>): Promise<Timed> {
  await work(0);
  const [times, ofProcessor]: [number[], number[]] = [[], []];
  for (let n = 0; n < count; n += 1) {
    const [begun, since] = [performance.now(), process.cpuUsage()];
    await work(n);
    times.push(performance.now() - begun);
    ofProcessor.push(processorMs(since));
    await turn();
  }
  return { processorMs: p99(ofProcessor), averageMs: ofProcessor.reduce((sum, each) => sum + each, 0) / count, ms: p99(times) };
}

/** The longest turn of the loop while something is done: what of it the processor was busy for this process. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, isDone] = [0, false];
  const done = work().finally(() => (isDone = true));
  while (!isDone) {
    const since = process.cpuUsage();
    await turn();
    longest = Math.max(longest, processorMs(since));
  }
  await done;
  return longest;
}

interface Measured {
  readonly startMs: number;
  readonly startProcessorMs: number;
  readonly memoryMb: number;
  /** On the thread of the gateway, with a list of all phases after it; and until it is on disk. */
  readonly changeMs: number;
  readonly durableMs: number;
  readonly rowMs: number;
  readonly lists: Readonly<Record<string, Timed>>;
  readonly turnMs: number;
}

async function measured(dir: string, batches: number): Promise<Measured> {
  const [before, since] = [performance.now(), process.cpuUsage()];
  inspectDataDir(dir);
  const ledger = await openLedger(dir);
  const store = new Store(ledger, systemClock, undefined, KINDS);
  await store.open(0);
  const [startMs, startProcessorMs] = [performance.now() - before, processorMs(since)];
  assert(store.faults.length === 0 && store.pastCount(Batch, SITE) === batches, `what was written is read: ${store.faults[0]?.fault ?? ''}`);
  const queries = openQueries(dir, () => store.recorded);
  const [changes, durables, rows]: [number[], number[], number[]] = [[], [], []];
  for (let change = 0; change < CHANGES; change += 1) {
    const begun = performance.now();
    const name = `running-p${change % 30}`;
    const status = { ...store.get(Phase, SITE, name)?.status, state: 'Running', change } as never;
    const { durable } = store.apply({ puts: [{ kind: Phase, site: SITE, name, status }] });
    store.list(Phase, SITE);
    changes.push(performance.now() - begun);
    await durable;
    durables.push(performance.now() - begun);
  }
  for (let page = 0; page < PAGES; page += 1) {
    const begun = performance.now();
    await queries.pastRow({ kind: Phase.kind, site: SITE, name: `${nameOf((page * 7919) % Math.max(1, batches))}-p0` }); // an empty box asks as well, so that it has the thread that answers
    rows.push(performance.now() - begun);
  }
  globalThis.gc?.();
  const memoryMb = process.memoryUsage().rss / 2 ** 20;
  const deps = { store, clock: systemClock, queries };
  const cursor = (list: string, ...key: unknown[]): string => Buffer.from(JSON.stringify([list, ...key])).toString('base64url');
  const some = (n: number): number => (n * 7919) % Math.max(1, batches);
  const ofBatches = (search: string) => served(batchRoutes as never, '/api/v1/sites/{site}/batches', { site: SITE }, search, deps);
  const ofMes = (tail: string, params: Record<string, string>, search: string) =>
    served(mesRoutes as never, `/api/v1/mes/sites/{site}/${tail}`, { site: SITE, ...params }, search, deps);
  const lists: Record<string, Timed> = {
    [`page of ${PAGE} batches by name`]: await timed(PAGES, (n) => ofBatches(`limit=${PAGE}&cursor=${cursor('batches', nameOf(some(n)))}`)),
    [`page of ${PAGE} batches, recent first`]: await timed(PAGES, () => ofBatches(`order=recent&limit=${PAGE}`)),
    [`page of ${PAGE} batches that hold a text`]: await timed(PAGES, (n) => ofBatches(`order=recent&search=wo-${some(n)}&limit=${PAGE}`)),
    'one work order': await timed(PAGES, (n) => ofMes('work-orders/{id}', { id: `WO-${some(n)}` }, '')),
    [`page of ${PAGE} work orders`]: await timed(PAGES, () => ofMes('work-orders', {}, `limit=${PAGE}`)),
    [`page of ${PAGE} records`]: await timed(PAGES, () => served(recordRoutes as never, '/api/v1/sites/{site}/batchrecords', { site: SITE }, `limit=${PAGE}`, deps)),
  };
  const turns: number[] = [];
  for (let round = 0; round < WHOLE_LISTS; round += 1) turns.push(await longestTurn(() => ofBatches('')));
  await queries.close();
  await ledger.close();
  return { startMs, startProcessorMs, memoryMb, changeMs: p99(changes), durableMs: p99(durables), rowMs: p99(rows), lists, turnMs: least(turns) };
}

if (process.argv[2] === 'measure') {
  console.log(JSON.stringify(await measured(process.argv[3] as string, Number(process.argv[4]))));
} else {
  const batches = Number(process.env.PAST_BATCHES ?? 100_000);
  const kept = process.env.PAST_DIR;
  const dir = kept ?? mkdtempSync(path.join(tmpdir(), 'lineside-bench-past-'));
  const box = (name: string, count: number): Measured =>
    JSON.parse(
      execFileSync(process.execPath, [...OPTIONS.execArgv, '--expose-gc', fileURLToPath(import.meta.url), 'measure', path.join(dir, name), String(count)], {
        encoding: 'utf8',
        env: { ...process.env, ...OPTIONS.env },
      }),
    );
  const begun = performance.now();
  if (!existsSync(path.join(dir, 'old'))) {
    fill(path.join(dir, 'empty'), 0);
    fill(path.join(dir, 'old'), batches);
  }
  const megabytes = statSync(path.join(dir, 'old', 'state.db')).size / 2 ** 20;
  console.log(`${batches} past batches of ${PHASES} phases: ${megabytes.toFixed(0)} MB, written in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  const [empty, old] = [box('empty', 0), box('old', batches)];
  const told = (figure: string, value: number, most: number, beside: string): void => {
    tell(figure, value);
    console.log(`${figure.padEnd(58)} ${value.toFixed(2).padStart(9)}, at most ${most}; ${beside}  ${verdict(value <= most)}`);
  };
  told('start, ms', old.startMs, START_MAX_MS, `empty ${empty.startMs.toFixed(2)}; of the processor ${old.startProcessorMs.toFixed(0)}, all threads`);
  told('memory beyond that of an empty box, MB', old.memoryMb - empty.memoryMb, MEMORY_MAX_MB, `empty ${empty.memoryMb.toFixed(2)}`);
  told('change of a phase with the list of phases, p99, ms', old.changeMs, CHANGE_MAX_MS, `empty ${empty.changeMs.toFixed(2)}`);
  for (const [list, { ms, averageMs, processorMs: of }] of Object.entries(old.lists)) {
    const beside = `empty ${empty.lists[list]?.processorMs.toFixed(2)}, of the processor, on an average ${averageMs.toFixed(2)}; of the clock ${ms.toFixed(2)}`;
    told(`${list}, p99, ms`, of, PAGE_MAX_MS, beside);
  }
  told('longest turn while all batches are sent, ms', old.turnMs, TURN_MAX_MS, `empty ${empty.turnMs.toFixed(2)}, of the processor`);
  console.log(`until a change is on disk ${old.durableMs.toFixed(2)} ms (empty ${empty.durableMs.toFixed(2)}), one past row ${old.rowMs.toFixed(2)} ms, all p99`);
  if (kept === undefined) rmSync(dir, { recursive: true, force: true });
}
