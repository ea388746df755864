/** SFC-03, MTP-02: what an action asks of the gateway, in every place that an expression has: each call once, in the order of the text, and only where it counts. */
import t from 'tap';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { basicPlan, once, Plant } from './plant.js';

/** What the gateway answers, by the last argument of the call. */
type Answers = Readonly<Record<string, Value>>;

/** Runs an action to its end; every request is answered in the scan after it. */
function asked(actionST: string, answers: Answers): { readonly calls: readonly string[]; readonly state: string; readonly failure: string } {
  const plant = new Plant();
  plant.phases.load(basicPlan('p', once(actionST)));
  plant.command('p', 'Start');
  let answered = 0;
  for (let scan = 0; scan < 60 && !['Complete', 'Held'].includes(plant.state('p')); scan += 1) {
    plant.scan();
    const requests = plant.all('request');
    for (const { id, args } of requests.slice(answered)) {
      const value = answers[String(args.at(-1))];
      plant.phases.requestResult({ type: 'request-result', id, ok: true, ...(value === undefined ? {} : { value }) });
    }
    answered = requests.length;
  }
  return {
    calls: plant.all('request').map(({ builtin, args }) => `${builtin.replace('MTP_', '')} ${String(args.at(-1))}`),
    state: plant.state('p'),
    failure: plant.view('p').checkpoint.failure?.message ?? '',
  };
}

const ENABLED = (command: string): string => `MTP_COMMAND_ENABLED('m/s', '${command}')`;
const [A, B, C] = [ENABLED('Hold'), ENABLED('Pause'), ENABLED('Stop')];
const GIVES = "MTP_COMMAND('m/s', 'Abort');";
const given = (...calls: readonly string[]): readonly string[] => [...calls.map((call) => `COMMAND_ENABLED ${call}`), 'COMMAND Abort'];
const notGiven = (...calls: readonly string[]): readonly string[] => calls.map((call) => `COMMAND_ENABLED ${call}`);

const YES = true;
const NO = false;

/** Condition, what is enabled (Hold, Pause, Stop), what is asked. */
const CONDITIONS: readonly (readonly [string, readonly [Value, Value, Value], readonly string[]])[] = [
  [`${A} AND NOT ${B}`, [YES, NO, NO], given('Hold', 'Pause')],
  [`${A} AND NOT ${B}`, [YES, YES, NO], notGiven('Hold', 'Pause')],
  [`${A} AND NOT ${B}`, [NO, NO, NO], notGiven('Hold')],
  [`NOT ${A} AND ${B}`, [NO, YES, NO], given('Hold', 'Pause')],
  [`NOT (${A} AND ${B})`, [YES, NO, NO], given('Hold', 'Pause')],
  [`${A} OR ${B}`, [YES, NO, NO], given('Hold')],
  [`${A} OR ${B}`, [NO, YES, NO], given('Hold', 'Pause')],
  [`${A} OR NOT ${B}`, [NO, NO, NO], given('Hold', 'Pause')],
  [`${A} AND ${B} AND ${C}`, [YES, YES, YES], given('Hold', 'Pause', 'Stop')],
  [`${A} AND ${B} OR ${C}`, [YES, NO, YES], given('Hold', 'Pause', 'Stop')],
  [`${A} OR ${B} AND ${C}`, [NO, YES, YES], given('Hold', 'Pause', 'Stop')],
  [`(${A} OR ${B}) AND NOT ${C}`, [NO, YES, NO], given('Hold', 'Pause', 'Stop')],
  [`${A} XOR ${B}`, [YES, NO, NO], given('Hold', 'Pause')],
  [`${A} XOR NOT ${B}`, [YES, YES, NO], given('Hold', 'Pause')],
  [`NOT ${A} XOR ${B}`, [NO, NO, NO], given('Hold', 'Pause')],
  [`${A} = ${B}`, [NO, NO, NO], given('Hold', 'Pause')],
  [`${A} <> ${B}`, [YES, NO, NO], given('Hold', 'Pause')],
  [`(${A} AND ${B}) = (${C} OR ${A})`, [YES, YES, NO], given('Hold', 'Pause', 'Stop', 'Hold')],
  [`n = 1 AND ${A} AND n = 1 AND NOT ${B}`, [YES, NO, NO], given('Hold', 'Pause')],
  [`n = 2 AND ${A}`, [YES, NO, NO], []],
  [`n = 1 OR ${A}`, [NO, NO, NO], given()],
];

t.test('SFC-03 MTP-02: several calls that wait, in one condition of an action: each is asked once, in its order, and only where it counts', async (t) => {
  for (const [condition, [Hold, Pause, Stop], calls] of CONDITIONS) {
    const answers = { Hold, Pause, Stop, Abort: YES };
    for (const [kind, text] of [
      ['IF', `n := 1;\nIF ${condition} THEN\n${GIVES}\nEND_IF;`],
      ['ELSIF', `n := 1;\nIF n = 7 THEN\nn := 8;\nELSIF ${condition} THEN\n${GIVES}\nELSE\nn := 9;\nEND_IF;`],
      ['IF of an IF', `n := 1;\nIF n = 1 THEN\nIF ${condition} THEN\n${GIVES}\nEND_IF;\nEND_IF;`],
      ['assignment', `n := 1;\nok := ${condition};\nIF ok THEN\n${GIVES}\nEND_IF;`],
      ['WHILE', `n := 1;\nWHILE ${condition} DO\n${GIVES}\nEXIT;\nEND_WHILE;`],
      ['FOR', `n := 1;\nFOR i := 1 TO 1 DO\nIF ${condition} THEN\n${GIVES}\nEND_IF;\nEND_FOR;`],
      ['CASE', `n := 1;\nCASE n OF\n1: IF ${condition} THEN\n${GIVES}\nEND_IF;\nEND_CASE;`],
    ] as const)
      t.same(asked(text, answers), { calls, state: 'Complete', failure: '' }, `${kind} ${condition} of ${[Hold, Pause, Stop].join(', ')}`);
    const isMet = calls.at(-1) === 'COMMAND Abort';
    const until = `n := 1;\nREPEAT\nn := n + 0;\nUNTIL ${isMet ? condition : `NOT (${condition})`} END_REPEAT;`;
    t.same(
      asked(until, answers).calls,
      calls.filter((call) => call !== 'COMMAND Abort'),
      `UNTIL ${condition}`,
    );
  }
});

t.test('SFC-03 MTP-02: what waits is asked in the order of the text wherever an expression stands, and its answer is used once', async (t) => {
  const answers = { Idle: 'Idle', 'm/a': 'Execute', 'm/b': 'Execute', go: true, Auto: true, Hold: YES, x: 2.5, y: 4 };
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['arguments of a call', "v := CALL_SERVICE('o', MTP_STATE('m/a'), MTP_STATE('m/b'), 'x');", ['STATE m/a', 'STATE m/b', 'CALL_SERVICE x']],
    ['a call within a call', "v := ABS(CALL_SERVICE('o', 'i', 'x')) + ABS(CALL_SERVICE('o', 'i', 'y'));", ['CALL_SERVICE x', 'CALL_SERVICE y']],
    ['a sum', "v := 1 + CALL_SERVICE('o', 'i', 'x') * 2 - CALL_SERVICE('o', 'i', 'y');", ['CALL_SERVICE x', 'CALL_SERVICE y']],
    ['a text', "MESSAGE('is ' + MTP_STATE('m/a') + ' and ' + MTP_STATE('m/b'));", ['STATE m/a', 'STATE m/b']],
    ['a comparison of two', "ok := MTP_STATE('m/a') = MTP_STATE('m/b');", ['STATE m/a', 'STATE m/b']],
    ['the selector of a CASE', `CASE MTP_STATE('m/a') OF\n'Execute': IF ${A} THEN\nok := TRUE;\nEND_IF;\n'Idle': ok := FALSE;\nEND_CASE;`, ['STATE m/a', 'COMMAND_ENABLED Hold']],
    ['COMMAND and MODE', "IF COMMAND('root', 'Hold', 'go') AND MODE('v', 'Auto') THEN\nok := TRUE;\nEND_IF;", ['COMMAND go', 'MODE Auto']],
    ['a wait before', `IF WAIT(T#200ms) AND ${A} THEN\nok := TRUE;\nEND_IF;`, ['COMMAND_ENABLED Hold']],
    ['a wait behind', `IF ${A} AND WAITSECONDS(0.2) AND MTP_STATE('m/b') = 'Execute' THEN\nok := TRUE;\nEND_IF;`, ['COMMAND_ENABLED Hold', 'STATE m/b']],
  ];
  for (const [what, text, calls] of rows) t.same(asked(text, answers), { calls, state: 'Complete', failure: '' }, what);
});

t.test('SFC-02: a condition that is TRUE leaves a step whose action still waits; without a condition the action is waited for', async (t) => {
  const action = `IF ${A} AND NOT ${B} THEN\n${GIVES}\nEND_IF;`;
  const left = (conditionST?: string) => {
    const plant = new Plant();
    plant.phases.load(
      basicPlan('p', {
        steps: [{ name: 'a', initial: true, actionST: action }, { name: 'b' }],
        transitions: [{ from: 'a', to: 'b', ...(conditionST === undefined ? {} : { conditionST }) }],
      }),
    );
    plant.command('p', 'Start');
    for (let scan = 0, answered = 0; scan < 20; scan += 1) {
      plant.scan();
      const requests = plant.all('request');
      for (const { id, args } of requests.slice(answered)) plant.phases.requestResult({ type: 'request-result', id, ok: true, value: args.at(-1) !== 'Pause' });
      answered = requests.length;
    }
    return plant;
  };
  t.equal(left().all('request').length, 3, 'the command is given');
  t.equal(left('TRUE').all('request').length, 1, 'what the action would have asked next is not asked any more (decisions 2.4)');
});

/** A phase that has asked for a command, and what it hears of it. */
function commanding(more: { readonly holding?: string } = {}) {
  const plant = new Plant();
  const plan = basicPlan('p', once("n := n + 1;\nMTP_COMMAND('m/s', 'Start');"));
  plant.phases.load({ ...plan, variables: [{ name: 'n', type: 'INT', initial: '0' }], charts: { ...plan.charts, ...(more.holding ? { holding: once(more.holding) } : {}) } });
  plant.command('p', 'Start');
  plant.scan(2);
  const last = () => plant.all('request').at(-1) as Extract<ReturnType<typeof plant.all<'request'>>[number], { type: 'request' }>;
  const answer = (result: { readonly ok: boolean; readonly rule?: string; readonly message?: string; readonly value?: Value }): void =>
    plant.phases.requestResult({ type: 'request-result', id: last().id, ...result });
  return { plant, last, answer, givenUp: () => plant.all('request-given-up').map(({ id }) => id) };
}

t.test('MTP-02: a request bears when the chart asked, and is given up when the chart waits no more', async (t) => {
  const { plant, last, givenUp } = commanding();
  t.equal(last().atMonoMs, plant.timeMs - 100, 'from when on its ten seconds count');
  t.same(givenUp(), []);
  plant.scan(105);
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'mtp-command-timeout' } });
  t.same(givenUp(), [last().id], 'ten seconds are over');
  for (const command of ['Stop', 'Abort'] as const) {
    const other = commanding();
    other.plant.command('p', command);
    other.plant.scan(2);
    t.same(other.givenUp(), [other.last().id], command);
  }
  const answered = commanding();
  answered.answer({ ok: true, value: true });
  answered.plant.scan(2);
  t.same(answered.givenUp(), [], 'nothing is given up that was answered');
});

t.test('MTP-02: a hold gives a command up that has not gone out; after Restart the action gives it anew; one that was accepted is not repeated', async (t) => {
  const { plant, last, answer, givenUp } = commanding({ holding: "MTP_COMMAND('m/s', 'Hold');" });
  const [first] = [last().id];
  plant.command('p', 'Hold');
  plant.scan();
  t.same(givenUp(), [first]);
  const [up, asked] = plant.sent.filter(({ type }) => type === 'request-given-up' || type === 'request').slice(-2);
  t.match([up, asked], [{ type: 'request-given-up' }, { type: 'request', args: ['m/s', 'Hold'] }], 'before the holding chart commands the same service');
  plant.phases.requestResult({ type: 'request-result', id: first, ok: false, rule: 'mtp-command-withdrawn', message: 'it was not written' });
  answer({ ok: true, value: true });
  t.ok(plant.until('p', ['Held'], 10));
  plant.command('p', 'Restart');
  t.ok(plant.until('p', ['Running'], 10));
  plant.scan(2);
  t.match(last(), { args: ['m/s', 'Start'] });
  t.not(last().id, first);
  answer({ ok: true, value: true });
  t.ok(plant.until('p', ['Complete'], 10));

  const accepted = commanding();
  accepted.plant.command('p', 'Hold');
  accepted.plant.scan();
  accepted.answer({ ok: true, value: true });
  t.ok(accepted.plant.until('p', ['Held'], 10));
  accepted.plant.command('p', 'Restart');
  t.ok(accepted.plant.until('p', ['Complete'], 10));
  t.equal(accepted.plant.all('request').length, 1, 'it had gone out: a hold cancels no wait (decisions 3.1)');
});
