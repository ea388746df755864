/** What has ended leaves the memory and reads as before; what is written of it is refused; it comes back whole (ADR 0035). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { type Clock, systemClock } from '../../../src/platform/base/clock.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { openLedger, type ThreadLedger } from '../../../src/platform/ledger/ledger.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import { type Past, Store, type StoreEvent } from '../../../src/platform/store/store.js';
import { noteChange, takeAuditNumber } from '../../support/ledger-child.js';
import { type OrderEntry, PLAIN, Run, Step } from '../../support/past-store.js';
import { TestClock } from '../../support/test-clock.js';

/** Like a record of a run: named as it is, with streams of nobody. */
const Note: Kind<{ of: string }, object> = { ...PLAIN, kind: 'Note', spec: v.object({ of: v.string() }), initialStatus: () => ({}), pastIndex: () => ({}) };

interface Plant {
  readonly dir: string;
  readonly ledger: ThreadLedger;
  readonly store: Store;
  readonly queries: LedgerQueries;
  readonly past: PastRows;
  close(): Promise<void>;
}

async function opened(dir: string, clock: Clock = systemClock): Promise<Plant> {
  const ledger = await openLedger(dir);
  const store = new Store(ledger, clock, undefined, [Run, Step, Note]);
  const queries = openQueries(dir, () => store.recorded);
  await store.open(0);
  return {
    dir,
    ledger,
    store,
    queries,
    past: new PastRows(store, queries),
    async close() {
      await queries.close();
      await ledger.close();
    },
  };
}

async function plant(t: Test, clock?: Clock): Promise<Plant> {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-past-'));
  const made = await opened(dir, clock);
  t.teardown(async () => {
    await made.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return made;
}

const STEPS = ['heat', 'stir', 'cool'];

/** A run with three steps and a stream of five facts. */
async function ran(store: Store, name: string, order = `o-${name}`): Promise<Past> {
  const site = 'north';
  store.apply({ puts: [{ kind: Run, site, name, spec: { order }, labels: { line: '1' } }] });
  store.apply({ puts: STEPS.map((step) => ({ kind: Step, site, name: `${name}-${step}`, spec: { of: name } })) });
  for (let fact = 1; fact <= 5; fact += 1) store.apply({ facts: [{ stream: `events/${site}/${name}`, body: (id) => ({ id, text: `${name} ${fact}` }) }] });
  await store.write({ puts: [{ kind: Run, site, name, status: { state: 'Complete' } }] });
  return {
    run: { kind: 'Run', site, name },
    members: [{ kind: 'Run', site, name }, ...STEPS.map((step) => ({ kind: 'Step', site, name: `${name}-${step}` }))],
    streams: [`events/${site}/${name}`],
  };
}

t.test('a run of which an order cannot be said becomes past all the same, on disk too, and is found by its name', async (t) => {
  const contained: string[] = [];
  t.teardown(onContained((seam) => contained.push(seam)));
  const { store, past, dir, close } = await plant(t);
  const [a, b] = [await ran(store, 'a', 'disorder'), await ran(store, 'b')];
  await store.write({ pasts: [a, b] });
  t.same([contained.length, store.list(Run)], [1, []]);
  const names = (of: Store, order?: string): string[] => of.pastIndex<OrderEntry>(Run, 'north', order === undefined ? undefined : ['order', order]).map(({ name }) => name);
  t.same([names(store), names(store, 'disorder'), names(store, 'o-b')], [['a', 'b'], [], ['b']]);
  await past.bringBack(a.run);
  t.same([names(store), store.get(Run, 'north', 'a')?.spec], [['b'], { order: 'disorder' }]);
  await store.write({ pasts: [a] });
  await close();
  const again = await opened(dir);
  t.same([names(again.store), names(again.store, 'o-b')], [['a', 'b'], ['b']], 'behind a start');
  await again.close();
});

const WHOLE = { ok: true, problems: [] };

t.test('a run that became past is in no list, reads as it read, and is found by its entry; so it is after a start', async (t) => {
  const { store, queries, past, dir, close } = await plant(t);
  const [a, b] = [await ran(store, 'a'), await ran(store, 'b')];
  const [run, step] = [store.get(Run, 'north', 'a'), store.get(Step, 'north', 'a-stir')];
  const facts = await queries.facts('events/north/a');
  const { resourceVersion } = store;
  await store.write({ pasts: [a] });

  const check = async (store: Store, past: PastRows, queries: LedgerQueries): Promise<void> => {
    t.equal(store.get(Run, 'north', 'a'), undefined);
    t.same(
      store.list(Run).map(({ metadata }) => metadata.name),
      ['b'],
    );
    t.same(
      store.list(Step, 'north').map(({ metadata }) => metadata.name),
      STEPS.map((each) => `b-${each}`).sort(),
    );
    await past.during([a.run], () => {
      t.same(store.get(Run, 'north', 'a'), run, 'every member as it was, versions and times too');
      t.same(store.get(Step, 'north', 'a-stir'), step);
    });
    t.same(await queries.facts('events/north/a'), facts);
    t.same(store.pastEntry<OrderEntry>(Run, 'north', 'a'), { kind: 'Run', site: 'north', name: 'a', run: 'Run/north/a', entry: { order: 'o-a', members: { Run: 1, Step: 3 } } });
    t.same(
      store.pastIndex<OrderEntry>(Run).map(({ name, entry }) => `${name} ${entry.order}`),
      ['a o-a'],
    );
    t.same(store.pastIndex(Step), [], 'a kind that keeps nothing has nothing in memory');
    const pages: string[] = [];
    for await (const page of past.each(Step, 'north', 'a-cool')) pages.push(...page.map(({ metadata }) => metadata.name));
    t.same(pages, ['a-heat', 'a-stir']);
    t.equal(store.lastFact('events/north/a'), 0, 'its streams left as well');
    t.equal(store.lastFact('events/north/b'), 5);
    t.equal(store.resourceVersion, resourceVersion, 'nothing was written anew');
    t.match(await queries.verifyRows(), { ...WHOLE, resources: 8, facts: 10 });
    t.match(await queries.factPage('events/north/a', { judged: true }), { recorded: true });
  };
  await check(store, past, queries);
  await close();
  const again = await opened(dir);
  t.teardown(() => again.close());
  await check(again.store, again.past, again.queries);
  await again.store.write({ pasts: [b] });
  t.same(
    again.store.pastIndex<OrderEntry>(Run, 'north').map(({ name }) => name),
    ['a', 'b'],
    'in order, however it came',
  );
});

t.test('a run whose leaving was refused is present again at once, as it was before what was refused with it', async (t) => {
  const { store, past, ledger, queries } = await plant(t);
  const a = await ran(store, 'a');
  const [runs, steps] = [store.list(Run), store.list(Step)];
  const load = ledger.load.bind(ledger);
  let isUnread = true;
  ledger.load = (windowMs) => (isUnread ? Promise.reject(new Error('the disk cannot be read')) : load(windowMs));
  await takeAuditNumber(ledger, 1);
  const refused = [
    store.write({
      puts: [{ kind: Run, site: 'north', name: 'a', status: { state: 'never' } }],
      facts: [{ stream: 'events/north/a', body: () => 6 }],
      audits: noteChange('a', '').audits ?? [],
    }),
    store.write({ pasts: [a] }),
  ];
  t.same([store.list(Run), store.lastFact('events/north/a')], [[], 0]);
  for (const each of refused) t.match(await each.catch((fault: unknown) => fault), { context: { code: 'storage_unavailable' } });
  t.equal(store.isAsOnDisk, false);
  t.same([store.list(Run), store.list(Step)], [runs, steps]);
  t.same([store.pastIndex(Run), store.lastFact('events/north/a')], [[], 5]);
  isUnread = false;
  await new Promise<void>((resolve) => store.watchReload(() => store.accepting && resolve()));
  t.same([store.list(Run), store.list(Step)], [runs, steps]);
  await store.write({ pasts: [a] });
  t.equal(await past.bringBack(a.run), true);
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('what is written of a past run is refused with 409 run_ended, and nothing of the change is done', async (t) => {
  const { store, queries } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const refused = { name: 'Refusal', kind: 'conflict', context: { code: 'run_ended', kind: 'Run', name: 'a' } };
  const { resourceVersion, auditSequence } = store;
  t.throws(
    () =>
      store.apply({
        puts: [
          { kind: Step, site: 'north', name: 'x', spec: { of: 'a' } },
          { kind: Run, site: 'north', name: 'a', status: { state: 'Held' } },
        ],
      }),
    refused,
  );
  t.throws(() => store.apply({ facts: [{ stream: 'events/north/a', body: () => 1 }] }), refused);
  t.throws(() => store.apply({ facts: [{ stream: 'messages/north/a', body: () => 1 }] }), refused, 'no new stream of it either');
  t.same([store.resourceVersion, store.auditSequence, store.get(Step, 'north', 'x')], [resourceVersion, auditSequence, undefined]);
  await store.write({ facts: [{ stream: 'messages/south/a', body: () => 1 }] });
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('the ledger itself lets nothing be written over a past row or into a past stream, whoever asks', async (t) => {
  const { store, ledger, queries } = await plant(t);
  const a = await ran(store, 'a');
  const step = store.get(Step, 'north', 'a-heat');
  await store.write({ pasts: [a] });
  const nothing = { puts: [], removes: [], audits: [], facts: [], nonces: [] };
  if (!step) throw new Error('there is a step');
  await t.rejects(ledger.commit({ ...nothing, puts: [{ ...step, metadata: { ...step.metadata, resourceVersion: 1000 } }] }), /Step a-heat belongs to a run that has ended/);
  await ledger.load(0);
  await t.rejects(ledger.commit({ ...nothing, facts: [{ stream: 'events/north/a', sequence: 1, body: 1 }] }), /belongs to a run that has ended/);
  await ledger.load(0);
  t.match(await queries.verifyRows(), { ...WHOLE, resources: 4, facts: 5 });
});

t.test('a run comes back whole, is worked with, and becomes past again; its seals hold all the way', async (t) => {
  const { store, past, queries, dir, close } = await plant(t);
  const a = await ran(store, 'a');
  const before = [store.list(Run), store.list(Step)];
  await store.write({ pasts: [a] });
  const told: string[] = [];
  for (const kind of [Run, Step]) store.watch(kind, (event: StoreEvent) => told.push(`${event.type} ${event.resource.metadata.name}${event.past ? ' past' : ''}`));
  t.same(await Promise.all([past.bringBack(a.run), past.bringBack(a.run)]), [true, true], 'two who ask at once get one');
  t.equal(await past.bringBack({ ...a.run, name: 'never' }), false);
  t.same([store.list(Run), store.list(Step)], before);
  t.same(
    told,
    a.members.map(({ name }) => `put ${name} past`),
    'watchers hear of each once, and that nothing of it has changed',
  );
  t.same(store.pastIndex(Run), []);
  t.match(await queries.verifyRows(), { ...WHOLE, resources: 4, facts: 5 });
  await store.write({ puts: [{ kind: Run, site: 'north', name: 'a', status: { state: 'Aborted' } }], facts: [{ stream: 'events/north/a', body: (id) => ({ id }) }] });
  t.equal((await queries.facts('events/north/a')).length, 6, 'its facts go on where they ended');
  t.match(await queries.verifyRows(), { ...WHOLE, facts: 6 });
  told.length = 0;
  await store.write({ pasts: [a] });
  t.same(
    told,
    a.members.map(({ name }) => `remove ${name} past`),
  );
  t.match(await queries.verifyRows(), { ...WHOLE, facts: 6 });
  await close();
  const again = await opened(dir);
  t.teardown(() => again.close());
  await again.past.during([a.run], () => t.match(again.store.get(Run, 'north', 'a'), { status: { state: 'Aborted' } }));
  t.match(await again.queries.verifyRows(), { ...WHOLE, resources: 4, facts: 6 });
});

t.test('a run that could not become past on disk is present again', async (t) => {
  const { store, ledger, queries } = await plant(t);
  const a = await ran(store, 'a');
  await takeAuditNumber(ledger, store.auditSequence + 1);
  const audits = [
    {
      site: '',
      actor: { accountId: '', displayName: '', actorType: 'component' as const },
      action: 'Update' as const,
      category: '',
      target: { kind: '', name: '', site: '' },
      result: 'Success' as const,
      correlationID: '',
    },
  ];
  await t.rejects(store.write({ pasts: [a], audits }), { name: 'Refusal', kind: 'unavailable' });
  t.match(store.get(Run, 'north', 'a'), { status: { state: 'Complete' } });
  t.equal(store.list(Step).length, 3);
  t.same([store.pastIndex(Run), store.lastFact('events/north/a')], [[], 5]);
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('what is written into a run and its going are one change', async (t) => {
  const { store, past, queries } = await plant(t);
  const a = await ran(store, 'a');
  await store.write({ puts: [{ kind: Run, site: 'north', name: 'a', status: { state: 'Settled' } }], pasts: [a] });
  await past.during([a.run], () => t.match(store.get(Run, 'north', 'a'), { status: { state: 'Settled' } }));
  t.throws(() => store.apply({ pasts: [a] }), /is present when its run becomes past/, 'twice is a fault of ours');
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('a past resource lends its name to no stream but its own', async (t) => {
  const { store, queries } = await plant(t);
  const note = { kind: 'Note', site: 'north', name: 'x' };
  await store.write({ puts: [{ ...note, kind: Note, spec: { of: 'y' } }] });
  await store.write({ pasts: [{ run: note, members: [note], streams: [] }] });
  await store.write({ facts: [{ stream: 'events/north/x', body: () => 1 }] });
  t.equal(store.lastFact('events/north/x'), 1, 'a run of the same name has its own');
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  await store.write({ facts: [{ stream: 'other/north/a', body: () => 1 }] });
  t.throws(() => store.apply({ facts: [{ stream: 'messages/north/a', body: () => 1 }] }), { name: 'Refusal', context: { code: 'run_ended' } });
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('a run whose entry cannot be made stays as it was, and its facts keep their numbers', async (t) => {
  const { store, queries } = await plant(t);
  const a = await ran(store, 'a', 'throws');
  const stream = 'events/north/a';
  t.throws(() => store.apply({ facts: [{ stream, body: (id) => ({ id }) }], pasts: [{ ...a, streams: [] }] }), /no entry can be made/);
  t.equal(store.lastFact(stream), 5);
  t.ok(store.get(Run, 'north', 'a'));
  await store.write({ facts: [{ stream, body: (id) => ({ id }) }] });
  t.match(await queries.verifyRows(), { ...WHOLE, facts: 6 });
});

t.test('a past name that nothing in memory knows is refused by the ledger once, and after that before anything is written', async (t) => {
  const clock = new TestClock();
  const { store, queries } = await plant(t, clock);
  const a = await ran(store, 'a');
  await store.write({ pasts: [a] });
  const again = { puts: [{ kind: Step, site: 'north', name: 'a-heat', spec: { of: 'a' } }] };
  await t.rejects(store.write(again), { name: 'Refusal', kind: 'unavailable' });
  const accepting = new Promise<void>((resolve) => store.watchReload(resolve));
  clock.advance(2000);
  await accepting;
  t.throws(() => store.apply(again), { name: 'Refusal', context: { code: 'run_ended', kind: 'Step', name: 'a-heat' } }, 'whoever tries again does not keep everybody from writing');
  await store.write({ puts: [{ kind: Step, site: 'north', name: 'b-heat', spec: { of: 'b' } }] });
  t.match(await queries.verifyRows(), WHOLE);
});

t.test('a run of which what is kept in memory cannot be read is present behind a start, and becomes past with an entry of its own', async (t) => {
  const { store, dir, close } = await plant(t);
  const [a, b] = [await ran(store, 'a'), await ran(store, 'b')];
  await store.write({ pasts: [a] });
  await store.write({ pasts: [b] });
  await close();
  const state = new Database(path.join(dir, 'state.db'));
  state.prepare("UPDATE resources SET past_entry = '{\"order\":' WHERE kind = 'Run' AND name = 'a'").run();
  state.close();
  const again = await opened(dir);
  t.teardown(() => again.close());
  t.same(again.store.pastUnreadable, ['Run/north/a']);
  t.same(await again.past.bringBackUnreadable(), []);
  t.match(again.store.get(Run, 'north', 'a'), { spec: { order: 'o-a' }, status: { state: 'Complete' } });
  t.equal(again.store.list(Step, 'north').length, STEPS.length, 'with all that is of it');
  t.same(
    again.store.pastIndex(Run).map(({ name }) => name),
    ['b'],
  );
  await again.store.write({ pasts: [a] });
  t.same(again.store.pastEntry<OrderEntry>(Run, 'north', 'a')?.entry, { order: 'o-a', members: { Run: 1, Step: 3 } });
  t.match(await again.queries.verifyRows(), { ok: false }, 'and somebody is told');
});

t.test('an entry that is no text, or another one than was written, takes no other of its slice with it behind a start', async (t) => {
  const { store, dir, close } = await plant(t);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await store.write({ pasts: [await ran(store, name, `ü-${name}`)] });
  await close();
  const state = new Database(path.join(dir, 'state.db'));
  for (const [name, entry] of [
    ['a', Buffer.from([0x7b, 0, 0xff, 0x22])],
    ['b', 7.5],
    ['d', '{"order":"\u0000"}'],
    ['e', Buffer.from('{"order":"other"}')],
  ] as const)
    state.prepare("UPDATE resources SET past_entry = ? WHERE kind = 'Run' AND name = ?").run(entry, name);
  state.close();
  const again = await opened(dir);
  t.teardown(() => again.close());
  t.same(again.store.pastUnreadable, ['Run/north/a', 'Run/north/b', 'Run/north/d']);
  t.same(
    again.store.pastIndex<OrderEntry>(Run).map(({ name, entry }) => [name, entry.order]),
    [
      ['a', undefined],
      ['b', undefined],
      ['c', 'ü-c'],
      ['d', undefined],
      ['e', 'other'],
      ['f', 'ü-f'],
    ],
  );
});

t.test('who reads the past waits until what he reads is past on disk, and for no other commit', async (t) => {
  const { store, past, ledger } = await plant(t);
  const [a, b] = [await ran(store, 'a'), await ran(store, 'b')];
  await store.write({ pasts: [a] });
  const commit = ledger.commit.bind(ledger);
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  ledger.commit = (transaction) => held.then(() => commit(transaction));
  const written = store.write({ puts: [{ kind: Run, site: 'north', name: 'c', spec: { order: 'o-c' } }] });
  await past.during([a.run], () => t.match(store.get(Run, 'north', 'a'), { spec: { order: 'o-a' } }));
  t.same((await past.each(Step, 'north').next()).value?.length, STEPS.length, 'a page too');
  const left = store.write({ pasts: [b] });
  const read = past.during([b.run], () => t.match(store.get(Run, 'north', 'b'), { spec: { order: 'o-b' } }, 'of a run that is not past on disk yet'));
  goOn();
  await Promise.all([written, left, read]);
});
