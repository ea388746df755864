/**
 * Values and operators of structured text at run time (decisions 4.4), for everything that executes it: compiled charts
 * (runtime/chart) where their fast path does not apply, and conditions that are walked (evaluate.ts). INT is a number
 * within 2^53 and a bigint beyond, so equal values are always identical (`===`); a value whose type is known only at run
 * time (READ, CALL_SERVICE) travels as `Any`.
 */
import { type Told, told } from '../vocabulary/told.js';
import type { DataType, Value } from '../vocabulary/data-types.js';
import type { BinaryOperator } from './ast.js';
import { INT_MAX, INT_MIN, intValue, printForConcat } from './value-text.js';

export type Int = number | bigint;
export type Raw = number | bigint | boolean | string;

export const COMPARISONS: ReadonlySet<string> = new Set<BinaryOperator>(['<', '>', '<=', '>=', '=', '<>']);
/** AND and OR short-circuit, XOR evaluates both sides (decisions Q-ST-05). */
export const CONNECTIVES: ReadonlyMap<string, string> = new Map<BinaryOperator, string>([
  ['AND', '&&'],
  ['OR', '||'],
  ['XOR', '!=='],
]);

/** Longest text that `+` may build; one unit must not fill the memory of its worker. Not shown in the contract. */
export const TEXT_LENGTH_MAX = 65_536;

/** A value with its type. */
export class Any {
  readonly type: DataType;
  readonly value: Raw;
  constructor(type: DataType, value: Raw) {
    this.type = type;
    this.value = value;
  }
}

/** A run-time failure of an action or condition. `subject` is the address or name that keeps it active (decisions 3.5). */
export class StError extends Error {
  readonly rule: string;
  readonly subject: string;
  readonly told: Told | undefined;
  constructor(rule: string, message: string, subject = '', as?: Told) {
    super(message);
    this.rule = rule;
    this.subject = subject;
    this.told = as;
  }
}

/** Errors of 4.4 and 4.2 are one failure rule; the message begins with the code. @param about the name or number in the text. */
export function stError(code: string, text: string, line: number, about = ''): StError {
  const as = told('text-error', { error: code, about, line: line > 0 ? String(line) : '' });
  return new StError('st-runtime-error', `${code}: ${text}${line > 0 ? ` (line ${line})` : ''}`, '', as);
}

export function overflow(line: number): never {
  throw stError('overflow', 'the result is outside the range of its type', line);
}

export function divZero(line: number): never {
  throw stError('division-by-zero', 'division by zero', line);
}

export function mismatch(line: number): never {
  throw stError('type-mismatch', 'the operand types do not fit', line);
}

export function normalInt(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function wideInt(value: bigint, line: number): Int {
  return intWithin(value) ?? overflow(line);
}

function finite(value: number, line: number): number {
  return Number.isFinite(value) ? value : overflow(line);
}

function timeOf(value: number, line: number): number {
  return Number.isSafeInteger(value) ? value : overflow(line);
}

/** Rounds half away from zero, so that a negative time rounds as its positive one. */
export function roundMs(value: number, line: number): number {
  return timeOf((value < 0 ? -Math.round(-value) : Math.round(value)) + 0, line);
}

/** By Unicode code point: a surrogate pair is larger than every unit of the basic plane (decisions 4.4). */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x === y) continue;
    const wideX = x >= 0xd800 && x <= 0xdfff;
    const wideY = y >= 0xd800 && y <= 0xdfff;
    return wideX === wideY ? x - y : wideX ? 1 : -1;
  }
  return a.length - b.length;
}

export function textOf(value: Any): string {
  return printForConcat(value.type, value.value as Value);
}

function isNumeric(type: DataType): boolean {
  return type === 'INT' || type === 'REAL';
}

function orders(operator: BinaryOperator, sign: number): boolean {
  switch (operator) {
    case '<':
      return sign < 0;
    case '>':
      return sign > 0;
    case '<=':
      return sign <= 0;
    case '>=':
      return sign >= 0;
    case '=':
      return sign === 0;
    default:
      return sign !== 0;
  }
}

function compare(operator: BinaryOperator, a: Any, b: Any, line: number): boolean {
  if (a.type === 'INT' && b.type === 'INT') return orders(operator, a.value < b.value ? -1 : a.value > b.value ? 1 : 0);
  if (isNumeric(a.type) && isNumeric(b.type)) {
    const x = Number(a.value);
    const y = Number(b.value);
    return orders(operator, x < y ? -1 : x > y ? 1 : 0);
  }
  if (a.type !== b.type) return mismatch(line);
  if (a.type === 'STRING') return orders(operator, compareText(String(a.value), String(b.value)));
  if (a.type === 'BOOL') {
    if (operator !== '=' && operator !== '<>') return mismatch(line);
    return (a.value === b.value) === (operator === '=');
  }
  return orders(operator, Number(a.value) - Number(b.value));
}

function realArithmetic(operator: BinaryOperator, x: number, y: number, line: number): Any {
  switch (operator) {
    case '+':
      return new Any('REAL', finite(x + y, line));
    case '-':
      return new Any('REAL', finite(x - y, line));
    case '*':
      return new Any('REAL', finite(x * y, line));
    case '/':
      return new Any('REAL', y === 0 ? divZero(line) : finite(x / y, line));
    default:
      return mismatch(line);
  }
}

/** The truncated quotient of two numbers within 2^53 is exact in binary64; wider operands divide as bigint. */
function quotient(a: Int, b: Int, line: number): Int {
  if (Number(b) === 0) return divZero(line);
  return typeof a === 'number' && typeof b === 'number' ? Math.trunc(a / b) + 0 : wideInt(BigInt(a) / BigInt(b), line);
}

function remainder(a: Int, b: Int, line: number): Int {
  if (Number(b) === 0) return divZero(line);
  return typeof a === 'number' && typeof b === 'number' ? (a % b) + 0 : wideInt(BigInt(a) % BigInt(b), line);
}

const INT_OPERATORS: Readonly<Partial<Record<BinaryOperator, (a: Int, b: Int, line: number) => Int>>> = {
  '+': (a, b, line) => wideInt(BigInt(a) + BigInt(b), line),
  '-': (a, b, line) => wideInt(BigInt(a) - BigInt(b), line),
  '*': (a, b, line) => wideInt(BigInt(a) * BigInt(b), line),
  '/': quotient,
  MOD: remainder,
};

export function intArithmetic(operator: BinaryOperator, a: Int, b: Int, line: number): Int {
  const operate = INT_OPERATORS[operator];
  return operate ? operate(a, b, line) : mismatch(line);
}

function timeArithmetic(operator: BinaryOperator, a: Any, b: Any, line: number): Any {
  const x = Number(a.value);
  const y = Number(b.value);
  if (a.type === 'TIME' && b.type === 'TIME') {
    if (operator === '+') return new Any('TIME', timeOf(x + y, line));
    if (operator === '-') return new Any('TIME', timeOf(x - y, line));
    if (operator === '/') return new Any('REAL', y === 0 ? divZero(line) : x / y);
    return mismatch(line);
  }
  if (operator === '*') return new Any('TIME', roundMs(x * y, line));
  if (operator === '/' && a.type === 'TIME') return new Any('TIME', y === 0 ? divZero(line) : roundMs(x / y, line));
  return mismatch(line);
}

/** Every binary operator but AND, OR and XOR on values whose types are known only now. */
export function anyBinary(operator: BinaryOperator, a: Any, b: Any, line: number): Any {
  if (COMPARISONS.has(operator)) return new Any('BOOL', compare(operator, a, b, line));
  if (operator === '+' && (a.type === 'STRING' || b.type === 'STRING')) return new Any('STRING', concat(textOf(a), textOf(b), line));
  if (a.type === 'INT' && b.type === 'INT') return new Any('INT', intArithmetic(operator, a.value as Int, b.value as Int, line));
  if (isNumeric(a.type) && isNumeric(b.type)) return realArithmetic(operator, Number(a.value), Number(b.value), line);
  const timed = (a.type === 'TIME' && (b.type === 'TIME' || isNumeric(b.type))) || (b.type === 'TIME' && isNumeric(a.type));
  return timed ? timeArithmetic(operator, a, b, line) : mismatch(line);
}

export function concat(a: string, b: string, line: number): string {
  if (a.length + b.length > TEXT_LENGTH_MAX) overflow(line);
  return a + b;
}

export function anyNegate(a: Any, line: number): Any {
  if (a.type === 'INT') return new Any('INT', intArithmetic('-', 0, a.value as Int, line));
  if (a.type === 'REAL') return new Any('REAL', -Number(a.value));
  return a.type === 'TIME' ? new Any('TIME', 0 - Number(a.value)) : mismatch(line);
}

export function anyAbs(a: Any, line: number): Any {
  if (a.type === 'INT') return new Any('INT', absInt(a.value as Int, line));
  return a.type === 'REAL' || a.type === 'TIME' ? new Any(a.type, Math.abs(Number(a.value))) : mismatch(line);
}

export function absInt(a: Int, line: number): Int {
  return typeof a === 'number' ? Math.abs(a) : wideInt(a < 0n ? -a : a, line);
}

/** The value as the wanted type: equal types, or INT to REAL (decisions 4.4, Assignment). */
export function coerceAny(a: Any, type: DataType, line: number): Raw {
  if (a.type === type) return a.value;
  return type === 'REAL' && a.type === 'INT' ? Number(a.value) : mismatch(line);
}

/** Start value of a variable without initial text (decisions 4.4). */
export function zeroValue(type: DataType): Raw {
  switch (type) {
    case 'BOOL':
      return false;
    case 'STRING':
      return '';
    default:
      return 0;
  }
}

function intWithin(value: bigint): Int | null {
  return value < INT_MIN || value > INT_MAX ? null : normalInt(value);
}

/** A value of the tag table or of a message as structured text holds it; null when it is none of that type. */
export function fromValue(type: DataType, value: Value): Raw | null {
  switch (type) {
    case 'BOOL':
      return typeof value === 'boolean' ? value : typeof value === 'number' ? value !== 0 : null;
    case 'STRING':
      return typeof value === 'string' ? value : null;
    case 'INT':
      if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null;
      return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? intWithin(BigInt(value)) : null;
    default:
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
  }
}

/** A structured-text value as it travels: INT beyond 2^53 as decimal text. */
export function toValue(value: Raw): Value {
  return typeof value === 'bigint' ? intValue(value) : value;
}

/** A value that came from outside, with its declared type; undefined when it is none of that type. */
export function anyOf(type: DataType, value: Value): Any | undefined {
  const raw = fromValue(type, value);
  return raw === null ? undefined : new Any(type, raw);
}
