/** What is past is found as what is present, without reading it again for each search (ADR 0037). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { PastTexts } from '../../../src/domains/search/past-texts.js';
import { type Ranked, SearchIndex } from '../../../src/domains/search/search-index.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { runEntry } from '../../../src/platform/store/past-index.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import { type Past, Store } from '../../../src/platform/store/store.js';

const base = { group: 'recipe', scope: 'site', action: 'run', body: 'flat', apply: { how: 'yes' }, initialStatus: () => ({}), spec: v.looseObject({}) } as const;
type Loose = Record<string, unknown>;
const Run: Kind<Loose, object> = { ...base, kind: 'Run', path: 'runs', pastWith: { kind: 'Run', named: 'alike' }, pastIndex: (_run, members) => ({ ...runEntry(members) }) };
const Step: Kind<Loose, object> = { ...base, kind: 'Step', path: 'steps', pastWith: { kind: 'Run', named: 'below' } };
const Recipe: Kind<Loose, object> = { ...base, kind: 'Recipe', path: 'recipes', pastWith: { kind: 'Run', named: 'alike' } };
const KINDS = [Recipe, Step, Run];

async function plant(t: Test) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-past-search-'));
  const ledger = await openLedger(dir);
  const store = new Store(ledger, systemClock, undefined, KINDS);
  const queries = openQueries(dir, () => store.recorded);
  const asked = { rows: 0, texts: 0 };
  pastRows(store).connect({
    pastRun: (run) => (asked.rows++, queries.pastRun(run)),
    pastPage: (request) => (asked.rows++, queries.pastPage(request)),
    pastTexts: (request) => (asked.texts++, queries.pastTexts(request)),
  });
  await store.open(0);
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { store, asked, index: new SearchIndex(store, KINDS), past: new PastTexts(store, KINDS) };
}

async function ran(store: Store, site: string, name: string, order: string): Promise<Past> {
  const labels = { 'lineside.io/batch': name };
  const members = [
    { kind: Run, name, spec: { title: `Makes ${order}`, order } },
    { kind: Recipe, name, spec: { batch: name, batchID: order.toUpperCase(), digest: `${order}-digest "quoted\\`, source: 'x'.repeat(501) } },
    ...['Heat', 'cool'].map((step) => ({
      kind: Step,
      name: `${name}-${step.toLowerCase()}`,
      spec: { description: `${step} the Reactor ÄÖ`, of: name, stepPath: `make/${step}`, count: 3 },
    })),
  ];
  await store.write({ puts: members.map((member) => ({ ...member, site, labels })) });
  return { run: { kind: 'Run', site, name }, members: members.map((member) => ({ kind: member.kind.kind, site, name: member.name })), streams: [] };
}

const order = (a: Ranked, b: Ranked): number => {
  const [left, right] = [a, b].map(({ rank, found: { kind, name, site } }) => `${rank} ${KINDS.findIndex((each) => each.kind === kind)} ${name} ${site}`) as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
};
const everything = () => true;
const WORDS = ['a', 'a-1', 'a-1-heat', '1-he', 'heat', 'ÄÖ', 'reactor', 'o-7', 'O-7-DIGEST', 'make/cool', 'makes o', 'd "q', 'd\\', 'n', 'x', 'nothing', '-', 'run'].map((words) =>
  words.toLowerCase(),
);

t.test('each search finds what it found while it was present', async (t) => {
  const { store, asked, index, past } = await plant(t);
  // names of one character are parts of words, and of what JSON escapes
  const runs = [
    await ran(store, 'north', 'a-1', 'o-7'),
    await ran(store, 'south', 'a-1', 'o-8'),
    await ran(store, 'north', 'a-2', 'o-7'),
    await ran(store, 'north', 'n', 'line\nend'),
  ];
  const search = (wanted: string, most = 100) => past.find({ wanted, kinds: KINDS, isVisible: everything, order, most });
  const before = WORDS.map((words) => index.find(words, KINDS, everything).sort(order));
  t.same(await search('a'), [], 'nothing is past');
  await store.write({ pasts: runs });
  for (const [n, words] of WORDS.entries()) t.same([await search(words), index.find(words, KINDS, everything)], [before[n], []], words);
  t.same(await search('a', 3), before[0]?.slice(0, 3), 'the best of them');
  t.same(
    (await past.find({ wanted: 'heat', kinds: [Step], isVisible: (_kind, site) => site === 'south', order, most: 9 })).map(({ found }) => `${found.site} ${found.kind}`),
    ['south Step'],
  );
  t.same(asked, { rows: 0, texts: 1 }, 'they were read once, and no body came');
});

t.test('what becomes past and comes back is found once, as it is', async (t) => {
  const { store, asked, index, past } = await plant(t);
  const [one, two] = [await ran(store, 'north', 'a-1', 'o-1'), await ran(store, 'north', 'a-2', 'o-2')];
  const found = async (words: string): Promise<string[]> => {
    const isPast = await past.find({ wanted: words, kinds: KINDS, isVisible: everything, order, most: 100 });
    return [...isPast, ...index.find(words, KINDS, everything)].sort(order).map((each) => `${each.found.kind} ${each.found.name}`);
  };
  await store.write({ pasts: [one] });
  t.same(await found('heat'), ['Step a-1-heat', 'Step a-2-heat']);
  await store.write({ pasts: [two] });
  t.same(await found('heat'), ['Step a-1-heat', 'Step a-2-heat']);
  t.equal(asked.texts, 2, 'only what was not known');
  await pastRows(store).bringBack(one.run);
  t.same(await found('heat'), ['Step a-1-heat', 'Step a-2-heat']);
  await store.write({ puts: [{ kind: Step, site: 'north', name: 'a-1-heat', spec: { description: 'boils' } }] });
  await store.write({ pasts: [one] });
  t.same(await found('boils'), ['Step a-1-heat']);
  t.same(await found('heat'), ['Step a-1-heat', 'Step a-2-heat'], 'by its name');
  const searching = found('cool');
  const back = pastRows(store).bringBack(two.run);
  t.same(await searching, ['Step a-1-cool', 'Step a-2-cool'], 'also one that comes back meanwhile');
  await back;
});

t.test('one search of what is past after the other, and not too many wait', async (t) => {
  const { store, past } = await plant(t);
  await store.write({ pasts: [await ran(store, 'north', 'a-1', 'o-1')] });
  const all = await Promise.allSettled(Array.from({ length: 30 }, () => past.find({ wanted: 'heat', kinds: KINDS, isVisible: everything, order, most: 9 })));
  t.same([all.filter(({ status }) => status === 'fulfilled').length, all.filter(({ status }) => status === 'rejected').length], [21, 9]);
  t.match(all.at(-1), { reason: { kind: 'unavailable', context: { code: 'past_busy' } } });
});
