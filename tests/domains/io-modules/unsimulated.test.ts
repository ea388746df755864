/** Inputs of a simulation that no behaviour moves are told by apply, whoever comes first: what reads them would wait for ever. */
import t from 'tap';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

const level = manifest(
  'ControlModuleTemplate',
  'level',
  { blocks: [{ name: 'ai', type: 'AI', params: { addr: '', rawMin: 0, rawMax: 100 } }], tags: [{ name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT' }] },
  {},
);
const reader = (name: string, channel: string) => manifest('ControlModule', name, { templateRef: 'level', parentName: 'mixer', tags: [{ name: 'pv', channel }] });
const program = (channel: string) =>
  manifest('ControlProgram', 'logic', { unitRef: 'mixer', scanInterval: '100ms', blocks: [{ name: 'in', type: 'AI', params: { addr: channel, rawMin: 0, rawMax: 100 } }] });
const steady = (address: string) => ({ address, type: 'NoisyConstant', params: { value: 12 } });
const CHANNELS = [
  { name: 'level', address: 'lt1' },
  { name: 'valve', address: 'xv1', direction: 'output' },
];
const sim = (simulation?: object, channels: readonly object[] = CHANNELS) =>
  manifest('IOModule', 'sim', { protocol: 'simulation', controllerRef: 'edge', channels, ...(simulation ? { simulation } : {}) });
const preset = (...addresses: readonly string[]) => manifest('SimulationPreset', 'vessel', { behaviors: addresses.map(steady) });
const plc = (labels: Readonly<Record<string, string>> = {}) =>
  manifest('IOModule', 'plc', { protocol: 'modbus', address: 'plc', enabled: false, channels: [{ name: 'level', address: 'input:0' }] }, { namespace: 'site-north', labels });

const warningsOf = async (...manifests: readonly object[]): Promise<readonly (readonly string[])[]> => {
  const { status, body } = await admin.post('/api/v1/apply?dryRun=true', manifests);
  t.equal(status, 200, JSON.stringify(body));
  return (body as unknown as readonly { readonly warnings: readonly string[] }[]).map(({ warnings }) => warnings);
};

t.before(async () => {
  const { status, body } = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    manifest('Controller', 'edge', {}),
    level,
  ]);
  t.equal(status, 200, JSON.stringify(body));
});

const WAY = 'or give the channel an initial value if it shall stand still';
const still = (more = '') =>
  `nothing moves channel lt1 of the simulated I/O module sim, so that it stays as it starts: add a behaviour with the address lt1 to its simulation.behaviors${more}, ${WAY}`;

t.test('whoever reads a channel that nothing moves is told what to add, by name and by address, module and program', async (t) => {
  for (const channel of ['sim:level', 'sim:lt1']) {
    t.strictSame(await warningsOf(sim(), reader('li1', channel)), [[], [`spec.tags[0].channel: tag pv reads ${channel}, and ${still()}`]]);
    t.strictSame(await warningsOf(sim(), program(channel)), [[], [`spec.blocks[0].params.addr: block in reads ${channel}, and ${still()}`]]);
  }
  t.strictSame(await warningsOf(sim({ preset: 'vessel' }), preset('flow'), reader('li1', 'sim:level')), [
    [],
    [],
    [`spec.tags[0].channel: tag pv reads sim:level, and ${still(' or to its addressMap')}`],
  ]);
});

t.test('nothing is told where a behaviour moves it, where it shall stand still, or where no simulation is', async (t) => {
  const silent = async (...manifests: readonly object[]): Promise<boolean> => t.strictSame((await warningsOf(...manifests)).flat(), []);
  await silent(sim({ behaviors: [steady('lt1')] }), reader('li1', 'sim:level'));
  await silent(sim({ preset: 'vessel', addressMap: { any: 'lt1' } }), preset('any'), reader('li1', 'sim:level'));
  await silent(sim(undefined, [{ address: 'lt1', initial: 40 }]), reader('li1', 'sim:lt1'));
  await silent(plc(), reader('li1', 'plc:level'));
  await silent(sim());
});

t.test('a simulation that comes without its readers is told of them, and a preset of the modules that use it', async (t) => {
  t.equal((await admin.post('/api/v1/apply', [sim({ preset: 'vessel', addressMap: { any: 'lt1' } }), preset('any'), reader('li1', 'sim:level')])).status, 200);
  t.strictSame(await warningsOf(sim()), [[`tag pv of li1 reads sim:level, and ${still()}`]]);
  t.strictSame(await warningsOf(preset('other')), [[`tag pv of li1 reads sim:level, and ${still(' or to its addressMap')}`]]);
  t.strictSame(await warningsOf(sim({ preset: 'vessel', addressMap: { any: 'lt1' }, seed: 7 })), [[]]);
});

t.test('a preset that stands in for a network module in rehearsals is looked at in the same way', async (t) => {
  const labelled = plc({ 'lineside.io/rehearsal-preset': 'device' });
  const device = (address: string) => manifest('SimulationPreset', 'device', { behaviors: [steady(address)] });
  const told =
    'in a rehearsal nothing moves channel level of I/O module plc: add a behaviour with that address to the simulation preset device, which its label lineside.io/rehearsal-preset names';
  t.strictSame(await warningsOf(labelled, device('flow'), reader('li2', 'plc:input:0')), [[], [], [`spec.tags[0].channel: tag pv reads plc:input:0, and ${told}`]]);
  t.strictSame(await warningsOf(labelled, device('level'), reader('li2', 'plc:level')), [[], [], []]);
});
