/** Random syntax trees and texts for the language tests. */
import type { BinaryOperator, Expression, Literal } from '../../../runtime/language/ast.js';
import { isIdentifier } from '../../../runtime/language/lexer.js';
import fc, { anyCharacter } from '../../support/fuzz.js';

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
  fc.string({ unit: anyCharacter }).map((value): Literal => ({ type: 'STRING', value })),
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

/** Words and signs of the language, and some that are none. */
const WORDS = [
  ...'IF THEN ELSIF ELSE END_IF CASE OF END_CASE FOR TO BY DO END_FOR WHILE END_WHILE REPEAT UNTIL END_REPEAT EXIT RETURN AND OR XOR NOT MOD TRUE FALSE PROGRAM END_PROGRAM VAR VAR_INPUT VAR_OUTPUT END_VAR BOOL INT REAL STRING TIME'.split(
    ' ',
  ),
  ...AWKWARD_NAMES,
  ...[
    'x',
    'y',
    'TON',
    'LIMIT',
    'AI',
    'READ',
    'PROMPT',
    'a.b',
    "'text'",
    "'",
    '1',
    '2.5',
    '1..2',
    'T#5s',
    '16#F',
    ':=',
    ';',
    ':',
    ',',
    '(',
    ')',
    '+',
    '-',
    '*',
    '/',
    '=',
    '<>',
    '<=',
    '..',
    '.',
    '(*',
    '*)',
    '//',
    '\n',
    '$',
    'ä',
  ],
];

/** Words in any order. */
export const aTokenSoup = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }).map((words) => words.join(' '));

/** A valid action and a valid program. */
const PROGRAMS = [
  "IF READ('v.state') = 'Open' THEN n := n + 1; ELSIF n > 3 THEN a := PROMPT('x'); END_IF; FOR i := 1 TO 10 BY 2 DO EXIT; END_FOR; CASE n OF 1, 2..5: x := 1.5; ELSE RETURN; END_CASE; REPEAT n := n - 1; UNTIL n = 0 END_REPEAT; WHILE TRUE DO END_WHILE;",
  "(* name: p *)\nPROGRAM p\nVAR_INPUT a : REAL := 1.5; END_VAR\nVAR_OUTPUT y : BOOL; END_VAR\nVAR t : TON := (PT := T#5s); x : REAL; END_VAR\n  t(IN := a > 3.0); // note\n  IF t.Q THEN x := a; ELSE x := x + 1.0; END_IF\n  y := LIMIT(0.0, x, 1.0) > 0.5;\n  AO('io:o', x, 0, 1, 4, 20);\nEND_PROGRAM\n",
];

/** A valid program with a few places cut out, doubled or replaced. */
export const aMutation = fc
  .tuple(
    fc.constantFrom(...PROGRAMS),
    fc.array(fc.tuple(fc.nat(400), fc.nat(20), fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 4 }), fc.constant(''))), { minLength: 1, maxLength: 5 }),
  )
  .map(([program, edits]) => edits.reduce((text, [at, cut, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + cut) || ' ', program));
