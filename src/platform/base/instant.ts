/** Instants as text (RFC 3339), for people, records and other systems. */

import type { WallMs } from './times.js';

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/i;

/**
 * Wall ms since the epoch; NaN for what is no RFC 3339 time. Days, hours and offsets that do not exist are none: `Date.parse` takes
 * the 30th of February for the 2nd of March, and 24:00 for the next day. So are moments that have no four-digit year in UTC, because
 * every time is served in UTC (decisions Q-ALARM-15).
 */
export function parseInstant(text: string): WallMs {
  const parts = RFC_3339.exec(text);
  if (!parts) return Number.NaN;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return Number.NaN;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return Number.NaN;
  const atMs = Date.parse(text.toUpperCase());
  return atMs >= FIRST_MS && atMs <= LAST_MS ? atMs : Number.NaN;
}

/** Whether a text is such a time; dates without a time are none. */
export function isInstantText(text: string): boolean {
  return !Number.isNaN(parseInstant(text));
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
