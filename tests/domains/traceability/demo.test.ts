/** A batch of the demonstration plant, traced while it is there and when it is past (ACCEPT-09). */
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { PAST_AT_ONCE, SITE, SMALL, startPlant } from '../../support/plant.js';

const plant = await startPlant({ environment: PAST_AT_ONCE });
t.teardown(() => plant.end());

interface Told {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly name: string; readonly material: string; readonly quantity: string; readonly unit: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly relation: string; readonly quantity: string }[];
}

t.test('ROUTE-03, ACCEPT-09: forward from MONO-0001 leads over the batch to its lot, and the record has the same materials', async (t) => {
  t.match((await plant.api.get(`${SITE}/trace/lot/MONO-0001/forward`)).body, { status: 404, code: 'unknown_lot' });
  const batch = await plant.runBatch({ ...SMALL, lotID: 'L 2041/a' });
  await plant.finish(batch);
  const { batchID } = (await plant.api.get(`${SITE}/batches/${batch}`)).body;
  const told: Told = (await plant.api.get(`${SITE}/trace/lot/MONO-0001/forward`)).body;
  t.match(told, { lotID: 'MONO-0001', nodes: [{ id: 'MONO-0001' }, { id: batch, type: 'batch', name: batchID }, { id: 'L 2041/a', type: 'lot', unit: 'kg' }] });
  t.ok(Number(told.nodes[2]?.quantity) > 10);
  t.same(
    told.edges.map(({ from, to, relation }) => [from, to, relation]),
    [
      ['MONO-0001', batch, 'consumed'],
      [batch, 'L 2041/a', 'produced'],
    ],
  );
  const back: Told = (await plant.api.get(`${SITE}/trace/lot/${encodeURIComponent('L 2041/a')}/backward`)).body;
  t.ok(back.nodes.some(({ id }) => id === 'MONO-0001') && back.nodes.length > 3, 'and back to all that was charged');

  const record = await plant.look('the record is there', async () => {
    const { body, status } = await plant.api.get(`${SITE}/batches/${batch}/record`);
    return { done: status === 200 && !body.provisional ? body : undefined, seen: String(status) };
  });
  const materials = (await plant.api.get(`${SITE}/trace/batch/${batch}/materials`)).body;
  const plain = (uses: readonly { readonly at: string }[]) => uses.map(({ at: _at, ...use }) => JSON.stringify(use, Object.keys(use).sort())).sort();
  t.same([plain(materials.inputs), plain(materials.outputs)], [plain(record.materials.inputs), plain(record.materials.outputs)]);

  await plant.command(batch, 'Reset');
  const state = new Database(path.join(plant.dataDir, 'state.db'), { readonly: true });
  await plant.look('the batch is past', async () => {
    const past = state.prepare("SELECT past FROM resources WHERE kind = 'Batch' AND name = ?").pluck().get(batch);
    return { done: past !== '' || undefined, seen: String(past) };
  });
  state.close();
  t.same((await plant.api.get(`${SITE}/trace/lot/MONO-0001/forward`)).body, told, 'the same when it is past');
  t.same((await plant.api.get(`${SITE}/trace/batch/${batch}/materials`)).body, materials);
});
