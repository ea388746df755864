/** Logic transforms, and the gate that keeps the logic of a working unit as it is (contract 3, Control program, Logic transforms). */
import t from 'tap';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { signIn } from '../../support/gateway.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const PROGRAMS = '/api/v1/sites/north/fbnetworks';
const REASON = { reason: 'a wrong factor is corrected' };
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });
const spec = (factor: number, more: object = {}) => ({ unitRef: 'r1', scanInterval: '100ms', blocks: [{ name: 'mul', type: 'MUL', params: { IN1: 3, IN2: factor } }], ...more });

async function work(part: object): Promise<void> {
  const { status } = plant.store.get(Unit, 'north', 'r1')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...status, ...part } }] });
}

t.test('LOGIC-04: transforms are the action controllogic:transform of an engineer', async (t) => {
  const operator = await plant.as('lead-operator');
  for (const [route, body] of [
    ['to-st', { blocks: [] }],
    ['to-network', { st: 'PROGRAM p\nEND_PROGRAM' }],
  ] as const) {
    t.match(await operator.post(`/api/v1/control-logic/${route}`, body), { status: 403, body: { code: 'action_missing', action: 'controllogic:transform' } }, route);
    t.equal((await engineer.post(`/api/v1/control-logic/${route}`, body)).status, 200, route);
  }
});

t.test('ST-13: the builtins of control-module text are AI, AO, DI and DO, and no others', async (t) => {
  const toNetwork = (body: string) => engineer.post('/api/v1/control-logic/to-network', { st: `PROGRAM p\n${body}\nEND_PROGRAM` });
  const text = "AO('io:o', AI('io:i', 4.0, 20.0, 0.0, 100.0), 0.0, 100.0, 4.0, 20.0);\nDO('io:q', DI('io:d'));";
  const { status, body } = await toNetwork(text);
  t.equal(status, 200);
  t.same(
    body.blocks.map((block: { type: string; params: { addr: string } }) => `${block.type} ${block.params.addr}`),
    ['AI io:i', 'AO io:o', 'DI io:d', 'DO io:q'],
  );
  for (const call of ["READ('v.pv')", "WRITE('v.sp', 1.0)", "PROMPT('go')", "RAISE_SIGNAL('s')", "CALL_SERVICE('s')", 'constructor(1.0)', 'PI()']) {
    t.match(await toNetwork(`${call};`), { status: 422, body: { blocks: [], dataConnections: [], diagnostics: [{ line: 2, column: Number, message: String }] } }, call);
  }
});

t.test('PROG-16, decisions Q-PROG-03: an armed override expires after 15 minutes, covers one edit, and no delete', async (t) => {
  t.equal((await engineer.post(PROGRAMS, { metadata: { name: 'p' }, spec: spec(2) })).status, 201);
  await work({ allocatedTo: 'b-1' });
  const put = (factor: number) => engineer.put(`${PROGRAMS}/p`, { spec: spec(factor) });
  const arm = () => engineer.post(`${PROGRAMS}/p/override-hot-swap`, REASON);
  t.match(await put(3), { status: 409, body: { code: 'active_batch', batch: 'b-1', unit: 'r1' } });
  const armed = await arm();
  t.match(armed, { status: 200, body: { name: 'p', armed: true, reason: REASON.reason } });
  t.equal(Date.parse(armed.body.until) - plant.clock.wallMs(), 15 * 60_000);
  const { status } = plant.store.get(ControlProgram, 'north', 'p')!;
  const expired = { ...status, hotSwapOverride: { ...armed.body, until: new Date(plant.clock.wallMs()).toISOString() } };
  await plant.store.write({ puts: [{ kind: ControlProgram, site: 'north', name: 'p', status: expired }] });
  t.match(await put(3), { status: 409 }, 'too late');
  await arm();
  t.match(await engineer.delete(`${PROGRAMS}/p`), { status: 409, body: { code: 'active_batch' } }, 'there is no override for a delete');
  t.equal((await put(3)).status, 200);
  t.match(
    plant.audits.at(-1),
    { action: 'Update', target: { kind: 'ControlProgram', name: 'p' }, details: { hotSwapOverride: { reason: REASON.reason } } },
    'its use is on record',
  );
  t.match(await put(4), { status: 409 }, 'one shot');
  t.equal((await put(3)).status, 200, 'what changes nothing needs no override');
  await arm();
  await work({ allocatedTo: '' });
  t.equal((await put(5)).status, 200, 'nothing stood in the way');
  await work({ activeWork: { kind: 'Operation', name: 'adhoc-1', state: 'Running', batchRef: '', since: '' } });
  t.equal((await put(6)).status, 200, 'so the override is still there');
  t.match(await put(7), { status: 409, body: { batch: 'adhoc-1' } }, 'an ad-hoc run holds the gate like a batch');
  await work({ activeWork: null });
});

t.test('PROG-16, decisions Q-PROG-03: an edit that moves a program onto an active unit puts new logic there, so the gate holds', async (t) => {
  t.equal((await engineer.post('/api/v1/sites/north/units', { name: 'r2' })).status, 201);
  t.equal((await engineer.post(PROGRAMS, { metadata: { name: 'moved' }, spec: { ...spec(2), unitRef: 'r2' } })).status, 201);
  await work({ allocatedTo: 'b-3' });
  const move = (unitRef: string) => engineer.put(`${PROGRAMS}/moved`, { spec: { ...spec(2), unitRef } });
  t.match(await move('r1'), { status: 409, body: { code: 'active_batch', batch: 'b-3', unit: 'r1' } });
  await engineer.post(`${PROGRAMS}/moved/override-hot-swap`, REASON);
  t.equal((await move('r1')).status, 200);
  t.match(await move('r2'), { status: 409, body: { unit: 'r1' } }, 'and off it again');
  await work({ allocatedTo: '' });
});

t.test('decisions 5.3: a block type waits for active units that use it, not for a namesake of their programs', async (t) => {
  const type = {
    name: 'fifth',
    outputs: [{ name: 'OUT', dataType: 'REAL' }],
    blocks: [{ name: 'c', type: 'CONST', params: { value: 5.5 } }],
    outputBindings: [{ port: 'OUT', blockRef: 'c', portRef: 'OUT' }],
  };
  t.equal((await engineer.post('/api/v1/fbblocktypes', type)).status, 201);
  await engineer.post('/api/v1/sites', { name: 'east' });
  await engineer.post('/api/v1/sites/east/units', { name: 'e1' });
  const user = { unitRef: 'e1', scanInterval: '1s', blocks: [{ name: 'x', type: 'fifth' }] };
  t.equal((await engineer.post('/api/v1/sites/east/fbnetworks', { metadata: { name: 'p' }, spec: user })).status, 201);
  await work({ allocatedTo: 'b-4' });
  t.equal((await engineer.put('/api/v1/fbblocktypes/fifth', { description: 'a' })).status, 200, 'p of the other site does not use it');
  await work({ allocatedTo: '' });
  const idle = plant.store.get(Unit, 'east', 'e1')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'east', name: 'e1', status: { ...idle.status, allocatedTo: 'b-5' } }] });
  t.match(await engineer.put('/api/v1/fbblocktypes/fifth', { description: 'b' }), { status: 409, body: { code: 'active_batch', batch: 'b-5', unit: 'e1' } });
});

t.test('PROG-16: an edit that is refused for itself does not use the override up', async (t) => {
  await work({ allocatedTo: 'b-2' });
  await engineer.post(`${PROGRAMS}/p/override-hot-swap`, REASON);
  t.match(await engineer.put(`${PROGRAMS}/p`, { spec: spec(8, { blocks: [{ name: 'mul', type: 'NOPE' }] }) }), { status: 400 });
  t.match(await engineer.put(`${PROGRAMS}/p`, { spec: spec(8) }, { headers: { 'If-Match': '"1"' } }), { status: 412 });
  t.ok(plant.store.get(ControlProgram, 'north', 'p')?.status.hotSwapOverride);
  t.equal((await engineer.put(`${PROGRAMS}/p`, { spec: spec(8) })).status, 200);
  t.match((await engineer.get(`${PROGRAMS}/p`)).body, { state: 'Pending', message: String }, 'any edit of the spec waits to be loaded');
  await work({ allocatedTo: '' });
});

t.test('D-C-07: a wall clock that is set neither ends an armed override nor makes it longer', async (t) => {
  await work({ allocatedTo: 'b-3' });
  for (const stepMs of [3_600_000, -3_600_000]) {
    const factor = 20 + stepMs / 3_600_000;
    const before = await signIn(plant, ['engineer']);
    await before.post(`${PROGRAMS}/p/override-hot-swap`, REASON);
    plant.clock.jump(stepMs);
    plant.clock.advance(15 * 60_000 - 1);
    t.equal((await (await signIn(plant, ['engineer'])).put(`${PROGRAMS}/p`, { spec: spec(factor) })).status, 200, `${stepMs} ms, within its time`);
    await (await signIn(plant, ['engineer'])).post(`${PROGRAMS}/p/override-hot-swap`, REASON);
    plant.clock.jump(-stepMs);
    plant.clock.advance(15 * 60_000);
    t.match(await (await signIn(plant, ['engineer'])).put(`${PROGRAMS}/p`, { spec: spec(factor + 10) }), { status: 409 }, `${stepMs} ms, after its time`);
  }
});
