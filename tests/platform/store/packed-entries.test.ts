/** Entries of the past, packed: what is read is what was given, by name, by list and by what a member says. */
import t from 'tap';
import { PastIndex } from '../../../src/platform/store/past-index.js';

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
