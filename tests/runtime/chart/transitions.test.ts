import t from 'tap';
import fc from '../../support/fuzz.js';
import { basicPlan, once, Plant } from './plant.js';
import { type BatchState, type Command, COMMANDS, type State, STATES } from '../../../runtime/vocabulary/states.js';
import {
  batchCommands,
  childrenSettled,
  childTakes,
  isActive,
  judge,
  judgeBatch,
  judgeFailure,
  judgeScan,
  progression,
  PROPAGATION,
  validCommands,
} from '../../../runtime/vocabulary/transitions.js';
import { at } from '../../support/at.js';

/** Decisions 3.1, typed in again column by column: Start Pause Resume Hold Restart Stop Abort Reset. */
const CELLS: Readonly<Record<State, string>> = {
  Idle: 'Running - - - - - - -',
  Running: '- Pausing - Holding - Stopping Aborting -',
  Pausing: '- - - Holding - Stopping Aborting -',
  Paused: '- - Running Holding - Stopping Aborting -',
  Holding: '- - - - - Stopping Aborting -',
  Held: '- - - - Restarting Stopping Aborting -',
  Restarting: '- - - Holding - Stopping Aborting -',
  Stopping: '- - - - - - Aborting -',
  Stopped: '- - - - - - - Resetting',
  Aborting: '- - - - - - - -',
  Aborted: '- - - - - - - Resetting',
  Complete: '- - - - - - - Resetting',
  Resetting: '- - - - - - Aborting -',
};

/** Decisions 3.2, typed in again: the rule of every pair without a cell, same columns. */
const RULES: Readonly<Record<State, string>> = {
  Idle: '. not-running not-paused not-running not-held not-running not-running already-idle',
  Running: 'already-running . not-paused . not-held . . not-final',
  Pausing: 'not-idle already-pausing not-paused . not-held . . not-final',
  Paused: 'not-idle already-paused . . not-held . . not-final',
  Holding: 'not-idle not-running not-paused already-holding not-held . . not-final',
  Held: 'not-idle not-running not-paused already-held . . . not-final',
  Restarting: 'not-idle not-running not-paused . already-restarting . . not-final',
  Stopping: 'not-idle not-running not-paused not-running not-held already-stopping . not-final',
  Stopped: 'final-state final-state final-state final-state final-state already-stopped final-state .',
  Aborting: 'not-idle not-running not-paused not-running not-held not-running already-aborting not-final',
  Aborted: 'final-state final-state final-state final-state final-state final-state already-aborted .',
  Complete: 'final-state final-state final-state final-state final-state final-state final-state .',
  Resetting: 'not-idle not-running not-paused not-running not-held not-running . already-resetting',
};

t.test('CMD-02: every state and command gives its next state or its one rule', async (t) => {
  for (const state of STATES) {
    const cells = CELLS[state].split(' ');
    const rules = RULES[state].split(' ');
    for (const [index, command] of COMMANDS.entries()) {
      const verdict = judge(state, command);
      const wanted = cells[index] === '-' ? { accepted: false, rule: rules[index] } : { accepted: true, next: cells[index] };
      t.strictSame(verdict, wanted, `${command} in ${state}`);
    }
    t.strictSame(
      validCommands(state),
      COMMANDS.filter((_, index) => cells[index] !== '-'),
      `validCommands of ${state}`,
    );
  }
});

t.test('CMD-17: facts change the verdict: failure-active, child-failure, heldInside, pausedInside, resumeCancelsPause, start rules', async (t) => {
  t.strictSame(judge('Held', 'Restart', { failureActive: true }), { accepted: false, rule: 'failure-active' });
  t.notOk(validCommands('Held', { failureActive: true }).includes('Restart'));
  t.strictSame(judge('Held', 'Restart', { childFailure: true }), { accepted: false, rule: 'child-failure' });
  t.strictSame(judge('Running', 'Restart', { heldInside: true }), { accepted: true, next: 'Running' });
  t.strictSame(validCommands('Running', { heldInside: true, pausedInside: true }), ['Pause', 'Resume', 'Hold', 'Restart', 'Stop', 'Abort']);
  t.strictSame(judge('Pausing', 'Resume', { resumeCancelsPause: true }), { accepted: true, next: 'Running' });
  t.strictSame(judge('Idle', 'Start', { startRule: 'mode-manual' }), { accepted: false, rule: 'mode-manual' });
  t.strictSame(judge('Running', 'Start', { startRule: 'mode-manual' }), { accepted: false, rule: 'already-running' });
});

t.test('CMD-02: several commands of one scan are judged by priority, the losers are superseded', async (t) => {
  const entries = (['Reset', 'Pause', 'Stop', 'Hold', 'Start'] as const).map((command, id) => ({ id, command }));
  const judged = judgeScan('Running', entries);
  t.strictSame(
    judged.map(({ entry, verdict }) => [entry.command, verdict.accepted ? verdict.next : verdict.rule]),
    [
      ['Stop', 'Stopping'],
      ['Hold', 'superseded'],
      ['Pause', 'superseded'],
      ['Start', 'superseded'],
      ['Reset', 'superseded'],
    ],
  );
  t.equal(at(judged, 1).winner?.id, 2);
  t.strictSame(
    judgeScan('Held', [{ command: 'Restart' as Command }, { command: 'Hold' as Command }]).map(({ verdict }) => verdict.accepted || verdict.rule),
    ['already-held', true],
  );
});

t.test('CMD-02: the columns of failures, by class', async (t) => {
  const row = (state: State) => [judgeFailure(state, 'hold')?.next ?? '', judgeFailure(state, 'fail')?.next ?? ''];
  for (const state of ['Running', 'Pausing', 'Paused', 'Restarting'] as const) t.strictSame(row(state), ['Holding', 'Aborting'], state);
  t.strictSame(judgeFailure('Holding', 'hold'), { next: 'Held', alarm: 'High', holdIncomplete: true });
  t.strictSame(row('Held'), ['Held', 'Held']);
  t.strictSame(row('Stopping'), ['Aborting', 'Aborting']);
  t.strictSame(judgeFailure('Resetting', 'fail', 'Stopped'), { next: 'Stopped', alarm: 'Medium', holdIncomplete: false });
  for (const state of ['Idle', 'Complete', 'Stopped', 'Aborted'] as const) t.equal(judgeFailure(state, 'hold'), null);
});

t.test('CMD-02: batches: Pending counts as Idle, a final batch takes Reset and stays', async (t) => {
  t.strictSame(judgeBatch('Pending', 'Start'), { accepted: true, next: 'Running' });
  t.strictSame(judgeBatch('Pending', 'Stop'), { accepted: false, rule: 'not-running' });
  for (const state of ['Complete', 'Stopped', 'Aborted', 'Failed'] as BatchState[]) {
    t.strictSame(judgeBatch(state, 'Reset'), { accepted: true, next: state });
    t.strictSame(batchCommands(state), ['Reset']);
  }
  t.strictSame(judgeBatch('Failed', 'Abort'), { accepted: false, rule: 'final-state' });
  t.strictSame(judgeBatch('Stopped', 'Stop'), { accepted: false, rule: 'already-stopped' });
  t.strictSame(batchCommands('Running', { heldInside: true }), ['Pause', 'Hold', 'Restart', 'Stop', 'Abort']);
});

t.test('CMD-02: whatever a parent propagates is accepted by the child that gets it', async (t) => {
  for (const command of Object.keys(PROPAGATION) as Command[]) {
    for (const state of STATES) if (childTakes(command, state)) t.ok(judge(state, command).accepted, `${command} in ${state}`);
  }
  t.ok(childrenSettled('Holding', ['Held', 'Complete', 'Idle']));
  t.notOk(childrenSettled('Holding', ['Held', 'Holding']));
  t.notOk(childrenSettled('Running', ['Complete']));
  t.ok(childrenSettled('Stopping', ['Idle', 'Stopped', 'Complete']));
  t.ok(isActive('Held') && !isActive('Idle') && !isActive('Complete') && progression('Held') === 'waiting');
});

t.test('CMD-02: a generated walk of commands keeps every phase inside the table', async () => {
  const valve = (text: string) => ({
    steps: [{ name: 'act', initial: true, actionST: text }, { name: 'end' }],
    transitions: [{ from: 'act', to: 'end', conditionST: "READ('go.value')" }],
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...COMMANDS), fc.constantFrom('scan', 'open', 'shut')), { maxLength: 60 }), (walk) => {
      const plant = new Plant();
      const go = plant.tag('go.value', 'BOOL', false);
      const charts = { holding: valve('a := 1;'), restarting: valve('a := 2;'), stopping: valve('a := 3;'), aborting: valve('a := 4;'), resetting: valve('a := 5;') };
      plant.phases.load(
        basicPlan(
          'p',
          { steps: [{ name: 'run', initial: true, actionST: 'a := 0;' }, { name: 'end' }], transitions: [{ from: 'run', to: 'end', conditionST: "READ('go.value') AND a = 99" }] },
          { charts },
        ),
      );
      for (const act of walk) {
        if (act === 'scan') plant.scan();
        else if (act === 'open' || act === 'shut') go.value = act === 'open';
        else {
          const before = plant.state('p') as State;
          const verdict = judge(before, act);
          const id = plant.command('p', act);
          const from = plant.sent.length;
          plant.scan();
          const result = plant.result(id);
          if (!result || result.accepted !== verdict.accepted || (!verdict.accepted && result.rule !== verdict.rule))
            throw new Error(`${act} in ${before}: ${JSON.stringify(result)}`);
          const first = plant.sent.slice(from).find((message) => message.type === 'phase' && message.cause !== '');
          if (verdict.accepted && (first?.type !== 'phase' || first.state !== verdict.next)) throw new Error(`${act} in ${before} led elsewhere`);
        }
      }
    }),
    { numRuns: 150 },
  );
});

t.test('CMD-17: a phase answers every command with its verdict and the rule', async (t) => {
  const plant = new Plant();
  plant.phases.load(basicPlan('p', { steps: [{ name: 'a', initial: true }, { name: 'b' }], transitions: [{ from: 'a', to: 'b', conditionST: 'FALSE' }] }));
  const start = plant.command('p', 'Start');
  const hold = plant.command('p', 'Hold');
  plant.scan();
  t.match(plant.result(hold), { accepted: false, rule: 'not-running', state: 'Idle' });
  t.match(plant.result(start), { accepted: true, state: 'Running' });
  const [pause, stop] = [plant.command('p', 'Pause'), plant.command('p', 'Stop')];
  plant.scan();
  t.match(plant.result(stop), { accepted: true });
  t.match(plant.result(pause), { accepted: false, rule: 'superseded', message: `superseded by Stop (command ${stop})` });
  t.equal(plant.state('p'), 'Stopped', 'a missing stopping chart is complete at once');
  const stray = plant.command('nobody', 'Start');
  t.match(plant.result(stray), { accepted: false, rule: 'unit-not-allocated' });
  plant.phases.load(basicPlan('broken', once('x := ;')));
  const broken = plant.command('broken', 'Start');
  plant.scan();
  t.match(plant.result(broken), { accepted: false, rule: 'chart-invalid' });
});
