import { monotonicMs } from '../vocabulary/monotonic.js';
import type { Clock } from './driver.js';

const TIMER_MAX_MS = 0x7fffffff; // setTimeout fires at once beyond it

/** The clock of a running probe. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: monotonicMs,
  after(delayMs, call) {
    const timer = setTimeout(call, Math.min(Math.max(delayMs, 0), TIMER_MAX_MS));
    return () => clearTimeout(timer);
  },
};
