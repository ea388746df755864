/** Units taken from a class on the demonstration plant (D-C-12): who serves a capability, who waits for it, and what a restart makes of that. */
import t, { type Test } from 'tap';
import { type Plant, SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const MASTER = `${SITE}/recipes/master`;
const VESSELS = ['mx101', 'tk201'];

const asking = {
  steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
  transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
};
await made(plant.api.post(`${SITE}/phasetemplates`, { name: 'vessel-asking', spec: asking }));
await serve(VESSELS, 'vessel');

async function made(answer: Promise<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
}

/** Gives the capability to these units and to no other. */
async function serve(units: readonly string[], capability: string, properties: object[] = []): Promise<void> {
  for (const name of ['mx101', 'rx101', 'tk201']) {
    const { capabilities } = await plant.unit(name);
    const others = (capabilities as string[]).filter((own) => own !== capability);
    await made(plant.api.put(`${SITE}/units/${name}`, { capabilities: units.includes(name) ? [...others, capability] : others, ...(properties.length > 0 ? { properties } : {}) }));
  }
}

const unitProcedure = (name: string, targetCapability: string) => ({
  name,
  stepLevel: 'UnitProcedure',
  targetCapability,
  subChart: {
    steps: [{ name: 'work', stepLevel: 'Operation', subChart: { steps: [{ name: 'ask', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'vessel-asking' }] } }],
  },
});

function recipe(name: string, requirement: object = {}, more: object = {}, steps = [unitProcedure('fill', 'vessel')]): Promise<void> {
  const equipmentRequirements = [{ capability: 'vessel', candidatePolicy: 'listed', candidates: VESSELS, ...requirement }];
  return made(plant.api.post(MASTER, { name, spec: { allocation: 'OnDemand', equipmentRequirements, procedure: { chart: { steps } }, ...more } }));
}

async function unitOf(batch: string): Promise<string> {
  await plant.untilPrompt(batch);
  return (await plant.batch(batch)).allocations[0].unit;
}

async function goOn(batch: string): Promise<void> {
  await made(plant.answer(await plant.untilPrompt(batch), ''));
}

function waits(batch: string, pattern: RegExp, on: Plant = plant): Promise<string> {
  return on.look(`${batch} says what it waits for`, async () => {
    const { blockedBecause } = await on.batch(batch);
    return { done: pattern.test(blockedBecause) ? blockedBecause : undefined, seen: blockedBecause };
  });
}

async function abort(...batches: string[]): Promise<void> {
  for (const batch of batches) await plant.command(batch, 'Abort');
  for (const batch of batches) await plant.until(batch, 'Aborted');
}

await recipe('vessels');

t.test('D-C-12: a batch takes the first of the units that is free; without a free one it queues for the class, and takes the one that comes free', async (t) => {
  const masterRecipeRef = 'vessels';
  const first = await plant.runBatch({ masterRecipeRef });
  t.equal(await unitOf(first), 'mx101');
  const second = await plant.runBatch({ masterRecipeRef });
  t.equal(await unitOf(second), 'tk201');
  const third = await plant.runBatch({ masterRecipeRef });
  t.match(
    await waits(third, /a unit of class vessel/),
    `fill waits: a unit of class vessel: unit mx101 is taken by ${await plant.numberOf(first)}; unit tk201 is taken by ${await plant.numberOf(second)}`,
  );
  t.match(await plant.batch(third), {
    phase: 'Running',
    units: [],
    allocations: [{ capability: 'vessel', unit: '', state: 'Requested', since: /^2/ }],
    blockedBy: [
      {
        reason: 'allocation',
        queuePosition: 1,
        unitClass: { capability: 'vessel', candidates: [{ unit: 'mx101', fits: true, available: false, holder: first }, { unit: 'tk201' }] },
      },
    ],
  });
  for (const unit of VESSELS)
    t.match((await plant.unit(unit)).allocationQueue, [{ batch: third, unitProcedure: `${third}-fill`, capability: 'vessel', candidates: VESSELS }], `the queue of ${unit}`);
  t.same((await plant.unit('rx101')).allocationQueue, []);
  const ahead = await plant.api.post(`${SITE}/batches/preflight`, { batchID: 'AHEAD', masterRecipeRef });
  t.match(ahead.body.allocations, [
    {
      capability: 'vessel',
      unit: '',
      available: false,
      policy: 'listed',
      candidates: [
        { unit: 'mx101', holder: first },
        { unit: 'tk201', holder: second },
      ],
    },
  ]);
  t.match(
    ahead.body.checks.filter(({ check, ok }: { check: string; ok: boolean }) => check === 'equipment' && !ok),
    [{ severity: 'warning', element: 'vessel', message: /none is free: a unit of class vessel/ }],
  );

  await goOn(second);
  await plant.until(second, 'Complete');
  t.equal(await unitOf(third), 'tk201', 'the one that has come free');
  const phase = (await plant.phases(third))[0];
  t.equal(phase.unit, 'tk201', 'its phases are on the chosen unit');
  await Promise.all([first, third].map((batch) => plant.finish(batch)));

  const { body } = await plant.api.get(`${SITE}/batches/${third}/record`);
  const choice = { policy: 'listed', candidates: ['mx101', 'tk201'], passedOver: [{ unit: 'mx101', reason: `unit mx101 is taken by ${await plant.numberOf(first)}` }] };
  t.match(body.spec?.equipment ?? body.equipment, [{ capability: 'vessel', unit: 'tk201', choice }], 'the record tells how it was chosen');
  const granted = (await plant.events(third)).find(({ eventSubType }) => eventSubType === 'Allocation');
  t.match(granted, {
    unit: 'tk201',
    previousValue: 'listed',
    message: `capability vessel: of mx101, tk201 by listed; not taken: mx101 (unit mx101 is taken by ${await plant.numberOf(first)})`,
  });
  const audited = (await plant.api.get(`${SITE}/audit?category=allocation&limit=50`)).body;
  const record = (audited.items ?? audited).find(({ name }: { name: string }) => name === granted.auditRecordRef);
  t.match(record, { category: 'allocation', target: { kind: 'Batch', name: third }, details: { capability: 'vessel', unit: 'tk201', policy: 'listed' } });
});

t.test('D-C-12: a unit that is requested is taken and no other; a default unit binds where the recipe says so', async (t) => {
  await recipe('bound', { defaultUnit: 'tk201', defaultUnitOnly: true });
  await recipe('preferred', { candidates: undefined, defaultUnit: 'tk201', defaultUnitOnly: false });
  const holder = await plant.runBatch({ masterRecipeRef: 'vessels', equipment: { vessel: 'tk201' } });
  t.equal(await unitOf(holder), 'tk201', 'requested');
  const requested = await plant.runBatch({ masterRecipeRef: 'vessels', requestedEquipment: { vessel: 'tk201' } });
  const bound = await plant.runBatch({ masterRecipeRef: 'bound' });
  for (const batch of [requested, bound]) {
    await waits(batch, new RegExp(`unit tk201 is allocated to ${holder}`));
    t.match((await plant.batch(batch)).allocations, [{ unit: 'tk201', state: 'Requested' }]);
  }
  const preferred = await plant.runBatch({ masterRecipeRef: 'preferred' });
  t.equal(await unitOf(preferred), 'mx101', 'a default unit alone is the first to be tried');
  t.match((await plant.unit('mx101')).allocationQueue, [], 'who waits for one unit waits for no other');
  await abort(requested, bound, preferred, holder);
  const refused = await plant.api.post(`${SITE}/batches`, { batchID: 'ELSEWHERE', masterRecipeRef: 'vessels', requestedEquipment: { vessel: 'rx101' } });
  t.match(refused, { status: 400, body: { field: 'equipment.vessel', error: /rx101 does not have capability vessel/ } });
  const both = await plant.api.post(`${SITE}/batches`, { batchID: 'BOTH', masterRecipeRef: 'vessels', requestedEquipment: { vessel: 'tk201' }, equipment: { vessel: 'tk201' } });
  t.match(both, { status: 400, body: { field: 'requestedEquipment' } });
});

t.test('D-C-12: the least recently used is taken by default, and the least used where the recipe says so', async (t) => {
  await recipe('turns', { candidates: undefined, candidatePolicy: undefined });
  await recipe('evenly', { candidates: undefined, candidatePolicy: 'least-used' });
  const run = async (masterRecipeRef: string): Promise<string> => {
    const batch = await plant.runBatch({ masterRecipeRef });
    const unit = await unitOf(batch);
    await plant.finish(batch);
    return unit;
  };
  const turns = [await run('turns'), await run('turns'), await run('turns')];
  t.equal(turns[0], turns[2]);
  t.not(turns[0], turns[1], 'they take turns');
  const [mixed = 0, stored = 0] = await Promise.all(VESSELS.map(async (unit) => (await plant.unit(unit)).usage.count as number));
  const least = mixed <= stored ? 'mx101' : 'tk201';
  t.equal(await run('evenly'), least);
  t.equal((await plant.unit(least)).usage.count, Math.min(mixed, stored) + 1);
});

t.test('D-C-12: of two batches that start in one turn exactly one gets the last free unit of the class', async (t) => {
  const holder = await plant.runBatch({ masterRecipeRef: 'vessels' });
  await unitOf(holder);
  const rivals = await Promise.all([0, 1].map(() => plant.createBatch({ masterRecipeRef: 'vessels' })));
  await Promise.all(rivals.map((batch) => plant.command(batch, 'Start')));
  await plant.look('one has it, the other waits', async () => {
    const allocations = await Promise.all(rivals.map(async (batch) => (await plant.batch(batch)).allocations[0]));
    const units = allocations.map((allocation) => allocation?.unit);
    return { done: (units.includes('tk201') && units.includes('')) || undefined, seen: units.join(', ') };
  });
  const winner = (await plant.unit('tk201')).allocatedTo;
  const loser = rivals.find((batch) => batch !== winner) ?? '';
  t.ok(rivals.includes(winner));
  await waits(loser, new RegExp(`tk201 is taken by ${await plant.numberOf(winner)}`));
  await abort(loser, winner, holder);

  await recipe('at-start', {}, { allocation: 'AtStart' });
  const three = await Promise.all([0, 1, 2].map(() => plant.createBatch({ masterRecipeRef: 'at-start' })));
  await Promise.all(three.map((batch) => plant.command(batch, 'Start')));
  const judged = await plant.look('all are judged', async () => {
    const bodies = await Promise.all(three.map((batch) => plant.batch(batch)));
    return { done: bodies.every(({ phase, commandRejection }) => phase !== 'Pending' || commandRejection) ? bodies : undefined, seen: '' };
  });
  t.same(
    judged
      .filter(({ phase }) => phase !== 'Pending')
      .map(({ units }) => units[0])
      .sort(),
    VESSELS,
    'two start, each with a unit of its own',
  );
  t.match(
    judged.find(({ phase }) => phase === 'Pending'),
    { commandRejection: { rule: 'allocation-unavailable', message: /none is free: a unit of class vessel: unit mx101 is taken by .*; unit tk201 is taken by/ } },
  );
  await abort(...judged.filter(({ phase }) => phase !== 'Pending').map(({ name }) => name));
});

t.test('D-C-12: a unit that leaves the class, or has not what is asked for, is not taken; one that joins is', async (t) => {
  await recipe('open', { candidates: undefined });
  const holders = [await plant.runBatch({ masterRecipeRef: 'open' }), await plant.runBatch({ masterRecipeRef: 'open' })];
  for (const holder of holders) await unitOf(holder);
  const waiting = await plant.runBatch({ masterRecipeRef: 'open' });
  await waits(waiting, /mx101.*tk201/);
  await made(plant.api.put(`${SITE}/units/rx101`, { capabilities: ['react', 'clean', 'vessel'] }));
  t.equal(await unitOf(waiting), 'rx101', 'one that joins while it waits');
  const last = await plant.runBatch({ masterRecipeRef: 'open' });
  await waits(last, /rx101/);
  await abort(waiting);
  t.equal(await unitOf(last), 'rx101');
  await abort(last);
  await made(plant.api.put(`${SITE}/units/rx101`, { capabilities: ['react', 'clean'] }));
  const more = await plant.runBatch({ masterRecipeRef: 'open' });
  const told = await waits(more, /class vessel/);
  t.notOk(told.includes('rx101'), 'one that has left is not waited for, although it is free');
  await abort(more, ...holders);

  await made(plant.api.put(`${SITE}/units/mx101`, { properties: [{ name: 'volume', value: '20', engineeringUnit: 'kg' }] }));
  await made(
    plant.api.put(`${SITE}/units/tk201`, {
      properties: [
        { name: 'volume', value: '200', engineeringUnit: 'kg' },
        { name: 'lining', value: 'glass' },
      ],
    }),
  );
  await recipe('large', { candidates: undefined, volumeMin: '100', properties: [{ name: 'lining', value: 'glass' }] });
  t.match((await plant.api.get(`${MASTER}/large/bindings`)).body.classes, [
    {
      capability: 'vessel',
      candidates: [
        { unit: 'mx101', fits: false, reason: 'volume of unit mx101 is 20 kg, less than 100' },
        { unit: 'tk201', fits: true, reason: '' },
      ],
    },
  ]);
  const large = await plant.runBatch({ masterRecipeRef: 'large' });
  t.equal(await unitOf(large), 'tk201');
  await abort(large);
  const small = await plant.api.post(`${SITE}/batches`, { batchID: 'SMALL', masterRecipeRef: 'large', requestedEquipment: { vessel: 'mx101' } });
  t.match(small, { status: 400, body: { error: /mx101 does not serve capability vessel: volume of unit mx101 is 20 kg/ } });
});

t.test('D-C-12: a unit in Manual, or one whose permissive is not TRUE, is passed over while another is free, and taken as soon as it may be', async (t) => {
  await made(plant.api.post(`${SITE}/mode`, { kind: 'Unit', name: 'mx101', mode: 'Manual' }));
  await made(plant.api.put(`${SITE}/units/tk201`, { permissives: [{ name: 'full', conditionST: "READ('li201.pv') > 1.0E6", message: 'fill the tank' }] }));
  const batch = await plant.runBatch({ masterRecipeRef: 'vessels' });
  t.equal(await waits(batch, /Manual/), 'fill waits: a unit of class vessel: unit mx101 is in Manual; unit tk201: fill the tank');
  t.match(await plant.unit('tk201'), { allocatedTo: '', allocationQueue: [{ batch }] });
  await made(plant.api.put(`${SITE}/units/tk201`, { permissives: [] }));
  t.equal(await unitOf(batch), 'tk201');
  await made(plant.api.post(`${SITE}/mode`, { kind: 'Unit', name: 'mx101', mode: 'Automatic' }));
  t.match((await plant.batch(batch)).allocations[0].choice, { candidates: VESSELS, passedOver: [{ unit: 'mx101', reason: 'unit mx101 is in Manual' }] });
  await abort(batch);
});

t.test('D-C-12: a held batch may be given another unit for what has not begun, with a reason, on record', async (t) => {
  const put = (batch: string, vessel: string, reason?: string) =>
    plant.api.put(`${SITE}/batches/${batch}`, { requestedEquipment: { vessel }, ...(reason === undefined ? {} : { reason }) });
  const holder = await plant.runBatch({ masterRecipeRef: 'vessels', equipment: { vessel: 'tk201' } });
  await unitOf(holder);
  const batch = await plant.runBatch({ masterRecipeRef: 'vessels', equipment: { vessel: 'tk201' } });
  await waits(batch, /unit tk201/);
  t.match(await put(batch, 'mx101', 'the tank is taken'), { status: 409, body: { code: 'batch_started' } }, 'it runs');
  await plant.command(batch, 'Hold');
  await plant.until(batch, 'Held');
  t.match(await put(batch, 'mx101'), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await put(batch, 'rx101', 'the tank is taken'), { status: 400, body: { field: 'requestedEquipment.vessel' } });
  const changed = await put(batch, 'mx101', 'the tank is taken');
  t.match(changed, { status: 200, body: { spec: { equipment: { vessel: 'mx101' } } } }, changed.text);
  await plant.look('it has the other unit', async () => ({ done: (await plant.unit('mx101')).allocatedTo === batch || undefined, seen: (await plant.unit('mx101')).allocatedTo }));
  t.same((await plant.unit('tk201')).allocationQueue, []);
  t.match(await put(batch, '', 'any of them will do'), { status: 200, body: { spec: { equipment: {} } } });
  await plant.look('it has one of the class', async () => {
    const { allocations } = await plant.batch(batch);
    return { done: (allocations[0].unit === 'mx101' && allocations[0].choice?.policy === 'listed') || undefined, seen: JSON.stringify(allocations) };
  });
  await plant.command(batch, 'Restart');
  t.equal(await unitOf(batch), 'mx101');
  t.match(await plant.audit(changed, 1), [
    { action: 'Update', operatorReason: 'the tank is taken', before: { equipment: { vessel: 'tk201' } }, after: { equipment: { vessel: 'mx101' } } },
  ]);
  await plant.command(batch, 'Hold');
  await plant.until(batch, 'Held');
  t.match(await put(batch, 'tk201', 'too late for that'), { status: 409, body: { code: 'unit_procedure_begun' } });
  await plant.command(batch, 'Restart');
  await plant.finish(batch);
  const { body } = await plant.api.get(`${SITE}/batches/${batch}/record`);
  t.match(
    (body.spec ?? body).operatorActions.find(({ action }: { action: string }) => action === 'UnitChange'),
    { value: 'vessel: tk201 to mx101', reason: 'the tank is taken' },
  );
  await abort(holder);
});

t.test('D-C-12: a unit that was taken at the start is exchanged at once, and the other one is free again', async (t) => {
  const second = [unitProcedure('mix', 'premix'), unitProcedure('fill', 'vessel')];
  await recipe('mix-first', { candidates: ['tk201', 'rx101'] }, { allocation: 'AtStart' }, second);
  await made(plant.api.put(`${SITE}/units/rx101`, { capabilities: ['react', 'clean', 'vessel'] }));
  const batch = await plant.runBatch({ masterRecipeRef: 'mix-first' });
  await plant.untilPrompt(batch);
  t.equal((await plant.unit('tk201')).allocatedTo, batch);
  await plant.command(batch, 'Hold');
  await plant.until(batch, 'Held');
  const put = await plant.api.put(`${SITE}/batches/${batch}`, { requestedEquipment: { vessel: 'rx101' }, reason: 'the tank leaks' });
  t.equal(put.status, 200, put.text);
  t.equal((await plant.unit('tk201')).allocatedTo, '');
  t.equal((await plant.unit('rx101')).allocatedTo, batch);
  await plant.command(batch, 'Restart');
  const done = await plant.finish(batch);
  t.match(done.allocations, [
    { unit: 'mx101', state: 'Released' },
    { unit: 'rx101', state: 'Released' },
  ]);
  t.equal((await plant.unit('rx101')).state, 'Complete');
  await made(plant.api.put(`${SITE}/units/rx101`, { capabilities: ['react', 'clean'] }));
});

t.test('D-C-12: two classes of one batch get two units, and one of them is not taken for both', async (t) => {
  await serve(VESSELS, 'receiver');
  const steps = [unitProcedure('fill', 'vessel'), unitProcedure('empty', 'receiver')];
  await recipe('both-at-start', {}, { allocation: 'AtStart' }, steps);
  await recipe('both', {}, {}, steps);
  const atStart = await plant.runBatch({ masterRecipeRef: 'both-at-start' });
  await plant.untilPrompt(atStart);
  t.same((await plant.batch(atStart)).allocations.map(({ unit }: { unit: string }) => unit).sort(), VESSELS);
  await abort(atStart);
  const holder = await plant.runBatch({ masterRecipeRef: 'vessels', equipment: { vessel: 'tk201' } });
  await unitOf(holder);
  const inTurn = await plant.runBatch({ masterRecipeRef: 'both', equipment: { receiver: 'mx101' } });
  const told = await waits(inTurn, /class vessel/);
  t.match(told, /mx101 serves another capability of the batch; unit tk201 is taken by/);
  await abort(holder);
  t.equal(await unitOf(inTurn), 'tk201');
  await abort(inTurn);
  await serve([], 'receiver');
});

t.test('D-C-12: batches that have what the others wait for are shown as such', async (t) => {
  // the first capability is used again after the second, so its unit is kept meanwhile
  const steps = (first: string, then: string) => [unitProcedure('one', first), unitProcedure('two', then), unitProcedure('three', first)];
  await recipe('holds-premix', {}, {}, steps('premix', 'store'));
  await recipe('holds-store', {}, {}, steps('store', 'premix'));
  const [a, b] = [await plant.runBatch({ masterRecipeRef: 'holds-premix' }), await plant.runBatch({ masterRecipeRef: 'holds-store' })];
  for (const batch of [a, b]) await goOn(batch);
  t.match(await waits(a, /in vain/), new RegExp(`${b} and this batch`));
  t.match((await plant.batch(b)).blockedBy, [{ reason: 'allocation', unit: { name: 'mx101', holder: a }, deadlock: [a] }]);
  await abort(a);
  await plant.finish(b);
});

t.test('D-C-12: after a restart the chosen unit is the same, and the queue for the class has its order and its times', async (t: Test) => {
  const masterRecipeRef = 'vessels';
  const has = await plant.runBatch({ masterRecipeRef });
  t.equal(await unitOf(has), 'mx101');
  const other = await plant.runBatch({ masterRecipeRef });
  await unitOf(other);
  const later = await plant.runBatch({ masterRecipeRef });
  await waits(later, /class vessel/);
  const urgent = await plant.runBatch({ masterRecipeRef, priority: 500 });
  await waits(urgent, /class vessel/);
  const queueOf = async (unit: string) => (await plant.unit(unit)).allocationQueue;
  const before = await queueOf('mx101');
  t.match(before, [{ batch: urgent }, { batch: later }]);
  await plant.restart();
  for (const batch of [has, other, later, urgent]) await plant.until(batch, 'Held');
  t.same(await queueOf('mx101'), before);
  t.same(await queueOf('tk201'), before);
  t.equal((await plant.unit('mx101')).allocatedTo, has);
  for (const batch of [later, urgent, has]) await plant.command(batch, 'Restart');
  await plant.finish(has);
  t.match((await plant.batch(has)).allocations, [{ unit: 'mx101', state: 'Released' }]);
  t.equal(await unitOf(urgent), 'mx101', 'the more urgent one has it next');
  await abort(later, urgent, other);
});

t.test('D-C-12: a rehearsal stands on one unit of the class and names the others', async (t) => {
  const { body } = await plant.api.post(`${MASTER}/vessels/rehearse`, { waitSeconds: 75 });
  t.match(body, { outcome: 'Complete' }, JSON.stringify(body.checks));
  t.ok((body.assumptions as string[]).includes('capability vessel is served by mx101, of mx101, tk201 by listed'), body.assumptions.join('\n'));
});
