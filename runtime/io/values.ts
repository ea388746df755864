/** Values between messages (`Value`), drivers and process images (numbers and UTF-8 text). */
import { QUALITY_WORDS, type Quality, type QualityCode } from '../vocabulary/quality.js';
import type { Value } from '../vocabulary/data-types.js';
import type { ChannelType } from './description.js';

const DECIMAL_INTEGER = /^[+-]?\d+$/;
const DECIMAL_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && DECIMAL_NUMBER.test(value.trim()) ? Number(value) : undefined;
}

function booleanOf(value: Value): number | undefined {
  if (typeof value !== 'string') return value === null ? undefined : Number(Boolean(value));
  const word = value.trim().toLowerCase();
  return word === 'true' || word === '1' ? 1 : word === 'false' || word === '0' ? 0 : undefined;
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
      if (typeof value === 'string' && DECIMAL_INTEGER.test(value.trim()) && !Number.isSafeInteger(Number(value))) return value.trim();
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
