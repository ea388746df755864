/** Every reason why work does not go on, as data and as the sentence made of it (decisions 3.9). */
import t from 'tap';
import { parse } from 'valibot';
import type { PhaseCheckpoint, TransitionReport } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { batchBlockedBy, blockedBecause, type Blocker, lookAtElement, phaseBlockedBy, unitBlockedBy } from '../../../src/domains/batches/reading/blocked-by.js';
import { type Allocation, Batch, BatchSpec, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { NO_PROGRESS } from '../../../src/domains/batches/tree/chart-moves.js';
import { CoordinationBlock, CoordinationBlockSpec, SyncBarrier, SyncBarrierSpec } from '../../../src/domains/coordination/kind.js';
import { type ElementStatus, Operation, OperationSpec, Phase, PhaseSpec, Procedure, ProcedureSpec, UnitProcedure } from '../../../src/domains/procedures/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { at } from '../../support/at.js';
import { sfcNow } from '../../../src/domains/batches/reading/phase-now.js';
import { lifeSign } from '../../../src/platform/store/life-sign.js';

const EARLY = '2026-01-01T08:00:00.000Z';
const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/demo/provision');

/** Values that the unit runtimes have published. */
const published = new Map<string, Value>([['li101.pv', 4]]);
const link = {
  ready: true,
  timeScale: 1,
  tags: [{ address: 'li101.pv', type: 'REAL' }],
  tagIndex: (address: string) => (address === 'li101.pv' ? 0 : -1),
  refresh: () => true,
  reading: () => ({ value: published.get('li101.pv') ?? null, quality: QUALITY.Good, atMs: 1 }),
} as unknown as UnitLink;
const runtimes: UnitRuntimes = { link: (_, unit) => (unit === 'rx101' ? link : undefined), links: () => [link], onMessage: () => undefined, onChange: () => undefined };
const world = { store: plant.store, clock: systemClock, runtimes };

// ---------------------------------------------------------------- phases

const spec = parse(PhaseSpec, {
  batchRef: 'b',
  unitRef: 'rx101',
  stepName: 'fill',
  stepPath: 'make/fill',
  roles: [{ name: 'level', requiredType: 'analog-transmitter' }],
  parameters: [{ name: 'amount', type: 'REAL', defaultValue: '9.0' }],
  variables: [{ name: 'ready', type: 'BOOL' }],
});

function phase(status: Partial<ElementStatus>): Resource<PhaseSpec, ElementStatus> {
  const metadata = { name: 'b-make-fill', site: 'demo' } as Resource['metadata'];
  return { kind: 'Phase', metadata, spec, status: { ...Phase.initialStatus(spec), ...status } };
}

const transition = (more: Partial<TransitionReport> = {}): TransitionReport => ({
  index: 0,
  fromStep: 'fill',
  toStep: 'close',
  conditionST: "READ('level.pv') >= amount AND ready",
  evaluated: true,
  met: false,
  result: 'FALSE',
  subConditions: [
    { expression: "READ('level.pv') >= amount", met: false, now: '1.0 >= 9.0' },
    { expression: 'ready', met: true },
  ],
  ...more,
});

function atStep(...transitionStates: readonly TransitionReport[]): Partial<ElementStatus> {
  const sfcStatus = { activeSteps: ['fill'], completedSteps: [], firedTransitions: [], scanCount: 1, held: false, transitionStates, variableSnapshot: { ready: 'TRUE' } };
  return { state: 'Running', sfcStatus };
}

const failure = { class: 'hold', rule: 'step-timeout', message: 'step fill has exceeded its timeout', step: 'fill', since: EARLY, active: false, auditRecordRef: '' } as const;
const prompt = { id: 'p-1', text: 'Is the hatch shut?', timestamp: EARLY, stepName: 'ask', type: 'acknowledge' } as const;
const element = { kind: 'Phase', name: 'b-make-fill', path: 'make/fill', unit: 'rx101' };

t.test('decisions 3.9: what a phase waits for: failures, states, people, laboratories, conditions with their values, actions, modes', async (t) => {
  const rows: readonly [string, Blocker[], Partial<Blocker>[]][] = [
    [
      'a failure that is over: Restart',
      phaseBlockedBy(phase({ state: 'Held', failure })),
      [
        {
          reason: 'failure',
          step: 'fill',
          failure: { rule: 'step-timeout', message: failure.message, active: false },
          command: 'Restart',
          by: ['operate'],
          text: `make/fill: step-timeout: ${failure.message}`,
        },
      ],
    ],
    [
      'a failure that lasts: no command goes on',
      phaseBlockedBy(phase({ state: 'Holding', failure: { ...failure, active: true, step: '' } })),
      [{ reason: 'failure', failure: { rule: 'step-timeout', message: failure.message, active: true }, text: `make/fill: step-timeout: ${failure.message}` }],
    ],
    [
      'its parent waits for it to run again',
      phaseBlockedBy(phase({ state: 'Held', failure }), undefined, true),
      [
        {
          reason: 'child-failure',
          step: 'fill',
          failure: { rule: 'step-timeout', message: failure.message, active: false },
          command: 'Restart',
          by: ['operate'],
          text: `child-failure: make/fill: step-timeout: ${failure.message}`,
        },
      ],
    ],
    ['held by somebody', phaseBlockedBy(phase({ state: 'Held' })), [{ reason: 'held', command: 'Restart', by: ['operate'], text: 'make/fill is held; Restart goes on' }]],
    ['paused', phaseBlockedBy(phase({ state: 'Paused' })), [{ reason: 'paused', command: 'Resume', by: ['operate'], text: 'make/fill is paused; Resume goes on' }]],
    [
      'Semi-Automatic names the transition it has stopped before',
      phaseBlockedBy(phase({ state: 'Paused', pausedAt: 'fill->close#0' })),
      [{ reason: 'semi-automatic', transition: 'fill->close#0', command: 'Resume', by: ['operate'], text: 'make/fill waits before fill->close#0; Resume fires it' }],
    ],
    [
      'a prompt, and who may answer it',
      phaseBlockedBy(phase({ state: 'Running', pendingPrompt: prompt })),
      [
        {
          reason: 'prompt',
          step: 'ask',
          prompt: { id: 'p-1', text: prompt.text, type: 'acknowledge', resultKey: '' },
          by: ['operate-lead'],
          text: 'make/fill waits for an answer: Is the hatch shut?',
        },
      ],
    ],
    [
      'a result that the laboratory gives with its key',
      phaseBlockedBy(phase({ state: 'Running', pendingPrompt: { ...prompt, type: 'value', resultKey: 'viscosity' } })),
      [
        {
          reason: 'external-result',
          step: 'ask',
          prompt: { id: 'p-1', text: prompt.text, type: 'value', resultKey: 'viscosity' },
          by: ['apiKey', 'operate-lead'],
          text: 'make/fill waits for the external result viscosity',
        },
      ],
    ],
    [
      'a condition, as it was last told',
      phaseBlockedBy(phase(atStep(transition()))),
      [
        {
          reason: 'condition',
          step: 'fill',
          transition: 'fill->close#0',
          conditions: transition().subConditions,
          text: "make/fill, step fill: READ('level.pv') >= amount, now 1.0 >= 9.0",
        },
      ],
    ],
    [
      'an action that has not ended',
      phaseBlockedBy(phase(atStep(transition({ conditionST: '', evaluated: false, reason: 'the action of the step is not finished', subConditions: [] })))),
      [{ reason: 'action', step: 'fill', transition: 'fill->close#0', conditions: [], text: 'make/fill, step fill: the action of the step is not finished' }],
    ],
    [
      'Manual: true, and fires by hand only',
      phaseBlockedBy(phase({ ...atStep(transition({ met: true, result: 'TRUE' })), mode: 'Manual' })),
      [
        {
          reason: 'manual',
          step: 'fill',
          transition: 'fill->close#0',
          by: ['operate-lead'],
          text: 'make/fill is in Manual before fill->close#0; it fires by hand only: a lead operator touches it in the chart on the panel (/hmi), or sets Phase make/fill back to Automatic',
        },
      ],
    ],
    ...(
      [
        ['a state that is another one: what it is now, and no sentence that reads as if both were the same', "'Stopped'", "'Fault'"],
        ['two values that are compared are both told', 'wanted', "'Fault' = 'Stopped'"],
      ] as const
    ).map(([what, right, told]): [string, Blocker[], Partial<Blocker>[]] => {
      const conditions = [{ expression: `READ('pump.state') = ${right}`, met: false, now: "'Fault' = 'Stopped'" }];
      const text = `make/fill, step fill: READ('pump.state') = ${right}, now ${told}`;
      return [
        what,
        phaseBlockedBy(phase(atStep(transition({ subConditions: conditions })))),
        [{ reason: 'condition', step: 'fill', transition: 'fill->close#0', conditions, text }],
      ];
    }),
    ['a transition that fires by itself in a moment blocks nothing', phaseBlockedBy(phase(atStep(transition({ met: true, result: 'TRUE' })))), []],
    ['an answer that is being given', phaseBlockedBy(phase({ state: 'Running', pendingPrompt: prompt, answer: { waitId: 'p-1' } as never })), []],
    ['Complete', phaseBlockedBy(phase({ state: 'Complete' })), []],
  ];
  for (const [title, found, wanted] of rows) {
    t.same(
      found,
      wanted.map((part) => ({ ...part, element })),
      title,
    );
    t.equal(blockedBecause(found), wanted.map(({ text }) => text).join('; '), `${title}: the sentence`);
  }
});

t.test('decisions 3.9: conditions are judged anew with the values of now; other ways on from the step are named', async (t) => {
  const other = transition({ index: 1, toStep: 'drain', conditionST: 'ready AND late', subConditions: [{ expression: 'late', met: false }] });
  const waiting = phase(atStep(transition(), other));
  const blocker = at(phaseBlockedBy(waiting, world), 0);
  t.match(
    blocker,
    {
      reason: 'condition',
      conditions: [
        { met: false, now: /^4(\.0)? >= 9(\.0)?$/ },
        { expression: 'ready', met: true },
      ],
    },
    'the level is 4 now, not 1',
  );
  t.match(blocker.alternatives, [{ transition: 'fill->drain#1', conditions: [{ expression: 'late', met: false }] }]);
  published.set('li101.pv', 9.5);
  t.same(phaseBlockedBy(phase(atStep(transition())), world), [], 'met since: it fires with the next scan');
  published.set('li101.pv', 4);
});

t.test('an answer for which the recipe has no way on: the batch is stopped, or the run by hand, which has no batch', (t) => {
  const asks = {
    unitRef: 'rx101',
    steps: [{ name: 'ask', initial: true, actionST: "go := PROMPT_CHOICE('Clear?', 'Yes', 'No');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "go = 'Yes'" }],
    variables: [{ name: 'go', type: 'STRING' }],
  };
  const told = transition({ fromStep: 'ask', toStep: 'done', conditionST: "go = 'Yes'", subConditions: [{ expression: "go = 'Yes'", met: false }] });
  const snapshot = { ...atStep(told).sfcStatus, activeSteps: ['ask'], variableSnapshot: { go: 'No' } } as never;
  for (const [more, said] of [
    [{ batchRef: 'b', stepPath: 'make/ask' }, "make/ask, step ask: the recipe has no way on for the answer 'No'; stop the batch, or take the step on by hand in Manual"],
    [{}, "b-make-fill, step ask: the recipe has no way on for the answer 'No'; stop the run, or take the step on by hand in Manual"],
  ] as const) {
    const asking = { ...phase({ state: 'Running', sfcStatus: snapshot }), spec: parse(PhaseSpec, { ...asks, ...more }) };
    t.match(phaseBlockedBy(asking, world), [{ reason: 'condition', step: 'ask', text: said, by: ['operate', 'operate-lead'] }]);
  }
  t.end();
});

t.test('decisions 3.7: in Manual and in Paused a transition is judged for whoever looks, with the values of now; what only the chart knows says so', async (t) => {
  const looked = (report: Partial<TransitionReport>, more: Partial<ElementStatus> = {}, of: Partial<PhaseSpec> = {}, by = world) => {
    const stood = phase({ ...atStep(transition(report)), mode: 'Manual', ...more });
    const { sfcStatus } = stood.status;
    if (!sfcStatus) throw new Error('it stands at a step');
    return at(sfcNow({ ...stood, spec: { ...spec, ...of } }, sfcStatus, 'running', by).transitionStates, 0);
  };
  t.match(looked({}), { evaluated: true, met: false, result: 'FALSE', subConditions: [{ met: false, now: /^4(\.0)? >= 9/ }, { met: true }] });
  published.set('li101.pv', 9.5);
  for (const state of ['Running', 'Paused', 'Held'] as const)
    t.match(looked({}, { state }), { evaluated: true, met: true, result: 'TRUE', subConditions: [{ met: true, now: /^9\.5 >= 9/ }, {}] }, `${state}: true now, and nothing fires`);
  t.match(
    looked({ evaluated: false, reason: 'the branches have not finished' }),
    { evaluated: false, met: false, result: 'TRUE', reason: /branches/ },
    'branches that have not finished',
  );
  published.delete('li101.pv');
  t.match(
    looked({ met: true, result: 'TRUE' }),
    { evaluated: false, met: false, result: 'INVALID', reason: "READ('level.pv') has no value" },
    'without a value it is not met, however it was',
  );
  published.set('li101.pv', 4);

  const time = { conditionST: 'fill.T >= T#3s', subConditions: [{ expression: 'fill.T >= T#3s', met: false, now: 'T#0ms >= T#3s' }] };
  const ranMs = (elapsedMs: number) => ({ checkpoint: { running: { steps: [{ step: 'fill', elapsedMs }] } } as unknown as PhaseCheckpoint, savedAt: lifeSign(plant.store) });
  t.match(looked(time, ranMs(3100)), { met: true, subConditions: [{ met: true, now: /^T#3s1\d\dms >= T#3s$/ }] }, 'the time of a step goes on');
  t.match(looked(time, { ...ranMs(2900), state: 'Paused' }), { met: false, subConditions: [{ now: 'T#2s900ms >= T#3s' }] }, 'and stands while it is paused');
  t.match(looked(time), { asTold: /fill\.T is known to the chart alone/, met: false, subConditions: [{ met: false, asTold: true, now: 'T#0ms >= T#3s' }] });
  t.match(looked({}, {}, { steps: [{ name: 'fill', actionMode: 'cyclic' }] as PhaseSpec['steps'] }), {
    asTold: undefined,
    result: 'FALSE',
    subConditions: [{ now: /^4(\.0)? >= 9/ }, { expression: 'ready', asTold: true }],
  });
  const computed = { conditionST: 'ready', subConditions: [{ expression: 'ready', met: true }], met: true, result: 'TRUE' as const };
  t.match(looked(computed, {}, { steps: [{ name: 'fill', actionMode: 'cyclic' }] as PhaseSpec['steps'] }), { asTold: 'ready is computed in each scan', met: true });
  const asked = { conditionST: "MODE('level') = 1", subConditions: [{ expression: "MODE('level') = 1", met: true }], met: true, result: 'TRUE' as const };
  t.match(looked(asked), { met: true, asTold: /answered to the chart alone/, subConditions: [{ asTold: true }] });
  const away = { ...world, runtimes: { ...runtimes, link: () => undefined } };
  t.match(looked({}, {}, {}, away), { asTold: 'the runtime of rx101 is not there', subConditions: [{ asTold: true, now: '1.0 >= 9.0' }, { met: true }] });
});

// ---------------------------------------------------------------- batches

const allocation = (unit: string, state: Allocation['state']): Allocation => ({ capability: unit, unit, state, since: EARLY });

function batch(name: string, status: Partial<BatchStatus>): Resource<BatchSpec, BatchStatus> {
  const batchSpec = parse(BatchSpec, { batchID: name, masterRecipeRef: 'resin-a' });
  return { kind: 'Batch', metadata: { name, site: 'demo' } as Resource['metadata'], spec: batchSpec, status: { ...Batch.initialStatus(batchSpec), ...status } };
}

t.test('decisions 3.9: what a batch waits for by itself', async (t) => {
  const own = { kind: 'Batch', name: 'b', path: '', unit: '' };
  const rejected = { commandRejection: { command: 'Start', rule: 'permissive-hot', message: 'unit rx101: preheat the reactor' } as never };
  const rows: readonly [Partial<BatchStatus>, Partial<Blocker>[]][] = [
    [{}, [{ reason: 'start', text: 'waits for an operator to start it', command: 'Start', by: ['operate'] }]],
    [
      rejected,
      [
        {
          reason: 'command-rejected',
          failure: { rule: 'permissive-hot', message: 'unit rx101: preheat the reactor', active: true },
          text: 'Start was rejected: unit rx101: preheat the reactor',
          command: 'Start',
          by: ['operate'],
        },
      ],
    ],
    [
      { phase: 'Held', failure: { ...failure, step: '' } },
      [
        {
          reason: 'failure',
          failure: { rule: 'step-timeout', message: failure.message, active: false },
          text: `step-timeout: ${failure.message}`,
          command: 'Restart',
          by: ['operate'],
        },
      ],
    ],
    [{ phase: 'Held' }, [{ reason: 'held', text: 'held; Restart goes on', command: 'Restart', by: ['operate'] }]],
    [{ phase: 'Paused' }, [{ reason: 'paused', text: 'paused; Resume goes on', command: 'Resume', by: ['operate'] }]],
    [{ phase: 'Complete' }, []],
    [{ phase: 'Stopping' }, []],
  ];
  for (const [status, wanted] of rows) {
    t.same(
      batchBlockedBy(world, batch('b', status)),
      wanted.map((part) => ({ ...part, element: own })),
      JSON.stringify(status),
    );
  }
});

const steps = ['first', 'second', 'third', 'fourth', 'fifth'];
/** One unit procedure per unit, all of which would start now. */
const UNITS: Readonly<Record<string, string>> = { first: 'nowhere', second: 'mx101', third: 'rx101', fourth: 'tk201', fifth: 'tk201' };

async function running(): Promise<void> {
  const made = (kind: unknown, name: string, elementSpec: object, status: object = {}): Put => {
    const { initialStatus } = kind as { initialStatus(spec: object): object };
    return { kind, site: 'demo', name, spec: elementSpec, status: { ...initialStatus(elementSpec), ...status } } as Put;
  };
  const unitProcedure = (step: string): Put =>
    made(UnitProcedure, `b-${step}`, parse(OperationSpec, { batchRef: 'b', unitRef: UNITS[step], stepName: step, stepPath: step, parentRef: { kind: 'Procedure', name: 'b' } }));
  const held = (unit: string, allocatedTo: string, more: object = {}): Put => {
    const now = plant.store.get(Unit, 'demo', unit);
    return { kind: Unit, site: 'demo', name: unit, spec: { ...now?.spec, ...more }, status: { ...now?.status, allocatedTo } } as Put;
  };
  const chart = { steps: steps.map((name) => ({ name, stepLevel: 'UnitProcedure' })), transitions: [] };
  const signal = { signalName: 'tankReady', producer: { kind: 'Phase', name: 'b-x' }, consumers: [{ kind: 'UnitProcedure', name: 'b-fourth', waitFor: 'Start' }] };
  const participants = ['b-fifth', 'b-sixth'].map((name) => ({ kind: 'UnitProcedure', name, waitFor: 'Start' }));
  const { spec: batchSpec, status } = batch('b', { phase: 'Running', procedure: 'b', allocations: [allocation('mx101', 'Requested'), allocation('tk201', 'Granted')] });
  const other = batch('b-urgent', { phase: 'Running', allocations: [allocation('mx101', 'Requested')] });
  await plant.store.write({
    puts: [
      { kind: Batch, site: 'demo', name: 'b', spec: batchSpec, status } as Put,
      { kind: Batch, site: 'demo', name: 'b-urgent', spec: { ...other.spec, priority: 900 }, status: other.status } as Put,
      made(Procedure, 'b', parse(ProcedureSpec, { batchRef: 'b', chart }), { state: 'Running', progress: { ...NO_PROGRESS, active: steps } }),
      ...steps.map(unitProcedure),
      held('mx101', 'b-before'),
      held('tk201', 'b'),
      held('rx101', '', { permissives: [{ name: 'full', conditionST: "READ('li101.pv') > 50.0", message: 'fill the jacket first' }] }),
      made(CoordinationBlock, 'b-tank-ready', parse(CoordinationBlockSpec, { mode: 'Signal', batchRef: 'b', signal })),
      made(SyncBarrier, 'b-meet', parse(SyncBarrierSpec, { batchRef: 'b', participants })),
    ],
  });
}

t.test('decisions 3.9, 2.7: what an element waits for before it starts: no unit, its holder and the queue, a permissive, a signal, a barrier', async (t) => {
  await running();
  const found = batchBlockedBy(world, plant.store.get(Batch, 'demo', 'b') as Resource<BatchSpec, BatchStatus>);
  const waits = (path: string): Blocker | undefined => found.find((blocker) => blocker.element.path === path);
  t.match(waits('first'), { reason: 'no-unit', unit: { name: 'nowhere', holder: '' }, text: 'first waits: unit nowhere does not exist' });
  t.match(waits('second'), { reason: 'allocation', unit: { name: 'mx101', holder: 'b-before' }, queuePosition: 2, text: 'second waits: unit mx101 is allocated to b-before' });
  t.match(waits('third'), {
    reason: 'permissive',
    unit: { name: 'rx101', holder: '' },
    permissive: { rule: 'permissive-full', message: 'unit rx101: fill the jacket first' },
    text: 'third waits: unit rx101: fill the jacket first',
  });
  t.match(waits('fourth'), { reason: 'signal', signal: 'tankReady', text: 'fourth waits: signal tankReady' });
  t.match(waits('fifth'), { reason: 'barrier', barrier: 'b-meet', text: 'fifth waits: barrier b-meet' });
  t.equal(found.length, 5);
  t.equal(blockedBecause(found).split('; ').length, 5, 'one sentence of all of them');
  t.same(
    unitBlockedBy(world, 'demo', 'tk201', 'b').map(({ reason }) => reason),
    ['barrier', 'signal'],
    'a unit tells what keeps the work on it, by name',
  );
  t.same(unitBlockedBy(world, 'demo', 'tk201', ''), [], 'a free unit waits for nothing');
});

t.test('decisions 3.9, 3.7: an operation waits for its condition, or in Manual for a hand', async (t) => {
  const chart = { steps: ['a', 'b'].map((name) => ({ name, stepLevel: 'Phase' })), transitions: [{ from: 'a', to: 'b', conditionST: 'a.done = TRUE' }] };
  const operation = parse(OperationSpec, { batchRef: '', unitRef: 'rx101', stepName: '', stepPath: '', chart });
  const child = parse(PhaseSpec, { batchRef: '', unitRef: 'rx101', stepName: 'a', stepPath: 'a', parentRef: { kind: 'Operation', name: 'op' } });
  const look = async (mode: string, done: string): Promise<readonly Blocker[]> => {
    const progress = { ...NO_PROGRESS, active: ['a'] };
    await plant.store.write({
      puts: [
        {
          kind: Operation,
          site: 'demo',
          name: 'op',
          spec: operation,
          status: { ...Operation.initialStatus(operation), adhoc: true, state: 'Running', mode, progress },
        } as Put,
        {
          kind: Phase,
          site: 'demo',
          name: 'op-a',
          spec: child,
          status: { ...Phase.initialStatus(child), state: 'Complete', runCount: 1, outputs: [{ name: 'done', type: 'BOOL', value: done, unit: '' }] },
        } as Put,
      ],
    });
    return unitBlockedBy(world, 'demo', 'rx101', 'op');
  };
  t.match(await look('Automatic', 'FALSE'), [{ reason: 'condition', step: 'a', transition: 'a->b#0', conditions: [{ met: false }], element: { kind: 'Operation', name: 'op' } }]);
  t.match(await look('Manual', 'TRUE'), [{ reason: 'manual', step: 'a', transition: 'a->b#0', by: ['operate-lead'] }]);
  t.same(await look('Automatic', 'TRUE'), [], 'it fires with the next look');

  const chartOf = () => lookAtElement(world, plant.store.get(Operation, 'demo', 'op') as Resource<OperationSpec, ElementStatus>).sfcStatus;
  const row = { index: 0, fromStep: 'a', toStep: 'b', conditionST: 'a.done = TRUE' };
  const right = { what: 'value', text: 'TRUE', type: 'BOOL', value: 'TRUE' };
  const sides = { left: { what: 'output', name: 'a.done', text: 'a.done', type: 'BOOL', value: 'TRUE' }, operator: '=', right };
  t.same(chartOf()?.transitionStates, [
    { ...row, evaluated: true, met: true, result: 'TRUE', subConditions: [{ expression: 'a.done = TRUE', met: true, now: 'TRUE = TRUE', sides }] },
  ]);
  t.same(chartOf()?.variableSnapshot, { 'a.done': 'TRUE' });
  await look('Automatic', '');
  t.match(chartOf()?.transitionStates, [{ ...row, evaluated: false, met: false, result: 'INVALID', reason: 'a.done has no value', subConditions: [{ met: false }] }]);
});
