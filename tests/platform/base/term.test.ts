/** Permissions with an end across clock steps and restarts (D-C-07). */
import t from 'tap';
import type { Moment } from '../../../src/platform/base/moment.js';
import { Terms } from '../../../src/platform/base/term.js';
import { TestClock } from '../../support/test-clock.js';

const HOUR_MS = 3_600_000;
const WALL_MS = Date.UTC(2026, 0, 31, 9, 0, 0);
const BEFORE: Moment = { wallMs: WALL_MS, bootID: 'boot-1', bootMs: 500_000 };

/** A start, `awayMs` after the one before. */
function started(moment: Partial<Moment>, { synchronised = false } = {}) {
  const start = { ...BEFORE, ...moment };
  const clock = new TestClock(start.wallMs);
  return { clock, terms: new Terms(clock, start, synchronised) };
}

t.test('at run time elapsed time judges it, whatever is done to the wall clock', (t) => {
  const { clock, terms } = started({});
  const ending = terms.begin(HOUR_MS);
  t.equal(ending.until, new Date(WALL_MS + HOUR_MS).toISOString());
  for (const stepMs of [24 * HOUR_MS, -48 * HOUR_MS]) {
    clock.jump(stepMs);
    t.equal(terms.remainingMs(ending), HOUR_MS);
  }
  clock.advance(HOUR_MS - 1);
  t.equal(terms.remainingMs(ending), 1);
  clock.advance(1);
  t.equal(terms.remainingMs(ending), 0);
  t.equal(terms.remainingMs({ until: '' }), 0, 'one that was never begun');
  t.end();
});

t.test('across a restart of the process the clock of the machine tells how long it was', (t) => {
  const ending = started({}).terms.begin(HOUR_MS);
  const { clock, terms } = started({ bootMs: BEFORE.bootMs + HOUR_MS / 2, wallMs: WALL_MS - 24 * HOUR_MS });
  t.equal(terms.remainingMs(ending), HOUR_MS / 2);
  clock.advance(HOUR_MS / 2);
  t.equal(terms.remainingMs(ending), 0);
  t.equal(started({ bootMs: BEFORE.bootMs + HOUR_MS }).terms.remainingMs(ending), 0, 'longer than the rest');
  t.end();
});

t.test('across a restart of the machine the wall clock is asked once, and only when it can be believed', (t) => {
  const ending = started({}).terms.begin(HOUR_MS);
  const other = { bootID: 'boot-2', bootMs: 1000 };
  const known = started({ ...other, wallMs: WALL_MS + HOUR_MS / 4 }, { synchronised: true });
  t.equal(known.terms.remainingMs(ending), (HOUR_MS * 3) / 4);
  known.clock.jump(24 * HOUR_MS);
  known.clock.advance(HOUR_MS / 4);
  t.equal(known.terms.remainingMs(ending), HOUR_MS / 2, 'a step after the start');
  t.equal(started({ ...other, wallMs: WALL_MS + HOUR_MS / 4 }).terms.remainingMs(ending), 0, 'a clock that follows no server');
  t.equal(started({ ...other, wallMs: WALL_MS - 1 }, { synchronised: true }).terms.remainingMs(ending), 0, 'a clock that went back');
  t.equal(started({ bootID: '' }).terms.remainingMs(started({ bootID: '' }).terms.begin(HOUR_MS)), 0, 'boots that nobody can tell apart');
  t.end();
});

t.test('an instant without a term, as 0.1.0 kept it, is judged at the start and by elapsed time from then on', (t) => {
  const { clock, terms } = started({});
  const until = new Date(WALL_MS + HOUR_MS).toISOString();
  clock.jump(-24 * HOUR_MS);
  clock.advance(HOUR_MS - 1);
  t.equal(terms.remainingMs({ until }), 1);
  clock.jump(24 * HOUR_MS);
  clock.advance(1);
  t.equal(terms.remainingMs({ until }), 0);
  t.end();
});
