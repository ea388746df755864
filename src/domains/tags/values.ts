/**
 * Values as the API takes and serves them (decisions Q-TAG-01): number for Float and Integer, boolean for Boolean, text for String and Time. A write takes the native type or text that converts.
 */
import { parseTimeText } from '../../../runtime/language/time-text.js';
import type { DataType, TagType, Value } from '../../../runtime/vocabulary/data-types.js';
import { invalid, type Refusal } from '../../platform/base/refusal.js';

const INTEGER_TEXT = /^[+-]?\d{1,19}$/;
const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const NUMBER_LENGTH_MAX = 64; // characters of a number or a time written as text; 17 digits say all that a REAL can hold
const TEXT_LENGTH_MAX = 4096; // not in the contract: bounds what one write puts into audit trail and runtime

export interface WrittenTag {
  readonly address: string;
  readonly type: DataType;
  readonly dataType: TagType;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/**
 * The value in the runtime's form (TIME in whole milliseconds).
 * @throws Refusal `missing_field`, `invalid_value`, then `out_of_range` naming tag and range (contract 2, Tag write rules 2).
 */
export function decodeWrite(tag: WrittenTag, value: unknown): Value {
  if (value === undefined) throw invalid('missing_field', 'value', `value is missing: say what to write to tag ${tag.address}`);
  if (typeof value === 'string' && tag.type !== 'STRING' && value.length > NUMBER_LENGTH_MAX)
    throw invalidValue(tag, `at most ${NUMBER_LENGTH_MAX} characters when it is sent as text`);
  const decoded = convert(tag, value);
  const number = tag.type === 'REAL' || tag.type === 'INT' ? Number(decoded) : undefined;
  if (number !== undefined && ((tag.min !== undefined && number < tag.min) || (tag.max !== undefined && number > tag.max))) throw outOfRange(tag, value);
  return decoded;
}

function convert(tag: WrittenTag, value: unknown): Value {
  switch (tag.type) {
    case 'BOOL':
      if (typeof value === 'boolean') return value;
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      throw invalidValue(tag, 'true or false');
    case 'INT':
      return convertInteger(tag, value);
    case 'REAL': {
      const number = typeof value === 'string' && NUMBER_TEXT.test(value.trim()) ? Number(value) : value;
      if (typeof number === 'number' && Number.isFinite(number)) return number + 0; // no minus zero: nobody could see it
      throw invalidValue(tag, 'a number');
    }
    case 'STRING':
      if (typeof value === 'string' && value.length <= TEXT_LENGTH_MAX) return value;
      throw invalidValue(tag, `text of at most ${TEXT_LENGTH_MAX} characters`);
    case 'TIME': {
      const ms = typeof value === 'string' ? parseTimeText(value) : null;
      if (ms !== null) return ms;
      throw invalidValue(tag, 'a time such as T#1m30s');
    }
  }
}

function convertInteger(tag: WrittenTag, value: unknown): Value {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value + 0;
  if (typeof value === 'string' && INTEGER_TEXT.test(value.trim())) {
    const number = Number(value.trim());
    if (Number.isSafeInteger(number)) return number + 0;
  }
  // a port of a network is a double: what it cannot hold whole is refused, never rounded
  throw invalidValue(tag, `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, as a number or as text`);
}

function invalidValue({ address, dataType }: WrittenTag, needed: string): Refusal {
  return invalid('invalid_value', 'value', `tag ${address} is ${dataType}: value must be ${needed}`, { tag: address, dataType });
}

function outOfRange({ address, min, max }: WrittenTag, value: unknown): Refusal {
  const range = `${min ?? '-∞'} to ${max ?? '∞'}`;
  return invalid('out_of_range', 'value', `value ${String(value)} is outside ${range} of tag ${address}`, { tag: address, engMin: min ?? null, engMax: max ?? null });
}

/** A value as it is served: numbers that JSON has no form for are null (decisions Q-TAG-01). */
export function servedValue(value: Value): Value {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}
