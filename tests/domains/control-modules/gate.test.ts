/** The gate that keeps the logic of the modules of a working unit as it is (D-C-13). */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const admin = await plant.as('admin');
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

t.test('D-C-13: no logic comes new to a unit at work; a module is made beside it, armed, and given its place', async (t) => {
  await work({ allocatedTo: 'b-1' });
  const fresh = { name: 'm3', templateRef: 'gain', parentName: 'r1' };
  t.match(await engineer.post(`${SITE}/controlmodules`, fresh), { status: 409, body: { ...REFUSED.body, error: /create m3 without a parent/ } });
  const manifest = (kind: string, name: string, spec: object) => ({ apiVersion: 'x.lineside.io/v1alpha1', kind, metadata: { name, namespace: 'site-north' }, spec });
  t.match(await engineer.post('/api/v1/apply', manifest('ControlModule', 'm3', { templateRef: 'gain', parentName: 'r1' })), REFUSED);
  t.equal((await engineer.post(`${SITE}/controlmodules`, { ...fresh, parentName: '' })).status, 201);
  t.match(await engineer.put(`${SITE}/controlmodules/m3`, { parentName: 'r1' }), REFUSED);
  await engineer.post(`${SITE}/controlmodules/m3/override-hot-swap`, REASON);
  t.equal((await engineer.put(`${SITE}/controlmodules/m3`, { parentName: 'r1' })).status, 200);

  const program = (unitRef: string) => ({ unitRef, scanInterval: '100ms', blocks: [{ name: 'c', type: 'CONST', params: { value: 1 } }] });
  t.match(await engineer.post(`${SITE}/fbnetworks`, { metadata: { name: 'p1' }, spec: program('r1') }), {
    status: 409,
    body: { ...REFUSED.body, error: /create p1 on a unit that does not work/ },
  });
  t.match(await engineer.post('/api/v1/apply', manifest('ControlProgram', 'p1', program('r1'))), REFUSED);
  t.equal((await engineer.post(`${SITE}/fbnetworks`, { metadata: { name: 'p1' }, spec: program('r2') })).status, 201);
  await work({ allocatedTo: '' });
  t.equal((await engineer.post('/api/v1/apply', manifest('ControlProgram', 'p2', program('r1')))).status, 200);
});

t.test('D-C-13: where, how often and with what a unit at work executes stays; words, mode and its cell do not matter', async (t) => {
  await admin.post(`${SITE}/controllers`, { name: 'box', simulation: true });
  await engineer.post(`${SITE}/processcells`, { name: 'cell' });
  t.equal((await engineer.put(`${SITE}/units/r1`, { controllerRef: 'box' })).status, 200);
  await work({ allocatedTo: 'b-1' });
  const unit = (spec: object) =>
    engineer.post('/api/v1/apply', { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Unit', metadata: { name: 'r1', namespace: 'site-north' }, spec });
  const same = { controllerRef: 'box', processCellName: 'cell' };
  t.equal((await engineer.put(`${SITE}/units/r1`, { description: 'at work', symbolId: 'tank', processCellName: 'cell' })).status, 200);
  t.match(await engineer.put(`${SITE}/units/r1`, { controllerRef: '' }), {
    status: 409,
    body: { ...REFUSED.body, error: /works for b-1; end that work before controllerRef is changed/ },
  });
  t.match(await engineer.put(`${SITE}/units/r1`, { processCellName: '' }), { ...REFUSED, body: { ...REFUSED.body, field: 'processCellName' } });
  for (const [member, value] of Object.entries({
    scanInterval: '200ms',
    roleBindings: [{ role: 'gain', controlModule: 'm1' }],
    permissives: [{ name: 'p', conditionST: 'TRUE' }],
    capabilities: ['mix'],
    runtimeImage: 'x',
    controllerRef: '',
  }))
    t.match(await unit({ ...same, [member]: value }), { status: 409, body: { ...REFUSED.body, field: member } }, member);
  t.equal((await unit({ ...same, description: 'other words' })).status, 200);
  await work({ allocatedTo: '' });
  t.equal((await unit({ ...same, scanInterval: '200ms' })).status, 200);
});

t.test('D-C-13: channels that the logic of a unit at work is wired to stay as they are; the device behind them may be repaired', async (t) => {
  const channels = [
    { name: 'level', address: 'l1', dataType: 'float' },
    { name: 'other', address: 'o1', dataType: 'float' },
    { name: 'pump', address: 'p1', direction: 'output', dataType: 'bool' },
  ];
  const io = { name: 'plc', protocol: 'simulation', controllerRef: 'box', channels };
  await admin.post(`${SITE}/iomodules`, io);
  const tags = [{ name: 'pv', dataType: 'Float', channel: 'plc:l1' }];
  await engineer.put(`${SITE}/controlmodules/m3`, { tags });
  const blocks = [{ name: 'out', type: 'DO', params: { addr: 'plc:pump' } }];
  await engineer.post(`${SITE}/fbnetworks`, { metadata: { name: 'pumping' }, spec: { unitRef: 'r1', scanInterval: '100ms', blocks } });
  await work({ allocatedTo: 'b-1' });
  const change = (body: object) => admin.put(`${SITE}/iomodules/plc`, body);
  const [level, other, pump] = channels;
  for (const [what, body] of Object.entries({
    'read by a tag, gone': { channels: [other, pump] },
    'another direction': { channels: [{ ...level, direction: 'output' }, other, pump] },
    'another type': { channels: [{ ...level, dataType: 'int' }, other, pump] },
    'written by a program, elsewhere': { channels: [level, other, { ...pump, address: 'p2' }] },
    'switched off': { enabled: false },
  })) {
    t.match(await change(body), REFUSED, what);
    const spec = { protocol: 'simulation', controllerRef: 'box', channels, ...body };
    t.match(
      await admin.post('/api/v1/apply', { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'IOModule', metadata: { name: 'plc', namespace: 'site-north' }, spec }),
      REFUSED,
      what,
    );
  }
  t.match(await change({ channels: [other, pump] }), { body: { error: /arm override-hot-swap of control module m3/ } });
  t.match(await change({ channels: [level, other] }), { body: { error: /arm override-hot-swap of control program pumping/ } });
  t.equal((await change({ channels: [{ ...level, description: 'in the corner', pollInterval: '1s' }, pump] })).status, 200, 'one that nobody is wired to, words, intervals');
  t.equal((await change({ options: { tick: '200ms' } })).status, 200);
  await engineer.post(`${SITE}/controlmodules/m3/override-hot-swap`, REASON);
  t.match(await change({ channels: [] }), REFUSED, 'not armed on the program');
  t.ok(plant.store.get(ControlModule, 'north', 'm3')?.status.hotSwapOverride, 'a refusal uses nothing up');
  await engineer.post(`${SITE}/fbnetworks/pumping/override-hot-swap`, REASON);
  const both = await change({ channels: [] });
  t.equal(both.status, 200, both.text);
  t.equal(plant.store.get(ControlModule, 'north', 'm3')?.status.hotSwapOverride, undefined);
  t.equal(plant.store.get(ControlProgram, 'north', 'pumping')?.status.hotSwapOverride, undefined);
  await work({ allocatedTo: '' });
  await engineer.put(`${SITE}/controlmodules/m3`, { tags: [] });
  await work({ allocatedTo: 'b-1' });
  t.match(await admin.delete(`${SITE}/iomodules/plc`), REFUSED, 'a program is wired to it');
  await work({ allocatedTo: '' });
  t.equal((await admin.delete(`${SITE}/iomodules/plc`)).status, 204);
});
