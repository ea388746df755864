import { guarded } from './guarded.js';
import type { DurationMs, MonoMs, WallMs } from './times.js';

/** Time as every part is given it; tests own it. Elapsed time is monotonic, records use wall time. */
export interface Clock {
  /** Wall time in ms since the epoch. */
  wallMs(): WallMs;
  /** Monotonic time in ms; of the system clock the same in all threads. */
  monoMs(): MonoMs;
  /** Calls back once after `delayMs` of monotonic time; the result cancels. */
  after(delayMs: DurationMs, call: () => void): () => void;
}

/** `performance.now()` counts from the start of each thread; scan and probe threads stamp by this one too. */
const ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => ORIGIN_MS + performance.now(),
  after(delayMs, call) {
    const timer = setTimeout(() => guarded('timer', call), Math.min(delayMs, 0x7fffffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** RFC 3339 in UTC with milliseconds, the form of every time the gateway serves (decisions Q-ALARM-15). */
export function timestamp(wallMs: WallMs): string {
  return new Date(wallMs).toISOString();
}
