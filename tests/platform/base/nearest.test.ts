/** The name that was probably meant, and how much is compared for it. */
import t from 'tap';
import { firstTold, Nearing } from '../../../src/platform/base/name-words.js';
import { nearest } from '../../../src/platform/base/nearest.js';

const serial = (index: number): string => String(index).padStart(4, '0');

t.test('the fewest letters put in, left out, exchanged or swapped', (t) => {
  const rows: readonly (readonly [given: string, known: readonly string[], found: string | undefined])[] = [
    ['reactro', ['tank', 'reactor'], 'reactor'],
    ['REACTORR', ['reactor', 'extractor'], 'reactor'],
    ['aab', ['aba'], 'aba'],
    ['mixer', ['mixer1', 'mixer22'], 'mixer1'],
    ['abcdef', ['uvwxyz'], undefined],
    ['', ['a'], undefined],
    ['tank_transfer_raedy', ['tank_transfer_ready', 'tank_transfer_done'], 'tank_transfer_ready'],
  ];
  for (const [given, known, found] of rows) t.equal(nearest(given, known), found, given);
  t.end();
});

t.test('what both begin and end with is not compared', (t) => {
  const known = Array.from({ length: 1000 }, (_, index) => `tank_transfer_ready_${serial(index)}`);
  const work = { left: 1_000_000 };
  t.equal(nearest('tank_transfer_raedy_0123', known, work), 'tank_transfer_ready_0123');
  t.ok(1_000_000 - work.left < 200_000, `${1_000_000 - work.left} letters instead of ${24 * 24 * 1000}`);
  t.end();
});

t.test('of more than the work that is left none is named, for another may be nearer', (t) => {
  const work = { left: 20 };
  t.equal(nearest('reactor1', ['mixer', 'reactor'], work), 'reactor');
  t.equal(nearest('reactro', ['reactor', 'mixer', 'tank', 'vessel', 'filter'], work), undefined);
  t.end();
});

t.test('one document looks for a few names, among as many as there are', (t) => {
  let compared = 0;
  const known = Array.from({ length: 5000 }, (_, index) => `in_the_middle_${serial(index)}`);
  const counted = new Proxy(known, { get: (list, key) => ((compared += typeof key === 'string' && /^\d+$/.test(key) ? 1 : 0), Reflect.get(list, key) as unknown) });
  const near = new Nearing();
  const said = Array.from({ length: 1000 }, (_, index) => near.words(`in_teh_middle_${serial(index)}`, counted));
  t.equal(said[0], ' (the nearest is in_the_middle_0000)');
  t.equal(said.at(-1), '');
  t.ok(compared <= 100_000, `${compared} of five million`);
  const unlike = Array.from({ length: 5000 }, (_, index) => `${serial(index)} in the middle of the line ${serial(4999 - index)}`);
  compared = 0;
  t.equal(new Nearing().words('9999 ni teh middle of the line 9999', new Proxy(unlike, { get: (list, key) => ((compared += 1), Reflect.get(list, key) as unknown) })), '');
  t.ok(compared < 5000, 'names that have to be compared letter by letter end it before');
  const few = new Nearing();
  t.equal(Array.from({ length: 30 }, () => few.words('reactro', ['reactor'])).filter((words) => words !== '').length, 20);
  t.end();
});

t.test('a list of sentences has an end', (t) => {
  t.strictSame(firstTold(['a', 'b'], 2), ['a', 'b']);
  t.strictSame(firstTold(['a', 'b', 'c'], 2), ['a', 'b', 'and 1 more of this kind']);
  t.strictSame(firstTold(['a', 'b'], 2, 300_000), ['a', 'b', 'and 299998 more of this kind']);
  t.end();
});
