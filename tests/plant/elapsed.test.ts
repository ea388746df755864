/** The clock is set while a batch runs: nothing fires, fails or ends by it (D-C-07). */
import t, { type Test } from 'tap';
import { SetClock, SITE, startPlant } from '../support/plant.js';

const clock = new SetClock();
const plant = await startPlant({ clock });
t.teardown(() => plant.end());

const asking = { steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }] };
for (const [name, spec] of Object.entries({ 'at-once': { steps: [{ name: 'do', initial: true, actionST: 'x := 1;' }] }, asks: { ...asking, charts: { stopping: asking } } }))
  await plant.api.post(`${SITE}/phasetemplates`, { name, spec });

async function recipe(name: string, operation: object): Promise<void> {
  const procedure = {
    chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [{ name: 'op', stepLevel: 'Operation', ...operation }] } }] },
  };
  const made = await plant.api.post(`${SITE}/recipes/master`, { name, spec: { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure } });
  if (made.status !== 201) throw new Error(made.text);
}
const step = (name: string, templateRef: string) => ({ name, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef });

/** A command that makes the controller look, whatever becomes of it. */
async function look(batch: string, command: string): Promise<void> {
  await plant.audit(await plant.command(batch, command));
}

t.test('D-C-07: a clock that goes ahead spends no budget and fires no step time; one that goes back or ahead ends no Stop', async (t) => {
  await recipe('timed', {
    timeoutSeconds: 600,
    subChart: { steps: [{ ...step('first', 'at-once'), initial: true }, step('second', 'asks')], transitions: [{ from: 'first', to: 'second', conditionST: 'first.T >= T#10m' }] },
  });
  const batch = await plant.runBatch({ masterRecipeRef: 'timed' });
  await plant.untilPhase(batch, 'at-once', 'Complete');
  clock.setByMs = 2 * 3_600_000;
  await look(batch, 'Resume');
  await look(batch, 'Resume');
  const phases = await plant.phases(batch);
  t.equal(phases.find(({ templateRef }) => templateRef === 'asks').state, 'Idle', 'T has not passed');
  t.match(await plant.batch(batch), { phase: 'Running', heldInside: false }, 'nor has the budget');
  clock.setByMs = 0;
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');

  await recipe('slow-to-stop', { subChart: { steps: [step('only', 'asks')] } });
  const slow = await plant.runBatch({ masterRecipeRef: 'slow-to-stop' });
  await plant.untilPhase(slow, 'asks', 'Running');
  await look(slow, 'Stop');
  await plant.untilPhase(slow, 'asks', 'Stopping');
  clock.setByMs = 3_600_000;
  await look(slow, 'Stop');
  await look(slow, 'Stop');
  t.equal((await plant.batch(slow)).phase, 'Stopping', 'its charts still run');
  clock.setByMs = 0;
  await plant.command(slow, 'Abort');
  await plant.until(slow, 'Aborted');
});

/** Whether some of the times are of the clock that a batch began with, and some of the one that it was put back to. */
const sidesOf =
  (startedAt: string, setByMs: number) =>
  (times: readonly string[]): readonly boolean[] =>
    [0, setByMs].map((byMs) => times.some((ts) => Math.abs(Date.parse(ts) - Date.parse(startedAt) - byMs) < 600_000));

async function servedOf(batchID: string): Promise<string[]> {
  const pages = await Promise.all(['asc', 'desc'].map((order) => plant.api.get(`/api/v1/historian/batch/${batchID}/tags?limit=1000&order=${order}`)));
  return pages.flatMap(({ body }) => body.items.map(({ ts }: { ts: string }) => ts));
}

/** What the historian holds of a batch that began with the right clock and ended with one that was put back. */
async function historyOf(t: Test, batch: string, setByMs: number): Promise<void> {
  const { batch: told, historian } = (await plant.api.get(`${SITE}/batches/${batch}/record`)).body;
  t.ok(Date.parse(told.clockSpan.from) <= Date.parse(told.endedAt) && Date.parse(told.clockSpan.to) > Date.parse(told.startedAt), JSON.stringify(told.clockSpan));
  const sides = sidesOf(told.startedAt, setByMs);
  t.same(sides(historian.tags.flatMap(({ from, to }: { from: string; to: string }) => [from, to])), [true, true], 'the record names the samples before the step and after it');
  t.ok(
    historian.gaps.some(({ cause, from }: { cause: string; from: string }) => cause === 'ClockJump' && sides([from])[1]),
    'and the step itself',
  );
  t.same(sides(await servedOf('EVIDENCE')), [true, true], 'and the historian serves them');
}

t.test('D-C-07: a clock that goes back an hour in the middle of a batch takes nothing from what happened to it', async (t) => {
  await recipe('evidence', { subChart: { steps: [step('first', 'asks')] } });
  const spec = { batchID: 'EVIDENCE', masterRecipeRef: 'evidence' };
  const { name } = (await plant.api.post(`${SITE}/batches`, spec)).body;
  clock.setByMs = -3_600_000;
  t.equal((await plant.api.delete(`${SITE}/batches/${name}`)).status, 204, 'the first of its name, withdrawn');
  clock.setByMs = -2 * 3_600_000;
  t.equal(await plant.createBatch(spec), name);
  clock.setByMs = 0;
  const before = await plant.events(name);
  await plant.command(name, 'Start');
  const prompt = await plant.untilPrompt(name);
  clock.setByMs = -3 * 3_600_000;
  const sides = sidesOf((await plant.batch(name)).startedAt, clock.setByMs);
  await plant.look('the batch is recorded by the clock as it is now', async () => {
    const seen = sides(await servedOf('EVIDENCE'));
    return { done: seen.every(Boolean) || undefined, seen: `before the step and after it: ${seen}` };
  });
  await plant.answer(prompt, 'yes');
  await plant.finish(name);
  const { recordRef } = await plant.look('the record is made', async () => {
    const body = await plant.batch(name);
    return { done: body.recordRef ? body : undefined, seen: body.phase };
  });
  const page = (await plant.api.get(`${SITE}/batches/${name}/events?order=asc&limit=1000`)).body.items;
  const ids = page.map(({ id }: { id: number }) => id);
  t.same(
    ids,
    ids.map((_: number, n: number) => ids[0] + n),
    'in the order of their numbers, none is missing',
  );
  t.ok(before.length <= page.length);
  t.ok(
    page.some(({ eventSubType }: { eventSubType: string }) => eventSubType === 'Prompt Response'),
    'what came after the step is there',
  );
  t.ok(page.at(-1).ts < page[0].ts);
  const record = (await plant.api.get(`${SITE}/batchrecords/${recordRef}`)).body;
  await historyOf(t, name, clock.setByMs);
  t.ok((record.spec ?? record).executionEvents.some(({ eventSubType }: { eventSubType: string }) => eventSubType === 'Prompt Response'));
  const { lanes, markers } = (await plant.api.get(`${SITE}/batches/${name}/timeline`)).body;
  for (const lane of lanes) t.equal(lane.spans.at(-1).state, 'Complete', lane.path);
  t.ok(markers.some(({ type }: { type: string }) => type === 'PromptResponse'));
  clock.setByMs = 0;
});
