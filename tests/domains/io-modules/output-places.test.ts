/** One place of a device is one output (ADR 0085): its owner, and what stands before a write and a loop check, whatever channel or module names it. */
import t from 'tap';
import { heldBy } from '../../../runtime/vocabulary/held-by.js';
import { TOPICS } from '../../../src/domains/alarms/system-conditions.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { contestedOutputs } from '../../../src/domains/control-modules/output-owners.js';
import { IOModule, type IOModuleSpec } from '../../../src/domains/io-modules/kind.js';
import { checkWrite } from '../../../src/domains/io-modules/write-barriers.js';
import { barredBy } from '../../../src/domains/loop-checks/permission.js';
import { LoopCheckRequest, planned } from '../../../src/domains/loop-checks/plan.js';
import * as v from 'valibot';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const MODULES = '/api/v1/sites/north/controlmodules';
const IO = '/api/v1/sites/north/iomodules';

/** A valve without a tag on its block: nothing but the owner says whose output it is. */
const bare = manifest('ControlModuleTemplate', 'bare', { blocks: [{ name: 'dout', type: 'DO', params: { addr: '' } }], tags: [] }, {});
const drive = manifest(
  'ControlModuleTemplate',
  'drive',
  {
    blocks: [{ name: 'aout', type: 'AO', params: { addr: '', rawMin: 0, rawMax: 1000, outMin: 0, outMax: 100 } }],
    tags: [{ name: 'sp', dataType: 'REAL', blockRef: 'aout', portRef: 'IN', accessLevel: 'readwrite', engMin: '0', engMax: '50' }],
  },
  {},
);
const valve = (name: string, addr: string) =>
  manifest('ControlModule', name, { templateRef: 'bare', parentName: 'mixer', paramOverrides: [{ blockRef: 'dout', param: 'addr', value: addr }] });
const output = (name: string, address: string) => ({ name, address, direction: 'output' });
const modbus = (address: string, ...channels: readonly object[]) => ({ protocol: 'modbus', address, channels });
const plc = modbus('plc', output('valve', 'coil:0'), output('beat', 'coil:9'), output('speed', 'holding:0'), output('most', 'holding:4'));
const twin = modbus('tcp://PLC:502', output('v', 'coil:0@1'), output('other', 'coil:1'), output('s', 'holding:0:uint16'));
const apply = (...manifests: readonly object[]) => admin.post('/api/v1/apply', manifests);
const channelOf = async (module: string, channel: string) => (await admin.get(`${IO}/${module}/tags/${channel}`)).body;

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function stored(name: string) {
  const found = plant.store.get(IOModule, 'north', name);
  if (!found) throw new Error(`${name} is stored`);
  return found;
}
const write = (module: string, channel: string, value: string | number | boolean) => () =>
  checkWrite(stored(module), { channel, value }, { store: plant.store, modeCheckDeviceTags: true });
const setMode = (name: string, mode: 'Automatic' | 'Manual') => {
  const module = plant.store.get(ControlModule, 'north', name);
  if (!module) throw new Error(`${name} is stored`);
  return plant.store.write({ puts: [{ kind: ControlModule, site: 'north', name, status: { ...module.status, mode } }], audits: [] });
};

t.before(async () => {
  const { status, text } = await apply(
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    bare,
    drive,
    manifest('IOModule', 'plc', plc),
    manifest('IOModule', 'twin', twin),
    valve('xv1', 'plc:valve'),
  );
  t.equal(status, 200, text);
});

t.test('IO-20: outputs that overlap within one module are refused, each by its field, and nothing is changed', async (t) => {
  for (const [first, second] of [
    ['holding:0', 'holding:0:uint16'],
    ['holding:0', 'holding:00'],
    ['holding:0:float32', 'holding:1'],
    ['coil:0', 'coil:0@1'],
  ] as const) {
    const made = await admin.post(IO, { name: 'twice', ...modbus('far', output('a', first), output('b', second)) });
    t.match(made, { status: 400, body: { code: 'invalid_field', field: 'channels[1].address', error: /output b .* is written where output a/ } }, `${first} ${second}`);
  }
  t.equal((await admin.get(`${IO}/twice`)).status, 404);
  const old = { ...stored('plc').spec, ...(modbus('far', output('a', 'holding:0'), output('b', 'holding:00')) as unknown as Partial<IOModuleSpec>) };
  const template = stored('plc').spec.channels[0];
  const channels = old.channels.map((channel) => ({ ...template, ...channel }) as IOModuleSpec['channels'][number]);
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'old', spec: { ...old, channels } }], audits: [] });
  t.equal((await admin.put(`${IO}/old`, { description: 'looked at' })).status, 200, 'what stands may be edited');
  t.equal((await admin.delete(`${IO}/old`)).status, 204);
});

t.test('Q-IO-02: a channel has no name that is the address of another one', async (t) => {
  const made = await admin.post(IO, { name: 'swapped', ...modbus('far', output('coil:1', 'coil:0'), output('z', 'coil:1')) });
  t.match(made, { status: 400, body: { field: 'channels[0].name', error: /the address of channel z/ } });
});

t.test('IO-20, ADR 0085: a second owner through another module of the device is refused, and the owner is shown at both', async (t) => {
  t.match(await channelOf('twin', 'v'), { owner: { kind: 'ControlModule', name: 'xv1', block: 'dout' }, contestedBy: [] });
  t.match(await channelOf('twin', 'other'), { owner: null });
  const refused = { status: 409, body: { code: 'output_claimed', owner: 'xv1.dout', error: /twin:v is written by xv1\.dout \(as plc:valve, the same place/ } };
  t.match(await admin.post(MODULES, { name: 'xv2', ...valve('xv2', 'twin:v').spec }), refused);
  t.match(await apply(valve('xv2', 'twin:v')), refused);
  const both = await apply(manifest('IOModule', 'third', modbus('plc:502', output('x', 'coil:00'))), valve('xv3', 'third:x'));
  t.match(both, { status: 409, body: { code: 'output_claimed' } }, 'a module that comes in the same apply');
  const renamed = await apply(valve('xv1-new', 'plc:valve'));
  t.match(renamed, { status: 409, body: { error: /--prune/ } }, 'how a rename is applied is told');
  const twins = manifest('ControlProgram', 'twins', {
    unitRef: 'mixer',
    scanInterval: '100ms',
    blocks: [
      { name: 'a', type: 'DO', params: { addr: 'plc:beat' } },
      { name: 'b', type: 'DO', params: { addr: 'plc:coil:9' } },
    ],
  });
  t.match(await apply(twins), { status: 400, body: { error: /written by block a too/ } });
});

t.test('IO-20: the heartbeat of a module is an owner, and a fail-safe value is given once', async (t) => {
  const failSafe = (more: object) => ({ failSafe: { posture: 'regulating', timeout: '5s', ...more } });
  t.match(await admin.put(`${IO}/plc`, failSafe({ heartbeatChannel: 'valve' })), {
    status: 409,
    body: { code: 'output_claimed', field: 'failSafe.heartbeatChannel', owner: 'xv1.dout' },
  });
  t.match(await admin.put(`${IO}/twin`, failSafe({ heartbeatChannel: 'v' })), { status: 409, body: { code: 'output_claimed', owner: 'xv1.dout' } });
  t.equal((await admin.put(`${IO}/plc`, failSafe({ heartbeatChannel: 'beat' }))).status, 200);
  t.match(await admin.post(MODULES, { name: 'xv2', ...valve('xv2', 'plc:coil:9').spec }), { status: 409, body: { code: 'output_claimed', owner: 'plc.heartbeat' } });
  t.match(await channelOf('plc', 'beat'), { owner: { kind: 'IOModule', name: 'plc', block: 'heartbeat', unit: '' } });
  t.match(refusal(write('plc', 'beat', true)), { context: { code: 'output_claimed' }, message: /heartbeat/ });
  const outputs = [
    { channel: 'valve', value: false },
    { channel: 'coil:0', value: true },
  ];
  t.match(await admin.put(`${IO}/plc`, failSafe({ outputs })), { status: 400, body: { field: 'failSafe.outputs[1].channel', error: /twice, by name and by address/ } });
});

t.test('IO-20, ADR 0085: a fail-safe value gives way to the logic of its own module, and stands against that of another one', async (t) => {
  const failSafe = (outputs: readonly object[]) => ({ failSafe: { posture: 'regulating', timeout: '5s', heartbeatChannel: 'beat', outputs } });
  const refused = (owner: string) => ({ status: 409, body: { code: 'output_claimed', owner } });
  t.match(await admin.put(`${IO}/twin`, { failSafe: { posture: 'regulating', timeout: '5s', outputs: [{ channel: 'v', value: false }] } }), {
    ...refused('xv1.dout'),
    body: { field: 'failSafe.outputs[0].channel', error: /twin:v is written by xv1\.dout \(as plc:valve/ },
  });
  const own = await admin.put(
    `${IO}/plc`,
    failSafe([
      { channel: 'valve', value: false },
      { channel: 'speed', value: 3 },
    ]),
  );
  t.equal(own.status, 200, own.text);
  t.match(await channelOf('plc', 'valve'), { owner: { name: 'xv1' }, contestedBy: [] }, 'it owns nothing');
  t.match(await channelOf('plc', 'speed'), { owner: null, contestedBy: [] });
  t.same(contestedOutputs(plant.store, 'north'), []);
  t.notMatch((await apply(valve('xv1', 'plc:valve'))).text, /already driven/);
  const second = { posture: 'regulating', timeout: '5s', outputs: [{ channel: 's', value: 9 }] };
  t.match(await admin.put(`${IO}/twin`, { failSafe: second }), refused('plc.failSafe'), 'two values of one place would be written in turn');
  const fv = (addr: string) => manifest('ControlModule', 'fv', { templateRef: 'drive', parentName: 'mixer', paramOverrides: [{ blockRef: 'aout', param: 'addr', value: addr }] });
  t.match(await apply(fv('twin:s')), refused('plc.failSafe'));
  t.match(await admin.post(MODULES, { name: 'fv', ...fv('twin:s').spec }), refused('plc.failSafe'));
  const twinSpec = stored('twin').spec;
  await plant.store.write({
    puts: [{ kind: IOModule, site: 'north', name: 'twin', spec: { ...twinSpec, failSafe: { ...second, heartbeatChannel: '' } } as IOModuleSpec }],
    audits: [],
  });
  t.match(contestedOutputs(plant.store, 'north'), [{ output: 'plc:speed' }, { output: 'twin:s' }], 'what an earlier release has stored is told');
  t.match(TOPICS['output-owners'].condition('north', 'twin', plant.store, undefined as never), { message: /plc\.failSafe and twin\.failSafe/ });
  t.equal((await admin.put(`${IO}/twin`, { description: 'looked at' })).status, 200, 'and may be edited');
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'twin', spec: twinSpec }], audits: [] });
  t.equal((await admin.put(`${IO}/plc`, failSafe([]))).status, 200);
});

t.test('ADR 0015: outputs of a device do not stand beside the register that says which box drives it', async (t) => {
  const watched = { ...modbus('far', output('v', 'holding:100')), options: { ownership: { address: 'holding:900' } } };
  t.equal((await admin.post(IO, { name: 'watched', ...watched })).status, 201);
  const beside = modbus('FAR:502', output('w', 'holding:101'));
  const refused = { status: 400, body: { field: 'options.ownership', error: /I\/O module watched reads the register/ } };
  t.match(await admin.post(IO, { name: 'beside', ...beside }), refused);
  t.match(await apply(manifest('IOModule', 'beside', beside)), { status: 400, body: { error: /I\/O module watched reads the register/ } });
  t.equal((await admin.post(IO, { name: 'beside', ...beside, options: { unitId: 2 } })).status, 201, 'another unit is another device');
  t.equal((await admin.delete(`${IO}/beside`)).status, 204);
  t.equal((await admin.post(IO, { name: 'beside', ...beside, options: { ownership: { address: 'holding:910' } } })).status, 201, 'a register of its own');
  t.equal((await admin.delete(`${IO}/watched`)).status, 204);
  t.equal((await admin.put(`${IO}/beside`, { options: {} })).status, 200);
  t.match(await admin.post(IO, { name: 'watched', ...watched }), { status: 400, body: { field: 'options.ownership', error: /I\/O module beside writes this device without/ } });
  t.equal((await admin.delete(`${IO}/beside`)).status, 204);
});

t.test('ADR 0085: an apply of a module that comes onto the place of another owner says so in its answer', async (t) => {
  const early = await apply(valve('early', 'coming:x'));
  t.equal(early.status, 200, early.text);
  const coming = await apply(manifest('IOModule', 'coming', modbus('plc:502', output('x', 'coil:00'))));
  t.equal(coming.status, 200, coming.text);
  t.match(coming.body, [{ warnings: [/^spec\.channels: output coming:x .* is written by early\.dout and xv1\.dout/] }], coming.text);
  t.equal((await admin.delete(`${MODULES}/early`)).status, 204);
  const alone = await apply(manifest('IOModule', 'coming', { ...modbus('plc:502', output('x', 'coil:00')), description: 'alone' }));
  t.match(alone, { status: 200, body: [{ warnings: [] }] }, alone.text);
  t.equal((await admin.delete(`${IO}/coming`)).status, 204);
});

t.test('MODE-06, ADR 0085: the owner in Automatic stands before a raw write and a loop check, through every name of its output', async (t) => {
  await setMode('xv1', 'Automatic');
  t.match(refusal(write('plc', 'valve', false)), { context: { code: 'automatic_mode', controlModule: 'xv1' } }, 'no tag stands on it: its owner does');
  t.match(refusal(write('twin', 'v', false)), { context: { code: 'automatic_mode', controlModule: 'xv1' } });
  t.doesNotThrow(write('twin', 'other', false));
  for (const module of ['plc', 'twin'])
    t.match(barredBy(plant.store, stored(module), '', 'live'), { end: 'automatic-mode', refusal: { context: { code: 'automatic_mode' } } }, module);
  await setMode('xv1', 'Manual');
  t.doesNotThrow(write('twin', 'v', false));
  t.match(
    barredBy(plant.store, stored('twin'), '', 'live'),
    { end: 'module-changed', refusal: { context: { code: 'output_claimed', output: 'twin:v', owner: 'xv1.dout' } } },
    'a check of this module would not hold what is written through the other one',
  );
  t.not(barredBy(plant.store, stored('plc'), '', 'live')?.end, 'module-changed');
  const { status } = stored('plc');
  const held = { ...status, outputs: { state: 'withheld' as const, reason: heldBy('loop check c1'), secondMaster: false } };
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'plc', status: held }], audits: [] });
  t.match(refusal(write('twin', 'v', false)), { context: { code: 'output_held', heldBy: { how: 'LoopCheck', ioModule: 'plc' } }, message: /held by loop check c1/ });
  t.doesNotThrow(write('twin', 'other', false), 'a place of its own');
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'plc', status }], audits: [] });
});

t.test('TAG-23: a loop check stays within the AO block and the tag limits, one of them too, and so does a raw write', async (t) => {
  const fv = manifest('ControlModule', 'fv', { templateRef: 'drive', parentName: 'mixer', paramOverrides: [{ blockRef: 'aout', param: 'addr', value: 'plc:speed' }] });
  t.equal((await apply(fv)).status, 200);
  await setMode('fv', 'Manual');
  const plan = (module: string, ...channels: readonly object[]) => planned(plant.store, stored(module), v.parse(LoopCheckRequest, { channels }));
  t.match(plan('plc', { channel: 'speed' }).channels[0]?.row, { low: 0, high: 500 });
  t.match(plan('twin', { channel: 's' }).channels[0]?.row, { low: 0, high: 500 }, 'through another module');
  t.match(
    refusal(() => plan('plc', { channel: 'speed', high: 900 })),
    { context: { code: 'out_of_range', field: 'channels[0].high' } },
  );
  t.match(refusal(write('plc', 'speed', 900)), { context: { code: 'out_of_range' } });
  t.match(refusal(write('twin', 's', 900)), { context: { code: 'out_of_range' } });
  t.match(
    refusal(() => plan('plc', { channel: 'most', low: 0 })),
    { context: { code: 'missing_field' } },
    'nobody tells an end',
  );
});

t.test('ADR 0085: while a fail-safe value is written, a person is told who holds the output, and no loop check begins', async (t) => {
  const { spec, status } = stored('plc');
  const failSafe = { posture: 'regulating', timeout: '5s', heartbeatChannel: '', outputs: [{ channel: 'most', value: 7 }] } as IOModuleSpec['failSafe'];
  const conditions = [{ type: 'FailSafeArmed', status: 'True' as const, reason: 'Taken', message: '' }];
  await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'plc', spec: { ...spec, failSafe } as IOModuleSpec, status: { ...status, conditions } }], audits: [] });
  t.match(refusal(write('plc', 'most', 1)), { context: { code: 'output_held', heldBy: { how: 'FailSafe', ioModule: 'plc' } } });
  t.doesNotThrow(write('plc', 'speed', 1), 'another output is not held');
  t.match(barredBy(plant.store, stored('plc'), '', 'live'), { end: 'fail-safe-taken', refusal: { context: { code: 'output_held' } } });
  t.match(await channelOf('plc', 'most'), { heldBy: { how: 'FailSafe' } });
});

t.test('IO-20: two owners of one place that an earlier release has stored raise the alarm at both modules, and the unit says so', async (t) => {
  const xv1 = plant.store.get(ControlModule, 'north', 'xv1');
  if (!xv1) throw new Error('xv1 is stored');
  const spec = { ...xv1.spec, paramOverrides: [{ blockRef: 'dout', param: 'addr', value: 'twin:v' }] };
  await plant.store.write({ puts: [{ kind: ControlModule, site: 'north', name: 'xv9', spec }], audits: [] });
  t.same(
    contestedOutputs(plant.store, 'north', 'mixer').map(({ output: name }) => name),
    ['plc:valve', 'twin:v'],
  );
  const facts = undefined as never; // the topic asks nothing of the running appliance
  for (const module of ['plc', 'twin'])
    t.match(TOPICS['output-owners'].condition('north', module, plant.store, facts), { severity: 'High', message: /xv1\.dout and xv9\.dout/, units: ['mixer'] });
  t.match(await channelOf('twin', 'v'), { owner: { name: 'xv1' }, contestedBy: [{ name: 'xv9' }] });
});
