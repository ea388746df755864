/** Where a recipe is wrong: what names a step, a capability or a size stands at its member, and what is taken and hurts later is told before it is signed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { judgeOffline } from '../../../src/cli/files/offline.js';
import { readManifestFiles } from '../../../src/cli/files/manifest-files.js';
import { placed } from '../../../src/cli/files/placed.js';
import { yamlText } from '../../../src/platform/base/yaml.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-places-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const admin = await plant.as('admin');
const supervisor = await plant.as('supervisor');

type Spec = Readonly<Record<string, unknown>>;
const unit = (name: string, spec: Spec = {}) => manifest('Unit', name, { processCellName: 'cell', capabilities: ['boiling'], ...spec });
const PHASE = manifest('PhaseTemplate', 'cook', {
  roles: [{ name: 'inlet', requiredType: 'on-off-valve' }],
  parameters: [{ name: 'target', type: 'REAL', required: true }],
  outputs: [],
  steps: [{ name: 'open', initial: true, actionST: "WRITE('inlet.cmd', TRUE);" }],
});
const BASE = [
  manifest('Site', 'north', {}, {}),
  manifest('Area', 'hall'),
  manifest('ProcessCell', 'cell', { areaName: 'hall' }),
  manifest('ControlModuleTemplate', 'valve', { moduleType: 'on-off-valve', tags: [{ name: 'cmd', dataType: 'Boolean', accessLevel: 'readwrite' }] }, {}),
  unit('k1'),
  manifest('ControlModule', 'xv1', { templateRef: 'valve', parentName: 'k1' }),
  PHASE,
];
const cook = (more: Spec = {}) => ({
  name: 'cook',
  stepLevel: 'Phase',
  templateKind: 'PhaseTemplate',
  templateRef: 'cook',
  parameterBindings: [{ name: 'target', from: 'boil' }],
  ...more,
});
const recipe = (spec: Spec = {}, phase: Spec = cook(), operation: Spec = {}) =>
  manifest('MasterRecipe', 'beer', {
    formulas: [{ name: 'standard', parameters: [{ name: 'boil', value: '90' }] }],
    procedure: {
      chart: {
        steps: [
          {
            name: 'make',
            stepLevel: 'UnitProcedure',
            targetCapability: 'boiling',
            subChart: { steps: [{ name: 'warm', stepLevel: 'Operation', subChart: { steps: [phase] }, ...operation }] },
          },
        ],
      },
    },
    ...spec,
  });
const told = async (manifests: readonly object[]): Promise<readonly string[]> => {
  const { errors, warnings } = await judgeOffline(manifests);
  t.same(errors, []);
  return warnings.map(({ warning }) => warning).filter((warning) => !warning.includes(' arrives as Draft: '));
};

const STEP = 'spec.procedure.chart.steps[make].subChart.steps[warm].subChart.steps[cook]';

t.test('what does not compile in a chart of steps stands at its member', async (t) => {
  const cases: readonly (readonly [text: string, phase: Spec, of: RegExp])[] = [
    ['from: boile', cook({ parameterBindings: [{ name: 'target', from: 'boile' }] }), /bound to boile/],
    [
      'name: targt',
      cook({
        parameterBindings: [
          { name: 'target', from: 'boil' },
          { name: 'targt', from: 'boil' },
        ],
      }),
      /no parameter targt/,
    ],
    ['inlt: inlet', cook({ roleMap: { inlt: 'inlet' } }), /no role inlt/],
    ['stepLevel: Operation', cook({ stepLevel: 'Operation' }), /not Operation/],
    ['parameterBindings', cook({ parameterBindings: [] }), /target of step cook is not bound/],
  ];
  for (const [text, phase, of] of cases) {
    const all = [...BASE, recipe({}, phase)];
    const file = path.join(folder, 'recipe.yaml');
    const yaml = yamlText(recipe({}, phase));
    writeFileSync(file, yaml);
    const { errors } = await judgeOffline(all);
    const [filed] = readManifestFiles([file], undefined).manifests;
    t.ok(filed);
    const faults = placed(
      errors.map((error) => ({ ...error, index: 0 })),
      filed ? [filed] : [],
    );
    const fault = faults.find(({ message }) => of.test(message));
    t.match(yaml.split('\n')[(fault?.line ?? 0) - 1] ?? '', text.split(':')[0] ?? '', `${text}: ${JSON.stringify(faults)}`);
    t.ok((fault?.line ?? 0) > 20, 'and not at the spec');
  }
});

t.test('what does not bind stands at the step or the capability, in validate and apply alike', async (t) => {
  const entry = unit('k1', { roleBindings: [{ role: 'inlet', controlModule: 'xv9' }] });
  const warnings = await told([...BASE.map((each) => ((each as { metadata: { name: string } }).metadata.name === 'k1' ? entry : each)), recipe()]);
  t.same(warnings, [
    'spec.roleBindings[0]: role inlet of unit k1 is bound to control module xv9, which does not exist',
    `${STEP}: the recipe beer 1.0.0 does not bind role inlet of step make/warm/cook on unit k1: role inlet is bound to xv9, which is no control module of the unit`,
  ]);
  const nobody = await told([...BASE, recipe({ equipmentRequirements: [{ capability: 'boiling', candidates: ['k1', 'mixer'], volumeMin: '900' }] })]);
  t.ok(
    nobody.some((each) => each.startsWith('spec.equipmentRequirements[0]: the recipe beer 1.0.0: no unit fits')),
    nobody.join('\n'),
  );
});

t.test('roles that do not bind are in the notes of the recipe, and told once more by each signature; a recipe that binds is told nothing of', async (t) => {
  const entry = unit('k1', { roleBindings: [{ role: 'inlet', controlModule: 'xv9' }] });
  t.equal((await admin.post('/api/v1/apply', [...BASE, recipe()])).status, 200);
  const url = '/api/v1/sites/north/recipes/master/beer';
  t.same((await admin.get(url)).body.notes, []);
  t.equal((await admin.post('/api/v1/apply', [entry])).status, 200);
  const note =
    '1 role is not bound, role inlet of step make/warm/cook on unit k1: role inlet is bound to xv9, which is no control module of the unit; lineside recipe bindings beer shows it';
  t.same((await admin.get(url)).body.notes, [note]);
  for (const action of ['approve', 'release', 'activate']) {
    const { status, body } = await supervisor.post(`${url}/${action}`, { reason: 'looked through' });
    t.equal(status, 200, JSON.stringify(body));
    t.same(body.warnings, [note], action);
  }
});

t.test('a default unit that does not exist is told, with the unit that is taken in its place', async (t) => {
  const named = (spec: Spec) => recipe({ equipmentRequirements: [{ capability: 'boiling', ...spec }] });
  const member = 'spec.equipmentRequirements[0].defaultUnit';
  t.same(await told([...BASE, named({ defaultUnit: 'k1' })]), []);
  t.same(await told([...BASE, named({ defaultUnit: 'k9' })]), [`${member}: unit k9, the default unit of capability boiling, does not exist, so a batch takes k1 in its place`]);
  t.same(await told([...BASE, named({ candidates: ['k1', 'k9'] })]), ['spec.equipmentRequirements[0].candidates[1]: unit k9, a candidate for capability boiling, does not exist']);
});

t.test('a batch size that the limits of a scaled value do not leave is told with the sizes that they do', async (t) => {
  const sized = (batchSize: Spec, oil: Spec = {}) =>
    recipe({
      batchSize: { nominal: '100', engineeringUnit: 'kg', ...batchSize },
      formulas: [{ name: 'standard', parameters: [{ name: 'boil', value: '25', scaled: true, lowValueLimit: '10', highValueLimit: '40', ...oil }] }],
    });
  const words = (allowed: string, taken: string): string =>
    `batchSize allows ${allowed} kg, but by the limits of boil in formula standard a batch takes ${taken}: any other size is refused when the batch is made`;
  t.same(await told([...BASE, sized({ min: '10', max: '300' })]), [`spec.batchSize.max: ${words('10 to 300', '40 to 160 kg')}`]);
  t.same(await told([...BASE, sized({ min: '10' })]), [`spec.batchSize.min: ${words('10 to any', '40 to 160 kg')}`]);
  t.same(await told([...BASE, sized({ min: '10', max: '160' }, { lowValueLimit: '' })]), []);
  t.same(await told([...BASE, sized({ max: '200' }, { lowValueLimit: '' })]), [`spec.batchSize.max: ${words('any to 200', '160 kg at most')}`]);
  t.same(await told([...BASE, sized({ min: '40', max: '160' })]), [], 'just what they leave');
  t.same(await told([...BASE, sized({ min: '10', max: '300' }, { scaled: false })]), [], 'what is not scaled limits no size');
});
