/** What readings say of a loop, judged without a device. */
import t from 'tap';
import { judgeLoop, judgeReadings, type Trace } from '../../../src/domains/loop-checks/judge.js';
import type { LoopChannel, LoopReading } from '../../../src/domains/loop-checks/kind.js';
import { judged as judgedLoop } from '../../../src/domains/loop-checks/sheet.js';

const STEPS = [0, 25, 50, 75, 100];
const JUDGING = { settleMs: 2000, tolerance: 0.5, isBool: false };

type Row = Partial<LoopReading> & { readonly value: number | null };

/** Readings over the steps; `at` gives what was measured. */
function readings(at: (expected: number) => Row): LoopReading[] {
  return STEPS.map((expected) => {
    const row = at(expected);
    const agrees = row.value !== null && Math.abs(row.value - expected) <= JUDGING.tolerance;
    return { source: 'readback', channel: 'v', expected, agrees, settledMs: agrees ? 100 : null, spread: 0, ...row };
  });
}

const judged = (at: (expected: number) => Row) => judgeReadings(readings(at), JUDGING);

t.test('each fault of a loop has its name', async (t) => {
  t.match(
    judged((expected) => ({ value: expected + 0.2 })),
    { outcome: 'pass' },
  );
  t.match(
    judged((expected) => ({ value: 100 - expected })),
    { outcome: 'inverted', factor: -1, offset: 100 },
  );
  t.match(
    judged((expected) => ({ value: expected / 10 })),
    { outcome: 'scaled', factor: 0.1, offset: 0 },
    'a decimal point',
  );
  t.match(
    judged((expected) => ({ value: 20 + 0.8 * expected })),
    { outcome: 'scaled', factor: 0.8, offset: 20 },
    'a live zero',
  );
  t.match(
    judged(() => ({ value: 40 })),
    { outcome: 'stuck' },
  );
  t.match(
    judged((expected) => ({ value: expected, settledMs: expected === 100 ? 3500 : 100 })),
    { outcome: 'slow', message: 'v agreed after 3500 ms; 2000 ms are allowed' },
  );
  t.match(
    judged((expected) => ({ value: expected, spread: 4 })),
    { outcome: 'noisy' },
  );
  t.match(
    judged((expected) => ({ value: Math.min(expected, 60) })),
    { outcome: 'deviates' },
    'an end stop',
  );
  t.match(
    judged((expected) => ({ value: expected === 50 ? null : expected })),
    { outcome: 'no-readback', message: 'v could not be read in 1 of 5 steps' },
  );
  t.match(judgeReadings([], JUDGING), { outcome: 'no-readback' });
});

t.test('a wrong channel is one that goes along: another output always, an input only where the own one does not', async (t) => {
  const along = (isOutput: boolean): Trace => ({ channel: 'w', isOutput, values: STEPS.map((step) => 2 * step), spreads: STEPS.map(() => 0) });
  const drifting: Trace = { channel: 'x', isOutput: true, values: [3, 9, 2, 8, 3], spreads: STEPS.map(() => 1) };
  const pass = judged((expected) => ({ value: expected }));
  const stuck = judged(() => ({ value: 40 }));
  t.match(judgeLoop(STEPS, [pass], [along(true), drifting]), { outcome: 'wrong-channel', moved: ['w'], message: 'what is written moves w as well' });
  t.match(judgeLoop(STEPS, [pass], [along(false), drifting]), { outcome: 'pass', moved: ['w'] }, 'the process may lead from one to the other');
  t.match(judgeLoop(STEPS, [stuck], [along(false)]), { outcome: 'wrong-channel', moved: ['w'] });
  t.match(judgeLoop(STEPS, [stuck], [drifting]), { outcome: 'stuck', moved: [] });
  t.match(judgeLoop(STEPS, [stuck, pass], []), { outcome: 'stuck' }, 'of two that have to follow the worse one counts');
});

t.test('a register that gives back what was written to it is no look at the loop: no-readback', async (t) => {
  const channelOf = (source: LoopReading['source']): LoopChannel => ({
    channel: 'v',
    address: 'holding:0',
    dataType: 'int',
    low: 0,
    high: 100,
    input: null,
    outcome: 'not-checked',
    message: '',
    moved: [],
    steps: STEPS.map((commanded, at) => ({
      step: at + 1,
      commanded,
      at: '2026-01-01T00:00:00.000Z',
      confirmedBy: 'anna',
      note: '',
      readings: [{ source, channel: 'v', expected: commanded, value: commanded, agrees: true, settledMs: 5, spread: 0 }],
    })),
  });
  const settings = { settleMs: 2000, tolerance: 0.5 };
  t.match(judgedLoop(channelOf('output'), settings, []), { outcome: 'no-readback', message: /only the register of v itself shows it/ });
  t.match(judgedLoop(channelOf('readback'), settings, []), { outcome: 'pass' });
});
