/**
 * Canonical text of values (decisions 4.4): what snapshots, outputs, batch records and parameters carry.
 * Invariant: `parseValueText(type, printValue(type, value))` gives the value back.
 */
import type { DataType, Value } from '../vocabulary/data-types.js';
import { isDigit, parseDuration, printTime, skipWhile } from './time-text.js';

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;

/** Significant digits of a REAL in string `+` (decisions 4.4). */
const CONCAT_DIGITS = 7;

/** Value form of a 64-bit integer: a number, or decimal text beyond 2^53. */
export function intValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** A decimal integer within 64 bits; null for every other text. */
export function parseInteger(text: string): bigint | null {
  const from = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const end = skipWhile(text, from, isDigit);
  // 19 digits hold every 64-bit value; leading zeros beyond that are refused with the same answer as other nonsense.
  if (end === from || end !== text.length || end - from > 40) return null;
  const value = BigInt(text[0] === '+' ? text.slice(1) : text);
  return value < INT_MIN || value > INT_MAX ? null : value;
}

/** A finite decimal number with optional sign, fraction and exponent (decisions 1.3); null for every other text. */
export function parseDecimal(text: string): number | null {
  let at = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const whole = skipWhile(text, at, isDigit);
  let digits = whole - at;
  at = whole;
  if (text[at] === '.') {
    const end = skipWhile(text, at + 1, isDigit);
    digits += end - at - 1;
    at = end;
  }
  if (digits === 0) return null;
  if (text[at] === 'e' || text[at] === 'E') {
    const from = text[at + 1] === '-' || text[at + 1] === '+' ? at + 2 : at + 1;
    at = skipWhile(text, from, isDigit);
    if (at === from) return null;
  }
  if (at !== text.length) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

const TYPED_REAL = /^REAL#/i;

/**
 * The number of a typed literal `REAL#9.0` (IEC 61131-3, 6.3.3), which says the type where a port takes any and JSON would
 * show a whole number; null for every other text.
 */
export function typedReal(text: string): number | null {
  const trimmed = text.trim();
  return TYPED_REAL.test(trimmed) ? parseDecimal(trimmed.slice(5)) : null;
}

/** Canonical text of a value; the empty text when there is none. */
export function printValue(type: DataType, value: Value | bigint): string {
  if (value === null) return '';
  switch (type) {
    case 'BOOL':
      return value ? 'TRUE' : 'FALSE';
    case 'TIME':
      return printTime(Number(value));
    default:
      return String(value);
  }
}

/** Text of a value beside a STRING in `+`: as `printValue`, REAL rounded to 7 significant digits. */
export function printForConcat(type: DataType, value: Value | bigint): string {
  if (type !== 'REAL' || typeof value !== 'number') return printValue(type, value);
  return String(Number(value.toPrecision(CONCAT_DIGITS)));
}

function parseBool(text: string): boolean | null {
  const word = text.toUpperCase();
  if (word === 'TRUE') return true;
  return word === 'FALSE' ? false : null;
}

/** The value a text stands for; null when it is not a text of that type. */
export function parseValueText(type: DataType, text: string): Value {
  switch (type) {
    case 'BOOL':
      return parseBool(text);
    case 'INT': {
      const value = parseInteger(text);
      return value === null ? null : intValue(value);
    }
    case 'REAL':
      return parseDecimal(text);
    case 'TIME':
      return parseDuration(text);
    case 'STRING':
      return text;
  }
}
