/** A block of a channel that has none: taken, so that a plant can be engineered in any order, and told wherever it is looked at. */
import t from 'tap';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

const loop = manifest(
  'ControlModuleTemplate',
  'loop',
  {
    blocks: [
      { name: 'ai', type: 'AI', params: { addr: '' } },
      { name: 'do', type: 'DO', params: { addr: '' } },
    ],
    tags: [{ name: 'pv', dataType: 'REAL', blockRef: 'ai', portRef: 'OUT' }],
  },
  {},
);
const plc = manifest('IOModule', 'plc', {
  protocol: 'modbus',
  address: 'plc',
  enabled: false,
  channels: [{ name: 'level', address: 'input:0' }, ...['valve', 'pump'].map((name, at) => ({ name, address: `coil:${at}`, direction: 'output' }))],
});
const module = (more: object = {}) => manifest('ControlModule', 'lic1', { templateRef: 'loop', parentName: 'mixer', ...more });
const wiredTo = (output: string) => ({ tags: [{ name: 'pv', channel: 'plc:level' }], paramOverrides: [{ blockRef: 'do', param: 'addr', value: `plc:${output}` }] });
const READS_NOTHING = /^block ai \(AI\) has no channel, so it reads nothing and its value is Bad: give a tag on the block its channel/;

t.before(async () => {
  const { status, body } = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    loop,
    plc,
  ]);
  t.equal(status, 200, JSON.stringify(body));
});

t.test('apply and its dry run warn of each block without a channel', async (t) => {
  for (const query of ['?dryRun=true', '']) {
    const { status, body } = await admin.post(`/api/v1/apply${query}`, module());
    t.match({ status, body }, { status: 200, body: { operation: 'created', warnings: [READS_NOTHING, /^block do \(DO\) has no channel, so nothing is written/] } });
    t.equal(body.warnings.length, 2);
  }
});

t.test('the module says so for as long as it is so', async (t) => {
  t.match((await admin.get('/api/v1/sites/north/controlmodules/lic1')).body, { message: READS_NOTHING });
  const { body } = await admin.post('/api/v1/apply', module(wiredTo('valve')));
  t.strictSame(body.warnings, []);
  t.notMatch((await admin.get('/api/v1/sites/north/controlmodules/lic1')).body.message, /has no channel/);
});

t.test('a write by the route of modules tells it in the header of warnings', async (t) => {
  const made = await admin.post('/api/v1/sites/north/controlmodules', { name: 'lic2', templateRef: 'loop', parentName: 'mixer' });
  t.match(made, { status: 201, headers: { 'x-lineside-warning': /block ai \(AI\) has no channel.*block do \(DO\) has no channel/ } });
  const wired = await admin.put('/api/v1/sites/north/controlmodules/lic2', wiredTo('pump'));
  t.equal(wired.status, 200);
  t.equal(wired.headers['x-lineside-warning'], undefined);
  const unwired = await admin.put('/api/v1/sites/north/controlmodules/lic2', { paramOverrides: [] });
  t.match(unwired.headers['x-lineside-warning'], /^block do \(DO\) has no channel/);
});

t.test('a program that has such a block is warned of too', async (t) => {
  const program = manifest('ControlProgram', 'reads', { unitRef: 'mixer', scanInterval: '100ms', blocks: [{ name: 'in', type: 'DI', params: {} }] });
  t.match((await admin.post('/api/v1/apply?dryRun=true', program)).body.warnings, [/^block in \(DI\) has no channel.*set params\.addr to <ioModule>:<channel>$/]);
});

t.test('a channel of an I/O module without an address is refused', async (t) => {
  const open = (channel: object) => admin.post('/api/v1/apply?dryRun=true', manifest('IOModule', 'plc2', { protocol: 'modbus', address: 'plc', channels: [channel] }));
  t.match((await open({ name: 'a', address: '' })).body, { code: 'invalid_field', field: 'spec.channels[0].address', error: /must not be empty/ });
  t.match((await open({ name: 'a' })).body, { code: 'missing_field', field: 'spec.channels[0].address' });
});
