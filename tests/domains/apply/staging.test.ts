/** The plant as it will be, while it is judged manifest by manifest: its lists are asked for between each two. */
import t from 'tap';
import { StagedList } from '../../../src/domains/apply/staged-list.js';
import { StagedStore } from '../../../src/domains/apply/staging.js';
import { Area } from '../../../src/domains/plant/kind.js';
import type { Kind, StoreReader } from '../../../src/platform/store/kind.js';
import type { Resource } from '../../../src/platform/store/resource.js';

type Place = readonly [name: string, site: string];
const textOf = (list: readonly Resource[]): readonly string[] => list.map(({ metadata: { name, site } }) => `${name}/${site}`);
const inOrder = (places: readonly Place[]): readonly string[] =>
  [...places].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1)).map((place) => place.join('/'));

/** @param reads counts each look at the name or site of one. */
function resource([name, site]: Place, reads = { count: 0 }): Resource {
  const metadata = new Proxy({ name, site } as Resource['metadata'], {
    get: (target, key) => {
      reads.count += 1;
      return Reflect.get(target, key) as unknown;
    },
  });
  return { kind: Area.kind, metadata, spec: {}, status: {} };
}

/** In the order of `places`, which is that of a store. */
function storeOf(places: readonly Place[], reads?: { count: number }): StoreReader {
  const all = places.map((place) => resource(place, reads));
  const lists = new Map<string | undefined, readonly Resource[]>([[undefined, all]]);
  for (const site of new Set(places.map(([, of]) => of)))
    lists.set(
      site,
      all.filter((_, at) => places[at]?.[1] === site),
    );
  return {
    get: () => undefined,
    list: (_kind: Kind, site?: string) => lists.get(site) ?? [],
    pastIndex: () => [],
  } as unknown as StoreReader;
}

const name = (n: number): string => `area-${String(n).padStart(5, '0')}`;

t.test('between two manifests nothing is sorted anew: what is staged is put into its place by search', async (t) => {
  const reads = { count: 0 };
  const stored = Array.from({ length: 1000 }, (_, n): Place => [name(2 * n), 'north']);
  const staged = new StagedStore(storeOf(stored, reads));
  const places = [...stored];
  reads.count = 0;
  for (let n = 0; n < 200; n += 1) {
    const place: Place = [name(2 * ((n * 77) % 1000) + 1), 'north'];
    places.push(place);
    staged.put({ kind: Area as unknown as Kind, site: place[1], name: place[0], spec: {} });
    staged.list(Area, 'north');
    staged.list(Area, 'north');
  }
  // a list of 1,200 is halved eleven times, with two looks at each of those that are met
  t.ok(reads.count <= 200 * 12 * 3, `${reads.count} looks`);
  t.strictSame(textOf(staged.list(Area, 'north')), inOrder(places));
  t.strictSame(textOf(staged.list(Area)), inOrder(places), 'the list of all sites too, asked for when all are staged');
});

t.test('a list is that of its site or of all, and stays as it was read', async (t) => {
  const staged = new StagedStore(
    storeOf([
      ['a', 'north'],
      ['b', 'east'],
      ['b', 'north'],
      ['d', 'north'],
    ]),
  );
  const put = (of: string, site: string): void => staged.put({ kind: Area as unknown as Kind, site, name: of, spec: { description: 'new' } });
  put('c', 'north');
  const before = staged.list(Area, 'north');
  t.strictSame(textOf(before), ['a/north', 'b/north', 'c/north', 'd/north']);
  t.equal(staged.list(Area, 'north'), before, 'while nothing is staged it is the same');
  put('b', 'north');
  put('e', 'east');
  t.strictSame(textOf(before), ['a/north', 'b/north', 'c/north', 'd/north']);
  const after = staged.list(Area, 'north');
  t.strictSame(textOf(after), ['a/north', 'b/north', 'c/north', 'd/north']);
  t.strictSame(
    after.map(({ spec }) => spec),
    [{}, { description: 'new' }, { description: 'new' }, {}],
    'in the place of the one before',
  );
  t.strictSame(textOf(staged.list(Area)), ['a/north', 'b/east', 'b/north', 'c/north', 'd/north', 'e/east']);
  t.strictSame(textOf(staged.list(Area, 'west')), []);
  put('f', 'west');
  t.strictSame(textOf(staged.list(Area, 'west')), ['f/west']);
});

t.test('what goes leaves the list, and what was never there makes no difference', async (t) => {
  const [a, b, c] = ['a', 'b', 'c'].map((of) => resource([of, 'north']));
  const list = new StagedList([a, b] as Resource[]);
  list.change({ name: 'a', site: 'north' }, undefined);
  list.change({ name: 'x', site: 'north' }, undefined);
  list.change({ name: 'c', site: 'north' }, c);
  t.strictSame(textOf(list.read()), ['b/north', 'c/north']);
  list.change({ name: 'b', site: 'north' }, undefined);
  list.change({ name: 'c', site: 'north' }, undefined);
  t.strictSame(textOf(list.read()), []);
});
