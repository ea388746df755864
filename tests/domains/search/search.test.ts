/** One field to find anything by (decisions Q-CHANGE-11), over the demonstration plant. */
import t from 'tap';
import { APPLIED_KINDS } from '../../../src/domains/apply/kinds.js';
import { SEARCH_ROUTES, type SearchDeps } from '../../../src/domains/search/routes.js';
import { type Found, SearchIndex } from '../../../src/domains/search/search-index.js';
import { usedByRoutes } from '../../../src/domains/search/used-by.js';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { tagRoutes } from '../../../src/domains/tags/routes.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

/** What this gateway serves. */
const SERVED = ['Enterprise', 'Site', 'Area', 'Unit', 'ControlModule', 'IOModule', 'PhaseTemplate', 'MasterRecipe', 'AlarmDefinition'];
const opened: { plant?: Awaited<ReturnType<typeof startPlantGateway>> } = {};
const plant = await startPlantGateway({
  more: ({ store }) => {
    const kinds = (APPLIED_KINDS as unknown as readonly Kind[]).filter(({ kind }) => SERVED.includes(kind));
    const catalog = new TagCatalog(store);
    const deps: SearchDeps = { store, index: new SearchIndex(store, kinds), catalog, rows: () => opened.plant?.gateway.rows ?? [] };
    return [
      { rows: SEARCH_ROUTES, deps },
      { rows: usedByRoutes, deps: { store, kinds, rows: deps.rows } },
      { rows: tagRoutes.filter(({ path }) => path === '/api/v1/sites/{site}/tags'), deps: { store, catalog } },
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

t.test('ROUTE-08 Q-CHANGE-11: the best match comes first: name, beginning, part, title, any text', async (t) => {
  const found = await search('q=RX101');
  t.same(found.items[0], { kind: 'Unit', site: 'demo', name: 'rx101', title: 'Jacketed reactor, 60 kg', path: '/api/v1/sites/demo/units/rx101', match: 'name' });
  t.equal((await viewer.get(found.items[0].path)).body.name, 'rx101', 'the path is where it is read');
  const at = (name: string): number => names(found).indexOf(name);
  t.ok(at('AlarmDefinition rx101-held') < at('IOModule io-rx101'), 'a name that begins so is before one that holds it');
  t.ok(at('IOModule io-rx101') < at('ControlModule li101'), 'a name is before a reference to it');
  t.equal(found.items[at('ControlModule li101')].match, 'parentName');
  t.same(names(await search('q=reactor%20temperature%20too&kinds=AlarmDefinition')), ['AlarmDefinition tic101-high-high'], 'its message is its title');
  const labelled = await search('q=temperature-control&kinds=ControlModule');
  t.same(names(labelled), ['ControlModule hx101', 'ControlModule tcv101', 'ControlModule tic101']);
  t.equal(labelled.items[0].match, 'labels.lineside.io/equipment-module');
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
  ]) {
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

const usedBy = (query: string, caller = viewer) => caller.get(`/api/v1/used-by?${query}`);

t.test('what names a resource is told with the member that does, and whether it holds it (Q-ERR-11)', async (t) => {
  const { status, body } = await usedBy('kind=ControlModule&site=demo&name=tic101');
  t.equal(status, 200);
  t.match(body, { kind: 'ControlModule', site: 'demo', name: 'tic101' });
  const alarm = body.items.find(({ name }: { readonly name: string }) => name === 'tic101-high-high');
  t.same(alarm, { kind: 'AlarmDefinition', site: 'demo', name: 'tic101-high-high', member: 'sourceName', required: true, holds: true });
  const refused = await engineer.delete('/api/v1/sites/demo/controlmodules/tic101');
  t.match(refused, { status: 409, body: { code: 'has_dependents' } });
  const holders = new Set(
    body.items.flatMap(({ kind, name, holds }: { readonly kind: string; readonly name: string; readonly holds: boolean }) => (holds ? [`${kind} ${name}`] : [])),
  );
  t.equal(refused.body.dependentCount, holders.size, 'what holds it is what its delete is refused for');

  t.equal((await engineer.post('/api/v1/sites/demo/areas', { name: 'lonely' })).status, 201);
  t.same((await usedBy('kind=Area&site=demo&name=lonely')).body, { kind: 'Area', site: 'demo', name: 'lonely', items: [] });
  t.equal((await engineer.delete('/api/v1/sites/demo/areas/lonely')).status, 204);
});

t.test('what is not there is 404, what does not read 400 with its parameter, another site 403', async (t) => {
  t.match(await usedBy('kind=Area&site=demo&name=lonely'), { status: 404, body: { code: 'not_found' } });
  for (const [query, field] of [
    ['site=demo&name=rx101', 'kind'],
    ['kind=Nonsense&name=rx101', 'kind'],
    ['kind=Unit&site=demo', 'name'],
    ['kind=Unit&name=rx101', 'site'],
    ['kind=Enterprise&site=demo&name=acme-resins', 'site'],
  ]) {
    t.match(await usedBy(query), { status: 400, body: { code: 'invalid_query', field } }, query);
  }
  const confined = await plant.as('viewer', 'site-south');
  t.match(await usedBy('kind=Unit&site=demo&name=rx101', confined), { status: 403, body: { code: 'site_scope' } });
  t.match(await usedBy('kind=Site&name=demo', confined), { status: 403, body: { code: 'site_scope' } });
  t.same((await usedBy('kind=Enterprise&name=acme-resins', confined)).body.items, [], 'sites that he does not see use it');
});
