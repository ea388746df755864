/** The next hours of a site (ADR 0135): a forecast that says nothing which nobody knows. */
import t from 'tap';
import { parse } from 'valibot';
import { Batch, BatchSpec } from '../../../src/domains/batches/kind.js';
import { planOf } from '../../../src/domains/shift/plan.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const HOUR_MS = 3_600_000;
const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const { store, clock } = plant;
await (await plant.as('engineer')).post('/api/v1/demo/provision');

async function order(batchID: string, more: Partial<BatchSpec>): Promise<void> {
  const spec = parse(BatchSpec, { batchID, masterRecipeRef: 'resin-a', ...more });
  await store.write({ puts: [{ kind: Batch, site: 'demo', name: batchID.toLowerCase(), spec } as Put] });
}

t.test('ADR 0135: no batch waits for one that is to start when the planned hours are over, also where that is the more urgent one', async (t) => {
  const inHours = (hours: number): string => new Date(clock.wallMs() + hours * HOUR_MS).toISOString();
  await order('NEXT-WEEK', { scheduledStartTime: inHours(168), priority: 900 });
  await order('NOW', {});
  clock.advance(1000);
  await order('BEHIND', {});
  const now = inHours(0);
  const { batches } = planOf(store, 'demo', clock.wallMs());
  t.same(
    batches.map(({ batchID, startsAt }) => [batchID, startsAt]),
    [
      ['NOW', now],
      ['BEHIND', ''],
      ['NEXT-WEEK', ''],
    ],
    'the first can begin at once; nobody knows how long it takes',
  );
  t.same(batches[0]?.waitsFor, []);
  t.ok(batches[1]?.waitsFor.every(({ batchID }) => batchID === 'NOW'));
  await order('SOON', { scheduledStartTime: inHours(2), priority: 900 });
  t.equal(planOf(store, 'demo', clock.wallMs()).batches[0]?.batchID, 'SOON', 'within the hours the queue counts');
});
