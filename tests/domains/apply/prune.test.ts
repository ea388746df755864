/** What a prune would come to, before anything is removed: judged by the plant that the apply leaves behind (ADR 0058). */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { Area, Site, Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const admin = await plant.as('admin');
await engineer.post('/api/v1/demo/provision');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: specs of every kind
  readonly spec: any;
}

const LABELS = { plant: 'own' };
const manifest = (kind: string, name: string, spec: object = {}, metadata: object = { namespace: 'site-north' }): Manifest => ({
  ...{ apiVersion: 'physical.lineside.io/v1alpha1' },
  kind,
  metadata: { name, ...metadata },
  spec,
});
const own = (kind: string, name: string, spec: object = {}): Manifest => manifest(kind, name, spec, { namespace: 'site-north', labels: LABELS });
const exported = async (kind: string, name: string): Promise<Manifest> => {
  const { body } = await engineer.get(`/api/v1/export?kinds=${kind}`);
  const found = (body as Manifest[]).find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const labelled = ({ metadata, ...rest }: Manifest, name = metadata.name, labels = LABELS): Manifest => ({ ...rest, metadata: { ...metadata, name, ...{ labels } } });
const apply = async (body: unknown): Promise<void> => {
  const { status, text } = await admin.post('/api/v1/apply', body);
  if (status !== 200) throw new Error(text);
};
const pruned = (body: readonly Manifest[] | Manifest, who = engineer, query = 'dryRun=true') => who.post(`/api/v1/apply?${query}&toPrune=plant%3Down`, body);
/** `kind name`, with why it stays. */
// biome-ignore lint/suspicious/noExplicitAny: answers of a test
const removals = ({ body }: { readonly body: any }): readonly string[][] =>
  (body as { kind: string; name: string; operation: string; refused?: { code: string }[] }[])
    .filter(({ operation }) => operation === 'removed')
    .map(({ kind, name, refused = [] }) => [`${kind} ${name}`, ...refused.map(({ code }) => code)]);

t.test('a dry run names what a prune would remove, who needs what first, and removes nothing', async (t) => {
  await apply([manifest('Site', 'north', {}, {}), own('Area', 'hall'), own('Area', 'attic'), own('ProcessCell', 'cell', { areaName: 'attic' }), manifest('Area', 'loft')]);
  const [version, records] = [plant.store.resourceVersion, plant.audits.length];
  const told = await pruned([own('Area', 'hall')]);
  t.match(told, {
    status: 200,
    body: [{ kind: 'Area', name: 'hall', operation: 'unchanged', dryRun: true }, { operation: 'removed', dryRun: true, generation: 1, warnings: [] }, {}],
  });
  t.strictSame(removals(told), [['ProcessCell cell'], ['Area attic']]);
  t.same([plant.store.resourceVersion, plant.audits.length], [version, records]);
  t.ok(plant.store.get(Area, 'north', 'attic'));
  t.equal((await pruned(own('Area', 'hall'))).body.length, 3, 'of one manifest too the answer is a list');
  t.equal((await pruned([own('Area', 'hall')], engineer, 'site=demo&dryRun=true')).body.length, 1, 'of one site');
});

t.test('what others still name stays, and a rename is judged by what the apply has moved', async (t) => {
  await apply([manifest('ProcessCell', 'cell', { areaName: 'attic' }, { namespace: 'site-north', labels: {} })]);
  const stays = await pruned([own('Area', 'hall')]);
  t.strictSame(removals(stays), [['Area attic', 'has_dependents']], 'the cell has no label any more');
  t.match(stays.body.at(-1).refused, [{ status: 409, error: 'Area attic is still used by ProcessCell cell' }]);
  const renamed = [own('Area', 'hall'), own('Area', 'top'), manifest('ProcessCell', 'cell', { areaName: 'top' })];
  t.strictSame(removals(await pruned(renamed)), [['Area attic']]);
  await apply(renamed);
  t.match(await engineer.delete('/api/v1/sites/north/areas/attic'), { status: 204 }, 'as it was said');
});

t.test('what only the apply makes need it holds it', async (t) => {
  await apply([own('Area', 'spare')]);
  t.strictSame(removals(await pruned([own('Area', 'hall'), own('Area', 'top'), manifest('ProcessCell', 'new', { areaName: 'spare' })])), [['Area spare', 'has_dependents']]);
  await engineer.delete('/api/v1/sites/north/areas/spare');
});

t.test('the rules of each kind are asked: a recipe in use, a unit at work, and what the caller may', async (t) => {
  const recipe = labelled(await exported('MasterRecipe', 'resin-a'));
  const unit = labelled(await exported('Unit', 'rx101'));
  await apply([recipe, unit]);
  const stored = plant.store.get(Unit, 'demo', 'rx101');
  if (!stored) throw new Error('there is no unit');
  const work = (allocatedTo: string) => plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...stored.status, allocatedTo } }] });
  const kept = [own('Area', 'hall'), own('Area', 'top')];
  t.strictSame(removals(await pruned(kept)), [
    ['MasterRecipe resin-a', 'recipe_phase'],
    ['Unit rx101', 'has_dependents'],
  ]);
  await work('b-1');
  t.strictSame(removals(await pruned(kept)).at(-1), ['Unit rx101', 'unit_active']);
  await work('');
  await apply([labelled(recipe, 'resin-a', {} as typeof LABELS), labelled(unit, 'rx101', {} as typeof LABELS)]);
  await apply([own('IOModule', 'spare-plc', { protocol: 'modbus', address: '127.0.0.1:1', enabled: false })]);
  t.strictSame(removals(await pruned(kept)), [['IOModule spare-plc', 'action_missing']], 'its removal is tier admin');
  t.strictSame(removals(await pruned(kept, admin)), [['IOModule spare-plc']]);
  await admin.delete('/api/v1/sites/north/iomodules/spare-plc');
});

t.test('a site goes with all that it holds', async (t) => {
  const south = (kind: string, name: string, spec: object = {}) => manifest(kind, name, spec, { namespace: 'site-south', labels: LABELS });
  await apply([manifest('Site', 'south', {}, { labels: LABELS }), south('Area', 'yard')]);
  const kept = [own('Area', 'hall'), own('Area', 'top')];
  t.strictSame(removals(await pruned(kept, admin)), [['Area yard'], ['Site south']]);
  await apply([manifest('Area', 'other', {}, { namespace: 'site-south' })]);
  t.strictSame(removals(await pruned(kept, admin)), [['Area yard'], ['Site south', 'has_dependents']]);
  t.ok(plant.store.get(Site, '', 'south'));
  for (const path of ['sites/south/areas/yard', 'sites/south/areas/other', 'sites/south']) await admin.delete(`/api/v1/${path}`);
});

t.test('warnings are those of the plant behind the prune: a rename of a module warns of nothing', async (t) => {
  const module = await exported('ControlModule', 'xv103');
  const unit = await exported('Unit', 'rx101');
  await apply([labelled(module)]);
  const roleBindings = (unit.spec.roleBindings as { role: string; controlModule: string }[]).map((each) =>
    each.controlModule === 'xv103' ? { ...each, controlModule: 'xv103n' } : each,
  );
  const kept = [own('Area', 'hall'), own('Area', 'top')];
  const alarms = ((await engineer.get('/api/v1/export?kinds=AlarmDefinition')).body as Manifest[]).filter(({ spec }) => spec.sourceName === 'xv103');
  const moved = alarms.map((each) => ({ ...each, spec: { ...each.spec, sourceName: 'xv103n' } }));
  const renamed = [...kept, labelled(module, 'xv103n'), { ...unit, spec: { ...unit.spec, roleBindings } }, ...moved];
  t.strictSame(removals(await pruned(renamed.slice(0, -1))), [['ControlModule xv103', 'has_dependents']], 'an alarm definition names it still');
  const warned = ({ body }: Awaited<ReturnType<typeof pruned>>): readonly string[] => (body as { warnings: string[] }[]).flatMap(({ warnings }) => warnings);
  const without = await engineer.post('/api/v1/apply?dryRun=true', renamed);
  t.match(without, { status: 409, body: { code: 'output_claimed' } }, `two modules would drive the outputs while both are there: ${without.text.slice(0, 200)}`);
  const told = await pruned(renamed);
  t.strictSame(removals(told), [['ControlModule xv103']]);
  t.strictSame(warned(told), []);
  const applied = await pruned(renamed, engineer, 'dryRun=false');
  t.match(applied, { status: 200 });
  t.equal(applied.body.length, renamed.length, 'an apply tells no removal: it makes none');
  t.strictSame(warned(applied), []);
  t.ok(plant.store.get(ControlModule, 'demo', 'xv103'), 'and removes nothing');
  t.match(await engineer.delete('/api/v1/sites/demo/controlmodules/xv103'), { status: 204 });
});

t.test('a role that a recipe loses by the prune is told at the removal', async (t) => {
  const motor = await exported('ControlModule', 'ag101');
  const unit = await exported('Unit', 'rx101');
  const roleBindings = (unit.spec.roleBindings as { role: string }[]).filter(({ role }) => role !== 'agitator' && role !== 'pump');
  await apply([{ ...unit, spec: { ...unit.spec, roleBindings } }, labelled(motor), labelled(await exported('ControlModule', 'p101'))]);
  const alarms = ((await engineer.get('/api/v1/export?kinds=AlarmDefinition')).body as Manifest[]).filter(({ spec }) => spec.sourceName === 'ag101');
  for (const { metadata } of alarms) await engineer.delete(`/api/v1/sites/demo/alarmdefinitions/${metadata.name}`);
  const kept = [own('Area', 'hall'), own('Area', 'top'), labelled(await exported('ControlModule', 'xv103n'))];
  const told = await pruned([...kept, labelled(await exported('ControlModule', 'p101'))]);
  t.strictSame(removals(told), [['ControlModule ag101']]);
  t.same(told.body.at(-1).warnings, [], 'two motors: which is the agitator nobody could say before');
  const both = await pruned([...kept]);
  t.strictSame(removals(both), [['ControlModule p101'], ['ControlModule ag101']]);
  await engineer.delete('/api/v1/sites/demo/controlmodules/p101');
  const last = await pruned(kept);
  t.match(last.body.at(-1), { name: 'ag101', warnings: [/^Effective recipe clean-train 1\.0\.0 loses role agitator of step [\w/]+ on unit rx101: .*the unit has no motor/] });
});

t.test('labels that cannot be read, or that choose what nobody has labelled, are refused', async (t) => {
  // spaces and commas without end, which a pattern would try in every way that there is
  for (const toPrune of [`plant=own${','.repeat(5000)}`, `plant${' '.repeat(5000)}`])
    t.match(await engineer.post(`/api/v1/apply?dryRun=true&toPrune=${encodeURIComponent(toPrune)}`, [own('Area', 'hall')]), {
      status: 400,
      body: { code: 'invalid_query', field: 'toPrune', error: /^query toPrune plant.{192}\.\.\.: it has 50\d\d characters, and a selector has at most 1000/ },
    });
  for (const toPrune of ['', ' ', 'plant', 'plant!=own', 'a b=c', 'plant=own,'])
    t.match(await engineer.post(`/api/v1/apply?dryRun=true&toPrune=${encodeURIComponent(toPrune)}`, [own('Area', 'hall')]), {
      status: 400,
      body: { code: 'invalid_query', field: 'toPrune', error: /key=value/ },
    });
});

t.test('in production what ran is kept', async (t) => {
  const other = await startPlantGateway({ production: true });
  t.teardown(() => other.stop());
  const who = await other.as('admin');
  await other.addSite('north');
  const templates = [manifest('Site', 'north', {}, {}), manifest('Procedure', 'by-hand', {}, { namespace: 'site-north', labels: LABELS })];
  const made = await who.post('/api/v1/apply', templates);
  t.equal(made.status, 200, made.text);
  const told = await pruned([manifest('Site', 'north', {}, {})], who);
  t.strictSame(removals(told), [['Procedure by-hand', 'production_mode']]);
  const { status, body } = await who.delete('/api/v1/sites/north/procedures/by-hand');
  t.strictSame([{ status, code: body.code, error: body.error }], told.body.at(-1).refused, 'its DELETE says the same: the kind says it to both');
});
