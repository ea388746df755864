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

/** Operand in `now`: REAL as in messages, text in quotes. */
export function shownOperand(value: Any): string {
  if (value.type === 'STRING') return `'${value.value}'`;
  if (value.type === 'REAL') return String(Number(Number(value.value).toPrecision(7)));
  return printValue(value.type, value.value as Value | bigint);
}
