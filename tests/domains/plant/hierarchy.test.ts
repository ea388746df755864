/** The physical hierarchy and controllers over the real pipeline. */
import t from 'tap';
import { STORED_KINDS } from '../../../src/domains/index.js';
import { IOModule, type IOModuleStatus } from '../../../src/domains/io-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const admin = await plant.as('admin');
const reader = await plant.as('viewer');
const SITE = '/api/v1/sites/north';

t.test('HIER-02, HIER-03, HIER-04, HIER-05, HIER-06, HIER-07: the hierarchy is made from the top', async (t) => {
  t.match(await engineer.post('/api/v1/enterprises', { name: 'acme', description: 'Resins' }), {
    status: 201,
    body: { name: 'acme', description: 'Resins', sites: [], siteCount: 0 },
  });
  const site = await engineer.post('/api/v1/sites', { name: 'north', enterpriseName: 'acme', description: '', location: 'Hall 1' });
  t.match(site, {
    status: 201,
    headers: { location: '/api/v1/sites/north' },
    body: { name: 'north', enterpriseName: 'acme', location: 'Hall 1', namespace: 'site-north', phase: 'Active', areaCount: 0, unitCount: 0 },
  });
  t.match(await engineer.get('/api/v1/enterprises/acme'), { status: 200, body: { sites: ['north'], siteCount: 1 } });
  t.match(await engineer.post(`${SITE}/areas`, { name: 'hall', description: 'Hall' }), { status: 201, body: { name: 'hall', processCells: [], processCellCount: 0 } });
  t.match(await engineer.post(`${SITE}/processcells`, { name: 'train', areaName: 'hall' }), { status: 201, body: { name: 'train', areaName: 'hall', units: [], unitCount: 0 } });
  const unit = await engineer.post(`${SITE}/units`, { name: 'r1', processCellName: 'train', description: 'Reactor', symbolId: 'vessel' });
  t.match(unit, { status: 201, body: { name: 'r1', processCell: 'train', symbolId: 'vessel' } });
  t.match((await engineer.get(`${SITE}/areas/hall`)).body, { processCells: ['train'], processCellCount: 1, site: 'north', generation: 1 });
});

t.test('UNIT-01, UNIT-03, UNIT-04, UNIT-05, UNIT-07, UNIT-08, UNIT-13: a unit is served with everything the contract names', async (t) => {
  const { body } = await reader.get(`${SITE}/units/r1`);
  for (const member of [
    'name',
    'processCell',
    'symbolId',
    'state',
    'mode',
    'allocatedTo',
    'controllerRef',
    'runtimeReady',
    'runtimeMessage',
    'validCommands',
    'progression',
    'runtimeImage',
    'runtimeBuild',
    'conditions',
    'failoverRequest',
    'autoFailover',
    'writePosture',
  ]) {
    t.ok(member in body, member);
  }
  t.notOk('activeWork' in body, 'absent when idle');
  t.match(body, {
    mode: 'Automatic',
    progression: 'waiting',
    runtimeImage: '',
    validCommands: [],
    runtimeBuild: { verdict: 'unread' },
    autoFailover: { suspended: false, triedNodes: [] },
    writePosture: { verdict: 'declared' },
  });
  const unit = plant.store.get(Unit, 'north', 'r1');
  const activeWork = { kind: 'UnitProcedure', name: 'b-1-make', state: 'Held', batchRef: 'b-1', since: '2026-01-01T00:00:00.000Z' } as const;
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...unit!.status, state: 'Held', allocatedTo: 'b-1', activeWork } }] });
  t.match((await reader.get(`${SITE}/units/r1`)).body, { state: 'Held', allocatedTo: 'b-1', activeWork, progression: 'waiting', validCommands: ['Restart', 'Stop', 'Abort'] });
  t.match(await engineer.delete(`${SITE}/units/r1`), { status: 409, body: { code: 'unit_active' } });
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: unit!.status }] });
});

t.test('UNIT-02: an empty symbol on update clears it; members left out keep their value', async (t) => {
  const changed = await engineer.put(`${SITE}/units/r1`, { symbolId: '' });
  t.match(changed, { status: 200, body: { symbolId: '', description: 'Reactor', processCell: 'train' } });
});

t.test('UNIT-09, Q-UNIT-04, D-C-05: a unit takes its extension members, but no I/O configuration, and its mode by a route of its own', async (t) => {
  for (const field of ['ioModules', 'channels']) t.match(await engineer.put(`${SITE}/units/r1`, { [field]: [] }), { status: 400, body: { code: 'unknown_field', field } });
  t.match(await engineer.put(`${SITE}/units/r1`, { mode: 'Manual' }), { status: 400, body: { code: 'read_only_field', field: 'mode' } });
  t.match(await engineer.put(`${SITE}/units/r1`, { mode: 'Automatic' }), { status: 200, body: { mode: 'Automatic' } }, 'unchanged, it may be sent back');
  t.match(await engineer.put(`${SITE}/units/r1`, { capabilities: ['heat'] }), { status: 200, body: { capabilities: ['heat'] } });
  t.match(await engineer.put(`${SITE}/units/r1`, { capabilities: null }), { status: 200, body: { capabilities: [] } });
});

t.test('decisions D-UNIT-02: a reference that is set must exist', async (t) => {
  t.match(await engineer.post('/api/v1/sites', { name: 'south', enterpriseName: 'none' }), { status: 400, body: { code: 'unknown_reference', field: 'enterpriseName' } });
  t.match(await engineer.post(`${SITE}/processcells`, { name: 'c', areaName: 'none' }), { status: 400, body: { code: 'unknown_reference', field: 'areaName' } });
  t.match(await engineer.post(`${SITE}/units`, { name: 'u', processCellName: 'none' }), { status: 400, body: { code: 'unknown_reference', field: 'processCellName' } });
  t.match(await engineer.post(`${SITE}/units`, { name: 'u', controllerRef: 'none' }), { status: 400, body: { code: 'unknown_reference', field: 'controllerRef' } });
});

t.test('decisions Q-ERR-11: nothing is deleted while something depends on it', async (t) => {
  t.match(await engineer.delete('/api/v1/enterprises/acme'), { status: 409, body: { code: 'has_dependents', dependents: [{ kind: 'Site', name: 'north' }] } });
  t.match(await engineer.delete('/api/v1/sites/north'), { status: 409, body: { code: 'has_dependents', dependentCount: 3 } });
  t.match(await engineer.delete(`${SITE}/areas/hall`), { status: 409, body: { dependents: [{ kind: 'ProcessCell', name: 'train' }] } });
  t.match(await engineer.delete(`${SITE}/processcells/train`), { status: 409, body: { dependents: [{ kind: 'Unit', name: 'r1' }] } });
});

t.test('Q-ERR-11: what holds a site is what stands in it, not what the appliance keeps about it', async (t) => {
  const holding = STORED_KINDS.filter(({ scope, besideSite }) => scope === 'site' && !besideSite).map(({ kind }) => kind);
  t.same(
    holding.sort(),
    [
      'Alarm',
      'AlarmDefinition',
      'Area',
      'Batch',
      'BatchRecord',
      'ControlModule',
      'ControlProgram',
      'ControlRecipe',
      'Controller',
      'CoordinationBlock',
      'IOModule',
      'MasterRecipe',
      'Operation',
      'OperationTemplate',
      'Phase',
      'PhaseTemplate',
      'Procedure',
      'ProcedureTemplate',
      'ProcessCell',
      'Secret',
      'SimulationPreset',
      'SyncBarrier',
      'TrendSet',
      'Unit',
      'UnitProcedure',
      'UnitProcedureTemplate',
    ],
    'a new kind says on which side it is',
  );
});

t.test('HIER-11, HIER-12, HIER-13: readers read, engineers write, controllers and I/O modules need admin', async (t) => {
  t.equal((await reader.get(`${SITE}/units`)).status, 200);
  t.match(await reader.post(`${SITE}/areas`, { name: 'x' }), { status: 403, body: { action: 'area:create' } });
  t.match(await engineer.post(`${SITE}/controllers`, { name: 'edge-1' }), { status: 403, body: { action: 'controller:create' } });
  t.match(await engineer.post(`${SITE}/iomodules`, { name: 'io-1', protocol: 'simulation' }), { status: 403, body: { action: 'iomodule:create' } });
});

t.test('CTRL-01, CTRL-02, CTRL-03, CTRL-04, CTRL-08: a controller is created by name and named freely', async (t) => {
  t.match(await admin.post(`${SITE}/controllers`, { name: 'edge-1', displayName: 'Cabinet 1', nodeLabels: { 'lineside.io/line': 'a' }, simulation: true }), {
    status: 201,
    body: { name: 'edge-1' },
  });
  const { body } = await reader.get(`${SITE}/controllers/edge-1`);
  t.match(body, {
    phase: 'Joined',
    health: 'unknown',
    healthReason: 'no I/O module is behind it',
    address: '',
    nodeRef: '',
    displayName: 'Cabinet 1',
    ioProbePodName: '',
    ioProbeReady: false,
    lastAlive: '',
  });
  t.match(await admin.put(`${SITE}/controllers/edge-1`, { nodeLabels: {} }), { status: 200, body: { displayName: 'Cabinet 1', nodeLabels: {} } });
  t.match(await admin.put(`${SITE}/controllers/edge-1`, { displayName: '' }), { status: 200, body: { displayName: '' } });
  t.match(await admin.put(`${SITE}/controllers/edge-1`, { displayName: 'x'.repeat(64) }), { status: 400, body: { field: 'displayName' } });
  t.match(await admin.put(`${SITE}/controllers/edge-1`, { displayName: 'a\u0007' }), { status: 400, body: { field: 'displayName' } });
  for (const key of ['line', 'kubernetes.io/role', 'node.k8s.io/x', 'k3s.io/y']) {
    t.match(await admin.put(`${SITE}/controllers/edge-1`, { nodeLabels: { [key]: 'a' } }), { status: 400, body: { code: 'label_prefix' } }, key);
  }
});

t.test('CTRL-07: a box that is no simulation is Joined once a module behind it was reached, and stays so', async (t) => {
  await admin.post(`${SITE}/controllers`, { name: 'edge-2', simulation: false });
  await admin.post(`${SITE}/iomodules`, { name: 'io-real', protocol: 'modbus', controllerRef: 'edge-2', address: '127.0.0.1:1' });
  const phaseWhen = async (state: IOModuleStatus['state'], lastSampleAt: string): Promise<unknown> => {
    const { status } = plant.store.get(IOModule, 'north', 'io-real')!;
    const report = { state, lastSampleAt, probePodName: 'probe-edge-2' } as const;
    await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'io-real', status: { ...status, ...report } }] });
    return (await reader.get(`${SITE}/controllers/edge-2`)).body.phase;
  };
  t.equal(await phaseWhen('Pending', ''), 'Pending');
  t.equal(await phaseWhen('Disconnected', ''), 'Pending', 'nobody has been seen there yet');
  t.equal(await phaseWhen('Connected', '2026-01-01T00:00:02.000Z'), 'Joined');
  t.equal(await phaseWhen('Disconnected', '2026-01-01T00:00:02.000Z'), 'Joined');
  for (const path of ['iomodules/io-real', 'controllers/edge-2']) await admin.delete(`${SITE}/${path}`);
});

t.test('CTRL-03, CTRL-05, CTRL-06, CTRL-07: health is what the I/O modules behind the box say, its adoption stays', async (t) => {
  const box = async () => (await reader.get(`${SITE}/controllers/edge-1`)).body;
  const said = async (name: string, state: IOModuleStatus['state'], message: string, lastSampleAt: string) => {
    const { status } = plant.store.get(IOModule, 'north', name)!;
    const report = { state, message, lastSampleAt, probePodName: 'probe-edge-1', probe: { verdict: 'current', summary: '' } } as const;
    await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name, status: { ...status, ...report } }] });
  };
  for (const name of ['io-1', 'io-2']) await admin.post(`${SITE}/iomodules`, { name, protocol: 'simulation', controllerRef: 'edge-1' });
  t.match(await box(), { health: 'unknown', healthReason: /not reported/, ioProbePodName: '', ioProbeReady: false, lastAlive: '' });
  await said('io-1', 'Connected', '', '2026-01-01T00:00:02.000Z');
  t.match(await box(), { phase: 'Joined', health: 'healthy', healthReason: '', ioProbePodName: 'probe-edge-1', ioProbeReady: true });
  await said('io-2', 'Disconnected', 'no answer', '2026-01-01T00:00:01.000Z');
  t.match(await box(), { health: 'degraded', healthReason: 'io-2 is Disconnected: no answer', lastAlive: '2026-01-01T00:00:02.000Z' });
  await said('io-1', 'Failed', '', '2026-01-01T00:00:03.000Z');
  t.match(await box(), { phase: 'Joined', health: 'offline', healthReason: 'io-1 is Failed; io-2 is Disconnected: no answer' });
  for (const name of ['io-1', 'io-2']) await admin.delete(`${SITE}/iomodules/${name}`);
});

t.test('decisions Q-ERR-14: reads carry an ETag, and a stale If-Match is refused', async (t) => {
  const read = await engineer.get(`${SITE}/areas/hall`);
  t.ok(read.headers.etag);
  t.equal((await engineer.get(`${SITE}/areas/hall`, { headers: { 'If-None-Match': String(read.headers.etag) } })).status, 304);
  t.match(await engineer.put(`${SITE}/areas/hall`, { description: 'new' }, { headers: { 'If-Match': '"1"' } }), { status: 412, body: { code: 'precondition_failed' } });
});

t.test('a unit is served with its connections and layout; a manifest brings them, and an export has them', async (t) => {
  const connections = [
    { from: { utility: 'Water' }, to: { part: 'body' }, via: ['xv1'], medium: 'Water' },
    { from: { part: 'body' }, to: { unit: 'r2' }, via: [], medium: '' },
  ];
  const layout = [{ item: 'from Water', column: 2, row: 3 }];
  t.match(await engineer.put(`${SITE}/units/r1`, { connections, layout }), { status: 200, body: { connections, layout } });
  t.match((await reader.get(`${SITE}/units/r1`)).body, { connections, layout }, 'of a unit that is not there yet too');
  const bad = [{ from: { utility: 'Water' }, to: { junction: 'a' } }];
  t.match(await engineer.put(`${SITE}/units/r1`, { connections: bad }), { status: 400, body: { field: 'connections[0].to.junction' } });
  t.match(await engineer.put(`${SITE}/units/r1`, { connections: [{ ...bad[0], colour: 'red' }] }), { status: 400 }, 'and nothing else is taken');
  t.match((await reader.get(`${SITE}/units/r1`)).body, { connections }, 'what was refused has changed nothing');
  const exported = JSON.stringify((await admin.get(`/api/v1/export?site=north`)).body);
  t.match(exported, /"utility":"Water"/);
  const other = [{ ...connections[0], from: { utility: 'Steam' } }];
  t.match((await engineer.put(`${SITE}/units/r1`, { connections: other })).body, { connections: other, layout: [] }, 'the place of an end goes with it');
  const wrong = await engineer.put(`${SITE}/units/r1`, { layout });
  t.match(wrong, { status: 400, body: { field: 'layout[0].item' } }, 'a place that is written is judged');
  t.equal((await engineer.put(`${SITE}/units/r1`, { connections: [], layout: [] })).status, 200);
});

t.test('HIER-01: what depends on nothing can be deleted, bottom up', async (t) => {
  for (const path of [`${SITE}/controllers/edge-1`]) t.equal((await admin.delete(path)).status, 204, path);
  for (const path of [`${SITE}/units/r1`, `${SITE}/processcells/train`, `${SITE}/areas/hall`, '/api/v1/sites/north', '/api/v1/enterprises/acme'])
    t.equal((await engineer.delete(path)).status, 204, path);
  t.match(await engineer.get('/api/v1/sites/north'), { status: 404 });
});
