/** What is asked of the equipment of a batch belongs to the batch that held it when it was asked (decisions 8.1; 21 CFR 11.10(e)). */
import * as v from 'valibot';
import t from 'tap';
import { Batch, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { RecordReconciler } from '../../../src/domains/records/reconciler.js';
import type { LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import { startPlant } from './plant.js';

const facts: LedgerTransaction['facts'][number][] = [];
const plant = await startPlant({ beforeCommit: async (transaction) => void facts.push(...transaction.facts) });
t.teardown(() => plant.stop());
const { store, link } = plant;
const records = new RecordReconciler({ store, facts: { facts: async () => [], factPageJson: async () => ({ json: '[]', next: 0 }) as never } });

async function held(by: string): Promise<void> {
  const { status } = store.get(Unit, 'north', 'rx101')!;
  await store.write({ puts: [{ kind: Unit, site: 'north', name: 'rx101', status: { ...status, allocatedTo: by } }] });
}
const write = (value: number) => plant.request('POST', '/api/v1/sites/north/units/rx101/tags/v101.sp', { token: 'all', body: { value } });
const streams = () => facts.splice(0).map(({ stream }) => stream);

t.test('a write that is answered after the batch has given its unit back is told to that batch, and its record waits for it', async (t) => {
  const spec = v.parse(Batch.spec, { batchID: 'B-1', masterRecipeRef: 'r' });
  await store.write({ puts: [{ kind: Batch, site: 'north', name: 'b-1', spec }] });
  const batch = store.get(Batch, 'north', 'b-1')!;
  await store.write({ puts: [{ kind: Batch, site: 'north', name: 'b-1', status: { ...batch.status, phase: 'Complete', endedAt: batch.metadata.createdAt } as BatchStatus }] });
  await held('b-1');
  facts.splice(0);
  const outcomes: unknown[] = [];
  link.onWrite = () => {
    link.onWrite = undefined;
    const { status } = store.get(Unit, 'north', 'rx101')!;
    store.apply({ puts: [{ kind: Unit, site: 'north', name: 'rx101', status: { ...status, allocatedTo: '' } }] }).durable.catch(() => undefined);
    outcomes.push(records.reconcile({ site: 'north', name: 'b-1' }));
  };
  t.equal((await write(30)).status, 200);
  t.match(await Promise.all(outcomes), [{ lookAgainMs: Number }], 'its record is not made while something is open');
  t.equal(store.get(BatchRecord, 'north', 'b-1'), undefined);
  t.same(streams(), ['events/north/b-1', 'actions/north/b-1']);
  t.equal(await records.reconcile({ site: 'north', name: 'b-1' }), 'settled');
  t.ok(store.get(BatchRecord, 'north', 'b-1'), 'then it is');
});

t.test('whoever has the unit by then is told too: what was written is what it begins with', async (t) => {
  await held('b-2');
  facts.splice(0);
  link.onWrite = () => {
    link.onWrite = undefined;
    const { status } = store.get(Unit, 'north', 'rx101')!;
    store.apply({ puts: [{ kind: Unit, site: 'north', name: 'rx101', status: { ...status, allocatedTo: 'b-3' } }] }).durable.catch(() => undefined);
  };
  t.equal((await write(31)).status, 200);
  t.same(streams(), ['events/north/b-2', 'actions/north/b-2', 'events/north/b-3', 'actions/north/b-3']);
});
