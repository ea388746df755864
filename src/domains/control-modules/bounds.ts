/**
 * Bounds of a tag (decisions Q-PROG-13): a decimal literal, a reference `<block>.<param>`, or `${expression}` over
 * literals and references with + - * / MOD, unary minus and ABS.
 */
import { parseTimeText } from '../../../runtime/language/time-text.js';
import type { BlockSpec, ParamValue } from '../../../runtime/vocabulary/network.js';
import { isNumberText } from '../../platform/store/fields.js';
import type { ParamDefaults } from './merge.js';

const REFERENCE = /^([^.]+)\.([A-Za-z_][A-Za-z0-9_]*)$/;

/** A node of a bound; small enough to be walked each time. */
export type Bound =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'param'; readonly block: string; readonly param: string }
  | { readonly kind: 'negate' | 'abs'; readonly of: Bound }
  | { readonly kind: 'binary'; readonly operator: '+' | '-' | '*' | '/' | 'MOD'; readonly left: Bound; readonly right: Bound };

/** Null for an empty bound; a text when it does not read. */
export function parseBound(text: string): Bound | null | string {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (isNumberText(trimmed)) return { kind: 'number', value: Number(trimmed) };
  if (trimmed.startsWith('${') && trimmed.endsWith('}')) return parseExpression(trimmed.slice(2, -1));
  const reference = REFERENCE.exec(trimmed);
  return reference ? { kind: 'param', block: reference[1], param: reference[2] } : 'is neither a number, nor <block>.<param>, nor ${expression}';
}

/** Every `<block>.<param>` a bound names. */
export function references(bound: Bound): { readonly block: string; readonly param: string }[] {
  switch (bound.kind) {
    case 'number':
      return [];
    case 'param':
      return [{ block: bound.block, param: bound.param }];
    case 'binary':
      return [...references(bound.left), ...references(bound.right)];
    default:
      return references(bound.of);
  }
}

/** Undefined when there is no bound, or its value is not a finite number: an absent bound (decisions Q-PROG-13). */
export function evaluateBound(text: string, blocks: readonly BlockSpec[], defaults: ParamDefaults): number | undefined {
  const bound = parseBound(text);
  if (bound === null || typeof bound === 'string') return undefined;
  const value = evaluate(bound, blocks, defaults);
  return Number.isFinite(value) ? value : undefined;
}

function evaluate(bound: Bound, blocks: readonly BlockSpec[], defaults: ParamDefaults): number {
  switch (bound.kind) {
    case 'number':
      return bound.value;
    case 'param': {
      const block = blocks.find((candidate) => candidate.name === bound.block);
      return block ? numeric(block.params?.[bound.param] ?? defaults(block.type, bound.param)) : Number.NaN;
    }
    case 'negate':
      return -evaluate(bound.of, blocks, defaults);
    case 'abs':
      return Math.abs(evaluate(bound.of, blocks, defaults));
    case 'binary':
      return compute(bound.operator, evaluate(bound.left, blocks, defaults), evaluate(bound.right, blocks, defaults));
  }
}

function compute(operator: '+' | '-' | '*' | '/' | 'MOD', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case 'MOD':
      return left % right;
  }
}

function numeric(value: ParamValue | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return Number.NaN;
  return isNumberText(value) ? Number(value) : (parseTimeText(value) ?? Number.NaN);
}

// ---------------------------------------------------------------- expression: precedence as in structured text (4.3)

const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)|([-+*/()]))/y;
const DEPTH_MAX = 64;

/** The tree, or what is wrong with it. */
function parseExpression(text: string): Bound | string {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (!match) return 'has a character that is not part of an arithmetic expression';
    tokens.push(match[0].trim());
  }
  let at = 0;
  let depth = 0;
  const fail = (why: string): never => {
    throw new SyntaxError(why);
  };
  const primary = (): Bound => {
    const token = tokens[at];
    at += 1;
    if (token === undefined) return fail('ends too early');
    if (token === '(') return enclosed();
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (token.toUpperCase() === 'ABS' && tokens[at] === '(') {
      at += 1;
      return { kind: 'abs', of: enclosed() };
    }
    const reference = REFERENCE.exec(token);
    return reference ? { kind: 'param', block: reference[1], param: reference[2] } : fail(`has ${token} where a number or <block>.<param> is expected`);
  };
  const enclosed = (): Bound => {
    depth += 1;
    if (depth > DEPTH_MAX) fail('is nested too deeply');
    const inner = sum();
    if (tokens[at] !== ')') fail('lacks a closing parenthesis');
    at += 1;
    depth -= 1;
    return inner;
  };
  const unary = (): Bound => {
    let negations = 0;
    while (tokens[at] === '-') {
      at += 1;
      negations += 1;
    }
    const inner = primary();
    return negations % 2 === 0 ? inner : { kind: 'negate', of: inner };
  };
  const term = (): Bound => {
    let left = unary();
    for (;;) {
      const operator = tokens[at]?.toUpperCase();
      if (operator !== '*' && operator !== '/' && operator !== 'MOD') return left;
      at += 1;
      left = { kind: 'binary', operator, left, right: unary() };
    }
  };
  const sum = (): Bound => {
    let left = term();
    for (;;) {
      const operator = tokens[at];
      if (operator !== '+' && operator !== '-') return left;
      at += 1;
      left = { kind: 'binary', operator, left, right: term() };
    }
  };
  try {
    const tree = sum();
    return at === tokens.length ? tree : `goes on with ${tokens[at]} after its end`;
  } catch (fault) {
    if (fault instanceof SyntaxError) return fault.message;
    throw fault;
  }
}
