/** Hostile and broken text: no parser, checker or lowering throws or runs away, whatever it is given. */
import fc from 'fast-check';
import t from 'tap';
import { blockType } from '../../../runtime/catalog.js';
import { checkPhaseCharts } from '../../../runtime/language/check-chart.js';
import { checkProceduralChart } from '../../../runtime/language/check-procedural-chart.js';
import { DIAGNOSTICS_MAX, SOURCE_BYTES_MAX } from '../../../runtime/language/lexer.js';
import { lowerProgram } from '../../../runtime/language/lower.js';
import { parseAction, parseCondition, parseProgram } from '../../../runtime/language/parser.js';
import { printExpression } from '../../../runtime/language/print.js';
import { printNetwork } from '../../../runtime/language/print-network.js';
import { AWKWARD_NAMES } from './arbitrary.js';

/** Generous for a loaded machine; an exponential or quadratic pass over 1 MB would take minutes. */
const LIMIT_MS = 5000;

/** Everything the language can do with one text. */
function everything(text: string): void {
  parseAction(text);
  const { expression } = parseCondition(text);
  if (expression) parseCondition(printExpression(expression));
  parseProgram(text);
  const steps = [
    { name: 'a', initial: true, actionST: text },
    { name: 'b', actionST: text, actionMode: 'cyclic' as const },
  ];
  const transitions = [{ from: 'a', to: 'b', conditionST: text }];
  checkPhaseCharts({ steps, transitions, charts: { holding: { steps } } }, { tagsOfType: () => undefined });
  checkProceduralChart({ steps: [{ name: 'a', initial: true }, { name: 'b' }], transitions }, 'Operation', { parameters: [], template: () => undefined });
  const lowered = lowerProgram(text, blockType);
  printNetwork(lowered, blockType);
}

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

const aTokenSoup = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }).map((words) => words.join(' '));

const PROGRAMS = [
  "IF READ('v.state') = 'Open' THEN n := n + 1; ELSIF n > 3 THEN a := PROMPT('x'); END_IF; FOR i := 1 TO 10 BY 2 DO EXIT; END_FOR; CASE n OF 1, 2..5: x := 1.5; ELSE RETURN; END_CASE; REPEAT n := n - 1; UNTIL n = 0 END_REPEAT; WHILE TRUE DO END_WHILE;",
  "(* name: p *)\nPROGRAM p\nVAR_INPUT a : REAL := 1.5; END_VAR\nVAR_OUTPUT y : BOOL; END_VAR\nVAR t : TON := (PT := T#5s); x : REAL; END_VAR\n  t(IN := a > 3.0); // note\n  IF t.Q THEN x := a; ELSE x := x + 1.0; END_IF\n  y := LIMIT(0.0, x, 1.0) > 0.5;\n  AO('io:o', x, 0, 1, 4, 20);\nEND_PROGRAM\n",
];

/** A valid program with a few places cut out, doubled or replaced. */
const aMutation = fc
  .tuple(
    fc.constantFrom(...PROGRAMS),
    fc.array(fc.tuple(fc.nat(400), fc.nat(20), fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 4 }), fc.constant(''))), { minLength: 1, maxLength: 5 }),
  )
  .map(([program, edits]) => edits.reduce((text, [at, cut, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + cut) || ' ', program));

t.test('SFC-18: random text, token soup and mutated programs give diagnostics, never an exception', async (t) => {
  for (const texts of [fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 200 }), aTokenSoup, aMutation])
    fc.assert(fc.property(texts, everything), { numRuns: 400 });
  t.pass();
});

t.test('LIMIT: what is nested too deeply or is too long is refused, in bounded time and without a stack overflow', async (t) => {
  const many = 100_000;
  const bombs = [
    '('.repeat(many),
    `${'('.repeat(many)}a${')'.repeat(many)}`,
    'NOT '.repeat(many),
    '-'.repeat(many),
    `a${' + a'.repeat(many)}`,
    `x := a${' + a'.repeat(many)};`,
    'IF a THEN '.repeat(many),
    'CASE a OF 1: '.repeat(many),
    'WHILE a DO '.repeat(many),
    'REPEAT '.repeat(many),
    `x := ${'f('.repeat(many)}`,
    `IF a THEN x := 1; ${'ELSIF a THEN x := 2; '.repeat(20_000)} END_IF`,
    `PROGRAM p VAR_INPUT a : BOOL; END_VAR VAR x : INT; END_VAR IF a THEN x := 1; ${'ELSIF a THEN x := 2; '.repeat(20_000)} END_IF END_PROGRAM`,
    `PROGRAM p VAR ${'x : REAL; '.repeat(50_000)} END_VAR END_PROGRAM`,
    `PROGRAM p VAR x : BOOL; END_VAR ${'x := NOT x; '.repeat(50_000)} END_PROGRAM`,
    `CASE x OF ${Array.from({ length: 50_000 }, (_, n) => n).join(', ')}: y := 1; END_CASE`,
    '(*'.repeat(many),
    "'".repeat(many),
    '$'.repeat(many),
    `x := ${'9'.repeat(many)};`,
    `x := 16#${'F'.repeat(many)};`,
    `x := T#${'9'.repeat(many)}s;`,
    `x := 2#${'1_'.repeat(many)};`,
    'a'.repeat(many),
    ';'.repeat(SOURCE_BYTES_MAX),
    `x := 1; `.repeat(120_000),
    'x '.repeat(SOURCE_BYTES_MAX / 2),
    ') '.repeat(500_000),
    'END_IF '.repeat(140_000),
    'x := ; '.repeat(140_000),
    'VAR '.repeat(200_000),
    `PROGRAM p ${'VAR '.repeat(200_000)}`,
  ];
  for (const bomb of bombs) {
    const before = performance.now();
    parseAction(bomb);
    parseCondition(bomb);
    checkPhaseCharts({ steps: [{ name: 'a', initial: true, actionST: bomb }] }, { tagsOfType: () => undefined });
    lowerProgram(bomb, blockType);
    const spent = performance.now() - before;
    t.ok(spent < LIMIT_MS, `${bomb.slice(0, 20)}... took ${Math.round(spent)} ms`);
  }
  t.match(parseCondition('('.repeat(many)).diagnostics, [{ code: 'parse', message: /nesting/ }]);
  t.match(parseAction(' '.repeat(SOURCE_BYTES_MAX + 1)).diagnostics, [{ code: 'parse', line: 1, column: 1 }]);
  t.equal(parseAction('x := ; '.repeat(1000)).diagnostics.length, DIAGNOSTICS_MAX);
  const levels = (count: number): number => parseCondition(`${'('.repeat(count)}a${')'.repeat(count)}`).diagnostics.length;
  t.same([levels(200), levels(201)], [0, 1], 'up to 200 levels are read');
});

t.test('names of JavaScript objects are ordinary names of variables, instances and steps', async (t) => {
  for (const name of AWKWARD_NAMES) {
    const lowered = lowerProgram(`PROGRAM ${name} VAR_INPUT ${name} : BOOL; END_VAR VAR t : TON; END_VAR t(IN := ${name}); END_PROGRAM`, blockType);
    t.same([lowered.diagnostics, lowered.name, lowered.variableBindings[0]?.variable], [[], name, name]);
    const instance = lowerProgram(`PROGRAM p VAR ${name} : TON; END_VAR VAR_OUTPUT q : BOOL; END_VAR ${name}(IN := TRUE); q := ${name}.Q; END_PROGRAM`, blockType);
    t.same([instance.diagnostics, instance.blocks[0]?.name, instance.variableBindings[0]?.blockRef], [[], name, name]);
    t.equal(lowerProgram(`PROGRAM p VAR x : ${name}; END_VAR END_PROGRAM`, blockType).diagnostics[0]?.code, 'unknown-type');
    const chart = {
      steps: [{ name, initial: true, actionST: `${name} := 1.0;` }, { name: 'end' }],
      transitions: [{ from: name, to: 'end', conditionST: `${name} > 0.5 AND ${name}.T > T#1s` }],
    };
    t.same(checkPhaseCharts(chart, { tagsOfType: () => undefined }), []);
  }
});
