/** What a phase carries over a restart of its unit (checkpoint) and over a download to it (hot swap). */
import t from 'tap';
import type { PhaseCheckpoint, PhasePlan } from '../../../runtime/port.js';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import { basicPlan, once, Plant, reloaded } from './plant.js';

/** The unit dies with what it last reported, comes back, and a person restarts the phase. */
function restarted(plant: Plant, plan: PhasePlan): void {
  const checkpoint = reloaded(plant.reports(plan.name).at(-1)?.checkpoint as PhaseCheckpoint);
  plant.restart();
  plant.phases.load({ ...plan, checkpoint });
  if (!plant.until(plan.name, ['Held'], 3)) t.fail('not Held after the restart');
  plant.command(plan.name, 'Restart');
}

t.test('2.4, 2.6: a step that was entered by hand runs its action before a transition leaves it, though the unit restarts in between', async (t) => {
  const chart: Chart = {
    steps: ['a', 'b', 'c'].map((name) => ({ name, initial: name === 'a', actionST: `ran${name} := ran${name} + 1;` })),
    transitions: [
      { from: 'a', to: 'b', conditionST: 'FALSE' },
      { from: 'b', to: 'c', conditionST: 'TRUE' },
    ],
  };
  const variables = ['a', 'b', 'c'].map((name) => ({ name: `ran${name}`, type: 'INT' as const, initial: '0' }));
  const plan = basicPlan('p', chart, { variables });
  const plant = new Plant();
  plant.phases.load(plan);
  plant.command('p', 'Start');
  plant.scan();
  plant.command('p', 'Hold');
  plant.scan();
  plant.phases.setMode('p', 'Manual');
  plant.phases.steer('p', { change: 'activate', step: 'b', leave: ['a'] });
  plant.phases.setMode('p', 'Automatic');
  restarted(plant, plan);
  t.ok(plant.until('p', ['Complete'], 5));
  t.match(plant.view('p').checkpoint.variables, { rana: 1, ranb: 1, ranc: 1 }, 'no action was passed over');
});

t.test('2.4, 2.6: of two branches begun in one scan the second runs its action after a restart, though only the first was under way', async (t) => {
  const chart: Chart = {
    steps: [{ name: 'first', initial: true }, { name: 'left', actionST: "MESSAGE('left');" }, { name: 'right', actionST: "MESSAGE('right');" }, { name: 'after' }],
    transitions: [
      { from: 'first', to: 'fork', conditionST: 'TRUE' },
      { from: 'right', to: 'after', conditionST: 'TRUE' },
    ],
    divergences: [{ name: 'fork', type: 'SimultaneousDiverge', branches: ['left', 'right'] }],
  };
  const plan = basicPlan('p', chart);
  const plant = new Plant();
  plant.phases.load(plan);
  plant.command('p', 'Start');
  plant.scan(2);
  // the record that was written before the action of `left` touched the plant: the last thing the unit has said
  const begun = plant.reports('p').find(({ checkpoint }) => checkpoint.running.steps.some(({ step, actionState }) => step === 'left' && actionState === 'running'));
  t.match(
    begun?.checkpoint.running.steps.map(({ step, actionState }) => [step, actionState]),
    [
      ['left', 'running'],
      ['right', 'pending'],
    ],
  );
  plant.sent.length = 0;
  plant.restart();
  plant.phases.load({ ...plan, checkpoint: reloaded(begun?.checkpoint as PhaseCheckpoint) });
  t.ok(plant.until('p', ['Held'], 3));
  plant.command('p', 'Restart');
  t.ok(plant.until('p', ['Complete'], 5));
  t.strictSame(
    plant
      .all('message')
      .map(({ text }) => text)
      .sort(),
    ['left', 'right'],
  );
});

t.test('2.6, 4.5: a state that a condition had asked for when the unit died is asked for again at once: nobody answers the old request', async (t) => {
  const chart: Chart = { steps: [{ name: 'a', initial: true }, { name: 'b' }], transitions: [{ from: 'a', to: 'b', conditionST: "MTP_STATE('opc/dose') = 'Idle'" }] };
  const plan = basicPlan('p', chart);
  const plant = new Plant();
  plant.phases.load(plan);
  plant.command('p', 'Start');
  plant.scan(2);
  t.equal(plant.all('request').length, 1);
  plant.command('p', 'Hold');
  plant.scan();
  restarted(plant, plan);
  plant.sent.length = 0;
  plant.scan(3);
  const request = plant.all('request').at(-1);
  t.match(request, { builtin: 'MTP_STATE', args: ['opc/dose'] });
  plant.phases.requestResult({ type: 'request-result', id: request?.id ?? 0, ok: true, value: 'Idle' });
  t.ok(plant.until('p', ['Complete'], 3));
});

t.test('2.6, 4.5: the late answer to a request of before the restart is not taken for that of a request made since', async (t) => {
  const plan = basicPlan('p', once("x := CALL_SERVICE('opc', 'o', 'm'); MESSAGE('got ' + x);"), { variables: [{ name: 'x', type: 'REAL' }] });
  const plant = new Plant();
  plant.phases.load(plan);
  plant.command('p', 'Start');
  plant.scan(2);
  const [before] = plant.all('request');
  restarted(plant, plan);
  plant.scan(2);
  const now = plant.all('request').at(-1);
  t.equal(plant.all('request').length, 2, 'asked again after Restart');
  const answer = (id: number | undefined, value: number): void => plant.phases.requestResult({ type: 'request-result', id: id ?? 0, ok: true, value });
  answer(before?.id, 1);
  plant.scan(2);
  t.equal(plant.state('p'), 'Running', 'still waits for its own answer');
  answer(now?.id, 2);
  t.ok(plant.until('p', ['Complete'], 3));
  t.match(
    plant.all('message').map(({ text }) => text),
    [/^got 2/],
  );
});

t.test('3.5, Q-PROG-03: the last good value of a tag is known after a download, wherever the tag lies in the new plan', async (t) => {
  const plant = new Plant();
  plant.tag('m.pv', 'REAL', 4.5);
  plant.phases.load(
    basicPlan('p', once('WAIT(T#1h);'), {
      running: { steps: [{ name: 'a', initial: true, actionST: "x := READ('m.pv'); WAIT(T#1h);" }], transitions: [] },
      charts: { holding: once("h := READ('m.pv');") },
      variables: [
        { name: 'x', type: 'REAL' },
        { name: 'h', type: 'REAL' },
      ],
    }),
  );
  plant.command('p', 'Start');
  plant.scan(2);
  plant.get('m.pv').quality = 3;
  plant.download(['other.pv', 'm.pv']);
  plant.command('p', 'Hold');
  t.ok(plant.until('p', ['Held'], 3));
  t.match(plant.view('p').checkpoint, { state: 'Held', variables: { h: 4.5 } });
  t.notOk(plant.view('p').checkpoint.holdIncomplete);
  t.notOk(plant.get('other.pv').value, 'and it is that of no other tag');
});

t.test('3.5, 7.7, Q-PROG-03: a read-back that is outstanding over a download holds the phase as it would have without one', async (t) => {
  const plant = new Plant();
  plant.tag('m.sp', 'REAL', 0, { settled: { settled: false } });
  plant.phases.load(
    basicPlan('p', { steps: [{ name: 'a', initial: true, actionST: "WRITE('m.sp', 1.0);" }, { name: 'b' }], transitions: [{ from: 'a', to: 'b', conditionST: 'FALSE' }] }),
  );
  plant.command('p', 'Start');
  plant.scan(2);
  plant.download(['other.sp', 'm.sp']);
  plant.scan();
  t.equal(plant.state('p'), 'Running');
  plant.get('m.sp').settled = { settled: false, rule: 'readback-mismatch', message: 'reads 0' };
  plant.scan();
  t.match(plant.view('p').checkpoint, { state: 'Held', failure: { rule: 'readback-mismatch', step: 'a' } });
});
