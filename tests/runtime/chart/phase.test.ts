import t from 'tap';
import { basicPlan, once, Plant, reloaded, SCAN_MS } from './plant.js';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import type { PhasePlan, RuntimeSettings } from '../../../runtime/port.js';
import { at } from '../../support/at.js';

function started(running: Chart, rest: Partial<PhasePlan> = {}, prepare: (plant: Plant) => void = () => {}, settings: Partial<RuntimeSettings> = {}): Plant {
  const plant = new Plant(settings);
  prepare(plant);
  plant.phases.load(basicPlan('p', running, rest));
  plant.command('p', 'Start');
  plant.scan();
  return plant;
}

/** Steps a, b, c, ... in a row with the given conditions between them. */
function row(actions: readonly string[], conditions: readonly string[], more: Partial<NonNullable<Chart['steps']>[number]> = {}): Chart {
  const name = (index: number) => String.fromCharCode(97 + index);
  return {
    steps: actions.map((actionST, index) => ({ name: name(index), actionST, ...(index === 0 ? { initial: true, ...more } : {}) })),
    transitions: conditions.map((conditionST, index) => ({ from: name(index), to: name(index + 1), conditionST })),
  };
}

t.test('SFC-02: one firing per step and scan, the lowest-index true transition wins, T grows from the scan after activation', async (t) => {
  const chart: Chart = {
    steps: [{ name: 'a', initial: true }, { name: 'b' }, { name: 'c' }, { name: 'd' }],
    transitions: [
      { from: 'a', to: 'c', conditionST: 'FALSE' },
      { from: 'a', to: 'b', conditionST: 'TRUE' },
      { from: 'a', to: 'c', conditionST: 'TRUE' },
      { from: 'b', to: 'd', conditionST: 'b.T >= T#200ms' },
    ],
  };
  const plant = started(chart);
  t.strictSame(plant.view('p').sfc.activeSteps, ['a'], 'scan 1 activates');
  plant.scan();
  t.strictSame(plant.view('p').sfc.activeSteps, ['b'], 'scan 2 fires one transition only');
  t.strictSame(plant.view('p').sfc.firedTransitions, ['a->b#1'], 'PHASE-03: the key names from, to and index');
  plant.scan(2);
  t.equal(at(plant.view('p').checkpoint.running.steps, 0).elapsedMs, 2 * SCAN_MS);
  t.strictSame(plant.view('p').sfc.activeSteps, ['b']);
  plant.scan();
  t.equal(plant.state('p'), 'Complete');
  t.strictSame(plant.view('p').sfc.completedSteps, ['a', 'b']);
});

t.test('SFC-01: simultaneous divergences nest; a converge waits for every branch to be finished', async (t) => {
  const chart: Chart = {
    steps: ['s', 'a', 'b', 'b1', 'b2', 'b3', 'z'].map((name) => ({ name, initial: name === 's', actionST: name === 'b1' ? 'WAIT(T#300ms);' : `n := 1;` })),
    transitions: [
      { from: 's', to: 'fork' },
      { from: 'b', to: 'inner' },
      { from: 'innerEnd', to: 'b3' },
      { from: 'join', to: 'z', conditionST: 'TRUE' },
    ],
    divergences: [
      { name: 'fork', type: 'SimultaneousDiverge', branches: ['a', 'b'] },
      { name: 'inner', type: 'SimultaneousDiverge', branches: ['b1', 'b2'] },
      { name: 'innerEnd', type: 'SimultaneousConverge', branches: ['b1', 'b2'] },
      { name: 'join', type: 'SimultaneousConverge', branches: ['a', 'b3'] },
    ],
  };
  const plant = started(chart);
  plant.scan();
  t.strictSame(plant.view('p').sfc.activeSteps, ['a', 'b']);
  plant.scan();
  t.strictSame(plant.view('p').sfc.activeSteps, ['a', 'b1', 'b2']);
  t.strictSame(
    plant.view('p').sfc.transitionStates.map((state) => [state.index, state.met]),
    [
      [2, false],
      [3, false],
    ],
  );
  plant.scan(2);
  t.strictSame(plant.view('p').sfc.activeSteps, ['a', 'b1', 'b2'], 'b1 still waits');
  t.ok(plant.until('p', ['Complete'], 10));
  const open: Chart = {
    steps: [{ name: 'a', actionST: 'WAIT(T#200ms);' }, { name: 'b' }],
    transitions: [],
    divergences: [
      { name: 'f', type: 'SimultaneousDiverge', branches: ['a', 'b'] },
      { name: 'e', type: 'SimultaneousConverge', branches: ['a', 'b'] },
    ],
  };
  const entry = started(open);
  t.strictSame(entry.view('p').sfc.activeSteps, ['a', 'b'], 'an entry divergence starts the chart');
  t.ok(entry.until('p', ['Complete'], 5), 'a converge without exit ends the chart');
});

t.test('PHASE-02: present values are rounded as a screen rounds them, as far as they still tell the sides apart', async (t) => {
  const now = (one: number, other: number): string | undefined => {
    const plant = started(row(['x := 0.0;', ''], ["READ('m.one') >= READ('m.other')"]), { variables: [{ name: 'x', type: 'REAL' }] }, (wire) => {
      wire.tag('m.one', 'REAL', one);
      wire.tag('m.other', 'REAL', other);
    });
    return at(at(plant.view('p').sfc.transitionStates, 0).subConditions, 0).now;
  };
  t.equal(now(47.98611, 61.3), '47.99 >= 61.3');
  t.equal(now(4.966689, 100.29222165300546), '4.97 >= 100.3');
  t.equal(now(-1234.56, 0.001234567), '-1235 >= 0.001235');
  t.equal(now(1e-20, 2e21), '1e-20 >= 2e+21');
  t.equal(now(61.2991, 61.3), '61.2991 >= 61.3', 'what is not met does not look met');
  t.equal(now(61.29999999, 61.3), '61.29999999 >= 61.3');
  t.equal(now(61.3, 61.3), '61.3 >= 61.3');
});

t.test('PHASE-02: transition states tell each operand with its present values', async (t) => {
  const plant = started(row(['x := 16.8;', ''], ["ABS(x - READ('m.pv')) <= 1.0 AND READ('m.ok') AND (x > 1.0 OR FALSE)"]), { variables: [{ name: 'x', type: 'REAL' }] }, (wire) => {
    wire.tag('m.pv', 'REAL', 0);
    wire.tag('m.ok', 'BOOL', true);
  });
  const state = at(plant.view('p').sfc.transitionStates, 0);
  t.match(state, { index: 0, fromStep: 'a', toStep: 'b', evaluated: true, met: false, result: 'FALSE' });
  t.strictSame(
    state.subConditions.map(({ met, now }) => [met, now]),
    [
      [false, '16.8 <= 1'],
      [true, undefined],
      [true, undefined],
    ],
  );
  plant.get('m.pv').quality = 3;
  const bad = at(plant.view('p').sfc.transitionStates, 0);
  t.match(bad, { evaluated: false, met: false, result: 'INVALID', reason: 'm.pv is Bad' });
  t.strictSame(
    bad.subConditions.map(({ met }) => met),
    [false, true, true],
  );
  t.strictSame(plant.view('p').sfc.variableSnapshot, { x: '16.8' });
});

t.test('SFC-05: PROMPT, PROMPT_CHOICE and PROMPT_VALUE suspend, their variable is unset until the answer', async (t) => {
  const chart = row(
    ["ack := PROMPT('Ready?');\nMESSAGE('got ' + ack);\nv := PROMPT_VALUE('pH', 0.0, 14.0, 'pH') + 1.0;\nc := PROMPT_CHOICE('Which', 'A', 'B');", ''],
    ["c = 'A' AND v > 1.0"],
  );
  const plant = started(chart);
  const first = plant.view('p').prompt;
  t.match(first, { kind: 'acknowledge', text: 'Ready?', stepName: 'a' });
  t.match(plant.view('p').sfc.transitionStates[0], { result: 'INVALID', evaluated: false, reason: 'c is unset' });
  plant.scan(3);
  t.equal(plant.view('p').prompt?.id, first?.id);
  t.notOk(plant.phases.answer('p', 'other', 'x'));
  t.ok(plant.phases.answer('p', first?.id as string, 'whatever'));
  t.equal(plant.view('p').prompt, undefined, 'answered: nothing is pending');
  plant.scan();
  t.equal(at(plant.all('message'), 0).text, 'got Acknowledged', 'PHASE-08: Acknowledged whatever is sent');
  t.match(plant.view('p').prompt, { kind: 'value', min: 0, max: 14, unit: 'pH' });
  for (const wrong of [15, -1, Number.NaN, 'seven', '']) t.notOk(plant.phases.answer('p', plant.view('p').prompt?.id as string, wrong), `PHASE-10: ${wrong}`);
  plant.phases.answer('p', plant.view('p').prompt?.id as string, '7.0');
  plant.scan();
  t.match(plant.view('p').prompt, { kind: 'choice', choices: ['A', 'B'] });
  t.notOk(plant.phases.answer('p', plant.view('p').prompt?.id as string, 'C'), 'PHASE-09: no authored option');
  plant.phases.answer('p', plant.view('p').prompt?.id as string, 'A');
  t.ok(plant.until('p', ['Complete'], 5));
  t.equal(plant.all('message').length, 1, 'no statement runs twice');
});

t.test('PHASE-16: a prompt survives Hold, a reload with the same id, and continues after Restart', async (t) => {
  const plan = basicPlan(
    'p',
    row(["MESSAGE('one');\nFOR i := 1 TO 2 DO\n  one := PROMPT_VALUE('n' + i, 0.0, 9.0, '');\n  sum := sum + one;\nEND_FOR;\nMESSAGE('sum ' + sum);", ''], ['sum > 100.0']),
    { variables: [{ name: 'sum', type: 'REAL', initial: '0.5' }] },
  );
  const fresh = () => {
    const plant = new Plant();
    plant.phases.load(plan);
    plant.command('p', 'Start');
    plant.scan();
    return plant;
  };
  const plant = fresh();
  const id = plant.view('p').prompt?.id as string;
  plant.command('p', 'Hold');
  plant.scan();
  t.equal(plant.state('p'), 'Held');
  t.equal(plant.view('p').prompt?.id, id, 'answerable in Held');
  const saved = reloaded(plant.view('p').checkpoint);
  plant.restart();
  plant.phases.load({ ...plan, checkpoint: saved });
  t.equal(plant.state('p'), 'Held');
  t.equal(plant.view('p').prompt?.id, id, 'the id is the same after the restart of the process');
  t.ok(plant.phases.answer('p', id, 3));
  const answered = reloaded(plant.reports('p').at(-1)?.checkpoint ?? saved);
  plant.restart();
  plant.phases.load({ ...plan, checkpoint: answered });
  plant.command('p', 'Restart');
  plant.scan(3);
  t.match(plant.view('p').prompt, { text: 'n2' });
  plant.phases.answer('p', plant.view('p').prompt?.id as string, 4);
  plant.scan();
  t.strictSame(
    plant.all('message').map((message) => message.text),
    ['one', 'sum 7.5'],
    'statements before the suspension are not repeated',
  );
});

t.test('3.8, 2.2: a phase that is Idle again is loaded with its runs so far, and with parameters and a chart that may have changed', async (t) => {
  const chart = once("MESSAGE('n ' + amount);");
  const plan = (value: string, rest: Partial<PhasePlan> = {}) => basicPlan('p', chart, { parameters: [{ name: 'amount', type: 'REAL', value }], ...rest });
  const plant = new Plant();
  plant.phases.load(plan('1.5'));
  plant.command('p', 'Start');
  plant.scan(2);
  plant.command('p', 'Reset');
  plant.scan();
  t.match([plant.state('p'), plant.view('p').checkpoint.runCount], ['Idle', 1]);
  const saved = reloaded(plant.view('p').checkpoint);
  plant.restart();
  plant.phases.load({ ...plan('2.25'), checkpoint: saved, running: once("MESSAGE('n ' + amount * 2.0);") });
  t.equal(plant.state('p'), 'Idle', 'nothing was interrupted');
  plant.command('p', 'Start');
  plant.scan(2);
  t.match([plant.state('p'), plant.view('p').checkpoint.runCount], ['Complete', 2], 'and is not run once more by a loop that counts');
  t.equal(plant.all('message').at(-1)?.text, 'n 4.5');
});

t.test('PHASE-15: Stop, Abort and leaving the step clear the prompt and say so', async (t) => {
  const plant = started(row(["a := PROMPT('x');", ''], ["a = 'Acknowledged' OR READ('m.skip')"]), {}, (wire) => wire.tag('m.skip', 'BOOL', false));
  const id = plant.view('p').prompt?.id as string;
  plant.command('p', 'Stop');
  plant.scan();
  t.strictSame(
    plant.all('prompt-cancelled').map((message) => message.prompt.id),
    [id],
  );
  t.equal(plant.view('p').prompt, undefined);
  t.notOk(plant.phases.answer('p', id, 'late'));
});

t.test('SFC-08: AWAIT_RESULT waits with its key; the step timeout holds, the wait stays, Restart begins the timer anew', async (t) => {
  const plant = started(row(["v := AWAIT_RESULT('visc', 200.0, 800.0, 'mPa.s');", ''], ['v > 0.0'], { timeout: '1s' }));
  const wait = plant.view('p').prompt;
  t.match(wait, { kind: 'value', resultKey: 'visc', min: 200, max: 800 });
  plant.scan(12);
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'step-timeout', class: 'hold', step: 'a' } });
  t.equal(plant.view('p').prompt?.id, wait?.id);
  plant.command('p', 'Restart');
  plant.scan(5);
  t.equal(plant.state('p'), 'Running');
  plant.phases.answer('p', wait?.id as string, 450);
  t.ok(plant.until('p', ['Complete'], 4));
});

t.test('SFC-02: a step that has exceeded its timeout names what it waited for, with the value that it had', async (t) => {
  const rows: readonly [string, string, (wire: Plant) => unknown][] = [
    ["READ('l.pv') >= 25.0 AND READ('v.opened')", "READ('l.pv') >= 25.0 (2.5 >= 25)", () => undefined],
    ["READ('l.pv') >= 2.0 AND READ('v.opened')", "READ('v.opened')", () => undefined],
    ["READ('v.opened')", "READ('v.opened') (v.opened is Bad)", (wire) => (wire.get('v.opened').quality = 3)],
  ];
  for (const [condition, waited, broken] of rows)
    for (const onTimeout of ['Hold', 'Stop'] as const) {
      const plant = started(row(['', ''], [condition], { timeout: '500ms', onTimeout }), {}, (wire) => {
        wire.tag('l.pv', 'REAL', 2.5);
        wire.tag('v.opened', 'BOOL', false);
        broken(wire);
      });
      plant.scan(20);
      t.match(plant.view('p').checkpoint.failure, { rule: 'step-timeout', message: `step a has exceeded its timeout; it waited for ${waited}` });
    }
});

t.test('SFC-02: step timeouts: Stop, Abort, Alarm; once per activation', async (t) => {
  for (const [onTimeout, end] of [
    ['Stop', 'Stopped'],
    ['Abort', 'Aborted'],
    ['Alarm', 'Running'],
  ] as const) {
    const plant = started(row(['', ''], ['FALSE'], { timeout: '500ms', onTimeout }));
    plant.scan(20);
    t.equal(plant.state('p'), end, onTimeout);
    t.equal(plant.all('alarm').length, onTimeout === 'Alarm' ? 1 : 0);
    if (onTimeout !== 'Alarm') t.ok(plant.reports('p').some((report) => report.cause === onTimeout && report.rule === 'step-timeout'));
  }
});

t.test('SFC-12: WRITE to a read-only tag holds the phase; SFC-13: out of range; SFC-14: module in Manual', async (t) => {
  const tags = (wire: Plant) => {
    wire.tag('m.state', 'STRING', 'x', { writable: false });
    wire.tag('m.sp', 'REAL', 0, { min: 0, max: 10 });
    wire.modes.set('n', 'Manual');
    wire.tag('n.sp', 'REAL', 0);
  };
  const rule = (text: string, rest: Partial<PhasePlan> = {}) => started(once(text), rest, tags).view('p').checkpoint;
  t.match(rule("WRITE('m.state', 'y');"), { state: 'Held', failure: { rule: 'write-read-only', active: false } });
  t.match(rule("WRITE('m.sp', 11);"), { state: 'Held', failure: { rule: 'write-range' } });
  t.match(rule("WRITE('m.sp', 'text');"), { state: 'Held', failure: { message: /type-mismatch/ } });
  t.match(rule("WRITE('n.sp', 1);"), { state: 'Held', failure: { rule: 'write-mode-manual', active: true, subject: 'n.sp' } });
  t.match(rule("WRITE('n.sp', 1);").failure, { message: 'n.sp is in Manual: set it to Automatic or Semi-Automatic' });
  t.match(rule("WRITE('pump.sp', 1);", { roles: { pump: 'n' } }).failure, { message: 'pump.sp (n) is in Manual: set it to Automatic or Semi-Automatic' }, 'a role with its module');

  const plant = started(once("WRITE('n.sp', 1);"), { charts: { holding: once("WRITE('n.sp', 5);") } }, tags);
  t.equal(plant.get('n.sp').value, 5, 'SFC-15: the barrier does not apply to the holding chart');
  const refused = plant.command('p', 'Restart');
  plant.scan();
  t.match(plant.result(refused), { accepted: false, rule: 'failure-active' });
  plant.modes.set('n', 'Automatic');
  plant.command('p', 'Restart');
  t.ok(plant.until('p', ['Complete'], 5), 'the failed action runs from its first statement');
  t.equal(plant.get('n.sp').value, 1);
});

t.test('SFC-12: a read-back that differs later holds the phase', async (t) => {
  const plant = started(row(["WRITE('m.sp', 1.0);", ''], ['FALSE']), {}, (wire) => wire.tag('m.sp', 'REAL', 0, { settled: { settled: false } }));
  plant.scan();
  t.equal(plant.state('p'), 'Running');
  plant.get('m.sp').settled = { settled: false, rule: 'readback-mismatch', message: 'reads 0' };
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'readback-mismatch', step: 'a', active: false } });
});

t.test('SFC-01: READ of a bad tag fails a running action, other charts use the last good value', async (t) => {
  const plant = started(
    row(["x := READ('m.pv');", "y := READ('m.pv');"], ["READ('m.go')"]),
    { charts: { holding: once("h := READ('m.pv');") }, variables: [{ name: 'h', type: 'REAL' }] },
    (wire) => {
      wire.tag('m.pv', 'REAL', 4.5);
      wire.tag('m.go', 'BOOL', false);
    },
  );
  plant.get('m.pv').quality = 3;
  plant.get('m.go').value = true;
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'read-bad-quality', active: true, step: 'b' } });
  t.equal(plant.view('p').checkpoint.variables.h, 4.5);
  t.ok(plant.all('event').some((event) => event.text.includes('last good value')));
  plant.get('m.pv').quality = 1;
  plant.scan();
  t.match(plant.view('p').checkpoint.failure, { active: false }, 'Uncertain may be used');
  plant.command('p', 'Restart');
  t.ok(plant.until('p', ['Complete'], 5));
});

t.test('SFC-01: a failed action of an exception chart is skipped, the chart goes on, Held is incomplete', async (t) => {
  const holding: Chart = {
    steps: [
      { name: 'a', initial: true, actionST: "WRITE('m.one', 1.0);\nWRITE('m.ro', 1.0);\nWRITE('m.one', 9.0);" },
      { name: 'b', actionST: "WRITE('m.two', 2.0);" },
    ],
    transitions: [{ from: 'a', to: 'b' }],
  };
  const plant = started(row(['', ''], ['FALSE']), { charts: { holding } }, (wire) => {
    wire.tag('m.one', 'REAL', 0);
    wire.tag('m.two', 'REAL', 0);
    wire.tag('m.ro', 'REAL', 0, { writable: false });
  });
  plant.command('p', 'Hold');
  plant.scan(3);
  t.match(plant.view('p').checkpoint, { state: 'Held', holdIncomplete: true });
  t.strictSame([plant.get('m.one').value, plant.get('m.two').value], [1, 2]);
  t.equal(at(plant.all('alarm'), 0).severity, 'High');
});

t.test('CMD-02: budgets: phase-timeout aborts, exception-chart-timeout follows the failure columns', async (t) => {
  const plant = started(row(['', ''], ['FALSE']), { timeoutMs: 1000 });
  plant.scan(12);
  t.match(plant.view('p').checkpoint, { state: 'Aborted', failure: { rule: 'phase-timeout', class: 'fail' } });
  const stuck = { holding: row(['', ''], ['FALSE']), stopping: row(['', ''], ['FALSE']) };
  const held = started(row(['', ''], ['FALSE']), { charts: stuck }, () => {}, { exceptionChartTimeoutMs: 500 });
  held.command('p', 'Hold');
  held.scan(3);
  t.equal(held.state('p'), 'Holding');
  t.equal(held.view('p').chart?.activeChart, 'holding');
  held.scan(5);
  t.match(held.view('p').checkpoint, { state: 'Held', holdIncomplete: true, failure: { rule: 'exception-chart-timeout' } });
  held.command('p', 'Stop');
  held.scan(10);
  t.equal(held.state('p'), 'Aborted');
});

t.test('CMD-02: Pause waits for the safe point, Resume goes on, the timer stands still', async (t) => {
  const chart: Chart = {
    steps: [{ name: 'a', initial: true, pauseAllowed: false }, { name: 'b' }, { name: 'c' }],
    transitions: [
      { from: 'a', to: 'b', conditionST: "READ('m.go')" },
      { from: 'b', to: 'c', conditionST: 'b.T >= T#500ms' },
    ],
  };
  const plant = started(chart, {}, (wire) => wire.tag('m.go', 'BOOL', false));
  plant.command('p', 'Pause');
  plant.scan(4);
  t.equal(plant.state('p'), 'Pausing', 'step a does not allow it');
  plant.get('m.go').value = true;
  plant.scan(2);
  t.equal(plant.state('p'), 'Paused');
  const before = at(plant.view('p').checkpoint.running.steps, 0).elapsedMs;
  plant.scan(20);
  t.equal(at(plant.view('p').checkpoint.running.steps, 0).elapsedMs, before);
  plant.command('p', 'Resume');
  t.ok(plant.until('p', ['Complete'], 8));
});

t.test('CMD-02: Semi-Automatic pauses at each true transition, Resume fires exactly that one; Manual fires none', async (t) => {
  const plant = started(row(['', "WRITE('m.n', 2.0);", ''], ['TRUE', 'TRUE']), { mode: 'Semi-Automatic' }, (wire) => {
    wire.tag('m.n', 'REAL', 0);
  });
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Paused', pausedAt: 'a->b#0' });
  t.ok(plant.reports('p').some((report) => report.state === 'Paused' && report.rule === 'semi-automatic-step'));
  plant.scan(5);
  t.equal(plant.get('m.n').value, 0);
  plant.command('p', 'Resume');
  plant.scan();
  t.equal(plant.get('m.n').value, 2);
  t.strictSame(plant.view('p').sfc.activeSteps, ['b']);
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Paused', pausedAt: 'b->c#1' });
  plant.phases.setMode('p', 'Manual');
  plant.command('p', 'Resume');
  plant.scan(3);
  t.match(plant.view('p'), { state: 'Complete', mode: 'Manual', sfc: { activeSteps: ['c'] } }, 'Resume fires it in any mode');
});

t.test('CMD-02: Start in Manual is refused; a phase in Manual runs its actions and fires nothing', async (t) => {
  const plant = new Plant();
  plant.phases.load(basicPlan('p', row(['n := 1;', ''], ['TRUE']), { mode: 'Manual' }));
  const start = plant.command('p', 'Start');
  plant.scan();
  t.match(plant.result(start), { accepted: false, rule: 'mode-manual' });
  plant.phases.setMode('p', 'Automatic');
  plant.command('p', 'Start');
  plant.scan();
  plant.phases.setMode('p', 'Manual');
  plant.scan(5);
  t.strictSame(plant.view('p').sfc.activeSteps, ['a']);
  plant.phases.setMode('p', 'Automatic');
  t.ok(plant.until('p', ['Complete'], 3));
});

t.test('SFC-01: restartStep leaves every active step; rerunOnRestart runs the action again', async (t) => {
  const count = "WRITE('m.n', READ('m.n') + 1.0);";
  const wire = (plant: Plant) => plant.tag('m.n', 'REAL', 0);
  const again = started(row([count, ''], ['FALSE'], { rerunOnRestart: true }), {}, wire);
  const kept = started(row([count, ''], ['FALSE']), {}, wire);
  const back = started({ ...row([count, '', ''], ['TRUE', 'FALSE']) }, { restartStep: 'a' }, wire);
  for (const plant of [again, kept, back]) {
    plant.scan();
    plant.command('p', 'Hold');
    plant.scan();
    plant.command('p', 'Restart');
    plant.scan(2);
  }
  t.strictSame(
    [again, kept, back].map((plant) => plant.get('m.n').value),
    [2, 1, 2],
  );
  t.ok(back.view('p').sfc.completedSteps.includes('b'), 'the left steps count as completed');
});

t.test('SFC-03: COMMAND, MODE, CALL_SERVICE and MTP_COMMAND go to the gateway and suspend', async (t) => {
  const plant = started(
    row(
      [
        "ok := COMMAND('root', 'Hold', 'because');\nIF MODE('valve', 'Manual') AND NOT ok THEN\n  s := CALL_SERVICE('opc', 'o', 'm', 3, 'x');\nEND_IF;\nMTP_COMMAND('opc/dose', 'Start', procedure := 2);",
        '',
      ],
      ['s > 1 AND ok'],
    ),
    { roles: { valve: 'v-101' } },
  );
  const next = () => plant.all('request').at(-1);
  t.match(next(), { builtin: 'COMMAND', step: 'a', args: ['root', 'Hold', 'because'] });
  plant.phases.requestResult({ type: 'request-result', id: next()?.id as number, ok: false, rule: 'already-held' });
  plant.scan();
  t.match(next(), { builtin: 'MODE', args: ['v-101', 'Manual'] });
  plant.phases.requestResult({ type: 'request-result', id: next()?.id as number, ok: true, value: true });
  plant.scan();
  t.match(next(), { builtin: 'CALL_SERVICE', args: ['opc', 'o', 'm', 3, 'x'] });
  t.match(at(plant.view('p').sfc.transitionStates, 0).result, 'INVALID');
  plant.phases.requestResult({ type: 'request-result', id: next()?.id as number, ok: true, value: 5 });
  plant.scan();
  t.match(next(), { builtin: 'MTP_COMMAND', args: ['opc/dose', 'Start', 2] });
  plant.phases.requestResult({ type: 'request-result', id: next()?.id as number, ok: false, rule: 'mtp-command-disabled', message: 'the module is not connected' });
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'mtp-command-disabled' } });
  t.equal(plant.all('request').length, 4);
});

t.test('SFC-03: a service without answer fails after 30 s of wall time', async (t) => {
  const plant = started(once("x := CALL_SERVICE('opc', 'o', 'm');"));
  plant.scan(305);
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'service-failed' } });
});

t.test('SFC-03: a call with an effect in a condition runs once per activation of its step', async (t) => {
  const plant = started(row(['', ''], ["MESSAGE('once') AND PROMPT('go?') = 'Acknowledged' AND MTP_STATE('opc/dose') = 'Idle'"]));
  plant.scan(4);
  t.equal(plant.all('message').length, 1);
  const id = plant.view('p').prompt?.id as string;
  plant.phases.answer('p', id, 'x');
  plant.scan(2);
  const request = plant.all('request').at(-1);
  t.match(request, { builtin: 'MTP_STATE', args: ['opc/dose'] });
  plant.phases.requestResult({ type: 'request-result', id: request?.id as number, ok: true, value: 'Idle' });
  t.ok(plant.until('p', ['Complete'], 3));
  t.equal(plant.all('message').length, 1);
});

t.test('SFC-03 MTP-02: a state in a condition is asked for again while the condition waits, once in a second', async (t) => {
  const plant = started(row(['', ''], ["MTP_STATE('opc/dose') = 'Execute'"]));
  plant.scan(2);
  const answer = (value: string): void => plant.phases.requestResult({ type: 'request-result', id: plant.all('request').at(-1)?.id as number, ok: true, value });
  answer('Starting');
  plant.scan(5);
  t.equal(plant.all('request').length, 1, 'not in each scan');
  plant.scan(15);
  t.equal(plant.all('request').length, 2, 'an answer that has grown old is asked for again');
  answer('Execute');
  t.ok(plant.until('p', ['Complete'], 3));
});

t.test('SFC-03: signals: raised once while Running, consumed at the first TRUE read; a barrier arrives at its first read', async (t) => {
  const plant = started(row(['', 'ready := TRUE;', ''], ["READ('signal:premixDone')", "READ('barrier:meet')"]), {
    variables: [{ name: 'ready', type: 'BOOL' }],
    knownSignals: ['premixDone', 'meet'],
    signals: [
      { name: 'up', condition: 'ready AND b.X' },
      { name: 'over', condition: '' },
    ],
  });
  plant.scan(3);
  t.equal(plant.all('signal-read').length, 0, 'a signal that is not raised is not consumed');
  plant.raised.add('premixDone');
  plant.phases.signalsChanged();
  plant.scan(4);
  t.strictSame(
    plant.all('signal-read').map(({ name, consumed }) => [name, consumed]),
    [
      ['premixDone', true],
      ['meet', false],
    ],
  );
  t.strictSame(
    plant.all('signal-raised').map(({ signal }) => signal),
    ['up'],
  );
  plant.raised.add('meet');
  plant.phases.signalsChanged();
  t.ok(plant.until('p', ['Complete'], 3));
  t.strictSame(
    plant.all('signal-raised').map(({ signal }) => signal),
    ['up', 'over'],
  );
});

t.test('SFC-03: a signal whose condition calls what has to be waited for keeps its phase from starting, and the unit goes on', async (t) => {
  for (const call of ["MTP_STATE('opc/dose') = 'Idle'", "ABS(1) = 1 AND PROMPT('sure?') = 'yes'", "WRITE('m.n', 1.0)"]) {
    const plan = { signals: [{ name: 'up', condition: call }] };
    const plant = started(row(['', ''], ['FALSE']), plan);
    plant.scan(3);
    t.equal(plant.state('p'), 'Idle', call);
    t.match(plant.all('command-result').at(-1), { accepted: false, rule: 'chart-invalid', message: /^p cannot start: signal up: \w+ .*READ and ABS/ });
  }
});

t.test('SFC-01: lost I/O holds the phase and blocks Restart while it is lost', async (t) => {
  const plant = started(row(['', ''], ['FALSE']), { ioModules: ['io-1'] });
  plant.lost.add('io-1');
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'io-lost', active: true, subject: 'io-1' } });
  const saved = reloaded(plant.view('p').checkpoint);
  plant.restart();
  plant.phases.load(basicPlan('p', row(['', ''], ['FALSE']), { ioModules: ['io-1'], checkpoint: saved }));
  const refused = plant.command('p', 'Restart');
  plant.scan();
  t.match(plant.result(refused), { rule: 'failure-active' }, 'the failure is still active after a reload');
  plant.lost.clear();
  plant.scan();
  plant.command('p', 'Restart');
  t.ok(plant.until('p', ['Running'], 3));
});

t.test('CMD-02: an edited chart is not resumed; a request in flight has an unknown outcome', async (t) => {
  const chart = row(["x := CALL_SERVICE('opc', 'o', 'm');", ''], ['x > 1']);
  const plant = started(chart);
  const saved = reloaded(plant.view('p').checkpoint);
  plant.restart();
  plant.phases.load(basicPlan('p', chart, { checkpoint: saved }));
  t.ok(plant.all('event').some((event) => event.text.startsWith('outcome-unknown')));
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'runtime-restart', active: false } });
  t.equal(plant.all('request').length, 1, 'nothing is repeated by itself');
  plant.command('p', 'Restart');
  plant.scan(2);
  t.equal(plant.all('request').length, 2, 'after Restart the action runs from its first statement');
  plant.restart();
  plant.phases.load(basicPlan('p', row(['y := 1;', ''], ['FALSE']), { checkpoint: saved }));
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Aborted', failure: { rule: 'chart-changed', class: 'fail' } });
  const held = { ...saved, state: 'Held' as const };
  plant.restart();
  plant.phases.load(basicPlan('p', row(['y := 1;', ''], ['FALSE']), { checkpoint: held }));
  const refused = plant.command('p', 'Restart');
  plant.scan();
  t.match(plant.result(refused), { accepted: false, rule: 'failure-active' });
});

t.test('CMD-02: Reset clears outputs, variables and failure; a failed resetting chart goes back', async (t) => {
  const plant = started(once('out := 5;'), {
    outputs: [
      { name: 'out', type: 'INT' },
      { name: 'never', type: 'INT' },
    ],
  });
  plant.scan();
  t.equal(plant.state('p'), 'Complete');
  t.strictSame(plant.view('p').outputs, [{ name: 'out', type: 'INT', value: '5' }], 'only assigned outputs');
  plant.command('p', 'Reset');
  plant.scan();
  t.match(plant.view('p'), { state: 'Idle', outputs: [], checkpoint: { variables: { out: 0 } } });
  plant.command('p', 'Start');
  plant.scan();
  t.equal(plant.view('p').checkpoint.runCount, 2);
  const stuck = started(once(''), { charts: { resetting: row(['', ''], ['FALSE']) } }, () => {}, { exceptionChartTimeoutMs: 300 });
  stuck.command('p', 'Reset');
  stuck.scan(8);
  t.match(stuck.view('p').checkpoint, { state: 'Complete', failure: { rule: 'exception-chart-timeout' } });
  t.equal(at(stuck.all('alarm'), 0).severity, 'Medium');
});

t.test('SFC-10: the edge-local hold runs without the controller', async (t) => {
  const charts = { holding: once("WRITE('m.cmd', FALSE);") };
  const plant = started(row(["WRITE('m.cmd', TRUE);", ''], ['FALSE']), { charts }, (wire) => wire.tag('m.cmd', 'BOOL', false));
  plant.phases.controllerLost();
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'controller-lost' } });
  t.equal(plant.get('m.cmd').value, false);
});
