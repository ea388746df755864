/** How long elements above the phase have run: monotonic, in plant time, without Held and Paused (D-C-07, D-SFC-02). */
import t from 'tap';
import { RunClocks } from '../../../src/domains/batches/tree/run-clocks.js';
import { TestClock } from '../../support/test-clock.js';

const KEPT = { ranMs: 7000, spentMs: 3000 };

t.test('D-C-07: step times count plant time in Running, Pausing and Restarting, budgets the time in every state, and a clock that is set counts in neither', (t) => {
  const clock = new TestClock();
  const clocks = new RunClocks();
  t.same(clocks.read('x', KEPT), KEPT, 'what was kept before a restart is gone on from: the time in between is unknown');
  let times = clocks.read('x', KEPT);
  for (const [state, ranMs, spentMs] of [
    ['Running', 12_000, 4000],
    ['Holding', 12_000, 5000],
    ['Held', 12_000, 6000],
    ['Restarting', 17_000, 7000],
    ['Running', 22_000, 8000],
    ['Pausing', 27_000, 9000],
    ['Paused', 27_000, 10_000],
  ] as const) {
    clocks.note('x', times, state, 5, clock);
    clock.jump(3_600_000);
    clock.advance(1000);
    clock.jump(-86_400_000);
    times = clocks.read('x', KEPT);
    t.same(times, { ranMs, spentMs }, state);
  }
  clocks.note('x', times, 'Stopped', 5, clock);
  t.same(clocks.read('x', KEPT), KEPT, 'an element at rest has no clock');
  t.end();
});

t.test('D-C-07: a Stop has the settle deadline by elapsed time, each anew', (t) => {
  const clock = new TestClock();
  const clocks = new RunClocks();
  const left = (by: string) => clocks.settling('b', by, 60_000, clock).remainingMs;
  t.equal(left('first'), 60_000);
  clock.jump(3_600_000);
  clock.advance(20_000);
  t.equal(left('first'), 40_000);
  t.equal(left('second'), 60_000, 'Abort after Stop');
  t.end();
});
