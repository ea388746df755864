import t from 'tap';
import { timestamp } from '../../../src/platform/base/clock.js';
import { Deadline, Stopwatch } from '../../../src/platform/base/elapsed.js';
import { TestClock } from '../../support/test-clock.js';

const HOUR_MS = 3_600_000;

t.test('a stopwatch counts what has passed, and the wall clock does not move it', async (t) => {
  const clock = new TestClock();
  const watch = new Stopwatch(clock, 500);
  clock.advance(1000);
  clock.jump(HOUR_MS);
  t.equal(watch.elapsedMs, 1500);
  clock.jump(-2 * HOUR_MS);
  watch.restart();
  clock.advance(20);
  t.equal(watch.elapsedMs, 20);
});

t.test('a deadline passes after its time and not when somebody sets the clock', async (t) => {
  const clock = new TestClock();
  const deadline = new Deadline(clock, 1000);
  clock.jump(HOUR_MS);
  t.equal(deadline.remainingMs, 1000);
  clock.advance(999);
  t.equal(deadline.hasPassed, false);
  clock.advance(1);
  t.equal(deadline.hasPassed, true);
  clock.advance(50);
  t.equal(deadline.remainingMs, 0);
});

t.test('D-C-07: the compiler does not take monotonic time or how long something took for an instant', async (t) => {
  const clock = new TestClock();
  const watch = new Stopwatch(clock);
  // @ts-expect-error monotonic time is shown to nobody
  timestamp(clock.monoMs());
  // @ts-expect-error a duration is no instant
  timestamp(watch.elapsedMs);
  // @ts-expect-error nothing lasts until the wall clock says something
  new Deadline(clock, clock.wallMs());
  // @ts-expect-error and nothing waits for it
  clock.after(clock.wallMs(), () => undefined)();
  t.equal(timestamp(clock.wallMs()), '2026-01-31T09:00:00.000Z');
});
