/** Random syntax trees and texts for the language tests. */
import fc from 'fast-check';
import type { BinaryOperator, Expression, Literal } from '../../../runtime/language/ast.js';
import { isIdentifier } from '../../../runtime/language/lexer.js';

const AT = { line: 1, column: 1 };
const OPERATORS: readonly BinaryOperator[] = ['+', '-', '*', '/', 'MOD', '<', '>', '<=', '>=', '=', '<>', 'AND', 'OR', 'XOR'];
/** Names that are members of every JavaScript object. */
export const AWKWARD_NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'];

/** Names of the language, some of them awkward for JavaScript. */
export const aName = fc.oneof(fc.constantFrom('a', 'b2', 'level', '_x', ...AWKWARD_NAMES), fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,10}$/)).filter(isIdentifier);

export const aLiteral: fc.Arbitrary<Literal> = fc.oneof(
  fc.boolean().map((value): Literal => ({ type: 'BOOL', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Literal => ({ type: 'INT', value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Literal => ({ type: 'REAL', value })),
  fc.string({ unit: 'binary' }).map((value): Literal => ({ type: 'STRING', value })),
  fc.integer({ min: -(10 ** 12), max: 10 ** 12 }).map((value): Literal => ({ type: 'TIME', value })),
);

export const { anExpression } = fc.letrec<{ anExpression: Expression }>((tie) => {
  const inner = tie('anExpression');
  return {
    anExpression: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      aLiteral.map((literal): Expression => ({ kind: 'literal', literal, at: AT })),
      aName.map((name): Expression => ({ kind: 'name', name, at: AT })),
      fc.tuple(aName, aName).map(([object, member]): Expression => ({ kind: 'member', object, member, at: AT })),
      fc.tuple(aName, fc.array(inner, { maxLength: 3 })).map(([callee, args]): Expression => ({ kind: 'call', callee, args: args.map((value) => ({ value })), at: AT })),
      fc.tuple(fc.constantFrom<'NOT' | '-'>('NOT', '-'), inner).map(([operator, operand]): Expression => ({ kind: 'unary', operator, operand, at: AT })),
      fc.tuple(fc.constantFrom(...OPERATORS), inner, inner).map(([operator, left, right]): Expression => ({ kind: 'binary', operator, left, right, at: AT })),
    ),
  };
});

/** The tree as plain JSON without positions. */
export function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value) => (key === 'at' ? undefined : typeof value === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : value)));
}
