/** The reconcile loop with a clock that each look moves: slices, wakes during a look, failures, the end. */
import pino from 'pino';
import t from 'tap';
import type { Key, Outcome } from '../../../src/platform/reconcile/loop.js';
import { ReconcileLoop } from '../../../src/platform/reconcile/loop.js';
import { TestClock } from '../../support/test-clock.js';

const NAMES = Array.from({ length: 10 }, (_, n) => `k${n}`);

function looking(look: (name: string, clock: TestClock) => Outcome) {
  const clock = new TestClock();
  const seen: string[] = [];
  const reconciler = {
    name: 'test',
    keys: (): Iterable<Key> => NAMES.map((name) => ({ site: 's', name })),
    reconcile({ name }: Key): Outcome {
      seen.push(name);
      return look(name, clock);
    },
  };
  return { clock, seen, loop: new ReconcileLoop(reconciler, clock, pino({ level: 'silent' })) };
}

async function idle(loop: ReconcileLoop): Promise<number> {
  let turns = 0;
  do {
    await new Promise(setImmediate);
    turns += 1;
  } while (!loop.idle);
  return turns;
}

t.test('many keys are looked at in slices: the event loop turns before the last of them', async (t) => {
  const { loop, seen } = looking((_, clock) => {
    clock.advance(2);
    return 'settled';
  });
  loop.start();
  await new Promise(setImmediate);
  t.ok(seen.length < NAMES.length, 'somebody else had a turn');
  t.notOk(loop.idle);
  loop.wake('s', 'k9');
  await idle(loop);
  t.same(seen, NAMES, 'each once, in order, also one that was woken again while it waited');
  loop.stop();
});

t.test('a key that fails is looked at again later and holds up nobody; one may ask to be looked at again', async (t) => {
  let faults = 2;
  const { clock, loop, seen } = looking((name) => {
    if (name === 'k3' && faults > 0) {
      faults -= 1;
      throw new Error('not today');
    }
    return name === 'k5' && seen.filter((each) => each === 'k5').length === 1 ? { lookAgainMs: 50 } : 'settled';
  });
  loop.start();
  t.equal(await idle(loop), 1, 'short looks take one turn');
  t.same(seen, NAMES);
  clock.advance(50);
  await idle(loop);
  t.same(seen.slice(10), ['k5']);
  clock.advance(50); // 100 ms after the first failure
  await idle(loop);
  t.same(seen.slice(11), ['k3']);
  clock.advance(199);
  await idle(loop);
  t.equal(seen.length, 12, 'the second delay is twice the first');
  clock.advance(1);
  await idle(loop);
  t.same(seen.slice(12), ['k3']);
  loop.stop();
  loop.wake('s', 'k1');
  clock.advance(120_000);
  await idle(loop);
  t.equal(seen.length, 13, 'nothing after the end');
});
