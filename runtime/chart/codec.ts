/** Slots of a phase in its durable record: plain values, INT beyond 2^53 as decimal text, an unset slot absent. */
import type { Value } from '../vocabulary/data-types.js';
import { iecType } from '../vocabulary/data-types.js';
import type { StType } from './layout.js';
import { Any, fromValue, type Raw, toValue } from './value.js';

/** A slot whose type is known at run time only carries it along, as JSON text. */
export function encodeSlot(type: StType, value: Raw | Any | undefined): Value | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Any) return JSON.stringify([value.type, toValue(value.value)]);
  return type === 'ANY' ? undefined : toValue(value);
}

export function decodeSlot(type: StType, value: Value | undefined): Raw | Any | undefined {
  if (value === undefined || value === null) return undefined;
  if (type !== 'ANY') return fromValue(type, value) ?? undefined;
  if (typeof value !== 'string') return undefined;
  const [word, inner] = JSON.parse(value) as [string, Value];
  const known = iecType(word);
  const raw = known ? fromValue(known, inner) : null;
  return known && raw !== null ? new Any(known, raw) : undefined;
}
