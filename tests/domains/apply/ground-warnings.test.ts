/**
 * Who stays as he is while an apply takes his ground away: told at the manifest, or the removal, that does it; and of what comes with the apply
 * unchanged, as `validate` tells of the same files.
 */
import t from 'tap';
import { judgeOffline } from '../../../src/cli/files/offline.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const supervisor = await plant.as('supervisor');

type Spec = Readonly<Record<string, unknown>>;
interface Row {
  readonly kind: string;
  readonly name: string;
  readonly operation: string;
  readonly warnings: readonly string[];
}

const own = { namespace: 'site-north', labels: { plant: 'own' } };
const io = (first: string): object =>
  manifest('IOModule', 'plc', {
    protocol: 'modbus',
    address: '127.0.0.1:1',
    enabled: false,
    controllerRef: 'edge',
    channels: [
      { name: first, address: 'coil:0', direction: 'output' },
      { name: 'spare', address: 'coil:1', direction: 'output' },
    ],
  });
const valve = (tag = 'cmd'): object =>
  manifest(
    'ControlModuleTemplate',
    'valve',
    {
      moduleType: 'on-off-valve',
      blocks: [{ name: 'do', type: 'DO', params: { addr: '' } }],
      tags: [{ name: tag, dataType: 'BOOL', blockRef: 'do', portRef: 'IN', accessLevel: 'readwrite' }],
    },
    {},
  );
const module = (name = 'xv1', spec: Spec = {}): object => manifest('ControlModule', name, { templateRef: 'valve', parentName: 'mixer', ...spec }, own);
const driven = module('xv9', { tags: [{ name: 'cmd', channel: 'plc:out' }] });
const phase = (spec: Spec = {}, name = 'heat'): object =>
  manifest('PhaseTemplate', name, {
    roles: [],
    parameters: [{ name: 'target', type: 'REAL', unit: 'degC', min: '20', max: '90' }],
    steps: [{ name: 'open', initial: true, actionST: "WRITE('xv1.cmd', TRUE);" }],
    ...spec,
  });
const narrow = phase({ parameters: [{ name: 'target', type: 'REAL', unit: 'degC', min: '70', max: '90' }] });
const operation = manifest('OperationTemplate', 'warm', {
  parameters: [{ name: 'temperature', unit: 'degC', defaultValue: '40' }],
  chart: {
    steps: [{ name: 'heat', initial: true, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'heat', parameterBindings: [{ name: 'target', from: 'temperature' }] }],
  },
});
const recipe = manifest('MasterRecipe', 'warm-water', {
  productID: 'W',
  version: '1.0.0',
  formulas: [{ name: 'standard', parameters: [{ name: 'temperature', value: '60' }] }],
  procedure: {
    chart: {
      steps: [
        {
          name: 'make',
          stepLevel: 'UnitProcedure',
          targetCapability: 'mixing',
          subChart: { steps: [{ name: 'warm', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'warm' }] },
        },
      ],
    },
  },
});
const ground = [
  manifest('Site', 'north', {}, {}),
  manifest('Area', 'hall'),
  manifest('ProcessCell', 'cell', { areaName: 'hall' }),
  manifest('Unit', 'mixer', { processCellName: 'cell', capabilities: ['mixing'] }),
  manifest('Controller', 'edge', {}),
];
const whole = [...ground, valve(), io('out'), module(), driven, phase(), operation, recipe];

const apply = async (manifests: readonly object[], query = '?dryRun=true'): Promise<readonly Row[]> => {
  const { status, body } = await admin.post(`/api/v1/apply${query}`, manifests);
  t.equal(status, 200, JSON.stringify(body));
  return body as unknown as readonly Row[];
};
/** Told of every recipe; other suites prove them. */
const OTHER = / arrives as Draft: |has no channel, so nothing is written/;
const toldOf = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap(({ kind, name, operation: done, warnings }) => warnings.filter((warning) => !OTHER.test(warning)).map((warning) => `${done} ${kind} ${name}: ${warning}`));

const UNKNOWN =
  "line 1, WRITE('xv1.cmd'): xv1 is no role of the template, which declares none, and no control module or program of the site: declare the role, or correct the name";
const NO_TAG = "line 1, WRITE('xv1.cmd'): control module xv1 has no tag cmd";
const NO_CHANNEL = 'tag cmd needs channel out, which I/O module plc does not have';
const TOO_COLD = 'parameter temperature is 40, which step heat does not take: target 40 is outside 70 to 90 degC';
const BOUND = 'spec.chart.steps[heat].parameterBindings[0]';
const RECIPE_COLD = 'Draft recipe warm-water: temperature of formula standard is 60, which step make/warm/heat does not take: target 60 is outside 70 to 90 degC';

t.before(() => apply(whole, ''));

t.test('what comes unchanged is told of as validate tells of the same files', async (t) => {
  const rows: readonly (readonly [title: string, manifests: readonly object[], told: readonly string[], offline: readonly string[]])[] = [
    ['nothing of a plant that is as it should be', whole, [], []],
    [
      'a channel that is called something else',
      [...ground, valve(), io('other'), driven],
      [`unchanged ControlModule xv9: spec.tags[0].channel: ${NO_CHANNEL}`],
      [`spec.tags[0].channel: ${NO_CHANNEL}`],
    ],
    [
      'a phase that takes less',
      [...ground, valve(), module(), narrow, operation],
      [`unchanged OperationTemplate warm: ${BOUND}: ${TOO_COLD}`, `configured PhaseTemplate heat: ${RECIPE_COLD}`],
      [`${BOUND}: ${TOO_COLD}`],
    ],
  ];
  for (const [title, manifests, told, offline] of rows) {
    t.strictSame([...toldOf(await apply(manifests))].sort(), [...told].sort(), title);
    const judged = await judgeOffline([...manifests]);
    t.strictSame(
      judged.warnings.map(({ warning }) => warning).filter((warning) => !OTHER.test(warning)),
      offline,
      `${title}, offline`,
    );
  }
});

t.test('whose ground goes is told where it goes', async (t) => {
  const rows: readonly (readonly [title: string, manifests: readonly object[], ...told: readonly string[]])[] = [
    ['a channel', [io('other')], `configured IOModule plc: ControlModule xv9: ${NO_CHANNEL}`],
    ['the tag of a template', [valve('command')], `configured ControlModuleTemplate valve: PhaseTemplate heat: ${NO_TAG}`],
    ['the limits of a phase', [narrow], `configured PhaseTemplate heat: OperationTemplate warm: ${TOO_COLD}`, `configured PhaseTemplate heat: ${RECIPE_COLD}`],
    [
      'of several changes the one that does it',
      [module('xv2'), narrow, io('other'), valve(), module('xv3')],
      `configured IOModule plc: ControlModule xv9: ${NO_CHANNEL}`,
      `configured PhaseTemplate heat: OperationTemplate warm: ${TOO_COLD}`,
      `configured PhaseTemplate heat: ${RECIPE_COLD}`,
    ],
    ['nothing where nobody stands on it', [module('xv2'), io('out')]],
  ];
  for (const [title, manifests, ...told] of rows) {
    t.strictSame([...toldOf(await apply(manifests))].sort(), [...told].sort(), title);
  }
});

t.test('a removal behind the manifests is told at the row that is removed', async (t) => {
  const rows = await apply([module('xv2'), driven], '?dryRun=true&toPrune=plant%3Down');
  t.strictSame(toldOf(rows), [`removed ControlModule xv1: PhaseTemplate heat: ${UNKNOWN}`]);
});

t.test('a recipe in use is told of what it was released with, and one that is rejected as a draft', async (t) => {
  const master = '/api/v1/sites/north/recipes/master/warm-water';
  const rejected = await supervisor.post(`${master}/reject`, { reason: 'too warm' });
  t.equal(rejected.status, 200, JSON.stringify(rejected.body));
  t.ok(toldOf(await apply([narrow])).includes(`configured PhaseTemplate heat: ${RECIPE_COLD.replace('Draft', 'Rejected')}`));
  t.equal((await supervisor.post(`${master}/revisions/1/revert`, { reason: 'once more' })).status, 200);
  for (const step of ['approve', 'release', 'activate']) {
    const { status, body } = await supervisor.post(`${master}/${step}`, { reason: 'reviewed' });
    t.equal(status, 200, `${step}: ${JSON.stringify(body)}`);
  }
  t.notOk(
    toldOf(await apply([narrow])).some((each) => each.includes('recipe warm-water')),
    'it runs with the phase that was released',
  );
  await apply([phase({ roles: [{ name: 'outlet', requiredType: 'on-off-valve' }], steps: [{ name: 'open', initial: true, actionST: "WRITE('outlet.cmd', TRUE);" }] })], '');
  const told = toldOf(await apply([module('xv1', { parentName: 'mixer', description: 'as it was' }), valve('command')]));
  t.ok(told.includes(`configured ControlModuleTemplate valve: Effective recipe warm-water: PhaseTemplate heat, as it was released: ${NO_TAG}`), JSON.stringify(told));
});

t.test('what was so before is no news, and a list has an end', async (t) => {
  const many = Array.from({ length: 230 }, (_, index) => phase({}, `heat-${String(index).padStart(3, '0')}`));
  await apply([phase(), ...many], '');
  const [told] = await apply([valve('command')]);
  t.equal(told?.warnings.length, 11);
  t.equal(told?.warnings.at(-1), 'and 221 more of this kind', 'of 231 phases');
  await apply([valve('command')], '');
  t.strictSame(toldOf(await apply([valve('kommand')])), [], 'none of them had the tag before');
  await apply([valve()], '');
});
