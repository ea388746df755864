/** Values between messages (`Value`), drivers and process images (numbers and UTF-8 text). */
import { QUALITY_WORDS, type Quality, type QualityCode } from '../vocabulary/quality.js';
import type { Value } from '../vocabulary/data-types.js';
import type { ChannelType } from './description.js';

const DECIMAL_INTEGER = /^[+-]?\d+$/;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
const DECIMAL_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return Number(value);
  const number = typeof value === 'string' && DECIMAL_NUMBER.test(value.trim()) ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined; // 1e400 is a text of a number that no double holds
}

function booleanOf(value: Value): number | undefined {
  if (typeof value === 'boolean' || value === 0 || value === 1) return Number(value);
  if (typeof value !== 'string') return undefined;
  const word = value.trim().toLowerCase();
  return word === 'true' || word === '1' ? 1 : word === 'false' || word === '0' ? 0 : undefined;
}

/** A whole number beyond 2^53 as text, where some device has a type for it. */
function longInteger(text: string): string | undefined {
  const number = BigInt(text);
  return number >= INT64_MIN && number <= UINT64_MAX ? text : undefined;
}

/** The value in working form of the channel type; undefined when it does not convert (400 `invalid_value`). */
export function convertValue(value: Value, dataType: ChannelType): number | string | undefined {
  switch (dataType) {
    case 'bool':
      return booleanOf(value);
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'float':
      return numberOf(value);
    case 'int': {
      if (typeof value === 'string' && DECIMAL_INTEGER.test(value.trim()) && !Number.isSafeInteger(Number(value))) return longInteger(value.trim());
      const number = numberOf(value);
      return number === undefined ? undefined : Math.round(number);
    }
  }
}

/** As `convertValue`, for what somebody writes: a fraction is no whole number, and nobody rounds it for him (decisions Q-IO-02). */
export function exactValue(value: Value, dataType: ChannelType): number | string | undefined {
  const converted = convertValue(value, dataType);
  return dataType === 'int' && typeof converted === 'number' && converted !== numberOf(value) ? undefined : converted;
}

/** As `exactValue`, for a simulated channel, which is a double: a whole number that it would change is refused. */
export function simulatedValue(value: Value, dataType: ChannelType): number | string | undefined {
  const exact = exactValue(value, dataType);
  return dataType === 'int' && !Number.isSafeInteger(exact) ? undefined : exact;
}

/** A working value as a message carries it. */
export function messageValue(value: number, text: string | undefined, dataType: ChannelType): Value {
  if (dataType === 'string') return text ?? '';
  if (dataType === 'bool') return value !== 0;
  return dataType === 'int' && text !== undefined && text !== '' && !Number.isSafeInteger(value) ? text : value;
}

export function qualityWord(code: QualityCode | number): Exclude<Quality, 'Raw'> {
  const word = QUALITY_WORDS[code] ?? 'Bad';
  return word === 'Raw' ? 'Uncertain' : word;
}
