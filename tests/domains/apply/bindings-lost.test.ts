/** What recipes in use lose by an apply is told by it, and its dry run, at once: not by the next Start (decisions 2.3, Q-ERR-13). */
import t from 'tap';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/demo/provision');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: specs of every kind
  readonly spec: any;
}

const exported = async (kind: string, name: string): Promise<Manifest> => {
  const { body } = await engineer.get(`/api/v1/export?kinds=${kind}`);
  const found = (body as Manifest[]).find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const apply = async (body: unknown, query = ''): Promise<readonly string[][]> => {
  const answer = await engineer.post(`/api/v1/apply${query}`, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return (Array.isArray(answer.body) ? answer.body : [answer.body]).map(({ warnings }: { warnings: string[] }) => warnings);
};
const edited = (manifest: Manifest, spec: object): Manifest => ({ ...manifest, spec: { ...manifest.spec, ...spec } });

t.test('a role that a unit no longer binds is told by the dry run and the apply, with the recipe and its step; what was lost before is not told again', async (t) => {
  const unit = await exported('Unit', 'rx101');
  t.same(await apply(edited(unit, { description: 'as good as before' })), [[]], 'an edit that binds the same says nothing');
  const roleBindings = (unit.spec.roleBindings as { role: string; controlModule: string }[]).map((each) =>
    each.role === 'waterInlet' ? { ...each, controlModule: 'xv999' } : each,
  );
  const wrong = edited(unit, { roleBindings });
  const at = roleBindings.findIndex(({ role }) => role === 'waterInlet');
  const wanted = [
    `spec.roleBindings[${at}]: role waterInlet of unit rx101 is bound to control module xv999, which does not exist`,
    /^Effective recipe clean-train 1\.0\.0 loses role \w+ of step [\w/]+ on unit rx101: role waterInlet is bound to xv999/,
  ];
  t.match((await apply(wrong, '?dryRun=true'))[0], wanted);
  t.notMatch(JSON.stringify(plant.store.get(Unit, 'demo', 'rx101')?.spec), /xv999/, 'a dry run stores nothing');
  t.match((await apply(wrong))[0], wanted);
  t.match(await apply(edited(wrong, { description: 'again' })), [[wanted[0]]], 'the recipe had lost it before');
  const elsewhere = roleBindings.map((each) => (each.role === 'waterInlet' ? { ...each, controlModule: 'xv111' } : each));
  t.match((await apply(edited(unit, { roleBindings: elsewhere }), '?dryRun=true'))[0]?.[0], /xv111, which is no module of it$/);
  t.match(
    (await apply(edited(unit, { capabilities: ['idle'] }), '?dryRun=true'))[0]?.[0],
    /^Effective recipe [\w-]+ 1\.0\.0: .*capability/,
    'a capability that nobody has any more',
  );
  t.same(await apply(unit), [[]], 'and back');
});

t.test('the module or the template that brings it about has the warning', async (t) => {
  const module = await exported('ControlModule', 'xv103');
  const moved = edited(module, { parentName: 'mx101' });
  const unit = await exported('Unit', 'rx101');
  const told = await apply([edited(unit, { description: 'beside it' }), moved], '?dryRun=true');
  t.match(told[0], [/^spec\.roleBindings\[\d+\]: role waterInlet of unit rx101 is bound to control module xv103, which is no module of it$/]);
  t.match(
    told[1]?.filter((warning) => !warning.startsWith('spec.inputBindings')),
    [/^Effective recipe clean-train 1\.0\.0 loses role/],
    'the module that has gone to another unit',
  );
  const templates = (await engineer.get('/api/v1/controlmoduletemplates')).body as { name: string; moduleType: string }[];
  const retyped = await exported('ControlModuleTemplate', templates.find(({ moduleType }) => moduleType === 'on-off-valve')?.name ?? '');
  const [byTemplate = []] = await apply(edited(retyped, { moduleType: 'hand-valve' }), '?dryRun=true');
  t.match(byTemplate[0], /^Effective recipe [\w-]+ 1\.0\.0 loses role .+ needs a on-off-valve, but .+ is a hand-valve$/);
  t.match(byTemplate.at(-1), /^and \d+ more of this kind$/, 'a list has an end');
  t.equal(byTemplate.length, 11);
});

t.test('of several manifests that touch a unit the one that takes the binding away has the warning', async (t) => {
  const [unit, mixer] = [await exported('Unit', 'rx101'), await exported('Unit', 'mx101')];
  const aside = edited(unit, { description: 'beside it' });
  const bound = (from: Manifest, role: string, controlModule: string): Manifest =>
    edited(from, { roleBindings: (from.spec.roleBindings as { role: string }[]).map((each) => (each.role === role ? { ...each, controlModule } : each)) });
  const told = async (...manifests: readonly Manifest[]): Promise<readonly number[]> => (await apply(manifests, '?dryRun=true')).map(({ length }) => length);

  const templates = (await engineer.get('/api/v1/controlmoduletemplates')).body as { name: string; moduleType: string }[];
  const template = await exported('ControlModuleTemplate', templates.find(({ moduleType }) => moduleType === 'on-off-valve')?.name ?? '');
  t.same(await told(aside, edited(template, { moduleType: 'hand-valve' })), [0, 11], 'the template, and not the unit');

  const level = edited(await exported('ControlModule', 'li101'), { description: 'beside it' });
  t.same(await told(level, bound(unit, 'waterInlet', 'li101')), [0, 2], 'the unit that binds another module, and not that module');

  const recipe = await exported('MasterRecipe', 'clean-train');
  const named = { ...recipe, metadata: { ...recipe.metadata, labels: { told: 'here' } } };
  t.same(await told(named, bound(unit, 'waterInlet', 'li101')), [0, 2], 'nor the recipe');

  const [byHand = [], without = []] = await apply([edited(mixer, { description: 'beside it' }), edited(unit, { capabilities: ['react'] })], '?dryRun=true');
  t.same(byHand, []);
  t.match(without, [/^Effective recipe clean-train 1\.0\.0: .*clean/], 'the unit that has the capability no more, and not the first in the request');

  await apply(edited(mixer, { roleBindings: (mixer.spec.roleBindings as { role: string }[]).filter(({ role }) => role !== 'chargeFlow') }));
  const meter = edited(await exported('ControlModule', 'fi111'), { parentName: 'rx101' });
  const [ofUnit = [], ofMeter = []] = await apply([edited(await exported('Unit', 'mx101'), { description: 'beside it' }), meter], '?dryRun=true');
  t.same(ofUnit, []);
  t.match(
    ofMeter,
    [/^Effective recipe resin-a 1\.0\.0 loses role flow of step prepare\/premix\/charge on unit mx101: .*the unit has no flow-totalizer$/],
    'bound by its type alone',
  );
  await apply(mixer);
});

t.test('a recipe that is not signed yet is told what of it does not bind, each time it is applied, and is taken', async (t) => {
  const unit = await exported('Unit', 'rx101');
  const recipe = await exported('MasterRecipe', 'clean-train');
  const draft = { ...edited(recipe, { productID: 'CLEAN-NEXT', version: '9.0.0' }), metadata: { ...recipe.metadata, name: 'clean-next', labels: {} } };
  const unbound = (warnings: readonly string[] = []) => warnings.filter((warning) => !warning.includes('arrives as Draft'));
  t.same(unbound((await apply(draft, '?dryRun=true'))[0]), [], 'all of it binds');
  const wrong = (unit.spec.roleBindings as { role: string; controlModule: string }[]).map((each) => (each.role === 'waterInlet' ? { ...each, controlModule: 'li101' } : each));
  const [ofUnit = [], ofDraft = []] = await apply([edited(unit, { roleBindings: wrong }), draft]);
  t.match(ofUnit[0], /^Effective recipe clean-train 1\.0\.0 loses role water/);
  const told =
    'spec.procedure.chart.steps[clean]: the recipe clean-next 9.0.0 does not bind role water of step cleanReactor/clean/rinse on unit rx101: role water needs a on-off-valve, but li101 is a analog-transmitter';
  t.same(unbound(ofDraft), [told]);
  t.same(unbound((await apply([draft]))[0]), [told], 'also where nothing changes');
  t.same(unbound((await apply([draft, unit]))[0]), [], 'and no more');
});
