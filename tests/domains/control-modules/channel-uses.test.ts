/** Channels that are not there or lead the wrong way: taken, so that a plant can be engineered in any order, and told wherever it is looked at. */
import t from 'tap';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

const valve = manifest(
  'ControlModuleTemplate',
  'valve',
  {
    blocks: [
      { name: 'din', type: 'DI', params: { addr: '' } },
      { name: 'dout', type: 'DO', params: { addr: '' } },
    ],
    tags: [
      { name: 'open', dataType: 'BOOL', blockRef: 'din', portRef: 'OUT' },
      { name: 'cmd', dataType: 'BOOL', blockRef: 'dout', portRef: 'IN', accessLevel: 'readwrite' },
    ],
  },
  {},
);
const plc = manifest('IOModule', 'plc', {
  protocol: 'modbus',
  address: 'plc',
  enabled: false,
  channels: [
    { name: 'valve.open', address: 'discrete:0' },
    { name: 'valve.cmd', address: 'coil:0', direction: 'output' },
    { name: 'other.cmd', address: 'coil:1', direction: 'output' },
  ],
});
const module = (name: string, open: string, cmd: string, more: object = {}) =>
  manifest('ControlModule', name, {
    templateRef: 'valve',
    parentName: 'mixer',
    tags: [
      { name: 'open', channel: open },
      { name: 'cmd', channel: cmd },
    ],
    ...more,
  });
const program = (...blocks: readonly object[]) => manifest('ControlProgram', 'drives', { unitRef: 'mixer', scanInterval: '100ms', blocks });
const warningsOf = async (...manifests: readonly object[]): Promise<readonly (readonly string[])[]> => {
  const { status, body } = await admin.post('/api/v1/apply?dryRun=true', manifests);
  t.equal(status, 200, JSON.stringify(body));
  return (body as unknown as readonly { readonly warnings: readonly string[] }[]).map(({ warnings }) => warnings);
};
const conditionOf = async (name: string): Promise<object | undefined> => {
  const { body } = await admin.get(`/api/v1/sites/north/controlmodules/${name}`);
  return (body.conditions as readonly { readonly type: string }[]).find(({ type }) => type === 'ConfigurationValid');
};

t.before(async () => {
  const { status, body } = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    valve,
    plc,
  ]);
  t.equal(status, 200, JSON.stringify(body));
});

t.test('a channel that is not there, or leads the other way, is warned of with the member that names it', async (t) => {
  const rows: readonly (readonly [open: string, cmd: string, ...warnings: readonly string[]])[] = [
    ['plc:valve.open', 'plc:valve.cmd'],
    ['plc:discrete:0', 'plc:coil:0'],
    ['gone:a', 'plc:valve.cmd', 'spec.tags[0].channel: tag open needs I/O module gone, which does not exist'],
    ['plc:valve.open', 'plc:valve.off', 'spec.tags[1].channel: tag cmd needs channel valve.off, which I/O module plc does not have'],
    [
      'plc:valve.cmd',
      'plc:valve.open',
      'spec.tags[0].channel: tag open (DI) needs an input, and channel plc:valve.cmd is an output',
      'spec.tags[1].channel: tag cmd (DO) needs an output, and channel plc:valve.open is an input',
    ],
  ];
  for (const [open, cmd, ...warnings] of rows) t.strictSame(await warningsOf(module('xv1', open, cmd)), [warnings]);
  const overridden = manifest('ControlModule', 'xv1', {
    templateRef: 'valve',
    parentName: 'mixer',
    tags: [{ name: 'open', channel: 'plc:valve.open' }],
    paramOverrides: [{ blockRef: 'dout', param: 'addr', value: 'plc:gone' }],
  });
  t.strictSame(await warningsOf(overridden), [['spec.paramOverrides[0].value: block dout needs channel gone, which I/O module plc does not have']]);
});

t.test('a program is warned of as a module is', async (t) => {
  t.strictSame(await warningsOf(program({ name: 'a', type: 'DI', params: { addr: 'plc:valve.open' } }, { name: 'b', type: 'DO', params: { addr: 'gone:a' } })), [
    ['spec.blocks[1].params.addr: block b needs I/O module gone, which does not exist'],
  ]);
});

t.test('an I/O module that stands behind the module in the same request is there', async (t) => {
  const plc2 = { ...plc, metadata: { ...plc.metadata, name: 'plc2' } };
  t.strictSame(await warningsOf(module('xv1', 'plc2:valve.open', 'plc2:valve.cmd'), plc2), [[], []]);
});

t.test('what of a stored module is amiss stands in its condition', async (t) => {
  const apply = async (...manifests: readonly object[]): Promise<void> => {
    t.equal((await admin.post('/api/v1/apply', manifests)).status, 200);
  };
  await apply(module('xv1', 'plc:valve.cmd', 'plc:valve.off'));
  t.match(await conditionOf('xv1'), {
    status: 'False',
    message: 'tag open (DI) needs an input, and channel plc:valve.cmd is an output; tag cmd needs channel valve.off, which I/O module plc does not have',
  });
  await apply(module('xv1', 'plc:valve.open', 'plc:other.cmd'));
  t.match(await conditionOf('xv1'), { status: 'True' });
});

t.test('a tag that is the channel itself and a block are each told of the other: it is written by people and charts, and owns nothing', async (t) => {
  const direct = manifest('ControlModuleTemplate', 'direct', { tags: [{ name: 'cmd', dataType: 'BOOL', accessLevel: 'readwrite', channel: 'plc:valve.cmd' }] }, {});
  const [, first, second] = await warningsOf(
    direct,
    manifest('ControlModule', 'by-hand', { templateRef: 'direct', parentName: 'mixer' }),
    module('xv2', 'plc:valve.open', 'plc:coil:0'),
  );
  t.match(first, [/channel plc:valve\.cmd is already driven by xv2\.dout: each overwrites what the other writes/]);
  t.match(second, [/^spec\.tags\[1\]\.channel: channel plc:coil:0 is already driven by by-hand\.cmd/]);
});
