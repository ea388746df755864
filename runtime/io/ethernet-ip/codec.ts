/** Values of EtherNet/IP tags from and to bytes, little-endian. */
import type { Value } from '../../vocabulary/data-types.js';
import { type Parsed, parsed, refused } from '../description.js';
import { exactValue } from '../values.js';
import { BOOL_CODE, type CipType, STRING_CODE, STRUCTURE_CODE } from './types.js';

/** The structure that a text is in a Logix controller: LEN DINT, DATA SINT[capacity], filled up to whole words. */
export interface TextShape {
  readonly handle: number;
  readonly bytes: number;
  readonly capacity: number;
}

/** What a read reply holds: the type and the value behind it. */
export interface TypedData {
  readonly code: number;
  /** Of a structure. */
  readonly handle: number | undefined;
  readonly value: Buffer;
}

const LENGTH_BYTES = 4;

/** Undefined when the reply is too short to name its type. */
export function parseTyped(data: Buffer): TypedData | undefined {
  if (data.length < 2) return undefined;
  const code = data.readUInt16LE(0);
  if (code !== STRUCTURE_CODE) return { code, handle: undefined, value: data.subarray(2) };
  return data.length < 4 ? undefined : { code, handle: data.readUInt16LE(2), value: data.subarray(4) };
}

/** A whole number; bigint only beyond 2^53. */
function safe(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A number of a type with a size; `value` holds it whole. */
export function decodeNumber(type: CipType, value: Buffer): number | bigint {
  if (type.dataType === 'float') return type.bytes === 8 ? value.readDoubleLE(0) : value.readFloatLE(0);
  if (type.code === BOOL_CODE) return Number(value.readUInt8(0) !== 0);
  const isSigned = type.bounds !== undefined && type.bounds[0] < 0n;
  if (type.bytes === 8) return safe(isSigned ? value.readBigInt64LE(0) : value.readBigUInt64LE(0));
  return isSigned ? value.readIntLE(0, type.bytes) : value.readUIntLE(0, type.bytes);
}

export function bitOf(value: Buffer, bit: number): number {
  return (value.readUInt8(bit >> 3) >> (bit & 7)) & 1;
}

/** Whether so many bytes are one value of the type; behind a value of one byte a device may fill up to an even number. */
export function isWhole(type: CipType, bytes: number): boolean {
  return bytes === type.bytes || (type.bytes === 1 && bytes === 2);
}

/** The text of a structure; undefined when its length is none. */
export function decodeTextStructure(value: Buffer, shape: TextShape): string | undefined {
  if (value.length !== shape.bytes) return undefined;
  const length = value.readInt32LE(0);
  return length >= 0 && length <= shape.capacity ? value.toString('latin1', LENGTH_BYTES, LENGTH_BYTES + length) : undefined;
}

/** A STRING of CIP: its length in two bytes, its characters, and one to fill up where they are odd. */
export function decodeText(value: Buffer): string | undefined {
  if (value.length < 2) return undefined;
  const length = value.readUInt16LE(0);
  const isFilledUp = length % 2 === 1 && value.length === 3 + length;
  return value.length === 2 + length || isFilledUp ? value.toString('latin1', 2, 2 + length) : undefined;
}

const isLatin = (text: string): boolean => ![...text].some((character) => (character.codePointAt(0) ?? 0) > 0xff);

export function encodeTextStructure(value: Value, { bytes, capacity }: TextShape): Parsed<Buffer> {
  const text = exactValue(value, 'string');
  if (typeof text !== 'string') return refused(`${value} is not a text`);
  if (!isLatin(text)) return refused('the text has characters that the device has none for (Latin-1)');
  if (text.length > capacity) return refused(`the text has ${text.length} characters, ${capacity} fit`);
  const structure = Buffer.alloc(bytes);
  structure.writeInt32LE(text.length, 0);
  structure.write(text, LENGTH_BYTES, 'latin1');
  return parsed(structure);
}

function encodeText(value: Value): Parsed<Buffer> {
  const text = exactValue(value, 'string');
  if (typeof text !== 'string') return refused(`${value} is not a text`);
  if (!isLatin(text) || text.length > 0xffff) return refused('the text is too long, or has characters that the device has none for (Latin-1)');
  const bytes = Buffer.alloc(2 + text.length);
  bytes.writeUInt16LE(text.length, 0);
  bytes.write(text, 2, 'latin1');
  return parsed(bytes);
}

function encodeInteger({ name, bytes, bounds = [0n, 0n] }: CipType, value: Value): Parsed<Buffer> {
  const exact = exactValue(value, 'int');
  if (exact === undefined) return refused(`${value} is not a whole number`);
  const number = BigInt(exact);
  if (number < bounds[0] || number > bounds[1]) return refused(`${value} is outside ${bounds[0]} to ${bounds[1]} of ${name}`);
  const encoded = Buffer.alloc(8);
  encoded.writeBigUInt64LE(BigInt.asUintN(64, number), 0);
  return parsed(encoded.subarray(0, bytes));
}

function encodeFloat({ name, bytes }: CipType, value: Value): Parsed<Buffer> {
  const number = exactValue(value, 'float');
  if (typeof number !== 'number') return refused(`${value} is not a number`);
  const encoded = Buffer.alloc(bytes);
  if (bytes === 8) encoded.writeDoubleLE(number);
  else if (!Number.isFinite(Math.fround(number))) return refused(`${value} is outside the range of ${name}`);
  else encoded.writeFloatLE(number);
  return parsed(encoded);
}

/** True or false, or why the value is neither. */
export function bitValue(value: Value): Parsed<boolean> {
  const bit = exactValue(value, 'bool');
  return bit === undefined ? refused(`${value} is neither true nor false`) : parsed(bit === 1);
}

/** A value as the device wants it. Not for structures. */
export function encodeValue(type: CipType, value: Value): Parsed<Buffer> {
  if (type.code === BOOL_CODE) {
    const bit = bitValue(value);
    return bit.ok ? parsed(Buffer.from([Number(bit.value)])) : bit;
  }
  if (type.code === STRING_CODE) return encodeText(value);
  return type.bounds ? encodeInteger(type, value) : encodeFloat(type, value);
}
