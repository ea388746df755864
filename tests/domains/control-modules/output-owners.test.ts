/** The one owner of each output (ADR 0071): a second one is refused; one that stands already is told with the names of both. */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { contestedOutputs, contestedWords } from '../../../src/domains/control-modules/output-owners.js';
import { TOPICS } from '../../../src/domains/alarms/system-conditions.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const MODULES = '/api/v1/sites/north/controlmodules';
const PROGRAMS = '/api/v1/sites/north/fbnetworks';

const valve = manifest(
  'ControlModuleTemplate',
  'valve',
  { blocks: [{ name: 'dout', type: 'DO', params: { addr: '' } }], tags: [{ name: 'cmd', dataType: 'BOOL', blockRef: 'dout', portRef: 'IN', accessLevel: 'readwrite' }] },
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
    { name: 'third.cmd', address: 'coil:2', direction: 'output' },
  ],
});
const module = (name: string, cmd: string) => manifest('ControlModule', name, { templateRef: 'valve', parentName: 'mixer', tags: [{ name: 'cmd', channel: cmd }] });
const spec = (cmd: string) => module('any', cmd).spec;
const programSpec = (...addresses: readonly string[]) => ({
  unitRef: 'mixer',
  scanInterval: '100ms',
  blocks: addresses.map((addr, n) => ({ name: `out${n}`, type: 'DO', params: { addr } })),
});
const program = (...addresses: readonly string[]) => manifest('ControlProgram', 'drives', programSpec(...addresses));
const apply = (...manifests: readonly object[]) => admin.post('/api/v1/apply', manifests);
const outputs = async (channel: string) => (await admin.get(`/api/v1/sites/north/iomodules/plc/tags/${channel}`)).body;

t.before(async () => {
  const { status, text } = await apply(
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    valve,
    plc,
    module('xv1', 'plc:valve.cmd'),
  );
  t.equal(status, 200, text);
});

t.test('ADR 0071, IO-20: an output is served with its one owner; an input has none', async (t) => {
  t.match(await outputs('valve.cmd'), { owner: { kind: 'ControlModule', name: 'xv1', block: 'dout', unit: 'mixer' }, contestedBy: [], heldBy: null });
  t.match(await outputs('other.cmd'), { owner: null, contestedBy: [] });
  t.match(await outputs('valve.open'), { owner: null });
  const list = (await admin.get('/api/v1/sites/north/iomodules/plc/tags')).body as { channel: string; owner: { name: string } | null }[];
  t.same(
    list.map(({ channel, owner }) => [channel, owner?.name ?? '']),
    [
      ['valve.open', ''],
      ['valve.cmd', 'xv1'],
      ['other.cmd', ''],
      ['third.cmd', ''],
    ],
  );
});

t.test('ADR 0071: a second writer is refused on create, update and apply, by name or by address, and nothing is changed', async (t) => {
  const second = { status: 409, body: { code: 'output_claimed', output: 'plc:valve.cmd', owner: 'xv1.dout', error: /plc:valve\.cmd is written by xv1\.dout/ } };
  t.match(await admin.post(MODULES, { name: 'xv2', ...spec('plc:coil:0') }), { ...second, body: { ...second.body, field: 'tags[0].channel' } });
  t.equal((await admin.post(MODULES, { name: 'xv2', ...spec('plc:other.cmd') })).status, 201);
  t.match(await admin.put(`${MODULES}/xv2`, spec('plc:valve.cmd')), second);
  t.match(await apply(module('xv2', 'plc:coil:0')), { status: 409, body: { code: 'output_claimed' } });
  t.match(await apply(program('plc:valve.cmd')), { status: 409, body: { code: 'output_claimed', field: 'spec.blocks[0].params.addr' } });
  t.match(await outputs('other.cmd'), { owner: { name: 'xv2' } }, 'what was refused changed nothing');
  t.equal((await admin.get(`${PROGRAMS}/drives`)).status, 404);
});

t.test('ADR 0071: two of one apply are each told of the other, and one output has one block of a program', async (t) => {
  t.equal((await admin.post(PROGRAMS, { metadata: { name: 'first' }, spec: programSpec('plc:third.cmd') })).status, 201);
  t.match(await admin.post(PROGRAMS, { metadata: { name: 'drives' }, spec: programSpec('plc:coil:2') }), {
    status: 409,
    body: { code: 'output_claimed', owner: 'first.out0', field: 'spec.blocks[0].params.addr' },
  });
  t.equal((await admin.delete(`${PROGRAMS}/first`)).status, 204);
  const both = await apply(module('xv3', 'plc:third.cmd'), module('xv4', 'plc:coil:2'));
  t.match(both, {
    status: 409,
    body: {
      errors: [
        { code: 'output_claimed', error: /xv4\.dout/ },
        { code: 'output_claimed', error: /xv3\.dout/ },
      ],
    },
  });
  const twins = { status: 400, body: { code: 'invalid_field', field: 'spec.blocks[1].params.addr', error: /written by block out0 too/ } };
  t.match(await admin.post(PROGRAMS, { metadata: { name: 'drives' }, spec: programSpec('plc:third.cmd', 'plc:coil:2') }), twins);
  t.match(await apply(program('plc:third.cmd', 'plc:coil:2')), twins);
});

t.test('ADR 0071: in one apply an output goes from one to another, in any order', async (t) => {
  const moved = await apply(module('xv2', 'plc:valve.cmd'), module('xv1', 'plc:other.cmd'));
  t.equal(moved.status, 200, moved.text);
  t.match([await outputs('valve.cmd'), await outputs('other.cmd')], [{ owner: { name: 'xv2' } }, { owner: { name: 'xv1' } }]);
});

t.test('ADR 0071: what an earlier release has stored is told in alarm, unit and channel with both names, and may be edited and mended', async (t) => {
  const stored = plant.store.get(ControlModule, 'north', 'xv1');
  if (!stored) throw new Error('xv1 is stored');
  await plant.store.write({ puts: [{ kind: ControlModule, site: 'north', name: 'xv1', spec: { ...stored.spec, ...spec('plc:valve.cmd') } as typeof stored.spec }], audits: [] });
  const [contested] = contestedOutputs(plant.store, 'north');
  t.match(contested, {
    output: 'plc:valve.cmd',
    owners: [
      { name: 'xv1', block: 'dout', unit: 'mixer' },
      { name: 'xv2', block: 'dout', unit: 'mixer' },
    ],
  });
  const words = contested ? contestedWords(contested) : '';
  t.match(words, /plc:valve\.cmd is written by xv1\.dout and xv2\.dout/);
  t.match(await outputs('valve.cmd'), { owner: { name: 'xv1' }, contestedBy: [{ name: 'xv2', block: 'dout' }] });
  const unit = (await admin.get('/api/v1/sites/north/units/mixer')).body;
  t.match(
    unit.conditions.find(({ type }: { type: string }) => type === 'OutputsSingleWriter'),
    { status: 'False', reason: 'SeveralOwners', message: words },
  );
  const facts = undefined as never; // the topic asks nothing of the running appliance
  t.match(TOPICS['output-owners'].condition('north', 'plc', plant.store, facts), { severity: 'High', message: words, units: ['mixer'] });
  t.equal((await admin.put(`${MODULES}/xv2`, { ...spec('plc:valve.cmd'), description: 'looked at' })).status, 200, 'another edit of it is taken');
  t.equal((await apply({ ...module('xv1', 'plc:valve.cmd'), spec: { ...spec('plc:valve.cmd'), description: 'too' } })).status, 200);
  t.equal((await admin.put(`${MODULES}/xv2`, spec('plc:third.cmd'))).status, 200);
  t.equal(TOPICS['output-owners'].condition('north', 'plc', plant.store, facts), undefined);
  const mended = (await admin.get('/api/v1/sites/north/units/mixer')).body.conditions;
  t.match(
    mended.find(({ type }: { type: string }) => type === 'OutputsSingleWriter'),
    { status: 'True' },
  );
});

t.test('ADR 0100: an output that a template names itself is owned by its instances, from the very edit on, and a second one cannot slip in', async (t) => {
  const fixed = (addr: string) => manifest('ControlModuleTemplate', 'fixed', { blocks: [{ name: 'out', type: 'DO', params: { addr } }], tags: [] }, {});
  const own = (name: string) => manifest('ControlModule', name, { templateRef: 'fixed', parentName: 'mixer' });
  const spare = manifest('IOModule', 'spare', { protocol: 'modbus', address: 'spare', enabled: false, channels: [{ name: 'a', address: 'coil:0', direction: 'output' }] });
  t.equal((await apply(spare, fixed(''), own('lamp'))).status, 200);
  const owner = async () => (await admin.get('/api/v1/sites/north/iomodules/spare/tags/a')).body.owner;
  t.equal(await owner(), null);
  t.equal((await admin.put('/api/v1/controlmoduletemplates/fixed', fixed('spare:coil:0').spec)).status, 200);
  t.match(await owner(), { name: 'lamp', block: 'out', unit: 'mixer' });
  const refused = { status: 409, body: { code: 'output_claimed', owner: 'lamp.out' } };
  t.match(await admin.post(MODULES, { name: 'xv7', ...spec('spare:a') }), refused);
  t.match(await admin.post(MODULES, { name: 'lamp2', ...own('lamp2').spec }), refused);
  t.match(await apply(program('spare:a')), refused);
  t.equal((await admin.delete(`${MODULES}/lamp`)).status, 204);
  t.equal(await owner(), null, 'who goes takes its claim along');
  t.equal((await admin.post(MODULES, { name: 'xv7', ...spec('spare:a') })).status, 201);
});
