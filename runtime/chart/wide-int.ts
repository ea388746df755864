/**
 * INT as two 32-bit halves, for actions whose values leave 2^53 (emit-wide.ts). An engine keeps halves in registers; a
 * bigint is a new object for every result, and its division a call into the runtime (measured: 38 against 13 ns for the
 * loop of the bench). Functions that make a pair return the low half and leave the high one in `HIGH`. Both halves are
 * signed; the value is high * 2^32 + (low >>> 0).
 */
import { type Int, intArithmetic } from '../language/values.js';

const WORD = 4_294_967_296;
const HALF = 65_536;

/** High half of the last result. */
export const HIGH = new Int32Array(1);

/** A slot that a record does not hold reads as 0. */
export function highOf(value: Int | undefined): number {
  return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value >> 32n)) : Math.floor((value ?? 0) / WORD) | 0;
}

export function lowOf(value: Int | undefined): number {
  return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : (value ?? 0) | 0;
}

/** The value as slots, records and builtins hold it. */
export function intOf(high: number, low: number): Int {
  const near = high * WORD + (low >>> 0);
  return Number.isSafeInteger(near) ? near : (BigInt(high) << 32n) | BigInt(low >>> 0);
}

function split(value: Int): number {
  HIGH[0] = highOf(value);
  return lowOf(value);
}

/** High half of the product of two unsigned halves; every sum stays within 2^53. */
function highProduct(a: number, b: number): number {
  const a0 = a & 0xffff;
  const b0 = b & 0xffff;
  const a1 = a >>> 16;
  const b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16) + a0 * b1;
  return a1 * b1 + Math.floor(middle / HALF);
}

/** Product beyond 2^53. Far from the bounds the rounded product tells that it fits; near them bigint decides. */
export function mulLow(aHigh: number, aLow: number, bHigh: number, bLow: number, line: number): number {
  const near = (aHigh * WORD + (aLow >>> 0)) * (bHigh * WORD + (bLow >>> 0));
  if (!(near < 9.223372036854e18 && near > -9.223372036854e18)) return split(intArithmetic('*', intOf(aHigh, aLow), intOf(bHigh, bLow), line));
  HIGH[0] = (highProduct(aLow >>> 0, bLow >>> 0) | 0) + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh);
  return Math.imul(aLow, bLow);
}

/** Value not negative and divisor within 32 bits: long division by two digits of 16 bits, in doubles without rounding. */
function digits(high: number, low: number, divisor: number, remainder: boolean): number {
  const top = (high % divisor) * HALF + (low >>> 16);
  const upper = Math.floor(top / divisor);
  const rest = (top - upper * divisor) * HALF + (low & 0xffff);
  const lower = Math.floor(rest / divisor);
  HIGH[0] = remainder ? 0 : (high / divisor) | 0;
  return remainder ? (rest - lower * divisor) | 0 : (upper * HALF + lower) | 0;
}

function divided(operator: '/' | 'MOD', aHigh: number, aLow: number, bHigh: number, bLow: number, line: number): number {
  if (aHigh >= 0 && bHigh === 0 && bLow !== 0) return digits(aHigh, aLow, bLow >>> 0, operator === 'MOD');
  return split(intArithmetic(operator, intOf(aHigh, aLow), intOf(bHigh, bLow), line));
}

export function divLow(aHigh: number, aLow: number, bHigh: number, bLow: number, line: number): number {
  return divided('/', aHigh, aLow, bHigh, bLow, line);
}

export function modLow(aHigh: number, aLow: number, bHigh: number, bLow: number, line: number): number {
  return divided('MOD', aHigh, aLow, bHigh, bLow, line);
}
