/**
 * Constants of networks: from the JSON value of a parameter or a tag write to the number that stands in a slot, and back.
 * BOOL is 0 or 1, TIME whole milliseconds, STRING the id of its text.
 */
import { parseDuration } from '../language/time-text.js';
import { parseDecimal, parseInteger, typedReal } from '../language/value-text.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { ParamValue } from '../vocabulary/network.js';

/** Largest INT of a network: a result of 2^53 may be a rounded 2^53 + 1, so it is an overflow already. */
export const INT_LIMIT = Number.MAX_SAFE_INTEGER;

/** Anything that gives texts their ids. */
export interface Interner {
  intern(text: string): number;
}

/** Number or text of a constant; undefined when the value is not one of the type. Decimal text is accepted for numbers. */
export function readConstant(type: DataType, value: ParamValue): number | string | undefined {
  switch (type) {
    case 'BOOL':
      return readBool(value);
    case 'STRING':
      return typeof value === 'string' ? value : undefined;
    case 'TIME':
      return typeof value === 'string' ? (parseDuration(value.trim()) ?? undefined) : undefined;
    case 'INT':
      return readInt(value);
    case 'REAL':
      return readReal(value);
  }
}

function readBool(value: ParamValue): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const word = value.trim().toUpperCase();
  if (word === 'TRUE') return 1;
  return word === 'FALSE' ? 0 : undefined;
}

function readInt(value: ParamValue): number | undefined {
  if (typeof value === 'boolean') return undefined;
  const number = typeof value === 'number' ? value : Number(parseInteger(value.trim()) ?? Number.NaN);
  return Number.isInteger(number) && Math.abs(number) <= INT_LIMIT ? number : undefined;
}

function readReal(value: ParamValue): number | undefined {
  if (typeof value === 'boolean') return undefined;
  const number = typeof value === 'number' ? value : (parseDecimal(value.trim()) ?? typedReal(value) ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

/** Type of a literal where the port takes any: a whole number is INT and may serve as REAL; `REAL#9.0` is one that is REAL. */
export function literalType(value: ParamValue): DataType {
  if (typeof value === 'boolean') return 'BOOL';
  if (typeof value === 'number') return readInt(value) === undefined ? 'REAL' : 'INT';
  if (/^(T|TIME)#/i.test(value.trim()) && parseDuration(value.trim()) !== null) return 'TIME';
  return typedReal(value) === null ? 'STRING' : 'REAL';
}

/** Value of a tag write as a number; undefined when it does not convert (Q-TAG-01: the native type or text that converts). */
export function readWritten(type: DataType, value: Value, texts: Interner): number | undefined {
  if (value === null) return undefined;
  if (type === 'STRING') return typeof value === 'string' ? texts.intern(value) : undefined;
  if (type === 'TIME' && typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (type === 'BOOL' && (value === '1' || value === '0')) return Number(value);
  if (type === 'BOOL' && (value === 1 || value === 0)) return value;
  const number = readConstant(type, value);
  return typeof number === 'number' ? number : undefined;
}

/** A slot's number as a value of its type; null when there is none. */
export function showNumber(type: DataType, number: number, text: (id: number) => string): Value {
  if (!Number.isFinite(number)) return null;
  if (type === 'BOOL') return number !== 0;
  return type === 'STRING' ? text(number) : number;
}
