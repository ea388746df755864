/** I/O modules and simulation presets over the real pipeline. */
import t from 'tap';
import { PlantTimeScale } from '../../../src/domains/demo/time-scale.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { createLog } from '../../../src/platform/base/log.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const engineer = await plant.as('engineer');
const MODULES = '/api/v1/sites/north/iomodules';
const PRESETS = '/api/v1/sites/north/simulationpresets';
await admin.post('/api/v1/sites', { name: 'north' });
await admin.post('/api/v1/sites/north/controllers', { name: 'edge-1', simulation: true });

t.test('IO-01, IO-02, IO-03, IO-04, IO-06: the read body has its verdicts', async (t) => {
  const made = await admin.post(MODULES, {
    name: 'plc',
    protocol: 'modbus',
    address: '10.0.0.1',
    options: { unitId: 3 },
    channels: [{ address: 'holding:1:float32' }, { name: 'out', address: 'coil:5', direction: 'output', readbackAddress: 'discrete:5' }],
  });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    state: 'Pending',
    connectivity: { verdict: 'none', summary: String, condition: { status: 'Unknown' } },
    probe: { podName: '', verdict: 'unread', summary: String },
    writePosture: { verdict: 'undeclared' },
    distinctAssetRecord: true,
    credentials: 'none',
    validated: false,
    channels: [{ name: 'holding:1:float32' }, { name: 'out', readbackAddress: 'discrete:5' }],
  });
  await admin.post(MODULES, { name: 'plc2', protocol: 'modbus', address: 'tcp://10.0.0.1:502', options: { unitId: 3 } });
  t.match((await admin.get(`${MODULES}/plc`)).body, { distinctAssetRecord: false });
});

t.test('IO-01, IO-05: what was never set reads back with its defaults, and can be sent back as it was read', async (t) => {
  const members = {
    simulation: { preset: '', seed: 0, addressMap: {}, behaviors: [], faults: [] },
    security: {},
    failSafe: { posture: '', timeout: '', heartbeatChannel: '', outputs: [] },
    probePlacement: { nodeSelector: {} },
  };
  const made = await admin.post(MODULES, {
    name: 'plain',
    controllerRef: 'edge-1',
    protocol: 'opcua',
    address: 'opc.tcp://plc:4840',
    options: { username: 'op', password: 'hunter2' },
  });
  t.match(made, { status: 201, body: members }, made.text);
  t.same(made.body.security, {});
  const back = await admin.put(`${MODULES}/plain`, members);
  t.match(back, { status: 200, body: { ...members, credentials: 'plaintext' } }, 'an empty security is none, so the password stays');
  t.notOk(['simulation', 'security', 'probePlacement'].some((member) => member in (plant.store.get(IOModule, 'north', 'plain')?.spec ?? {})));
  await admin.put(`${MODULES}/plain`, { security: { authType: 'Anonymous' } });
  t.match(await admin.put(`${MODULES}/plain`, { security: {} }), { status: 200, body: { security: {}, credentials: 'none' } });
  t.match(await admin.put(`${MODULES}/plain`, { simulation: { preset: '', seed: 7 } }), { status: 400, body: { field: 'simulation' } });
  await admin.delete(`${MODULES}/plain`);
});

t.test('IO-07: a discovered readback is shown only where it differs', async (t) => {
  const module = plant.store.get(IOModule, 'north', 'plc')!;
  await plant.store.write({
    puts: [{ kind: IOModule, site: 'north', name: 'plc', status: { ...module.status, discoveredReadbacks: { 'coil:5': 'discrete:6', 'holding:1:float32': '' } } }],
  });
  const { channels } = (await admin.get(`${MODULES}/plc`)).body;
  t.equal(channels[1].discoveredReadbackAddress, 'discrete:6');
  t.notOk('discoveredReadbackAddress' in channels[0]);
});

t.test('IO-08, IO-09, IO-10: the password is never served or audited, survives a PUT, and goes when security comes', async (t) => {
  const made = await admin.post(MODULES, { name: 'ua', protocol: 'opcua', address: 'opc.tcp://plc:4840', options: { username: 'op', password: 'hunter2' } });
  t.equal(made.status, 201, made.text);
  t.match(made.body, { options: { username: 'op' }, credentials: 'plaintext' });
  t.notOk(made.text.includes('hunter2'));
  await admin.put(`${MODULES}/ua`, { options: { username: 'operator' } });
  t.equal(plant.store.get(IOModule, 'north', 'ua')?.spec.options.password, 'hunter2');
  t.match(await admin.put(`${MODULES}/ua`, { security: { authType: 'UserName', secretRef: { name: 'ua-login' } } }), {
    status: 200,
    body: { credentials: 'unresolved', security: { secretRef: { name: 'ua-login' } } },
  });
  t.equal(plant.store.get(IOModule, 'north', 'ua')?.spec.options.password, undefined);
  t.notOk(JSON.stringify(plant.audits).includes('hunter2'));
});

t.test('IO-11, IO-12, IO-13, decisions Q-IO-04, Q-IO-05: what a module may not be', async (t) => {
  const wrong: [object, RegExp | string][] = [
    [{ protocol: 'profinet' }, 'protocol'],
    [{ protocol: 'simulation' }, 'controllerRef'],
    [{ protocol: 'modbus' }, 'address'],
    [{ protocol: 'modbus', address: 'ftp://x' }, 'address'],
    [{ protocol: 'simulation', controllerRef: 'edge-1', probePlacement: { nodeSelector: { zone: 'a' } } }, 'probePlacement'],
    [{ protocol: 'modbus', address: 'h', options: { colour: 'red' } }, 'options.colour'],
    [{ protocol: 'modbus', address: 'h', channels: [{ address: 'coil:99999' }] }, 'channels[0].address'],
    [{ protocol: 'modbus', address: 'h', channels: [{ address: 'coil:1' }, { address: 'coil:1' }] }, /channels\[1\]/],
    [{ protocol: 'modbus', address: 'h', channels: [{ address: 'input:1', direction: 'output' }] }, 'channels[0].address'],
    [{ protocol: 'modbus', address: 'h', simulation: { seed: 3 } }, 'simulation'],
    [{ protocol: 'modbus', address: 'h', security: { securityPolicy: 'None' } }, 'security.securityPolicy'],
    [{ protocol: 'opcua', address: 'opc.tcp://h:4840', security: { password: 'x' } }, 'security.password'],
    [{ protocol: 'opcua', address: 'opc.tcp://h:4840', security: { securityPolicy: 'Basic256Sha256' } }, 'security.securityMode'],
    [{ protocol: 'modbus', address: 'h', failSafe: { posture: 'observed' }, channels: [{ address: 'coil:1', direction: 'output' }] }, 'failSafe.posture'],
  ];
  for (const [body, field] of wrong) t.match(await admin.post(MODULES, { name: 'x', ...body }), { status: 400, body: { field } }, JSON.stringify(body));
});

t.test('SIM-01, SIM-04, SIM-11, SIM-12: presets have known behaviours whose params parse', async (t) => {
  const behaviors = [{ address: 'level', type: 'SineWave', params: { amplitude: 2, period: '10s' } }];
  t.match(await engineer.post(PRESETS, { name: 'wave', description: 'a wave', behaviors }), { status: 201, body: { name: 'wave', behaviors } });
  t.match(await engineer.post(PRESETS, { name: 'bad', behaviors: [{ address: 'a', type: 'Wobble' }] }), { status: 400, body: { field: 'behaviors[0].type', error: /Wobble/ } });
  t.match(await engineer.post(PRESETS, { name: 'bad', behaviors: [{ address: 'a', type: 'SineWave', params: { amplitude: 'high' } }] }), {
    status: 400,
    body: { error: /^param amplitude must be/ },
  });
  for (const params of [{ amplitude: '' }, { amplitude: 2, period: '' }])
    t.match(await engineer.post(PRESETS, { name: 'bad', behaviors: [{ address: 'a', type: 'SineWave', params }] }), {
      status: 400,
      body: { field: `behaviors[0].params.${'period' in params ? 'period' : 'amplitude'}`, error: /^param \w+ is empty/ },
    });
  t.equal((await engineer.put(`${PRESETS}/wave`, { description: 'still a wave' })).status, 200);
});

t.test('SIM-02, SIM-08, SIM-09, SIM-13: an inline simulation refers to a preset whose addresses are all mapped', async (t) => {
  const simulation = {
    preset: 'wave',
    seed: 7,
    addressMap: {} as Record<string, string>,
    faults: [{ name: 'stuck', address: 'lt1', type: 'StuckValue', triggerMode: 'Timed', triggerAfter: '5s' }],
  };
  const module = { name: 'sim', protocol: 'simulation', controllerRef: 'edge-1', channels: [{ address: 'lt1', dataType: 'float' }], simulation };
  t.match(await admin.post(MODULES, module), { status: 422, body: { code: 'address_map_incomplete', missing: ['level'] } });
  const mapped = { ...module, simulation: { ...simulation, addressMap: { level: 'lt1' } } };
  t.match(await admin.post(MODULES, mapped), { status: 201, body: { simulation: { preset: 'wave', seed: 7 } } });
  t.match(await admin.put(`${MODULES}/sim`, { simulation: { ...mapped.simulation, faults: [{ name: 'a', address: 'lt1', type: 'Melt' }] } }), {
    status: 400,
    body: { field: 'simulation.faults[0].type' },
  });
  t.match(await admin.put(`${MODULES}/sim`, { simulation: { ...mapped.simulation, behaviors: [{ address: 'x', type: 'Expr', params: { expr: '1 +' } }] } }), {
    status: 400,
    body: { error: /expr/ },
  });
  t.match(await admin.put(`${MODULES}/sim`, { simulation: { ...mapped.simulation, preset: 'none' } }), { status: 400, body: { code: 'unknown_reference' } });
  t.match(await engineer.delete(`${PRESETS}/wave`), { status: 409, body: { dependents: [{ kind: 'IOModule', name: 'sim' }] } });
});

t.test('SIM-14, APPLY-09: generic apply is exempt from the param and the addressMap check, not from unknown types', async (t) => {
  const manifest = (spec: object) => ({
    apiVersion: 'physical/v1alpha1',
    kind: 'IOModule',
    metadata: { name: 'loose', namespace: 'site-north' },
    spec: { protocol: 'simulation', controllerRef: 'edge-1', ...spec },
  });
  t.match(await admin.post('/api/v1/apply', manifest({ simulation: { preset: 'wave', behaviors: [{ address: 'a', type: 'SineWave', params: { amplitude: 'high' } }] } })), {
    status: 200,
    body: { operation: 'created' },
  });
  t.match(await admin.post('/api/v1/apply', manifest({ simulation: { behaviors: [{ address: 'a', type: 'Wobble' }] } })), { status: 400 });
});

t.test('decisions Q-IO-09: seeding creates the shipped presets once', async (t) => {
  const first = await engineer.post(`${PRESETS}/seed`, {});
  t.match(first, { status: 200, body: { updated: [], skipped: [] } });
  t.ok(first.body.created.length > 0);
  t.match(await engineer.post(`${PRESETS}/seed`), { status: 200, body: { created: [], skipped: first.body.created } });
  t.match(await engineer.post(`${PRESETS}/seed`, { overwrite: true }), { status: 200, body: { created: [], updated: first.body.created } });
  const names = (await engineer.get(PRESETS)).body.map((preset: { name: string }) => preset.name);
  t.same(names, [...names].sort());
});

t.test('D-C-06: an ownership register is one of four holding registers of a Modbus device', async (t) => {
  const make = (name: string, options: object, protocol = 'modbus') =>
    admin.post(MODULES, { name, protocol, address: protocol === 'opcua' ? 'opc.tcp://plc:4840' : '10.0.1.1', options });
  t.match(await make('owned', { ownership: { address: 'holding:900' } }), {
    status: 201,
    body: { options: { ownership: { address: 'holding:900', intervalMs: 1000, takeFrom: '' } }, enabled: true },
  });
  t.match(await make('x', { ownership: { address: 'coil:1' } }), { status: 400, body: { field: 'options.ownership.address' } });
  t.match(await make('x', { ownership: { address: 'holding:1', intervalMs: 1 } }), { status: 400 });
  t.match(await make('x', { ownership: { address: 'holding:1', takeFrom: 'him' } }), { status: 400 });
  t.match(await make('x', { ownership: { address: 'ns=2;s=a' } }, 'opcua'), { status: 400, body: { field: 'options.ownership' } });
  t.match(await make('x', { ownership: 'holding:1' }), { status: 400, body: { field: 'options.ownership' } });
  t.match(await make('x', { pollInterval: { ms: 1 } }), { status: 400 });
  const beside = (address: string, direction = 'output') =>
    admin.post(MODULES, {
      name: 'beside',
      protocol: 'modbus',
      address: '10.0.1.2',
      options: { ownership: { address: 'holding:9' } },
      channels: [{ name: 'speed', address, direction }],
    });
  for (const address of ['holding:12', 'holding:8:uint32', 'holding:9@1'])
    t.match(
      await beside(address),
      { status: 400, body: { code: 'invalid_field', field: 'options.ownership.address', error: /channel speed/ } },
      `the counter would be written over ${address}`,
    );
  t.equal((await beside('holding:10', 'input')).status, 201, 'an input may look at it');
  t.equal((await admin.put(`${MODULES}/beside`, { channels: [{ name: 'speed', address: 'holding:13', direction: 'output' }] })).status, 200);
  t.equal((await admin.put(`${MODULES}/beside`, { channels: [{ name: 'speed', address: 'holding:12', direction: 'output' }] })).status, 400);
});

t.test('ADR 0088: a module of an earlier release with a fingerprint and policy None says that nobody looks at it, until it is written again', async (t) => {
  const path = `${MODULES}/unproven`;
  t.match(await admin.post(MODULES, { name: 'unproven', protocol: 'opcua', address: 'opc.tcp://plc:4840' }), { status: 201 });
  const of = async (): Promise<unknown> => (await admin.get(path)).body.conditions.filter(({ type }: { type: string }) => type === 'ServerVerified');
  t.same(await of(), []);
  const stored = plant.store.get(IOModule, 'north', 'unproven');
  const security = { securityPolicy: 'None', securityMode: 'None', serverTrust: 'pinned', serverCertificateSha256: 'ab'.repeat(32) } as const;
  if (!stored) throw new Error('it was made');
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'unproven', spec: { ...stored.spec, security } }] });
  t.match(await of(), [
    {
      status: 'False',
      reason: 'NobodyLooks',
      message: /policy None the server is not verified: .* or leave security\.serverCertificateSha256 and security\.serverTrust out/i,
    },
  ]);
  t.match(await admin.put(path, { description: 'as it was' }), { status: 400, body: { field: 'security.serverCertificateSha256' } });
  t.match(
    await admin.put(path, { security: { ...security, securityPolicy: 'Basic256Sha256', securityMode: 'Sign', serverTrust: 'ca' } }),
    { status: 200 },
    'ADR 0090: beside an authority it counts',
  );
  t.same(await of(), []);
});

t.test('Q-IO-03: the conditions of a module are there before anybody has reported them', async (t) => {
  const { conditions, outputs } = (await admin.get(`${MODULES}/plc`)).body;
  t.same(
    conditions.map(({ type }: { type: string }) => type),
    ['Connected', 'ConfigurationValid', 'ReadbackConsistent', 'FailSafeArmed', 'Simulated'],
  );
  t.match(outputs, { state: 'live', reason: /a second master cannot be seen/ });
});

t.test('D-C-07: the time scale falls to 1 in the moment a real device appears, and on record; one that is disabled is not there', async (t) => {
  await admin.post('/api/v1/sites', { name: 'fast' });
  for (const { metadata } of plant.store.list(IOModule)) await admin.delete(`/api/v1/sites/${metadata.site}/iomodules/${metadata.name}`);
  const told: number[] = [];
  const scale = new PlantTimeScale({ store: plant.store, log: createLog(), production: false, initial: 5 });
  scale.onChange((value) => told.push(value));
  const real = { name: 'real', protocol: 'modbus', address: '10.9.9.9', enabled: false };
  t.equal((await admin.post('/api/v1/sites/fast/iomodules', real)).status, 201);
  t.equal(scale.value, 5);
  t.equal((await admin.put('/api/v1/sites/fast/iomodules/real', { enabled: true })).status, 200);
  t.same([scale.value, told], [1, [1]]);
  t.match(
    plant.audits.find(({ reason }) => reason === 'TimeScaleFell'),
    { site: 'fast', before: { timeScale: 5 }, after: { timeScale: 1 }, target: { name: 'real' } },
  );
  scale.set(4);
  t.equal(scale.value, 1, 'whoever asked before it came does not get it after');
  t.equal(new PlantTimeScale({ store: plant.store, log: createLog(), production: false, initial: 5 }).value, 1, 'nor does a start with it');
});

t.test('a part that does not follow a fall of the time scale is on record, and is told again with the next change of a module', async (t) => {
  const real = '/api/v1/sites/fast/iomodules/real';
  t.equal((await admin.put(real, { enabled: false })).status, 200);
  const scale = new PlantTimeScale({ store: plant.store, log: createLog(), production: false, initial: 7 });
  const told: number[] = [];
  scale.onChange((value) => {
    told.push(value);
    if (told.length === 1) throw new Error('the link is down');
  });
  t.equal((await admin.put(real, { enabled: true })).status, 200);
  t.match(
    plant.audits.find(({ reason, before }) => reason === 'TimeScaleFell' && (before as { timeScale: number }).timeScale === 7),
    { result: 'Failed', after: { timeScale: 1 }, details: { notFollowed: ['the link is down'] } },
  );
  for (const address of ['10.9.9.8', '10.9.9.7']) t.equal((await admin.put(real, { address })).status, 200);
  t.same([scale.value, told], [1, [1, 1]], 'until it follows');
});
