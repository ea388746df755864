/** What is past is read a little at a time, whoever asks and how many they are: nobody else waits for it (ADR 0037). */
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { Refusal } from '../../../src/platform/base/refusal.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { runEntry } from '../../../src/platform/store/past-index.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import { freshStore } from '../../support/fresh-store.js';

const SITE = 'north';
const base = { group: 'system', scope: 'site', action: 'run', body: 'flat', apply: { how: 'yes' }, initialStatus: () => ({}) } as const;
const Run: Kind<object, object> = { ...base, kind: 'Run', spec: v.object({}), pastWith: { kind: 'Run', named: 'alike' }, pastIndex: (_run, members) => ({ ...runEntry(members) }) };

/** A store with so many past runs, over a disk that answers in the same turn; `inTurn` is how often it was asked since it was set. */
async function past(t: Test, count: number) {
  const { store } = await freshStore(t, [Run]);
  const names = Array.from({ length: count }, (_, n) => `r${String(n).padStart(4, '0')}`);
  await store.write({ puts: names.map((name) => ({ kind: Run, site: SITE, name, spec: {} })) });
  const rows = new Map(names.map((name) => [name, JSON.stringify(store.get(Run, SITE, name))]));
  const refs = names.map((name) => ({ kind: 'Run', site: SITE, name }));
  await store.write({ pasts: refs.map((run) => ({ run, members: [run], streams: [] })) });
  const broken = new Set<string>();
  const asked = { inTurn: 0, most: 0, told: 0 };
  const note = (): void => {
    asked.inTurn += 1;
    asked.told += 1;
    asked.most = Math.max(asked.most, asked.inTurn);
  };
  const rowsPast = new PastRows(store, {
    pastRun: (run) => {
      note();
      const name = run.slice(run.lastIndexOf('/') + 1);
      return Promise.resolve({ rows: ['Run', SITE, name, rows.get(name) as string], streams: [] });
    },
    pastTexts: () => Promise.resolve([]),
    pastPage: ({ after, limit }) => {
      note();
      return Promise.resolve(
        names
          .filter((name) => name > after)
          .slice(0, limit)
          .flatMap((name) => [name, broken.has(name) ? '{' : (rows.get(name) as string)]),
      );
    },
  });
  return { store, rows: rowsPast, refs, asked, broken };
}

/** Until all of it is over; a turn is what others get in between. */
async function turns(asked: { inTurn: number }, all: readonly Promise<unknown>[]): Promise<number> {
  let isOver = false;
  let count = 0;
  void Promise.allSettled(all).then(() => (isOver = true));
  for (; !isOver; count += 1) {
    asked.inTurn = 0;
    await turn();
  }
  return count;
}

t.test('2000 requests for what is past hold no turn of the loop: two runs are read in one, and who would wait long is told to come again', async (t) => {
  const { rows, refs, asked, store } = await past(t, 2000);
  const faults: unknown[] = [];
  const all = refs.map((ref) =>
    rows.borrow([ref])?.then(
      (release) => release(),
      (fault: unknown) => faults.push(fault),
    ),
  );
  const count = await turns(asked, all as Promise<unknown>[]);
  t.equal(asked.most, 2);
  t.ok(count >= asked.told / 2, `${count} turns for ${asked.told} readings`);
  t.same([asked.told, faults.length], [202, 1798], 'those that wait are bounded');
  for (const fault of faults) t.ok(fault instanceof Refusal);
  t.match(faults[0], { kind: 'unavailable', context: { code: 'past_busy', retryAfterSeconds: 2 } });
  t.equal(store.lentOf(Run).length, 32);
});

t.test('those who ask for the same run wait for one reading of it', async (t) => {
  const { rows, refs, asked } = await past(t, 1);
  await Promise.all(Array.from({ length: 2000 }, async () => (await rows.borrow([refs[0] as (typeof refs)[0]]))?.()));
  t.equal(asked.told, 1);
});

t.test('walks take turns by pages, and one that has begun goes on to its end', async (t) => {
  const { rows, asked } = await past(t, 900);
  const walk = async (): Promise<number> => {
    let seen = 0;
    for await (const page of rows.each(Run, SITE)) seen += page.length;
    return seen;
  };
  const walks = Array.from({ length: 40 }, walk);
  await turns(asked, walks);
  t.equal(asked.most, 1);
  const ended = await Promise.allSettled(walks);
  t.same(
    ended.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Refusal).context.code)),
    [...Array.from({ length: 21 }, () => 900), ...Array.from({ length: 19 }, () => 'past_busy')],
  );
});

t.test('a count is read once, until something becomes past or comes back', async (t) => {
  const { rows, asked, refs, store } = await past(t, 90);
  const count = () => rows.countOf(Run, SITE, 'even', ({ metadata }) => Number(metadata.name.at(-1)) % 2 === 0);
  t.same(await Promise.all([count(), count()]), [45, 45]);
  const read = asked.told;
  t.equal(await count(), 45);
  t.equal(asked.told, read);
  await rows.bringBack(refs[0] as (typeof refs)[0]);
  t.ok(store.get(Run, SITE, 'r0000'));
  await count();
  t.ok(asked.told > read + 1);
});

t.test('a row that was left out of a walk is not counted', async (t) => {
  const { rows, broken } = await past(t, 30);
  t.equal(rows.count(Run, SITE), 30);
  broken.add('r0007');
  let seen = 0;
  for await (const page of rows.each(Run, SITE)) seen += page.length;
  t.same([seen, rows.count(Run, SITE)], [29, 29]);
});
