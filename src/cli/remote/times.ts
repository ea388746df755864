/** Times as a person gives them on a command line. */
import { parseDuration } from '../../platform/base/duration-text.js';
import type { Box } from './box.js';
import { usage } from './outcome.js';

/** `8h` is 8 hours back from now, by the clock of the box; everything else is a time. @returns an instant of ISO 8601. */
export async function instantOf(box: Pick<Box, 'nowMs'>, text: string | undefined, option: string): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const back = parseDuration(text);
  const instant = isoOf(back === null ? parseTime(text) : (await box.nowMs()) - back);
  if (instant === undefined) throw usage(`${option} ${text}: give a duration back from now, such as 10m, or a time such as 2026-11-21T08:30:00Z`);
  return instant;
}

/** Milliseconds; NaN for what is none. `Date.parse` alone takes `5` for a month of 2001. */
export function parseTime(text: string): number {
  return /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Undefined for what is no time, or lies beyond all that a `Date` can be. */
export function isoOf(atMs: number): string | undefined {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
