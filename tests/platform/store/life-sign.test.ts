/** Which sign of life is the newest, and how long ago it was (D-C-07, D-C-08). */
import t from 'tap';
import { Terms } from '../../../src/platform/base/term.js';
import { lifeSign, newestSign, readSign, wallSign } from '../../../src/platform/store/life-sign.js';
import { TestClock } from '../../support/test-clock.js';

const HOUR_MS = 3_600_000;
const START = { wallMs: Date.UTC(2026, 0, 31, 9, 0, 0), bootID: 'boot-1', bootMs: 500_000 };
const sign = (version: number, wallMs = 0) => ({ ...START, wallMs, version });

t.test('the newest is the one that was written last, not the one with the latest time', (t) => {
  t.same(newestSign([sign(7, 3000), sign(9, 1000), undefined, sign(8, 2000)]), sign(9, 1000));
  t.same(newestSign([wallSign(9000, 40), sign(9, 1000)]), sign(9, 1000), 'a row that 0.1.0 has left is older than what this release has written');
  t.same(newestSign([wallSign(9000, 40), wallSign(1000, 41)]), wallSign(1000, 41));
  t.equal(newestSign([undefined]), undefined);
  t.end();
});

t.test('how long ago: exact within one boot of the machine, by the wall clock only where that can be believed', (t) => {
  const clock = new TestClock(START.wallMs);
  const terms = new Terms(clock, START, false);
  const saved = lifeSign({ terms, resourceVersion: 5 });
  t.same(saved, { ...START, version: 5 });
  const started = (start: Partial<typeof START>, synchronised = false) => {
    const then = { ...START, ...start };
    return new Terms(new TestClock(then.wallMs), then, synchronised);
  };
  const set = { wallMs: START.wallMs + 400 * 24 * HOUR_MS };
  t.equal(started({ ...set, bootMs: START.bootMs + 6000 }).elapsedMs(saved), 6000);
  t.equal(started({ ...set, bootID: 'boot-2', bootMs: 1000 }).elapsedMs(saved), undefined, 'another boot, and a clock that follows no server');
  t.equal(started({ wallMs: START.wallMs + HOUR_MS, bootID: 'boot-2', bootMs: 1000 }, true).elapsedMs(saved), HOUR_MS);
  t.equal(started({ wallMs: START.wallMs - 1, bootID: 'boot-2', bootMs: 1000 }, true).elapsedMs(saved), undefined, 'it went back');
  t.equal(started({ bootMs: START.bootMs + 6000 }).elapsedMs(wallSign(START.wallMs - HOUR_MS, 3)), undefined, 'what 0.1.0 has left cannot be measured');
  t.end();
});

t.test('what is read back and is no sign is none', (t) => {
  for (const kept of [undefined, null, 'now', {}, { ...sign(1), wallMs: 'x' }, { ...sign(1), version: Number.NaN }, { ...sign(1), bootID: 5 }]) t.equal(readSign(kept), undefined);
  t.same(readSign(sign(1)), sign(1));
  t.end();
});
