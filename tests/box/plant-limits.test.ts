/** The limits of a hardware profile, over the real pipeline: what is refused, what goes on, and what two callers at once get. */
import t from 'tap';
import { plantSize, plantSizeAfter } from '../../src/appliance/plant-counts.js';
import { beyondLimits, limitPlant } from '../../src/appliance/plant-limits.js';
import type { Limits, Profile } from '../../src/box/profile.js';
import { ControlModule } from '../../src/domains/control-modules/kind.js';
import { readableTags } from '../../src/domains/control-modules/merge.js';
import { resolvedModuleOf } from '../../src/domains/control-modules/modules.js';
import { ControlProgram } from '../../src/domains/logic/kind.js';
import { startPlantGateway } from '../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const UNITS = '/api/v1/sites/north/units';
await engineer.post('/api/v1/sites', { name: 'north' });
for (const name of ['u1', 'u2']) await engineer.post(UNITS, { name, scanInterval: '20ms' });
const tags = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `t${at}`, dataType: 'Float' }));
await engineer.post('/api/v1/controlmoduletemplates', { name: 'two', tags: tags(2) });
const MODULES = '/api/v1/sites/north/controlmodules';
const module = (name: string) => ({ name, parentName: 'u1', parentKind: 'Unit', templateRef: 'two' });
await engineer.post(MODULES, module('m1'));

const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = { units: 3, tags: 4, streams: 10, scanIntervalMinMs: 50, historianDiskShare: 0.5 };
const profile: Profile = { name: 'tiny', title: 'tiny', verified: true, basis: 'test', match: {}, limits, hardware: { serialPorts: [], network: [] } };
limitPlant(profile, plant.store, { warn: () => undefined });
const unit = (name: string) => ({ apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Unit', metadata: { name, namespace: 'site-north' }, spec: {} });

t.test('a unit too many is 409 with a sentence that names profile, limit and way; what was asked for is on record', async (t) => {
  t.equal((await engineer.post(UNITS, { name: 'u3' })).status, 201);
  const refused = await engineer.post(UNITS, { name: 'u4' });
  t.match(refused, {
    status: 409,
    body: {
      code: 'profile_limit',
      profile: 'tiny',
      what: 'units',
      limit: 3,
      wanted: 4,
      error: /would have 4 units, and this box takes 3 \(hardware profile tiny\): delete a unit/,
    },
  });
  t.match(plant.audits.at(-1), { action: 'Create', result: 'Rejected' });
  t.equal((await engineer.put(`${UNITS}/u3`, { description: 'changed' })).status, 200, 'what is there is edited');
  t.equal((await engineer.delete(`${UNITS}/u3`)).status, 204);
});

t.test('apply: manifests that together are too many are refused together, and nothing of them is stored', async (t) => {
  const refused = await engineer.post('/api/v1/apply', [unit('u3'), unit('u4')]);
  t.match(refused, { status: 409, body: { code: 'profile_limit', what: 'units', wanted: 4 } });
  const diff = await engineer.post('/api/v1/apply?diff=true', [unit('u3'), unit('u4')]);
  t.match(diff, { status: 409, body: { code: 'profile_limit' } }, 'a diff too: it is not for what the plant does now');
  t.same(
    (await engineer.get(UNITS)).body.map(({ name }: { name: string }) => name),
    ['u1', 'u2'],
  );
  t.equal((await engineer.post('/api/v1/apply', [unit('u3')])).status, 200);
  t.equal((await engineer.delete(`${UNITS}/u3`)).status, 204);
});

t.test('of creates at once only as many get through as there is room for', async (t) => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, at) => engineer.post(UNITS, { name: `race${at}` })));
  t.same(made.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)]);
  t.equal(plantSize(plant.store).units, 3);
});

t.test('tags are counted where they come from: modules, the template of many, and programs', async (t) => {
  t.equal(plantSize(plant.store).tags, 2);
  t.equal((await engineer.post(MODULES, module('m2'))).status, 201);
  t.match(await engineer.post(MODULES, module('m3')), {
    status: 409,
    body: { code: 'profile_limit', what: 'tags', limit: 4, wanted: 6, error: /take out tags that nobody reads/ },
  });
  t.match(await engineer.put('/api/v1/controlmoduletemplates/two', { tags: tags(3) }), { status: 409, body: { what: 'tags', wanted: 6 } }, 'one tag more in each of two modules');
  const program = {
    metadata: { name: 'p1' },
    spec: {
      unitRef: 'u1',
      scanInterval: '100ms',
      blocks: [{ name: 'double', type: 'MUL', params: { IN2: 2 } }],
      variables: [{ name: 'x', dataType: 'REAL', direction: 'output' }],
      variableBindings: [{ variable: 'x', blockRef: 'double', portRef: 'OUT' }],
    },
  };
  t.match(await engineer.post('/api/v1/sites/north/fbnetworks', program), { status: 409, body: { what: 'tags', wanted: 5 } });
  t.equal((await engineer.put('/api/v1/controlmoduletemplates/two', { tags: tags(1) })).status, 200);
  t.equal((await engineer.post('/api/v1/sites/north/fbnetworks', program)).status, 201, 'there is room now');
  t.equal(plantSize(plant.store).tags, 3);
});

t.test('a scan interval that the box does not keep is refused where it is set; one that was there stays', async (t) => {
  const refused = await engineer.put(`${UNITS}/u2`, { scanInterval: '10ms' });
  t.match(refused, { status: 409, body: { code: 'profile_limit', field: 'scanInterval', limit: 50, wanted: 10, error: /name 50ms or more/ } });
  t.equal((await engineer.put(`${UNITS}/u2`, { description: 'still 20 ms' })).status, 200);
  t.equal((await engineer.put(`${UNITS}/u2`, { scanInterval: '50ms' })).status, 200);
  t.match(await engineer.put('/api/v1/controlmoduletemplates/two', { scanInterval: '10ms' }), { status: 409 });
});

t.test('a plant that has more than the profile promises goes on, is told, and may shrink and change', async (t) => {
  limits.units = 1;
  limits.tags = 1;
  t.match(beyondLimits(profile, plant.store), [/the plant has 3 units, and the hardware profile tiny promises 1: it goes on/, /the plant has 3 tags/]);
  t.equal((await engineer.put(`${UNITS}/u1`, { description: 'one of too many' })).status, 200);
  t.match(await engineer.post(UNITS, { name: 'u9' }), { status: 409 });
  t.equal((await engineer.delete(`${UNITS}/u2`)).status, 204);
  t.match(await engineer.post(UNITS, { name: 'u9' }), { status: 409 }, 'what went does not come back while there are too many');
});

t.test('each module is counted as the catalog lists it: tags of its own, renamed ones, tunable parameters, another template', async (t) => {
  limits.units = 10;
  limits.tags = 1000;
  const template = {
    name: 'tuned',
    blocks: [
      { name: 'limit', type: 'MUL', params: { IN2: 2 } },
      { name: 'other', type: 'MUL', params: { IN2: 3 } },
    ],
    tags: tags(3),
    parameters: [
      { name: 'gain', blockRef: 'limit', param: 'IN2', tunable: true },
      { name: 'fixed', blockRef: 'other', param: 'IN2' },
    ],
  };
  t.match(await engineer.post('/api/v1/controlmoduletemplates', template), { status: 201 });
  const own = [
    { name: 't0', engUnits: 'kg' },
    { name: 'extra', dataType: 'Float' },
  ];
  t.match(await engineer.post(MODULES, { ...module('tuned1'), templateRef: 'tuned', tags: own }), { status: 201 });
  const listed = () =>
    plant.store.list(ControlModule).reduce((sum, each) => {
      const resolved = resolvedModuleOf(plant.store, each);
      return sum + (resolved ? readableTags(resolved).length : 0);
    }, 0);
  const OF_PROGRAM = 1;
  t.equal(listed(), 2 + 5);
  t.equal(plantSize(plant.store).tags, listed() + OF_PROGRAM);
  t.equal((await engineer.put('/api/v1/controlmoduletemplates/tuned', { tags: tags(4) })).status, 200);
  t.equal(plantSize(plant.store).tags, listed() + OF_PROGRAM, 'after a change of the template');
  t.equal((await engineer.put(`${MODULES}/tuned1`, { templateRef: 'two' })).status, 200);
  t.equal(plantSize(plant.store).tags, listed() + OF_PROGRAM, 'after another template');
  t.equal((await engineer.put('/api/v1/controlmoduletemplates/tuned', { tags: tags(9) })).status, 200);
  t.equal(plantSize(plant.store).tags, listed() + OF_PROGRAM, 'which is its own no more');
  t.equal((await engineer.delete(`${MODULES}/tuned1`)).status, 204);
  t.equal(plantSize(plant.store).tags, listed() + OF_PROGRAM, 'after a delete');
});

t.test('a box that is full of tags takes the program that a module runs: it has the tags of its module', async (t) => {
  limits.tags = plantSize(plant.store).tags;
  const written = plant.store.get(ControlProgram, 'north', 'p1');
  if (!written) throw new Error('p1 is there');
  const put = { kind: ControlProgram, site: 'north', name: 'of-m1', spec: written.spec };
  t.throws(() => plant.store.judge({ puts: [put] }), /would have 4 tags, and this box takes 3/, 'one of its own has tags of its own');
  plant.store.judge({ puts: [{ ...put, ownerReferences: [{ kind: 'ControlModule', name: 'm1', uid: 'any' }] }] });
});

t.test('neither a look at the health nor a write counts the plant again', async (t) => {
  const [m1] = plant.store.list(ControlModule);
  if (!m1) throw new Error('m1 is there');
  let reads = 0;
  const counted = <Asked extends unknown[], Answer>(read: (...asked: Asked) => Answer) => {
    const bound = read.bind(plant.store);
    return (...asked: Asked) => {
      reads += 1;
      return bound(...asked);
    };
  };
  const { get, list } = plant.store;
  Object.assign(plant.store, { get: counted(get), list: counted(list) });
  t.teardown(() => Object.assign(plant.store, { get, list }));
  plantSize(plant.store);
  beyondLimits(profile, plant.store);
  t.equal(reads, 0);
  t.equal(plantSizeAfter(plant.store, { puts: [{ kind: ControlModule, site: 'north', name: 'new', spec: m1.spec }] }).tags, plantSize(plant.store).tags + 1);
  t.ok(reads <= 4, `${reads} reads for a module more`);
});
