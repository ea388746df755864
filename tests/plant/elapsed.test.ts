/** The clock is set while a batch runs: nothing fires, fails or ends by it (D-C-07). */
import t from 'tap';
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
