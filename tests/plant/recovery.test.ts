/** What a batch does after its appliance, or the runtime of one of its units, was away, on the demonstration plant (decisions 3.8). */
import t, { type Test } from 'tap';
import { cleaning, type Plant, SetClock, SITE, startPlant } from '../support/plant.js';
import { unitThreads } from '../support/unit-threads.js';

const threads = unitThreads();
const clock = new SetClock();
const plant = await startPlant({ clock });
t.teardown(() => plant.end());

const TEMPLATE = `${SITE}/phasetemplates/cip`;

/** Lets the rinsing phase restart by itself after so many seconds at most; 0: never. */
async function allow(autoRestartWithinSeconds: number): Promise<void> {
  const { name, spec } = (await plant.api.get(TEMPLATE)).body;
  const answer = await plant.api.put(TEMPLATE, { name, spec: { ...spec, autoRestartWithinSeconds } });
  if (answer.status !== 200) throw new Error(answer.text);
}

async function interrupted(plant: Plant): Promise<string> {
  const batch = await plant.runBatch(cleaning(30));
  await plant.untilPhase(batch, 'cip', 'Running');
  await plant.restart();
  return batch;
}

t.test('RECORD-08, RECORD-09, decisions 3.8: a batch that ran when the appliance went down is held with the gap recorded, and waits for an operator', async (t) => {
  const batch = await interrupted(plant);
  const held = await plant.until(batch, 'Held');
  t.match(held.conditions, [{ type: 'Recovered', reason: 'RuntimeRestart', message: /control gap from/ }]);
  const { recovery } = await plant.look('the batch says what an operator has to do', async () => {
    const body = await plant.batch(batch);
    return { done: body.recovery?.operator.needed && body.recovery.units[0]?.reboundAt !== '' ? body : undefined, seen: JSON.stringify(body.recovery) };
  });
  t.match(recovery, { cause: 'ApplianceRestart', leftAt: '', operator: { needed: true, command: 'Restart' } });
  t.ok(recovery.lastAliveAt < recovery.backAt && isBetween(recovery.gapMs, recovery.lastAliveAt, recovery.backAt), 'the gap, with both ends');
  t.match(
    recovery.elements.map(({ kind, found, action }: { kind: string; found: string; action: string }) => ({ kind, found, action })),
    ['Procedure', 'UnitProcedure', 'Operation', 'Phase'].map((kind) => ({ kind, found: 'Running', action: 'holds' })),
    'what the table did to each element',
  );
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  const done = await plant.finish(batch);
  t.match(done.recovery, { operator: { needed: false }, leftAt: /^2/, heldAt: /^2/ });
  await rebound(t, batch, 'rx101', 'ApplianceRestart', 'Overlapping');
  t.notOk((await plant.events(batch)).some((event) => event.eventSubType === 'State Command' && event.message === 'auto-restart'));
});

t.test('RECORD-02, decisions 3.8: when only the runtime of a unit is gone, its gap is audited, the batch says what was held, and the record names the unit', async (t) => {
  const batch = await plant.runBatch(cleaning(30));
  const phase = await plant.untilPhase(batch, 'cip', 'Running');
  await threads.get('rx101')?.terminate();
  await plant.until(batch, 'Held');
  const { recovery } = await plant.look('the batch has come to rest because of it', async () => {
    const body = await plant.batch(batch);
    return { done: body.recovery?.heldAt ? body : undefined, seen: JSON.stringify(body.recovery) };
  });
  t.match(recovery, { cause: 'RuntimeRestart', leftAt: '', operator: { needed: true, command: 'Restart' } });
  const [unit, ...others] = recovery.units;
  t.same(others, [], 'the other units went on');
  t.equal(unit.unit, 'rx101');
  t.ok(
    isBetween(unit.gapMs, unit.lastAliveAt, unit.reboundAt) && unit.lastAliveAt === recovery.lastAliveAt && unit.reboundAt === recovery.backAt,
    'the gap is that of the unit, with both ends',
  );
  t.match(
    recovery.elements.find(({ name }: { name: string }) => name === phase.name),
    { kind: 'Phase', unit: 'rx101', found: 'Running', action: 'holds' },
  );
  t.notOk(
    (await plant.batch(batch)).conditions.some(({ type }: { type: string }) => type === 'Recovered'),
    'the appliance was never away',
  );
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  const done = await plant.finish(batch);
  t.match(done.recovery, { operator: { needed: false }, leftAt: /^2/ });
  await rebound(t, batch, 'rx101', 'RuntimeRestart', 'Containing');
});

t.test('ALLOC-02, decisions 3.8: the queue for a unit is the same after the restart, and is granted in its order', async (t) => {
  const { spec } = (await plant.api.get(`${SITE}/recipes/master/clean-train`)).body;
  const made = await plant.api.post(`${SITE}/recipes/master`, { name: 'clean-on-demand', spec: { ...spec, productID: 'CLEAN-OD', allocation: 'OnDemand' } });
  t.equal(made.status, 201, made.text);
  const masterRecipeRef = 'clean-on-demand';
  const first = await plant.runBatch({ ...cleaning(30), masterRecipeRef });
  await plant.untilPhase(first, 'cip', 'Running');
  await plant.command(first, 'Hold');
  await plant.until(first, 'Held');
  const second = await plant.runBatch({ masterRecipeRef });
  const third = await plant.runBatch({ masterRecipeRef, priority: 500 });
  const queue = await plant.look('both have asked', async () => {
    const { allocationQueue } = await plant.unit('rx101');
    return { done: allocationQueue.length === 2 ? allocationQueue : undefined, seen: JSON.stringify(allocationQueue) };
  });
  t.match(queue, [{ batch: third }, { batch: second }]);
  await plant.restart();
  for (const batch of [second, third, first]) {
    await plant.until(batch, 'Held');
    t.same((await plant.unit('rx101')).allocationQueue, queue, 'with the times of the requests');
  }
  for (const batch of [second, third]) {
    await plant.command(batch, 'Restart');
    await plant.until(batch, 'Running');
  }
  await plant.command(first, 'Restart');
  await Promise.all([first, second, third].map((batch) => plant.finish(batch)));
  const grantedAt = async (batch: string) => (await plant.events(batch)).find((event) => event.eventSubType === 'Allocation')?.ts as string;
  t.ok((await grantedAt(third)) < (await grantedAt(second)), 'the more urgent, then the older');
});

/** Measured by elapsed time; nobody has set the clock, so the two times that are told say the same. */
function isBetween(gapMs: number, from: string, to: string): boolean {
  return gapMs >= 0 && Math.abs(Date.parse(to) - Date.parse(from) - gapMs) < 500;
}

/** The record names the unit that was bound again; both ends of the gap are in the audit record it refers to. */
async function rebound(t: Test, batch: string, unit: string, cause: string, bounds: string): Promise<void> {
  const { body } = await plant.look('the batch has its record', async () => {
    const answer = await plant.api.get(`${SITE}/batchrecords/${batch}`);
    return { done: answer.status === 200 ? answer : undefined, seen: answer.text };
  });
  const [event] = body.spec.failoverEvents;
  t.equal(body.spec.failoverEvents.length, 1);
  t.match(event, { unit, cause, controlGap: { bounds: 'Exact' }, dataGap: { bounds } });
  t.ok(event.controlGap.from.at !== '' && event.controlGap.from.at < event.reboundAt && event.controlGap.to.at === event.reboundAt, 'last sign of life, and first');
  t.match(body.conditions, [{ type: 'PhaseHistorySettled' }, { type: 'PartialData', status: 'False' }], 'every bound is evidenced');
  const evidence = (await plant.api.get(`${SITE}/audit/${event.controlGap.from.auditRecordRef}`)).body;
  t.match(evidence, { category: 'recovery', target: { name: batch }, details: { cause, unit, from: event.controlGap.from.at, to: event.reboundAt } });
}

const DAY_MS = 86_400_000;

/** The appliance was started again at once. */
function isShort(gapMs: number | null): boolean {
  return gapMs !== null && gapMs >= 0 && gapMs < 60_000;
}

t.test('D-C-07, D-C-08: the gap is that since the run before, whatever the clocks of earlier runs said', async (t) => {
  const batch = await plant.runBatch(cleaning(300));
  await plant.untilPhase(batch, 'cip', 'Running');
  const runs: string[] = [];
  for (const setByMs of [-30 * DAY_MS, 400 * DAY_MS, 0]) {
    const startedAtMs = Date.now();
    await plant.stop();
    clock.setByMs = setByMs;
    await plant.start();
    await plant.until(batch, 'Held');
    const { recovery } = await plant.look('the unit is scanned again', async () => {
      const body = await plant.batch(batch);
      const unit = body.recovery?.units[0];
      return { done: unit?.reboundAt && Math.abs(Date.parse(unit.reboundAt) - Date.now() - setByMs) < DAY_MS ? body : undefined, seen: JSON.stringify(body.recovery) };
    });
    const before = runs.at(-1) ?? new Date(startedAtMs).toISOString();
    for (const { lastAliveAt, gapMs } of [recovery, recovery.units[0]]) {
      t.ok(Math.abs(Date.parse(lastAliveAt) - Date.parse(before)) < DAY_MS, `last alive in the run before, at ${before}: ${lastAliveAt}`);
      t.ok(isShort(gapMs), `away for a moment: ${gapMs}`);
    }
    const { items } = (await plant.api.get(`/api/v1/audit?site=demo&name=${batch}&category=recovery&limit=1000`)).body;
    t.ok(isShort(items[0].details.gapMs), 'the trail tells it too');
    runs.push(new Date(Date.now() + setByMs).toISOString());
  }
  clock.setByMs = 0;
  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');
  await plant.command(batch, 'Reset');
});

t.test('D-C-08: a restart starts nothing, whatever the clock says then and whatever the template once allowed', async (t) => {
  await allow(300);
  for (const [words, setByMs] of [
    ['as it was', 0],
    ['an hour back', -3_600_000],
  ] as const) {
    clock.setByMs = 0;
    const batch = await plant.runBatch(cleaning(300));
    await plant.untilPhase(batch, 'cip', 'Running');
    await plant.stop();
    clock.setByMs = setByMs;
    await plant.start();
    await plant.until(batch, 'Held');
    const { recovery } = await plant.look(`the batch waits for a person, clock ${words}`, async () => {
      const body = await plant.batch(batch);
      return { done: body.recovery?.operator.needed && body.recovery.units[0]?.reboundAt !== '' ? body : undefined, seen: `${body.phase} ${JSON.stringify(body.recovery)}` };
    });
    t.ok(isShort(recovery.gapMs), `clock ${words}: the clock of the machine knows how long it was, ${recovery.gapMs}`);
    t.ok(isShort(recovery.units[0].gapMs), `clock ${words}: that of the unit too, ${recovery.units[0].gapMs}`);
    const { items } = (await plant.api.get(`/api/v1/audit?site=demo&name=${batch}&limit=1000`)).body;
    t.same(
      items.filter(({ target, details }: { target: { name: string }; details?: { command?: string } }) => target.name === batch && details?.command === 'Restart'),
      [],
      'nobody has given Restart',
    );
    t.equal((await plant.command(batch, 'Abort')).status, 200);
    await plant.until(batch, 'Aborted');
    await plant.command(batch, 'Reset');
  }
  clock.setByMs = 0;
});

t.test('D-C-08: autoRestartWithinSeconds is still parsed, and said to have no effect', async (t) => {
  await allow(300);
  t.match((await plant.api.get(TEMPLATE)).body, { spec: { autoRestartWithinSeconds: 300 }, notes: [/autoRestartWithinSeconds 300 has no effect/] });
  t.match((await plant.api.get(`${SITE}/recipes/master/clean-train`)).body.notes, [/cip.*autoRestartWithinSeconds 300 has no effect/]);
  const manifest = { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'PhaseTemplate', metadata: { name: 'again', namespace: 'site-demo' }, spec: { autoRestartWithinSeconds: 5 } };
  t.match(await plant.api.post('/api/v1/apply', manifest), { body: { warnings: [/autoRestartWithinSeconds 5 has no effect/] } });
  await allow(0);
  t.notOk((await plant.api.get(TEMPLATE)).body.notes);
});
