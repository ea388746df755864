/** Reading a history whose clock was set back while it was recorded: blocks of one tag overlap, on the real store and its thread. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type History, type HistoryOptions, openHistory } from '../../../src/platform/history/history.js';
import type { Aggregate } from '../../../src/platform/history/words.js';
import { at } from '../../support/at.js';

const OPTIONS: HistoryOptions = { flushIntervalMs: 2000, retentionMs: 400 * 86_400_000, bytesMax: 2 ** 34, qualityWords: ['Good', 'Uncertain', 'Raw', 'Bad'] };
const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);
const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ORDERS = ['asc', 'desc'] as const;

interface Test {
  teardown(call: () => unknown): void;
}
interface Item {
  readonly address: string;
  readonly ts: string;
  readonly value: number | null;
}
interface Page<Row = Item> {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}
interface Sample {
  readonly atMs: number;
  readonly value: number;
}
type Query = Omit<Parameters<History['tagsJson']>[0], 'cursor'>;

/** Records under a clock that the test sets, and knows what it recorded, in that order. */
class Recorder {
  wallMs = T0;
  readonly samples: Sample[] = [];
  readonly #history: History;
  readonly #id: number;

  constructor(history: History, address = 'a.pv') {
    this.#history = history;
    this.#id = history.tag({ site: 'north', unit: 'u1', address, tag: 'pv', dataType: 'Float' });
  }

  record(count: number, everyMs = SECOND): void {
    for (let left = count; left > 0; left -= 1) {
      const value = this.samples.length;
      this.#history.push(this.#id, 0, this.wallMs, value);
      this.samples.push({ atMs: this.wallMs, value });
      this.wallMs += everyMs;
    }
  }

  /** By time, then in the order of recording; `toMs` exclusive. */
  ordered(order: 'asc' | 'desc', fromMs = 0, toMs = T0 * 2): Sample[] {
    const sorted = this.samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).sort((a, b) => a.atMs - b.atMs || a.value - b.value);
    return order === 'asc' ? sorted : sorted.toReversed();
  }
}

async function open(test: Test): Promise<History> {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-overlap-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const history = await openHistory(dir, OPTIONS);
  test.teardown(() => history.close());
  return history;
}

async function read<Row = Item>(bytes: Promise<Uint8Array>): Promise<Page<Row>> {
  return JSON.parse(new TextDecoder().decode(await bytes)) as Page<Row>;
}

async function paged(history: History, query: Query): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(history.tagsJson({ ...query, cursor }));
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < 50_000);
  return found;
}

const shown = (samples: readonly Sample[]): string[] => samples.map(({ atMs, value }) => `${new Date(atMs).toISOString()} ${value}`);
const served = (items: readonly Item[]): string[] => items.map(({ ts, value }) => `${ts} ${value}`);

/** An hour and a half, then the clock goes back an hour, twice by some minutes, and forth again. */
function recordSteps(recorder: Recorder): void {
  recorder.record(5400);
  recorder.wallMs -= HOUR;
  recorder.record(700);
  recorder.wallMs -= 4 * MINUTE + 500; // between the seconds of before
  recorder.record(300);
  recorder.wallMs -= 2 * MINUTE;
  recorder.record(650, 1500);
  recorder.wallMs += 3 * HOUR;
  recorder.record(900);
  recorder.wallMs -= 90 * SECOND;
  recorder.record(30);
}

for (const order of ORDERS) {
  t.test(`8.9 tags, ${order}: after the clock was set back every sample comes once, by time and then in the order of recording, whatever the pages`, async (t) => {
    const history = await open(t);
    const recorder = new Recorder(history);
    recordSteps(recorder);
    for (const limit of [10_000, 997, 100]) t.same(served(await paged(history, { order, limit })), shown(recorder.ordered(order)), `pages of ${limit}`);
    for (const [fromMs, toMs] of [
      [T0 + 45 * MINUTE, T0 + 46 * MINUTE],
      [T0 + 40 * MINUTE + 300, T0 + 55 * MINUTE],
      [T0 - HOUR, T0 + 31 * MINUTE],
      [T0 + 85 * MINUTE, T0 + 5 * HOUR],
    ] as const)
      t.same(served(await paged(history, { order, limit: 70, fromMs, toMs })), shown(recorder.ordered(order, fromMs, toMs)), `of ${new Date(fromMs).toISOString()}`);
  });

  t.test(`8.9 tags, ${order}: samples of one instant are cut by a page and not lost, also beside other tags`, async (t) => {
    const history = await open(t);
    const recorders = ['a.pv', 'b.pv', 'c.pv'].map((address) => new Recorder(history, address));
    for (let run = 0; run < 4; run += 1)
      for (const recorder of recorders) {
        recorder.wallMs = T0;
        recorder.record(3);
      }
    const expected = at(
      recorders.map((recorder) => recorder.ordered(order)),
      0,
    );
    const instants = [...new Set(expected.map(({ atMs }) => atMs))];
    const all = instants.flatMap((atMs) =>
      ['a.pv', 'b.pv', 'c.pv'].flatMap((address) => expected.filter((one) => one.atMs === atMs).map((one) => `${address} ${shown([one])[0]}`)),
    );
    for (const limit of [1, 2, 3, 5, 7, 11, 100])
      t.same(
        (await paged(history, { order, limit })).map((item) => `${item.address} ${served([item])[0]}`),
        all,
        `pages of ${limit}`,
      );
  });

  t.test(`8.9 aggregate, ${order}: after the clock was set back each bucket comes once and holds all of its samples`, async (t) => {
    const history = await open(t);
    const recorder = new Recorder(history);
    recordSteps(recorder);
    const of: Record<Exclude<Aggregate, 'none'>, (values: readonly number[]) => number> = {
      avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
      min: (values) => Math.min(...values),
      max: (values) => Math.max(...values),
      first: (values) => at(values, 0),
      last: (values) => at(values, values.length - 1),
      count: (values) => values.length,
    };
    for (const intervalMs of [MINUTE, 7 * MINUTE, HOUR, 24 * HOUR])
      for (const [aggregate, valueOf] of Object.entries(of) as [Exclude<Aggregate, 'none'>, (values: readonly number[]) => number][]) {
        const buckets = new Map<number, number[]>();
        for (const { atMs, value } of recorder.ordered('asc')) {
          const bucket = Math.floor(atMs / intervalMs) * intervalMs;
          buckets.set(bucket, [...(buckets.get(bucket) ?? []), value]);
        }
        const expected = [...buckets].map(([atMs, values]) => ({ atMs, value: valueOf(values) }));
        if (order === 'desc') expected.reverse();
        t.same(served(await paged(history, { order, aggregate, intervalMs, limit: 50 })), shown(expected), `${aggregate} of ${intervalMs} ms`);
      }
  });
}

t.test('8.9 tags: any steps of the clock, any range, any page', async (t) => {
  let seed = 20_260_131;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  for (let round = 0; round < 6; round += 1) {
    const history = await open(t);
    const recorder = new Recorder(history);
    for (let run = 0; run < 12; run += 1) {
      recorder.record(1 + random(900), [200, 1000, 60_000][random(3)]);
      recorder.wallMs += random(2) === 0 ? -random(2 * HOUR) : random(20 * MINUTE);
      if (random(3) === 0) recorder.wallMs = Math.floor(recorder.wallMs / MINUTE) * MINUTE;
    }
    const [first, last] = [at(recorder.ordered('asc'), 0).atMs, at(recorder.ordered('desc'), 0).atMs];
    for (let look = 0; look < 12; look += 1) {
      const fromMs = first - MINUTE + random(last - first);
      const toMs = fromMs + 1 + random(last - first);
      for (const order of ORDERS) {
        const expected = shown(recorder.ordered(order, fromMs, toMs));
        t.same(served(await paged(history, { order, fromMs, toMs, limit: 50 + random(3000) })), expected, `round ${round}, ${fromMs} to ${toMs}, ${order}`);
      }
      const { items } = await read<{ samples: number; firstTs: string; lastTs: string }>(history.distinctJson({ fromMs, toMs }));
      const within = recorder.ordered('asc', fromMs, toMs);
      t.match(
        items,
        within.length === 0
          ? []
          : [{ samples: within.length, firstTs: new Date(at(within, 0).atMs).toISOString(), lastTs: new Date(at(within, within.length - 1).atMs).toISOString() }],
        'and the list of tags says as much',
      );
      t.equal(items.length, Math.min(1, within.length));
    }
  }
});

t.test('8.9 series: of a tag whose clock was set back it is in the order of time, each sample once', async (t) => {
  const history = await open(t);
  const recorder = new Recorder(history);
  recordSteps(recorder);
  const [fromMs, toMs] = [T0 + 20 * MINUTE, T0 + 2 * HOUR];
  const { times, values } = (await history.series('north', 'a.pv', fromMs, toMs)) ?? { times: [], values: [] };
  t.same(shown([...times].map((atMs, index) => ({ atMs, value: at(values, index) }))), shown(recorder.ordered('asc', fromMs, toMs)));
});

t.test('8.9: what retention leaves of a history whose clock was set back is told with the times it has', async (t) => {
  const history = await open(t);
  const recorder = new Recorder(history);
  recorder.record(1200); // blocks of ten minutes from 09:00 and 09:10
  recorder.wallMs = T0 + MINUTE;
  recorder.record(60); // a block of 09:01
  recorder.wallMs = T0 - HOUR;
  recorder.record(10); // the open block
  const told = async () => {
    const { items } = await read<{ samples: number; firstTs: string; lastTs: string }>(history.distinctJson({}));
    const { oldest, newest } = await history.status();
    const { samples, firstTs, lastTs } = at(items, 0);
    return { samples, firstTs, lastTs, oldest, newest };
  };
  const is = (samples: number, fromMs: number, toMs: number) => {
    const [firstTs, lastTs] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    return { samples, firstTs, lastTs, oldest: firstTs, newest: lastTs };
  };
  t.same(await told(), is(1270, T0 - HOUR, T0 + 1199 * SECOND));
  await history.maintain(T0 + OPTIONS.retentionMs + 30 * SECOND);
  t.same(await told(), is(670, T0 - HOUR, T0 + 1199 * SECOND), 'the block of 09:00 went, the open block of 08:00 is there');
  await history.maintain(T0 + OPTIONS.retentionMs + 11 * MINUTE);
  t.same(await told(), is(10, T0 - HOUR, T0 - HOUR + 9 * SECOND), 'all blocks went');
});

t.test('8.9 tags: what retention forgets between two pages is not counted into the next one', async (t) => {
  const history = await open(t);
  const recorder = new Recorder(history);
  recorder.wallMs = T0 - 5 * MINUTE;
  recorder.record(301); // its last one is of the instant that a later block begins with
  recorder.wallMs = T0 - 2 * HOUR;
  recorder.record(1);
  recorder.wallMs = T0;
  recorder.record(5);
  recorder.wallMs = T0 - HOUR;
  recorder.record(1); // ends the block before it
  const query = { order: 'asc', fromMs: T0, limit: 2 } as const;
  const first = await read(history.tagsJson(query));
  t.same(served(first.items), shown(recorder.ordered('asc').filter(({ atMs }) => atMs === T0)));
  await history.maintain(T0 + OPTIONS.retentionMs - MINUTE); // the block of 08:55 goes
  const second = await read(history.tagsJson({ ...query, limit: 10, cursor: first.nextCursor ?? '' }));
  t.same(served(second.items), shown(recorder.ordered('asc', T0 + 1)));
});

t.test('8.9: a cursor that somebody made up serves a page or is refused', async (t) => {
  const history = await open(t);
  new Recorder(history).record(3);
  const cursor = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');
  const tags = (made: string): Promise<{ readonly items: readonly unknown[] }> => read(history.tagsJson({ order: 'asc', cursor: cursor(made) }));
  const distinct = (made: string): Promise<{ readonly items: readonly unknown[] }> => read(history.distinctJson({ cursor: cursor(made) }));
  t.ok((await tags(`tags:${T0}:1:-2`)).items.length >= 2);
  for (const made of ['distinct:-1', 'distinct:7']) t.ok((await distinct(made)).items.length <= 1, made);
  for (const asked of [tags(`tags:${T0}:1`), tags(`tags:${T0}:1:0.5`), tags(`tags:${T0}:1:1e12`), distinct('distinct:0.5'), distinct('distinct:+1')])
    t.match(await asked.catch((fault: unknown) => fault), { kind: 'invalid', context: { code: 'invalid_query', field: 'cursor' } });
});
