/** Batches on the demonstration plant from Start to their end: states, units, allocation, queueing (contract 3; decisions 3.3 to 3.6, 9). */
import t, { type Test } from 'tap';
import { EventClient } from '../platform/stream/clients.js';
import type { Received } from '../platform/stream/scripted.js';
import { type Plant, outputOf, SITE, SMALL, startPlant, UNITS } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const MASTER = `${SITE}/recipes/master`;

/** 28 kg by the recipe; a charge ends with the scan that sees its total, and at the time scale of these plants one that is late on a busy machine has dosed on. */
const isMade = (packed: number): boolean => packed >= 27 && packed <= 36;

t.test('ACCEPT-09: a batch of resin-a with a batchID alone ends Complete with the outputs of the demonstration; its units follow it and are released', async (t) => {
  const batch = await plant.createBatch();
  t.match(await plant.batch(batch), { phase: 'Pending', quantity: '28', validCommands: ['Start'], allocations: [], blockedBecause: /operator/ });
  t.equal((await plant.command(batch, 'Start')).status, 200);
  const running = await plant.until(batch, 'Running');
  t.same(running.allocations.map((allocation: { unit: string; state: string }) => [allocation.unit, allocation.state]).sort(), [
    ['mx101', 'Granted'],
    ['rx101', 'Granted'],
    ['tk201', 'Granted'],
  ]);
  t.match(running, { validCommands: ['Pause', 'Hold', 'Stop', 'Abort'], controlRecipe: undefined, recipe: { name: 'resin-a', version: '1.0.0', controlRecipe: batch } });

  await plant.untilBegun(batch, 'charge');
  const unit = await plant.unit('rx101');
  t.match(
    unit,
    { state: 'Running', allocatedTo: batch, progression: 'acting', activeWork: { kind: 'UnitProcedure', state: 'Running', batchRef: batch } },
    'UNIT-03: the unit shows its unit procedure',
  );
  const procedures = (await plant.api.get(`${SITE}/unitprocedures/${unit.activeWork.name}`)).body;
  t.equal(procedures.unit, 'rx101');

  const done = await plant.finish(batch);
  const avgTemp = outputOf(done, 'avgTemp');
  t.ok(avgTemp >= 78 && avgTemp <= 84, `avgTemp ${avgTemp}`);
  const packed = outputOf(done, 'packed');
  t.ok(isMade(packed), `packed ${packed}`);
  t.equal(outputOf(done, 'ph'), 7.2);
  t.equal(outputOf(done, 'viscosity'), 420);
  t.match(done, { validCommands: ['Reset'], heldInside: false, blockedBecause: '', procedure: { state: 'Complete' } });
  t.ok(done.startedAt < done.endedAt);
  t.ok(done.allocations.every((allocation: { state: string }) => allocation.state === 'Released'));
  for (const name of ['mx101', 'rx101', 'tk201']) {
    const after = await plant.unit(name);
    t.match(after, { state: 'Complete', allocatedTo: '' }, `${name} keeps its final state`);
    t.notOk(after.activeWork, `${name} has no active work`);
  }
  t.ok((await plant.phases(batch)).every((phase) => phase.state === 'Complete' && phase.progression === 'final' && !phase.pendingPrompt));

  const before = await plant.batch(batch);
  const reset = await plant.command(batch, 'Reset');
  t.match(
    (await plant.audit(reset)).map((record) => record.result),
    ['Accepted', 'Success'],
    'Reset of a final batch is accepted',
  );
  const after = await plant.batch(batch);
  t.same([after.phase, after.outputs, after.endedAt], [before.phase, before.outputs, before.endedAt], 'and leaves the batch as it was');
  for (const name of ['mx101', 'rx101', 'tk201']) t.equal((await plant.unit(name)).state, 'Idle', `${name} is reset`);
  t.match(await verdict(plant, batch, 'Hold'), { result: 'Rejected', rule: 'final-state' });
});

t.test(
  'EVT-03 EVT-05 EVT-08 STREAM-06 (Q-STREAM-01, Q-STREAM-19): the states channel tells every change of a batch once, and replays no element of one that has ended',
  async (t) => {
    const states = (): Promise<EventClient> => EventClient.open(plant.base, `${SITE}/events/sse?channel=states`, {});
    const live = await states();
    const batch = await plant.runBatch(SMALL);
    await plant.finish(batch);
    const told: Received[] = [];
    for (let frame = await live.next(); !(frame.data?.kind === 'Batch' && frame.data.name === batch && frame.data.state === 'Complete'); frame = await live.next())
      if (frame.event === 'state') told.push(frame.data);
    live.close();
    const own = told.filter(({ batchRef, replay }) => batchRef === batch && !replay);
    t.same(
      own.filter(({ kind }) => kind === 'Batch').map(({ state, previousState }) => [previousState, state]),
      [
        ['', 'Pending'],
        ['Pending', 'Running'],
      ],
      'and Complete, which ended the wait',
    );
    t.same([...new Set(own.map(({ kind }) => kind))].sort(), ['Batch', 'Operation', 'Phase', 'Procedure', 'Unit', 'UnitProcedure']);
    const last = new Map<string, Received>();
    for (const frame of told) {
      const { kind, name, state, mode, previousState } = frame;
      const before = last.get(`${kind}/${name}`);
      if (before && (before.state !== previousState || (before.state === state && before.mode === mode))) t.fail(JSON.stringify([before, frame]));
      last.set(`${kind}/${name}`, frame);
    }
    t.ok((await plant.phases(batch)).length > 0, 'its elements are kept');
    const replayed = async (): Promise<string[]> => {
      const { units, batches } = (await plant.api.get(`${SITE}/overview`)).body;
      const again = await states();
      const frames = await again.take(units.length + batches.length);
      again.close();
      return frames.map(({ data }) => `${data.kind} ${data.name} ${data.state}`).sort();
    };
    await plant.look('the units alone are replayed', async () => {
      const seen = (await replayed()).join(', ');
      return { done: seen === UNITS.map((name) => `Unit ${name} Complete`).join(', ') || undefined, seen };
    });
    t.equal((await plant.command(batch, 'Reset')).status, 200);
    await plant.look('the units are reset', async () => {
      const units = await Promise.all(UNITS.map((name) => plant.unit(name)));
      return { done: units.every(({ state }) => state === 'Idle') || undefined, seen: units.map(({ state }) => state).join(', ') };
    });
  },
);

t.test('CMD-16: Hold and Restart, Pause and Resume reach every level and lead to the same end', async (t) => {
  const batch = await plant.runBatch();
  await plant.untilBegun(batch, 'mix');
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  const held = await plant.until(batch, 'Held');
  t.match(held, { validCommands: ['Restart', 'Stop', 'Abort'], heldInside: false, procedure: { state: 'Held' }, blockedBecause: /Restart/ });
  for (const name of ['mx101', 'rx101', 'tk201']) t.match(await plant.unit(name), { state: 'Held', allocatedTo: batch, progression: 'waiting' });
  t.notOk(
    (await plant.phases(batch)).some((phase) => phase.progression === 'acting'),
    'nothing acts any more',
  );
  t.match(await verdict(plant, batch, 'Hold'), { result: 'Rejected', rule: 'already-held' });
  t.match(await verdict(plant, batch, 'Resume'), { result: 'Rejected', rule: 'not-paused' });
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.until(batch, 'Running');

  await plant.untilBegun(batch, 'heat');
  t.equal((await plant.command(batch, 'Pause')).status, 200);
  t.match(await plant.until(batch, 'Paused'), { validCommands: ['Resume', 'Hold', 'Stop', 'Abort'] });
  t.match(await plant.unit('rx101'), { state: 'Paused' });
  t.match(await verdict(plant, batch, 'Restart'), { result: 'Rejected', rule: 'not-held' });
  t.match(
    await plant.batch(batch),
    { commandRejection: { command: 'Restart', state: 'Paused', rule: 'not-held' }, conditions: [{ type: 'CommandRejected', status: 'True', reason: 'not-held' }] },
    'CMD-17: the refusal is shown',
  );
  t.match((await plant.api.post(`${SITE}/batches/preflight`, { batch, command: 'Resume' })).body, { ok: true }, 'BATCH-02: nothing is in the way of Resume');
  t.equal((await plant.command(batch, 'Resume')).status, 200);
  t.match(await verdict(plant, batch, 'Resume'), { result: 'Rejected', rule: 'not-paused' }, 'a second one right after the first');
  const resumed = await plant.until(batch, 'Running');
  t.match(resumed.commandRejection, { command: 'Resume', rule: 'not-paused' }, 'CMD-17: the accepted one has removed that of Restart');

  const prompt = await plant.untilPrompt(batch);
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  await plant.until(batch, 'Held');
  t.equal((await plant.answer(prompt, '7.2')).status, 200, 'PHASE-16: a prompt of a held phase stays answerable');
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  const done = await plant.finish(batch);
  t.ok(outputOf(done, 'avgTemp') >= 78 && outputOf(done, 'avgTemp') <= 84, `avgTemp ${outputOf(done, 'avgTemp')}`);
  t.ok(isMade(outputOf(done, 'packed')), `packed ${outputOf(done, 'packed')}`);
});

t.test('BATCH-06: Stop, Abort out of Running and Abort out of Held end the batch and free its units', async (t) => {
  const stopped = await plant.runBatch();
  await plant.untilBegun(stopped, 'charge');
  t.equal((await plant.command(stopped, 'Stop')).status, 200);
  t.match(await plant.until(stopped, 'Stopped'), { validCommands: ['Reset'], procedure: { state: 'Stopped' } });
  await releasedIn(t, 'Stopped');
  t.match(await verdict(plant, stopped, 'Stop'), { result: 'Rejected', rule: 'already-stopped' });

  const aborted = await plant.runBatch();
  await plant.untilBegun(aborted, 'charge');
  t.equal((await plant.command(aborted, 'Abort')).status, 200);
  await plant.until(aborted, 'Aborted');
  await releasedIn(t, 'Aborted');

  const held = await plant.runBatch();
  await plant.untilBegun(held, 'charge');
  await plant.command(held, 'Hold');
  await plant.until(held, 'Held');
  t.equal((await plant.command(held, 'Abort')).status, 200);
  await plant.until(held, 'Aborted');
  await releasedIn(t, 'Aborted');
  await clean();

  const prompt = await waiting(plant);
  t.equal((await plant.command(prompt.batch, 'Stop')).status, 200);
  await plant.until(prompt.batch, 'Stopped');
  t.same(await plant.prompts(prompt.batch), [], 'PHASE-15: the prompt ended with its phase');
  t.match(await plant.answer(prompt, '7'), { status: 409, body: { code: 'prompt_not_pending' } });
  await clean();
});

t.test('ALLOC-01: a second batch for the same units is refused at Start and runs once they are free', async (t) => {
  const first = await plant.runBatch();
  const second = await plant.createBatch();
  const start = await plant.command(second, 'Start');
  t.equal(start.status, 200, 'CMD-14: 200 means that it was recorded');
  const [accepted, rejected] = await plant.audit(start);
  t.match(accepted, { action: 'Command', result: 'Accepted', target: { kind: 'Batch', name: second } });
  t.match(rejected, {
    action: 'Command',
    result: 'Rejected',
    rule: 'allocation-unavailable',
    correlationID: accepted.correlationID,
    actorType: 'component',
    component: 'batch-controller',
  });
  t.match(await plant.batch(second), {
    phase: 'Pending',
    commandRejection: {
      command: 'Start',
      state: 'Pending',
      rule: 'allocation-unavailable',
      message: new RegExp(`is taken by ${(await plant.batch(first)).batchID}`),
      correlationID: accepted.correlationID,
    },
    conditions: [{ type: 'CommandRejected', status: 'True', reason: 'allocation-unavailable' }],
    blockedBecause: /Start was rejected/,
  });
  await plant.command(first, 'Abort');
  await plant.until(first, 'Aborted');
  t.equal((await plant.command(second, 'Start')).status, 200);
  const running = await plant.until(second, 'Running');
  t.match(await verdict(plant, second, 'Abort'), { result: 'Success' }, 'a batch that has only just begun takes commands');
  t.notOk(running.commandRejection);
  await plant.until(second, 'Aborted');
});

t.test('ALLOC-02: clean-train runs to Complete; OnDemand batches queue for a unit by priority, then by age', async (t) => {
  const clean = await plant.runBatch({ masterRecipeRef: 'clean-train' });
  const done = await plant.finish(clean);
  t.same(
    done.allocations.map((allocation: { unit: string }) => allocation.unit),
    ['rx101'],
  );
  t.equal((await plant.unit('rx101')).state, 'Complete');

  const { spec } = (await plant.api.get(`${MASTER}/clean-train`)).body;
  const made = await plant.api.post(MASTER, { name: 'clean-on-demand', spec: { ...spec, productID: 'CLEAN-OD', allocation: 'OnDemand' } });
  t.equal(made.status, 201, made.text);
  const masterRecipeRef = 'clean-on-demand';
  const first = await plant.runBatch({ masterRecipeRef });
  await plant.look('the first has the unit', async () => ({ done: (await plant.unit('rx101')).allocatedTo === first || undefined, seen: '' }));
  await plant.command(first, 'Hold');
  const second = await plant.runBatch({ masterRecipeRef });
  const third = await plant.runBatch({ masterRecipeRef, priority: 500 });
  for (const waits of [second, third]) {
    await plant.look(`${waits} waits`, async () => {
      const body = await plant.batch(waits);
      return { done: (body.allocations[0]?.state === 'Requested' && body.blockedBecause !== '') || undefined, seen: body.blockedBecause };
    });
    t.match(await plant.batch(waits), { phase: 'Running', allocations: [{ unit: 'rx101', state: 'Requested' }], blockedBecause: new RegExp(`rx101.*${first}`) });
  }
  const waits = (await plant.api.get(`${SITE}/unitprocedures`)).body.find((item: { batch: string }) => item.batch === second);
  t.match(waits, { state: 'Idle', conditions: [{ type: 'WaitingForAllocation', status: 'True' }], blockedBecause: /rx101/ });
  t.match(
    (await plant.unit('rx101')).allocationQueue.map((entry: { batch: string }) => entry.batch),
    [third, second],
    'larger priority first',
  );
  await plant.until(first, 'Held');
  await plant.command(first, 'Restart');
  await Promise.all([first, second, third].map((name) => plant.finish(name)));
  t.same((await plant.api.get(`${SITE}/unitprocedures/${waits.name}`)).body.conditions, [], 'the condition goes with the grant');
  const started = async (name: string) => (await plant.events(name)).find((event) => event.eventSubType === 'Allocation')?.ts as string;
  const order = [await started(first), await started(third), await started(second)];
  t.same([...order].sort(), order, 'first, then the more urgent, then the older');
});

t.test('ALLOC-02: a batch that needs a unit later does not keep it from one that needs it now, however urgent it is', async (t) => {
  const asking = {
    steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
  };
  t.equal((await plant.api.post(`${SITE}/phasetemplates`, { name: 'queue-asking', spec: asking })).status, 201);
  const unitProcedure = (name: string, targetCapability: string) => ({
    name,
    stepLevel: 'UnitProcedure',
    targetCapability,
    subChart: {
      steps: [{ name: 'work', stepLevel: 'Operation', subChart: { steps: [{ name: 'ask', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'queue-asking' }] } }],
    },
  });
  const recipe = async (name: string, steps: object[]) => {
    const equipmentRequirements = [
      { capability: 'premix', defaultUnit: 'mx101' },
      { capability: 'react', defaultUnit: 'rx101' },
    ].filter(({ capability }) => JSON.stringify(steps).includes(capability));
    const answer = await plant.api.post(MASTER, { name, spec: { allocation: 'OnDemand', equipmentRequirements, procedure: { chart: { steps } } } });
    t.equal(answer.status, 201, answer.text);
  };
  await recipe('mixes-then-reacts', [unitProcedure('mix', 'premix'), unitProcedure('react', 'react')]);
  await recipe('reacts', [unitProcedure('react', 'react')]);

  const later = await plant.runBatch({ masterRecipeRef: 'mixes-then-reacts', priority: 900 });
  const mixing = await plant.untilPrompt(later);
  t.match((await plant.batch(later)).allocations, [
    { unit: 'mx101', state: 'Granted' },
    { unit: 'rx101', state: 'Requested', since: '' },
  ]);
  t.same((await plant.unit('rx101')).allocationQueue, [], 'it has not asked yet');
  const now = await plant.runBatch({ masterRecipeRef: 'reacts', priority: 1 });
  const reacting = await plant.untilPrompt(now);
  t.equal((await plant.unit('rx101')).allocatedTo, now);

  t.equal((await plant.answer(mixing, '')).status, 200);
  const [entry] = await plant.look('the other one asks when its turn has come', async () => {
    const { allocationQueue } = await plant.unit('rx101');
    return { done: allocationQueue.length > 0 ? allocationQueue : undefined, seen: 'the queue is empty' };
  });
  t.match(entry, { batch: later, unitProcedure: `${later}-react`, priority: 900 });
  const [waits] = (await plant.batch(later)).blockedBy;
  t.match(waits, { reason: 'allocation', unit: { name: 'rx101', holder: now }, queuePosition: 1 });
  t.equal((await plant.answer(reacting, '')).status, 200);
  await plant.until(now, 'Complete');
  await plant.finish(later);
  t.same((await plant.unit('rx101')).allocationQueue, []);
});

async function releasedIn(t: Test, state: string): Promise<void> {
  for (const name of ['mx101', 'rx101', 'tk201']) {
    const unit = await plant.unit(name);
    t.equal(unit.allocatedTo, '', `${name} is free`);
    t.ok([state, 'Idle'].includes(unit.state), `${name} is ${unit.state}`);
  }
}

/** Empties the reactor, as an operator does after a batch that was broken off. */
async function clean(): Promise<void> {
  await plant.finish(await plant.runBatch({ masterRecipeRef: 'clean-train' }));
}

async function waiting(plant: Plant) {
  const batch = await plant.runBatch(SMALL);
  return plant.untilPrompt(batch);
}

/** What the batch controller made of a command. */
async function verdict(plant: Plant, batch: string, command: string) {
  const answer = await plant.command(batch, command);
  return (await plant.audit(answer))[1];
}
