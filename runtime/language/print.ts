/**
 * Canonical text of syntax trees: keywords in upper case, one space around operators, parentheses only where the
 * precedence needs them. Invariant: parsing the text of an expression gives the same tree.
 */
import type { BinaryExpression, Expression, Literal, UnaryExpression } from './ast.js';
import { BINDING } from './operators.js';
import { printTime } from './time-text.js';

const ESCAPED = new Map([
  ['$', '$$'],
  ["'", "$'"],
  ['\n', '$N'],
  ['\r', '$R'],
  ['\t', '$T'],
  ['\f', '$P'],
]);

export function printString(text: string): string {
  let quoted = "'";
  for (const character of text) quoted += ESCAPED.get(character) ?? character;
  return `${quoted}'`;
}

/** A REAL always shows that it is one: `4.0`, `0.1`, `1e+30`. */
export function printReal(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') || text.includes('e') ? text : `${text}.0`;
}

export function printLiteral(literal: Literal): string {
  switch (literal.type) {
    case 'BOOL':
      return literal.value ? 'TRUE' : 'FALSE';
    case 'INT':
      return String(literal.value);
    case 'REAL':
      return printReal(literal.value);
    case 'STRING':
      return printString(literal.value);
    case 'TIME':
      return printTime(literal.value);
  }
}

function isNumeric(expression: Expression): boolean {
  return expression.kind === 'literal' && expression.literal.type !== 'BOOL' && expression.literal.type !== 'STRING';
}

/** `-(5)` keeps its parentheses: without them the sign would become part of the number. */
function printUnary({ operator, operand }: UnaryExpression): string {
  const inner = printExpression(operand);
  const guarded = operand.kind === 'binary' || (operator === '-' && (isNumeric(operand) || operand.kind === 'unary'));
  return `${operator === 'NOT' ? 'NOT ' : '-'}${guarded ? `(${inner})` : inner}`;
}

function printBinary({ operator, left, right }: BinaryExpression): string {
  const binding = BINDING.get(operator) ?? 0;
  const side = (expression: Expression, weakest: number): string => {
    const text = printExpression(expression);
    return expression.kind === 'binary' && (BINDING.get(expression.operator) ?? 0) < weakest ? `(${text})` : text;
  };
  return `${side(left, binding)} ${operator} ${side(right, binding + 1)}`;
}

export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return printLiteral(expression.literal);
    case 'name':
      return expression.name;
    case 'member':
      return `${expression.object}.${expression.member}`;
    case 'call':
      return `${expression.callee}(${expression.args.map(({ name, value }) => (name === undefined ? '' : `${name} := `) + printExpression(value)).join(', ')})`;
    case 'unary':
      return printUnary(expression);
    case 'binary':
      return printBinary(expression);
  }
}
