/** References as data: who needs whom, what dangles, what an edit touches, in which order to write (Q-ERR-11, Q-ERR-13, D-UNIT-02). */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import * as v from 'valibot';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { Slice } from '../../../src/platform/base/slices.js';
import { type Kind, type Reference, ruled } from '../../../src/platform/store/kind.js';
import {
  checkReferences,
  DISTANCE_MAX,
  inOrder,
  namedBeside,
  References,
  referencesIn,
  refuseDelete,
  targetOf,
  TOUCHED_MAX,
  type Touched,
} from '../../../src/platform/store/references.js';
import { freshStore } from '../../support/fresh-store.js';

interface TankSpec {
  readonly feedsFrom: string;
  readonly watchedBy: readonly string[];
}

const TankSpec = v.strictObject({ feedsFrom: v.optional(v.string(), ''), watchedBy: v.optional(v.array(v.string()), []) });

function kindOf(kind: string, references?: (spec: TankSpec, site: string) => readonly Reference[]): Kind<TankSpec, object> {
  return {
    kind,
    group: 'physical',
    scope: 'site',
    action: kind.toLowerCase(),
    spec: TankSpec,
    body: 'flat',
    apply: { how: 'yes' },
    initialStatus: () => ({}),
    ...(references ? { references } : {}),
  };
}

const Gauge = kindOf('Gauge');
const Tank = kindOf('Tank', ({ feedsFrom, watchedBy }, site) => [
  ...(feedsFrom === '' ? [] : [{ path: 'feedsFrom', kind: 'Tank', site, name: feedsFrom, when: 'write', holds: true } as const]),
  ...watchedBy.map((name, index) => ({ path: `watchedBy[${index}]`, kind: 'Gauge', site, name, when: 'run' }) as const),
]);

const tankRules = ruled(Tank, {});

const tank = (name: string, feedsFrom = '', watchedBy: readonly string[] = []) => ({ kind: Tank, site: 's', name, spec: { feedsFrom, watchedBy } });
const gauge = (name: string) => ({ kind: Gauge, site: 's', name, spec: { feedsFrom: '', watchedBy: [] } });

async function plant(t: Parameters<typeof freshStore>[0]) {
  const { store, ledger } = await freshStore(t, [Gauge, Tank]);
  await store.write({ puts: [gauge('level'), tank('feed'), tank('mix', 'feed', ['level']), tank('hold', 'mix', ['level', 'none'])] });
  return { store, ledger, references: new References(store) };
}

const named = (targets: readonly { readonly kind: string; readonly name: string }[]) => targets.map(({ kind, name }) => `${kind} ${name}`);

/** What a refusal says beside its words. */
function refused(call: () => void): unknown {
  try {
    call();
  } catch (fault) {
    if (fault instanceof Refusal) return fault.context;
    throw fault;
  }
  return undefined;
}

t.test('what became past names nobody any more, leads nowhere into nothing, and still stands in its site', async (t) => {
  const Kept: Kind<TankSpec, object> = { ...Gauge, kind: 'Kept', pastIndex: () => ({}) };
  const Watch = kindOf('Watch', ({ watchedBy }, site) => watchedBy.map((name, index) => ({ path: `watchedBy[${index}]`, kind: 'Kept', site, name, when: 'run' }) as const));
  const { store } = await freshStore(t, [Gauge, Kept, Tank, Watch]);
  const references = new References(store);
  const spec = { feedsFrom: '', watchedBy: [] };
  const kept = { kind: 'Kept', site: 's', name: 'k' };
  await store.write({
    puts: [gauge('level'), tank('mix', '', ['level']), { kind: Watch, site: 's', name: 'w', spec: { ...spec, watchedBy: ['k'] } }, { ...kept, kind: Kept, spec }],
  });
  const level = { kind: 'Gauge', site: 's', name: 'level' };
  t.equal(references.usedBy(level).length, 1);
  const mix = store.get(Tank, 's', 'mix');
  const run = { kind: 'Tank', site: 's', name: 'mix' };
  await store.write({ pasts: [{ run, members: [run], streams: [] }] });
  t.same(references.usedBy(level), []);
  await store.takeBack({ run, rows: mix ? [mix] : [], streams: [] });
  t.same(named(references.usedBy(level)), ['Tank mix'], 'once, when it comes back');
  await store.write({ pasts: [{ run: kept, members: [kept], streams: [] }] });
  t.same(references.dangling('s'), [], 'what is past exists');
  t.ok(named(references.contentsOf('s')).includes('Kept k'));
});

t.test('what uses a resource follows each change of the store', async (t) => {
  const { store, references } = await plant(t);
  const level = { kind: 'Gauge', site: 's', name: 'level' };
  t.match(references.usedBy(level), [
    { name: 'hold', path: 'watchedBy[0]', when: 'run', holds: false },
    { name: 'mix', path: 'watchedBy[0]' },
  ]);
  t.same(references.usedBy({ ...level, site: 'other' }), [], 'a name is of its site');
  await store.write({ puts: [tank('mix', 'feed', [])] });
  await store.write({ puts: [tank('more', '', ['level', 'level'])] });
  t.same(
    references.usedBy(level).map(({ name, path }) => `${name} ${path}`),
    ['hold watchedBy[0]', 'more watchedBy[0]', 'more watchedBy[1]'],
  );
  await store.write({ removes: [{ kind: 'Tank', site: 's', name: 'hold' }] });
  t.same(named(references.usedBy(level)), ['Tank more', 'Tank more']);
});

t.test('Q-ERR-13: a reference that may dangle does, and is told with who has it', async (t) => {
  const { references } = await plant(t);
  t.match(references.dangling(), [{ kind: 'Tank', name: 'hold', path: 'watchedBy[1]', target: { kind: 'Gauge', site: 's', name: 'none' } }]);
  t.equal(references.dangling().length, 1);
  t.same(references.dangling('other'), []);
});

t.test('a kind whose references cannot be read leaves no half index behind: the next look reads all of them again', async (t) => {
  const broken = { is: false };
  const Valve = kindOf('Valve', ({ feedsFrom }, site) => {
    if (broken.is) throw new Error('not to be read');
    return feedsFrom === '' ? [] : [{ path: 'feedsFrom', kind: 'Gauge', site, name: feedsFrom, when: 'run' }];
  });
  const { store } = await freshStore(t, [Gauge, Valve]);
  const references = new References(store);
  const valve = (name: string, feedsFrom: string) => ({ kind: Valve, site: 's', name, spec: { feedsFrom, watchedBy: [] } });
  await store.write({ puts: [gauge('level'), valve('v1', 'level'), valve('v2', 'level')] });
  const users = () => references.usedBy({ kind: 'Gauge', site: 's', name: 'level' }).map(({ name }) => name);
  t.same(users(), ['v1', 'v2']);
  broken.is = true;
  await store.write({ puts: [valve('v1', '')] });
  broken.is = false;
  t.same(users(), ['v2'], 'v1, whose write could not be followed, names it no more');
});

t.test('what runs and what is owned is not told to lead nowhere', async (t) => {
  const Run = { ...kindOf('Run', ({ feedsFrom }, site) => [{ path: 'feedsFrom', kind: 'Tank', site, name: feedsFrom, when: 'run' }]), runs: true } as const;
  const { store } = await freshStore(t, [Gauge, Tank, Run]);
  const owner = { kind: 'Tank', name: 'feed', uid: 'u' };
  await store.write({
    puts: [
      { kind: Run, site: 's', name: 'r', spec: { feedsFrom: 'gone', watchedBy: [] } },
      { ...tank('copy', '', ['gone']), ownerReferences: [owner] },
    ],
  });
  t.same(new References(store).dangling(), []);
});

t.test('what is named comes first, circles and all others keep their order', async (t) => {
  const { store } = await plant(t);
  const order = () =>
    inOrder(store.list(Tank, 's'), (resource) => ({ ...targetOf(resource), references: referencesIn(Tank as Kind, resource) })).map(({ metadata }) => metadata.name);
  t.same(order(), ['feed', 'mix', 'hold']);
  await store.write({ puts: [tank('feed', 'hold'), tank('alone')] });
  t.same(order().length, 4);
  t.equal(order()[0], 'alone');
});

t.test('D-UNIT-02: a write that names what is not there is refused by member', async (t) => {
  const { store } = await plant(t);
  t.match(
    refused(() => checkReferences(Tank, { feedsFrom: 'nowhere', watchedBy: [] }, 's', store)),
    { code: 'unknown_reference', field: 'feedsFrom', kind: 'Tank', name: 'nowhere' },
  );
  t.doesNotThrow(() => checkReferences(Tank, { feedsFrom: 'feed', watchedBy: ['nowhere'] }, 's', store));
});

t.test('Q-ERR-11: what holds a delete is named, the first 20 and how many', async (t) => {
  const { store } = await plant(t);
  const get = (name: string) => store.get(Tank, 's', name) as NonNullable<ReturnType<typeof store.get<TankSpec, object>>>;
  t.doesNotThrow(() => refuseDelete(tankRules, get('hold'), store));
  t.match(
    refused(() => refuseDelete(tankRules, get('mix'), store)),
    { code: 'has_dependents', dependents: [{ kind: 'Tank', name: 'hold' }], dependentCount: 1 },
  );
  await store.write({ puts: Array.from({ length: 25 }, (_, index) => tank(`t${index}`, 'mix')) });
  t.match(
    refused(() => refuseDelete(tankRules, get('mix'), store)),
    { dependentCount: 26 },
  );
  await store.write({ puts: [tank('self', 'self')] });
  t.doesNotThrow(() => refuseDelete(tankRules, get('self'), store), 'what names itself does not hold itself');
});

/** As a person reads it: how far, who, over whom. */
const ways = (touched: readonly Touched[]) => touched.map(({ distance, kind, name, via }) => `${distance} ${kind} ${name}${via.map((each) => ` < ${each.name}`).join('')}`);

t.test('what an edit may touch is who names it, who names those and so on, each once by the shortest way, the nearest first', async (t) => {
  const { store, references } = await plant(t);
  const touched = (name: string, kind = 'Gauge') => references.touchedBy({ kind, site: 's', name });
  await store.write({ puts: [tank('mix', 'feed', ['level']), tank('hold', 'mix', ['none']), tank('end', 'hold', [])] });
  t.same(ways((await touched('level')).touched), ['1 Tank mix', '2 Tank hold < mix', '3 Tank end < mix < hold']);
  t.match((await touched('level')).touched[1], { path: 'feedsFrom', when: 'write', holds: true }, 'with the member that names the one before it');
  t.equal((await touched('level')).isCut, false);
  t.same(ways((await touched('none')).touched), ['1 Tank hold', '2 Tank end < hold'], 'also of what is not there');
  await store.write({ puts: [tank('feed', 'end', []), tank('hold', 'mix', ['level', 'level'])] });
  t.same(ways((await touched('level')).touched), ['1 Tank hold', '1 Tank mix', '2 Tank end < hold', '3 Tank feed < hold < end'], 'a circle ends where it began');
  t.same(ways((await touched('mix', 'Tank')).touched), ['1 Tank hold', '2 Tank end < hold', '3 Tank feed < hold < end'], 'and what is edited is not among what its edit touches');
});

t.test('what may not be told is not walked through', async (t) => {
  const { references } = await plant(t);
  const isTold = ({ name }: { readonly name: string }) => name !== 'mix';
  t.same(ways((await references.touchedBy({ kind: 'Tank', site: 's', name: 'feed' }, { isTold })).touched), []);
  t.same(ways((await references.touchedBy({ kind: 'Tank', site: 's', name: 'feed' })).touched), ['1 Tank mix', '2 Tank hold < mix']);
});

t.test('what an edit may touch is cut where it is too much, and says so: the nearest are told', async (t) => {
  const { store, references } = await plant(t);
  const from = (name: string) => references.touchedBy({ kind: 'Tank', site: 's', name });
  await store.write({ puts: Array.from({ length: 30 }, (_, at) => tank(`chain${at}`, at === 0 ? 'feed' : `chain${at - 1}`)) });
  const chain = await from('feed');
  t.equal(chain.touched.at(-1)?.name, `chain${DISTANCE_MAX - 1}`);
  t.equal(chain.isCut, true);
  t.equal((await from('chain20')).isCut, false, 'as far as it goes');
  await store.write({ puts: Array.from({ length: TOUCHED_MAX }, (_, at) => tank(`t${at}`, 'hold')) });
  t.equal((await from('hold')).touched.length, TOUCHED_MAX);
  t.equal((await from('hold')).isCut, false);
  const wide = await from('mix');
  t.match(wide, { isCut: true, touched: { length: TOUCHED_MAX } });
  t.same(ways(wide.touched.slice(0, 1)), ['1 Tank hold']);
});

t.test('what is past is touched and not walked through, and takes no place of what is present', async (t) => {
  const Run = {
    ...kindOf('Run', ({ feedsFrom }, site) => [{ path: 'feedsFrom', kind: 'Tank', site, name: feedsFrom, when: 'run' }]),
    runs: true,
    pastWith: { kind: 'Run', named: 'alike' },
  } as const;
  const Past: Kind<TankSpec, object> = { ...Run, pastIndex: () => ({}) };
  const { store } = await freshStore(t, [Gauge, Tank, Past]);
  const references = new References(store);
  const runs = Array.from({ length: TOUCHED_MAX }, (_, at) => ({ kind: 'Run', site: 's', name: `r${at}` }));
  await store.write({
    puts: [tank('feed'), tank('mix', 'feed'), ...runs.map((run) => ({ ...run, kind: Past, spec: { feedsFrom: 'feed', watchedBy: [] } })), tank('watch', 'feed')],
  });
  await store.write({
    pasts: store.list(Past, 's').map((run) => ({ run: targetOf(run), members: [targetOf(run)], streams: [], kept: { names: namedBeside(store, targetOf(run), [run], []) } })),
  });
  const { touched, isCut } = await references.touchedBy({ kind: 'Tank', site: 's', name: 'feed' });
  t.same(ways(touched.filter(({ kind }) => kind === 'Tank')), ['1 Tank mix', '1 Tank watch']);
  t.equal(touched.length, TOUCHED_MAX);
  t.equal(isCut, true);
  await store.write({ puts: [tank('mix', 'watch')] });
  t.same(ways((await references.touchedBy({ kind: 'Tank', site: 's', name: 'mix' })).touched), []);
});

t.test('who names what is looked for in what is past turn by turn, as it was when it was asked, also for a name that nobody has', async (t) => {
  const Run: Kind<TankSpec, object> = {
    ...kindOf('Run', ({ feedsFrom }, site) => [{ path: 'feedsFrom', kind: 'Tank', site, name: feedsFrom, when: 'run' }]),
    ...{ runs: true, pastWith: { kind: 'Run', named: 'alike' }, pastIndex: () => ({}) },
  };
  const { store } = await freshStore(t, [Gauge, Tank, Run]);
  const references = new References(store);
  const ended = async (names: readonly string[]): Promise<void> => {
    await store.write({ puts: names.map((name) => ({ kind: Run, site: 's', name, spec: { feedsFrom: 'feed', watchedBy: [] } })) });
    const runs = store.list(Run, 's').map((run) => ({ ref: targetOf(run), run }));
    await store.write({ pasts: runs.map(({ ref, run }) => ({ run: ref, members: [ref], streams: [], kept: { names: namedBeside(store, ref, [run], []) } })) });
  };
  await ended(Array.from({ length: 800 }, (_, at) => `r${at}`));
  t.intercept(Slice.prototype, 'isOver', { get: () => true });
  const target = { kind: 'Tank', site: 's', name: 'feed' };
  for (const ask of [(name: string) => references.everUsedBy({ ...target, name }), async (name: string) => (await references.touchedBy({ ...target, name })).touched]) {
    for (const name of ['nobody', 'feed']) {
      const { length } = await ask(name);
      const asked = { isOver: false, turns: 0 };
      const answer = Promise.resolve(ask(name)).finally(() => (asked.isOver = true));
      const leaves = ended([randomUUID()]);
      for (; !asked.isOver; asked.turns += 1) await turn();
      t.ok(asked.turns >= 3, `${asked.turns} turns`);
      t.equal((await answer).length, length);
      await leaves;
    }
  }
});

t.test('several in one place come in the order in which they are given, whoever needs them first, in a circle too', async (t) => {
  const order = (...given: readonly string[]): string => {
    const items = given.map((text) => ({ text, name: text.charAt(0), needs: [...text.slice(2)] }));
    const at = (name: string) => ({ kind: 'Tank', site: 's', name });
    return inOrder(items, ({ name, needs }) => ({ ...at(name), references: needs.map((need) => ({ ...at(need), path: 'feedsFrom', when: 'write' as const })) }))
      .map(({ text }) => text)
      .join(' ');
  };
  t.equal(order('a1', 'b1', 'a2'), 'a1 b1 a2');
  t.equal(order('b1a', 'a1', 'a2'), 'a1 a2 b1a');
  t.equal(order('b1a', 'a1c', 'a2', 'c1', 'a3'), 'c1 a1c a2 a3 b1a', 'each after what it needs itself');
  t.equal(order('b1a', 'a1', 'b2', 'a2'), 'a1 a2 b1a b2');
  t.equal(order('a1b', 'b1a', 'a2'), 'b1a a1b a2', 'a circle');
  t.equal(order('a1', 'a2b', 'b1a', 'a3', 'a4'), 'a1 b1a a2b a3 a4');
  t.equal(order('a1a', 'a2a', 'a3a'), 'a1a a2a a3a');
});
