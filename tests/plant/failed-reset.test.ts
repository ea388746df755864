/**
 * A resetting chart that does not end drives its equipment once for each hand-over of the unit, and after that only when a
 * person asks (ADR 0014), on the demonstration plant.
 */
import t from 'tap';
import { asking, SITE, startPlant } from '../support/plant.js';

const plant = await startPlant({ environment: { LINESIDE_RUNTIME__SFC__EXCEPTIONCHARTTIMEOUT: '15s' } }); // three seconds by the wall, in which the question is answered too
t.teardown(() => plant.end());

const UNIT = 'rx101';
const FAILED = 'the resetting chart has not ended within 15000 ms';

for (const [name, spec] of Object.entries({
  'never-reset': { ...asking('Go on?'), charts: { resetting: asking('Is it reset?') } },
  'plain-wait': asking('Go on?'),
}))
  await plant.recipeOf(name, spec);

function waitsBecause(batch: string, text: string) {
  return plant.look(`${batch} waits because of '${text}'`, async () => {
    const { blockedBecause } = await plant.batch(batch);
    return { done: blockedBecause.includes(text) || undefined, seen: blockedBecause };
  });
}

function unitIs(state: string, allocatedTo: string) {
  return plant.look(`${UNIT} is ${state} and of '${allocatedTo}'`, async () => {
    const body = await plant.unit(UNIT);
    return { done: body.state === state && body.allocatedTo === allocatedTo ? body : undefined, seen: `${body.state} of '${body.allocatedTo}': ${body.blockedBecause}` };
  });
}

/** Answers the question of the resetting chart. */
function sayReset() {
  return plant.look('somebody asks whether it is reset', async () => {
    const prompt = (await plant.api.get(`${SITE}/prompts`)).body.find(({ text }: { text: string }) => text === 'Is it reset?');
    const answer = prompt && (await plant.answer(prompt, ''));
    return { done: answer?.status === 200 || undefined, seen: answer?.text ?? 'nobody' };
  });
}

/** How often the phase of the work has begun to reset. */
async function resets(scope: string): Promise<number> {
  const { body } = await plant.api.get(`${SITE}/batches/${scope}/events`);
  return body.items.filter(({ value, element }: { value: string; element: { kind: string } }) => value === 'Resetting' && element?.kind === 'Phase').length;
}

t.test('ADR 0014: a resetting chart that fails is tried once for a hand-over; the batch that waits says why, and a Reset tries again', async (t) => {
  const before = await plant.runBatch({ masterRecipeRef: 'never-reset' });
  await plant.untilPhase(before, 'never-reset', 'Running');
  await plant.command(before, 'Stop');
  await plant.until(before, 'Stopped');
  await unitIs('Stopped', '');
  const next = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await unitIs('Resetting', before);
  await waitsBecause(next, `unit ${UNIT} could not be reset after ${before}: up/op/phase: ${FAILED}; Reset of ${before} tries again`);
  t.match(await unitIs('Stopped', before), {
    blockedBecause: `could not be reset for ${next}: up/op/phase: ${FAILED}; Reset of ${before} tries again`,
    blockedBy: [{ reason: 'failure', command: 'Reset', element: { kind: 'Batch', name: before } }],
  });
  await plant.restart();
  t.match(
    await unitIs('Stopped', before),
    { blockedBecause: `could not be reset for ${next}: up/op/phase: ${FAILED}; Reset of ${before} tries again` },
    'a restart drives nothing either',
  );
  t.equal(await resets(before), 1);

  await plant.until(next, 'Held');
  await plant.command(next, 'Restart');
  await plant.command(before, 'Reset');
  await waitsBecause(next, `unit ${UNIT} is being reset after ${before}`);
  await sayReset();
  await unitIs('Running', next);
  t.equal(await resets(before), 2, 'once for the hand-over, once for the Reset');
  await plant.command(next, 'Abort');
  await plant.until(next, 'Aborted');
  await plant.command(next, 'Reset');
  await unitIs('Idle', '');
});

t.test('ADR 0014: the next hand-over is one more attempt, also of an ad-hoc run', async (t) => {
  const { name } = (await plant.api.post(`${SITE}/units/${UNIT}/execute-phase`, { phaseTemplateRef: 'never-reset' })).body;
  await plant.look('the run is Running', async () => {
    const { state } = (await plant.api.get(`${SITE}/phases/${name}`)).body;
    return { done: state === 'Running' || undefined, seen: state };
  });
  await plant.api.post(`${SITE}/command`, { kind: 'Phase', name, command: 'Stop', reason: 'asked for by the test' });
  await unitIs('Stopped', '');
  for (const attempt of ['first', 'second']) {
    const next = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
    await unitIs('Resetting', name);
    await waitsBecause(next, `could not be reset after ${name}`);
    t.match(await unitIs('Stopped', name), { blockedBy: [{ command: 'Reset', element: { kind: 'Phase', name } }] }, attempt);
    await plant.command(next, 'Abort');
    await plant.until(next, 'Aborted');
    await unitIs('Stopped', '');
  }
  const next = await plant.runBatch({ masterRecipeRef: 'plain-wait' });
  await sayReset();
  await unitIs('Running', next);
  await plant.command(next, 'Abort');
  await plant.until(next, 'Aborted');
});
