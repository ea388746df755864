/** A time that stands in a body. */
import { parseInstant } from '../base/instant.js';
import { invalid } from '../base/refusal.js';
import type { WallMs } from '../base/times.js';

/** @throws Refusal 400 `invalid_field` naming the field. */
export function readInstant(text: string, field: string): WallMs {
  const atMs = parseInstant(text);
  if (Number.isNaN(atMs)) throw invalid('invalid_field', field, `${field} must be a time such as 2026-01-31T09:05:07.123Z`);
  return atMs;
}
