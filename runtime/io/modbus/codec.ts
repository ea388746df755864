/**
 * Registers to values and back (decisions 7.4). The wire is big-endian within a register; `order` says how bytes and
 * words of a longer value are arranged. No allocation for numbers: bytes pass through one scratch area.
 */
import { assert } from '../../vocabulary/assert.js';
import type { Value } from '../../vocabulary/data-types.js';
import { type Parsed, parsed, refused } from '../description.js';
import { FLOAT32_MAX } from '../number-bounds.js';
import { type ByteOrder, INTEGER_BOUNDS, type ModbusAddress, type NumberType } from './address.js';

const SCRATCH_BYTES = 128; // 64 registers, the longest text
const scratch = Buffer.alloc(SCRATCH_BYTES);

/** Copies `length` bytes from wire order to ABCD or back; every order is its own inverse. */
function arrange(from: Uint8Array, at: number, length: number, order: ByteOrder, to: Uint8Array, toAt: number): void {
  assert(at >= 0 && at + length <= from.length && toAt + length <= to.length, 'a value stands whole within the bytes it is read from and written to');
  const swapWords = order === 'le' || order === 'les';
  const swapBytes = order === 'le' || order === 'bes';
  for (let index = 0; index < length; index += 1) {
    const word = index >> 1;
    const source = (swapWords ? length / 2 - 1 - word : word) * 2 + ((index & 1) ^ (swapBytes ? 1 : 0));
    to[toAt + index] = from[at + source] as number;
  }
}

export function orderOf(address: ModbusAddress, byteOrder: ByteOrder): ByteOrder {
  return address.order ?? (address.type === 'string' ? 'be' : byteOrder);
}

/** A whole number; bigint only beyond 2^53. */
function safe(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const READERS: Readonly<Record<NumberType, (bytes: Buffer) => number | bigint>> = {
  int16: (bytes) => bytes.readInt16BE(0),
  uint16: (bytes) => bytes.readUInt16BE(0),
  int32: (bytes) => bytes.readInt32BE(0),
  uint32: (bytes) => bytes.readUInt32BE(0),
  int64: (bytes) => safe(bytes.readBigInt64BE(0)),
  uint64: (bytes) => safe(bytes.readBigUInt64BE(0)),
  float32: (bytes) => bytes.readFloatBE(0),
  float64: (bytes) => bytes.readDoubleBE(0),
};

/** The value of `address` whose first register stands at `at` of `bytes`. */
export function decodeRegisters(address: ModbusAddress, bytes: Uint8Array, at: number, byteOrder: ByteOrder): number | bigint | string {
  const length = address.length * 2;
  if (length === 2 && address.type !== 'string') {
    assert(at >= 0 && at + 2 <= bytes.length, 'a register stands whole within the bytes it is read from');
    const word = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    if (address.type === 'bit') return (word >> address.bit) & 1;
    return address.type === 'int16' ? (word << 16) >> 16 : word;
  }
  arrange(bytes, at, length, orderOf(address, byteOrder), scratch, 0);
  if (address.type !== 'string') return READERS[address.type as NumberType](scratch);
  const end = scratch.subarray(0, length).indexOf(0);
  return scratch.toString('latin1', 0, end < 0 ? length : end);
}

const DECIMAL = /^[+-]?\d+$/;

function toNumber(value: Value): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

function toInteger(value: Value): bigint | undefined {
  if (typeof value === 'string' && DECIMAL.test(value.trim())) return BigInt(value.trim());
  const number = toNumber(value);
  return number === undefined ? undefined : BigInt(Math.round(number));
}

export function toBit(value: Value): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    const word = value.trim().toLowerCase();
    return word === 'true' || word === '1' ? true : word === 'false' || word === '0' ? false : undefined;
  }
  return value === null ? undefined : value !== 0;
}

function writeInteger(type: NumberType, value: bigint, to: Buffer): void {
  if (type === 'int64') to.writeBigInt64BE(value);
  else if (type === 'uint64') to.writeBigUInt64BE(value);
  else if (type === 'int32') to.writeInt32BE(Number(value));
  else if (type === 'uint32') to.writeUInt32BE(Number(value));
  else if (type === 'int16') to.writeInt16BE(Number(value));
  else to.writeUInt16BE(Number(value));
}

function encodeNumber(type: NumberType, value: Value, to: Buffer): string | undefined {
  const bounds = INTEGER_BOUNDS[type];
  if (bounds) {
    const integer = toInteger(value);
    if (integer === undefined) return `${value} is not a number`;
    if (integer < bounds[0] || integer > bounds[1]) return `${value} is outside ${bounds[0]} to ${bounds[1]} of ${type}`;
    writeInteger(type, integer, to);
    return undefined;
  }
  const number = toNumber(value);
  if (number === undefined) return `${value} is not a number`;
  if (type === 'float64') to.writeDoubleBE(number);
  else if (Math.abs(number) > FLOAT32_MAX) return `${value} is outside the range of float32`;
  else to.writeFloatBE(number);
  return undefined;
}

/** Register bytes of a value, in wire order. Not for bits. */
export function encodeRegisters(address: ModbusAddress, value: Value, byteOrder: ByteOrder): Parsed<Buffer> {
  const length = address.length * 2;
  const plain = Buffer.alloc(length);
  if (address.type === 'string') {
    const text = Buffer.from(String(value ?? ''), 'latin1');
    if (text.length > length) return refused(`the text has ${text.length} characters, ${length} fit`);
    text.copy(plain);
  } else {
    const problem = encodeNumber(address.type as NumberType, value, plain);
    if (problem !== undefined) return refused(problem);
  }
  if (length === 2) return parsed(plain);
  const wire = Buffer.alloc(length);
  arrange(plain, 0, length, orderOf(address, byteOrder), wire, 0);
  return parsed(wire);
}
