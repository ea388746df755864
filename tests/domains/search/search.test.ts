/** One field to find anything by (decisions Q-CHANGE-11), over the demonstration plant. */
import t from 'tap';
import * as v from 'valibot';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { SEARCH_ROUTES, type SearchDeps } from '../../../src/domains/search/routes.js';
import { PastTexts } from '../../../src/domains/search/past-texts.js';
import { type Found, SearchIndex } from '../../../src/domains/search/search-index.js';
import { usedByRoutes } from '../../../src/domains/search/used-by.js';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { tagRoutes } from '../../../src/domains/tags/routes.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { at as elementAt } from '../../support/at.js';
import { routeSet, routesFor } from '../../../src/platform/http/route.js';
import { NO_RUNTIMES } from '../../support/absent.js';
import { MasterRecipe } from '../../../src/domains/recipes/kind.js';
import { Batch, type BatchStatus, BatchSpec } from '../../../src/domains/batches/kind.js';
import { Phase, PhaseSpec, PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate } from '../../../src/domains/procedures/kind.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { ControlProgram, ControlProgramSpec } from '../../../src/domains/logic/kind.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { referencesOf } from '../../../src/platform/store/references.js';
import { danglingText } from '../../../src/domains/search/dangling.js';

/** Whoever may read a batch is told of it. */
const readBatch = routesFor<object>()({
  method: 'GET',
  path: '/api/v1/sites/{site}/batches/{name}',
  action: 'batch:read',
  tier: 'read',
  summary: 'A batch',
  handle: () => ({}),
});

/** What this gateway serves. */
const TEMPLATES: readonly Kind[] = [PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate];
const SERVED = ['Enterprise', 'Site', 'Area', 'Unit', 'ControlModule', 'IOModule', 'MasterRecipe', 'AlarmDefinition'];
/** What a batch is asked for with when it says nothing else. */
const BATCH = v.parse(BatchSpec, { batchID: 'B-1', masterRecipeRef: 'r' });
const opened: { plant?: Awaited<ReturnType<typeof startPlantGateway>> } = {};
const plant = await startPlantGateway({
  more: ({ store, clock }) => {
    const kinds = APPLIED_KINDS.all.filter(({ kind }) => [...SERVED, 'Batch', ...TEMPLATES.map((template) => template.kind)].includes(kind));
    const catalog = new TagCatalog(store);
    const deps: SearchDeps = { store, index: new SearchIndex(store, kinds), past: new PastTexts(store, kinds), catalog, rows: () => opened.plant?.gateway.rows ?? [] };
    return [
      routeSet(SEARCH_ROUTES, deps),
      routeSet(usedByRoutes, { store, kinds: APPLIED_KINDS.all, rows: deps.rows }),
      routeSet([readBatch], {}),
      routeSet(
        tagRoutes.filter(({ path }) => path === '/api/v1/sites/{site}/tags'),
        { store, clock, catalog, runtimes: NO_RUNTIMES, modeCheckDeviceTags: false },
      ),
    ];
  },
});
opened.plant = plant;
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const viewer = await plant.as('viewer');
await engineer.post('/api/v1/demo/provision');

interface Page {
  readonly items: readonly Found[];
  readonly nextCursor: string | null;
}
const search = async (query: string, caller = viewer): Promise<Page> => (await caller.get(`/api/v1/search?${query}`)).body;
const names = ({ items }: Page): string[] => items.map(({ kind, name }) => `${kind} ${name}`);

t.test('a batch is found first by its own batchID, before what has it in its name', async (t) => {
  const { store } = plant;
  const template = store.list(PhaseTemplate, 'demo')[0];
  await store.write({
    puts: [
      { kind: Batch, site: 'demo', name: 'b-x9-1', spec: { ...BATCH, batchID: 'X9' } },
      { kind: PhaseTemplate, site: 'demo', name: 'x9-heat', spec: template?.spec as never },
    ],
  });
  const found = await search('q=x9');
  t.same(names(found), ['Batch b-x9-1', 'PhaseTemplate x9-heat']);
  t.equal(found.items[0]?.match, 'batchID');
  await store.write({
    removes: [
      { kind: 'Batch', site: 'demo', name: 'b-x9-1' },
      { kind: 'PhaseTemplate', site: 'demo', name: 'x9-heat' },
    ],
  });
});

t.test('ROUTE-08 Q-CHANGE-11: the best match comes first: name, beginning, part, title, any text', async (t) => {
  const found = await search('q=RX101');
  t.same(found.items[0], { kind: 'Unit', site: 'demo', name: 'rx101', title: 'Jacketed reactor, 60 kg', path: '/api/v1/sites/demo/units/rx101', match: 'name' });
  t.equal((await viewer.get(elementAt(found.items, 0).path)).body.name, 'rx101', 'the path is where it is read');
  const at = (name: string): number => names(found).indexOf(name);
  t.ok(at('AlarmDefinition rx101-held') < at('IOModule io-rx101'), 'a name that begins so is before one that holds it');
  t.ok(at('IOModule io-rx101') < at('ControlModule li101'), 'a name is before a reference to it');
  t.equal(elementAt(found.items, at('ControlModule li101')).match, 'parentName');
  t.same(names(await search('q=reactor%20temperature%20too&kinds=AlarmDefinition')), ['AlarmDefinition tic101-high-high'], 'its message is its title');
  const labelled = await search('q=temperature-control&kinds=ControlModule');
  t.same(names(labelled), ['ControlModule hx101', 'ControlModule tcv101', 'ControlModule tic101']);
  t.equal(elementAt(labelled.items, 0).match, 'labels.lineside.io/equipment-module');
  t.same(await search('q=no-such-thing'), { items: [], nextCursor: null });
});

t.test('ROUTE-08: tags are found by their name and their address, and their path reads them', async (t) => {
  const { items } = await search('q=tic101.pv&kinds=Tag');
  t.match(items, [{ kind: 'Tag', site: 'demo', title: 'tic101', match: 'address', path: /^\/api\/v1\/sites\/demo\/units\/rx101\/tags\// }]);
  t.ok((await search('q=pv&kinds=Tag')).items.every(({ match, name }) => match === 'name' || /pv/i.test(name)));
});

t.test('Q-CHANGE-11: pages of 50, up to 200; kinds and site narrow; what does not read is 400 with its field', async (t) => {
  const all = await search('q=101&limit=200&kinds=ControlModule,Tag,AlarmDefinition');
  t.equal(all.nextCursor, null);
  const seen: string[] = [];
  let cursor: string | null = '';
  do {
    const page: Page = await search(`q=101&limit=7&kinds=ControlModule,Tag,AlarmDefinition${cursor ? `&cursor=${cursor}` : ''}`);
    seen.push(...names(page));
    cursor = page.nextCursor;
  } while (cursor);
  t.same(seen, names(all));
  t.same(names(await search('q=rx101&kinds=Unit&site=south')), []);
  for (const [query, field] of [
    ['', 'q'],
    ['q=%20', 'q'],
    [`q=${'x'.repeat(201)}`, 'q'],
    ['q=a&limit=201', 'limit'],
    ['q=a&kinds=Unit,Nonsense', 'kinds'],
    ['q=a&cursor=abc', 'cursor'],
  ] as const) {
    t.match(await viewer.get(`/api/v1/search?${query}`), { status: 400, body: { code: 'invalid_query', field } }, query);
  }
});

t.test('Q-AUTH-14: who is confined to other sites finds what belongs to the plant alone', async (t) => {
  const confined = await plant.as('viewer', 'site-south');
  t.same(names(await search('q=rx101', confined)), []);
  t.same(names(await search('q=demo&kinds=Site,Unit,Tag', confined)), []);
  t.same(names(await search('q=acme&kinds=Enterprise', confined)), ['Enterprise acme-resins']);
  t.same(names(await search('q=resin&kinds=MasterRecipe', await plant.as('viewer', 'site-demo'))), ['MasterRecipe resin-a']);
});

t.test('Q-CHANGE-11: what is written, changed and deleted is found as it is now', async (t) => {
  const SITE = '/api/v1/sites/demo';
  const put = (description: string) => engineer.put(`${SITE}/units/tk201`, { description });
  t.equal((await put('Kettle of the north wing')).status, 200);
  t.same(names(await search('q=KETTLE')), ['Unit tk201']);
  t.same(names(await search('q=hold%20tank,')), []);
  t.equal((await put('Hold tank, 200 kg')).status, 200);
  t.same(names(await search('q=kettle')), []);
  t.equal((await engineer.post(`${SITE}/areas`, { name: 'unheard-of' })).status, 201);
  t.same(names(await search('q=unheard')), ['Area unheard-of']);
  t.equal((await engineer.delete(`${SITE}/areas/unheard-of`)).status, 204);
  t.same(names(await search('q=unheard')), []);
});

t.test('Q-ERR-13: what leads nowhere is told in words; nothing of the demonstration plant does', async (t) => {
  t.equal(danglingText(referencesOf(plant.store).dangling()), '');
  t.equal((await engineer.post('/api/v1/sites/demo/operationtemplates', { name: 'early', spec: { chart: { steps: [{ ...EARLY, name: 's', initial: true }] } } })).status, 201);
  t.equal(
    danglingText(referencesOf(plant.store).dangling()),
    'what is named here does not exist: chart.steps[0].templateRef of OperationTemplate early in site demo names PhaseTemplate later',
  );
  t.equal((await engineer.delete('/api/v1/sites/demo/operationtemplates/early')).status, 204);
});

const EARLY = { templateKind: 'PhaseTemplate', templateRef: 'later', stepLevel: 'Phase' };
const usedBy = (query: string, caller = viewer) => caller.get(`/api/v1/used-by?${query}`);

t.test('what names a resource is told with the member that does, and whether it holds it (Q-ERR-11)', async (t) => {
  const { status, body } = await usedBy('kind=ControlModule&site=demo&name=tic101');
  t.equal(status, 200);
  t.match(body, { kind: 'ControlModule', site: 'demo', name: 'tic101' });
  const alarm = body.items.find(({ name }: { readonly name: string }) => name === 'tic101-high-high');
  t.same(alarm, { kind: 'AlarmDefinition', site: 'demo', name: 'tic101-high-high', member: 'sourceName', required: true, holds: true, distance: 1, via: [] });
  const refused = await engineer.delete('/api/v1/sites/demo/controlmodules/tic101');
  t.match(refused, { status: 409, body: { code: 'has_dependents' } });
  const holders = new Set(
    body.items.flatMap(({ kind, name, holds }: { readonly kind: string; readonly name: string; readonly holds: boolean }) => (holds ? [`${kind} ${name}`] : [])),
  );
  t.equal(refused.body.dependentCount, holders.size, 'what holds it is what its delete is refused for');

  t.equal((await engineer.post('/api/v1/sites/demo/areas', { name: 'lonely' })).status, 201);
  t.same((await usedBy('kind=Area&site=demo&name=lonely')).body, { kind: 'Area', site: 'demo', name: 'lonely', exists: true, truncated: false, items: [] });
  t.equal((await engineer.delete('/api/v1/sites/demo/areas/lonely')).status, 204);
});

interface User {
  readonly kind: string;
  readonly name: string;
  readonly member: string;
  readonly holds: boolean;
}

t.test('Q-RECIPE-18: a template is told with the recipes and templates that are made of it, and those its delete is refused for', async (t) => {
  const users = async (kind: string, name: string): Promise<User[]> => (await usedBy(`kind=${kind}&site=demo&name=${name}`)).body.items;
  t.match(await users('PhaseTemplate', 'drain'), [{ kind: 'OperationTemplate', name: 'drain-reactor', member: 'chart.steps[0].templateRef', required: false, holds: true }]);
  let recipes = 0;
  for (const kind of TEMPLATES) {
    for (const { metadata } of plant.store.list(kind, 'demo')) {
      const found = await users(kind.kind, metadata.name);
      const held = found.flatMap(({ kind, name, holds }) => (holds ? [`${kind} ${name}`] : []));
      recipes += found.filter((user) => user.kind === 'MasterRecipe').length;
      const { status, body } = await engineer.delete(`/api/v1/sites/demo/${kind.path}/${metadata.name}`);
      if (held.length === 0) {
        t.equal(status, 204, metadata.name);
        continue;
      }
      t.match({ status, body }, { status: 409, body: { code: 'referenced' } }, metadata.name);
      t.same(body.referencedBy.map(({ kind, name }: User) => `${kind} ${name}`).sort(), [...new Set(held)].sort(), metadata.name);
    }
  }
  t.ok(recipes > 0, 'a recipe names templates');
});

t.test('Q-RECIPE-12: a batch that is open holds its recipe, and used-by says so', async (t) => {
  const recipe = elementAt(plant.store.list(MasterRecipe, 'demo'), 0);
  const at = `kind=MasterRecipe&site=demo&name=${recipe.metadata.name}`;
  await plant.store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b1', spec: { ...BATCH, masterRecipeRef: recipe.metadata.name, equipment: { react: 'rx101' } } }] });
  const ofBatches = async (query: string): Promise<User[]> => (await usedBy(query)).body.items.filter(({ kind }: User) => kind === 'Batch');
  t.match(await ofBatches(at), [{ name: 'b1', member: 'masterRecipeRef', required: true, holds: true }]);
  t.match(await ofBatches('kind=Unit&site=demo&name=rx101'), [{ name: 'b1', member: 'equipment.react', holds: true }]);
  const batch = plant.store.get(Batch, 'demo', 'b1');
  await plant.store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b1', status: { ...(batch?.status as BatchStatus), phase: 'Complete' } }] });
  t.match(await ofBatches(at), [{ name: 'b1', holds: false }], 'one that has ended names it and does not hold it');
  await plant.store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'b1' }] });
});

interface TouchedUser extends User {
  readonly site: string;
  readonly distance: number;
  readonly via: readonly { readonly kind: string; readonly name: string }[];
}

t.test('what an edit of a template touches: its modules, their units, what rests on those and the work in progress, each with the way there', async (t) => {
  const recipe = elementAt(plant.store.list(MasterRecipe, 'demo'), 0).metadata.name;
  await plant.store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b1', spec: { ...BATCH, masterRecipeRef: recipe, equipment: { react: 'rx101' } } }] });
  const module = plant.store.get(ControlModule, 'demo', 'tic101');
  const through = async (caller = viewer): Promise<TouchedUser[]> => {
    const { status, body } = await usedBy(`kind=ControlModuleTemplate&name=${module?.spec.templateRef}&through=true`, caller);
    t.equal(status, 200);
    t.equal(body.truncated, false);
    return body.items;
  };
  const items = await through();
  const wayTo = (kind: string, name: string) => {
    const found = items.find((each) => each.kind === kind && each.name === name);
    return found && [found.distance, ...found.via.map((each) => `${each.kind} ${each.name}`)];
  };
  t.same(wayTo('ControlModule', 'tic101'), [1]);
  t.same(wayTo('AlarmDefinition', 'tic101-high-high'), [2, 'ControlModule tic101']);
  t.same(wayTo('Unit', 'rx101'), [2, 'ControlModule tic101']);
  t.same(wayTo('Batch', 'b1'), [3, 'ControlModule tic101', 'Unit rx101']);
  t.same(wayTo('ControlModuleTemplate', module?.spec.templateRef ?? ''), undefined);
  t.equal(new Set(items.map(({ kind, site, name }) => `${kind} ${site} ${name}`)).size, items.length, 'each once');
  t.same(
    items.map(({ distance }) => distance),
    items.map(({ distance }) => distance).sort((a, b) => a - b),
    'the nearest first',
  );
  t.same(await through(await plant.as('viewer', 'site-south')), [], 'nothing of a site that he does not see');
  t.match(await usedBy('kind=Unit&site=demo&name=rx101&through=perhaps'), { status: 400, body: { code: 'invalid_query', field: 'through' } });
  await plant.store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'b1' }] });
});

t.test('an edit of a template touches the elements at work that were made from it, which no reference names', async (t) => {
  const spec = v.parse(PhaseSpec, { templateRef: 'drain', unitRef: 'rx101', batchRef: 'b1' });
  await plant.store.write({ puts: [{ kind: Phase, site: 'demo', name: 'b1-drain', spec, status: { ...Phase.initialStatus(spec), state: 'Running' } }] });
  const { items } = (await usedBy('kind=PhaseTemplate&site=demo&name=drain&through=true')).body;
  t.match(
    items.find(({ name }: User) => name === 'b1-drain'),
    { kind: 'Phase', distance: 1, member: '', holds: true },
  );
  await plant.store.write({ removes: [{ kind: 'Phase', site: 'demo', name: 'b1-drain' }] });
});

t.test('Q-ERR-13: who names what does not exist is found by its name, and 404 is where nobody does', async (t) => {
  const at = 'kind=PhaseTemplate&site=demo&name=later';
  t.match(await usedBy(at), { status: 404, body: { code: 'not_found' } });
  t.equal((await engineer.post('/api/v1/sites/demo/operationtemplates', { name: 'early', spec: { chart: { steps: [{ ...EARLY, name: 's', initial: true }] } } })).status, 201);
  for (const query of [at, `${at}&through=true`]) {
    const { status, body } = await usedBy(query);
    t.equal(status, 200);
    t.match(body, { kind: 'PhaseTemplate', name: 'later', exists: false, items: [{ kind: 'OperationTemplate', name: 'early', member: 'chart.steps[0].templateRef' }] }, query);
  }
  t.match(await usedBy(at, await plant.as('viewer', 'site-south')), { status: 403, body: { code: 'site_scope' } }, 'the site is judged first, as of what is there');
  t.match(await usedBy('kind=Unit&site=demo&name=nowhere', await plant.as('viewer', 'site-south')), { status: 403, body: { code: 'site_scope' } });
  t.equal((await engineer.delete('/api/v1/sites/demo/operationtemplates/early')).status, 204);
  t.match(await usedBy(at), { status: 404, body: { code: 'not_found' } });

  const library = { kind: ControlProgram, site: 'demo', name: 'p', spec: { ...v.parse(ControlProgramSpec, {}), blocks: [{ name: 'b', type: 'GONE', params: {}, comment: '' }] } };
  await plant.store.write({ puts: [library] });
  const gone = 'kind=FunctionBlockType&name=GONE';
  t.match((await usedBy(gone)).body, { exists: false, items: [{ kind: 'ControlProgram', name: 'p', member: 'blocks[0].type' }] });
  t.match(await usedBy(gone, await plant.as('viewer', 'site-south')), { status: 404, body: { code: 'not_found' } }, 'who may not see who names it is told as if nobody did');
  await plant.store.write({ removes: [{ kind: 'ControlProgram', site: 'demo', name: 'p' }] });
});

t.test('a site is told with what stands in it', async (t) => {
  const { items } = (await usedBy('kind=Site&name=demo')).body;
  t.ok(items.some(({ kind, site, name, holds }: User & { readonly site: string }) => kind === 'Unit' && site === 'demo' && name === 'rx101' && holds));
});

t.test('what is not there is 404, what does not read 400 with its parameter, another site 403', async (t) => {
  t.match(await usedBy('kind=Area&site=demo&name=lonely'), { status: 404, body: { code: 'not_found' } });
  for (const [query, field] of [
    ['site=demo&name=rx101', 'kind'],
    ['kind=Nonsense&name=rx101', 'kind'],
    ['kind=Unit&site=demo', 'name'],
    ['kind=Unit&name=rx101', 'site'],
    ['kind=Enterprise&site=demo&name=acme-resins', 'site'],
  ] as const) {
    t.match(await usedBy(query), { status: 400, body: { code: 'invalid_query', field } }, query);
  }
  const confined = await plant.as('viewer', 'site-south');
  t.match(await usedBy('kind=Unit&site=demo&name=rx101', confined), { status: 403, body: { code: 'site_scope' } });
  t.match(await usedBy('kind=Site&name=demo', confined), { status: 403, body: { code: 'site_scope' } });
  t.same((await usedBy('kind=Enterprise&name=acme-resins', confined)).body.items, [], 'sites that he does not see use it');
});
