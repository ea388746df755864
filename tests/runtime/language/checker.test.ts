/** Static checks of phases and procedural charts: contract 3 "Structured-text language", decisions 2.8, 4.2 to 4.5. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { checkPhaseCharts, type PhaseText } from '../../../runtime/language/check-chart.js';
import { type ChartLevel, checkProceduralChart, type ProceduralEnvironment } from '../../../runtime/language/check-procedural-chart.js';
import { tagTable } from '../../../runtime/language/scope.js';
import type { ProceduralChart, TemplateKind } from '../../../runtime/vocabulary/chart.js';
import { AWKWARD_NAMES } from './arbitrary.js';

const VALVE = tagTable([
  { name: 'cmd', type: 'BOOL', writable: true },
  { name: 'sp', type: 'REAL', writable: true, engMin: 0, engMax: 100 },
  { name: 'state', type: 'STRING', writable: false, isState: true, stateWords: ['Open', 'Closed'] },
  { name: 'mood', type: 'STRING', writable: false, isState: true },
]);
const ENVIRONMENT = { tagsOfType: (type: string) => (type === 'valve' ? VALVE : undefined) };

const BASE: PhaseText = {
  roles: [
    { name: 'v', requiredType: 'valve' },
    { name: 'other', requiredType: 'unknown-type' },
  ],
  parameters: [
    { name: 'amount', type: 'REAL' },
    { name: 'count', type: 'INT' },
    { name: 'who', type: 'STRING' },
  ],
  outputs: [{ name: 'result', type: 'REAL' }],
};

/** `severity code` of everything found, sorted. */
function codes(spec: PhaseText): string[] {
  return checkPhaseCharts({ ...BASE, ...spec }, ENVIRONMENT)
    .map(({ severity, code }) => `${severity === 'error' ? '' : 'warning '}${code}`)
    .toSorted();
}

/** Codes for one action in the initial step of a chart without transitions. */
function action(actionST: string, step: object = {}): string[] {
  return codes({ steps: [{ name: 's', initial: true, actionST, ...step }] });
}

/** Codes for one condition between two steps. */
function condition(conditionST: string, actionST = ''): string[] {
  return codes({ steps: [{ name: 'one', initial: true, actionST }, { name: 'two' }], transitions: [{ from: 'one', to: 'two', conditionST }] });
}

t.test('ST-02 ST-05: types fit as in the table of operators', async (t) => {
  const good = [
    'result := 1 + 2;',
    'result := amount * count;',
    "who2 := 'x' + amount + TRUE + T#1s; MESSAGE(who2);",
    'd := T#1s * 2.5 + T#1s; result := d / T#1s;',
    'result := 7 MOD 2;',
    "b := 'a' < 'b' AND T#1s >= s.T AND 1 = 1.0 AND TRUE <> b; WRITE('v.cmd', b XOR NOT b);",
    "result := ABS(-count); MESSAGE('' + ABS(T#-1s));",
    "result := READ('v.sp') + 1;",
    'i := 1; WHILE i < 3 DO i := i + 1; END_WHILE',
    "CASE count OF 1: result := 1; 2..4: result := 2; END_CASE; CASE who OF 'a': result := 3; END_CASE",
  ];
  for (const text of good) t.same(action(text), [], text);
  const bad = [
    'result := TRUE;',
    "result := 'a';",
    'i := 1; i := 1.5; result := i;',
    'result := 1.5 MOD 2;',
    'result := T#1s + 1;',
    "b := 'a' - 'b'; result := 1; MESSAGE('' + b);",
    'IF count THEN result := 1; END_IF',
    'IF TRUE < FALSE THEN result := 1; END_IF',
    'IF who = 1 THEN result := 1; END_IF',
    'result := -TRUE;',
    'IF NOT count THEN result := 1; END_IF',
    'WHILE 1 DO EXIT; END_WHILE',
    'FOR i := 1 TO 2.5 DO result := i; END_FOR',
    'FOR i := 1 TO 3 DO i := 2; END_FOR',
    'amount := 2.0;',
    'CASE amount OF 1: result := 1; END_CASE',
    'CASE count OF 1, 2: result := 1; 2: result := 2; END_CASE',
    'CASE count OF 1..5: result := 1; 4..6: result := 2; END_CASE',
    "CASE count OF 'a': result := 1; END_CASE",
    'MESSAGE(1);',
    'result := ABS(TRUE);',
  ];
  for (const text of bad) t.same([...new Set(action(text))], ['type'], text);
});

t.test('D-ST-02: an assigned name is declared by its first assignment in document order', async (t) => {
  t.same(action('n := 1; n := n + 1; result := n;'), []);
  t.same(action('result := m;'), ['unknown-name']);
  t.same(
    codes({ steps: [{ name: 'a', initial: true, actionST: 'result := later;' }], charts: { stopping: { steps: [{ name: 'x', actionST: 'later := 2.5;' }] } } }),
    [],
    'all charts of the phase share their names',
  );
  t.same(codes({ variables: [{ name: 'n', type: 'BOOL' }], steps: [{ name: 'a', actionST: 'n := 1;' }] }), ['type', 'warning unused-variable'].toSorted());
  t.same(action('Amount2 := 1.0; result := AMOUNT2;'), [], 'without regard to case');
  t.same(action('ABS := 1;'), ['duplicate-name']);
});

t.test('names of JavaScript are names like any other', async (t) => {
  for (const name of AWKWARD_NAMES) {
    t.same(action(`${name} := 1.0; result := ${name};`), [], name);
    t.same(action(`result := ${name};`), ['unknown-name'], name);
    t.same(action(`${name}(1);`), ['unknown-function'], name);
    t.same(action(`result := ${name}.T / T#1s;`), ['unknown-name'], name);
    t.same(action(`WRITE('v.${name}', 1);`), ['unknown-tag'], name);
  }
});

t.test('D-ST-01: steps of the same chart have .T and .X', async (t) => {
  t.same(condition('ONE.t > T#5s AND NOT two.X'), []);
  t.same(condition('three.T > T#5s'), ['unknown-name']);
  t.same(condition('one.Q'), ['unknown-name']);
});

t.test('SFC-01 SFC-03: builtins are known with their arguments', async (t) => {
  t.same(action('FOO(1);'), ['unknown-function']);
  t.same(action("AI('x', 1, 2, 3, 4);"), ['unknown-function']);
  t.same(action("WRITE('v.cmd');"), ['argument-count']);
  t.same(action('WRITE(value := TRUE);').includes('argument-count'), true);
  t.same(action("read('v.sp'); Message('a', 'Warning'); COMMAND('self', 'Hold', 'why'); MODE('v', 'Manual'); CALL_SERVICE('io', 'o', 'm', 1, TRUE);"), []);
  t.same(action("MTP_COMMAND('io/s', 'Start', procedure := 2); IF MTP_COMMAND_ENABLED('io/s', 'Hold') AND MTP_STATE('io/s') = 'Idle' THEN RETURN; END_IF"), []);
  for (const text of ["MESSAGE('a', 'Loud');", "MODE('v', 'Auto');", "COMMAND('self', 'Go');", "MTP_COMMAND('io/s', 'Go');", "MTP_COMMAND('io/s', 'Hold', procedure := 2);"])
    t.same(action(text), ['enum'], text);
});

t.test('SFC-04: WAIT and WaitSeconds are deprecated', async (t) => {
  t.same(action('WAIT(T#1s); WaitSeconds(2);'), ['warning deprecated', 'warning deprecated']);
});

t.test('SFC-05 SFC-06 SFC-07: prompts have their results and their bounds', async (t) => {
  t.same(condition("a = 'Acknowledged' AND (c = 'x' OR c = 'y') AND n > 1.5", "a := PROMPT('t'); c := PROMPT_CHOICE('t', 'x', 'y'); n := PROMPT_VALUE('t', 0, 10, 'kg');"), []);
  t.same(action("n := PROMPT_VALUE('t', 5, 1, 'kg'); result := n;"), ['bounds']);
  t.same(action("n := PROMPT_VALUE('t'); result := n;"), ['argument-count']);
  t.same(action("c := PROMPT_CHOICE('t', 'x'); MESSAGE(c);"), ['argument-count']);
  t.same(action("c := PROMPT_CHOICE('t', 'x', 'x'); MESSAGE(c);"), ['enum']);
  t.same(action("result := PROMPT('t');"), ['type']);
});

t.test('SFC-09 SFC-10: AWAIT_RESULT needs a time-out and no edge-local chart', async (t) => {
  const text = "result := AWAIT_RESULT('ph', 0, 14, 'pH');";
  t.same(action(text), ['await-timeout']);
  t.same(action(text, { timeout: '30m' }), []);
  t.same(action(text, { timeout: 'soon' }), ['await-timeout', 'parse']);
  const holding = { steps: [{ name: 'h', actionST: text, timeout: '1m' }] };
  t.same(codes({ charts: { holding } }), ['await-edge-local']);
  t.same(codes({ charts: { holding }, edgeLocalHold: false }), []);
  t.same(codes({ charts: { holding: { steps: [{ name: 'h', actionST: "a := PROMPT('x'); MESSAGE(a);" }] } } }), ['warning edge-local']);
});

t.test('SFC-11: an answer is captured and every outgoing transition tests it', async (t) => {
  t.same(action("PROMPT('t');"), ['prompt-not-captured']);
  t.same(action("result := 1.0 + PROMPT_VALUE('t', 0, 1, '');"), ['prompt-not-captured']);
  const ask = "a := PROMPT('t');";
  t.same(condition("a = 'Acknowledged'", ask), []);
  t.same(condition('', `${ask} MESSAGE(a);`), ['prompt-not-tested']);
  t.same(condition('TRUE', `${ask} MESSAGE(a);`), ['prompt-not-tested', 'warning literal-true']);
  t.same(condition('count > 1', `${ask} MESSAGE(a);`), ['prompt-not-tested']);
  const found = checkPhaseCharts(
    { ...BASE, steps: [{ name: 'one', initial: true, actionST: `${ask} MESSAGE(a);` }, { name: 'two' }], transitions: [{ from: 'one', to: 'two' }] },
    ENVIRONMENT,
  );
  t.match(found, [{ chart: 'running', step: 'one', transition: 0, line: 1 }]);
});

t.test('SFC-12 SFC-13: a literal WRITE is checked against the tag of the role', async (t) => {
  t.same(action("WRITE('v.state', 'Open');"), ['read-only-tag']);
  t.same(action("WRITE('v.sp', 101);"), ['range']);
  t.same(action("WRITE('v.sp', -0.5);"), ['range']);
  t.same(action("WRITE('V.SP', 100);"), []);
  t.same(action("WRITE('v.cmd', 1);"), ['type']);
  t.same(action("WRITE('v.nothing', 1);"), ['unknown-tag']);
  t.same(action("WRITE('nonsense', 1);"), ['unknown-tag']);
  t.same(action("WRITE('signal:x', TRUE);"), ['read-only-tag']);
  t.same(action("WRITE('other.sp', 1); WRITE('other.sp', 2); WRITE('module.sp', 1);"), ['warning tag-unresolved', 'warning tag-unresolved'], 'once per address');
  t.same(action("WRITE('io-1:ch', 1); result := READ('barrier:b');"), []);
});

t.test('SFC-16: words compared with a device state are its words', async (t) => {
  t.same(condition("READ('v.state') = 'Open' OR 'Closed' <> READ('v.state')"), []);
  t.same(condition("READ('v.state') = 'open'"), ['state-word']);
  t.same(action("CASE READ('v.state') OF 'Ajar': RETURN; END_CASE"), ['state-word']);
  t.same(condition("READ('v.mood') = 'Good'"), ['warning state-word-unresolved']);
  t.same(
    condition("READ('other.state') = 'Open'").filter((code) => !code.startsWith('warning')),
    [],
  );
  t.ok(condition("READ('other.state') = 'Open'").includes('warning state-word-unresolved'));
});

t.test('SFC-17: the shape of a chart is checked', async (t) => {
  const step = (name: string, initial = false) => ({ name, initial });
  const way = (from: string, to: string) => ({ from, to });
  const rows: [string[], PhaseText][] = [
    [[], {}],
    [[], { steps: [step('a'), step('b', true)].slice(0, 1) }],
    [['duplicate-step'], { steps: [step('a', true), step('A')] }],
    [['no-initial'], { steps: [step('a'), step('b')], transitions: [way('a', 'b')] }],
    [['several-initial'], { steps: [step('a', true), step('b', true)], transitions: [way('a', 'b')] }],
    [['unknown-step'], { steps: [step('a', true)], transitions: [way('a', 'x')] }],
    [['unknown-step'], { steps: [step('a', true), step('b')], transitions: [way('a', 'b'), way('y', 'b')] }],
    [['unreachable-step'], { steps: [step('a', true), step('b'), step('c')], transitions: [way('a', 'b')] }],
    [['warning no-exit'], { steps: [step('a', true), step('b')], transitions: [way('a', 'b'), way('b', 'a')] }],
    [['branch-count'], { steps: [step('a', true), step('b')], transitions: [way('a', 'd')], divergences: [{ name: 'd', type: 'SimultaneousDiverge', branches: ['b'] }] }],
    [
      ['duplicate-divergence'],
      {
        steps: [step('a', true), step('b'), step('c')],
        transitions: [way('a', 'b'), way('a', 'c')],
        divergences: [{ name: 'a', type: 'SelectionDiverge', branches: ['b', 'c'], from: 'a' }],
      },
    ],
    [['several-initial'], { steps: [step('a', true), step('b'), step('c')], divergences: [{ name: 'd', type: 'SimultaneousDiverge', branches: ['b', 'c'] }] }],
    [['unknown-step'], { restartStep: 'gone', steps: [step('a', true)] }],
    [['enum'], { steps: [{ ...step('a', true), onTimeout: 'Explode' as 'Hold' }] }],
  ];
  for (const [wanted, spec] of rows) t.same(codes(spec), wanted, JSON.stringify(spec));
  const parallel: PhaseText = {
    steps: [step('start', true), step('b'), step('c'), step('end')],
    transitions: [way('start', 'd'), way('j', 'end')],
    divergences: [
      { name: 'd', type: 'SimultaneousDiverge', branches: ['b', 'c'] },
      { name: 'j', type: 'SimultaneousConverge', branches: ['b', 'c'] },
    ],
  };
  t.same(codes(parallel), []);
  t.same(codes({ ...parallel, transitions: [...(parallel.transitions ?? []), way('d', 'end')] }), ['diverge-direction']);
  t.same(codes({ ...parallel, transitions: [...(parallel.transitions ?? []), way('b', 'j')] }), ['diverge-direction']);
  t.same(
    codes({ ...parallel, steps: (parallel.steps ?? []).map(({ name }) => step(name)), transitions: [way('j', 'end')] }),
    ['unreachable-step'],
    'an entry divergence needs no initial step, but start is then left over',
  );
});

t.test('SFC-11: behind a converge the answer must be tested too', async (t) => {
  const chart = (conditionST: string): PhaseText => ({
    steps: [{ name: 'ask', actionST: "a := PROMPT('x');" }, { name: 'b' }, { name: 'end' }],
    transitions: [{ from: 'j', to: 'end', conditionST }],
    divergences: [
      { name: 'd', type: 'SimultaneousDiverge', branches: ['ask', 'b'] },
      { name: 'j', type: 'SimultaneousConverge', branches: ['ask', 'b'] },
    ],
  });
  t.same(codes(chart("a = 'Acknowledged'")), []);
  t.ok(codes(chart('b.T > T#1s')).includes('prompt-not-tested'));
});

t.test('D-ST-04: a cyclic action must not suspend', async (t) => {
  t.same(action("a := PROMPT('x'); MESSAGE(a);", { actionMode: 'cyclic' }), ['prompt-cyclic']);
  t.same(action('WAIT(T#1s);', { actionMode: 'cyclic' }), ['prompt-cyclic', 'warning deprecated']);
  t.same(action("result := READ('v.sp');", { actionMode: 'cyclic' }), []);
});

t.test('conditions warn of effects and of the literal TRUE', async (t) => {
  t.same(condition("WRITE('v.cmd', TRUE)"), ['warning side-effect-in-condition']);
  t.same(condition('TRUE'), ['warning literal-true']);
  t.same(condition('count'), ['type']);
  t.same(action('EXIT;'), ['warning exit-outside-loop']);
  t.same(action('x := 1;'), ['warning unused-variable']);
});

t.test('PROC: parameters, outputs and variables share one space of names', async (t) => {
  t.same(codes({ variables: [{ name: 'AMOUNT', type: 'BOOL' }] }), ['duplicate-name']);
  t.same(codes({ outputs: [{ name: 'if', type: 'BOOL' }] }), ['duplicate-name']);
  t.same(codes({ outputs: [{ name: 'read', type: 'BOOL' }] }), ['duplicate-name']);
  t.same(codes({ parameters: [{ name: 'p', type: 'INT', defaultValue: '1.5' }] }), ['type']);
  t.same(codes({ parameters: [{ name: 'p', min: '5', max: '1' }] }), ['bounds']);
  t.same(codes({ materials: [{ material: 'who', quantity: 'result' }] }), []);
  t.same(codes({ materials: [{ material: 'amount', quantity: 'who' }] }), ['binding', 'binding']);
});

t.test('SFC-17: all messages of all charts come at once, with their place', async (t) => {
  const found = checkPhaseCharts(
    {
      steps: [{ name: 'a', initial: true, actionST: 'x := ;\ny := 1 +;' }, { name: 'b' }],
      transitions: [{ from: 'a', to: 'b', conditionST: 'unknown > 1' }],
      charts: { aborting: { steps: [{ name: 'z', actionST: 'FOO();' }], transitions: [{ from: 'z', to: 'nowhere' }] } },
    },
    ENVIRONMENT,
  );
  t.match(
    found.map(({ chart, step, transition, code, line }) => [chart, step ?? transition, code, line]),
    [
      ['running', 'a', 'parse', 1],
      ['running', 'a', 'parse', 2],
      ['running', 0, 'unknown-name', 1],
      ['aborting', 0, 'unknown-step', 1],
      ['aborting', undefined, 'no-initial', 1],
      ['aborting', 'z', 'unknown-function', 1],
    ],
  );
});

// ---------------------------------------------------------------- procedural charts

const PHASE = {
  parameters: [
    { name: 'amount', type: 'REAL', required: true },
    { name: 'text', type: 'STRING', defaultValue: 'x' },
  ],
  outputs: [{ name: 'done', type: 'REAL' }],
  roles: ['inlet'],
} as const;

function procedural(chart: ProceduralChart, level: ChartLevel = 'Operation', environment: Partial<ProceduralEnvironment> = {}): string[] {
  const template = (kind: TemplateKind, name: string) => (name === 'gone' ? null : kind === 'PhaseTemplate' ? PHASE : { parameters: [], outputs: [] });
  return checkProceduralChart(chart, level, {
    parameters: [
      { name: 'total', type: 'REAL' },
      { name: 'label', type: 'STRING' },
    ],
    template,
    ...environment,
  })
    .map(({ severity, code }) => `${severity === 'error' ? '' : 'warning '}${code}`)
    .toSorted();
}

t.test('PROC: procedural charts are checked for levels and bindings', async (t) => {
  const phase = (extra: object = {}) =>
    ({ name: 'p', templateRef: 'charge', templateKind: 'PhaseTemplate', stepLevel: 'Phase', parameterBindings: [{ name: 'amount', from: 'total' }], ...extra }) as const;
  t.same(procedural({ steps: [phase()] }), []);
  t.same(procedural({ steps: [phase({ roleMap: { inlet: 'a' }, parameterBindings: [{ name: 'amount', value: '5.5' }] })] }), []);
  const bad: [string[], object][] = [
    [['level'], { stepLevel: 'Operation' }],
    [['level'], { templateKind: 'OperationTemplate', parameterBindings: [] }],
    [['level'], { targetCapability: 'x' }],
    [['binding'], { templateRef: 'gone' }],
    [['binding'], { templateRef: '' }],
    [['binding'], { parameterBindings: [] }],
    [['binding'], { parameterBindings: [{ name: 'amount', from: 'nothing' }] }],
    [
      ['binding'],
      {
        parameterBindings: [
          { name: 'amount', value: '1' },
          { name: 'other', value: '1' },
        ],
      },
    ],
    [['binding'], { parameterBindings: [{ name: 'amount' }] }],
    [['binding'], { roleMap: { outlet: 'x' } }],
    [['type'], { parameterBindings: [{ name: 'amount', value: 'much' }] }],
    [['type'], { parameterBindings: [{ name: 'amount', from: 'label' }] }],
    [
      ['duplicate-name'],
      {
        parameterBindings: [
          { name: 'amount', value: '1' },
          { name: 'Amount', value: '2' },
        ],
      },
    ],
  ];
  for (const [wanted, extra] of bad) t.same(procedural({ steps: [phase(extra)] }), wanted, JSON.stringify(extra));
  const chained = { steps: [phase(), phase({ name: 'q', parameterBindings: [{ name: 'amount', from: 'p.done' }] })] };
  t.same(procedural(chained), []);
  t.same(procedural({ steps: [phase(), phase({ name: 'q', parameterBindings: [{ name: 'amount', from: 'p.lost' }] })] }), ['binding']);
  t.same(
    procedural(chained, 'Operation', {
      outputs: [
        { name: 'o', type: 'REAL', from: 'q.done' },
        { name: 'w', type: 'REAL', from: 'q.lost' },
      ],
    }),
    ['binding'],
  );
  t.same(
    procedural(
      { steps: [{ name: 'u', stepLevel: 'UnitProcedure', targetCapability: 'mix', subChart: { steps: [{ name: 'o', stepLevel: 'Operation', subChart: { steps: [phase()] } }] } }] },
      'Recipe',
    ),
    [],
  );
  t.same(procedural({ steps: [{ name: 'u', stepLevel: 'UnitProcedure', subChart: { steps: [phase()] } }] }, 'Procedure'), ['level', 'level']);
  t.same(procedural({ steps: [{ name: 'all', templateRef: 'x', templateKind: 'ProcedureTemplate' }] }, 'Recipe'), []);
});

t.test('PROC: conditions of procedural charts read parameters, steps and signals only', async (t) => {
  const chart = (conditionST: string): ProceduralChart => ({
    steps: [
      { name: 'p', initial: true, templateRef: 'charge', templateKind: 'PhaseTemplate', stepLevel: 'Phase', parameterBindings: [{ name: 'amount', value: '1' }] },
      { name: 'q', templateRef: 'charge', templateKind: 'PhaseTemplate', stepLevel: 'Phase', parameterBindings: [{ name: 'amount', value: '1' }] },
    ],
    transitions: [{ from: 'p', to: 'q', conditionST }],
  });
  t.same(procedural(chart("total > p.done AND p.T > T#1s AND p.X AND READ('signal:' + label)")), []);
  t.same(procedural(chart("READ('signal:go')")), []);
  t.same(procedural(chart("READ('v.state') = 'Open'")), ['unknown-tag']);
  t.same(procedural(chart("WRITE('v.cmd', TRUE)")), ['unknown-function']);
  t.same(procedural(chart('p.lost > 1')), ['unknown-name']);
});

t.test('every chart of the demonstration plant is free of errors', async (t) => {
  const load = (file: string): { kind: TemplateKind; metadata: { name: string }; spec: PhaseText & { chart: ProceduralChart; parameters: []; outputs?: [] } }[] =>
    JSON.parse(readFileSync(new URL(`../../../demo/${file}.json`, import.meta.url), 'utf8'));
  const phases = load('60-phase-templates');
  const procedures = load('70-procedure-templates');
  for (const { metadata, spec } of phases)
    t.same(
      checkPhaseCharts(spec, ENVIRONMENT).filter(({ code }) => !code.endsWith('unresolved')),
      [],
      metadata.name,
    );
  const template: ProceduralEnvironment['template'] = (kind, name) => {
    const found = [...phases, ...procedures].find((document) => document.kind === kind && document.metadata.name === name)?.spec;
    return found ? { parameters: found.parameters ?? [], outputs: found.outputs ?? [], roles: (found.roles ?? []).map((role) => role.name) } : null;
  };
  for (const { kind, metadata, spec } of procedures)
    t.same(checkProceduralChart(spec.chart, kind.replace('Template', '') as ChartLevel, { parameters: spec.parameters, outputs: spec.outputs, template }), [], metadata.name);
});

t.test('Decisions 2.1, 2.4: a write that the holding chart takes back and Restart does not repeat is warned of', async (t) => {
  const roles = [{ name: 'outlet', requiredType: 'valve', required: true }];
  const steps = (more: object = {}) => [{ name: 'open', initial: true, actionST: "WRITE('outlet.cmd', TRUE);", ...more }, { name: 'done' }];
  const transitions = [{ from: 'open', to: 'done', conditionST: "READ('outlet.opened')" }];
  const shut = { steps: [{ name: 'shut', actionST: "WRITE('OUTLET.CMD', FALSE);" }] };
  const warned = (spec: object) => codes({ roles, transitions, ...spec }).filter((code) => code.includes('write-not-repeated'));
  t.same(warned({ steps: steps(), charts: { holding: shut } }), ['warning write-not-repeated']);
  t.same(warned({ steps: steps({ rerunOnRestart: true }), charts: { holding: shut } }), []);
  t.same(warned({ steps: steps({ actionMode: 'cyclic' }), charts: { holding: shut } }), []);
  t.same(warned({ steps: steps(), restartStep: 'open', charts: { holding: shut } }), []);
  t.same(warned({ steps: steps(), charts: { holding: shut, restarting: { steps: [{ name: 'again', actionST: "WRITE('outlet.cmd', TRUE);" }] } } }), []);
  t.same(warned({ steps: steps(), charts: { holding: { steps: [{ name: 'keep', actionST: "WRITE('outlet.cmd', TRUE);" }] } } }), [], 'the same value takes nothing back');
  t.same(warned({ steps: steps(), charts: { stopping: shut } }), [], 'who is stopped does not come back');
});

t.test('Decisions 2.1, 2.4: rerunOnRestart does not cure the write of an earlier step for a phase that is held in a later one', async (t) => {
  const roles = ['outlet', 'pump'].map((name) => ({ name, requiredType: 'valve', required: true }));
  const holding = { steps: [{ name: 'shut', actionST: "WRITE('pump.cmd', FALSE); WRITE('outlet.cmd', FALSE);" }] };
  const again = (tag: string) => ({ steps: [{ name: 'again', actionST: `WRITE('${tag}.cmd', TRUE);` }] });
  const step = (name: string, actionST = '', more: object = { rerunOnRestart: true }) => ({ name, actionST, ...more });
  const open = { ...step('open', "WRITE('outlet.cmd', TRUE);"), initial: true };
  type Step = { readonly name: string } & Readonly<Record<string, unknown>>;
  const warned = (steps: readonly Step[], more: object = {}): string[] => {
    const transitions = steps.slice(1).map(({ name }, at) => ({ from: steps[at]?.name, to: name, conditionST: 'TRUE' }));
    return checkPhaseCharts({ roles, steps, transitions, charts: { holding }, ...more } as PhaseText, ENVIRONMENT)
      .filter(({ code }) => code === 'write-not-repeated')
      .map(({ message }) => message);
  };
  const run = step('run', "WRITE('pump.cmd', TRUE);");
  const found = warned([open, run, step('done')]);
  t.equal(found.length, 1, 'the pump is written by the step in which it runs');
  t.match(found, [
    /outlet\.cmd in step open, .*held in a later step, such as run: write outlet\.cmd in the restarting chart; rerunOnRestart repeats it only while step open is active$/,
  ]);
  t.same(warned([open, run, step('done')], { charts: { holding, restarting: again('outlet') } }), []);
  t.match(warned([open, run, step('done')], { charts: { holding, restarting: again('pump') } }), [/outlet/]);
  t.same(warned([open, run, step('done')], { restartStep: 'open' }), []);
  t.match(warned([{ ...open, rerunOnRestart: false, actionMode: 'cyclic' }, run, step('done')]), [/a cyclic action repeats it only while step open is active/]);
  t.match(warned([{ ...open, rerunOnRestart: false }, run, step('done')]), [/does not repeat it: write outlet\.cmd in the restarting chart$/], 'no advice that does not cure it');
  t.match(warned([{ ...open, rerunOnRestart: false }, step('done')]), [/write outlet\.cmd in the restarting chart, or set rerunOnRestart on the step$/]);
  t.same(warned([open, step('shut', "WRITE('Outlet.Cmd', FALSE);"), step('wait'), step('done')]), [], 'a step behind the one that closes it');
  t.same(warned([open, step('done', "ok := READ('outlet.opened');")]), [], 'a last step that waits for nobody');
  t.equal(warned([open, step('done', "ok := PROMPT('Seen?');")]).length, 1, 'one that asks somebody');
});

t.test('an answer of a prompt that no transition out of its step takes is warned of, with the option and what to do', async (t) => {
  const messages = (actionST: string, ...conditions: readonly string[]): string[] => {
    const transitions = conditions.map((conditionST) => ({ from: 'ask', to: 'done', conditionST }));
    const spec = { steps: [{ name: 'ask', initial: true, actionST }, { name: 'done' }], transitions };
    return checkPhaseCharts(spec, ENVIRONMENT)
      .filter(({ code }) => code === 'choice-leads-nowhere')
      .map(({ message }) => message);
  };
  const ask = "go := PROMPT_CHOICE('Go on?', 'Accept', 'Repeat', 'Discard');";
  t.match(messages(ask, "go = 'Accept'", "go = 'Repeat'"), [
    /^option 'Discard' of the prompt in step ask leads nowhere: no transition out of step ask .* go = 'Discard'.*Add a transition for it/,
  ]);
  t.equal(messages(ask, "go = 'accept'").length, 3, 'texts are compared letter by letter');
  t.same(messages(ask, "go = 'Accept'", "NOT (go = 'Accept')"), []);
  t.same(messages(ask, "GO = 'Accept' OR 'Repeat' = go", "go <> 'Accept' AND go <> 'Repeat'"), []);
  t.same(messages(ask, "go <> 'Discard'", "READ('inlet.opened') AND go = 'Discard'"), [], 'what something else decides is a way on');
  t.equal(messages(ask, "go <> 'Discard'", "READ('inlet.opened') AND go = 'discard'").length, 1, 'whatever that is');
  t.equal(messages(ask, "go = 'Accept' XOR go = 'Repeat'").length, 1);
  t.same(messages(`${ask} IF go = 'Discard' THEN go := 'Repeat'; END_IF;`, "go = 'Accept'", "go = 'Repeat'"), [], 'the step gives it another value');
  t.same(messages("go := PROMPT_CHOICE('Go on?', 'Yes', note);", "go = 'Yes'"), [], 'an option that is computed is not known');
  t.match(messages("done := PROMPT('Cleaned?');", "done = 'yes'"), [/PROMPT always answers 'Acknowledged'.*or ask with PROMPT_CHOICE/]);
  t.same(messages("done := PROMPT('Cleaned?');", "done = 'Acknowledged'"), []);
  t.same(messages("done := PROMPT('Cleaned?');", "done <> ''"), []);
  t.same(messages(ask), [], 'a step without a transition is the end');
});
