/** Bursts of work against a clock that the work itself moves: what waits, in which order, and who gets between. */
import t from 'tap';
import { onContained } from '../../../src/platform/base/guarded.js';
import { SlicedWork, SharedTurns } from '../../../src/platform/base/slices.js';
import { TestClock } from '../../support/test-clock.js';

const turn = (): Promise<void> => new Promise(setImmediate);

function slicedWork() {
  const clock = new TestClock();
  const done: number[] = [];
  const work = new SlicedWork<number>(clock, (item) => {
    clock.advance(1);
    done.push(item);
  });
  return { clock, done, work };
}

t.test('a burst is done in order, the first slice at once, and the event loop turns between slices', async (t) => {
  const { done, work } = slicedWork();
  for (let item = 0; item < 10; item += 1) work.give(item);
  t.same(done, [0, 1, 2, 3]);
  await turn();
  t.same(done, [0, 1, 2, 3, 4, 5, 6, 7]);
  work.give(10);
  t.equal(done.length, 8, 'what comes later waits behind what waits already');
  await turn();
  t.same(done, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await turn();
  work.give(11);
  t.equal(done.at(-1), 11, 'and nothing waits when there is no burst');
});

t.test('one item after the other within one turn is a burst too', async (t) => {
  const { clock, done, work } = slicedWork();
  work.give(0);
  clock.advance(10); // somebody else held the thread: what is left of the turn is for others
  work.give(1);
  t.same(done, [0]);
  await turn();
  t.same(done, [0, 1]);
});

t.test('a flush does what waits now and leaves nothing for later', async (t) => {
  const { done, work } = slicedWork();
  for (let item = 0; item < 9; item += 1) work.give(item);
  work.flush();
  t.same(done, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await turn();
  await turn();
  t.equal(done.length, 9);
});

t.test('an item that throws in a later turn, or in a flush, is told, and those behind it are done', async (t) => {
  const clock = new TestClock();
  const done: number[] = [];
  const told: unknown[] = [];
  t.teardown(onContained((_, fault) => told.push((fault as Error).message)));
  const work = new SlicedWork<number>(clock, (item) => {
    clock.advance(1);
    if (item === 4 || item === 9) throw new Error(`item ${item}`);
    done.push(item);
  });
  for (let item = 0; item < 11; item += 1) work.give(item);
  await turn();
  work.flush();
  t.same(done, [0, 1, 2, 3, 5, 6, 7, 8, 10]);
  t.same(told, ['item 4', 'item 9']);
});

t.test('works that wait for who has time share one slice in each turn', async (t) => {
  const clock = new TestClock();
  const turns = SharedTurns.of(clock);
  t.equal(SharedTurns.of(clock), turns);
  const first = await turns.enter();
  clock.advance(1);
  t.equal(await turns.enter(), first, 'what is left of it is for the next one');
  clock.advance(1);
  t.ok(first.isOver);
  t.equal((await SharedTurns.of(new TestClock()).enter()).isOver, false, 'those of another clock have their own');
});

t.test('for whom there was no time left there is some in the next turns, in the order in which they came', async (t) => {
  const clock = new TestClock();
  const turns = SharedTurns.of(clock);
  const done: string[] = [];
  const work = async (name: string, looks: number): Promise<void> => {
    let slice = await turns.enter();
    for (let look = 0; look < looks; look += 1) {
      clock.advance(1);
      done.push(name);
      if (slice.isOver) slice = await turns.enter();
    }
  };
  const woken = async (name: string, looks: number): Promise<void> => {
    await turn();
    await work(name, looks);
  };
  await Promise.all([woken('a', 6), woken('b', 2), woken('c', 4)]);
  t.same(done.join(''), 'aaaabbccaacc', 'a asks for its second slice before b and c are woken, and for its third behind them');
});
