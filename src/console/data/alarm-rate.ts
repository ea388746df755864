/** How fast alarms come, and whether that is a flood (ISA-18.2, 16.5: it begins above ten in ten minutes and ends below five). */
import type { Alarm } from './types.js';

const MINUTE_MS = 60_000;
const WINDOW_MS = 10 * MINUTE_MS;
const BEGINS_ABOVE = 10;
const ENDS_BELOW = 5;
/** So long the list holds what has come: resolved alarms stay in it for a day. */
export const RATE_MINUTES = 30;

export interface Flood {
  /** When the first alarm of it came. */
  readonly sinceMs: number;
  /** How many came since then. */
  readonly count: number;
}

/** When each alarm came last, ascending. One that comes and goes again and again counts once: the metrics count each time. */
export function arrivals(found: readonly Alarm[]): number[] {
  return found
    .filter(({ shelved }) => !shelved)
    .map(({ activatedAt }) => Date.parse(activatedAt))
    .sort((a, b) => a - b);
}

/** @param times ascending. @returns undefined while there is none. */
export function floodOf(times: readonly number[], nowMs: number): Flood | undefined {
  let first = 0; // of those within the window
  let begin = -1;
  const forget = (beforeMs: number): void => {
    while (first < times.length && (times[first] ?? 0) < beforeMs) first += 1;
  };
  const end = (count: number): void => {
    if (begin >= 0 && count < ENDS_BELOW) begin = -1;
  };
  times.forEach((atMs, at) => {
    forget(atMs - WINDOW_MS);
    end(at - first);
    if (begin < 0 && at - first + 1 > BEGINS_ABOVE) begin = first;
  });
  forget(nowMs - WINDOW_MS);
  end(times.length - first);
  return begin < 0 ? undefined : { sinceMs: times[begin] ?? nowMs, count: times.length - begin };
}

/** Alarms of each of the last minutes, the present one last. */
export function perMinute(times: readonly number[], nowMs: number): number[] {
  const counts = new Array<number>(RATE_MINUTES).fill(0);
  for (const atMs of times) {
    const at = RATE_MINUTES - 1 - Math.floor((nowMs - atMs) / MINUTE_MS);
    if (at >= 0 && at < RATE_MINUTES) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
