/** Time as it is given to everything beside the plant: probes, drivers, rehearsals, and by two of its functions a scan. Tests and rehearsals own theirs. */
import { monotonicMs } from './monotonic.js';
import type { DurationMs, MonoMs, WallMs } from './times.js';

export interface Clock {
  /** Wall time in ms since the epoch: to be shown and stored, never to be reckoned with. */
  wallMs(): WallMs;
  /** Monotonic time in ms; of the system clock the same in all threads of the process. */
  monoMs(): MonoMs;
  /** Calls back once after `delayMs` of monotonic time; the result cancels. */
  after(delayMs: DurationMs, call: () => void): () => void;
}

const TIMER_MAX_MS = 0x7fffffff; // setTimeout fires at once beyond it

/** The clock of a running process. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: monotonicMs,
  after(delayMs, call) {
    const timer = setTimeout(call, Math.min(Math.max(delayMs, 0), TIMER_MAX_MS));
    return () => clearTimeout(timer);
  },
};
