/**
 * A box with years behind it (ADR 0035): past batches of 30 phases and past alarms, put into a store by the real writer, beside one
 * phase at work. `PAST_BATCHES` and `PAST_ALARMS` (100000, 1000000) make it smaller. Each box is opened by a process of its own: what
 * the past costs is what it takes more than an empty one.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { systemClock } from '../../src/platform/base/clock.js';
import { inspectDataDir } from '../../src/platform/ledger/inspect.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import type { LedgerTransaction, PastRun } from '../../src/platform/ledger/protocol.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import { StateWriter } from '../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../src/platform/ledger/wire.js';
import type { Kind } from '../../src/platform/store/kind.js';
import type { Resource } from '../../src/platform/store/resource.js';
import { Store } from '../../src/platform/store/store.js';
import { transaction } from '../support/ledger-data.js';
import { tell, verdict } from './judge.js';

const SITE = 'demo';
const PHASES = 30;
const START_MAX_MS = 3000;
const MEMORY_MAX_MB = 100;
const CHANGE_MAX_MS = 5;
const PAGE_MAX_MS = 20;
const PAGE = 100;
const CHANGES = 1000;
const PAGES = 200;
const GROUP = 500; // transactions in one commit of the writer

type Loose = Record<string, unknown>;
const kind = (name: string, more: Partial<Kind<Loose, Loose>> = {}): Kind<Loose, Loose> => ({
  kind: name,
  group: 'record',
  scope: 'site',
  action: name.toLowerCase(),
  spec: v.looseObject({}),
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => ({}),
  ...more,
});
/** In the size of what the product keeps of a run. */
const Batch = kind('Batch', {
  pastIndex: ({ spec, status }) => ({
    batchID: spec.batchID,
    workOrderID: spec.workOrderID,
    digest: spec.digest,
    productID: spec.productID,
    phase: status.phase,
    endedAt: status.endedAt,
  }),
});
const Phase = kind('Phase');
const Alarm = kind('Alarm');

const at = (number: number): string => new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
const nameOf = (number: number): string => `wo-${String(number).padStart(7, '0')}`;

let version = 0;
function row(of: string, name: string, spec: Loose, status: Loose): Resource {
  version += 1;
  const times = { createdAt: at(version), updatedAt: at(version) };
  const metadata = { name, site: SITE, uid: `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`, labels: {}, annotations: {}, ownerReferences: [], generation: 1 };
  return { kind: of, metadata: { ...metadata, resourceVersion: version, ...times }, spec, status };
}

function phaseOf(batch: string, number: number): Resource {
  const parameters = { level: 40 + number, temperature: 80.5, speed: 120 };
  return row(
    'Phase',
    `${batch}-p${number}`,
    { batchRef: batch, templateRef: 'heat', unit: 'rx101', parameters },
    { state: 'Complete', previousState: 'Completing', outputs: { reached: 80.4 }, startedAt: at(version), endedAt: at(version + 1) },
  );
}

/** One batch that has ended: its rows, its events, and its going. */
function ended(number: number): LedgerTransaction {
  const name = nameOf(number);
  const spec = { batchID: `B-${number}`, workOrderID: `WO-${number}`, digest: String(number).padStart(64, 'a'), productID: `resin-${number % 20}`, recipeRef: 'resin' };
  const batch = row('Batch', name, spec, { phase: 'Complete', endedAt: at(number) });
  const puts = [batch, ...Array.from({ length: PHASES }, (_, phase) => phaseOf(name, phase))];
  const stream = `events/${SITE}/${name}`;
  return transaction({
    puts,
    facts: [1, 2, 3].map((sequence) => ({ stream, sequence, body: { id: sequence, eventType: 'State', value: 'Running', timestamp: at(number) } })),
    pasts: [goneWith(batch, puts, [stream])],
  });
}

function goneWith(run: Resource, rows: readonly Resource[], streams: readonly string[]): PastRun {
  const entryOf = (each: Resource): string => (each.kind === Batch.kind ? JSON.stringify(Batch.pastIndex?.(each as Resource<Loose, Loose>, [])) : '');
  return { run: `${run.kind}/${SITE}/${run.metadata.name}`, rows: rows.map((each) => ({ kind: each.kind, site: SITE, name: each.metadata.name, entry: entryOf(each) })), streams };
}

function settled(number: number): LedgerTransaction {
  const spec = { source: 'ControlModule/tic101', type: 'Process', severity: 'High', message: 'temperature too high', definitionRef: 'tic101-high', setpoint: '95' };
  const alarm = row('Alarm', `tic101-high-${number}`, spec, { state: 'ClearedAcknowledged', unit: 'rx101', value: '96.1', occurrences: 1, activatedAt: at(number) });
  return transaction({ puts: [alarm], pasts: [goneWith(alarm, [alarm], [])] });
}

function fill(dir: string, batches: number, alarms: number): void {
  const writer = new StateWriter(dir, openDeviceKeys(dir));
  writer.load(0);
  const total = batches + alarms;
  for (let done = 0; done < total; done += GROUP) {
    const message = new Message();
    for (let next = done; next < Math.min(done + GROUP, total); next += 1) message.add(next < batches ? ended(next) : settled(next - batches));
    const taken = decode(message.fields);
    for (const refused of writer.commit(() => taken.splice(0))) if (refused !== null) throw new Error(refused);
    writer.restIfOverfull();
  }
  const message = new Message();
  message.add(transaction({ puts: Array.from({ length: PHASES }, (_, phase) => phaseOf('running', phase)) }));
  const taken = decode(message.fields);
  writer.commit(() => taken.splice(0));
  writer.close();
}

function p99(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

interface Measured {
  readonly startMs: number;
  readonly memoryMb: number;
  /** On the thread of the gateway, with a list of all phases after it; and until it is on disk. */
  readonly changeMs: number;
  readonly durableMs: number;
  readonly rowMs: number;
  readonly pageMs: number;
}

async function measured(dir: string): Promise<Measured> {
  const before = performance.now();
  inspectDataDir(dir);
  const ledger = await openLedger(dir);
  const store = new Store(ledger, systemClock, undefined, [Batch, Phase, Alarm]);
  await store.open(0);
  const startMs = performance.now() - before;
  const queries = openQueries(dir, () => store.recorded);
  const entries = store.pastIndex(Batch, SITE);
  const names = entries.map(({ name }) => name);
  const [changes, durables, rows, pages]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let change = 0; change < CHANGES; change += 1) {
    const begun = performance.now();
    const { durable } = store.apply({ puts: [{ kind: Phase, site: SITE, name: `running-p${change % PHASES}`, status: { state: 'Running', change } }] });
    store.list(Phase, SITE);
    changes.push(performance.now() - begun);
    await durable;
    durables.push(performance.now() - begun);
  }
  for (let page = 0; page < PAGES; page += 1) {
    const name = names[(page * 7919) % names.length] ?? ''; // an empty box asks as well, so that it has the thread that answers
    const begun = performance.now();
    await queries.pastRow({ kind: Phase.kind, site: SITE, name: `${name}-p7` });
    rows.push(performance.now() - begun);
    const listed = performance.now();
    for (const column of await queries.pastPage({ kind: Batch.kind, site: SITE, after: name, limit: PAGE })) if (column.startsWith('{')) JSON.parse(column);
    pages.push(performance.now() - listed);
    await turn();
  }
  globalThis.gc?.();
  const memoryMb = process.memoryUsage().rss / 2 ** 20;
  await queries.close();
  await ledger.close();
  return { startMs, memoryMb, changeMs: p99(changes), durableMs: p99(durables), rowMs: p99(rows), pageMs: p99(pages) };
}

if (process.argv[2] === 'measure') {
  console.log(JSON.stringify(await measured(process.argv[3] as string)));
} else {
  const [batches, alarms] = [Number(process.env.PAST_BATCHES ?? 100_000), Number(process.env.PAST_ALARMS ?? 1_000_000)];
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-bench-past-'));
  const box = (name: string): Measured =>
    JSON.parse(execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), 'measure', path.join(dir, name)], { encoding: 'utf8' }));
  const begun = performance.now();
  fill(path.join(dir, 'empty'), 0, 0);
  fill(path.join(dir, 'old'), batches, alarms);
  const megabytes = statSync(path.join(dir, 'old', 'state.db')).size / 2 ** 20;
  console.log(`${batches} past batches of ${PHASES} phases and ${alarms} past alarms: ${megabytes.toFixed(0)} MB, written in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  const [empty, old] = [box('empty'), box('old')];
  const told = (figure: string, value: number, most: number, beside: number): void => {
    tell(figure, value);
    console.log(`${figure.padEnd(50)} ${value.toFixed(2).padStart(9)}, at most ${most}; empty ${beside.toFixed(2)}  ${verdict(value <= most)}`);
  };
  told('start, ms', old.startMs, START_MAX_MS, empty.startMs);
  told('memory beyond that of an empty box, MB', old.memoryMb - empty.memoryMb, MEMORY_MAX_MB, empty.memoryMb);
  told('change of a phase with the list of phases, p99, ms', old.changeMs, CHANGE_MAX_MS, empty.changeMs);
  told(`page of ${PAGE} past batches, p99, ms`, old.pageMs, PAGE_MAX_MS, empty.pageMs);
  console.log(`until a change is on disk ${old.durableMs.toFixed(2)} ms (empty ${empty.durableMs.toFixed(2)}), one past row ${old.rowMs.toFixed(2)} ms, all p99`);
  rmSync(dir, { recursive: true, force: true });
}
