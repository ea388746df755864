/** Active steps changed by hand in mode Manual (ADR 0007). */
import t from 'tap';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import type { ChartChange } from '../../../runtime/vocabulary/steering.js';
import { basicPlan, Plant, reloaded } from './plant.js';
import { at } from '../../support/at.js';

/** a -> b -> c -> d, each step counts how often its action ran; nothing fires by itself in Manual. */
const ROW: Chart = {
  steps: ['a', 'b', 'c', 'd'].map((name) => ({ name, initial: name === 'a', actionST: `ran${name} := ran${name} + 1;` })),
  transitions: [
    { from: 'a', to: 'b', conditionST: 'TRUE' },
    { from: 'b', to: 'c', conditionST: 'FALSE' },
    { from: 'c', to: 'd', conditionST: 'TRUE' },
  ],
};
const COUNTS = ['a', 'b', 'c', 'd'].map((name) => ({ name: `ran${name}`, type: 'INT' as const, initial: '0' }));

function inManual(chart: Chart = ROW, rest: Parameters<typeof basicPlan>[2] = { variables: COUNTS }): Plant {
  const plant = new Plant();
  plant.phases.load(basicPlan('p', chart, rest));
  plant.command('p', 'Start');
  plant.scan();
  plant.phases.setMode('p', 'Manual');
  return plant;
}

const steps = (plant: Plant): readonly string[] => plant.view('p').sfc.activeSteps;
const counts = (plant: Plant): readonly string[] => COUNTS.map(({ name }) => String(plant.view('p').checkpoint.variables[name]));
const events = (plant: Plant): readonly string[] => plant.all('event').map((event) => event.text);

t.test('decisions 3.7: in Manual no transition fires; a person forces one, skips a step, goes back, and Automatic goes on from there', async (t) => {
  const plant = inManual();
  plant.scan(5);
  t.strictSame(steps(plant), ['a'], 'a true transition waits for a person');
  plant.phases.steer('p', { change: 'force', transition: 'a->b#0' });
  t.strictSame(steps(plant), ['b'], 'at once, between two scans');
  t.equal(plant.view('p').sfc.firedTransitions.at(-1), 'a->b#0', 'a forced transition stands with those that fired');
  plant.scan(3);
  t.strictSame(counts(plant), ['1', '1', '0', '0'], 'the action of the step runs once');
  plant.phases.steer('p', { change: 'activate', step: 'd', leave: ['b'] });
  plant.scan();
  t.strictSame([steps(plant), counts(plant)], [['d'], ['1', '1', '0', '1']], 'c was skipped');
  t.equal(plant.state('p'), 'Complete', 'the end of the chart is the end of the phase in Manual too');

  const back = inManual();
  back.phases.steer('p', { change: 'activate', step: 'c', leave: ['a'] });
  back.phases.steer('p', { change: 'activate', step: 'a', leave: ['c'] });
  back.scan();
  t.strictSame(counts(back), ['2', '0', '0', '0'], 'a runs again, c was left before its action ran');
  back.phases.setMode('p', 'Automatic');
  back.scan(3);
  t.strictSame(steps(back), ['b'], 'Automatic goes on from where a person has put the chart');
});

t.test('a step that is entered by hand runs its action before a transition may leave it', async (t) => {
  const plant = inManual();
  plant.phases.steer('p', { change: 'activate', step: 'c', leave: ['a'] });
  plant.phases.setMode('p', 'Automatic');
  plant.scan();
  t.strictSame([steps(plant), counts(plant)], [['c'], ['1', '0', '1', '0']]);
  plant.scan();
  t.strictSame(counts(plant), ['1', '0', '1', '1']);
});

t.test('branches are added and taken away one by one; the last active step stays', async (t) => {
  const plant = inManual();
  plant.phases.steer('p', { change: 'activate', step: 'c', leave: [] });
  t.strictSame(steps(plant), ['a', 'c']);
  plant.phases.steer('p', { change: 'deactivate', step: 'a' });
  t.strictSame(steps(plant), ['c']);
  plant.phases.steer('p', { change: 'deactivate', step: 'c' });
  t.strictSame(steps(plant), ['c']);
  t.match(events(plant).at(-1), /refused: step c is the last active one/);
});

t.test('what does not fit changes nothing and is an event: other mode, acting and final states, unknown and idle names', async (t) => {
  const plant = inManual();
  const refused = (change: ChartChange, why: RegExp): void => {
    const before = steps(plant);
    plant.phases.steer('p', change);
    t.strictSame(steps(plant), before);
    t.match(events(plant).at(-1), why);
  };
  refused({ change: 'activate', step: 'x', leave: [] }, /no step x/);
  refused({ change: 'activate', step: 'a', leave: [] }, /step a is active already/);
  refused({ change: 'activate', step: 'b', leave: ['c'] }, /step c is not active/);
  refused({ change: 'deactivate', step: 'b' }, /step b is not active/);
  refused({ change: 'force', transition: 'a->c#9' }, /no transition a->c#9/);
  refused({ change: 'force', transition: 'c->d#2' }, /leaves step c, which is not active/);
  plant.phases.setMode('p', 'Semi-Automatic');
  refused({ change: 'force', transition: 'a->b#0' }, /in Semi-Automatic/);
  plant.phases.setMode('p', 'Manual');
  plant.command('p', 'Stop');
  plant.scan(2);
  refused({ change: 'force', transition: 'a->b#0' }, /the phase is Stopped/);
});

t.test('a Held or Paused chart is moved while it stands, and goes on from there after Restart or Resume', async (t) => {
  const plant = inManual();
  plant.command('p', 'Hold');
  plant.scan(2);
  t.equal(plant.state('p'), 'Held');
  plant.phases.steer('p', { change: 'activate', step: 'b', leave: ['a'] });
  plant.scan(3);
  t.strictSame([steps(plant), counts(plant)], [['b'], ['1', '0', '0', '0']], 'no action runs while it is held');
  plant.command('p', 'Restart');
  plant.scan(3);
  t.strictSame([plant.state('p'), counts(plant)], ['Running', ['1', '1', '0', '0']]);

  plant.phases.setMode('p', 'Automatic');
  plant.phases.setMode('p', 'Semi-Automatic');
  const semi = new Plant();
  semi.phases.load(basicPlan('p', ROW, { variables: COUNTS, mode: 'Semi-Automatic' }));
  semi.command('p', 'Start');
  semi.scan(2);
  t.match(semi.view('p'), { state: 'Paused', checkpoint: { pausedAt: 'a->b#0' } });
  semi.phases.setMode('p', 'Manual');
  semi.phases.steer('p', { change: 'activate', step: 'c', leave: ['a'] });
  t.equal(semi.view('p').checkpoint.pausedAt, undefined, 'what it was stopped before is past');
  semi.command('p', 'Resume');
  semi.scan(2);
  t.strictSame([semi.state('p'), steps(semi)], ['Running', ['c']], 'Resume fires nothing');
});

t.test('PHASE-14: a prompt whose step is left by hand is cancelled', async (t) => {
  const asks: Chart = {
    steps: [{ name: 'ask', initial: true, actionST: `answer := PROMPT('ready?');` }, { name: 'next' }],
    transitions: [{ from: 'ask', to: 'next', conditionST: `answer = 'Acknowledged'` }],
  };
  const plant = inManual(asks, { variables: [{ name: 'answer', type: 'STRING' }] });
  const { prompt } = plant.view('p');
  plant.phases.steer('p', { change: 'activate', step: 'next', leave: ['ask'] });
  t.match(plant.all('prompt-cancelled'), [{ prompt: { id: prompt?.id } }]);
  t.notOk(plant.view('p').prompt);
});

t.test('decisions 2.6: the change is in the record a restart goes on from; simultaneous branches leave a converge together', async (t) => {
  const fork: Chart = {
    steps: ['s', 'a', 'b', 'z'].map((name) => ({ name, initial: name === 's', actionST: name === 'a' ? 'WAIT(T#1h);' : 'n := 1;' })),
    transitions: [
      { from: 's', to: 'fork' },
      { from: 'join', to: 'z', conditionST: 'TRUE' },
    ],
    divergences: [
      { name: 'fork', type: 'SimultaneousDiverge', branches: ['a', 'b'] },
      { name: 'join', type: 'SimultaneousConverge', branches: ['a', 'b'] },
    ],
  };
  const plan = { variables: [{ name: 'n', type: 'INT' as const }] };
  const plant = inManual(fork, plan);
  plant.phases.steer('p', { change: 'force', transition: 's->fork#0' });
  t.strictSame(steps(plant), ['a', 'b']);
  plant.scan(2);
  plant.phases.steer('p', { change: 'force', transition: 'join->z#1' });
  t.strictSame(steps(plant), ['z'], 'a branch that has not finished is left too');
  const last = at(plant.reports('p').slice(-1), 0);
  plant.restart();
  plant.phases.load(basicPlan('p', fork, { ...plan, checkpoint: reloaded(last.checkpoint) }));
  t.strictSame(steps(plant), ['z']);
});
