import t from 'tap';
import fc from '../../support/fuzz.js';
import { basicPlan, once, Plant, reloaded } from './plant.js';
import { TreeWalk, WalkError, type WalkValue } from './tree-walk.js';
import { Bench } from './versions.js';
import { parseAction } from '../../../runtime/language/parser.js';
import type { PhasePlan, RuntimeSettings } from '../../../runtime/port.js';
import { at } from '../../support/at.js';

function run(text: string, rest: Partial<PhasePlan> = {}, settings: Partial<RuntimeSettings> = {}, prepare: (plant: Plant) => void = () => {}): Plant {
  const plant = new Plant(settings);
  prepare(plant);
  plant.phases.load(basicPlan('p', once(text), rest));
  plant.command('p', 'Start');
  plant.scan();
  return plant;
}

/** Values of the variables after the action, or the code of its failure. */
function outcome(text: string, rest: Partial<PhasePlan> = {}, settings: Partial<RuntimeSettings> = {}): Readonly<Record<string, unknown>> | string {
  const { checkpoint, invalid } = run(text, rest, settings).view('p');
  if (invalid) return invalid;
  return checkpoint.failure ? at(checkpoint.failure.message.split(':'), 0) : checkpoint.variables;
}

t.test('ST-04: operators, precedence and left association', async (t) => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['r := 2 + 3 * 4', 14],
    ['r := (2 + 3) * 4', 20],
    ['r := 10 - 4 - 3', 3],
    ['r := -7 / 2', -3],
    ['r := -7 MOD 3', -1],
    ['r := 7 MOD -3', 1],
    ['r := -(2 + 3)', -5],
    ['r := 2 < 3 AND NOT FALSE', true],
    ['r := TRUE OR FALSE AND FALSE', true],
    ['r := TRUE XOR TRUE OR FALSE', false],
    ['r := 1 < 2 = TRUE', true],
    ['r := 7.0 / 2', 3.5],
    ['r := ABS(-3) + ABS(2 - 5)', 6],
    ['r := ABS(-2.5)', 2.5],
    ["r := 'a' + 1 + 2", 'a12'],
    ["r := 1 + 2 + 'a'", '3a'],
    ["r := 'x' + 0.1 * 3.0", 'x0.3'],
    ["r := 'x' + TRUE + T#90s", 'xTRUET#1m30s'],
    ["r := 'b' > 'a' AND 'a' < 'aa'", true],
    ['r := T#1m + T#30s', 90_000],
    ['r := T#1s * 2.5', 2500],
    ['r := 2 * T#1s', 2000],
    ['r := T#10s / 4', 2500],
    ['r := T#10s / T#4s', 2.5],
    ['r := T#1ms * 0.5', 1],
    ['r := -(T#1s)', -1000],
    ['r := T#1s < T#2s', true],
  ];
  for (const [text, wanted] of rows) t.strictSame((outcome(`${text};`) as Record<string, unknown>).r, wanted, text);
});

t.test('ST-05: texts compare by code point', async (t) => {
  const astral = String.fromCodePoint(0x1f600);
  const late = String.fromCodePoint(0xffee);
  t.strictSame((outcome(`r := '${astral}' > '${late}';`) as Record<string, unknown>).r, true);
});

t.test('ST-01: INT is exact within 64 bits and overflows beyond', async (t) => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['r := 9007199254740991 + 2', '9007199254740993'],
    ['r := 9007199254740993 - 9007199254740992', 1],
    ['r := 9223372036854775807 / 3', '3074457345618258602'],
    ['r := 3037000499 * 3037000499', '9223372030926249001'],
    ['r := 9223372036854775807 MOD 10', 7],
    ['r := -9223372036854775808 + 9223372036854775807', -1],
    ['r := ABS(-9223372036854775807)', '9223372036854775807'],
    ['a := 9007199254740992; r := a + 1 > a', true],
    ['a := 9007199254740993; b := 9007199254740992; r := a = b + 1 AND a <> b', true],
  ];
  for (const [text, wanted] of rows) t.strictSame((outcome(`${text};`) as Record<string, unknown>).r, wanted, text);
  for (const text of [
    'r := 9223372036854775807 + 1;',
    'r := -9223372036854775808 - 1;',
    'r := 4611686018427387904 * 2;',
    'a := -9223372036854775808; r := -a;',
    'a := -9223372036854775808; r := ABS(a);',
    'a := -9223372036854775808; r := a / -1;',
  ]) {
    t.equal(outcome(text), 'overflow', text);
  }
  t.equal((outcome('r := 9007199254740992.0 + 1.0;') as Record<string, unknown>).r, 9007199254740992, 'REAL stays binary64');
});

t.test('ST-08: run-time errors hold the phase and name their code and line', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['r := 1 / 0;', 'division-by-zero'],
    ['r := 1 MOD 0;', 'division-by-zero'],
    ['r := 1.0 / 0.0;', 'division-by-zero'],
    ['r := 1.0e308 * 10.0;', 'overflow'],
    ['r := 5.0 / (1.0e308 * 10.0);', 'overflow'],
    ['r := 1.0e308 * 10.0 > 1.0;', 'overflow'],
    ['EXIT;', 'exit-outside-loop'],
    ['FOR i := 1 TO 3 BY 0 DO r := i; END_FOR;', 'for-step'],
    ['s := 0; FOR i := 1 TO 3 BY s DO r := i; END_FOR;', 'for-step'],
    ['WHILE TRUE DO r := 1; END_WHILE;', 'loop-limit'],
    ['REPEAT r := 1; UNTIL FALSE END_REPEAT;', 'loop-limit'],
    ["r := READ('nothing.pv');", 'unbound-role'],
    ["r := READ('signal:none');", 'unknown-signal'],
    ["s := 'a'; FOR i := 1 TO 40 DO s := s + s; END_FOR;", 'overflow'],
  ];
  for (const [text, code] of rows) t.equal(outcome(text), code, text);
  const plant = run('a := 1;\nr := a / 0;\na := 2;');
  t.match(plant.view('p').checkpoint, {
    state: 'Held',
    failure: { rule: 'st-runtime-error', class: 'hold', step: 'only', active: false, message: 'division-by-zero: division by zero (line 2)' },
  });
  t.equal(plant.view('p').checkpoint.variables.a, 1, 'what was assigned before stays');
});

t.test('ST-09: the loop limit counts each loop execution, the statement budget a whole scan', async (t) => {
  t.strictSame((outcome('FOR i := 1 TO 100 DO r := i; END_FOR;', {}, { loopLimit: 100 }) as Record<string, unknown>).i, 101, 'after the loop: the first value not executed');
  t.equal(outcome('FOR i := 1 TO 101 DO r := i; END_FOR;', {}, { loopLimit: 100 }), 'loop-limit');
  t.strictSame((outcome('n := 0; FOR i := 1 TO 90 DO FOR j := 1 TO 90 DO n := n + 1; END_FOR; END_FOR;', {}, { loopLimit: 100 }) as Record<string, unknown>).n, 8100);
  t.equal(outcome('FOR i := 1 TO 400 DO FOR j := 1 TO 400 DO n := 1; END_FOR; END_FOR;'), 'statement-budget');
});

t.test('ST-06: statements', async (t) => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['r := 0; FOR i := 10 TO 1 BY -3 DO r := r + i; END_FOR;', 22],
    ['r := 0; FOR i := 1 TO 10 DO IF i = 4 THEN EXIT; END_IF; r := i; END_FOR;', 3],
    ['r := 0; FOR i := 5 TO 1 DO r := 1; END_FOR;', 0],
    ['r := 0; REPEAT r := r + 1; UNTIL r >= 3 END_REPEAT;', 3],
    ['r := 1; RETURN; r := 2;', 1],
    ['k := 7; CASE k OF 1, 2: r := 1; 3..8: r := 2; 7: r := 3; ELSE r := 4; END_CASE;', 2],
    ["k := 'b'; CASE k OF 'a': r := 1; 'b', 'c': r := 2; ELSE r := 3; END_CASE;", 2],
    ['k := 99; CASE k OF 1: r := 1; ELSE r := 4; END_CASE;', 4],
    ['r := 0; IF r = 1 THEN r := 5; ELSIF r = 0 THEN r := 6; ELSE r := 7; END_IF;', 6],
    ['n := 3; r := 0; FOR i := 1 TO n DO n := 1; r := r + 1; END_FOR;', 3],
    ['r := 0; WHILE TRUE DO WHILE TRUE DO EXIT; END_WHILE; r := r + 1; IF r = 2 THEN EXIT; END_IF; END_WHILE;', 2],
  ];
  for (const [text, wanted] of rows) t.strictSame((outcome(text) as Record<string, unknown>).r, wanted, text);
});

t.test('ST-02: INT promotes to REAL, nothing else converts; READ is checked when it runs', async (t) => {
  const rest: Partial<PhasePlan> = {
    variables: [
      { name: 'x', type: 'REAL' },
      { name: 'n', type: 'INT' },
      { name: 'b', type: 'BOOL' },
    ],
  };
  const tags = (plant: Plant) => {
    plant.tag('m.int', 'INT', 7);
    plant.tag('m.big', 'INT', '9007199254740993');
    plant.tag('m.real', 'REAL', 7);
    plant.tag('m.text', 'STRING', 'Open');
    plant.tag('m.flag', 'BOOL', true);
  };
  const with_ = (text: string) => {
    const { checkpoint } = run(text, rest, {}, tags).view('p');
    return checkpoint.failure ? checkpoint.failure.message.split(':')[0] : checkpoint.variables;
  };
  t.strictSame(with_("x := READ('m.int') / 2; n := READ('m.int') / 2;"), { x: 3, n: 3, b: false }, 'INT / INT truncates');
  t.strictSame(with_("x := READ('m.real') / 2;"), { x: 3.5, n: 0, b: false });
  t.strictSame(with_("n := READ('m.big') - 9007199254740992;"), { x: 0, n: 1, b: false });
  t.strictSame(with_("b := READ('m.text') = 'Open' AND READ('m.flag');"), { x: 0, n: 0, b: true });
  t.equal(with_("n := READ('m.real');"), 'type-mismatch');
  t.equal(with_("b := READ('m.text') > 3;"), 'type-mismatch');
  t.equal(with_("b := READ('m.flag') > TRUE;"), 'type-mismatch');
  t.equal(with_("IF READ('m.int') THEN n := 1; END_IF;"), 'type-mismatch');
  t.strictSame(with_("v := READ('m.int'); n := v + 1;"), { x: 0, n: 8, b: false, v: '["INT",7]' }, 'an undeclared variable keeps the type it read');
});

t.test('SFC-01: prototype names are ordinary names and user text stays data', async (t) => {
  const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'prototype', 'F', 'V', 'arguments', 'eval'];
  for (const name of names) {
    const plant = run(`${name} := 41; ${name} := ${name} + 1; r := ${name};`);
    t.equal(plant.view('p').checkpoint.variables.r, 42, name);
    t.equal(reloaded(plant.view('p').checkpoint).variables.r, 42);
  }
  const canary = globalThis as { struck?: boolean };
  for (const attack of [
    "$'];globalThis.struck=true;[$'",
    '`${globalThis.struck=true}`',
    '\\u0027;globalThis.struck=true//',
    '*/globalThis.struck=true/*',
    '</script>',
    '__proto__',
  ]) {
    run(`m := '${attack}'; MESSAGE('${attack}'); x := READ('${attack}');`);
    run(`MESSAGE('a' + '${attack}');`);
  }
  t.equal(canary.struck, undefined);
});

// ---------------------------------------------------------------- generated programs against a second evaluator

const intText = fc.oneof(
  fc.integer({ min: -20, max: 20 }).map(String),
  fc.constantFrom('i1', 'i2', 'i3'),
  fc.constantFrom('9007199254740991', '-9007199254740992', '9223372036854775807', '4611686018427387904', '3037000500'),
);
const realText = fc.oneof(
  fc.integer({ min: -40, max: 40 }).map((n) => `${n < 0 ? '-' : ''}${Math.abs(n)}.25`),
  fc.constantFrom('r1', 'r2', '1.5e300'),
);

const { int, real, bool } = fc.letrec<{ int: string; real: string; bool: string }>((tie) => ({
  int: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    intText,
    fc.tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', 'MOD'), tie('int')).map(([a, o, b]) => `(${a} ${o} ${b})`),
    tie('int').map((a) => `-(${a})`),
    tie('int').map((a) => `ABS(${a})`),
  ),
  real: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    realText,
    fc.tuple(tie('real'), fc.constantFrom('+', '-', '*', '/'), fc.oneof(tie('real'), tie('int'))).map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(tie('int'), fc.constantFrom('+', '-', '*', '/'), tie('real')).map(([a, o, b]) => `(${a} ${o} ${b})`),
    tie('real').map((a) => `ABS(${a})`),
  ),
  bool: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('TRUE', 'b1', 'b2'),
    fc.tuple(fc.oneof(tie('int'), tie('real')), fc.constantFrom('<', '>', '<=', '>=', '=', '<>'), fc.oneof(tie('int'), tie('real'))).map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(tie('bool'), fc.constantFrom('AND', 'OR', 'XOR', '=', '<>'), tie('bool')).map(([a, o, b]) => `(${a} ${o} ${b})`),
    tie('bool').map((a) => `NOT (${a})`),
  ),
}));

const blocks = (...more: string[]) =>
  fc.letrec<{ block: string; statement: string }>((tie) => ({
    block: fc.array(tie('statement'), { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n')),
    statement: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(fc.constantFrom('i1', 'i2', 'i3'), int).map(([v, e]) => `${v} := ${e};`),
      fc.tuple(fc.constantFrom('r1', 'r2'), fc.oneof(real, int)).map(([v, e]) => `${v} := ${e};`),
      fc.tuple(fc.constantFrom('b1', 'b2'), bool).map(([v, e]) => `${v} := ${e};`),
      fc.tuple(bool, tie('block'), tie('block')).map(([c, a, b]) => `IF ${c} THEN ${a} ELSE ${b} END_IF;`),
      fc.tuple(int, tie('block'), tie('block')).map(([c, a, b]) => `CASE ${c} OF 0: ${a} -3..5, 7: ${b} ELSE i1 := 0; END_CASE;`),
      fc
        .tuple(fc.integer({ min: -3, max: 3 }), int, fc.constantFrom('', ' BY 2', ' BY -1', ' BY i1'), tie('block'))
        .map(([a, b, s, body]) => `FOR n := ${a} TO ${b}${s} DO ${body} END_FOR;`),
      fc.tuple(bool, tie('block')).map(([c, body]) => `WHILE ${c} DO ${body} i3 := i3 + 1; END_WHILE;`),
      fc.tuple(bool, tie('block')).map(([c, body]) => `REPEAT ${body} UNTIL ${c} END_REPEAT;`),
      fc.constantFrom('EXIT;', 'RETURN;', ...more),
    ),
  })).block;

const NAMES = ['i1', 'i2', 'i3', 'n', 'r1', 'r2', 'b1', 'b2'] as const;
const TYPES = { i: 'INT', n: 'INT', r: 'REAL', b: 'BOOL' } as const;

function typeOf(name: string): 'INT' | 'REAL' | 'BOOL' {
  return TYPES[name[0] as keyof typeof TYPES];
}

function walked(text: string): string {
  const variables = new Map<string, WalkValue>(
    NAMES.map((name) => {
      const type = typeOf(name);
      return [name, type === 'INT' ? { type, value: 0n } : type === 'REAL' ? { type, value: 0 } : { type, value: false }];
    }),
  );
  let code = '';
  try {
    new TreeWalk(variables, 50).run(parseAction(text).statements);
  } catch (fault) {
    if (!(fault instanceof WalkError)) throw fault;
    code = fault.message;
  }
  return `${code} ${NAMES.map((name) => `${name}=${String(Object.is(variables.get(name)?.value, -0) ? 0 : variables.get(name)?.value)}`).join(' ')}`;
}

const VARIABLES = NAMES.map((name) => ({ name, type: typeOf(name) }));

function executed(text: string): string {
  return shown(run(text, { variables: VARIABLES }, { loopLimit: 50, statementBudget: 10_000_000 }));
}

function shown(plant: Plant): string {
  const { checkpoint, invalid } = plant.view('p');
  if (invalid) return invalid;
  return `${checkpoint.failure?.message.split(':')[0] ?? ''} ${NAMES.map((name) => `${name}=${checkpoint.variables[name]}`).join(' ')}`;
}

t.test('ST-06: generated programs give the same as a second evaluator (reliability G23)', async (t) => {
  const runs = Number(process.env.TEST_RUNS ?? 400);
  fc.assert(
    fc.property(blocks(), (text) => {
      const [a, b] = [executed(text), walked(text)];
      if (a !== b) throw new Error(`${text}\ncompiled: ${a}\nwalked:   ${b}`);
    }),
    { numRuns: runs },
  );
  t.pass(`${runs} programs`);
});

/** Answers every prompt; before each answer the worker dies and the phase is reloaded from its JSON record. */
function suspended(text: string): string {
  const settings = { loopLimit: 50, statementBudget: 10_000_000 };
  const plant = run(text, { variables: VARIABLES }, settings);
  for (let count = 0; count < 400; count += 1) {
    const { prompt, checkpoint } = plant.view('p');
    if (!prompt) return shown(plant);
    plant.restart(settings);
    plant.phases.load(basicPlan('p', once(text), { variables: VARIABLES, checkpoint: reloaded(checkpoint) }));
    plant.phases.answer('p', prompt.id, 'yes');
    plant.scan();
    plant.command('p', 'Restart');
    plant.scan();
  }
  return 'too many prompts';
}

t.test('SFC-05: generated programs with prompts anywhere go on exactly where they stopped, over a reload at each', async (t) => {
  const runs = Number(process.env.TEST_RUNS ?? 150);
  fc.assert(
    fc.property(blocks("ack := PROMPT('go on');", "ack := PROMPT('and again');"), (text) => {
      const a = suspended(`ack := PROMPT('begin');\n${text}`);
      if (a === 'too many prompts') return;
      const b = walked(text);
      if (a !== b) throw new Error(`${text}\ncompiled: ${a}\nwalked:   ${b}`);
    }),
    { numRuns: runs },
  );
  t.pass(`${runs} programs`);
});

t.test('ST-01 ST-06: the wide version of generated programs gives the same, also when the versions change at every prompt', async (t) => {
  const runs = Number(process.env.TEST_RUNS ?? 400);
  const versions = (text: string, alternate: boolean): string => {
    const bench = new Bench(text, VARIABLES);
    let outcome = 'suspended';
    for (let count = 0; outcome === 'suspended' && count < 400; count += 1) outcome = bench.go(alternate && count % 2 === 0 ? 'narrow' : 'wide');
    return outcome === 'suspended' ? 'too many prompts' : `${outcome} ${NAMES.map((name) => `${name}=${bench.value(name)}`).join(' ')}`;
  };
  const program = fc.oneof(blocks(), blocks("ack := PROMPT('go on');"), blocks("ack := PROMPT('go on');", "ack := PROMPT('and again');"));
  fc.assert(
    fc.property(program, fc.boolean(), (text, alternate) => {
      const a = versions(text, alternate);
      if (a === 'too many prompts') return;
      const b = walked(text);
      if (a !== b) throw new Error(`${text}\ncompiled: ${a}\nwalked:   ${b}`);
    }),
    { numRuns: runs },
  );
  t.pass(`${runs} programs`);
});
