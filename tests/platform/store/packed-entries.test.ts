/** Entries of the past, packed: what is read is what was given, by name, by list and by what a member says. */
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { onContained } from '../../../src/platform/base/guarded.js';
import { between } from '../../../src/platform/base/sorted.js';
import { PastIndex, type PastList } from '../../../src/platform/store/past-index.js';
import { isNumber, isText, listOf, maybe, shaped } from '../../../src/platform/store/past-shape.js';

const RUN = { kind: 'Run', site: 'north' };

function added(index: PastIndex, name: string, entry: unknown, site = 'north'): void {
  index.add({ kind: 'Run', site, name }, `Run/${site}/${name}`, JSON.stringify(entry));
}

const ODD = {
  text: 'a\u0000b "quoted" \\ ü',
  wide: '溶剂 \u{1f9ea}',
  empty: '',
  instant: '2026-11-23T14:00:00.123Z',
  like: '2026-02-30T00:00:00.000Z',
  date: '2026-11-23',
  number: -0.5,
  zero: 0,
  large: 1.7e308,
  yes: true,
  nothing: null,
  list: [1, { a: 'ü' }],
  members: { Phase: 30 },
};
t.test('an entry is read as it was given, whatever it says', async (t) => {
  const index = new PastIndex();
  const given = JSON.parse(JSON.stringify({ ...ODD, long: 'x'.repeat(2_500_000), also: 'ü'.repeat(1_100_000) })) as Record<string, unknown>;
  added(index, 'odd', given);
  added(index, 'next', { text: ODD.text });
  t.same(index.get('Run', 'north', 'odd'), { ...RUN, name: 'odd', run: 'Run/north/odd', entry: given });
  t.same(index.get('Run', 'north', 'next')?.entry, { text: ODD.text });
  const listed = index.list('Run', 'north').find(({ name }) => name === 'odd')?.entry as Record<string, unknown>;
  for (const [member, value] of Object.entries(given)) t.same(listed[member], value, member);
});

t.test('names are found and listed in the order of texts, in which order they came and left', async (t) => {
  const index = new PastIndex();
  const names = Array.from({ length: 3000 }, (_, n) => `b-${(n * 7919) % 3000}`).concat('b', 'B', 'é', '溶', 'zz', '');
  for (const [n, name] of names.entries()) added(index, name, { n, of: `recipe-${n % 3}` });
  for (const name of names.slice(0, 1000)) index.delete({ ...RUN, name });
  index.delete({ ...RUN, name: 'never' });
  for (const name of names.slice(0, 10)) added(index, name, { n: -1 });
  added(index, 'b', { n: 'again' });
  const left = [...names.slice(1000), ...names.slice(0, 10)].sort();
  t.same(
    index.list('Run', 'north').map(({ name }) => name),
    left,
  );
  t.equal(index.count('Run', 'north'), left.length);
  t.equal(index.get('Run', 'north', names[500] as string), undefined);
  for (const [n, name] of names.entries()) if (n >= 1000 && name !== 'b') t.equal(index.get<{ n: number }>('Run', 'north', name)?.entry.n, n);
  t.same(index.get('Run', 'north', 'b')?.entry, { n: 'again' });
  t.equal(index.has({ ...RUN, name: 'é' }), true);
  t.equal(index.has({ ...RUN, name: 'b-' }), false);
});

t.test('those that say a text are found, of one site and of all, by name', async (t) => {
  const index = new PastIndex();
  for (const [site, name, order] of [
    ['south', 'b', 'o-1'],
    ['north', 'c', 'o-1'],
    ['north', 'a', 'o-1'],
    ['south', 'a', 'o-1'],
    ['north', 'd', '2026-11-23T14:00:00.000Z'],
    ['north', 'e', 'o-2'],
    ['north', 'f', 1],
  ] as const)
    added(index, name, { order }, site);
  const said = (site: string | undefined, member: string, text: string): string[] => index.list('Run', site, [member, text]).map((entry) => `${entry.site}/${entry.name}`);
  t.same(said('north', 'order', 'o-1'), ['north/a', 'north/c']);
  t.same(said(undefined, 'order', 'o-1'), ['north/a', 'south/a', 'south/b', 'north/c']);
  t.same(said('north', 'order', '2026-11-23T14:00:00.000Z'), ['north/d']);
  t.same(said('north', 'order', '1'), [], 'a number is no text');
  t.same([said('north', 'order', 'nobody'), said('north', 'else', 'o-1'), said('west', 'order', 'o-1')], [[], [], []]);
  t.same(said(undefined, 'name', 'a'), ['north/a', 'south/a']);
  t.same(index.sitesOf('Run'), ['north', 'south']);
});

t.test('what somebody still reads of an entry stays as it was', async (t) => {
  const index = new PastIndex();
  added(index, 'a', { order: 'o-1' });
  const [before] = index.list('Run');
  index.delete({ ...RUN, name: 'a' });
  for (let n = 0; n < 100; n += 1) added(index, 'a', { order: `o-${n}` });
  t.same([before?.name, (before?.entry as { order: string }).order], ['a', 'o-1']);
});

t.test('what is no entry is told, and stands there as one that says nothing', async (t) => {
  const index = new PastIndex();
  const texts = ['null', '[]', '1', '"a"', '{', ''];
  for (const [n, text] of texts.entries()) index.add({ ...RUN, name: 'a' }, `Run/north/${n}`, text);
  t.same(index.get('Run', 'north', 'a')?.entry, {});
  t.same(
    index.unreadable,
    texts.map((_, n) => `Run/north/${n}`),
  );
  index.add({ ...RUN, name: 'a' }, 'Batch/north/b', '{}');
  t.equal(index.unreadable.length, texts.length);
  t.equal(index.get('Run', 'north', 'a')?.run, 'Batch/north/b', 'a run that is named otherwise');
});

/** What JSON.parse makes of it; undefined for what is no object. */
function parsed(text: string): unknown {
  try {
    const entry: unknown = JSON.parse(text);
    return typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

t.test('an entry is read as JSON.parse reads it, however it is written and wherever it is damaged', async (t) => {
  const index = new PastIndex();
  const differs = (text: string): boolean => {
    const expected = parsed(text);
    index.add({ ...RUN, name: 'a' }, `Run/north/${text}`, text);
    return !isDeepStrictEqual(index.get('Run', 'north', 'a')?.entry, expected ?? {}) || index.unreadable.includes(`Run/north/${text}`) !== (expected === undefined);
  };
  const plain = '{"a":"b","at":"2026-11-23T14:00:00.123Z","n":-12.5e3,"m":{"x":[1,"]}"]},"w":"\u00fc \\u00fc\\"","yes":true,"no":null,"d":7}';
  const written = [
    plain,
    '{}',
    ' { "a" : 1 } ',
    '{"a":1,"a":2}',
    '{"\\u0061":"x"}',
    '{"__proto__":1,"1":2}',
    '{"a":123456789012345678,"b":0,"c":-0,"e":1e999}',
    '{"a":01}',
    '{"a":1,}',
    '{,}',
  ];
  const moments = ['2026-02-29', '2024-02-29', '2026-13-01', '0000-01-01'].flatMap((day) =>
    ['00:00:00.000Z', '23:59:59.999Z', '24:00:00.000Z', '00:60:00.000Z', '00:00:0x.000Z'].map((time) => `{"at":"${day}T${time}"}`),
  );
  const cut = Array.from(plain, (_, n) => plain.slice(0, n));
  const damaged = Array.from(plain).flatMap((_, n) => ['"', '}', ',', '\\', '\u0001', '7', 'ü'].map((character) => plain.slice(0, n) + character + plain.slice(n + 1)));
  t.same([...written, ...moments, ...cut, ...damaged].filter(differs), []);
});

const ODD_NUMBERS = [
  '-0',
  '-0.0',
  '0e5',
  '-0e0',
  '1e400',
  '-1e400',
  '1e308',
  '5e-324',
  '1e-400',
  '-1e-400',
  '123456789012345678',
  '0.1',
  '1E2',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '0x1',
];
const WRITTEN: readonly ((number: string) => string)[] = [
  (number) => `{"n":${number}}`,
  (number) => `{"n": ${number}}`,
  (number) => `{"n":1,"n":${number}}`,
  (number) => `{"list":[1,${number}],"n":2}`,
  (number) => `{ "list":[1,{"a":${number}}] }`,
  (number) => ` {"n":${number},"text":"ü"}`,
];

t.test('an odd number is read as JSON.parse reads it, or its entry is damaged, in whatever it stands', async (t) => {
  for (const number of ODD_NUMBERS) {
    for (const write of WRITTEN) {
      const text = write(number);
      const index = new PastIndex();
      index.add({ kind: 'Run', site: 'north', name: 'a' }, 'Run/north/a', text);
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expected = undefined;
      }
      const read = index.unreadable.length > 0 ? undefined : index.get('Run', 'north', 'a')?.entry;
      t.equal(isDeepStrictEqual(read, expected), true, `${text}: ${JSON.stringify(read)}`);
    }
  }
});

t.test('an entry that is nested as deep as no entry is takes nothing with it, however it is written', async (t) => {
  for (const text of [`{"n":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, `{ "n":${'['.repeat(100_000)}${']'.repeat(100_000)}}`]) {
    const index = new PastIndex();
    index.add({ kind: 'Run', site: 'north', name: 'a' }, 'Run/north/a', text);
    index.add({ kind: 'Run', site: 'north', name: 'b' }, 'Run/north/b', '{"n":1}');
    t.same(index.get('Run', 'north', 'b')?.entry, { n: 1 });
    t.equal(index.has({ kind: 'Run', site: 'north', name: 'a' }), true);
  }
});

t.test('of a slice each entry is read by itself: one that is damaged takes no other with it', async (t) => {
  const index = new PastIndex();
  const texts = ['{"of":"ü"}', '{"of":', '{"of":"b"}', '', '{"of":"d"}}'];
  let end = 0;
  const ends = texts.map((text) => (end += Buffer.byteLength(text)));
  index.addSlice({ ...RUN, names: ['a', 'b', 'c', 'd', 'e'], runs: ['', 'Run/north/other', '', '', ''], texts: Buffer.from(texts.join('')), ends });
  t.same(
    index.list('Run', 'north').map(({ name, entry }) => [name, (entry as { of?: string }).of]),
    [
      ['a', 'ü'],
      ['b', undefined],
      ['c', 'b'],
      ['d', undefined],
      ['e', undefined],
    ],
  );
  t.same(index.unreadable, ['Run/north/other', 'Run/north/d', 'Run/north/e']);
});

t.test('an order that is kept is that of its numbers, then of names, whatever came, left and came again; what was handed out stays', async (t) => {
  const late = ({ at }: { at?: number }) => (at === undefined ? undefined : -at);
  const orders = { late, timed: ({ at }: { at?: number }) => (at === undefined ? undefined : 0), of: ({ of }: { of?: string }) => of };
  const index = new PastIndex([{ kind: 'Run', pastOrders: orders }]);
  const known = new Map<string, { readonly at?: number; readonly of: string }>();
  const put = (name: string, entry: { readonly at?: number; readonly of: string }): void => {
    added(index, name, entry);
    known.set(name, entry);
  };
  const expected = (): string[] =>
    [...known]
      .flatMap(([name, { at }]) => (at === undefined ? [] : [{ name, at }]))
      .sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
      .map(({ name }) => name);
  const namesOf = (list: { readonly length: number; at(n: number): { readonly name: string } | undefined }): (string | undefined)[] =>
    Array.from({ length: list.length }, (_, n) => list.at(n)?.name);
  const check = (why: string): void => {
    const list = index.ordered('Run', 'north', 'late');
    t.same(namesOf(list), expected(), why);
    t.same(namesOf(index.ordered('Run', 'north', 'timed')), expected().sort(), `${why}, by name`);
    for (const [n, name] of expected().entries()) if (n % 50 === 0) t.equal(list.before(name, -(known.get(name)?.at ?? 0)), n);
    t.equal(list.upTo(-50), expected().filter((name) => (known.get(name)?.at ?? 0) >= 50).length);
    for (const of of ['o1', 'nobody'])
      t.same(
        index.list('Run', 'north', ['of', of]).map(({ name }) => name),
        [...known]
          .filter(([, entry]) => entry.of === of)
          .map(([name]) => name)
          .sort(),
      );
  };
  for (let n = 0; n < 500; n += 1) put(`r${(n * 263) % 500}`, n % 40 === 0 ? { of: 'o0' } : { at: n % 90, of: `o${n % 7}` });
  check('as they came, while nobody asked');
  index.after(new PastIndex());
  check('behind a start');
  const held = index.ordered('Run', 'north', 'late');
  const before = namesOf(held);
  for (let n = 0; n < 200; n += 1) {
    const name = `r${(n * 71) % 500}`;
    if (n % 3 === 0) {
      index.delete({ ...RUN, name });
      known.delete(name);
    } else put(name, n % 5 === 0 ? { of: 'o1' } : { at: n % 33, of: 'o1' });
  }
  check('one by one');
  t.same(namesOf(held), before, 'of the moment in which it was asked for');
  t.equal(index.ordered('Run', 'west', 'late').length, 0);
});

t.test('an entry whose number or text was damaged is not in the order of it, and takes no other one out of it when it leaves', async (t) => {
  const index = new PastIndex([{ kind: 'Run', pastOrders: { of: ({ of }: { of: string }) => of, at: ({ at }: { at: number }) => at } }]);
  const damaged = [{}, [], null, true, { a: 1 }];
  const names = Array.from({ length: 40 }, (_, n) => `r${String((n * 17) % 40).padStart(2, '0')}`);
  const put = (n: number): void => added(index, names[n] as string, n % 4 === 3 ? { of: damaged[n % 5], at: damaged[n % 3] } : { of: `o${n % 3}`, at: n % 5 });
  const sound = (is: (n: number) => boolean): string[] => names.filter((_, n) => n % 4 !== 3 && is(n)).sort();
  const check = (why: string): void => {
    for (const of of [0, 1, 2])
      t.same(
        index.list('Run', 'north', ['of', `o${of}`]).map(({ name }) => name),
        sound((n) => n % 3 === of),
        `${why}, of o${of}`,
      );
    const ordered = index.ordered('Run', 'north', 'at');
    t.same(
      Array.from({ length: ordered.length }, (_, n) => ordered.at(n)?.name),
      [0, 1, 2, 3, 4].flatMap((at) => sound((n) => n % 5 === at)),
      why,
    );
  };
  for (let n = 0; n < 20; n += 1) put(n);
  index.after(new PastIndex());
  for (let n = 20; n < 40; n += 1) put(n);
  check('there');
  for (const [n, name] of names.entries()) if (n % 4 === 3) index.delete({ ...RUN, name });
  check('gone');
});

t.test('an order that throws at an entry has it not, which is told once, and keeps it from no other order', async (t) => {
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const late = ({ at }: { at: { ms: number } }): number => -at.ms;
  const index = new PastIndex([{ kind: 'Run', pastOrders: { late, of: ({ of }: { of: string }) => of } }]);
  const namesOf = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  const lateOnes = () => namesOf(between(index.ordered('Run', 'north', 'late'), 0, 9));
  added(index, 'a', { of: 'o' });
  index.after(new PastIndex());
  for (const name of ['b', 'd']) added(index, name, { of: 'o' });
  added(index, 'c', { at: { ms: 1 }, of: 'o' });
  t.same([namesOf(index.list('Run', 'north')), namesOf(index.list('Run', 'north', ['of', 'o'])), lateOnes()], [['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd'], ['c']]);
  index.delete({ ...RUN, name: 'b' });
  t.same([namesOf(index.list('Run', 'north')), namesOf(index.list('Run', 'north', ['of', 'o'])), lateOnes()], [['a', 'c', 'd'], ['a', 'c', 'd'], ['c']]);
  t.match(told, [/order late of what is past: .*ms/]);
  t.equal(told.length, 1);
});

t.test('a search finds those of which a member or the name holds a text, in whatever letters, and nothing across two of them', async (t) => {
  const index = new PastIndex();
  const texts = [
    '',
    'Straße',
    'İstanbul',
    'ΟΔΥΣΣΕΥΣ',
    '溶剂-Ä',
    '\u{1f9ea}',
    '\ud83e',
    '\ufffd',
    'a\u0000b',
    '2026-11-23T14:00:00.123Z',
    'WO-7',
    'wo-70',
    'x'.repeat(40_000),
    `${'y'.repeat(20_000)}End`,
  ];
  const entries = Array.from({ length: 1500 }, (_, n) => ({
    name: `Run-${n}`,
    entry: { id: texts[n % texts.length], lot: texts[(n * 5) % 13], of: n % 3 === 0 ? n : `L${n}`, else: 'never' },
  }));
  for (const { name, entry } of entries.slice(0, 1000)) added(index, name, entry);
  const MEMBERS = ['id', 'lot', 'of', 'name', 'none'];
  const holds = (name: string, { else: _else, ...said }: Record<string, unknown>, wanted: string): boolean =>
    [name, ...Object.values(said)].some((text) => typeof text === 'string' && text.toLowerCase().includes(wanted));
  const namesOf = async (list: PastList, text: string): Promise<string[]> => {
    const found = await list.where({ holding: { members: MEMBERS, text } });
    return between(found, 0, found.length).map(({ name }) => name);
  };
  const wanted = [
    '',
    'wo-7',
    'run-1',
    'straße',
    'i\u0307s',
    'σευς',
    'ä',
    '\u{1f9ea}',
    '\ufffd',
    '\ud83e',
    '\u0000',
    '14:00',
    'never',
    'end',
    'xy',
    'l100',
    'x'.repeat(39_000),
    '7run',
    'nothing',
  ];
  const check = async (list: PastList, those: typeof entries, why: string): Promise<void> => {
    const found = await Promise.all(wanted.map((text) => namesOf(list, text))); // at once
    for (const [n, text] of wanted.entries())
      t.same(
        found[n],
        those
          .filter(({ name, entry }) => holds(name, entry, text))
          .map(({ name }) => name)
          .sort(),
        `${why}: ${text.slice(0, 9)}`,
      );
  };
  const before = index.ordered('Run', 'north');
  for (const { name } of entries.slice(0, 100)) index.delete({ ...RUN, name });
  await check(before, entries.slice(0, 1000), 'of the moment in which it was asked for');
  for (const { name, entry } of entries.slice(1000)) added(index, name, entry);
  await check(index.ordered('Run', 'north'), entries.slice(100), 'after some came and left');
  await check(index.ordered('Run', 'west'), [], 'where there is none');
});

t.test('an entry with a member that is not what it has to be says nothing, whichever came before it', async (t) => {
  const pastShape = { state: (state: unknown) => state === 'Complete' || state === 'Aborted', count: isNumber, note: maybe(isText), units: listOf(shaped({ unit: isText })) };
  const good = { state: 'Complete', count: 1, units: [{ unit: 'r1' }] };
  const entries = [
    good,
    { ...good, state: 'Aborted', note: 'n', at: '2026-02-01T00:00:00.000Z' },
    { ...good, note: '2026-02-01T00:00:00.000Z', count: -0.5 },
    { ...good, state: 'Running' },
    { ...good, count: '1' },
    { ...good, count: null },
    { ...good, note: 7 },
    { ...good, units: null },
    { ...good, units: [{ unit: 'r1' }, {}] },
    { ...good, units: {} },
    { state: 'Complete', count: 1 },
    {},
  ];
  const index = new PastIndex([{ ...RUN, pastShape }]);
  for (const round of ['first', 'again']) for (const [n, entry] of entries.entries()) added(index, `${round}-${n}`, entry);
  const names = ['again', 'first'].flatMap((round) => entries.map((_, n) => `${round}-${n}`));
  const isGood = (name: string): boolean => ['0', '1', '2'].includes(name.split('-')[1] ?? '');
  t.same(new Set(index.unreadable), new Set(names.filter((name) => !isGood(name)).map((name) => `Run/north/${name}`)));
  t.same(
    index
      .list('Run')
      .filter(({ entry }) => 'count' in (entry as object))
      .map(({ name }) => name),
    names.filter(isGood),
  );
});
