/** Reading and printing of structured text: contract 3 "Structured-text language", decisions 4.1 to 4.4. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Expression, Statement } from '../../../runtime/language/ast.js';
import { DIAGNOSTICS_MAX, isProgramText } from '../../../runtime/language/lexer.js';
import { parseAction, parseCondition, parseProgram } from '../../../runtime/language/parser.js';
import { printExpression } from '../../../runtime/language/print.js';
import { parseDuration, parseTimeText, printTime } from '../../../runtime/language/time-text.js';
import { parseValueText, printForConcat, printValue } from '../../../runtime/language/value-text.js';
import fc from '../../support/fuzz.js';
import { anExpression, withoutPlaces } from './arbitrary.js';
import { leading } from '../../support/at.js';

function read(text: string): Expression {
  const { expression, diagnostics } = parseCondition(text);
  if (expression === null || diagnostics.length > 0) throw new Error(`${text}: ${JSON.stringify(diagnostics)}`);
  return expression;
}

function statements(text: string): readonly Statement[] {
  const { statements, diagnostics } = parseAction(text);
  if (diagnostics.length > 0) throw new Error(`${text}: ${JSON.stringify(diagnostics)}`);
  return statements;
}

/** The tree with every operation in parentheses. */
function grouped(expression: Expression): string {
  if (expression.kind === 'binary') return `(${grouped(expression.left)} ${expression.operator} ${grouped(expression.right)})`;
  if (expression.kind === 'unary') return `(${expression.operator} ${grouped(expression.operand)})`;
  return printExpression(expression);
}

t.test('ST-01: the five types have literals', async (t) => {
  const rows: [string, string, unknown][] = [
    ['TRUE', 'BOOL', true],
    ['false', 'BOOL', false],
    ['1_000', 'INT', 1000n],
    ['16#FF', 'INT', 255n],
    ['2#1010_1010', 'INT', 170n],
    ['8#17', 'INT', 15n],
    ['-9223372036854775808', 'INT', -(2n ** 63n)],
    ['9223372036854775807', 'INT', 2n ** 63n - 1n],
    ['3.25', 'REAL', 3.25],
    ['1e3', 'REAL', 1000],
    ['2.5E-3', 'REAL', 0.0025],
    ["'a$'b$$c$N$0041'", 'STRING', "a'b$c\nA"],
    ['T#5s', 'TIME', 5000],
    ['T#100ms', 'TIME', 100],
    ['TIME#1m30s', 'TIME', 90_000],
    ['t#-1.5s', 'TIME', -1500],
    ['T#1d2h', 'TIME', 93_600_000],
  ];
  for (const [text, type, value] of rows) {
    const expression = read(text);
    t.same(expression.kind === 'literal' && expression.literal, { type, value }, text);
  }
});

t.test('ST-01: texts that are no literal are refused where they stand', async (t) => {
  for (const text of [
    '9223372036854775808',
    '-9223372036854775809',
    '2#12',
    '7#1',
    '1_0.5',
    '12abc',
    "'open",
    "'a\nb'",
    "'$q'",
    'T#5',
    'T#1s1m',
    'T#1s1s',
    'T#',
    '1e999',
    '(* open',
    'a # b',
    `${'x'.repeat(64)} = 1`,
  ]) {
    const { diagnostics } = parseCondition(text);
    t.ok(diagnostics.length > 0 && diagnostics.every(({ code, line, column }) => code === 'parse' && line >= 1 && column >= 1), text);
  }
});

t.test('ST-04: operators bind in the order of the contract and associate to the left', async (t) => {
  const rows = [
    ['a OR b XOR c AND d', '(a OR (b XOR (c AND d)))'],
    ['a = b < c', '(a = (b < c))'],
    ['a + b * c - d', '((a + (b * c)) - d)'],
    ['a / b MOD c', '((a / b) MOD c)'],
    ['NOT a AND b', '((NOT a) AND b)'],
    ['-a * b', '((- a) * b)'],
    ['a < b = c >= d', '((a < b) = (c >= d))'],
    ['a <> b AND c', '((a <> b) AND c)'],
    ['1 - -2', '(1 - -2)'],
    ['NOT NOT a', '(NOT (NOT a))'],
    ["'x' + 1 + 2", "(('x' + 1) + 2)"],
  ] as const;
  for (const [text, wanted] of rows) t.equal(grouped(read(text)), wanted, text);
});

t.test('ST-03 ST-06 ST-07: every statement is read, with and without the semicolons that may be missing', async (t) => {
  const text = `a := 1;
    IF a = 1 THEN b := 2 ELSIF a = 2 THEN b := 3; ELSE b := 4 END_IF
    CASE a OF 1, 3..5: b := 1; -2: b := 2; ELSE b := 0; END_CASE;
    CASE s OF 'x', 'y': b := 1 'z': b := 2 END_CASE
    FOR i := 1 TO 10 DO b := b + i; EXIT; END_FOR
    FOR i := 10 TO 0 BY -2 DO END_FOR;
    while a < 5 do a := a + 1; end_while;
    REPEAT a := a - 1 UNTIL a = 0; END_REPEAT;
    RETURN`;
  const list = statements(text);
  t.same(
    list.map(({ kind }) => kind),
    ['assign', 'if', 'case', 'case', 'for', 'for', 'while', 'repeat', 'return'],
  );
  const [, , ints, words, up, down] = leading(list, 6);
  t.match(ints, {
    cases: [
      {
        labels: [
          { from: 1n, to: 1n },
          { from: 3n, to: 5n },
        ],
      },
      { labels: [{ from: -2n, to: -2n }] },
    ],
  });
  t.match(words, { cases: [{ labels: [{ value: 'x' }, { value: 'y' }] }, { labels: [{ value: 'z' }] }], otherwise: null });
  t.equal(up.kind === 'for' && up.by, null, 'the default step is left out of the tree');
  t.match(down, { by: { literal: { value: -2n } } });
  t.same(statements(';;'), []);
});

t.test('ST-08: EXIT outside a loop is no parse error', async (t) => {
  t.same(
    statements('EXIT;').map(({ kind }) => kind),
    ['exit'],
  );
});

t.test('ST-10: comments in both forms count as white space and do not nest', async (t) => {
  t.equal(statements('// nothing\na := 1; (* one\ntwo (* *) b := 2; // end').length, 2);
  t.match(parseAction('(* a (* b *) c *) a := 1;').diagnostics[0], { line: 1 });
});

t.test('ST-11: what is not supported gives a diagnostic', async (t) => {
  for (const text of ['GOTO x;', 'a[1] := 2;', 'a.b := 1;', 'x^ := 1;', 'a := b & c;', 'FUNCTION f : INT', 'a = 1;', 'a := &b;', 'STRUCT a'])
    t.ok(parseAction(text).diagnostics.length > 0, text);
});

t.test('SFC-18: several mistakes are found in one pass, each at its line and column', async (t) => {
  const { diagnostics, statements } = parseAction('a := 1 +;\nb = 2;\nIF a THEN\n  c := ;\nEND_IF;\nd := 4;\nEND_FOR;');
  t.same(
    diagnostics.map(({ line, column }) => [line, column]),
    [
      [1, 9],
      [2, 3],
      [4, 8],
      [7, 1],
    ],
  );
  t.same(
    statements.filter(({ kind }) => kind === 'assign').map((row) => row.kind === 'assign' && row.target),
    ['d'],
    'what can be read is read',
  );
  t.match(parseAction('IF a THEN\n b := 1;').diagnostics, [{ line: 1, column: 1, message: /END_IF/ }]);
});

t.test('SFC-18: of more mistakes than a reader looks at, unreadable places are told first, and then as many others as there is room for', async (t) => {
  const some = parseAction(`${'x := ;\n'.repeat(95)}${'$\n'.repeat(8)}y := 1;`);
  t.equal(some.diagnostics.length, DIAGNOSTICS_MAX);
  t.same(
    some.diagnostics.map(({ line }) => line),
    [...Array.from({ length: 92 }, (_, n) => n + 1), ...Array.from({ length: 8 }, (_, n) => n + 96)],
  );
  t.same(some.statements, [], 'what stands behind the last mistake there is room for is not read');
  const all = parseAction(`${'x := ;\n'.repeat(91)}${'$\n'.repeat(8)}y := 1;`);
  t.same([all.diagnostics.length, all.statements.length], [99, 1]);
  t.match(
    ['a', 'y := 1;', 'PROGRAM p END_PROGRAM'].map((text) => parseProgram(`${text} ${'$'.repeat(150)}`)),
    Array.from({ length: 3 }, () => ({ program: null, diagnostics: Array.from({ length: DIAGNOSTICS_MAX }, () => ({ message: 'the character "$" has no meaning here' })) })),
  );
  t.equal(parseCondition(`a ${'$'.repeat(150)}`).expression, null);
});

t.test('SFC-18: an unreadable place behind the one where the parser gave up is told, too', async (t) => {
  const { diagnostics } = parseCondition(`${'('.repeat(300)}\n$`);
  t.match(diagnostics, [
    { line: 1, message: /nesting/ },
    { line: 2, message: /no meaning/ },
  ]);
  t.match(parseProgram('PROGRAM p END_PROGRAM x y z\n$').diagnostics, [{ line: 1 }, { line: 2 }]);
});

t.test('SFC-02: a condition is one expression; an empty one is unconditional', async (t) => {
  t.same(parseCondition(' (* nothing *) '), { expression: null, diagnostics: [] });
  t.match(parseCondition('a = 1; b').diagnostics, [{ code: 'parse', column: 6 }]);
  t.match(parseCondition('a := 1').diagnostics, [{ code: 'parse' }]);
});

t.test('ST-12: a program has a name, declarations and a body', async (t) => {
  const { program, diagnostics } = parseProgram(`(* name: loop-1 *) // scanInterval: 50ms
PROGRAM loop_1
VAR_INPUT a, b : REAL := 2.0; END_VAR
VAR_OUTPUT y : BOOL; END_VAR
VAR t1 : ton := (pt := T#5s); g : AND; END_VAR
  t1(IN := a > b); y := AND(t1.Q, TRUE); DO('io:1', y);
END_PROGRAM`);
  t.same(diagnostics, []);
  t.same(
    program?.variables.map(({ name, type, section }) => [name, type, section]),
    [
      ['a', 'REAL', 'VAR_INPUT'],
      ['b', 'REAL', 'VAR_INPUT'],
      ['y', 'BOOL', 'VAR_OUTPUT'],
      ['t1', { block: 'TON' }, 'VAR'],
      ['g', { block: 'AND' }, 'VAR'],
    ],
  );
  t.same(program?.header, [' name: loop-1 ', ' scanInterval: 50ms']);
  t.same(
    program?.body.map(({ kind }) => kind),
    ['call', 'assign', 'call'],
  );
  t.equal(isProgramText('(* x *) program p END_PROGRAM'), true);
  t.equal(isProgramText('programs := 1;'), false);
  t.match(parseProgram('PROGRAM p x := 1;').diagnostics, [{ message: /END_PROGRAM/ }]);
  t.match(parseProgram('PROGRAM p END_PROGRAM x').diagnostics, [{ message: /nothing may follow/ }]);
});

t.test('texts of TIME have the fewest parts and read back', async (t) => {
  const rows: [number, string][] = [
    [0, 'T#0s'],
    [90_000, 'T#1m30s'],
    [1500, 'T#1s500ms'],
    [-5000, 'T#-5s'],
    [86_400_000, 'T#1d'],
    [1, 'T#1ms'],
  ];
  for (const [ms, text] of rows) t.equal(printTime(ms), text);
  fc.assert(fc.property(fc.maxSafeInteger(), (ms) => parseTimeText(printTime(ms)) === (ms === 0 ? 0 : ms)));
  t.equal(parseDuration('30m'), 1_800_000);
  t.equal(parseDuration('1.5s'), 1500);
  t.equal(parseTimeText('30m'), null);
  for (const text of ['', 'T#', '5', '5s3', '5s5m', '-', '1.s', 'x#5s', '9e9s']) t.equal(parseDuration(text), null, text);
});

t.test('texts of values are canonical and read back', async (t) => {
  t.equal(printValue('BOOL', true), 'TRUE');
  t.equal(printValue('REAL', 0.1), '0.1');
  t.equal(printValue('INT', '9223372036854775807'), '9223372036854775807');
  t.equal(printValue('TIME', 90_000), 'T#1m30s');
  t.equal(printForConcat('REAL', 12.345678901), '12.34568', '7 significant digits beside a STRING');
  t.equal(printForConcat('REAL', 100), '100');
  t.equal(parseValueText('INT', '9223372036854775807'), '9223372036854775807');
  t.equal(parseValueText('INT', '9223372036854775808'), null);
  t.equal(parseValueText('INT', '1.5'), null);
  t.equal(parseValueText('BOOL', 'true'), true);
  t.equal(parseValueText('TIME', '5s'), 5000);
  for (const text of ['', 'NaN', 'Infinity', '1e999', '1,5', '0x10', '--1', '.']) t.equal(parseValueText('REAL', text), null, text);
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => parseValueText('REAL', printValue('REAL', value)) === value));
});

t.test('printed expressions read back as the same tree', async (t) => {
  fc.assert(
    fc.property(anExpression, (expression) => {
      const text = printExpression(expression);
      const back = parseCondition(text);
      t.same(back.diagnostics, [], text);
      return JSON.stringify(withoutPlaces(back.expression)) === JSON.stringify(withoutPlaces(expression));
    }),
    { numRuns: 500 },
  );
});

t.test('every text of the demonstration plant is readable', async (t) => {
  let texts = 0;
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (typeof value !== 'string') walk(value);
      else if (key === 'actionST') t.same(parseAction(value).diagnostics, [], value);
      else if (key === 'conditionST') t.same(parseCondition(value).diagnostics, [], value);
      else if (key === 'structuredText') t.same(parseProgram(value).diagnostics, [], value);
      else continue;
      texts += 1;
    }
  };
  for (const file of ['30-control-templates', '60-phase-templates', '70-procedure-templates', '80-recipes'])
    walk(JSON.parse(readFileSync(new URL(`../../../demo/${file}.json`, import.meta.url), 'utf8')));
  t.ok(texts > 100, `${texts} texts`);
});
