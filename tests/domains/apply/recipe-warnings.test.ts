/**
 * What recipes, their templates and simulations say that is taken and hurts when they run: told by apply and its dry run with the member that it
 * is about, by the same judgement offline, where a recipe is read, and where it is signed.
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

const valve = manifest('ControlModuleTemplate', 'valve', { moduleType: 'on-off-valve', tags: [{ name: 'cmd', dataType: 'Boolean', accessLevel: 'readwrite' }] }, {});
const loop = manifest(
  'ControlModuleTemplate',
  'loop',
  {
    moduleType: 'loop',
    tags: [
      { name: 'sp', dataType: 'Float', accessLevel: 'readwrite', engUnits: 'K' },
      { name: 'pv', dataType: 'Float', engUnits: '°C' },
    ],
  },
  {},
);
const plain: readonly object[] = [
  manifest('Site', 'north', {}, {}),
  manifest('Area', 'hall'),
  manifest('ProcessCell', 'cell', { areaName: 'hall' }),
  manifest('Unit', 'mixer', { processCellName: 'cell', capabilities: ['mixing'] }),
  manifest('Controller', 'edge', {}),
  valve,
  manifest('ControlModule', 'xv1', { templateRef: 'valve', parentName: 'mixer' }),
];
const LIMITED = { name: 'target', type: 'REAL', unit: 'degC', min: '20', max: '90' };
const STEPS = [{ name: 'open', initial: true, actionST: "WRITE('inlet.cmd', TRUE);" }];
const phase = (spec: Spec = {}) =>
  manifest('PhaseTemplate', 'heat', { roles: [{ name: 'inlet', requiredType: 'on-off-valve' }], parameters: [LIMITED], outputs: [], steps: STEPS, ...spec });
const operation = (spec: Spec = {}) =>
  manifest('OperationTemplate', 'warm', {
    parameters: [{ name: 'temperature', unit: 'degC', defaultValue: '40' }],
    chart: { steps: [{ name: 'heat', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'heat', parameterBindings: [{ name: 'target', from: 'temperature' }] }] },
    ...spec,
  });
const ofOperation = { name: 'warm', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'warm' };
const unitProcedure = (more: Spec = {}) => ({ name: 'make', stepLevel: 'UnitProcedure', targetCapability: 'mixing', subChart: { steps: [ofOperation] }, ...more });
const temperature = (more: Spec = {}) => ({ name: 'temperature', value: '60', engineeringUnit: '°C', ...more });
const recipe = (spec: Spec = {}, name = 'warm-water') =>
  manifest('MasterRecipe', name, { formulas: [{ name: 'standard', parameters: [temperature()] }], procedure: { chart: { steps: [unitProcedure()] } }, ...spec });

/** Told of every recipe, and of what no unit binds; other suites prove them. */
const OTHER = / arrives as Draft: |^spec\.\S+: the recipe /;
const online = async (manifests: readonly object[], query = '?dryRun=true'): Promise<readonly (readonly string[])[]> => {
  const { status, body } = await admin.post(`/api/v1/apply${query}`, manifests);
  t.equal(status, 200, JSON.stringify(body));
  return (body as unknown as readonly { readonly warnings: readonly string[] }[]).map(({ warnings }) => warnings.filter((warning) => !OTHER.test(warning)));
};
const offline = async (manifests: readonly object[]): Promise<readonly (readonly string[])[]> => {
  const { errors, warnings } = await judgeOffline([...plain, ...manifests]);
  t.strictSame(errors, []);
  return manifests.map((_, index) => warnings.flatMap((each) => (each.index === index + plain.length && !OTHER.test(each.warning) ? [each.warning] : [])));
};

t.before(() => online(plain, ''));

/** The manifest that is written, with what comes with it, and what is told of it. */
type Row = readonly [title: string, manifests: readonly object[], ...told: readonly (string | RegExp)[]];

const action = (actionST: string): Spec => ({ steps: [{ name: 'open', initial: true, actionST }] });
const bound = (binding: object): object =>
  recipe({ procedure: { chart: { steps: [unitProcedure({ subChart: { steps: [{ ...ofOperation, parameterBindings: [binding] }] } })] } } });
const capable = (equipmentRequirements: readonly object[], step: Spec = {}): object => recipe({ equipmentRequirements, procedure: { chart: { steps: [unitProcedure(step)] } } });
const formula = (...parameters: readonly object[]): object => recipe({ formulas: [{ name: 'standard', parameters }] });

const UNDECLARED =
  'inlett is no role of the template, whose roles are inlet (the nearest is inlet), and no control module or program of the site: declare the role, or correct the name';

const ROWS: readonly Row[] = [
  ['nothing of a phase that is as it should be', [phase()]],
  [
    'a role that nobody declares, with the line and how often',
    [phase(action("WRITE('inlet.cmd', TRUE);\nWRITE('inlett.cmd', TRUE);\nWRITE('inlett.cmd', FALSE);"))],
    `spec.steps[open].actionST: line 2, WRITE('inlett.cmd'): ${UNDECLARED}; it stands in one more place`,
  ],
  [
    'in the condition of a transition',
    [phase({ steps: [...STEPS, { name: 'shut' }], transitions: [{ from: 'open', to: 'shut', conditionST: "READ('inlett.cmd') = TRUE" }] })],
    `spec.transitions[0].conditionST: line 1, READ('inlett.cmd'): ${UNDECLARED}`,
  ],
  [
    'in the chart of an exception, and as the module of MODE',
    [phase({ charts: { holding: { steps: [{ name: 'off', initial: true, actionST: "MODE('inlett', 'Manual');" }] } } })],
    `spec.charts.holding.steps[off].actionST: line 1, MODE('inlett'): ${UNDECLARED}`,
  ],
  [
    'where no role is declared at all',
    [phase({ roles: [], ...action("WRITE('outlet.cmd', TRUE);") })],
    "spec.steps[open].actionST: line 1, WRITE('outlet.cmd'): outlet is no role of the template, which declares none, and no control module or program of the site: declare the role, or correct the name",
  ],
  ['a module of the site in the place of a role, in any letters', [phase(action("WRITE('XV1.CMD', TRUE);"))]],
  [
    'a tag that this module does not have',
    [phase(action("WRITE('xv1.cmmd', TRUE);"))],
    "spec.steps[open].actionST: line 1, WRITE('xv1.cmmd'): control module xv1 has no tag cmmd (the nearest is cmd)",
  ],
  [
    'a signal, a barrier, an I/O module and a channel that there are not',
    [
      phase(action("WRITE('inlet.cmd', READ('signal:full')); WRITE('inlet.cmd', READ('barrier:both')); WRITE('inlet.cmd', READ('nowhere:a')); WRITE('inlet.cmd', READ('sim:b'));")),
      manifest('IOModule', 'sim', { protocol: 'simulation', controllerRef: 'edge', channels: [{ address: 'a' }] }),
    ],
    "spec.steps[open].actionST: line 1, READ('signal:full'): no coordination block of the site has a signal full",
    "spec.steps[open].actionST: line 1, READ('barrier:both'): the site has no barrier both",
    "spec.steps[open].actionST: line 1, READ('nowhere:a'): the site has no I/O module nowhere",
    "spec.steps[open].actionST: line 1, READ('sim:b'): I/O module sim has no channel b",
  ],
  [
    'a type of modules that no template is, where one is near',
    [
      phase({
        roles: [
          { name: 'inlet', requiredType: 'on-of-valve' },
          { name: 'level', requiredType: 'level-transmitter' },
        ],
      }),
    ],
    'spec.roles[inlet].requiredType: role inlet needs a on-of-valve, which no template of control modules is; the nearest there is is on-off-valve',
  ],
  [
    'defaults outside of their own limits and choices',
    [
      phase({
        parameters: [
          { ...LIMITED, defaultValue: '95' },
          { name: 'grade', type: 'STRING', choices: ['A', 'B'], defaultValue: 'C' },
        ],
      }),
    ],
    'spec.parameters[0].defaultValue: the default does not fit: target 95 is outside 20 to 90 degC; where nobody gives a value, nothing can be started with it',
    'spec.parameters[1].defaultValue: the default does not fit: grade must be one of A, B; where nobody gives a value, nothing can be started with it',
  ],
  [
    'an output that no text sets',
    [
      phase({
        outputs: [
          { name: 'reached', type: 'REAL' },
          { name: 'opened', type: 'BOOL' },
        ],
        ...action("opened := WRITE('inlet.cmd', TRUE);"),
      }),
    ],
    'spec.outputs[0].name: no text of the template gives output reached a value: it stays without one',
  ],
  [
    'a default of an operation that its phase does not take',
    [operation({ parameters: [{ name: 'temperature', unit: 'degC', defaultValue: '10' }] }), phase()],
    'spec.chart.steps[heat].parameterBindings[0]: parameter temperature is 10, which step heat does not take: target 10 is outside 20 to 90 degC',
  ],
  [
    'a parameter and an output of an operation in another unit',
    [
      operation({
        parameters: [{ name: 'temperature', unit: 'K', defaultValue: '40' }],
        outputs: [{ name: 'used', type: 'REAL', unit: 'kg', from: 'heat.energy' }],
      }),
      phase({ outputs: [{ name: 'energy', type: 'REAL', unit: 'kWh' }], ...action('energy := 1.0;') }),
    ],
    'spec.chart.steps[heat].parameterBindings[0]: parameter temperature is in K and goes to parameter target of step heat, which is in degC: nothing converts it, the number is taken as it is',
    'spec.outputs[0].from: output heat.energy is in kWh and becomes output used, which is in kg: nothing converts it, the number is taken as it is',
  ],
  [
    'a parameter that goes to a tag in another unit, and an output that comes from one',
    [
      phase({
        roles: [{ name: 'temp', requiredType: 'loop' }],
        outputs: [{ name: 'reached', type: 'REAL', unit: 'degF' }],
        ...action("WRITE('temp.sp', target);\nreached := READ('temp.pv');\nWRITE('temp.sp', target + 273.15);"),
      }),
      loop,
    ],
    "spec.steps[open].actionST: line 1, WRITE('temp.sp'): the tag is in K and gets target, which is in degC: nothing converts it, the number is taken as it is",
    "spec.steps[open].actionST: line 2, READ('temp.pv'): the tag is in °C and goes to reached, which is in degF: nothing converts it, the number is taken as it is",
  ],
  [
    'a tag of a type whose modules have units of their own',
    [
      phase({ roles: [{ name: 'temp', requiredType: 'loop' }], ...action("WRITE('temp.sp', target);") }),
      loop,
      manifest('ControlModule', 'tic1', { templateRef: 'loop', parentName: 'mixer', tags: [{ name: 'sp', engUnits: 'degC' }] }),
    ],
  ],
  ['nothing of a recipe that is as it should be, although it writes the unit in another way', [recipe(), operation(), phase()]],
  [
    'a value outside its own limits',
    [formula(temperature({ lowValueLimit: '25', highValueLimit: '50' })), operation(), phase()],
    'spec.formulas[0].parameters[0].value: temperature 60 of formula standard is outside its own limits, 25 to 50 °C: a batch can only be made with another value',
  ],
  [
    'a value that the phase does not take, through the template of an operation',
    [formula(temperature({ value: '200' })), operation(), phase()],
    'spec.procedure.chart.steps[make].subChart.steps[warm]: temperature of formula standard is 200, which step make/warm/heat does not take: target 200 is outside 20 to 90 degC',
  ],
  [
    'a value that is none of the type',
    [formula(temperature({ value: 'hot' })), operation(), phase()],
    /^spec\.procedure\.chart\.steps\[make\]\.subChart\.steps\[warm\]: temperature of formula standard is hot, which step make\/warm does not take: hot is no REAL value for temperature$/,
    /which step make\/warm\/heat does not take: hot is no REAL value for target$/,
  ],
  ['an empty value, which the batch gives', [formula(temperature({ value: '' })), operation(), phase()]],
  [
    'a value of a binding',
    [bound({ name: 'temperature', value: '7' }), operation(), phase()],
    'spec.procedure.chart.steps[make].subChart.steps[warm]: parameter temperature of step make/warm is 7, which step make/warm/heat does not take: target 7 is outside 20 to 90 degC',
    'spec.formulas[0].parameters[0].name: no step takes parameter temperature of formula standard: bind a parameter of a step to it, or leave it out',
  ],
  [
    'a parameter in another unit, also behind a template that names none',
    [formula(temperature({ engineeringUnit: 'K' })), operation({ parameters: [{ name: 'temperature', defaultValue: '40' }] }), phase()],
    'spec.procedure.chart.steps[make].subChart.steps[warm]: temperature of formula standard is in K and goes to parameter target of step make/warm/heat, which is in degC: nothing converts it, the number is taken as it is',
  ],
  [
    'a parameter that no step takes',
    [formula(temperature(), { name: 'temprature', value: '50' }), operation(), phase()],
    'spec.formulas[0].parameters[1].name: no step takes parameter temprature of formula standard: bind a parameter of a step to it, or leave it out',
  ],
  [
    'a parameter that a condition takes is taken',
    [
      recipe({
        formulas: [{ name: 'standard', parameters: [temperature(), { name: 'twice', value: 'TRUE' }] }],
        procedure: {
          chart: {
            steps: [unitProcedure({ initial: true }), unitProcedure({ name: 'again' })],
            transitions: [{ from: 'make', to: 'again', conditionST: "twice = 'TRUE'" }],
          },
        },
      }),
      operation(),
      phase(),
    ],
  ],
  [
    'a capability that no step asks for, and one that is not listed',
    [capable([{ capability: 'mixin' }]), operation(), phase()],
    'spec.equipmentRequirements[0].capability: no step of the procedure asks for capability mixin, so what is said of it has no effect; steps ask for mixing (the nearest is mixing)',
    'spec.procedure.chart.steps[make].targetCapability: step make asks for capability mixing, which equipmentRequirements does not list: any unit of the site that has it is taken; listed are mixin (the nearest is mixin)',
  ],
  ['a recipe that lists no equipment', [capable([]), operation(), phase()]],
  ['a recipe that lists what it asks for', [capable([{ capability: 'mixing' }]), operation(), phase()]],
  [
    'a nominal size that no batch may have',
    [recipe({ batchSize: { nominal: '10', min: '20', max: '30', engineeringUnit: 'kg' } }), operation(), phase()],
    'spec.batchSize.nominal: the nominal batch size 10 is outside 20 to 30 kg',
  ],
  [
    'a signal in a condition of the procedure',
    [
      recipe({
        procedure: {
          chart: { steps: [unitProcedure({ initial: true }), unitProcedure({ name: 'again' })], transitions: [{ from: 'make', to: 'again', conditionST: "READ('signal:ful')" }] },
        },
      }),
      operation(),
      phase(),
    ],
    "spec.procedure.chart.transitions[0].conditionST: line 1, READ('signal:ful'): no coordination block of the site has a signal ful",
  ],
  [
    'a signal in many conditions, once',
    [
      recipe({
        procedure: {
          chart: {
            steps: ['make', 'again', 'more'].map((name, at) => unitProcedure({ name, initial: at === 0 })),
            transitions: [
              { from: 'make', to: 'again', conditionST: "READ('signal:ful')" },
              { from: 'again', to: 'more', conditionST: "NOT READ('signal:ful')" },
            ],
          },
        },
      }),
      operation(),
      phase(),
    ],
    "spec.procedure.chart.transitions[0].conditionST: line 1, READ('signal:ful'): no coordination block of the site has a signal ful; it stands in one more place",
  ],
  ['a recipe of which a template is still to come', [formula({ name: 'unknown', value: '5' })]],
];

for (const [title, manifests, ...told] of ROWS) {
  t.test(`told: ${title}`, async (t) => {
    for (const judged of [await online(manifests), await offline(manifests)]) {
      t.match(judged, [told, ...manifests.slice(1).map(() => [])]);
      t.strictSame(
        judged.map(({ length }) => length),
        [told.length, ...manifests.slice(1).map(() => 0)],
        'and nothing else',
      );
    }
  });
}

t.test('a signal whose pattern the recipe does not name is unknown in its batches', async (t) => {
  const endpoint = { kind: 'Phase', name: 'make/warm/heat' };
  const full = manifest('CoordinationBlock', 'filled', { mode: 'Signal', signal: { signalName: 'full', producer: endpoint, consumers: [endpoint] } });
  const reads = phase(action("WRITE('inlet.cmd', READ('SIGNAL:full'));"));
  const [told] = await online([recipe(), operation(), reads, full]);
  t.strictSame(told, [
    'spec.coordinationRefs: PhaseTemplate heat reads SIGNAL:full, and coordinationRefs does not name the CoordinationBlock filled: no batch of the recipe knows it',
  ]);
  t.strictSame(await online([recipe({ coordinationRefs: [{ kind: 'CoordinationBlock', name: 'filled' }] }), operation(), reads, full]), [[], [], [], []]);
});

t.test('a phase that names a module of another unit than the one it runs on', async (t) => {
  const other = manifest('Unit', 'kneader', { processCellName: 'cell', capabilities: ['mixing'] });
  const far = manifest('ControlModule', 'xv2', { templateRef: 'valve', parentName: 'kneader' });
  const names = phase({ roles: [], ...action("WRITE('xv2.cmd', TRUE);") });
  const on = (defaultUnit: string) => capable([{ capability: 'mixing', defaultUnit, defaultUnitOnly: true }]);
  const [told] = await online([on('mixer'), operation(), names, other, far]);
  t.strictSame(told, ['spec.procedure.chart: phase template heat names xv2 of unit kneader, and may run on unit mixer for capability mixing: declare a role and bind it there']);
  t.strictSame((await online([on('kneader'), operation(), names, other, far]))[0], []);
  t.match((await online([recipe(), operation(), names, other, far]))[0], told, 'of a class, the units that may be taken and do not have it');
  const both = phase({ roles: [], ...action("WRITE('xv1.cmd', TRUE); WRITE('xv2.cmd', TRUE);") });
  t.strictSame(
    (await online([recipe(), operation(), both, other, far]))[0],
    [
      'spec.procedure.chart: phase template heat names xv1 of unit mixer, xv2 of unit kneader, and may run on units kneader, mixer for capability mixing: declare a role and bind it there',
    ],
    'one sentence for all units and modules',
  );
});

t.test('a recipe that is taken is told of where it is read and signed; a template that changes it tells so, once', async (t) => {
  await online([recipe({ productID: 'W' }), operation(), phase()], '');
  const hot = phase({ parameters: [{ ...LIMITED, min: '70' }] });
  const hurt = 'Draft recipe warm-water: temperature of formula standard is 60, which step make/warm/heat does not take: target 60 is outside 70 to 90 degC';
  const default40 = (min: number): string => `OperationTemplate warm: parameter temperature is 40, which step heat does not take: target 40 is outside ${min} to 90 degC`;
  t.strictSame(await online([hot]), [[default40(70), hurt]]);
  t.strictSame(await online([hot], ''), [[default40(70), hurt]]);
  t.strictSame(await online([phase({ parameters: [{ ...LIMITED, min: '70' }], description: 'as bad as before' })]), [[]]);
  const note = hurt.replace('Draft recipe warm-water: ', '');
  const master = '/api/v1/sites/north/recipes/master/warm-water';
  t.strictSame(
    ((await admin.get(master)).body as { notes: string[] }).notes.filter((each) => /take/.test(each)),
    [note],
    'by what the recipe gives, and not by the default of the operation',
  );
  for (const step of ['approve', 'release', 'activate']) t.match(await supervisor.post(`${master}/${step}`, { reason: 'reviewed' }), { status: 200, body: { warnings: [note] } });
  t.strictSame(await online([phase({ parameters: [{ ...LIMITED, min: '80' }] })]), [[default40(80)]], 'what is released runs with the templates that it was released with');
  t.notOk(((await supervisor.post(`${master}/withdraw`, { reason: 'over' })).body as { warnings?: unknown }).warnings);
});

t.test('who signs is told of a signal inside an operation, and of the template that is confirmed', async (t) => {
  const twice = (address: string) => ({
    chart: {
      steps: ['heat', 'again'].map((name, at) => ({ name, initial: at === 0, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'mild' })),
      transitions: [{ from: 'heat', to: 'again', conditionST: `READ('${address}')` }],
    },
  });
  const ofOwn = { ...ofOperation, templateRef: 'waiting' };
  const waits = (address: string) => ({ ...operation({ parameters: [], ...twice(address) }), metadata: { name: 'waiting', namespace: 'site-north' } });
  const mild = { ...phase(), metadata: { name: 'mild', namespace: 'site-north' } };
  const master = '/api/v1/sites/north/recipes/master/waiting-water';
  const made = recipe(
    { productID: 'V', formulas: [{ name: 'standard', parameters: [] }], procedure: { chart: { steps: [unitProcedure({ subChart: { steps: [ofOwn] } })] } } },
    'waiting-water',
  );
  await online([mild, waits('signal:ful'), made], '');
  const told = (address: string) => [`OperationTemplate waiting: line 1, READ('${address}'): no coordination block of the site has a signal ${address.slice(7)}`];
  for (const step of ['approve', 'release', 'activate'])
    t.match(await supervisor.post(`${master}/${step}`, { reason: 'reviewed' }), { status: 200, body: { warnings: told('signal:ful') } }, step);
  await online([waits('signal:empty')], '');
  const [{ present }] = ((await admin.get(master)).body as unknown as { templateChanges: readonly [{ present: string }] }).templateChanges;
  t.match(await supervisor.post(`${master}/confirm-templates`, { reason: 'reviewed', confirm: [present] }), { status: 200, body: { warnings: told('signal:empty') } });
});

t.test('a list of warnings has an end', async (t) => {
  const parameters = Array.from({ length: 14 }, (_, index) => ({ name: `p${index}`, value: '1' }));
  const [told = []] = await online([recipe({ formulas: [{ name: 'standard', parameters: [temperature(), ...parameters] }] }, 'cold-water'), operation(), phase()]);
  t.equal(told.length, 11);
  t.equal(told.at(-1), 'and 4 more of this kind');
});
