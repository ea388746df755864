/** The real clock, on which long waits are over sooner: what a test is about comes behind them. */
import { type Clock, systemClock } from '../../runtime/vocabulary/clock.js';

const LONG_MS = 3000;
const TIMES = 5;

export const quickClock: Clock = {
  ...systemClock,
  after: (ms, call) => systemClock.after(ms > LONG_MS ? ms / TIMES : ms, call),
};
