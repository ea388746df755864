/** What would keep a batch from starting, and who can lift it (contract 3, Recipes and records; decisions Q-RECIPE-28). */
import t from 'tap';
import { parse } from 'valibot';
import { Batch, BatchSpec } from '../../../src/domains/batches/kind.js';
import { PREFLIGHT_CHECKS, refuseRequest, type StartCondition } from '../../../src/domains/batches/start/conditions.js';
import { type EquipmentLook, RUNTIME_READY, UNITS_AUTOMATIC } from '../../../src/domains/batches/start/equipment-conditions.js';
import { preflight } from '../../../src/domains/batches/start/preflight.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { batchParameters } from '../../../src/domains/batches/creation/parameters.js';
import { checkStart, startPuts } from '../../../src/domains/batches/start/start.js';
import type { StartFacts } from '../../../src/domains/batches/start/start-conditions.js';
import { MasterRecipe, MasterRecipeSpec } from '../../../src/domains/recipes/kind.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const { store } = plant;
const engineer = await plant.as('engineer');
const SITE = '/api/v1/sites/demo';
await engineer.post('/api/v1/demo/provision');

interface Machine {
  readonly down?: readonly string[];
  readonly production?: boolean;
  readonly full?: boolean;
}

function factsOf({ down = [], production = true, full = false }: Machine = {}): StartFacts {
  const link = (_site: string, unit: string) => ({ unit, ready: !down.includes(unit), refresh: () => false, tagIndex: () => -1 }) as unknown as UnitLink;
  return { store, production, storageLow: () => full, runtimes: { link, links: () => [], onMessage: () => undefined, onChange: () => undefined } };
}

function look(spec: object, machine: Machine = {}) {
  return preflight(factsOf(machine), 'demo', { name: 'b-new' }, parse(BatchSpec, { batchID: 'NEW', masterRecipeRef: 'resin-a', ...spec }));
}

function blockers(found: ReturnType<typeof look>, check: string) {
  const rows = found.checks.filter((row) => row.check === check && !row.ok);
  for (const { message, told } of rows) if (!told) throw new Error(`the pages have no words for it, it has no code: ${message}`);
  return rows;
}

t.test('BATCH-02: a batch that may start passes every check', async (t) => {
  const found = look({});
  t.equal(found.ok, true);
  t.same([...new Set(found.checks.map(({ check }) => check))], PREFLIGHT_CHECKS);
  const devices = found.checks.filter(({ check }) => check === 'devices');
  t.ok(
    devices.every(({ severity, message }) => severity === 'warning' && /raises no alarm/.test(message)),
    'ADR 0029: the demonstration has alarms on the valves of its reactor only',
  );
  t.ok(found.checks.filter((row) => !devices.includes(row)).every(({ ok, message, liftedBy }) => ok && message === '' && liftedBy === undefined));
  t.ok(found.parameters.length > 0 && found.allocations.every(({ available }) => available));
});

t.test('a default unit that does not exist is a warning, with the unit that would be taken; one that the batch names is its choice', async (t) => {
  const recipe = store.get(MasterRecipe, 'demo', 'resin-a');
  t.ok(recipe);
  if (!recipe) return;
  const capability = 'react';
  const spec = { ...recipe.spec, equipmentRequirements: [{ capability, description: '', defaultUnit: 'rx909', defaultUnitOnly: false }] };
  const absent = async (equipment: object) => {
    await store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'resin-a', spec } as Put] });
    const found = blockers(look({ equipment }), 'equipment').filter(({ element }) => element === 'rx909');
    await store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'resin-a', spec: recipe.spec } as Put] });
    return found;
  };
  t.match(await absent({}), [{ severity: 'warning', message: /^unit rx909, which the recipe names as the default unit of react, does not exist; rx\d+ would be taken$/ }]);
  t.same(await absent({ react: 'rx101' }), []);
});

t.test('Q-RECIPE-28: every blocker is named with who can lift it', async (t) => {
  const unit = store.get(Unit, 'demo', 'rx101');
  const spec = parse(BatchSpec, { batchID: 'NEW', masterRecipeRef: 'resin-a' });
  await store.write({
    puts: [
      { kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, allocatedTo: 'b-other', state: 'Running' } } as Put,
      { kind: Batch, site: 'demo', name: 'b-other', spec } as Put,
    ],
  });
  const parameters = [
    { name: 'reactTemp', value: '95' },
    { name: 'solventAmount', value: '17' },
    { name: 'nobody', value: '1' },
  ];
  const found = look({ parameters, quantity: '99', equipment: { premix: 'gone' } }, { down: ['rx101', 'tk201'], full: true });
  t.equal(found.ok, false);
  t.match(blockers(found, 'batch-id'), [{ element: 'b-other', message: 'batchID NEW is used by batch b-other', liftedBy: { tier: 'operate' } }]);
  t.same(
    blockers(found, 'formula-limits').map(({ element }) => element),
    ['monomerAmount', 'solventAmount', 'reactTemp', 'nobody'],
    'the monomer by its scaling',
  );
  t.match(blockers(found, 'batch-size'), [{ severity: 'error', message: /quantity 99 is outside/, liftedBy: { tier: 'operate' } }]);
  t.match(blockers(found, 'equipment'), [
    { element: 'gone', message: 'unit gone does not exist', liftedBy: { tier: 'engineer' } },
    { element: 'rx101', message: 'unit rx101 is taken by NEW', liftedBy: { tier: 'operate', holder: 'b-other', action: 'wait for NEW, or end it with Stop or Abort' } },
  ]);
  t.match(
    blockers(found, 'runtime-ready').map(({ element, liftedBy }) => [element, liftedBy?.tier]),
    [
      ['rx101', 'engineer'],
      ['tk201', 'engineer'],
    ],
  );
  t.ok(blockers(found, 'bindings').length > 0, 'a unit that does not exist binds nothing');
  t.match(blockers(found, 'storage'), [{ liftedBy: { tier: 'admin' } }]);
  t.same(found.parameters, []);
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status } } as Put], removes: [{ kind: 'Batch', site: 'demo', name: 'b-other' }] });
});

t.test('a module whose channel leads nowhere is told before Start, which is judged without it', async (t) => {
  const stored = store.get(ControlModule, 'demo', 'tic101');
  const tags = stored?.spec.tags.map((tag) => (tag.channel === undefined ? tag : { ...tag, channel: 'gone:x' }));
  t.match(blockers(look({}), 'configuration'), []);
  await store.write({ puts: [{ kind: ControlModule, site: 'demo', name: 'tic101', spec: { ...stored?.spec, tags } } as Put] });
  const found = look({});
  t.equal(found.ok, true, 'it is a warning');
  t.match(blockers(found, 'configuration'), [
    { severity: 'warning', element: 'tic101', message: /^tic101: tag \w+ needs I\/O module gone, which does not exist/, liftedBy: { tier: 'engineer' } },
  ]);
  t.equal(blockers(found, 'configuration').length, 1, 'once');
  await store.write({ puts: [{ kind: ControlModule, site: 'demo', name: 'tic101', spec: stored?.spec } as Put] });
});

t.test('decisions 3.5: a module in Manual that a phase writes is told before Start, which is judged without it; a unit in Manual keeps it from starting', async (t) => {
  const set = async (kind: typeof ControlModule | typeof Unit, name: string, mode: string): Promise<void> => {
    const stored = store.get(kind as typeof Unit, 'demo', name);
    await store.write({ puts: [{ kind, site: 'demo', name, spec: { ...stored?.spec, mode } } as Put] });
  };
  t.match(blockers(look({}), 'modes'), []);
  for (const name of ['tic101', 'li101']) await set(ControlModule, name, 'Manual');
  const found = look({});
  t.equal(found.ok, true, 'it is a warning');
  t.match(blockers(found, 'modes'), [
    {
      severity: 'warning',
      element: 'tic101',
      message: /^tic101 is in Manual, and phase makeResin\/[\w/]+ writes \w+\.\w+: it is held when it comes to step \w+ \(write-mode-manual\)$/,
      liftedBy: { tier: 'operate', action: 'set tic101 to Automatic or Semi-Automatic' },
    },
  ]);
  t.equal(blockers(found, 'modes').length, 1, 'once, and what is only read stops nobody');
  t.equal(checkStart({ metadata: { site: 'demo', name: 'b-new' }, spec: parse(BatchSpec, { batchID: 'NEW', masterRecipeRef: 'resin-a' }) } as never, factsOf()).rule, '');
  await set(ControlModule, 'tic101', 'Semi-Automatic');
  t.match(blockers(look({}), 'modes'), [], 'phases may write in Semi-Automatic');
  for (const name of ['tic101', 'li101']) await set(ControlModule, name, 'Automatic');

  await set(Unit, 'rx101', 'Manual');
  t.match(blockers(look({}), 'equipment'), [{ severity: 'error', element: 'rx101', message: 'unit rx101 is in Manual', liftedBy: { action: 'set unit rx101 to Automatic' } }]);
  await set(Unit, 'rx101', 'Automatic');
});

t.test('decisions 3.2: what preflight names keeps Start from starting, and the first rule in the order of the decisions refuses it', (t) => {
  const cases: readonly (readonly [rule: string, check: string, spec: object, machine: Machine])[] = [
    ['', '', {}, {}],
    ['recipe-withdrawn', 'recipe-effective', { masterRecipeRef: 'nothing' }, {}],
    ['allocation-unavailable', 'equipment', { equipment: { premix: 'gone' } }, { down: ['rx101'], full: true }],
    ['runtime-not-ready', 'runtime-ready', { quantity: '99' }, { down: ['rx101'] }],
    ['formula-out-of-range', 'batch-size', { quantity: '99' }, { full: true }],
    ['formula-out-of-range', 'formula-limits', { parameters: [{ name: 'nobody', value: '1' }] }, {}],
    ['mode-manual', 'equipment', { mode: 'Manual' }, { full: true }],
    ['storage-low', 'storage', {}, { full: true }],
  ];
  for (const [rule, check, given, machine] of cases) {
    const spec = parse(BatchSpec, { batchID: 'NEW', masterRecipeRef: 'resin-a', ...given });
    const start = checkStart({ metadata: { site: 'demo', name: 'b-new' }, spec } as never, factsOf(machine));
    const found = look(given, machine);
    t.equal(start.rule, rule, JSON.stringify(given));
    t.equal(found.ok, rule === '');
    if (check !== '')
      t.ok(
        blockers(found, check).some(({ severity }) => severity === 'error'),
        `${rule} stands under ${check}`,
      );
  }
  t.end();
});

t.test('ADR 0014: a start makes no element that is there already, nor two of one name', async (t) => {
  const spec = parse(BatchSpec, { batchID: 'NEW', masterRecipeRef: 'resin-a' });
  const batch = { metadata: { site: 'demo', name: 'b-new', uid: 'its own' }, spec } as never;
  const start = checkStart(batch, factsOf());
  if (!('plan' in start)) throw new Error(start.message);
  const { puts } = startPuts(batch, start.plan, store);
  const written = puts.find(({ kind, name }) => kind.kind === 'UnitProcedure' && name === 'b-new-makeresin');
  if (!written) throw new Error(puts.map(({ name }) => name).join(' '));
  const owned = async (owner: string, uid: string) => store.write({ puts: [{ ...written, ownerReferences: [{ kind: 'Batch', name: owner, uid }] }] });
  t.teardown(() => store.write({ removes: [{ kind: 'UnitProcedure', site: 'demo', name: written.name }] }));
  await owned('b', 'of another');
  const message = 'UnitProcedure b-new-makeresin, which the batch would make, belongs to Batch b';
  t.match(checkStart(batch, factsOf()), { rule: 'name-in-use', message });
  t.match(blockers(look({}), 'batch-id'), [{ element: 'b-new-makeresin', message, liftedBy: { tier: 'operate', action: 'make the batch under another name, or delete b' } }]);
  await owned('b-new', 'its own');
  t.equal(checkStart(batch, factsOf()).rule, '', 'its own are not in its way');
  await store.write({ puts: [{ ...written, ownerReferences: [] }] });
  t.match(blockers(look({}), 'batch-id'), [{ element: 'b-new-makeresin', message: /exists already/, liftedBy: { tier: 'engineer' } }]);

  const phases = { steps: [{ name: 'fill', initial: true, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'charge' }] };
  const unitProcedure = (name: string, operation: string) => ({
    name,
    initial: true,
    stepLevel: 'UnitProcedure',
    targetCapability: 'react',
    subChart: { steps: [{ name: operation, initial: true, stepLevel: 'Operation', subChart: phases }] },
  });
  const shared = parse(MasterRecipeSpec, {
    procedure: { chart: { steps: [unitProcedure('a', 'b_c'), unitProcedure('a_b', 'c')] } },
    coordinationRefs: ['odd', 'odd'].map((name) => ({ kind: 'SyncBarrier', name })),
  });
  await store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'shared', spec: shared } as Put] });
  const found = blockers(look({ masterRecipeRef: 'shared' }), 'charts').map(({ message: said }) => said);
  t.ok(found.includes('steps a/b_c and a_b/c would both be Operation b-new-a-b-c'), found.join('\n'));
  t.notOk(
    found.some((said) => said.includes('SyncBarrier')),
    'a pattern that is named twice is written once',
  );
  t.ok(found.includes('steps a/b_c/fill and a_b/c/fill would both be Phase b-new-a-b-c-fill'), found.join('\n'));
});

t.test('contract 2, Command rules: a request is refused by the same conditions, with the members of its error body', (t) => {
  const refusal = (conditions: readonly StartCondition<EquipmentLook>[], machine: Machine): unknown => {
    try {
      refuseRequest(conditions, { ...factsOf(machine), site: 'demo', units: ['rx101', 'mx101'], isOnDemand: false });
      return 'taken';
    } catch (fault) {
      return fault;
    }
  };
  t.equal(refusal([RUNTIME_READY, UNITS_AUTOMATIC], {}), 'taken');
  t.match(refusal([RUNTIME_READY], { down: ['rx101', 'mx101'] }), {
    kind: 'conflict',
    message: 'the runtime of mx101, rx101 is not ready',
    context: { code: 'runtime_not_ready', units: ['mx101', 'rx101'] },
  });
  const inManual: StartCondition<EquipmentLook> = {
    ...UNITS_AUTOMATIC,
    find: () => [{ message: 'unit rx101 is in Manual', liftedBy: { tier: 'operate', action: 'set it' }, context: { unit: 'rx101' } }],
  };
  t.match(refusal([inManual], {}), { context: { code: 'mode_manual', unit: 'rx101' } });
  t.end();
});

t.test('Q-RECIPE-28: an unfinished recipe names its way to Effective; in development that is only a warning', async (t) => {
  const step = { name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', templateKind: 'UnitProcedureTemplate', templateRef: 'nothing' };
  const participants = ['up', 'up/nowhere'].map((name) => ({ kind: 'UnitProcedure', name }));
  const barrier = { apiVersion: 'control.lineside.io/v1alpha1', kind: 'SyncBarrier', metadata: { name: 'odd', namespace: 'site-demo' }, spec: { participants } };
  t.equal((await engineer.post('/api/v1/apply', barrier)).status, 200);
  const coordinationRefs = ['lost', 'odd'].map((name) => ({ kind: 'SyncBarrier', name }));
  t.equal((await engineer.post(`${SITE}/recipes/master`, { name: 'draft', spec: { procedure: { chart: { steps: [step] } }, coordinationRefs } })).status, 201);
  const found = look({ masterRecipeRef: 'draft' });
  t.match(blockers(found, 'recipe-effective'), [
    { severity: 'error', message: 'recipe is Draft', liftedBy: { tier: 'supervise', action: 'approve, release, activate recipe draft' } },
  ]);
  t.match(blockers(found, 'charts'), [{ message: 'step up names UnitProcedureTemplate nothing, which does not exist', liftedBy: { tier: 'engineer' } }]);
  t.match(blockers(found, 'coordination')[0], { element: 'lost', message: 'SyncBarrier lost does not exist', liftedBy: { tier: 'engineer' } });
  t.match(blockers(found, 'coordination').at(-1), { severity: 'warning', element: 'up/nowhere', message: /names step up\/nowhere/ });
  const whole = { name: 'whole', spec: { procedure: { chart: { steps: [{ ...step, templateRef: 'clean-reactor-up' }] } } } };
  t.equal((await engineer.post(`${SITE}/recipes/master`, whole)).status, 201);
  t.match(look({ masterRecipeRef: 'whole' }, { production: false }), { ok: true, checks: [{ check: 'recipe-effective', ok: false, severity: 'warning' }] });
  t.match(look({ masterRecipeRef: 'whole' }), { ok: false });
  t.match(look({ masterRecipeRef: 'nothing' }), { ok: false, checks: [{ check: 'recipe-effective', liftedBy: { tier: 'engineer' } }] });
});

t.test('decisions 3.3: units of an OnDemand recipe are waited for, so who holds one is a warning', async (t) => {
  const unit = store.get(Unit, 'demo', 'rx101');
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, allocatedTo: 'b-other', state: 'Running' } } as Put] });
  const { spec } = (await engineer.get(`${SITE}/recipes/master/whole`)).body;
  t.equal((await engineer.put(`${SITE}/recipes/master/whole`, { spec: { ...spec, allocation: 'OnDemand' } })).status, 200);
  const found = look({ masterRecipeRef: 'whole' }, { production: false });
  t.match(blockers(found, 'equipment'), [{ severity: 'warning', element: 'rx101', liftedBy: { holder: 'b-other' } }]);
  t.equal(found.ok, true);
});

t.test('Decisions 1.7, 8.6: a scaled value is value * quantity / nominal, in at most 15 digits', async (t) => {
  const recipe = parse(MasterRecipeSpec, {
    productID: 'P',
    batchSize: { nominal: '28', engineeringUnit: 'kg' },
    formulas: [{ name: 'f', parameters: ['20', '0.1'].map((value, n) => ({ name: `p${n}`, value, scaled: true })) }],
  });
  const scaled = (quantity: string): string[] => batchParameters(recipe, { formulaName: '', quantity, parameters: [] }).map(({ value }) => value);
  t.same(scaled('35.7'), ['25.5', '0.1275'], 'with a factor of 1.275 it is 25.500000000000004');
  t.same(scaled('28.0'), ['20', '0.1']);
  t.same(scaled('1'), ['0.714285714285714', '0.00357142857142857']);
});

t.test('D-C-12: of several units that can do it none has to be named: preflight names all of them, and a start takes the first that is free', async (t) => {
  const unit = store.get(Unit, 'demo', 'mx101');
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'mx102', spec: { ...unit?.spec } } as Put] });
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...store.get(Unit, 'demo', 'rx101')?.status, allocatedTo: '', state: 'Idle' } } as Put] });
  const recipe = store.get(MasterRecipe, 'demo', 'resin-a')!;
  const equipmentRequirements = recipe.spec.equipmentRequirements.map((requirement) => ({ ...requirement, defaultUnit: '' }));
  const recipeOf = (name: string, allocation: string, more: object = {}) =>
    ({
      kind: MasterRecipe,
      site: 'demo',
      name,
      spec: { ...recipe.spec, equipmentRequirements: equipmentRequirements.map((each) => (each.capability === 'premix' ? { ...each, ...more } : each)), allocation },
      status: recipe.status,
    }) as Put;
  await store.write({ puts: [recipeOf('class', 'OnDemand'), recipeOf('class-at-start', 'AtStart'), recipeOf('big', 'OnDemand', { volumeMin: '100' })] });
  const facts: StartFacts = { ...factsOf(), production: false, runsUnfitValues: true };
  const start = (spec: object) => checkStart({ metadata: { site: 'demo', name: 'b-class' }, spec: parse(BatchSpec, { batchID: 'CLASS', ...spec }) } as never, facts);

  const found = look({ masterRecipeRef: 'class' }).allocations.find(({ capability }) => capability === 'premix');
  t.match(found, {
    unit: 'mx101',
    available: true,
    policy: 'least-recently-used',
    candidates: [
      { unit: 'mx101', fits: true, available: true, holder: '', reason: '' },
      { unit: 'mx102', fits: false, available: false, reason: /^step .*, role .*: / },
    ],
  });
  t.match(blockers(look({ masterRecipeRef: 'big' }), 'equipment'), [
    { element: 'premix', message: /no unit fits for capability premix: unit mx101 has no property volume; unit mx102 has no property volume/, liftedBy: { tier: 'engineer' } },
  ]);
  const taken = start({ masterRecipeRef: 'class-at-start' });
  t.match(taken, { rule: '', plan: { allocation: { premix: 'mx101' } } }, 'mx102 has no modules for the roles');
  t.equal(blockers(look({ masterRecipeRef: 'class', equipment: { premix: 'mx102' } }), 'bindings').length > 0, true, 'who names a unit that does not fit is told so');
});
