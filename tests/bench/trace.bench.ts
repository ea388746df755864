/**
 * Traces through 100,000 lots and a million entries (ADR 0147): the entries as batches tell them, put into the ledger at once, and asked for
 * as the gateway asks the route, until the last byte of the answer is made. The first ask of each is made by a cold cache. `TRACE_BATCHES`
 * (100000) makes it smaller, and a folder that `TRACE_DIR` names is kept and measured again.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { materialText } from '../../src/domains/batches/phases/materials.js';
import { Batch } from '../../src/domains/batches/kind.js';
import { Site } from '../../src/domains/plant/kind.js';
import { executionEvent, streamOf } from '../../src/domains/runs/execution-log.js';
import { traceRoutes } from '../../src/domains/traceability/routes.js';
import { assert } from '../../src/platform/base/assert.js';
import { systemClock } from '../../src/platform/base/clock.js';
import Database from '../../src/platform/base/sqlite.js';
import { Turnstile } from '../../src/platform/base/turnstile.js';
import { type Reply, StreamedReply } from '../../src/platform/http/route.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import { Store } from '../../src/platform/store/store.js';
import { least, median, tell, verdict } from './judge.js';

const BATCHES = Number(process.env.TRACE_BATCHES ?? 100_000);
const TAKEN = 9; // of each batch, beside what it makes
/** A batch takes what was made some weeks before: of so many lots. */
const REACH = 20_000;
const ROUNDS = 20;
const GOAL_MS = 200;
const SITE = 'demo';

const lotOf = (n: number): string => `LOT-${String(n).padStart(7, '0')}`;
const batchOf = (n: number): string => `wo-${String(n).padStart(7, '0')}`;
const streamNamed = (n: number): string => streamOf('events', SITE, batchOf(n));
let seed = 42;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;

function entry(batch: number, way: 'Consume' | 'Produce', lot: number, quantity: number) {
  const event = { eventType: 'Material', eventSubType: way, value: quantity.toFixed(3), previousValue: lotOf(lot), message: materialText('resin', 'kg'), unit: 'rx101' } as const;
  return executionEvent(SITE, batchOf(batch), new Date(Date.UTC(2016, 0, 1) + batch * 900_000).toISOString(), {
    ...event,
    element: { kind: 'Phase', name: `${batchOf(batch)}-charge`, path: 'make/charge/charge' },
  });
}

/** Rows only: what the ledger seals is measured elsewhere, and no trace reads it. */
async function fill(dir: string): Promise<void> {
  await (await openLedger(dir)).close();
  const database = new Database(path.join(dir, 'state.db'));
  database.pragma('synchronous = OFF');
  const put = database.prepare('INSERT INTO facts (stream, sequence, body) VALUES (?, ?, ?)');
  database.transaction(() => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const from = Math.max(0, batch - REACH);
      const taken = batch === 0 ? [] : Array.from({ length: TAKEN }, () => from + Math.floor(random() * (batch - from)));
      const facts = [...taken.map((lot) => entry(batch, 'Consume', lot, 1)), entry(batch, 'Produce', batch, 100)];
      for (const [n, { body }] of facts.entries()) put.run(streamNamed(batch), n + 1, JSON.stringify(body(n + 1)));
    }
  })();
  database.close();
}

const dir = process.env.TRACE_DIR ?? mkdtempSync(path.join(tmpdir(), 'lineside-trace-'));
if (!existsSync(path.join(dir, 'state.db'))) await fill(dir);
const ledger = await openLedger(dir);
const store = new Store(ledger, systemClock, undefined, [Site, Batch] as never);
await store.open(0);
if (!store.get(Site, '', SITE)) await store.write({ puts: [{ kind: Site, site: '', name: SITE, spec: { enterpriseName: '', description: '' } } as never] });
const queries = openQueries(dir, () => store.recorded);
const deps = { store, clock: systemClock, facts: queries, turns: new Turnstile({ what: 'traces', atOnce: 2, waitingMax: 20, waitMaxMs: 10_000 }) };

async function asked(way: string, lot: string): Promise<{ readonly ms: number; readonly bytes: Buffer }> {
  const row = traceRoutes.find(({ path: of }) => of.endsWith(way));
  assert(row, `there is a trace ${way}`);
  const started = performance.now();
  const reply = (await row.handle(
    { params: { site: SITE, lotID: lot }, query: { get: (name: string) => (name === 'depth' ? '50' : undefined), all: () => [] } } as never,
    deps,
  )) as Reply;
  const chunks: Buffer[] = [];
  if (reply instanceof StreamedReply) for await (const chunk of reply.chunks) chunks.push(Buffer.from(chunk));
  else chunks.push(Buffer.from(reply.body as string));
  return { ms: performance.now() - started, bytes: Buffer.concat(chunks) };
}

console.log(`${BATCHES} batches, ${BATCHES * (TAKEN + 1)} entries, ${Math.round(statSync(path.join(dir, 'state.db')).size / 1e6)} MB`);
for (const [name, way, lot] of [
  ['forward', 'forward', lotOf(Math.floor(BATCHES / 2))],
  ['backward', 'backward', lotOf(Math.floor(BATCHES / 2))],
  ['genealogy', 'genealogy/{lotID}', lotOf(Math.floor(BATCHES / 2))],
] as const) {
  const rounds: number[] = [];
  const before = process.cpuUsage();
  let told = { nodes: [] as unknown[], edges: [] as unknown[], nextCursor: null as string | null };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, bytes } = await asked(way, lot);
    rounds.push(ms);
    told = JSON.parse(bytes.toString()) as typeof told;
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000 / ROUNDS;
  const [first = 0, ...warm] = rounds;
  const ms = least(warm);
  console.log(
    `${name}: ${told.nodes.length} nodes, ${told.edges.length} edges${told.nextCursor === null ? '' : ', and more'}: least ${ms.toFixed(0)} ms, median ${median(warm).toFixed(0)} ms, first ${first.toFixed(0)} ms, processor ${cpuMs.toFixed(0)} ms: ${verdict(ms <= GOAL_MS)}`,
  );
  tell(`${name} of 5,000 nodes, ms`, ms);
}
await queries.close();
await ledger.close();
if (!process.env.TRACE_DIR) rmSync(dir, { recursive: true, force: true });
