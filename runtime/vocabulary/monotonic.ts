/**
 * One monotonic clock for all threads of the process. `performance.now()` counts from the start of each thread, so a sample
 * that a probe has stamped by it could not be judged by a scan. No wall clock is in it: nobody can set it (D-C-07).
 */
import type { MonoMs } from './times.js';

const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds; allocates nothing. */
export function monotonicMs(): MonoMs {
  return originMs + performance.now();
}
