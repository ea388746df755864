/** Lists of batches and records are what they were when part of them has become past, page by page, and of one moment (F6, ADR 0033, 0038). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Batch } from '../../../src/domains/batches/kind.js';
import { LIST_QUERY, listingOf, newestBatches } from '../../../src/domains/batches/reading/list.js';
import { findOrder } from '../../../src/domains/mes/work-orders.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { newestRecords } from '../../../src/domains/records/past-records.js';
import { between, made } from '../../../src/platform/base/sorted.js';
import type { WallMs } from '../../../src/platform/base/times.js';
import { listReply } from '../../../src/platform/http/paged-list.js';
import { type Reply, StreamedReply } from '../../../src/platform/http/route.js';
import { timePage } from '../../../src/platform/http/time-page.js';
import { PackedEntries } from '../../../src/platform/store/packed-entries.js';
import type { Put, Store } from '../../../src/platform/store/store.js';
import { pastStore } from '../../support/past-store.js';

const SITE = 'north';
const COUNT = 60;
const OPEN = ['Pending', 'Running', 'Held'];
const FINAL = ['Complete', 'Stopped', 'Aborted', 'Failed'];
const DAY = Date.UTC(2026, 10, 1);
/** Several of one instant. */
const at = (n: number): string => new Date(DAY + (n % 7) * 3_600_000).toISOString();
const nameOf = (n: number): string => `b${String((n * 37) % COUNT).padStart(3, '0')}`;

const plant = (t: Test) => pastStore(t, [Batch, BatchRecord] as never, () => undefined);

function batchPut(n: number, phase: string): Put {
  const name = nameOf(n);
  const spec = {
    ...{ batchID: `LOT ${n}`, masterRecipeRef: n % 3 === 0 ? 'Harz-Größe' : 'resin', workOrderID: n % 2 === 0 ? `WO-${n}` : '', lotID: n % 5 === 0 ? '溶剂-Ä' : '' },
    ...{ description: `İ ${n % 4}`, priority: n % 3, parameters: [], equipment: {}, mode: '', quantity: '1', engineeringUnit: 'kg', scheduledStartTime: '', formulaName: '' },
  };
  const ends = FINAL.includes(phase) && n % 11 !== 0 ? at(n) : ''; // one without is ordered by when it was made
  const status = {
    phase,
    endedAt: ends,
    startedAt: '',
    recordRef: name,
    heldInside: false,
    allocations: [],
    ...(n % 2 === 0 ? { workOrder: { request: { workOrderID: `WO-${n}` }, createdBy: 'M' } } : {}),
  };
  return { kind: Batch, site: SITE, name, spec, status } as unknown as Put;
}

function recordPut(n: number): Put {
  const batch = { name: nameOf(n), uid: `u${n}`, batchID: `LOT ${n}`, workOrderID: '', quantity: '', engineeringUnit: '', createdAt: at(n), startedAt: at(n), endedAt: at(n) };
  const status = { phase: n % 4 === 0 ? 'Finalized' : 'Open', outcome: FINAL[n % 4], digest: '', conditions: [], comments: [] };
  return { kind: BatchRecord, site: SITE, name: nameOf(n), spec: { batch, recipe: { name: 'r', productID: `p${n % 2}`, version: '1' } }, status } as unknown as Put;
}

async function filled(store: Store): Promise<void> {
  for (let n = 0; n < COUNT; n += 1) {
    const phase = (n % 10 === 9 ? OPEN[Math.floor(n / 10) % 3] : FINAL[n % 4]) ?? '';
    await store.write({ puts: [batchPut(n, phase), recordPut(n)] });
  }
}

async function leaves(store: Store, n: number): Promise<void> {
  for (const kind of ['BatchRecord', 'Batch']) {
    const run = { kind, site: SITE, name: nameOf(n) };
    await store.write({ pasts: [{ run, members: [run], streams: [] }] });
  }
}

async function textOf(reply: Reply): Promise<string> {
  if (!(reply instanceof StreamedReply)) return String(reply.body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Every page of it, by the ways on. */
async function pagesOf(store: Store, query: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const parameters: URLSearchParams = new URLSearchParams(next);
    const asked = { get: (name: string) => parameters.get(name) ?? undefined, all: (name: string) => parameters.getAll(name) };
    const kept = Object.keys(LIST_QUERY) as (keyof typeof LIST_QUERY)[];
    const reply: Reply = await listReply(
      { path: '/b', query: asked },
      { ...(await listingOf(store, SITE, asked)), kept, render: ({ metadata, status }) => [metadata.name, status.phase] },
    );
    pages.push(`${reply.headers['X-Total-Count']} ${await textOf(reply)}`);
    next = reply.headers.Link?.replace(/^<\/b\?(.*)>.*$/, '$1');
  }
  return pages;
}

async function recordPages(store: Store, question: Parameters<typeof newestRecords>[2], order: 'asc' | 'desc'): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: readonly { name: string }[]; nextCursor: string | null } = timePage('r', await newestRecords(store, SITE, question), {
      order,
      limit: 7,
      ...(cursor === '' ? {} : { cursor }),
    });
    pages.push(page.items.map(({ name }) => name));
    cursor = page.nextCursor;
  }
  return pages;
}

const QUERIES = [
  '',
  'limit=7',
  'limit=1000',
  'order=recent',
  'order=recent&limit=7',
  'state=Complete,Held&limit=3',
  'state=Failed&order=recent',
  'search=lot%201&limit=4',
  'search=LOT+5&order=recent',
  'search=GR%C3%96SSE',
  'search=gr%C3%B6%C3%9Fe&limit=50',
  'search=i%CC%87%203',
  'search=%E5%89%82-%C3%A4&order=recent&limit=2',
  'search=nobody',
  'search=wo-1&state=Stopped',
  `name=${nameOf(3)},${nameOf(30)},nobody&order=recent`,
  'batchID=LOT%204',
  'batchID=LOT%2019&state=Running',
  'batchID=LOT&order=recent',
  'workOrderID=WO-8&order=recent',
  'workOrderID=WO-8&batchID=LOT%204',
  `name=${nameOf(30)},${nameOf(3)},${nameOf(2)},${nameOf(1)}&limit=1`,
  `name=${nameOf(3)}&name=${nameOf(3)},${nameOf(2)}&state=Failed`,
];

t.test('Q-ERR-15: lists are byte for byte what they were, whatever of them has become past or has come back', async (t) => {
  const { store, opened } = await plant(t);
  await filled(store);
  const day = DAY as WallMs;
  const questions = [{}, { phase: 'Finalized' }, { outcome: 'Stopped', productID: 'p1' }, { fromMs: day + 3_600_000, toMs: day + 3 * 3_600_000 }, { toMs: day }];
  const orders = [...Array.from({ length: COUNT }, (_, n) => `WO-${n}`), ...Array.from({ length: COUNT }, (_, n) => `LOT ${n}`), 'nobody'];
  const look = async (of: Store) => ({
    lists: await Promise.all(QUERIES.map((query) => pagesOf(of, query))),
    records: await Promise.all(questions.flatMap((question) => [recordPages(of, question, 'asc'), recordPages(of, question, 'desc')])),
    newest: between(newestBatches(of, SITE), 0, COUNT).map(({ metadata }) => metadata.name),
    orders: orders.map((id) => findOrder(of, SITE, id)?.metadata.name),
  });
  const before = await look(store);
  for (let n = 0; n < COUNT; n += 1) {
    if (n % 10 === 9 || n % 6 === 5) continue; // under way, or not long enough over
    await leaves(store, n);
    if (n % 13 === 0) t.same(await look(store), before, `${n} of them`);
  }
  t.same(await look(store), before, 'as they left');
  const { store: again } = await opened();
  t.same(await look(again), before, 'behind a start');
});

t.test('a list is of the moment in which it was asked for: what leaves, comes back or is changed while it is sent changes nothing of it', async (t) => {
  const { store } = await plant(t);
  await filled(store);
  for (let n = 0; n < COUNT / 2; n += 1) if (n % 10 !== 9) await leaves(store, n);
  const ask = { get: () => undefined, all: () => [] };
  const asked = await listingOf(store, SITE, ask);
  const names = () =>
    between(
      made(asked.items, ({ metadata, status }) => `${metadata.name} ${status.phase}`),
      0,
      COUNT,
    );
  const before = names();
  await leaves(store, COUNT - 2);
  await store.write({ puts: [batchPut(9, 'Aborted')] });
  t.same(names(), before);
});

t.test('one damaged entry is in no list, and a page by name makes what it shows all the same', async (t) => {
  const { dir, store, opened } = await plant(t);
  await filled(store);
  const runs = Array.from({ length: COUNT }, (_, n) => (n % 10 === 9 ? [] : { kind: 'Batch', site: SITE, name: nameOf(n) })).flat();
  await store.write({ pasts: runs.map((run) => ({ run, members: [run], streams: [] })) });
  const state = new Database(path.join(dir, 'state.db'));
  const damage = state.prepare("UPDATE resources SET past_entry = json_remove(past_entry, '$.phase') WHERE kind = 'Batch' AND name = ?");
  t.equal(damage.run(nameOf(4)).changes, 1);
  state.close();
  const { store: again } = await opened();
  const { prototype } = PackedEntries;
  const whole = t.capture(prototype, 'wholeOf', prototype.wholeOf);
  const views = t.capture(prototype, 'viewOf', prototype.viewOf);
  const { items } = await listingOf(again, SITE, { get: () => undefined, all: () => [] });
  const page = between(
    made(items, ({ status }) => status.phase),
    0,
    5,
  );
  t.equal(page.length, 5);
  t.equal(items.length, COUNT - 1);
  t.ok(whole().length + views().length <= 5, 'of the others nothing is read');
  t.notOk(between(items, 0, COUNT).some(({ metadata }) => metadata.name === nameOf(4)));
});
