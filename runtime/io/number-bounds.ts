/** What the number types of devices hold, for whoever asks before there is a device: what one cannot take is refused where it is written down. */
import type { Value } from '../vocabulary/data-types.js';

export type IntegerBounds = readonly [min: bigint, max: bigint];

/** The largest number that is rounded to one of 32 bits (IEEE 754). */
export const FLOAT32_MAX = 3.4028235677973366e38;
const DECIMAL = /^[+-]?\d+$/;

/** Why a whole-number type does not hold the value; '' where it does. */
export function outsideInteger(value: Value, type: string, [min, max]: IntegerBounds): string {
  const isText = typeof value === 'string' && DECIMAL.test(value.trim());
  const number = isText ? Number.NaN : Number(value ?? Number.NaN);
  if (!isText && !Number.isFinite(number)) return `${value} is not a number`;
  const whole = isText ? BigInt(value.trim()) : BigInt(Math.round(number));
  return whole < min || whole > max ? `${value} is outside ${min} to ${max} of ${type}` : '';
}

/** As `outsideInteger`, of floating-point types of `bytes`. */
export function outsideFloat(value: Value, type: string, bytes: number): string {
  const number = Number(value ?? Number.NaN);
  if (!Number.isFinite(number)) return `${value} is not a number that ${type} holds`;
  return bytes === 4 && Math.abs(number) > FLOAT32_MAX ? `${value} is outside the range of ${type}` : '';
}
