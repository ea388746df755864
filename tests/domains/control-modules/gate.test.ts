/** The gate that keeps the logic of the modules of a working unit as it is (D-C-13). */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const SITE = '/api/v1/sites/north';
const REASON = { reason: 'a wrong gain is corrected' };
const template = (value: number) => ({ name: 'gain', moduleType: 'x', blocks: [{ name: 'c', type: 'CONST', params: { value } }] });
await engineer.post('/api/v1/sites', { name: 'north' });
for (const name of ['r1', 'r2']) await engineer.post(`${SITE}/units`, { name });
await engineer.post('/api/v1/controlmoduletemplates', template(1));
for (const name of ['m1', 'm2']) await engineer.post(`${SITE}/controlmodules`, { name, templateRef: 'gain', parentName: name === 'm1' ? 'r1' : 'r2' });

async function work(part: object): Promise<void> {
  const { status } = plant.store.get(Unit, 'north', 'r1')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...status, ...part } }] });
}
const put = (body: object) => engineer.put(`${SITE}/controlmodules/m1`, body);
const arm = () => engineer.post(`${SITE}/controlmodules/m1/override-hot-swap`, REASON);
const apply = (kp: number) =>
  engineer.post('/api/v1/apply', {
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'ControlModule',
    metadata: { name: 'm1', namespace: 'site-north' },
    spec: { templateRef: 'gain', parentName: 'r1', parentKind: 'Unit', paramOverrides: [{ blockRef: 'c', param: 'value', value: kp }] },
  });
const REFUSED = { status: 409, body: { code: 'active_batch', batch: 'b-1', unit: 'r1' } };

t.test('D-C-13: a module and its template are not edited while the unit works, by no route, and the module is not deleted', async (t) => {
  t.equal((await put({ description: 'idle', tags: [] })).status, 200);
  t.equal((await apply(2)).status, 200);
  await work({ allocatedTo: 'b-1' });
  t.match(await put({ parentName: 'r2' }), REFUSED, 'taken away');
  t.match(await apply(3), REFUSED);
  t.match(await engineer.put('/api/v1/controlmoduletemplates/gain', { blocks: template(4).blocks }), REFUSED);
  t.match(await engineer.delete(`${SITE}/controlmodules/m1`), REFUSED);
  t.match(await engineer.put(`${SITE}/controlmodules/m2`, { parentName: 'r1' }), REFUSED, 'brought in');
  t.equal((await put({ description: 'words change nothing' })).status, 200);
  t.equal((await apply(2)).status, 200, 'what changes nothing passes');
});

t.test('D-C-13: override-hot-swap lifts the gate for one edit, not for a delete', async (t) => {
  t.match(await engineer.post(`${SITE}/controlmodules/none/override-hot-swap`, REASON), { status: 404 });
  const armed = await arm();
  t.match(armed, { status: 200, body: { name: 'm1', armed: true, reason: REASON.reason } });
  t.equal(Date.parse(armed.body.until) - plant.clock.wallMs(), 15 * 60_000);
  t.match(plant.audits.at(-1), { action: 'Command', category: 'hot-swap-override', target: { kind: 'ControlModule', name: 'm1' } });
  t.match(await engineer.delete(`${SITE}/controlmodules/m1`), REFUSED);
  t.equal((await apply(3)).status, 200);
  t.match(await apply(4), REFUSED, 'one shot');
  await arm();
  t.equal((await engineer.put('/api/v1/controlmoduletemplates/gain', { blocks: template(5).blocks })).status, 200);
  t.equal(plant.store.get(ControlModule, 'north', 'm1')?.status.hotSwapOverride, undefined, 'an edit of the template uses it up');
  t.match(await put({ parentName: 'r2' }), REFUSED);
  await arm();
  const moved = await put({ parentName: 'r2' });
  t.equal(moved.status, 200, moved.text);
  await work({ allocatedTo: '' });
  t.equal((await engineer.delete(`${SITE}/controlmodules/m1`)).status, 204);
});
