/** One time for one transition: what the historian keeps of a batch is what its events say, to the last of them (decisions 8.9). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

interface Change {
  readonly kind: string;
  readonly name: string;
  readonly to: string;
  readonly ts: string;
}

t.test('decisions 8.9: the states of a batch in the historian are those of its events, with their times, and its end is among them', async (t) => {
  await plant.recipeOf('makes', { steps: [{ name: 'make', initial: true, actionST: 'x := 1.0;' }], variables: [{ name: 'x', type: 'REAL' }] });
  const batch = await plant.runBatch({ masterRecipeRef: 'makes' });
  const { endedAt, batchID } = await plant.until(batch, 'Complete');

  const states = (await plant.api.get(`/api/v1/historian/batch/${batchID}/states?limit=1000`)).body.items as Change[];
  const events = (await plant.api.get(`${SITE}/batches/${batch}/events`)).body.items as {
    eventSubType: string;
    value: string;
    ts: string;
    element: { kind: string; name: string };
  }[];
  const told = events.filter(({ eventSubType }) => eventSubType === 'State Change');
  for (const kind of ['Batch', 'Procedure', 'UnitProcedure', 'Operation', 'Phase']) {
    for (const to of ['Running', 'Complete']) {
      const event = told.find(({ element, value }) => element.kind === kind && value === to);
      const state = states.find((change) => change.kind === kind && change.name === event?.element.name && change.to === to);
      t.equal(state?.ts, event?.ts, `${kind} ${to}`);
      t.ok(state, `${kind} ${to} is there`);
    }
  }
  t.equal(states.find(({ kind, to }) => kind === 'Batch' && to === 'Complete')?.ts, endedAt);
});
