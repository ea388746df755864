/** Who of a class is taken, and what fits (D-C-12): the pure parts. What comes of them on a plant stands in tests/plant/classes.test.ts. */
import t from 'tap';
import { parse } from 'valibot';
import { served, type Waiter } from '../../../src/domains/batches/start/allocation-queue.js';
import { distributed, inOrder } from '../../../src/domains/batches/start/unit-class.js';
import type { UnitProperty, UnitUsage } from '../../../src/domains/plant/kind.js';
import { plannedUnits } from '../../../src/domains/recipes/binding-matrix.js';
import type { SiteUnits } from '../../../src/domains/recipes/bindings.js';
import { candidatesOf, propertyLacking } from '../../../src/domains/recipes/candidates.js';
import { EquipmentRequirement, MasterRecipe, MasterRecipeSpec } from '../../../src/domains/recipes/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const requirement = (more: object) => parse(EquipmentRequirement, { capability: 'react', ...more });

function units(names: readonly string[], able: readonly string[] = names, properties: Readonly<Record<string, UnitProperty[]>> = {}): SiteUnits {
  return {
    unit: (name) => (names.includes(name) ? { roleBindings: [], properties: properties[name] } : undefined),
    withCapability: () => able,
    modules: () => [],
  };
}

t.test('D-C-12: the units of a class go as they are listed, by how long ago or by how often they were used; of two alike the first by name', (t) => {
  const usage: Readonly<Record<string, UnitUsage>> = {
    r1: { count: 5, lastUsedAt: '2026-01-03T00:00:00.000Z', lastUsedVersion: 30 },
    r2: { count: 9, lastUsedAt: '2026-01-09T00:00:00.000Z', lastUsedVersion: 10 }, // the clock was ahead then
    r3: { count: 5, lastUsedAt: '2026-01-02T00:00:00.000Z', lastUsedVersion: 20 },
  };
  const order = (policy: Parameters<typeof inOrder>[0]) => inOrder(policy, ['r3', 'r9', 'r1', 'r2', 'r8'], (unit) => usage[unit]).join(' ');
  t.equal(order('listed'), 'r3 r9 r1 r2 r8');
  t.equal(order('least-recently-used'), 'r8 r9 r2 r3 r1', 'never used first; by the version of the store, which no clock moves');
  t.equal(order('least-used'), 'r8 r9 r1 r3 r2');
  t.end();
});

t.test('D-C-12: the most urgent request is served first, no unit twice, and one that is served elsewhere keeps nobody from the rest', (t) => {
  const waiter = (batch: string, units: string[]): Waiter => ({ batch, capability: 'react', priority: 100, since: '', isClass: units.length > 1, units });
  const rows: readonly [string, Waiter[], string[], Record<string, string>][] = [
    ['two and one unit', [waiter('a', ['r1', 'r2']), waiter('b', ['r1', 'r2'])], ['r2'], { a: 'r2' }],
    ['the class takes the other', [waiter('a', ['r2', 'r1']), waiter('b', ['r1'])], ['r1', 'r2'], { a: 'r2', b: 'r1' }],
    ['what the first one takes the second has not', [waiter('a', ['r1', 'r2']), waiter('b', ['r1'])], ['r1', 'r2'], { a: 'r1' }],
    ['nothing is free', [waiter('a', ['r1'])], [], {}],
  ];
  for (const [title, waiters, free, expected] of rows) {
    const found = served(waiters, (each) => each.units.filter((unit) => free.includes(unit)));
    t.same(Object.fromEntries([...found].map(([{ batch }, unit]) => [batch, unit])), expected, title);
  }
  t.end();
});

t.test('D-C-12: a start serves as many classes as there are units for, each by its policy where that is possible', (t) => {
  const found = distributed([
    { capability: 'react', units: ['r1', 'r2'] },
    { capability: 'store', units: ['r1'] },
    { capability: 'pack', units: ['r1', 'r2'] },
  ]);
  t.same(Object.fromEntries(found), { react: 'r2', store: 'r1' });
  t.same(Object.fromEntries(distributed([{ capability: 'react', units: ['r2', 'r1'] }])), { react: 'r2' });
  t.end();
});

t.test('D-C-12: a unit fits by its properties, and says which one does not', (t) => {
  const volume = [{ name: 'Volume', value: '500', engineeringUnit: 'L' }];
  const rows: readonly [object, UnitProperty[], string][] = [
    [{ volumeMin: '500' }, volume, ''],
    [{ volumeMin: '500.5' }, volume, 'volume of unit r1 is 500 L, less than 500.5'],
    [{ volumeMin: '1' }, [], 'unit r1 has no property volume'],
    [{ properties: [{ name: 'volume', max: '400' }] }, volume, 'volume of unit r1 is 500 L, more than 400'],
    [{ properties: [{ name: 'volume', min: '0.4', engineeringUnit: 'm3' }] }, volume, 'volume of unit r1 is 500 L, and the recipe asks for it in m3'],
    [{ properties: [{ name: 'lining', value: 'glass' }] }, [{ name: 'lining', value: 'steel' }], 'lining of unit r1 is steel, not glass'],
    [{ properties: [{ name: 'lining', min: '1' }] }, [{ name: 'lining', value: 'steel' }], 'lining of unit r1 is steel, which is no number'],
  ];
  for (const [asked, has, expected] of rows) t.equal(propertyLacking(requirement(asked), 'r1', has), expected, JSON.stringify(asked));
  t.end();
});

t.test('D-C-12: candidates are those that have the capability, or those that the recipe lists; a default unit comes first', (t) => {
  const names = (more: object, site = units(['r1', 'r2', 'r3'])) =>
    candidatesOf({ capability: 'react', requirement: requirement(more), leaves: [] }, site).map(({ unit, unfit }) => (unfit === '' ? unit : `${unit}: ${unfit}`));
  t.same(names({}), ['r1', 'r2', 'r3']);
  t.same(names({ defaultUnit: 'r2', defaultUnitOnly: false }), ['r2', 'r1', 'r3']);
  t.same(names({ candidates: ['r3', 'r1'] }), ['r3', 'r1']);
  t.same(names({ candidates: ['r3', 'r7'] }), ['r3', 'r7: unit r7 does not exist']);
  t.same(names({ candidates: ['r3', 'r1'] }, units(['r1', 'r3'], ['r1'])), ['r3: unit r3 does not have capability react', 'r1']);
  t.same(names({ defaultUnit: 'r3' }, units(['r1', 'r3'], ['r1'])), ['r3', 'r1'], 'the word of the recipe counts as before');
  t.end();
});

const chart = { steps: [{ name: 'make', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [] } }] };

t.test('D-C-12, ADR 0046: a default unit of an earlier release binds as it did; one that is written now binds where it says so', async (t) => {
  const planned = (more: object) => plannedUnits({ equipmentRequirements: [requirement(more)] }, { capabilities: ['react'], phases: [] }, units(['r1', 'r2'])).react;
  t.equal(planned({ defaultUnit: 'r2' }), 'r2', 'stored without the member');
  t.equal(planned({ defaultUnit: 'r2', defaultUnitOnly: true }), 'r2');
  t.equal(planned({ defaultUnit: 'r2', defaultUnitOnly: false }), '', 'a class');
  t.equal(planned({}), '');
  t.equal(planned({ candidates: ['r1'] }), 'r1', 'the only one is known beforehand');

  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const engineer = await plant.as('engineer');
  await engineer.post('/api/v1/demo/provision');
  const at = '/api/v1/sites/demo/recipes/master';
  const equipmentRequirements = [{ capability: 'react', defaultUnit: 'rx101' }];
  const only = async (name: string): Promise<unknown> => (await engineer.get(`${at}/${name}`)).body.spec.equipmentRequirements[0].defaultUnitOnly;
  t.equal((await engineer.post(at, { name: 'new', spec: { equipmentRequirements, procedure: { chart } } })).status, 201);
  t.equal(await only('new'), false, 'told, where nobody said it');

  const spec = parse(MasterRecipeSpec, { equipmentRequirements, procedure: { chart } });
  await plant.store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'old', spec } as Put] });
  const edited = await engineer.put(`${at}/old`, { spec: { ...spec, description: 'edited', equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx102' }] } });
  t.equal(edited.status, 200, edited.text);
  t.equal(await only('old'), undefined, 'an edit that does not name the member leaves it bound');
  const opened = await engineer.put(`${at}/old`, { spec: { ...spec, equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101', defaultUnitOnly: false }] } });
  t.equal(opened.status, 200, opened.text);
  t.equal(await only('old'), false);
  const refusals: readonly [object, RegExp][] = [
    [{ defaultUnitOnly: true }, /defaultUnitOnly$/],
    [{ candidates: ['rx101', 'rx101'] }, /candidates$/],
    [{ defaultUnit: 'rx101', candidates: ['rx102'] }, /candidates$/],
    [{ candidatePolicy: 'random' }, /candidatePolicy$/],
    [{ properties: [{ name: 'volume', min: '2', max: '1' }] }, /properties\[0\].min$/],
  ];
  for (const [more, field] of refusals)
    t.match(await engineer.post(at, { name: 'wrong', spec: { equipmentRequirements: [{ capability: 'react', ...more }], procedure: { chart } } }), {
      status: 400,
      body: { field },
    });
});
