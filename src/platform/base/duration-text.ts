import { invalid } from './refusal.js';

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `1m30s`, `100ms`, `2h`: one or more `<decimal><unit>`; null when it does not read (decisions, conventions). */
export function parseDuration(text: string): number | null {
  let rest = text.trim();
  if (rest === '') return null;
  let total = 0;
  while (rest !== '') {
    const part = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)/.exec(rest);
    if (!part) return null;
    total += Number(part[1]) * (UNITS_MS[part[2] as string] as number);
    rest = rest.slice(part[0].length);
  }
  return total;
}

/** @throws Refusal `invalid_field` naming the field. */
export function readDuration(text: string, field: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw invalid('invalid_field', field, `${field} must be a duration such as 100ms, 30s or 1m30s`);
  return ms;
}
