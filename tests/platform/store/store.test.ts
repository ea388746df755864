/** The resource store over a real ledger. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/platform/base/clock.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import type { Ledger } from '../../../src/platform/ledger/protocol.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { witnessOf } from '../../../src/platform/store/clock-witness.js';
import { Store, type StoreEvent } from '../../../src/platform/store/store.js';
import { Note, noteChange, takeAuditNumber } from '../../support/ledger-child.js';
import { at } from '../../support/at.js';

interface Test {
  teardown(call: () => unknown): void;
}

function folder(test: Test): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-store-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function openStore(test: Test, dir = folder(test)): Promise<{ store: Store; ledger: Ledger; dir: string }> {
  const ledger = await openLedger(dir);
  test.teardown(() => ledger.close());
  const store = new Store(ledger, systemClock, witnessOf(systemClock));
  await store.open(0);
  return { store, ledger, dir };
}

t.test('decisions 1.1: generation counts changes of spec, resourceVersion counts writes', async (t) => {
  const { store } = await openStore(t);
  const put = (parts: object) => at(store.apply({ puts: [{ kind: Note, site: 'north', name: 'a', ...parts }] }).resources, 0).metadata;
  const first = put({ spec: { text: '1' } });
  t.match(first, { generation: 1, resourceVersion: 1, labels: {} });
  t.match(put({ spec: { text: '1' } }), { generation: 1, resourceVersion: 2 });
  t.match(put({ status: { seen: 3 } }), { generation: 1, resourceVersion: 3 });
  t.match(put({ spec: { text: '2' }, labels: { a: 'b' } }), { generation: 2, resourceVersion: 4, uid: first.uid, createdAt: first.createdAt });
  t.same(store.get(Note, 'north', 'a')?.status, { seen: 3 });
});

t.test('design 3: a change is whole or nothing', async (t) => {
  const { store } = await openStore(t);
  await store.write(noteChange('a', 'first'));
  const { auditSequence, resourceVersion } = store;
  t.throws(
    () =>
      store.apply({
        ...noteChange('a', 'second'),
        facts: [
          { stream: 'notes/north', body: () => 1 },
          {
            stream: 'notes/north',
            body: () => {
              throw new Error('no body');
            },
          },
        ],
      }),
    /no body/,
  );
  t.equal(store.get(Note, 'north', 'a')?.spec.text, 'first');
  t.match({ auditSequence: store.auditSequence, resourceVersion: store.resourceVersion }, { auditSequence, resourceVersion });
  const applied = await store.write(noteChange('a', 'third'));
  t.same(applied.factSequences, [2]);
});

t.test('design 3: watchers see each change after it is in memory, and whether it was configuration', async (t) => {
  const { store } = await openStore(t);
  const events: [StoreEvent['type'], string, boolean, boolean][] = [];
  store.watch(Note, (event) => events.push([event.type, event.resource.metadata.name, event.configuration, store.get(Note, 'north', 'a') !== undefined]));
  const put = { kind: Note, site: 'north', name: 'a' };
  store.apply({ puts: [{ ...put, spec: { text: '1' }, labels: { x: 'y' } }] });
  store.apply({ puts: [{ ...put, status: { seen: 1 } }] });
  store.apply({ puts: [{ ...put, labels: { x: 'y' } }] });
  store.apply({ puts: [{ ...put, labels: { x: 'z' } }] });
  store.apply({
    removes: [
      { kind: 'Note', site: 'north', name: 'a' },
      { kind: 'Note', site: 'north', name: 'never' },
    ],
  });
  t.same(events, [
    ['put', 'a', true, true],
    ['put', 'a', false, true],
    ['put', 'a', false, true],
    ['put', 'a', true, true],
    ['remove', 'a', true, false],
  ]);
});

t.test('a watcher that throws is contained: the caller has his answer, the later watchers hear of the change', async (t) => {
  const { store } = await openStore(t);
  const contained: string[] = [];
  t.teardown(onContained((seam) => contained.push(seam)));
  const heard: string[] = [];
  const broken = (): never => {
    throw new Error('a watcher with a bug');
  };
  store.watch(Note, broken);
  store.watch(Note, ({ resource }) => heard.push(resource.metadata.name));
  store.watchAudit(broken);
  store.watchAudit(({ action }) => heard.push(action));
  await store.write(noteChange('a', 'first'));
  t.same(heard, ['a', 'Update']);
  t.same(contained, ['watcher of Note', 'watcher of the audit trail']);
  t.equal(store.get(Note, 'north', 'a')?.spec.text, 'first');
});

t.test('design 3: lists are sorted by name and follow changes', async (t) => {
  const { store } = await openStore(t);
  for (const [site, name] of [
    ['north', 'b'],
    ['south', 'a'],
    ['north', 'a'],
  ] as const)
    store.apply({ puts: [{ kind: Note, site, name, spec: { text: '' } }] });
  const names = (site?: string) => store.list(Note, site).map((note) => `${note.metadata.site}/${note.metadata.name}`);
  t.same(names(), ['north/a', 'south/a', 'north/b']);
  t.same(names('north'), ['north/a', 'north/b']);
  store.apply({ removes: [{ kind: 'Note', site: 'north', name: 'a' }] });
  t.same(names('north'), ['north/b']);
});

t.test('design 3: a restart finds everything as it was acknowledged', async (t) => {
  const dir = folder(t);
  const ledger = await openLedger(dir);
  const before = new Store(ledger, systemClock);
  await before.open(0);
  await before.write(noteChange('a', 'kept'));
  await before.write({ ...noteChange('b', 'removed') });
  await before.write({ removes: [{ kind: 'Note', site: 'north', name: 'b' }] });
  await ledger.close();
  const { store } = await openStore(t, dir);
  t.same(store.get(Note, 'north', 'a'), before.get(Note, 'north', 'a'));
  t.equal(store.get(Note, 'north', 'b'), undefined);
  t.equal(store.resourceVersion, before.resourceVersion);
  t.equal(store.nextAuditName(), 'audit-000000000003');
  t.same((await store.write(noteChange('c', ''))).factSequences, [3]);
});

t.test('8.6: audit records carry the clock they were stamped with', async (t) => {
  const { store, dir } = await openStore(t);
  await store.write(noteChange('a', ''));
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  const record = await queries.auditRecord(1, {});
  t.match(record?.details?.clock, { bootID: String, monotonicNs: /^\d+$/, synchronised: Boolean });
});

t.test('G4: after a refused commit memory is what is on disk, and every refused caller has waited for that', async (t) => {
  const { store, ledger } = await openStore(t);
  await store.write(noteChange('a', 'on disk'));
  let reloads = 0;
  store.watchReload(() => {
    reloads += 1;
  });
  await takeAuditNumber(ledger, 2);
  const refused = [store.write(noteChange('a', 'never')), store.write(noteChange('b', 'never'))];
  for (const each of refused) {
    const refusal: unknown = await each.catch((fault: unknown) => fault);
    t.match(refusal, { kind: 'unavailable', context: { code: 'storage_unavailable' } });
    t.equal(store.get(Note, 'north', 'a')?.spec.text, 'on disk');
    t.equal(store.get(Note, 'north', 'b'), undefined);
  }
  t.equal(store.accepting, false);
  t.equal(reloads, 2, 'it is taken back at once, and read from disk');
  t.equal(store.nextAuditName(), 'audit-000000000003');
});

t.test('G4: what was refused is read by nobody, neither before the disk was read nor for as long as it cannot be read', async (t) => {
  const { store, ledger } = await openStore(t);
  for (const name of ['a', 'b', 'c']) await store.write(noteChange(name, 'on disk'));
  const { resourceVersion, auditSequence } = store;
  const lastFact = store.lastFact('notes/north');
  store.list(Note, 'north');
  const read = () => ({
    notes: store.list(Note, 'north').map(({ metadata, spec }) => [metadata.name, spec.text]),
    removed: store.get(Note, 'north', 'b')?.spec.text,
    made: store.get(Note, 'north', 'd'),
    numbers: [store.resourceVersion, store.auditSequence, store.lastFact('notes/north'), store.lastFact('notes/new')],
  });
  const asOnDisk = {
    notes: [
      ['a', 'on disk'],
      ['b', 'on disk'],
      ['c', 'on disk'],
    ],
    removed: 'on disk',
    made: undefined,
    numbers: [resourceVersion, auditSequence, lastFact, 0],
  };
  const told: unknown[] = [];
  store.watchReload(() => told.push(read()));
  const atLoads: unknown[] = [];
  const load = ledger.load.bind(ledger);
  ledger.load = () => {
    atLoads.push(read());
    if (atLoads.length > 1) ledger.load = load;
    return Promise.reject(new Error('the disk cannot be read'));
  };
  await takeAuditNumber(ledger, auditSequence + 1);
  const refused = [
    store.write(noteChange('a', 'never')),
    store.write({ ...noteChange('a', 'never either'), facts: [{ stream: 'notes/new', body: () => 1 }] }),
    store.write({ removes: [{ kind: 'Note', site: 'north', name: 'b' }] }),
    store.write(noteChange('d', 'never')),
    store.write({ removes: [{ kind: 'Note', site: 'north', name: 'd' }] }),
    store.write(noteChange('d', 'never again')),
  ];
  t.equal(store.get(Note, 'north', 'a')?.spec.text, 'never either', 'what is on its way is read');
  for (const each of refused) {
    t.match(await each.catch((fault: unknown) => fault), { context: { code: 'storage_unavailable' } });
    t.same(read(), asOnDisk);
  }
  t.equal(store.isAsOnDisk, false, 'the disk could not be read');
  await new Promise<void>((resolve) => store.watchReload(() => store.accepting && resolve()));
  t.equal(atLoads.length, 2);
  for (const each of atLoads) t.same(each, asOnDisk, 'while the disk is being read');
  t.equal(told.length, 2, 'once when it was taken back, and once when the disk was read');
  t.same(told[0], asOnDisk, 'what is kept of the resources elsewhere is made anew from what is on disk');
  await store.write(noteChange('a', 'written'));
  t.equal(store.get(Note, 'north', 'a')?.spec.text, 'written');
});

t.test('a list is sorted once: a change of status replaces in place, at 100,000 resources too', async (t) => {
  const { store } = await openStore(t);
  const COUNT = 100_000;
  const names = Array.from({ length: COUNT }, (_, at) => `n-${String((at * 7919) % COUNT).padStart(6, '0')}`);
  for (let at = 0; at < COUNT; at += 10_000) store.apply({ puts: names.slice(at, at + 10_000).map((name) => ({ kind: Note, site: 'north', name, spec: { text: name } })) });
  const first = store.list(Note, 'north');
  const everywhere = store.list(Note);
  t.equal(first.length, COUNT);
  const { sort } = Array.prototype;
  let sorts = 0;
  Array.prototype.sort = function (this: unknown[], ...given) {
    sorts += 1;
    return sort.apply(this, given);
  } as typeof sort;
  t.teardown(() => {
    Array.prototype.sort = sort;
  });
  for (const seen of [1, 2]) for (const name of ['n-000000', 'n-050000', 'n-099999']) store.apply({ puts: [{ kind: Note, site: 'north', name, status: { seen } }] });
  const second = store.list(Note, 'north');
  t.equal(sorts, 0, 'nothing is sorted anew');
  for (const at of [0, 50_000, 99_999]) {
    t.same(second[at]?.status, { seen: 2 });
    t.equal(second[at]?.metadata.name, `n-${String(at).padStart(6, '0')}`);
    t.notSame(first[at]?.status, { seen: 2 }, 'a list that somebody holds stays as he read it');
    t.equal(store.list(Note)[at], second[at]);
  }
  t.not(store.list(Note), everywhere);
  t.equal(store.list(Note, 'north'), second, 'without a change it is the same list');
  store.apply({ puts: [{ kind: Note, site: 'north', name: 'n-000000x', spec: { text: '' } }] });
  t.equal(store.list(Note, 'north')[1]?.metadata.name, 'n-000000x', 'what is new has its place');
  t.equal(sorts, 1);
  store.apply({ removes: [{ kind: Note.kind, site: 'north', name: 'n-000000' }] });
  t.equal(store.list(Note, 'north')[0]?.metadata.name, 'n-000000x');
});

t.test('D-C-09: while nothing can be written refused requests take no place of who signs in or holds the plant', async (t) => {
  const { store, ledger, dir } = await openStore(t);
  await store.write(noteChange('a', 'on disk'));
  await takeAuditNumber(ledger, 2);
  await store.write(noteChange('a', 'never')).catch(() => undefined);
  t.equal(store.accepting, false);
  const [draft] = noteChange('b', '').audits ?? [];
  if (!draft) throw new Error('the change has a record');
  const told = (word: string) => ({ audits: [{ ...draft, details: { word } }] });
  for (let count = 0; count < 2000; count += 1) t.equal(await store.writeOrKeep(told('refused'), { as: 'refusal' }), false);
  for (let count = 0; count < 600; count += 1) await store.writeOrKeep(told('refreshed'), { as: 'session', key: 'refresh/one' });
  t.equal(await store.writeOrKeep(told('signed in'), { as: 'session' }), false);
  t.equal(await store.writeOrKeep(told('held'), { as: 'order', key: 'batch/Hold' }), false);
  for (let count = 0; count < 498; count += 1) await store.writeOrKeep(told('signed in'), { as: 'session' });
  t.match(await store.writeOrKeep(told('one too many'), { as: 'session' }).catch((fault: unknown) => fault), { context: { code: 'storage_unavailable' } });
  t.equal(await store.writeOrKeep(told('held by another'), { as: 'order', key: 'batch/Hold/eve' }), false);

  await new Promise<void>((resolve) => store.watchReload(() => store.accepting && resolve()));
  await store.recorded;
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  const details = await Promise.all(Array.from({ length: 4 }, (_, at) => queries.auditRecord(store.auditSequence - at, {}).then((record) => record?.details)));
  t.match(details[0], { times: 1500, message: /1500 further refused requests/, happenedAt: String });
  const all = await Promise.all(Array.from({ length: store.auditSequence }, (_, at) => queries.auditRecord(at + 1, {}).then((record) => record?.details)));
  const count = (word: string): number => all.filter((one) => one?.word === word).length;
  t.same([count('refused'), count('refreshed'), count('signed in'), count('held')], [500, 1, 499, 1]);
  t.match(
    all.find((one) => one?.word === 'refreshed'),
    { times: 600, happenedAt: String, lastHappenedAt: String },
  );
});

t.test('D-C-09: what was kept is written in the order in which it was done, also when the disk refuses it once more', async (t) => {
  const { store, ledger, dir } = await openStore(t);
  const order = { as: 'order' } as const;
  await store.write(noteChange('a', 'on disk'));
  const [draft] = noteChange('b', '').audits ?? [];
  if (!draft) throw new Error('the change has a record');
  const told = (word: string) => ({ audits: [{ ...draft, details: { word } }] });
  await takeAuditNumber(ledger, 2);
  await store.write(noteChange('a', 'never')).catch(() => undefined);
  await store.writeOrKeep(told('first'), order);
  // the probe passes, and what was kept meets a number that is taken: the disk refuses once more, and somebody else is at it then
  let again: Promise<boolean> | undefined;
  store.watchReload(() => {
    if (!store.accepting) again ??= store.writeOrKeep(told('second'), order);
  });
  const probe = ledger.probe.bind(ledger);
  let isTaken = false;
  ledger.probe = async () => {
    await probe();
    if (isTaken) return;
    isTaken = true;
    const load = ledger.load.bind(ledger);
    ledger.load = async (windowMs) => {
      ledger.load = load;
      const image = await load(windowMs);
      await takeAuditNumber(ledger, image.auditSequence + 1);
      return image;
    };
  };
  const accepted = (): Promise<void> => new Promise((resolve) => store.watchReload(() => store.accepting && resolve()));
  await accepted();
  await accepted();
  t.equal(await again, false, 'it was refused once more');
  await store.recorded;
  const queries = openQueries(dir);
  t.teardown(() => queries.close());
  const all = await Promise.all(Array.from({ length: store.auditSequence }, (_, at) => queries.auditRecord(at + 1, {}).then((record) => record?.details)));
  t.same(
    all.flatMap((one) => (one?.word === 'first' || one?.word === 'second' ? [one.word] : [])),
    ['first', 'second'],
  );
});
