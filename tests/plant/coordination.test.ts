/** Signals and barriers between phases that really run (contract 3, Other kinds; decisions 2.7). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;

/** A phase that is at its end when an operator says so. */
const ASKING = {
  steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
  transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
};
const reading = (what: string) => ({ steps: [{ name: 'wait', initial: true }, { name: 'done' }], transitions: [{ from: 'wait', to: 'done', conditionST: `READ('${what}')` }] });
const AT_ONCE = { steps: [{ name: 'only', initial: true }], transitions: [] };

async function put(path: string, body: object): Promise<void> {
  const answer = await api.post(`${SITE}/${path}`, body);
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`);
}

/** An operation that is one phase. */
const operation = (name: string, phase: string) => ({
  name,
  stepLevel: 'Operation',
  subChart: { steps: [{ name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: phase }] },
});

/** Two operations beside each other on the reactor, `give` and `take`, with the coordination between them. */
async function recipe(
  name: string,
  phases: { readonly give: string; readonly take: string },
  block: { readonly kind: string; readonly spec: object },
  more: object = {},
): Promise<void> {
  const answer = await api.post('/api/v1/apply', {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: block.kind,
    metadata: { name: `${name}-block`, namespace: 'site-demo' },
    spec: { batchRef: '', description: '', ...block.spec },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  const both = {
    steps: [operation('give', phases.give), operation('take', phases.take)],
    divergences: [{ name: 'both', type: 'SimultaneousDiverge', branches: ['give', 'take'] }],
  };
  await put('recipes/master', {
    name,
    spec: {
      coordinationRefs: [{ kind: block.kind, name: `${name}-block` }],
      equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }],
      procedure: { chart: { steps: [{ name: 'work', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: both }] } },
      ...more,
    },
  });
}

const signal = (consumer: { readonly kind: string; readonly name: string; readonly waitFor: string }, timeoutSeconds = 0) => ({
  kind: 'CoordinationBlock',
  spec: { mode: 'Signal', timeoutSeconds, signal: { signalName: 'go', producer: { kind: 'Phase', name: 'work/give/phase' }, consumers: [consumer], condition: '' } },
});
const TAKER = { kind: 'Phase', name: 'work/take/phase', waitFor: 'Chart' };

const untilBlock = (batch: string, phase: string) =>
  plant.look(`the block of ${batch} is ${phase}`, async () => {
    const { coordination } = await plant.batch(batch);
    return { done: coordination?.[0]?.phase === phase || undefined, seen: JSON.stringify(coordination) };
  });
const element = async (list: string, batch: string, path: string) => (await api.get(`${SITE}/${list}/${batch}-${path}`)).body;

/** Of the blocks and barriers there are those of a batch by its name, as a backup has them. */
async function kept(kind: string, batch: string): Promise<{ metadata: object; status: object }[]> {
  const { resources } = (await api.get('/api/v1/backup/crds')).body;
  return resources.filter((each: { kind: string; spec: { batchRef?: string } }) => each.kind === kind && each.spec.batchRef === batch);
}

async function end(batch: string): Promise<void> {
  await plant.command(batch, 'Abort', 'the test has seen enough');
  await plant.until(batch, 'Aborted');
}

await put('phasetemplates', { name: 'asking', spec: ASKING });
await put('phasetemplates', { name: 'asking-briefly', spec: { ...ASKING, timeoutSeconds: 1 } });
await put('phasetemplates', { name: 'reads-signal', spec: reading('signal:go') });
await put('phasetemplates', { name: 'reads-barrier', spec: reading('barrier:meet-block') });
await put('phasetemplates', { name: 'at-once', spec: AT_ONCE });

t.test('COORD-03: a signal goes from its producer to its consumer: Active, then Satisfied', async (t) => {
  await recipe('signal', { give: 'asking', take: 'reads-signal' }, signal(TAKER, 600));
  const batch = await plant.runBatch({ masterRecipeRef: 'signal' });
  await untilBlock(batch, 'Active');
  const consumer = await plant.look('the consumer runs and waits', async () => {
    const body = await element('phases', batch, 'work-take-phase');
    return { done: body.state === 'Running' ? body : undefined, seen: body.state };
  });
  t.match(consumer, { unit: 'rx101', stepName: 'phase' });
  await plant.finish(batch);
  await untilBlock(batch, 'Satisfied');
});

t.test('COORD-01: coordination-timeout holds the waiting consumer; after Restart the late signal is taken', async (t) => {
  await recipe('late', { give: 'asking', take: 'reads-signal' }, signal(TAKER, 1));
  const batch = await plant.runBatch({ masterRecipeRef: 'late' });
  const held = await plant.until(batch, 'Held');
  t.match(held, { coordination: [{ kind: 'CoordinationBlock', phase: 'TimedOut' }], blockedBecause: /signal go was not raised within 1 s/ });
  t.match(await element('phases', batch, 'work-take-phase'), {
    state: 'Held',
    failure: { rule: 'coordination-timeout', class: 'hold', message: 'signal go was not raised within 1 s' },
  });
  t.ok((await plant.events(batch)).some((event) => event.value === 'coordination-timeout'));
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.until(batch, 'Running');
  await plant.finish(batch);
  await untilBlock(batch, 'Satisfied');
});

t.test('decisions 2.7: a consumer that waits to start stays Idle; its time-out holds what it would start in', async (t) => {
  await recipe('start', { give: 'asking', take: 'at-once' }, signal({ kind: 'Operation', name: 'work/take', waitFor: 'Start' }, 1));
  const batch = await plant.runBatch({ masterRecipeRef: 'start' });
  await plant.until(batch, 'Held');
  t.equal((await element('operations', batch, 'work-take')).state, 'Idle');
  t.match(await element('unitprocedures', batch, 'work'), { state: 'Held', failure: { rule: 'coordination-timeout', step: 'take' } });
  await plant.command(batch, 'Restart');
  await plant.until(batch, 'Running');
  await plant.finish(batch);
  await untilBlock(batch, 'Satisfied');
  t.equal((await element('operations', batch, 'work-take')).state, 'Complete');
});

t.test('decisions 2.7: a producer that is Aborted without raising fails the block and holds who waits', async (t) => {
  await recipe('lost', { give: 'asking-briefly', take: 'reads-signal' }, signal(TAKER), { holdPropagation: 'phase' });
  const batch = await plant.runBatch({ masterRecipeRef: 'lost' });
  await untilBlock(batch, 'Failed');
  const held = await plant.look('the consumer is held', async () => {
    const phase = await element('phases', batch, 'work-take-phase');
    return { done: phase.state === 'Held' ? phase : undefined, seen: phase.state };
  });
  t.match(held.failure, { rule: 'coordination-failed', message: /Aborted and has not raised signal go/ });
  await end(batch);
});

t.test('PROC-12: outputs are kept as they are when the phase ends; what was never assigned is left out', async (t) => {
  const outputs = [
    { name: 'weighed', type: 'REAL', unit: 'kg', description: 'net' },
    { name: 'counted', type: 'INT' },
  ];
  await put('phasetemplates', { name: 'weighs', spec: { outputs, steps: [{ name: 'weigh', initial: true, actionST: 'weighed := 1.5;' }], transitions: [] } });
  await recipe('outputs', { give: 'weighs', take: 'at-once' }, signal(TAKER));
  const batch = await plant.runBatch({ masterRecipeRef: 'outputs' });
  await plant.until(batch, 'Complete');
  const phase = await element('phases', batch, 'work-give-phase');
  t.same(phase.outputs, [{ name: 'weighed', type: 'REAL', value: '1.5', unit: 'kg' }]);
  t.match((await plant.batch(batch)).outputs, [{ element: 'work/give/phase', name: 'weighed', value: '1.5' }]);
});

t.test('decisions 2.7: a barrier is passed by those who read it and those who start at it, once all have come', async (t) => {
  const participants = [
    { kind: 'Phase', name: 'work/give/phase', waitFor: 'Chart' },
    { kind: 'Operation', name: 'work/take', waitFor: 'Start' },
  ];
  await recipe('meet', { give: 'reads-barrier', take: 'at-once' }, { kind: 'SyncBarrier', spec: { timeoutSeconds: 300, participants } });
  const batch = await plant.runBatch({ batchID: 'MEET-1', masterRecipeRef: 'meet' });
  t.match(await plant.until(batch, 'Complete'), { coordination: [{ kind: 'SyncBarrier', phase: 'Satisfied' }] });

  await plant.remove(batch);
  t.same(await kept('SyncBarrier', batch), [], 'decisions 1.1: copies go with the batch they were made for');
});

t.test('D-C-12: a unit procedure that waits for a signal or a barrier asks for its unit when it may start, not before', async (t) => {
  const unitProcedure = (name: string, targetCapability: string, phase: string) => ({
    name,
    stepLevel: 'UnitProcedure',
    targetCapability,
    subChart: { steps: [{ name: 'op', stepLevel: 'Operation', subChart: { steps: [{ name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: phase }] } }] },
  });
  const blocks = [
    { kind: 'CoordinationBlock', name: 'turn-signal', spec: signal({ kind: 'UnitProcedure', name: 'second', waitFor: 'Start' }).spec },
    {
      kind: 'SyncBarrier',
      name: 'turn-barrier',
      spec: { participants: ['second', 'third'].map((name) => ({ kind: 'UnitProcedure', name, waitFor: 'Start' })) },
    },
  ] as const;
  blocks[0].spec.signal.producer = { kind: 'UnitProcedure', name: 'first' };
  for (const { kind, name, spec } of blocks) {
    const manifest = { apiVersion: 'control.lineside.io/v1alpha1', kind, metadata: { name, namespace: 'site-demo' }, spec: { batchRef: '', description: '', ...spec } };
    t.equal((await api.post('/api/v1/apply', manifest)).status, 200);
  }
  await put('recipes/master', {
    name: 'turns',
    spec: {
      allocation: 'OnDemand',
      coordinationRefs: blocks.map(({ kind, name }) => ({ kind, name })),
      equipmentRequirements: [
        { capability: 'premix', defaultUnit: 'mx101' },
        { capability: 'reactor', defaultUnit: 'rx101' },
        { capability: 'buffer', defaultUnit: 'tk201' },
      ],
      procedure: {
        chart: {
          steps: [unitProcedure('first', 'premix', 'asking'), unitProcedure('second', 'reactor', 'asking'), unitProcedure('third', 'buffer', 'asking')],
          divergences: [{ name: 'all', type: 'SimultaneousDiverge', branches: ['first', 'second', 'third'] }],
        },
      },
    },
  });
  const batch = await plant.runBatch({ masterRecipeRef: 'turns' });
  const first = await plant.look('the first asks', async () => {
    const prompts = await plant.prompts(batch);
    return { done: prompts.find(({ unit }) => unit === 'mx101'), seen: JSON.stringify(prompts) };
  });
  // the second has come to the barrier without its unit, so the third has passed it
  const allocations = await plant.look('the third has its unit', async () => {
    const { allocations: now } = await plant.batch(batch);
    return { done: now[2].state === 'Granted' ? now : undefined, seen: JSON.stringify(now) };
  });
  t.match(allocations, [
    { unit: 'mx101', state: 'Granted' },
    { unit: 'rx101', state: 'Requested', since: '' },
  ]);
  t.match(await plant.unit('rx101'), { allocatedTo: '', allocationQueue: [] }, 'it is free for others');
  const waits = await element('unitprocedures', batch, 'second');
  t.match(waits, { state: 'Idle', conditions: [], blockedBecause: /signal go/ }, 'it does not wait for a unit');

  t.equal((await plant.answer(first, '')).status, 200);
  await plant.look('it has its unit, and that of the first is free', async () => {
    const { allocations } = await plant.batch(batch);
    const states = allocations.map(({ state }: { state: string }) => state).join();
    return { done: /^Released,Granted,/.test(states) || undefined, seen: states };
  });
  await plant.finish(batch);
});

t.test('COORD-01, ADR 0009: a block with batchRef is used as it is, and stays, as new, when its batch is deleted', async (t) => {
  const batchID = 'WRITTEN-1';
  await recipe('plain', { give: 'at-once', take: 'reads-signal' }, signal(TAKER), { coordinationRefs: [] });
  const batch = await plant.createBatch({ batchID, masterRecipeRef: 'plain' });
  const written = {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: 'CoordinationBlock',
    metadata: { name: 'written-go', namespace: 'site-demo' },
    spec: {
      mode: 'Signal',
      batchRef: batch,
      signal: {
        signalName: 'go',
        producer: { kind: 'Phase', name: `${batch}-work-give-phase` },
        consumers: [{ kind: 'Phase', name: `${batch}-work-take-phase`, waitFor: 'Chart' }],
      },
    },
  };
  const applied = await api.post('/api/v1/apply', written);
  t.equal(applied.status, 200, applied.text);
  const satisfied = [{ kind: 'CoordinationBlock', name: 'written-go', phase: 'Satisfied' }];
  t.equal((await plant.command(batch, 'Start')).status, 200);
  await plant.until(batch, 'Complete');
  await untilBlock(batch, 'Satisfied');
  t.same((await plant.batch(batch)).coordination, satisfied);
  await plant.remove(batch);
  t.match(
    await kept('CoordinationBlock', batch),
    [{ metadata: { name: 'written-go' }, status: { phase: 'Idle', signalRaised: false } }],
    'what a person wrote stays; what happened to it went with the batch',
  );
  t.match(
    await api.post(`${SITE}/batches`, { batchID, masterRecipeRef: 'plain' }),
    { status: 409, body: { code: 'batch_id_in_use', batchRecord: batch } },
    'its record stays as well (decisions Q-RECIPE-32)',
  );
});

t.test('decisions 2.7: a barrier that not all reach in time holds those who wait at it', async (t) => {
  const participants = [
    { kind: 'Phase', name: 'work/give/phase', waitFor: 'Chart' },
    { kind: 'Phase', name: 'work/take/phase', waitFor: 'Chart' },
  ];
  await put('phasetemplates', { name: 'reads-other', spec: reading('barrier:alone-block') });
  await recipe('alone', { give: 'asking', take: 'reads-other' }, { kind: 'SyncBarrier', spec: { timeoutSeconds: 1, participants } });
  const batch = await plant.runBatch({ masterRecipeRef: 'alone' });
  await plant.until(batch, 'Held');
  t.match(await element('phases', batch, 'work-take-phase'), {
    state: 'Held',
    failure: { rule: 'coordination-timeout', message: 'barrier alone-block: 1 of 2 have arrived within 1 s' },
  });
  await end(batch);
});
