/** Hostile and broken text: no parser, checker or lowering throws or runs away, whatever it is given. */
import t from 'tap';
import { blockType, validateNetwork } from '../../../runtime/catalog.js';
import { compilePhase } from '../../../runtime/chart/compile.js';
import { CompileError } from '../../../runtime/chart/emit-expression.js';
import { checkPhaseCharts } from '../../../runtime/language/check-chart.js';
import { type ChartLevel, checkProceduralChart } from '../../../runtime/language/check-procedural-chart.js';
import { DIAGNOSTICS_MAX, SOURCE_BYTES_MAX } from '../../../runtime/language/lexer.js';
import { lowerProgram } from '../../../runtime/language/lower.js';
import { parseAction, parseCondition, parseProgram } from '../../../runtime/language/parser.js';
import { printExpression } from '../../../runtime/language/print.js';
import { printNetwork } from '../../../runtime/language/print-network.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { NetworkPlan } from '../../../runtime/port.js';
import type { Chart, ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import type { BlockSpec, CompositeType, Connection } from '../../../runtime/vocabulary/network.js';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { basicPlan, Plant } from '../chart/plant.js';
import { network, unitPlan } from '../network/plans.js';
import { aMutation, aTokenSoup, AWKWARD_NAMES } from './arbitrary.js';
import { aNetworkDocument, aProceduralChart, aShape, aSoundPhase, aStepName, connectionsOf } from './document-arbitrary.js';
import { aNetwork, COMPOSITES } from './network-arbitrary.js';
import { at } from '../../support/at.js';

/** Of processor time, which other tests on the machine do not use up; an exponential or quadratic pass over what is given here would take minutes. */
const LIMIT_MS = 5000;

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

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

t.test('SFC-18: random text, token soup and mutated programs give diagnostics, never an exception', async (t) => {
  for (const texts of [fc.string({ unit: anyCharacter, maxLength: 200 }), fc.string({ maxLength: 200 }), aTokenSoup, aMutation])
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
    `x := 1; `.repeat(60_000),
    'x '.repeat(SOURCE_BYTES_MAX / 6),
    ') '.repeat(160_000),
    'END_IF '.repeat(100_000),
    'x := ; '.repeat(SOURCE_BYTES_MAX / 7),
    'VAR '.repeat(100_000),
    `PROGRAM p ${'VAR '.repeat(100_000)}`,
  ];
  for (const bomb of bombs) {
    const before = processorMs();
    parseAction(bomb);
    parseCondition(bomb);
    checkPhaseCharts({ steps: [{ name: 'a', initial: true, actionST: bomb }] }, { tagsOfType: () => undefined });
    lowerProgram(bomb, blockType);
    const spent = processorMs() - before;
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

// ---------------------------------------------------------------- documents

const BOX: CompositeType = {
  name: 'box',
  inputs: [{ name: '__proto__', dataType: 'REAL' }],
  outputs: [{ name: 'OUT', dataType: 'REAL' }],
  params: [{ name: 'constructor', dataType: 'TIME', defaultValue: 'T#1s' }],
  blocks: [{ name: 'lag', type: 'LAG' }],
  connections: [],
  inputBindings: [{ port: '__proto__', blockRef: 'lag', portRef: 'IN' }],
  outputBindings: [{ port: 'OUT', blockRef: 'lag', portRef: 'OUT' }],
  paramBindings: [{ param: 'constructor', blockRef: 'lag', blockParam: 'tau' }],
};
const RING: CompositeType = { ...BOX, name: 'ring', blocks: [{ name: 'lag', type: 'ring' }] };

/** Judges, loads and scans a network; true when it was loaded. The judgement and the loading must agree. */
function survives(blocks: readonly BlockSpec[], connections: readonly Connection[], composites: readonly CompositeType[], rest: Partial<NetworkPlan> = {}): boolean {
  const problems = validateNetwork(blocks, connections, rest.variables, rest.variableBindings, composites);
  const set = new NetworkSet(unitPlan({ composites, networks: [network({ name: 'n', blocks, connections, ...rest })] }), { texts: new TextTable(), clockMs: () => 0, cold: true });
  const loaded = at(set.reports(), 0).state !== 'Error';
  if (loaded !== (problems.length === 0)) throw new Error(`judged ${JSON.stringify(problems)}, loaded ${JSON.stringify(set.reports())}`);
  for (let scan = 0; scan < 3; scan += 1) set.scan(1);
  set.inspect('n');
  lowerProgram(printNetwork({ name: 'n', blocks, connections }, blockType), blockType);
  return loaded;
}

t.test('SFC-18, PROG-14: random network documents are judged, loaded and scanned without an exception', async (t) => {
  fc.assert(
    fc.property(aNetworkDocument, ({ blocks, wires, variables, variableBindings }) => {
      survives(blocks, connectionsOf(blocks, wires), [BOX, RING], { variables, variableBindings });
    }),
    { numRuns: 500 },
  );
  let loaded = 0;
  fc.assert(
    fc.property(aNetwork, aNetworkDocument, ({ blocks, connections }, { variables, variableBindings }) => {
      if (survives(blocks, connections, COMPOSITES)) loaded += 1;
      survives(blocks, connections, COMPOSITES, { variables, variableBindings });
    }),
    { numRuns: 500 },
  );
  t.ok(loaded > 30, `${loaded} loaded`);
});

t.test('SFC-17, SFC-18: random phase charts and procedural charts are judged and compiled without an exception', async (t) => {
  const template = (_kind: unknown, name: string) =>
    name === 'a' ? { parameters: [{ name: 'IN', required: true }], outputs: [{ name: 'result' }], roles: ['v'] } : name === 'b' ? null : undefined;
  fc.assert(
    fc.property(aProceduralChart, fc.constantFrom<ChartLevel>('Recipe', 'Procedure', 'UnitProcedure', 'Operation'), (chart, level) => {
      checkProceduralChart(chart, level, { parameters: [{ name: 'constructor', type: 'REAL' }], outputs: [{ name: 'y', type: 'REAL', from: 'a.result' }], template });
    }),
    { numRuns: 500 },
  );
  const aPhase = fc.record({
    steps: fc.array(fc.record({ name: aStepName, initial: fc.boolean(), actionST: fc.oneof(aMutation, aTokenSoup, fc.constant('x := 1;')) }), { maxLength: 4 }),
    ...aShape,
  });
  /** True when the chart was compiled. The judgement and the compiler must agree. */
  const compiles = (chart: Chart): boolean => {
    const errors = checkPhaseCharts(chart, { tagsOfType: () => undefined }).filter(({ severity }) => severity === 'error');
    try {
      compilePhase({ running: chart, charts: {}, parameters: [], outputs: [], variables: [], signals: [] }, { loopLimit: 100 });
      return true;
    } catch (fault) {
      if (!(fault instanceof CompileError)) throw fault;
      if (errors.length === 0) throw new Error(`checked without an error, but not compiled: ${fault.message}`);
      return false;
    }
  };
  fc.assert(
    fc.property(aPhase, (chart) => void compiles(chart)),
    { numRuns: 500 },
  );
  fc.assert(fc.property(aSoundPhase, compiles), { numRuns: 500 });
  t.pass();
});

t.test('LIMIT: documents of a megabyte that are long, deep or tangled are judged in bounded time', async (t) => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `b${n}`);
  const steps = names(15_000).map((name, n) => ({ name, initial: n === 0 }));
  const backward = steps
    .slice(1)
    .map(({ name }, n) => ({ from: at(steps, n).name, to: name, conditionST: '' }))
    .toReversed();
  const untyped = [...names(9000).map((name) => ({ name, type: 'ADD' })), { name: 'source', type: 'TO_INT' }];
  const chain = names(9000).map((destBlock, n): Connection => ({ sourceBlock: n === 8999 ? 'source' : `b${n + 1}`, sourcePort: 'OUT', destBlock, destPort: 'IN1' }));
  const tens = Array.from(
    { length: 8 },
    (_, n): CompositeType => ({
      ...BOX,
      name: `ten-${n}`,
      inputBindings: [],
      outputBindings: [],
      paramBindings: [],
      blocks: names(10).map((name) => ({ name, type: n === 0 ? 'LAG' : `ten-${n - 1}` })),
    }),
  );
  const hollow = tens.map((type, n) => (n === 0 ? { ...type, blocks: [] } : type));
  let nested: ProceduralChart = { steps: [{ name: 'a', stepLevel: 'Phase', templateRef: 'x' }] };
  for (let level = 0; level < 10_000; level += 1) nested = { steps: [{ name: 'a', stepLevel: 'Operation', subChart: nested }] };
  const variables = names(9000).map((name) => ({ name, dataType: 'REAL', direction: 'output' as const }));
  const ends = variables.map(({ name }) => ({ variable: name, blockRef: 'source', portRef: 'OUT' }));
  const wide: CompositeType = {
    ...BOX,
    name: 'wide',
    inputs: names(9000).map((name) => ({ name, dataType: 'REAL', defaultValue: '1' })),
    inputBindings: names(9000).map((name) => ({ port: name, blockRef: name, portRef: 'IN' })),
    outputBindings: [],
    paramBindings: [],
    blocks: names(9000).map((name) => ({ name, type: 'LAG' })),
  };
  const phase = (actionST: string) => ({ running: { steps: [{ name: 'a', initial: true, actionST }] }, charts: {}, parameters: [], outputs: [], variables: [], signals: [] });
  const judged = (text: string): void => {
    checkPhaseCharts(phase(text).running, { tagsOfType: () => undefined });
    compilePhase(phase(text), { loopLimit: 100 });
  };
  const environment = { parameters: [], template: () => undefined };
  const inner: ProceduralChart = { steps: [{ name: 'a', stepLevel: 'Phase', parameterBindings: names(200_000).map((name) => ({ name })) }] };
  const bindings: ProceduralChart = { steps: [{ name: 'a', stepLevel: 'Operation', subChart: inner }] };
  const mentions = `${Array.from({ length: 900 }, () => 'b1.T > T#1s').join(' OR ')}`;
  const rows: readonly (readonly [string, () => unknown])[] = [
    ['untyped chain from the end', () => validateNetwork(untyped, chain)],
    ['variables', () => validateNetwork(untyped.slice(-1), [], variables, ends)],
    ['ten to the eighth', () => validateNetwork([{ name: 'x', type: 'ten-7' }], [], [], [], tens)],
    ['ten to the eighth of nothing', () => validateNetwork([{ name: 'x', type: 'ten-7' }], [], [], [], hollow)],
    ['wide composite', () => validateNetwork([{ name: 'x', type: 'wide' }], [], [], [], [wide])],
    ['chart from the end', () => checkPhaseCharts({ steps, transitions: backward }, { tagsOfType: () => undefined })],
    ['sub-charts in sub-charts', () => checkProceduralChart(nested, 'Recipe', environment)],
    [
      'steps and mentions',
      () =>
        checkProceduralChart(
          {
            steps: steps.map(({ name, initial }) => ({ name, initial, stepLevel: 'Phase', templateRef: 'x' })),
            transitions: Array.from({ length: 40 }, () => ({ from: 'b0', to: 'b1', conditionST: mentions })),
          },
          'Operation',
          environment,
        ),
    ],
    ['action of a megabyte', () => compilePhase(phase('x := 1; '.repeat(125_000)), { loopLimit: 100 })],
    [
      'thousands of names',
      () =>
        compilePhase(
          phase(
            names(30_000)
              .map((name) => `${name} := 1;`)
              .join('\n'),
          ),
          { loopLimit: 100 },
        ),
    ],
    ['1000 operators', () => compilePhase(phase(`x := 1${' + 1'.repeat(1000)};`), { loopLimit: 100 })],
    ['thousands of bindings', () => checkProceduralChart(bindings, 'UnitProcedure', environment)],
    ['190 levels around a megabyte', () => judged(`${'IF TRUE THEN '.repeat(190)}${'x := 1; '.repeat(100_000)}${'END_IF;'.repeat(190)}`)],
    ['thousands of ways out', () => judged('RETURN; '.repeat(60_000))],
    ['chains of 1000 operators', () => checkPhaseCharts(phase(`x := 1${' + 1'.repeat(1000)};\n`.repeat(100)).running, { tagsOfType: () => undefined })],
    ['190 levels', () => compilePhase(phase(`${'IF TRUE THEN '.repeat(190)}x := PROMPT('a');${'END_IF;'.repeat(190)}`), { loopLimit: 100 })],
  ];
  for (const [name, work] of rows) {
    const before = processorMs();
    work();
    const spent = processorMs() - before;
    t.ok(spent < LIMIT_MS, `${name} took ${Math.round(spent)} ms`);
  }
  t.match(validateNetwork([{ name: 'x', type: 'ten-7' }], [], [], [], tens), [{ message: /more than 10000 blocks/ }]);
});

t.test('ST-09, Reliability: whatever loops, a scan ends: loops without end, loops in loops, charts that go round', async (t) => {
  const bodies = [
    '',
    'x := x + 1;',
    "s := s + 'x';",
    'IF x > 0 THEN x := 0; END_IF;',
    'FOR j := 1 TO 9223372036854775807 DO x := 1; END_FOR;',
    'REPEAT x := 1; UNTIL FALSE END_REPEAT;',
    'EXIT;',
    "ack := PROMPT('go');",
  ];
  const loops = bodies.flatMap((body) => [
    `x := 0; s := ''; WHILE TRUE DO ${body} END_WHILE;`,
    `x := 0; s := ''; REPEAT ${body} UNTIL x < 0 END_REPEAT;`,
    `x := 0; s := ''; FOR i := -9223372036854775808 TO 9223372036854775807 DO ${body} END_FOR;`,
    `x := 0; s := ''; WHILE TRUE DO WHILE TRUE DO WHILE TRUE DO ${body} END_WHILE; END_WHILE; END_WHILE;`,
  ]);
  for (const actionST of loops) {
    for (const actionMode of ['once', 'cyclic'] as const) {
      if (actionMode === 'cyclic' && actionST.includes('PROMPT')) continue;
      const plant = new Plant();
      const chart = {
        steps: [
          { name: 'a', initial: true, actionST, actionMode },
          { name: 'b', actionST: 'y := 1;' },
        ],
        transitions: [
          { from: 'a', to: 'b', conditionST: 'TRUE' },
          { from: 'b', to: 'a', conditionST: 'TRUE' },
        ],
      };
      plant.phases.load(basicPlan('p', chart));
      plant.command('p', 'Start');
      const before = processorMs();
      plant.scan(5);
      t.ok(processorMs() - before < LIMIT_MS, `${actionMode} ${actionST}`);
      t.equal(plant.view('p').invalid, '', actionST);
    }
  }
  const round = new Plant();
  round.phases.load(
    basicPlan('p', {
      steps: [{ name: 'a', initial: true }, { name: 'b' }],
      transitions: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
      ],
    }),
  );
  round.command('p', 'Start');
  round.scan(1000);
  t.equal(round.state('p'), 'Running');
});
