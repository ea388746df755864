/**
 * Who may drive a unit, on the demonstration plant: one owner from Start until the last element, chart and reset is at rest,
 * whoever began it (decisions 3.3, 3.4, 3.6). Exception charts that wait for a person keep the unit as long as the test likes.
 */
import t, { type Test } from 'tap';
import { Unit } from '../../src/domains/plant/kind.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { type Put, Store } from '../../src/platform/store/store.js';
import { asking, SITE, startPlant } from '../support/plant.js';

const plant = await startPlant({ environment: { LINESIDE_RUNTIME__SFC__SETTLEDEADLINE: '1s' } });
t.teardown(() => plant.end());

const UNIT = 'rx101';
const REASON = 'asked for by the test';

const outputs = [{ name: 'made', type: 'REAL', unit: 'kg' }];
const MADE = { steps: [{ name: 'make', initial: true, actionST: 'made := 3.5;' }] };

for (const [name, spec] of Object.entries({
  'slow-reset': { ...asking('Go on?'), charts: { resetting: asking('Is it reset?') } },
  'slow-stop': { ...asking('Go on?'), charts: { stopping: asking('Is it empty?') } },
  'plain-wait': asking('Go on?'),
  'makes-and-resets': { ...MADE, outputs, charts: { resetting: asking('Is it reset?') } },
}))
  await plant.recipeOf(name, spec);
await plant.api.post(`${SITE}/operationtemplates`, {
  name: 'slow-reset-op',
  spec: { category: 'equipment', chart: { steps: [{ name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'slow-reset' }] } },
});

const LISTS = { Phase: 'phases', Operation: 'operations', UnitProcedure: 'unitprocedures', Procedure: 'procedures' } as const;
type Kind = keyof typeof LISTS;
const order = (kind: string, name: string, command: string) => plant.api.post(`${SITE}/command`, { kind, name, command, reason: REASON });
const launch = async (kind: 'phase' | 'operation', template: string) =>
  (await plant.api.post(`${SITE}/units/${UNIT}/execute-${kind}`, { [`${kind}TemplateRef`]: template })).body.name as string;

function until(kind: Kind, name: string, state: string) {
  return plant.look(`${kind} ${name} is ${state}`, async () => {
    const { body } = await plant.api.get(`${SITE}/${LISTS[kind]}/${name}`);
    return { done: body.state === state ? body : undefined, seen: `${body.state}: ${body.blockedBecause}` };
  });
}

function unitIs(state: string, allocatedTo: string) {
  return plant.look(`${UNIT} is ${state} and of '${allocatedTo}'`, async () => {
    const body = await plant.unit(UNIT);
    return { done: body.state === state && body.allocatedTo === allocatedTo ? body : undefined, seen: `${body.state} of '${body.allocatedTo}'` };
  });
}

/** Answers the question of a phase. */
function say(question: string) {
  return plant.look(`somebody asks ${question}`, async () => {
    const { body } = await plant.api.get(`${SITE}/prompts`);
    const prompt = body.find(({ text }: { text: string }) => text === question);
    if (!prompt) return { done: undefined, seen: JSON.stringify(body) };
    const answer = await plant.answer(prompt, '');
    return { done: answer.status === 200 || undefined, seen: answer.text };
  });
}

/** Nobody else gets the unit. */
async function refusedToOthers(t: Test, holder: string): Promise<void> {
  const other = await plant.createBatch({ masterRecipeRef: 'plain-wait' });
  t.match((await plant.audit(await plant.command(other, 'Start')))[1], { result: 'Rejected', rule: 'allocation-unavailable' }, 'no batch starts on it');
  t.match((await plant.batch(other)).commandRejection, { message: `unit ${UNIT} is taken by ${await plant.numberOf(holder)}` });
  const run = await plant.api.post(`${SITE}/units/${UNIT}/execute-phase`, { phaseTemplateRef: 'plain-wait' });
  t.match(run, { status: 409, body: { code: 'unit_not_idle', holder } }, 'nor an ad-hoc run');
  await plant.api.delete(`${SITE}/batches/${other}`);
}

for (const [kind, template] of [
  ['Phase', 'slow-reset'],
  ['Operation', 'slow-reset-op'],
] as const) {
  t.test(`decisions 3.3, 3.6: the unit is that of an ad-hoc ${kind} until its resetting chart has ended, and shows it`, async (t) => {
    const name = await launch(kind.toLowerCase() as 'phase', template);
    await until(kind, name, 'Running');
    await order(kind, name, 'Stop');
    await until(kind, name, 'Stopped');
    await unitIs('Stopped', '');
    t.match((await plant.audit(await order(kind, name, 'Reset')))[1], { result: 'Success' });
    t.match(await unitIs('Resetting', name), { activeWork: { name, state: 'Resetting' } });
    await refusedToOthers(t, name);
    await plant.restart();
    await until(kind, name, 'Resetting');
    await unitIs('Resetting', name);
    await refusedToOthers(t, name);
    await say('Is it reset?');
    await until(kind, name, 'Idle');
    await unitIs('Idle', '');
  });
}

t.test('decisions 3.3: a Reset of an ad-hoc run is refused while somebody else has the unit, and then takes it', async (t) => {
  const name = await launch('phase', 'plain-wait');
  await until('Phase', name, 'Running');
  await order('Phase', name, 'Stop');
  await until('Phase', name, 'Stopped');
  const batch = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await unitIs('Running', batch);
  const [, verdict] = await plant.audit(await order('Phase', name, 'Reset'));
  t.match(verdict, { result: 'Rejected', rule: 'allocation-unavailable' });
  t.match((await until('Phase', name, 'Stopped')).commandRejection, { message: `unit ${UNIT} is taken by ${await plant.numberOf(batch)}; reset Phase ${name} when it is free` });
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
  await unitIs('Aborted', '');
  t.match((await plant.audit(await order('Phase', name, 'Reset')))[1], { result: 'Success' });
  await until('Phase', name, 'Idle');
  await unitIs('Aborted', ''); // the end of what came after it stays to be seen
  await plant.command(batch, 'Reset');
  await unitIs('Idle', '');
});

t.test('decisions 3.3, 3.4: a batch that has ended without its elements keeps the unit until they are at rest, and then gives it back', async (t) => {
  const batch = await plant.runBatch({ masterRecipeRef: 'slow-stop' });
  await plant.untilPhase(batch, 'slow-stop', 'Running');
  await plant.command(batch, 'Stop');
  await plant.until(batch, 'Stopped');
  await unitIs('Stopping', batch);
  await refusedToOthers(t, batch);
  await plant.restart();
  await unitIs('Stopping', batch);
  await say('Is it empty?');
  await unitIs('Stopped', '');
  for (const kind of ['Operation', 'UnitProcedure', 'Procedure'] as const) {
    const [element] = (await plant.api.get(`${SITE}/${LISTS[kind]}`)).body.filter(({ batch: of }: { batch: string }) => of === batch);
    await until(kind, element.name, 'Stopped');
  }
  const record = await plant.look('the record tells the truth', async () => {
    const { body } = await plant.api.get(`${SITE}/batchrecords/${batch}`);
    const settled = body.conditions?.find(({ type }: { type: string }) => type === 'PhaseHistorySettled');
    return { done: settled?.status === 'True' ? body : undefined, seen: JSON.stringify(settled) };
  });
  for (const { kind, states } of record.spec.phaseHistory) t.equal(states.at(-1).state, 'Stopped', `${kind} has come to rest`);
  await plant.command(batch, 'Reset');
  await unitIs('Idle', '');
});

/** As release 0.1.0 left it: the unit was free once the batch or the run was final, whatever still moved on it. */
async function upgradedWithAFreeUnit(state: string): Promise<void> {
  await plant.stop();
  const ledger = await openLedger(plant.dataDir);
  const store = new Store(ledger, systemClock);
  await store.open(0);
  const unit = store.get(Unit, 'demo', UNIT);
  if (!unit) throw new Error('the unit is there');
  const { activeWork, ...status } = unit.status;
  const lastWork = { kind: activeWork?.kind, name: activeWork?.name, state, endedAt: '2026-01-31T09:00:00.000Z' };
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: UNIT, status: { ...status, state, allocatedTo: '', activeWork: null, lastWork } } as unknown as Put] });
  await ledger.close();
  await plant.restart();
}

t.test('ADR 0014: elements of an ended batch that are found moving on a free unit take it, and give it back when they are at rest', async (t) => {
  const batch = await plant.runBatch({ masterRecipeRef: 'slow-stop' });
  await plant.untilPhase(batch, 'slow-stop', 'Running');
  await plant.command(batch, 'Stop');
  await plant.until(batch, 'Stopped');
  await unitIs('Stopping', batch);
  await upgradedWithAFreeUnit('Stopping');
  await unitIs('Stopping', batch);
  await refusedToOthers(t, batch);
  await say('Is it empty?');
  await unitIs('Stopped', '');
  await plant.command(batch, 'Reset');
  await unitIs('Idle', '');
});

t.test('ADR 0014: an ad-hoc run that is found resetting on a free unit takes it', async (t) => {
  const name = await launch('phase', 'slow-reset');
  await until('Phase', name, 'Running');
  await order('Phase', name, 'Stop');
  await until('Phase', name, 'Stopped');
  await order('Phase', name, 'Reset');
  await unitIs('Resetting', name);
  await upgradedWithAFreeUnit('Stopped');
  await unitIs('Resetting', name);
  await refusedToOthers(t, name);
  await say('Is it reset?');
  await until('Phase', name, 'Idle');
  await unitIs('Idle', '');
});

t.test('decisions 3.3, 3.4: Reset of a batch resets its elements and its units; the batch and its record stay as they are', async (t) => {
  const batch = await plant.runBatch({ masterRecipeRef: 'makes-and-resets' });
  const done = await plant.until(batch, 'Complete');
  t.match((await plant.audit(await plant.command(batch, 'Reset')))[1], { result: 'Success' });
  await unitIs('Resetting', batch);
  await refusedToOthers(t, batch);
  t.match(await plant.api.delete(`${SITE}/batches/${batch}`), { status: 409, body: { code: 'element_active' } });
  await say('Is it reset?');
  await unitIs('Idle', '');
  for (const kind of ['Phase', 'Operation', 'UnitProcedure', 'Procedure'] as const) {
    const [element] = (await plant.api.get(`${SITE}/${LISTS[kind]}`)).body.filter(({ batch: of }: { batch: string }) => of === batch);
    await until(kind, element.name, 'Idle');
  }
  const after = await plant.batch(batch);
  t.equal(after.phase, 'Complete');
  t.same(after.outputs, done.outputs, 'its outputs stay');
  t.match((await plant.api.get(`${SITE}/batchrecords/${batch}`)).body, { outcome: 'Complete', spec: { outputs: [{ name: 'made', value: '3.5' }] } });
  t.match((await plant.audit(await plant.command(batch, 'Reset')))[1], { result: 'Success' }, 'once more does nothing');
  await unitIs('Idle', '');
});

t.test('decisions 3.3: what has no resetting charts needs no unit to be reset: the next may start at once', async (t) => {
  const batch = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await plant.untilPhase(batch, 'plain-wait', 'Running');
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
  const [, verdict] = await plant.audit(await plant.command(batch, 'Reset'));
  t.match(verdict, { result: 'Success' });
  const next = await plant.createBatch({ masterRecipeRef: 'plain-wait' });
  t.match((await plant.audit(await plant.command(next, 'Start')))[1], { result: 'Success' });
  for (const kind of ['Phase', 'Procedure'] as const) {
    const [element] = (await plant.api.get(`${SITE}/${LISTS[kind]}`)).body.filter(({ batch: of }: { batch: string }) => of === batch);
    await until(kind, element.name, 'Idle');
  }
  await unitIs('Running', next);
  await plant.command(next, 'Abort');
  await plant.until(next, 'Aborted');
  const third = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await unitIs('Running', third);
  t.match((await plant.audit(await plant.command(next, 'Reset')))[1], { result: 'Success' });
  for (const kind of ['Phase', 'Procedure'] as const) {
    const [element] = (await plant.api.get(`${SITE}/${LISTS[kind]}`)).body.filter(({ batch: of }: { batch: string }) => of === next);
    await until(kind, element.name, 'Idle');
  }
  await unitIs('Running', third);
  await plant.command(third, 'Abort');
  await plant.until(third, 'Aborted');
  await plant.command(third, 'Reset');
  await unitIs('Idle', '');
});

t.test('decisions 3.3: what the work before has left on a unit runs its resetting charts before the next begins there', async (t) => {
  const before = await plant.runBatch({ masterRecipeRef: 'makes-and-resets' });
  await plant.until(before, 'Complete');
  const next = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await unitIs('Resetting', before);
  await plant.look('the batch says what it waits for', async () => {
    const { blockedBecause } = await plant.batch(next);
    return { done: blockedBecause.includes(`unit ${UNIT} is being reset after ${before}`) || undefined, seen: blockedBecause };
  });
  await refusedToOthers(t, before);
  await plant.restart();
  await unitIs('Resetting', before);
  await plant.until(next, 'Held');
  await plant.command(next, 'Restart');
  await say('Is it reset?');
  await unitIs('Running', next);
  await plant.untilPhase(next, 'plain-wait', 'Running');
  await plant.command(next, 'Abort');
  await plant.until(next, 'Aborted');
  await unitIs('Aborted', '');

  const run = await launch('phase', 'slow-reset').catch(() => '');
  t.notOk(run, 'an ad-hoc run needs an Idle unit');
  await plant.command(next, 'Reset');
  await unitIs('Idle', '');
  const adhoc = await launch('phase', 'slow-reset');
  await until('Phase', adhoc, 'Running');
  await order('Phase', adhoc, 'Stop');
  await unitIs('Stopped', '');
  const third = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await unitIs('Resetting', adhoc);
  await plant.command(third, 'Abort');
  await plant.until(third, 'Aborted');
  await say('Is it reset?');
  await until('Phase', adhoc, 'Idle');
  await unitIs('Idle', '');
});
