/** The reconcile loop with a clock that each look moves: slices, wakes during a look, failures, the end. */
import pino from 'pino';
import t from 'tap';
import { onContained } from '../../../src/platform/base/guarded.js';
import type { Outcome } from '../../../src/platform/reconcile/loop.js';
import { ReconcileLoop } from '../../../src/platform/reconcile/loop.js';
import { TestClock } from '../../support/test-clock.js';
import type { Key } from '../../../src/platform/reconcile/key.js';

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
  await loop.stop();
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
  await loop.stop();
  loop.wake('s', 'k1');
  clock.advance(120_000);
  await idle(loop);
  t.equal(seen.length, 13, 'nothing after the end');
});

t.test('a look that never ends parks its key and holds up nobody; the key is looked at again when it has ended', async (t) => {
  const clock = new TestClock();
  const seen: string[] = [];
  const told: [string, string | null][] = [];
  let end = (): void => undefined;
  const reconciler = {
    name: 'test',
    keys: (): Iterable<Key> => ['k0', 'k1'].map((name) => ({ site: 's', name })),
    sourceOf: ({ name }: Key) => `Note/${name}`,
    reconcile({ name }: Key): Outcome | Promise<Outcome> {
      seen.push(name);
      return name === 'k0' && seen.length === 1 ? new Promise((resolve) => (end = () => resolve('settled'))) : 'settled';
    },
  };
  const loop: ReconcileLoop = new ReconcileLoop(reconciler, clock, pino({ level: 'silent' }));
  loop.watchTrouble((_, source) => told.push([source, loop.faultOf('s', source)]));
  loop.start();
  await new Promise(setImmediate);
  t.same(seen, ['k0'], 'the first look is in flight');
  clock.advance(30_000);
  await idle(loop);
  t.same(seen, ['k0', 'k1']);
  t.match(told, [['Note/k0', /not ended in 30 s/]]);
  loop.wake('s', 'k0');
  await idle(loop);
  t.equal(seen.length, 2, 'not looked at twice at once');
  end();
  await new Promise(setImmediate);
  await idle(loop);
  t.same(seen, ['k0', 'k1', 'k0']);
  t.equal(loop.faultOf('s', 'Note/k0'), null);
  t.equal(told.length, 2, 'and told that it is over');
  await loop.stop();
});

t.test('what fails three times in a row is told of by its source; the end waits for the look that is in flight', async (t) => {
  const clock = new TestClock();
  let end = (): void => undefined;
  let fails = true;
  const reconciler = {
    name: 'test',
    keys: (): Iterable<Key> => [{ site: 's', name: 'k' }],
    reconcile(): Promise<Outcome> {
      return fails ? Promise.reject(new Error('it cannot be read')) : new Promise((resolve) => (end = () => resolve('settled')));
    },
  };
  const loop = new ReconcileLoop(reconciler, clock, pino({ level: 'silent' }));
  loop.start();
  await idle(loop);
  t.equal(loop.faultOf('s', 'System/test'), null);
  for (const delayMs of [100, 200]) {
    clock.advance(delayMs);
    await idle(loop);
  }
  t.equal(loop.faultOf('s', 'System/test'), 'it cannot be read');
  fails = false;
  clock.advance(400);
  await new Promise(setImmediate);
  let stopped = false;
  const stopping = loop.stop().then(() => {
    stopped = true;
  });
  await new Promise(setImmediate);
  t.notOk(stopped);
  end();
  await stopping;
  t.ok(stopped);
});

t.test('nothing is looked at before it starts; what was woken before is looked at then, also what its kind does not name any more', async (t) => {
  const { loop, seen } = looking(() => 'settled');
  loop.wake('s', 'gone');
  loop.wakeAll();
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
  t.same(seen, []);
  loop.start();
  await idle(loop);
  t.same(seen, ['gone', ...NAMES], 'each once');
  await loop.stop();
});

t.test('the end does not wait for a look that is parked, and nothing is looked at when that one fails at last', async (t) => {
  const clock = new TestClock();
  let looks = 0;
  let fail = (): void => undefined;
  const reconciler = {
    name: 'test',
    keys: (): Iterable<Key> => [{ site: 's', name: 'k' }],
    reconcile(): Promise<Outcome> {
      looks += 1;
      return new Promise((_, reject) => (fail = () => reject(new Error('too late'))));
    },
  };
  const loop = new ReconcileLoop(reconciler, clock, pino({ level: 'silent' }));
  loop.start();
  await new Promise(setImmediate);
  clock.advance(29_999);
  await new Promise(setImmediate);
  t.equal(loop.faultOf('s', 'System/test'), null, 'it has its time');
  clock.advance(1);
  await idle(loop);
  t.match(loop.faultOf('s', 'System/test'), /not ended in 30 s/);
  clock.advance(120_000); // the look at all keys comes round meanwhile
  await idle(loop);
  t.equal(looks, 1, 'it is parked');
  await loop.stop();
  fail();
  await new Promise(setImmediate);
  t.equal(looks, 1);
});

t.test('a loop that cannot list what there is says so, of every site, until it can; what it was woken for is looked at all the same', async (t) => {
  const clock = new TestClock();
  const seen: string[] = [];
  const told: [string, string, string | null][] = [];
  let fails = true;
  const reconciler = {
    name: 'test',
    *keys(): Iterable<Key> {
      yield { site: 's', name: 'k0' };
      if (fails) throw new Error('no such index');
      yield { site: 's', name: 'k1' };
    },
    reconcile({ name }: Key): Outcome {
      seen.push(name);
      return 'settled';
    },
  };
  t.teardown(onContained(() => undefined));
  const loop: ReconcileLoop = new ReconcileLoop(reconciler, clock, pino({ level: 'silent' }));
  loop.watchTrouble((site, source) => told.push([site, source, loop.faultOf('s', source)]));
  loop.start();
  await idle(loop);
  t.match(told, [['', 'System/test-keys', /no such index/]]);
  t.match(loop.faultOf('another', 'System/test-keys'), /no such index/);
  t.equal(loop.faultOf('s', 'System/test'), null, 'a source of its own: the look at a key says nothing of it');
  clock.advance(60_000);
  await idle(loop);
  t.equal(told.length, 1, 'told once');
  t.same(seen, ['k0', 'k0']);
  fails = false;
  clock.advance(60_000);
  await idle(loop);
  t.same(told.slice(1), [['', 'System/test-keys', null]]);
  t.same(seen.slice(2), ['k0', 'k1']);
  await loop.stop();
});
