/** What a simulation cannot run is told by apply, its dry run and validate with its member, before the probe takes the module to Failed. */
import t from 'tap';
import { judgeOffline } from '../../../src/cli/files/offline.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

const TANK = { address: 'level', type: 'TankLevel', params: { capacity: '100', inflow: 'feed', outflow: '0' } };
const VALVE = { address: 'lye.zs', type: 'ValveFeedback', params: { command: 'lye.cmd', travelTime: '800ms' } };
const CHANNELS = [
  { address: 'lye.cmd', direction: 'output', dataType: 'bool' },
  { address: 'lye.zs', dataType: 'bool' },
];
const simulated = (simulation: object, name = 'plant', channels: readonly object[] = CHANNELS) =>
  manifest('IOModule', name, { protocol: 'simulation', controllerRef: 'edge', channels, simulation });
const valve = (params: object) => simulated({ behaviors: [{ ...VALVE, params: { ...VALVE.params, ...params } }] });
const expression = (expr: string) => simulated({ behaviors: [VALVE, { address: 'flow', type: 'Expr', params: { expr } }] });
const preset = (behaviors: readonly object[]) => manifest('SimulationPreset', 'tank', { behaviors });
const BASE = [manifest('Site', 'north', {}, {}), manifest('Controller', 'edge', {})];
const FEED = { address: 'feed', type: 'NoisyConstant', params: { value: '2' } };

const online = async (manifests: readonly object[], query = '?dryRun=true') => {
  const { status, body } = await admin.post(`/api/v1/apply${query}`, manifests);
  t.equal(status, 200, JSON.stringify(body));
  return (body as unknown as readonly { readonly warnings: readonly string[] }[]).map(({ warnings }) => warnings);
};
const offline = async (manifests: readonly object[]) => {
  const { errors, warnings } = await judgeOffline(manifests);
  t.same(errors, []);
  return warnings.map(({ warning }) => warning);
};

const FAILED = ': the I/O module will be Failed';
const WRONG: readonly (readonly [what: string, module: object, warning: string])[] = [
  [
    'an address that there is not',
    valve({ command: 'lya.cmd' }),
    'spec.simulation.behaviors[0].params.command: lye.zs refers to lya.cmd, which is no channel and no behaviour (the nearest is lye.cmd)',
  ],
  [
    'a reference of an expression',
    expression('if([lye.zs0], 8, 0)'),
    'spec.simulation.behaviors[1].params.expr: flow refers to lye.zs0, which is no channel and no behaviour (the nearest is lye.zs)',
  ],
  ['a duration with a blank', valve({ travelTime: '800 ms' }), 'spec.simulation.behaviors[0].params.travelTime: param travelTime must be a duration such as 500ms or 10s'],
  [
    'an expression that does not end',
    expression('if([lye.zs], 8, 0'),
    'spec.simulation.behaviors[1].params.expr: param expr does not parse: ")" expected before the end at column 18',
  ],
  [
    'a param that there is not',
    simulated({ behaviors: [FEED, { ...TANK, params: { capcity: 100, inflow: 'feed', outflow: '0' } }] }),
    'spec.simulation.behaviors[1].params.capcity: param capcity is not known; known are capacity, initial, inflow, outflow, percent, noise (the nearest is capacity)',
  ],
  [
    'a fault at an address that there is not',
    simulated({ behaviors: [VALVE], faults: [{ name: 'stuck', address: 'lye.zd', type: 'StuckValue' }] }),
    'spec.simulation.faults[0].address: fault stuck names lye.zd, which is no channel and no behaviour (the nearest is lye.zs)',
  ],
];

for (const [what, module, warning] of WRONG) {
  t.test(`what a simulation cannot run is a warning at its member: ${what}`, async (t) => {
    const told = (await offline([...BASE, module])).filter((each) => each.endsWith(FAILED));
    t.ok(told.includes(`${warning}${FAILED}`), told.join('\n'));
    t.same(
      (await online([...BASE, module]))[2]?.filter((each) => each.endsWith(FAILED)),
      told,
      'the box tells the same',
    );
  });
}

t.test('a simulation without mistake is told nothing of', async (t) => {
  t.same(await offline([...BASE, valve({})]), []);
});

t.test('what is wrong in a preset stands at its own member, and at the module that uses it; an entry of the map that stands for nothing too', async (t) => {
  const use = simulated({ preset: 'tank', addressMap: { level: 'lt1', feed: 'ft1' } }, 'plant', []);
  t.same(await offline([...BASE, preset([TANK, FEED]), use]), []);
  const wrong = preset([{ ...TANK, params: { ...TANK.params, capcity: 3 } }, FEED]);
  const text = 'param capcity is not known; known are capacity, initial, inflow, outflow, percent, noise (the nearest is capacity)';
  t.same(await offline([...BASE, wrong, use]), [`spec.behaviors[0].params.capcity: ${text}`, `spec.simulation.preset: behaviour lt1 of preset tank: ${text}${FAILED}`]);
  t.same(await offline([...BASE, preset([TANK, FEED]), simulated({ preset: 'tank', addressMap: { level: 'lt1', feed: 'ft1', feet: 'ft2' } }, 'plant', [])]), [
    'spec.simulation.addressMap.feet: preset tank has no address feet, so the entry has no effect (the nearest is feed)',
  ]);
});

t.test('a module that does not come with the apply is told of at the preset or the module that breaks it', async (t) => {
  await online(
    [
      ...BASE,
      preset([TANK, FEED]),
      simulated({ preset: 'tank', addressMap: { level: 'lt1', feed: 'ft1' } }, 'tanks', []),
      simulated({ behaviors: [{ address: 'twice', type: 'Expr', params: { expr: '2 * [tanks/lt1]' } }] }, 'reader', []),
    ],
    '',
  );
  t.equal(plant.store.get(IOModule, 'north', 'tanks')?.spec.simulation?.preset, 'tank');
  t.same(await online([preset([{ ...TANK, params: { ...TANK.params, inflow: 'fede' } }, FEED])]), [
    ['I/O module tanks: behaviour lt1 of preset tank: lt1 refers to fede, which is no channel and no behaviour: it will be Failed'],
  ]);
  t.same(await online([simulated({ preset: 'tank', addressMap: { level: 'lt2', feed: 'ft1' } }, 'tanks', [])]), [
    ['I/O module reader: twice refers to tanks/lt1, which is no channel and no behaviour of a module of the same controller (the nearest is tanks/lt2): it will be Failed'],
  ]);
});

t.test('REST refuses the same with the nearest word', async (t) => {
  const body = { name: 'by-hand', protocol: 'simulation', controllerRef: 'edge', channels: CHANNELS, simulation: { behaviors: [{ ...VALVE, params: { command: 'lya.cmd' } }] } };
  t.match(await admin.post('/api/v1/sites/north/iomodules', body), {
    status: 400,
    body: { field: 'simulation.behaviors[0].params.command', error: /lya\.cmd.*\(the nearest is lye\.cmd\)/ },
  });
});
