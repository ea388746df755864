/** What compiled charts reach of the values of structured text (language/values.ts), and what only charts need. */
import { printTime } from '../language/time-text.js';
import { printForConcat } from '../language/value-text.js';
import {
  absInt,
  Any,
  anyAbs,
  anyBinary,
  anyNegate,
  coerceAny,
  compareText,
  concat,
  divZero,
  type Int,
  intArithmetic,
  mismatch,
  overflow,
  type Raw,
  roundMs,
  stError,
  textOf,
} from '../language/values.js';
import type { DataType } from '../vocabulary/data-types.js';
import { divLow, HIGH, highOf, intOf, lowOf, modLow, mulLow } from './wide-int.js';

export { Any, coerceAny, COMPARISONS, CONNECTIVES, fromValue, type Int, normalInt, type Raw, StError, stError, TEXT_LENGTH_MAX, toValue, zeroValue } from '../language/values.js';

/** Ends a condition that reads an unset variable or a bad tag (decisions 2.4). */
export class Invalid extends Error {}

/** Such a condition may stay so for hours, every scan: no stack is taken. */
export function invalid(reason: string): Invalid {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const signal = new Invalid(reason);
  Error.stackTraceLimit = limit;
  return signal;
}

let wideOperations = 0;

/** Integer operations so far whose operands or result lay beyond 2^53: tells which actions need their wide version. */
export function wideOperationCount(): number {
  return wideOperations;
}

function counted(result: Int): Int {
  wideOperations += 1;
  return result;
}

/** The fast path leaves many divisions within 2^53 to its helper too. */
function divided(operator: '/' | 'MOD', a: Int, b: Int, line: number): Int {
  const result = intArithmetic(operator, a, b, line);
  return typeof a === 'bigint' || typeof b === 'bigint' ? counted(result) : result;
}

/** Names under which compiled code reaches these functions. */
export const HELPERS = {
  HIGH,
  highOf,
  lowOf,
  intOf,
  mulLow,
  divLow,
  modLow,
  any: (type: DataType, value: Raw) => new Any(type, value),
  add: (a: Int, b: Int, line: number) => counted(intArithmetic('+', a, b, line)),
  sub: (a: Int, b: Int, line: number) => counted(intArithmetic('-', a, b, line)),
  mul: (a: Int, b: Int, line: number) => counted(intArithmetic('*', a, b, line)),
  div: (a: Int, b: Int, line: number) => divided('/', a, b, line),
  mod: (a: Int, b: Int, line: number) => divided('MOD', a, b, line),
  absInt,
  negInt: (a: Int, line: number) => intArithmetic('-', 0, a, line),
  overflow,
  divZero,
  mismatch,
  timeMul: (a: number, b: number, line: number) => roundMs(a * b, line),
  timeDiv: (a: number, b: number, line: number) => (b === 0 ? divZero(line) : roundMs(a / b, line)),
  compareText,
  concat,
  textReal: (value: number) => printForConcat('REAL', value),
  textBool: (value: boolean) => (value ? 'TRUE' : 'FALSE'),
  textTime: printTime,
  textAny: textOf,
  anyBinary,
  anyNegate,
  anyAbs,
  coerceAny,
  loopLimit: (limit: number, line: number): never => {
    throw stError('loop-limit', `the loop has run ${limit} times`, line, String(limit));
  },
  budgetSpent: (line: number): never => {
    throw stError('statement-budget', 'the action has executed its statements of one scan', line);
  },
  forStep: (line: number): never => {
    throw stError('for-step', 'the step of a FOR loop is 0', line);
  },
  exitOutside: (line: number): never => {
    throw stError('exit-outside-loop', 'EXIT outside a loop', line);
  },
} as const;
