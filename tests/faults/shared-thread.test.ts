/** The demonstration plant with a single scan thread for its three units (ADR 0012): it runs a batch, and what happens to one unit or to the thread stays there. */
import t from 'tap';
import { SITE, SLOWLY_HEATED, SMALL, startPlant, UNITS } from '../support/plant.js';
import { unitThreads } from '../support/unit-threads.js';

const threads = unitThreads();
const plant = await startPlant({ environment: { LINESIDE_RUNTIME__MAXTHREADS: '1' } });
t.teardown(() => plant.end());

const runtime = async (unit: string, what: string) => (await plant.api.get(`${SITE}/units/${unit}/runtime/${what}`)).body;

async function moreScans(unit: string): Promise<unknown> {
  const { scanCount } = await runtime(unit, 'status');
  return plant.look(`unit ${unit} goes on scanning`, async () => {
    const now = (await runtime(unit, 'status')).scanCount;
    return { done: now > scanCount || undefined, seen: `${now} after ${scanCount}` };
  });
}

t.test('ADR 0012: the three units share one thread, and a batch runs through', async (t) => {
  t.equal(new Set(UNITS.map((unit) => threads.get(unit))).size, 1);
  for (const unit of UNITS) t.strictSame((await runtime(unit, 'diagnostics')).thread, { units: 3, sharedWith: UNITS.filter((other) => other !== unit) });
  const done = await plant.finish(await plant.runBatch(SMALL));
  t.notOk(done.failure);
});

t.test('Q-UNIT-08, ADR 0012: the restart of one runtime leaves the others scanning, and the unit is back in the same thread', async (t) => {
  const before = await Promise.all(UNITS.map((unit) => runtime(unit, 'status')));
  t.equal((await plant.api.post(`${SITE}/units/tk201/runtime/restart`, { reason: 'to see what it does to the others' })).status, 200);
  await plant.runtimesReady();
  const after = await Promise.all(UNITS.map((unit) => runtime(unit, 'status')));
  t.strictSame(
    after.map(({ epoch }, n) => epoch - before[n].epoch),
    [0, 0, 1],
    'only the one is new',
  );
  t.ok(after[0].scanCount >= before[0].scanCount && after[1].scanCount >= before[1].scanCount, 'the others count on');
  for (const unit of UNITS) await moreScans(unit);
  t.strictSame((await runtime('tk201', 'diagnostics')).thread, { units: 3, sharedWith: ['mx101', 'rx101'] });
  t.notOk((await plant.finish(await plant.runBatch(SMALL))).failure, 'and a batch runs on them');
});

t.test('D-UNIT-04, 3.8, ADR 0012: when the thread ends, its units come back in threads of their own, phases Held; Restart finishes the batch', async (t) => {
  const batch = await plant.runBatch(SLOWLY_HEATED);
  const heat = await plant.untilPhase(batch, 'heat', 'Running');
  const before = await Promise.all(UNITS.map((unit) => runtime(unit, 'status')));
  await threads.get('rx101')?.terminate();
  const held = await plant.until(batch, 'Held');
  t.match(held, { failure: { rule: 'runtime-restart', class: 'hold' }, validCommands: ['Restart', 'Stop', 'Abort'] });
  await plant.runtimesReady();
  const after = await Promise.all(UNITS.map((unit) => runtime(unit, 'status')));
  t.strictSame(
    after.map(({ epoch }, n) => epoch - before[n].epoch),
    [1, 1, 1],
    'all three',
  );
  t.match((await plant.api.get(`${SITE}/phases/${heat.name}`)).body, { state: 'Held', failure: { rule: 'runtime-restart' } });
  for (const unit of UNITS) t.strictSame((await runtime(unit, 'diagnostics')).thread, { units: 1, sharedWith: [] }, `${unit} is alone`);
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.until(batch, 'Running');
  t.notOk((await plant.finish(batch)).failure);
});
