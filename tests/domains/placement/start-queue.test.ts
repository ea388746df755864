/** First starts of unit runtimes: few at a time, in the order in which they were asked for, and none behind one that does not come. */
import t, { type Test } from 'tap';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import { StartQueue } from '../../../src/domains/placement/start-queue.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { unitPlan } from '../../runtime/network/plans.js';
import { eventually } from '../../support/api-client.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const STUCK = new URL('../../support/stuck-thread.js', import.meta.url);

function queueOf(max: number) {
  const clock = new TestClock();
  const queue = new StartQueue(clock, max);
  const begun: string[] = [];
  const one = (name: string) => ({ host: () => void begun.push(name) });
  return { clock, queue, begun, one };
}

t.test('so many begin, and the next when one of them has come to scan', async (t) => {
  const { queue, begun, one } = queueOf(2);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(one) as [ReturnType<typeof one>, ReturnType<typeof one>, ReturnType<typeof one>, ReturnType<typeof one>];
  for (const each of [a, b, c, d]) queue.enter(each);
  t.same(begun, ['a', 'b']);
  queue.leave(b);
  t.same(begun, ['a', 'b', 'c']);
  queue.leave(b);
  t.same(begun, ['a', 'b', 'c'], 'who left already makes no room');
  queue.leave(d);
  queue.leave(a);
  t.same(begun, ['a', 'b', 'c'], 'one that is no longer to be started is not');
  queue.enter(b);
  t.same(begun, ['a', 'b', 'c', 'b'], 'and where there is room nobody waits');
});

t.test('one that does not come to scan is waited for 2 s', async (t) => {
  const { clock, queue, begun, one } = queueOf(1);
  const hangs = one('hangs');
  queue.enter(hangs);
  queue.enter(one('next'));
  queue.enter(one('last'));
  clock.advance(1999);
  t.same(begun, ['hangs']);
  clock.advance(1);
  t.same(begun, ['hangs', 'next']);
  queue.leave(hangs);
  t.same(begun, ['hangs', 'next'], 'its place is taken: that it comes at last makes no room');
});

t.test('a queue that is closed begins nothing more', async (t) => {
  const { queue, begun, one } = queueOf(1);
  const first = one('first');
  queue.enter(first);
  queue.enter(one('second'));
  queue.close();
  queue.leave(first);
  t.same(begun, ['first']);
});

function units(t: Test, startsMax: number) {
  const started: string[] = [];
  const changes: string[] = [];
  const log = testLog(({ msg, unit }) => msg === 'unit runtime started' && started.push(String(unit)));
  const runtimes = new LocalRuntimes({ clock: systemClock, log, heapMb: 64, realtime: false, startsMax });
  runtimes.onChange((link, what) => {
    changes.push(`${link.unit} ${what}`);
    if (what === 'ready') changes.push(`begun ${started.length}`);
  });
  t.teardown(() => runtimes.stop());
  return { runtimes, started, changes };
}

t.test('units come to scan one after the other, each with the last plan it was given', async (t) => {
  const { runtimes, started, changes } = units(t, 1);
  for (const unit of ['a', 'b', 'c']) runtimes.run(unitPlan({ unit, networks: [] }));
  t.same(started, ['a']);
  t.match(runtimes.link('demo', 'c'), { epoch: 1, ready: false, message: 'starting' }, 'one that waits is starting');
  t.equal(runtimes.plansComing('demo', 'c'), 0);
  runtimes.run(unitPlan({ unit: 'c', revision: 7, networks: [] }));
  await eventually('all scan', async () => runtimes.links().every(({ ready }) => ready));
  t.same(started, ['a', 'b', 'c']);
  t.same(
    changes.filter((change) => change.startsWith('begun')),
    ['begun 1', 'begun 2', 'begun 3'],
    'none begins before the one ahead of it scans',
  );
  t.equal(runtimes.link('demo', 'c')?.planRevision, 7);
});

t.test('units that the plant waits for start at once', async (t) => {
  const { runtimes, started } = units(t, 1);
  for (const unit of ['a', 'b']) runtimes.run(unitPlan({ unit, networks: [] }));
  runtimes.run(unitPlan({ unit: 'c', networks: [] }), true);
  t.same(started, ['a', 'c']);
  await eventually('all scan', async () => runtimes.links().every(({ ready }) => ready));
});

t.test('a unit that is taken away while it waits is never started, and one that somebody restarts starts at once', async (t) => {
  const { runtimes, started } = units(t, 1);
  for (const unit of ['a', 'b', 'c', 'd']) runtimes.run(unitPlan({ unit, networks: [] }));
  await runtimes.remove('demo', 'b');
  await runtimes.link('demo', 'd')?.restart();
  t.same(started, ['a', 'd']);
  await eventually('the others scan', async () => runtimes.links().every(({ ready }) => ready));
  t.same(started, ['a', 'd', 'c'], 'd but once');
  t.equal(runtimes.link('demo', 'd')?.epoch, 2);
});

t.test('a thread that hangs while it starts keeps the units behind it for 2 s only', async (t) => {
  const clock = new TestClock();
  const started: string[] = [];
  const log = testLog(({ msg, unit }) => msg === 'unit runtime started' && started.push(String(unit)));
  const runtimes = new LocalRuntimes({ clock, log, heapMb: 64, realtime: false, startsMax: 1, entry: STUCK });
  t.teardown(async () => {
    const stopped = runtimes.stop();
    clock.advance(5000);
    await stopped;
  });
  for (const unit of ['a', 'b']) runtimes.run(unitPlan({ unit, networks: [] }));
  t.same(started, ['a']);
  clock.advance(2000);
  t.same(started, ['a', 'b']);
});
