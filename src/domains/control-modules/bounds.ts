/**
 * Bounds of a tag (decisions Q-PROG-13): a decimal literal, a reference `<block>.<param>`, or `${expression}` over
 * literals and references with + - * / MOD, unary minus and ABS. Any other text, `unlimited` say, is a bound that is not
 * numeric: it is kept and served, and not enforced (contract 3, Control-module template).
 */
import type { Expression } from '../../../runtime/language/ast.js';
import { parseCondition } from '../../../runtime/language/parser.js';
import { parseTimeText } from '../../../runtime/language/time-text.js';
import { typedReal } from '../../../runtime/language/value-text.js';
import type { BlockSpec, ParamValue } from '../../../runtime/vocabulary/network.js';
import { isNumberText } from '../../platform/store/fields.js';

const REFERENCE = /^([^.]+)\.([A-Za-z_][A-Za-z0-9_]*)$/;

/** Default of a block parameter that `params` leaves out; undefined when the type has none. */
export type ParamDefaults = (blockType: string, param: string) => ParamValue | undefined;

/** A node of a bound; small enough to be walked each time. */
export type Bound =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'param'; readonly block: string; readonly param: string }
  | { readonly kind: 'negate' | 'abs'; readonly of: Bound }
  | { readonly kind: 'binary'; readonly operator: '+' | '-' | '*' | '/' | 'MOD'; readonly left: Bound; readonly right: Bound };

/** Null for a bound that is absent or not numeric; what is wrong with it when it was meant to be computed. */
export function parseBound(text: string): Bound | null | string {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (isNumberText(trimmed)) return { kind: 'number', value: Number(trimmed) };
  if (trimmed.startsWith('${') && trimmed.endsWith('}')) return parseExpression(trimmed.slice(2, -1));
  const [, block, param] = REFERENCE.exec(trimmed) ?? [];
  return block !== undefined && param !== undefined ? { kind: 'param', block, param } : null;
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
      if (!block) return Number.NaN;
      const given = Object.hasOwn(block.params ?? {}, bound.param) ? block.params?.[bound.param] : undefined;
      return numeric(given ?? defaults(block.type, bound.param));
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
  return isNumberText(value) ? Number(value) : (typedReal(value) ?? parseTimeText(value) ?? Number.NaN);
}

/** An arithmetic expression of structured text, without calls other than ABS; or what is wrong with it. */
function parseExpression(text: string): Bound | string {
  const { expression, diagnostics } = parseCondition(text);
  const [problem] = diagnostics;
  if (problem) return problem.message;
  return expression ? boundOf(expression) : 'is empty';
}

const ARITHMETIC: readonly string[] = ['+', '-', '*', '/', 'MOD'];

function boundOf(expression: Expression): Bound | string {
  switch (expression.kind) {
    case 'literal': {
      const { type, value } = expression.literal;
      return type === 'INT' || type === 'REAL' || type === 'TIME' ? { kind: 'number', value: Number(value) } : `has a ${type} where a number is expected`;
    }
    case 'member':
      return { kind: 'param', block: expression.object, param: expression.member };
    case 'name':
      return `has ${expression.name} where a number or <block>.<param> is expected`;
    case 'unary': {
      const of = boundOf(expression.operand);
      if (typeof of === 'string') return of;
      return expression.operator === '-' ? { kind: 'negate', of } : 'has NOT, which is no arithmetic operator';
    }
    case 'call': {
      const [argument, ...more] = expression.args;
      if (expression.callee.toUpperCase() !== 'ABS' || !argument || more.length > 0) return `calls ${expression.callee}; only ABS of one value is possible`;
      const of = boundOf(argument.value);
      return typeof of === 'string' ? of : { kind: 'abs', of };
    }
    case 'binary': {
      const left = boundOf(expression.left);
      const right = boundOf(expression.right);
      if (typeof left === 'string') return left;
      if (typeof right === 'string') return right;
      return ARITHMETIC.includes(expression.operator)
        ? { kind: 'binary', operator: expression.operator as '+', left, right }
        : `has ${expression.operator}, which is no arithmetic operator`;
    }
  }
}
