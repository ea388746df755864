/** The historian on real threads and files: recording, queries, restart, loss, retention. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { type History, type HistoryOptions, openHistory } from '../../../src/platform/history/history.js';
import { HistoryReader } from '../../../src/platform/history/history-reader.js';
import { HistoryStore, openHistoryStore } from '../../../src/platform/history/history-store.js';
import { SampleRing } from '../../../src/platform/history/sample-ring.js';
import type { HistoryStart, TagIdentity } from '../../../src/platform/history/words.js';
import { at } from '../../support/at.js';

const OPTIONS: HistoryOptions = { flushIntervalMs: 2000, retentionMs: 400 * 86_400_000, bytesMax: 2 ** 34, qualityWords: ['Good', 'Uncertain', 'Raw', 'Bad'] };
const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);
const MINUTE = 60_000;
const CHILD = fileURLToPath(new URL('../../support/history-child.js', import.meta.url));

interface Test {
  teardown(call: () => unknown): void;
}
interface Item {
  readonly address: string;
  readonly ts: string;
  readonly value: unknown;
  readonly quality: string;
}
interface Page<Row = Item> {
  readonly configured: boolean;
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}

function folder(test: Test): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-history-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(test: Test, dir = folder(test), more: Partial<HistoryOptions> = {}): Promise<History> {
  const history = await openHistory(dir, { ...OPTIONS, ...more });
  test.teardown(() => history.close());
  return history;
}

function tagOf(address: string, more: Partial<TagIdentity> = {}): TagIdentity {
  return { site: 'north', unit: 'u1', address, tag: address.split('.')[1] ?? address, dataType: 'Float', ...more };
}

async function read<Row = Item>(bytes: Promise<Uint8Array>): Promise<Page<Row>> {
  return JSON.parse(new TextDecoder().decode(await bytes)) as Page<Row>;
}

/** One sample a second from T0, value = index. */
function ramp(history: History, tag: TagIdentity, count: number, from = 0): number {
  const id = history.tag(tag);
  for (let index = from; index < from + count; index += 1) history.push(id, 0, T0 + index * 1000, index);
  return id;
}

t.test('8.9 tags: newest first, in pages that neither repeat nor lose a sample, over blocks and the open block', async (t) => {
  const history = await open(t);
  for (const address of ['t1.pv', 't2.pv']) ramp(history, tagOf(address), 1500);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(history.tagsJson({ limit: 700, cursor }));
    t.equal(page.configured, true);
    seen.push(...page.items.map((item) => `${item.ts} ${item.address} ${item.value}`));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  const expected = Array.from({ length: 1500 }, (_, index) => 1499 - index).flatMap((second) =>
    ['t1.pv', 't2.pv'].map((address) => `${new Date(T0 + second * 1000).toISOString()} ${address} ${second}`),
  );
  t.same(seen, expected);
  const range = await read(history.tagsJson({ addresses: ['t2.pv'], fromMs: T0 + 595_000, toMs: T0 + 605_000, order: 'asc' }));
  t.same(
    range.items.map((item) => item.value),
    [595, 596, 597, 598, 599, 600, 601, 602, 603, 604],
  );
  t.match(range.items[0], { site: 'north', unit: 'u1', address: 't2.pv', tag: 'pv', quality: 'Good' });
});

t.test('8.9 tags: filters by site, unit and address; a confined caller sees its sites only', async (t) => {
  const history = await open(t);
  ramp(history, tagOf('a.pv'), 3);
  ramp(history, tagOf('b.pv', { unit: 'u2' }), 3);
  ramp(history, tagOf('c.pv', { site: 'south' }), 3);
  const addresses = async (query: Parameters<History['tagsJson']>[0]) => [...new Set((await read(history.tagsJson(query))).items.map((item) => item.address))];
  t.same(await addresses({}), ['a.pv', 'b.pv', 'c.pv']);
  t.same(await addresses({ site: 'north' }), ['a.pv', 'b.pv']);
  t.same(await addresses({ unit: 'u2' }), ['b.pv']);
  t.same(await addresses({ sites: ['south'] }), ['c.pv']);
  t.same(await addresses({ span: { site: 'north', units: ['u2'] } }), ['b.pv']);
  const distinct = await read<Record<string, unknown>>(history.distinctJson({ limit: 2 }));
  t.same(distinct.items[0], {
    site: 'north',
    unit: 'u1',
    address: 'a.pv',
    tag: 'pv',
    dataType: 'Float',
    firstTs: '2026-01-31T09:00:00.000Z',
    lastTs: '2026-01-31T09:00:02.000Z',
    samples: 3,
  });
  const rest = await read<Record<string, unknown>>(history.distinctJson({ limit: 2, cursor: distinct.nextCursor ?? '' }));
  t.same(
    rest.items.map((item) => item.address),
    ['c.pv'],
  );
  const refusal: unknown = await history.tagsJson({ cursor: distinct.nextCursor ?? '' }).catch((fault: unknown) => fault);
  t.match(refusal, { kind: 'invalid', context: { code: 'invalid_query', field: 'cursor' } });
});

t.test('8.9 tags/distinct: with a range it counts what tags lists of that range, over blocks and the open block', async (t) => {
  const history = await open(t);
  ramp(history, tagOf('a.pv'), 1500);
  for (const [from, to] of [
    [0, 1500],
    [-50, 5000],
    [100, 101],
    [100, 1400],
    [3, 599],
    [1490, 1700],
    [-5, 1],
  ] as const) {
    const range = { fromMs: T0 + from * 1000, toMs: T0 + to * 1000 };
    const { items } = await read(history.tagsJson({ ...range, order: 'asc', limit: 10_000 }));
    const distinct = await read<Record<string, unknown>>(history.distinctJson(range));
    t.match(distinct.items, [{ samples: items.length, firstTs: at(items, 0).ts, lastTs: items.at(-1)?.ts }], `${from} to ${to}`);
  }
  for (const [from, to] of [
    [-50, 0],
    [1500, 1600],
    [100.5, 100.9],
  ] as const)
    t.same((await read(history.distinctJson({ fromMs: T0 + from * 1000, toMs: T0 + to * 1000 }))).items, [], `nothing from ${from} to ${to}`);
});

t.test('8.9 tags/distinct: a page looks at its own tags only, and lets the thread empty the ring between a few of them', async (t) => {
  const store = storeWith(t, folder(t), new TwoClocks(), { qualityWords: OPTIONS.qualityWords });
  for (let id = 2; id <= 40; id += 1)
    store.take({ type: 'tag', tag: { id, site: 'north', unit: 'u1', address: `t${String(id).padStart(2, '0')}.pv`, tag: 'pv', dataType: 'Float' } });
  for (let id = 1; id <= 40; id += 1) for (let minute = 0; minute < 3; minute += 1) rings.get(store)?.push(id, 0, T0 + minute * MINUTE, minute);
  store.drain(() => undefined);
  const reader = new HistoryReader(store, OPTIONS.qualityWords);
  let pauses = 0;
  const pause = async (): Promise<void> => void (pauses += 1);
  const range = { limit: 100, order: 'asc', fromMs: T0 + MINUTE, toMs: T0 + 10 * MINUTE } as const;
  const whole = JSON.parse(await reader.tagsDistinct(range, pause)) as Page<{ samples: number; address: string }>;
  t.equal(whole.items.length, 40);
  t.equal(pauses, 10);
  pauses = 0;
  t.equal((JSON.parse(await reader.tagsDistinct({ ...range, limit: 2 }, pause)) as Page).items.length, 2);
  t.equal(pauses, 0, 'two of forty');
});

t.test('8.9 tags: a read over a long time lets nothing be lost that comes meanwhile, and answers what was there when it began', async (t) => {
  const dataDir = folder(t);
  const store = storeWith(t, dataDir, new TwoClocks(), { qualityWords: OPTIONS.qualityWords });
  const ring = rings.get(store) as SampleRing;
  for (let block = 0; block < 600; block += 1) sample(store, T0 + block * 10 * MINUTE); // each begins a block
  store.commit();
  const lastMs = T0 + 600 * 10 * MINUTE;
  const taken: boolean[] = [];
  const reader = new HistoryReader(store, OPTIONS.qualityWords, () => {
    for (let more = 0; more < 200; more += 1) taken.push(ring.push(1, 0, lastMs + taken.length * 1000, taken.length));
    store.keepUp(() => undefined);
  });
  const count = (order: 'asc' | 'desc'): unknown[] =>
    (JSON.parse(reader.tagValues({ limit: 10, order, aggregate: 'count', intervalMs: 365 * DAY })) as Page).items.map(({ value }) => value);
  t.same(count('asc'), [600]);
  const before = taken.length;
  t.ok(before > 1024, `${before} samples came within the read: more than the ring holds`);
  const settle = (): void => {
    store.drain(() => undefined);
    store.commit();
  };
  settle();
  t.same(count('desc'), [600 + before], 'they are served by the next read');
  t.ok(taken.every(Boolean), 'not one was lost');
  settle();
  const values = (JSON.parse(reader.tagValues({ limit: 10_000, order: 'asc', fromMs: lastMs, aggregate: 'none', intervalMs: 1 })) as Page).items.map(({ value }) => value);
  t.same(
    values.slice(0, before),
    Array.from({ length: before }, (_, index) => index),
    'in the order in which they came',
  );
  store.keepUp(() => undefined); // what the last read let come is in the journal alone
  store.database.close();
  const again = storeWith(t, dataDir, new TwoClocks());
  t.equal(again.tags.get(1)?.samples, 600 + taken.length, 'after a kill too');
});

t.test('8.9: the samples of a tag are those of every unit that its module was in, and none of another type', async (t) => {
  const history = await open(t);
  const values = async (): Promise<number[] | undefined> => {
    const series = await history.series('north', 'a.pv', T0, T0 + MINUTE);
    return series && [...series.values];
  };
  ramp(history, tagOf('a.pv'), 3);
  ramp(history, tagOf('a.pv', { unit: 'u2' }), 2, 3); // moved: `a`, `b` and back
  ramp(history, tagOf('a.pv'), 2, 5);
  t.same(await values(), [0, 1, 2, 3, 4, 5, 6]);
  history.push(history.tag(tagOf('a.pv', { unit: 'u3', dataType: 'String' })), 0, T0 + 8000, history.text('full'));
  t.equal((await values())?.length, 1, 'a number of a text is no value beside numbers');
  t.equal(await history.series('north', 'b.pv', T0, T0 + MINUTE), undefined);
});

t.test('8.7: a part of the journal that is damaged costs its samples, not the history', async (t) => {
  const dataDir = folder(t);
  const first = storeWith(t, dataDir, new TwoClocks());
  for (let index = 0; index < 3; index += 1) sample(first, T0 + index * 1000);
  first.commit();
  first.database.close(); // as a kill does
  const [name = ''] = readdirSync(dataDir).filter((file) => file.startsWith('historian-journal-'));
  const slot = (atMs: number, value: number): Buffer => {
    const bytes = Buffer.alloc(24);
    bytes.writeUInt32LE(1, 0);
    bytes.writeDoubleLE(atMs, 8);
    bytes.writeDoubleLE(value, 16);
    return bytes;
  };
  const damaged = [slot(Number.POSITIVE_INFINITY, 1), slot(Number.NaN, 1), slot(1e300, 1), slot(0.5, 1), slot(T0 + 3000, Number.NaN)];
  writeFileSync(path.join(dataDir, name), Buffer.concat([readFileSync(path.join(dataDir, name)), ...damaged, slot(T0 + 4000, 5)]));
  const second = openHistoryStore({
    dataDir,
    ring: new SampleRing(1024).buffer,
    ringCapacity: 1024,
    limits: { flushIntervalMs: 2000, retentionMs: 10 * DAY, bytesMax: 1e12 },
    qualityWords: ['Good'],
  });
  t.teardown(() => second.close());
  t.equal(second.opened.aside, null, 'the history is not put aside for it');
  t.equal(second.tags.get(1)?.samples, 4);
  t.match(second.opened.partsLost, [/5 samples of its journal cannot be read/]);
});

t.test('8.7: a sample that a power cut has halved at the edge of a page is none', async (t) => {
  const dataDir = folder(t);
  const slots = Math.ceil(8192 / 24);
  const bytes = Buffer.alloc(2 * 8192);
  for (let index = 0; index < slots; index += 1) {
    bytes.writeUInt32LE(1, index * 24);
    bytes.writeDoubleLE(T0 + index * 1000, index * 24 + 8);
    bytes.writeDoubleLE(index + 1, index * 24 + 16);
  }
  bytes.fill(0, 8192); // the page behind it never reached the disk
  storeWith(t, dataDir, new TwoClocks()).close();
  writeFileSync(path.join(dataDir, 'historian-journal-0000000000000000.bin'), bytes);
  const store = storeWith(t, dataDir, new TwoClocks());
  t.equal(store.tags.get(1)?.samples, slots - 1);
  t.equal(store.tags.get(1)?.firstTs, T0, 'nor one of 1970');
});

t.test('8.9 tags/distinct: the pages of a range hold every tag of it once, also beside tags that have nothing in it', async (t) => {
  const history = await open(t);
  for (let index = 0; index < 9; index += 1) ramp(history, tagOf(`t${index}.pv`), 3, index % 2 === 0 ? 100 : 0);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(history.distinctJson({ fromMs: T0 + 50_000, limit: 2, cursor }));
    seen.push(...page.items.map((item) => item.address));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  t.same(seen, ['t0.pv', 't2.pv', 't4.pv', 't6.pv', 't8.pv']);
});

t.test('8.9 tags/distinct: long and short ranges, with edges anywhere in the blocks, count what there is', async (t) => {
  const history = await open(t);
  const id = history.tag(tagOf('a.pv'));
  for (let index = 0; index < 3000; index += 1) history.push(id, 0, T0 + index * 7000, index);
  for (let from = -10; from < 3000; from += 373)
    for (const length of [1, 50, 400, 1700, 4000]) {
      const { items } = await read<{ samples: number; firstTs: string; lastTs: string }>(history.distinctJson({ fromMs: T0 + from * 7000, toMs: T0 + (from + length) * 7000 }));
      const [begin, end] = [Math.max(0, from), Math.min(3000, from + length)];
      const expected = end > begin ? [{ samples: end - begin, firstTs: new Date(T0 + begin * 7000).toISOString(), lastTs: new Date(T0 + (end - 1) * 7000).toISOString() }] : [];
      t.match(items, expected, `${length} from ${from}`);
      t.equal(items.length, expected.length);
    }
});

t.test('Q-TAG-01: values keep their type, and a value that is none is null', async (t) => {
  const history = await open(t);
  const put = (address: string, dataType: TagIdentity['dataType'], value: number | null, quality = 0) =>
    history.push(history.tag(tagOf(address, { dataType })), quality, T0, value);
  put('b.x', 'Boolean', 1);
  put('i.x', 'Integer', -7);
  put('f.x', 'Float', 0.1);
  put('s.x', 'String', history.text('filling "A"'));
  put('t.x', 'Time', 90_000);
  put('n.x', 'Float', Number.NaN, 3);
  const items = (await read(history.tagsJson({}))).items;
  t.same(
    items.map((item) => [item.value, item.quality]),
    [
      [true, 'Good'],
      [-7, 'Good'],
      [0.1, 'Good'],
      ['filling "A"', 'Good'],
      ['T#1m30s', 'Good'],
      [null, 'Bad'],
    ],
  );
});

t.test('8.9 aggregate: of the Good samples of each interval, from whole blocks and from parts of them', async (t) => {
  const history = await open(t);
  ramp(history, tagOf('a.pv'), 1800);
  history.push(history.tag(tagOf('a.pv')), 3, T0 + 1_800_500, null);
  const values = async (aggregate: 'avg' | 'min' | 'max' | 'first' | 'last' | 'count', intervalMs: number) =>
    (await read(history.tagsJson({ aggregate, intervalMs, order: 'asc', limit: 5 }))).items.map((item) => item.value);
  t.same(await values('avg', MINUTE), [29.5, 89.5, 149.5, 209.5, 269.5]);
  t.same(await values('min', MINUTE), [0, 60, 120, 180, 240]);
  t.same(await values('max', 10 * MINUTE), [599, 1199, 1799, null]);
  t.same(await values('first', 15 * MINUTE), [0, 900, null]);
  t.same(await values('last', 60 * MINUTE), [1799]);
  t.same(await values('count', 7 * MINUTE), [180, 420, 420, 420, 360]);
  const hour = await read(history.tagsJson({ aggregate: 'avg', intervalMs: 60 * MINUTE }));
  t.match(hour.items, [{ value: 899.5, quality: 'Uncertain', ts: '2026-01-31T09:00:00.000Z' }]);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(history.tagsJson({ aggregate: 'count', intervalMs: 4 * MINUTE, limit: 3, cursor }));
    seen.push(...page.items.map((item) => item.value));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  t.same(seen, [120, 240, 240, 240, 240, 240, 240, 240], 'newest first; the part after 09:28 has 120 Good samples');
});

t.test('decisions 8.9: a list of states waits until all that was written before is on disk: they are handed in then', async (t) => {
  let isRecorded = (): void => undefined;
  const recorded = new Promise<void>((resolve) => (isRecorded = resolve));
  const history = await open(t, folder(t), { recorded: () => recorded });
  const told = recorded.then(() => history.recordState({ atMs: T0, site: 'north', unit: 'u1', body: { kind: 'Batch', to: 'Complete' } }));
  const list = read(history.eventsJson('states', { limit: 4 }));
  isRecorded();
  await told;
  t.match((await list).items, [{ kind: 'Batch', to: 'Complete' }]);
});

t.test('8.9 states, alarms, gaps: pages by time and place', async (t) => {
  const history = await open(t);
  for (let index = 0; index < 10; index += 1) {
    const unit = index % 2 ? 'u1' : 'u2';
    history.recordState({
      atMs: T0 + index * 1000,
      site: 'north',
      unit,
      body: { site: 'north', ts: new Date(T0 + index * 1000).toISOString(), kind: 'Unit', name: unit, unit, from: 'Idle', to: 'Running', cause: 'Start', actor: '', batchID: '' },
    });
    history.recordAlarm({ atMs: T0 + index * 1000, site: 'north', unit, body: { sequence: index, event: 'Activated' } });
  }
  const first = await read<{ ts: string }>(history.eventsJson('states', { limit: 4 }));
  const second = await read<{ ts: string }>(history.eventsJson('states', { limit: 4, cursor: first.nextCursor ?? '' }));
  t.same(
    [...first.items, ...second.items].map((item) => item.ts.slice(17, 19)),
    ['09', '08', '07', '06', '05', '04', '03', '02'],
  );
  const alarms = await read<{ sequence: number }>(history.eventsJson('alarms', { unit: 'u1', fromMs: T0 + 2000, toMs: T0 + 8000, order: 'asc' }));
  t.same(
    alarms.items.map((item) => item.sequence),
    [3, 5, 7],
  );
  t.same((await read(history.eventsJson('states', { sites: ['south'] }))).items, []);
  history.recordGap({ site: 'north', unit: 'u1', address: 'a.pv', fromMs: T0, toMs: T0 + 5000, cause: 'DriverLost', bounds: 'Exact' });
  t.same((await read<object>(history.gapsJson({ fromMs: T0 + 4000, toMs: T0 + 9000 }))).items, [
    { site: 'north', unit: 'u1', address: 'a.pv', from: '2026-01-31T09:00:00.000Z', to: '2026-01-31T09:00:05.000Z', cause: 'DriverLost', bounds: 'Exact' },
  ]);
});

t.test('8.9: a restart keeps every sample, and the time in between is a declared gap', async (t) => {
  const dir = folder(t);
  const before = await openHistory(dir, OPTIONS);
  ramp(before, tagOf('a.pv'), 1000);
  before.push(before.tag(tagOf('s.x', { dataType: 'String' })), 0, T0 + 999_000, before.text('first'));
  await before.close();
  const history = await open(t, dir);
  t.equal((await history.status()).samples, 1001);
  ramp(history, tagOf('a.pv'), 10, 2000);
  history.push(history.tag(tagOf('s.x', { dataType: 'String' })), 0, T0 + 2_001_000, history.text('second'));
  const { times, values } = (await history.series('north', 'a.pv', T0, T0 + 10_000_000)) ?? { times: [], values: [] };
  t.equal(times.length, 1010);
  t.ok(values.every((value, index) => value === (index < 1000 ? index : 1000 + index)));
  t.same(
    (await read(history.tagsJson({ addresses: ['s.x'] }))).items.map((item) => item.value),
    ['second', 'first'],
  );
  t.match((await read<object>(history.gapsJson({}))).items, [
    { unit: 'u1', address: '', from: '2026-01-31T09:16:39.000Z', to: '2026-01-31T09:33:20.000Z', cause: 'RuntimeRestart', bounds: 'Containing' },
  ]);
});

t.test('8.7: a kill loses nothing that was flushed, also when journal files were changed in between', async (t) => {
  const dir = folder(t);
  let recorded = 0;
  for (let round = 0; round < 4; round += 1) {
    const child = spawn('/usr/bin/env', ['-i', process.execPath, CHILD, dir, String(recorded)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.split('\n').length > 4 + Math.floor(Math.random() * 6)) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));
    const flushed = Number(output.trim().split('\n').at(-1));
    const history = await openHistory(dir, OPTIONS);
    const series = await history.series('north', 'a.pv', 0, T0 * 2);
    recorded = series?.times.length ?? 0;
    t.ok(recorded >= flushed, `round ${round}: ${flushed} flushed, ${recorded} found`);
    t.ok(
      series?.values.every((value, index) => value === index),
      'each sample once, in order',
    );
    t.equal((await history.status()).samples, recorded);
    await history.close();
  }
  t.ok(readdirSync(dir).filter((name) => name.startsWith('historian-journal-')).length <= 8, 'files of samples that are in blocks go away');
});

t.test('8.9: a full ring drops, counts and declares what it dropped', async (t) => {
  const ring = new SampleRing(4);
  t.same(
    [1, 2, 3, 4, 5].map((index) => ring.push(1, 0, index, index)),
    [true, true, true, true, false],
  );
  t.equal(ring.depth, 4);
  ring.advance(3);
  t.equal(ring.push(1, 0, 6, 6), true);
  t.equal(ring.oldestMs, 4);
  t.equal(
    ring.pieces().reduce((sum, piece) => sum + piece.length / 24, 0),
    2,
  );

  const history = await open(t, folder(t), { ringCapacity: 1024 });
  const id = history.tag(tagOf('a.pv'));
  // the thread takes from the ring on its own clock, also while this fills it: it is full when it refuses, not after a number
  let taken = 0;
  while (history.push(id, 0, T0 + taken, taken)) taken += 1;
  t.ok(taken >= 1024, `${taken} were taken before the first loss`);
  let dropped = 1;
  for (let more = 1; more < 500; more += 1) if (!history.push(id, 0, T0 + taken + more, more)) dropped += 1;
  await history.flush();
  t.equal(history.push(id, 0, T0 + taken + 5000, 1), true);
  const ingest = await history.ingest();
  t.equal(ingest.droppedTotal, dropped);
  t.match(ingest.queues, [{ unit: 'u1', capacity: 1024, dropped }]);
  t.match((await read<object>(history.gapsJson({}))).items, [{ unit: 'u1', cause: 'Overload', bounds: 'Containing' }]);
});

t.test('8.9: while the disk refuses, events wait up to a bound; the oldest beyond it are a declared gap of their unit', async (t) => {
  const dataDir = folder(t);
  const limits = { flushIntervalMs: 2000, retentionMs: 1e15, bytesMax: 1e12 };
  const store = new HistoryStore({ dataDir, ring: new SampleRing(16).buffer, ringCapacity: 16, limits, qualityWords: ['Good'] });
  t.teardown(() => store.close());
  for (let n = 0; n < 110_001; n += 1) store.take({ type: 'event', event: { list: 'states', atMs: T0 + n, site: 'north', unit: 'u1', body: {} } });
  store.commit();
  t.equal(store.database.prepare('SELECT count(*) FROM events').pluck().get(), 90_001);
  t.match(store.database.prepare('SELECT from_at, to_at, unit, cause FROM gaps').all(), [{ from_at: T0, to_at: T0 + 19_999, unit: 'u1', cause: 'StorageFull' }]);
});

t.test('8.9: retention forgets by age and by size, the oldest day first', async (t) => {
  const day = 86_400_000;
  const history = await open(t, folder(t), { retentionMs: 10 * day });
  const id = history.tag(tagOf('a.pv'));
  for (let index = 0; index < 3000; index += 1) history.push(id, 0, T0 + index * 600_001, index);
  await history.maintain(T0 + 20 * day);
  const { oldest } = await history.status();
  t.ok(Date.parse(oldest ?? '') >= T0 + 10 * day, `oldest is ${oldest}`);
  const distinct = await read<{ samples: number; firstTs: string }>(history.distinctJson({}));
  const all = await history.series('north', 'a.pv', 0, T0 * 2);
  t.equal(at(distinct.items, 0).samples, all?.times.length);
  t.equal(at(distinct.items, 0).firstTs, oldest);

  const small = await open(t, folder(t), { bytesMax: 60_000 });
  const other = small.tag(tagOf('a.pv'));
  for (let index = 0; index < 3000; index += 1) small.push(other, 0, T0 + index * 600_001, index);
  const before = await small.status();
  await small.maintain(T0);
  const after = await small.status();
  t.ok(Date.parse(after.oldest ?? '') >= Date.parse(before.oldest ?? '') + 0.5 * day, `oldest moved to ${after.oldest}`);
});

t.test('ADR 0132: what is held is forgotten neither for its age nor for space, until it is held no more', async (t) => {
  const day = 86_400_000;
  const history = await open(t, folder(t), { retentionMs: 10 * day, bytesMax: 60_000 });
  const [kept, free] = [history.tag(tagOf('a.pv')), history.tag({ ...tagOf('b.pv'), unit: 'u9' })];
  for (let index = 0; index < 3000; index += 1) for (const id of [kept, free]) history.push(id, 0, T0 + index * 600_001, index);
  history.recordState({ atMs: T0 + day, site: 'north', unit: tagOf('a.pv').unit, body: { ts: 'then' } });
  history.hold([{ site: 'north', units: [tagOf('a.pv').unit], fromMs: T0 + day, toMs: T0 + 2 * day }]);
  await history.maintain(T0 + 100 * day);
  const held = (await history.series('north', 'a.pv', T0 + day, T0 + 2 * day))?.times.length;
  t.equal(held, 144, 'every sample of the time is there');
  t.equal((await history.series('north', 'b.pv', T0 + day, T0 + 2 * day))?.times.length ?? 0, 0, 'and nothing of another unit');
  t.equal((await read<{ ts: string }>(history.eventsJson('states', {}))).items.length, 1);
  history.hold([]);
  await history.maintain(T0 + 100 * day);
  t.equal((await history.series('north', 'a.pv', T0 + day, T0 + 2 * day))?.times.length ?? 0, 0, 'lifted, it goes as all else');
});

t.test('a history that is whole is put aside for nothing: not for a disk that refuses, a newer version or a lock', async (t) => {
  const dir = folder(t);
  const ring = new SampleRing(1024);
  const start = { dataDir: dir, ring: ring.buffer, ringCapacity: 1024, limits: OPTIONS, qualityWords: OPTIONS.qualityWords };
  const file = path.join(dir, 'historian.db');
  openHistoryStore(start).close();
  const set = (version: number): void => {
    const database = new Database(file);
    database.pragma(`user_version = ${version}`);
    database.close();
  };
  const whole = (): string[] => readdirSync(dir).filter((name) => name.includes('.lost-'));

  const known = new Database(file, { readonly: true });
  const present = known.pragma('user_version', { simple: true }) as number;
  known.close();
  set(99);
  t.throws(() => openHistoryStore(start), /newer version/);
  t.same(whole(), [], 'a newer version wrote it');
  set(present);
  symlinkSync('historian.db-wal', `${file}-wal`); // a link to itself cannot be followed
  t.throws(() => openHistoryStore(start), /historian\.db-wal cannot be read and written \(ELOOP\)/);
  t.same(whole(), [], 'the files beside it are out of reach');
  rmSync(`${file}-wal`);
  t.equal(openHistoryStore(start).opened.aside, null, 'and it is served again when the disk lets it');

  writeFileSync(file, readFileSync(file).fill(0xff, 0, 4096));
  rmSync(`${file}-wal`, { force: true });
  t.match(openHistoryStore(start).opened.aside, { name: /^historian\.db\.lost-/ }, 'a damaged one is');
});

const DAY = 86_400_000;

/** Wall and elapsed time, each set by the test. */
class TwoClocks {
  wall = T0;
  mono = 0;
  wallMs = (): number => this.wall;
  monoMs = (): number => this.mono;
}

function storeWith(test: Test, dataDir: string, clock: TwoClocks, more: Partial<HistoryStart> = {}): HistoryStore {
  const ring = new SampleRing(1024);
  const limits = { flushIntervalMs: 2000, retentionMs: 10 * DAY, bytesMax: 1e12 };
  const store = new HistoryStore({ dataDir, ring: ring.buffer, ringCapacity: 1024, limits, qualityWords: ['Good'], ...more }, null, clock);
  store.take({ type: 'tag', tag: { id: 1, site: 'north', unit: 'u1', address: 'a.pv', tag: 'pv', dataType: 'Float' } });
  test.teardown(() => store.database.open && store.close());
  rings.set(store, ring);
  return store;
}
const rings = new Map<HistoryStore, SampleRing>();

function sample(store: HistoryStore, atMs: number): void {
  rings.get(store)?.push(1, 0, atMs, 1);
  store.drain(() => undefined);
}

const countOf = (store: HistoryStore, table: string): unknown => store.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

t.test('D-C-07: a clock that is set years forth makes the historian forget nothing; what grows old by elapsed time goes', async (t) => {
  const dataDir = folder(t);
  const clock = new TwoClocks();
  const first = storeWith(t, dataDir, clock);
  sample(first, T0);
  first.take({ type: 'event', event: { list: 'states', atMs: T0, site: 'north', unit: 'u1', body: {} } });
  clock.wall += 10 * 365 * DAY;
  first.maintain();
  t.equal(countOf(first, 'events'), 1, 'set forth while it runs');
  first.close();
  const second = storeWith(t, dataDir, clock);
  second.maintain();
  t.equal(countOf(second, 'events'), 1, 'still ahead at the next start');
  clock.mono += 11 * DAY;
  second.maintain();
  t.equal(countOf(second, 'events'), 0, 'eleven days later');
});

t.test('8.9: texts are forgotten with the samples of their time', async (t) => {
  const clock = new TwoClocks();
  const store = storeWith(t, folder(t), clock);
  store.take({ type: 'text', id: 1, text: 'old' });
  store.maintain();
  clock.wall += 11 * DAY;
  clock.mono += 11 * DAY;
  store.take({ type: 'text', id: 2, text: 'new' });
  store.maintain();
  t.same([...store.texts.values()], ['old', 'new'], 'a number is given to samples for a day, which wait in their block');
  clock.wall += 2 * DAY;
  clock.mono += 2 * DAY;
  store.maintain();
  t.same([...store.texts.values()], ['new']);
  t.same(store.database.prepare('SELECT text FROM texts').pluck().all(), ['new']);
});

t.test('8.9: a text outlives every sample that has its number, also after a long time off and when all texts before it are gone', async (t) => {
  const dataDir = folder(t);
  const clock = new TwoClocks();
  const pass = (days: number, isOff = false): void => {
    clock.wall += days * DAY;
    if (!isOff) clock.mono += days * DAY;
  };
  const first = storeWith(t, dataDir, clock);
  sample(first, clock.wall);
  first.close();
  pass(30, true);
  const second = storeWith(t, dataDir, clock);
  second.take({ type: 'text', id: 1, text: 'mixed' });
  sample(second, clock.wall);
  second.close();
  pass(5);
  const third = storeWith(t, dataDir, clock);
  sample(third, clock.wall);
  third.maintain();
  third.close();
  const fourth = storeWith(t, dataDir, clock);
  fourth.maintain();
  t.same([...fourth.texts.values()], ['mixed'], 'its sample is five days old, and samples are kept for ten');
  pass(20);
  fourth.maintain();
  fourth.close();
  t.equal(storeWith(t, dataDir, clock).opened.nextTextId, 2, 'no number is given twice: a sample would be read with the text of another');
});

t.test('D-C-07: a history of events alone is not forgotten by a clock that was set forth', async (t) => {
  const dataDir = folder(t);
  const clock = new TwoClocks();
  const first = storeWith(t, dataDir, clock);
  first.take({ type: 'event', event: { list: 'states', atMs: T0, site: 'north', unit: 'u1', body: {} } });
  first.close();
  clock.wall += 10 * 365 * DAY;
  const second = storeWith(t, dataDir, clock);
  second.maintain();
  t.equal(countOf(second, 'events'), 1);
});

t.test('decisions 3.8: a unit that was killed before its first samples were on disk has a gap from its beginning', async (t) => {
  const dataDir = folder(t);
  const clock = new TwoClocks();
  storeWith(t, dataDir, clock).close();
  const store = storeWith(t, dataDir, clock, { units: [{ site: 'north', unit: 'u1', sinceMs: T0 - 5000 }] });
  sample(store, T0 + 1000);
  store.commit();
  t.match(store.database.prepare('SELECT unit, from_at, to_at, cause, bounds FROM gaps').all(), [
    { unit: 'u1', from_at: T0 - 5000, to_at: T0 + 1000, cause: 'RuntimeRestart', bounds: 'Containing' },
  ]);
});

t.test('D-C-07: over a restart the gap begins with the sample that was taken last, whatever clocks of earlier runs said, and is never lost', async (t) => {
  const dataDir = folder(t);
  const clock = new TwoClocks();
  for (const atMs of [T0, T0 + 400 * DAY, T0 + 60_000, T0 + 120_000, T0 - 3_600_000]) {
    const store = storeWith(t, dataDir, clock);
    sample(store, atMs);
    sample(store, atMs + 1000);
    store.commit();
    store.close();
  }
  const store = storeWith(t, dataDir, clock);
  t.match(store.database.prepare('SELECT from_at, to_at, bounds FROM gaps ORDER BY id').all(), [
    { from_at: T0 + 1000, to_at: T0 + 400 * DAY, bounds: 'Containing' },
    { from_at: T0 + 400 * DAY + 1000, to_at: T0 + 400 * DAY + 1000, bounds: 'Overlapping' },
    { from_at: T0 + 61_000, to_at: T0 + 120_000, bounds: 'Containing' },
    { from_at: T0 + 121_000, to_at: T0 + 121_000, bounds: 'Overlapping' },
  ]);
});

t.test('a part of the history that cannot be read is a refusal that names the file, and everything else is served', async (t) => {
  const dir = folder(t);
  const first = await openHistory(dir, OPTIONS);
  for (let index = 0; index < 2000; index += 1)
    first.recordState({ atMs: T0 + index * 1000, site: 'north', unit: 'u1', body: { ts: new Date(T0 + index * 1000).toISOString(), from: 'Idle', to: 'Running' } });
  ramp(first, tagOf('t1.pv'), 10);
  await first.close();
  const file = path.join(dir, 'historian.db');
  const bytes = readFileSync(file);
  const page = bytes.readUInt16BE(16) || 65_536;
  const from = Math.floor(bytes.indexOf('2026-01-31T09:10:00.000Z') / page) * page;
  writeFileSync(file, bytes.fill(0xff, from, from + page));
  const history = await open(t, dir);
  t.equal(history.aside, null);
  await t.rejects(history.eventsJson('states', { limit: 1000, order: 'asc' }), {
    kind: 'unavailable',
    context: { code: 'storage_damaged', file: 'historian.db' },
    message: /put historian\.db back from a backup/,
  });
  t.equal((await read(history.tagsJson({}))).items.length, 10);
});

t.test('G4: a thread of the historian that ends by itself is started again, and knows what only the one before was told', async (t) => {
  const workers: Worker[] = [];
  const heard = (worker: Worker): void => void workers.push(worker);
  process.on('worker', heard);
  t.teardown(() => process.off('worker', heard));
  const ends: string[] = [];
  const history = await open(t, folder(t), { died: (name) => ends.push(name) });
  const tag = history.tag(tagOf('a.pv'));
  const text = history.tag(tagOf('a.text', { dataType: 'String' }));
  const full = history.text('full');
  const again = once(process, 'worker');
  const alive = setInterval(() => undefined, 60_000); // as the gateway is
  await workers[0]?.terminate(); // what was announced had no time to reach the disk
  await again; // nobody asks: a plant at rest has nothing to tell, and its samples would fill the ring
  clearInterval(alive);
  t.same(ends, ['historian']);
  history.push(tag, 0, T0, 1);
  history.push(text, 0, T0, history.text('full'));
  t.equal(history.text('full'), full);
  t.same(
    (await read(history.tagsJson({ order: 'asc' }))).items.map(({ address, value }) => [address, value]),
    [
      ['a.pv', 1],
      ['a.text', 'full'],
    ],
  );
});
