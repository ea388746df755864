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

/** A number out of bytes that hold it from there on. */
export type NumberReader = (bytes: Buffer, at: number) => number | bigint;

const signed: Readonly<Record<number, NumberReader>> = {
  1: (bytes, at) => bytes.readInt8(at),
  2: (bytes, at) => bytes.readInt16LE(at),
  4: (bytes, at) => bytes.readInt32LE(at),
  8: (bytes, at) => safe(bytes.readBigInt64LE(at)),
};
const unsigned: Readonly<Record<number, NumberReader>> = {
  1: (bytes, at) => bytes.readUInt8(at),
  2: (bytes, at) => bytes.readUInt16LE(at),
  4: (bytes, at) => bytes.readUInt32LE(at),
  8: (bytes, at) => safe(bytes.readBigUInt64LE(at)),
};
const float: NumberReader = (bytes, at) => bytes.readFloatLE(at);
const double: NumberReader = (bytes, at) => bytes.readDoubleLE(at);
const boolean: NumberReader = (bytes, at) => Number(bytes.readUInt8(at) !== 0);

/** How a value of the type, or a bit of it, is read; undefined of texts. */
export function readerOf(type: CipType, bit: number | undefined): NumberReader | undefined {
  if (bit !== undefined) return (bytes, at) => (bytes.readUInt8(at + (bit >> 3)) >> (bit & 7)) & 1;
  if (type.code === STRING_CODE) return undefined;
  if (type.code === BOOL_CODE) return boolean;
  if (type.dataType === 'float') return type.bytes === 8 ? double : float;
  return (type.bounds !== undefined && type.bounds[0] < 0n ? signed : unsigned)[type.bytes];
}

/** Whether so many bytes are `count` values of so many bytes each; behind an odd number a device may fill up to an even one. */
export function isWhole(valueBytes: number, count: number, bytes: number): boolean {
  const wanted = valueBytes * count;
  return bytes === wanted || (wanted % 2 === 1 && bytes === wanted + 1);
}

/** The text of a structure that lies between `from` and `to`; undefined when its length is none. */
export function decodeTextStructure(bytes: Buffer, from: number, to: number, shape: TextShape): string | undefined {
  if (to - from !== shape.bytes) return undefined;
  const length = bytes.readInt32LE(from);
  const at = from + LENGTH_BYTES;
  return length >= 0 && length <= shape.capacity ? bytes.toString('latin1', at, at + length) : undefined;
}

/** A STRING of CIP: its length in two bytes, its characters, and one to fill up where they are odd. */
export function decodeText(bytes: Buffer, from: number, to: number): string | undefined {
  if (to - from < 2) return undefined;
  const end = from + 2 + bytes.readUInt16LE(from);
  return to === end || ((end - from) % 2 === 1 && to === end + 1) ? bytes.toString('latin1', from + 2, end) : undefined;
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
