/** The real clock, on which waits of more than 3 s are over sooner: what a test is about comes behind them. */
import { type Clock, systemClock } from '../../runtime/vocabulary/clock.js';

const LONG_MS = 3000;

export const quickClock = (times: number): Clock => ({
  ...systemClock,
  after: (ms, call) => systemClock.after(ms > LONG_MS ? ms / times : ms, call),
});
