/** A few go through at a time, in their order and with a turn of the loop before each; who cannot soon is refused. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { Turnstile } from '../../../src/platform/base/turnstile.js';
import { TestClock } from '../../support/test-clock.js';

const busy = { name: 'Refusal', kind: 'unavailable', message: 'too many calls at once; try again in 2 s', context: { code: 'past_busy', retryAfterSeconds: 2 } };
const limits = { what: 'calls', atOnce: 2, waitingMax: 3, waitMaxMs: 1000 };

/** Work that ends when it is told to. */
function works() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  return { begun, end: (work: number) => ends[work]?.(), work: (work: number) => () => new Promise<void>((resolve) => (begun.push(work), (ends[work] = resolve))) };
}

t.test('so many are inside, the next one comes when one has left, in the order in which they came', async (t) => {
  const { begun, end, work } = works();
  const turnstile = new Turnstile({ ...limits, clock: new TestClock() });
  const done = [0, 1, 2, 3].map((each) => turnstile.through(work(each)));
  t.same(begun, [0, 1]);
  end(1);
  await done[1];
  t.same(begun, [0, 1], 'not in the same turn');
  await turn();
  t.same(begun, [0, 1, 2]);
  end(0);
  await done[0];
  await turn();
  t.same(begun, [0, 1, 2, 3]);
  end(2);
  end(3);
  await Promise.all(done);
});

t.test('work that is over at once does not bring more of it into the turn', async (t) => {
  const turnstile = new Turnstile({ ...limits, waitingMax: 2000, clock: new TestClock() });
  let inTurn = 0;
  let most = 0;
  const counted = async (): Promise<void> => {
    inTurn += 1;
    most = Math.max(most, inTurn);
    await Promise.resolve();
  };
  const all = Promise.all(Array.from({ length: 500 }, () => turnstile.through(counted)));
  let isOver = false;
  void all.then(() => (isOver = true));
  while (!isOver) {
    inTurn = 0;
    await turn();
  }
  t.equal(most, 2);
});

t.test('who is one too many is refused, and so is who has waited too long; work that has begun waits', async (t) => {
  const { begun, end, work } = works();
  const clock = new TestClock();
  const turnstile = new Turnstile({ ...limits, clock });
  const inside = [0, 1].map((each) => turnstile.through(work(each)));
  const waiting = [2, 3, 4].map((each) => turnstile.through(work(each)).catch((fault: unknown) => fault));
  await t.rejects(turnstile.through(work(5)), busy);
  const patient = turnstile.through(work(6), true);
  clock.advance(1000);
  t.match(await Promise.all(waiting), [busy, busy, busy]);
  end(0);
  await inside[0];
  await turn();
  t.same(begun, [0, 1, 6]);
  end(1);
  end(6);
  await Promise.all([inside[1], patient]);
});

t.test('a fault of the work is its own, and its place is free', async (t) => {
  const turnstile = new Turnstile({ ...limits, atOnce: 1, clock: new TestClock() });
  await t.rejects(
    turnstile.through(() => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  await turn();
  t.equal(await turnstile.through(() => Promise.resolve('done')), 'done');
});
