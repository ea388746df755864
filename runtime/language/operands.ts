/** A condition in its parts, for those who ask why it is not met (decisions 2.4, `subConditions`; 3.9). */
import type { Value } from '../vocabulary/data-types.js';
import type { BinaryExpression, Expression } from './ast.js';
import { printValue } from './value-text.js';
import { type Any, COMPARISONS } from './values.js';

/** Operands of the top-level AND, else OR; a single operand gives one entry (decisions 2.4). */
export function operandsOf(tree: Expression): Expression[] {
  const flatten = (node: Expression, operator: 'AND' | 'OR'): Expression[] =>
    node.kind === 'binary' && node.operator === operator ? [...flatten(node.left, operator), ...flatten(node.right, operator)] : [node];
  if (tree.kind !== 'binary' || (tree.operator !== 'AND' && tree.operator !== 'OR')) return [tree];
  return flatten(tree, tree.operator);
}

export function isComparison(node: Expression): node is BinaryExpression {
  return node.kind === 'binary' && COMPARISONS.has(node.operator);
}

/** Digits that a screen shows of a process value: four, at most two of them behind the point from one upward. */
const SHOWN_DIGITS = 4;
const SHOWN_FRACTION = 2;

/** As a screen rounds, then as messages do (decisions 4.4), then in full. */
const FORMS: readonly ((value: number) => string)[] = [rounded, (value) => String(Number(value.toPrecision(7))), String];

/** Comparison in `now`: numbers with no more digits than tell its sides apart; text in quotes. */
export function shownComparison(left: Any, operator: string, right: Any): string {
  const form = FORMS.find((real) => left.value === right.value || shownOperand(left, real) !== shownOperand(right, real)) ?? rounded;
  return `${shownOperand(left, form)} ${operator} ${shownOperand(right, form)}`;
}

function shownOperand(value: Any, real: (value: number) => string): string {
  if (value.type === 'STRING') return `'${value.value}'`;
  return value.type === 'REAL' ? real(Number(value.value)) : printValue(value.type, value.value as Value | bigint);
}

function rounded(value: number): string {
  const size = Math.abs(value);
  if (size < 1) return String(Number(value.toPrecision(SHOWN_DIGITS)));
  const fraction = Math.min(SHOWN_FRACTION, Math.max(0, SHOWN_DIGITS - 1 - Math.floor(Math.log10(size))));
  return String(Number(value.toFixed(fraction)));
}
