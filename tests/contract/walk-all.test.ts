/**
 * Every row of the running appliance: what holds for all rows, and that everything that changes something leaves a record
 * (release test of D-AUDIT-02). A row that cannot be tried stands in a list here with its reason; the lists only get shorter.
 */
import t from 'tap';
import { routesText } from '../../src/cli/reference.js';
import type { RouteColumns } from '../../src/platform/http/route.js';
import { printRoutes } from '../../src/platform/http/route-table.js';
import { walkFreshToken, walkRoutes } from '../support/walk.js';
import { ApplianceTest, AT, FOREIGN_SITE, SITE } from './appliance.js';
import { type Left, Story, tellStory } from './writes.js';

/** Rows whose accepted request cannot be sent here. */
const NOT_WRITTEN: Readonly<Record<string, string>> = {
  'POST /api/v1/system/stored-data/discard': 'needs a row that cannot be read: tests/faults/damaged-rows',
  'POST /api/v1/discovery/opcua/write': 'needs an OPC UA server: tests/contract/opcua-discovery',
  'POST /api/v1/system/restore/confirm': 'needs a box that was restored: tests/faults/restored-box',
  'POST /api/v1/audit/gaps/acknowledge': 'needs a gap that a start has found: tests/faults/rescue',
  'POST /api/v1/sites/{site}/iomodules/{name}/loop-check': 'needs a device whose outputs are live: tests/domains/loop-checks',
  'POST /api/v1/sites/{site}/iomodules/{name}/cable-acceptance': 'leaves a page that would not end before the module goes: tests/domains/loop-checks',
  'POST /api/v1/sites/{site}/iomodules/{name}/cable-acceptances/{id}/mark': 'needs a cable acceptance: tests/domains/loop-checks',
  'POST /api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}/confirm': 'needs a loop check: tests/domains/loop-checks',
  'POST /api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}/abort': 'needs a loop check: tests/domains/loop-checks',
  'POST /api/v1/auth/recoveries/acknowledge': 'needs an administrator who was made at the box: tests/domains/access/recovery',
};

/** Rows whose body rules cannot be tried, because nothing the path could name exists. */
const NOT_REACHED: Readonly<Record<string, string>> = {
  'POST /api/v1/sites/{site}/iomodules/{name}/cable-acceptances/{id}/mark': 'there is no cable acceptance',
  'POST /api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}/confirm': 'there is no loop check',
  'POST /api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}/abort': 'there is no loop check',
};

/** GET rows that do not answer 200 with a body here. */
const NOT_READ: Readonly<Record<string, string>> = {
  'GET /api/v1/auth/oidc/login': 'mode oidc only: tests/domains/access/oidc-login',
  'GET /api/v1/auth/oidc/callback': 'mode oidc only: tests/domains/access/oidc-login',
  'GET /api/v1/ws': 'opened with an upgrade; tests of the transport',
  'GET /api/v1/sites/{site}/events/sse': 'does not end; tests of the transport',
  'GET /api/v1/sites/{site}/iomodules/{name}/cable-acceptances/{id}': 'there is no cable acceptance here: tests/domains/loop-checks',
  'GET /api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}': 'there is no loop check here: tests/domains/loop-checks',
};

/** Queries without which a row refuses. */
const QUERY: Readonly<Record<string, string>> = {
  'POST /api/v1/mes/sites/{site}/work-orders': 'dispatch=immediate',
  'GET /api/v1/sites/{site}/recipes/master/{name}/revisions/diff': 'v1=1&v2=2',
  'GET /api/v1/search': 'q=1',
  'GET /api/v1/used-by': 'kind=ControlModuleTemplate&name=analog-tx',
};

const test = await ApplianceTest.start({ LINESIDE_GATEWAY__PUBLICNAME: 'localhost' }); // where passkeys need no TLS
t.teardown(() => test.stop());
const rows = test.appliance.rows;
const keyOf = ({ method, path }: RouteColumns): string => `${method} ${path}`;
const queryOf = (row: RouteColumns): string | undefined => QUERY[keyOf(row)];
const mutating = rows.filter((row) => row.method !== 'GET' && row.path.startsWith('/api/') && row.computes !== true);
await test.admin.post('/api/v1/sites', { name: FOREIGN_SITE });
const story = new Story(test);
let left: Left;

t.test('what the registry of the domains tells without serving it is what is served', async (t) => {
  t.equal(printRoutes(rows), routesText());
});

t.test('D-AUDIT-02 AUDIT-05: every row that changes something leaves an audit record', async (t) => {
  left = await tellStory(story).catch((fault: unknown) => {
    for (const { row, answer } of story.done) if (answer.status >= 300) t.fail(`${row}: ${answer.text}`);
    throw fault;
  });
  for (const { row, answer } of story.done) if (answer.status >= 300) t.fail(`${row}: ${answer.status} ${answer.text}`);
  const tried = new Set(story.done.map(({ row }) => row));
  const expected = mutating.map(keyOf).filter((row) => !(row in NOT_WRITTEN));
  t.same(
    expected.filter((row) => !tried.has(row)),
    [],
    'every such row has its request in writes.ts',
  );
  t.same(
    [...Object.keys(NOT_WRITTEN), ...tried].filter((row) => !mutating.some((other) => keyOf(other) === row)),
    [],
    'and nothing else stands there',
  );
  const found = await test.auditsOf(new Set(story.done.map(({ answer }) => String(answer.headers['x-correlation-id']))));
  for (const { row, answer } of story.done) {
    const results = (found.get(String(answer.headers['x-correlation-id'])) ?? []).map(({ result }) => result);
    t.ok(results.includes('Success') || results.includes('Accepted'), `${row}: [${results.join(', ')}]`);
  }
});

t.test('contract 2, Equipment mode: manifests that do not name the mode leave it as the operator set it', async (t) => {
  t.match(await test.admin.get(`${AT}/controlmodules/xv101`), { status: 200, body: { mode: 'Manual' } }, 'the demonstration was provisioned again after it');
});

/** What exists, by the path segment before its parameter; `{unit}` and `{cm}` by name. */
function paramsOf(row: RouteColumns): Readonly<Record<string, string>> {
  const names: Readonly<Record<string, string>> = {
    enterprises: 'acme-resins',
    areas: 'synthesis',
    processcells: 'resin-train',
    units: 'rx101',
    equipment: 'rx101',
    controllers: 'edge-1',
    iomodules: 'io-rx101',
    controlmodules: 'xv101',
    controlmoduletemplates: 'motor',
    simulationpresets: 'simple-vessel',
    fbblocktypes: 'heat-guard',
    blocktypes: 'TON',
    fbnetworks: 'rx101-energy',
    alarmdefinitions: 'rx101-held',
    alarms: 'walked',
    phasetemplates: 'charge',
    operationtemplates: 'premix',
    unitproceduretemplates: 'make-resin',
    proceduretemplates: 'clean-train',
    phases: left.phase,
    operations: left.operation,
    unitprocedures: left.unitProcedure,
    procedures: left.procedure,
    master: 'resin-a',
    'product-definitions': 'resin-a',
    control: left.batch,
    batches: left.batch,
    batch: left.batch,
    batchrecords: left.record,
    apikeys: 'walk-mes',
    panels: 'walk-panel',
    secrets: 'kept',
    trendsets: 'kept',
    '{namespace}': 'walk-approve',
    audit: left.auditName,
    snapshots: left.snapshot,
    'legal-holds': 'walk-hold',
  };
  const [, collection = ''] = /([\w-]+|\{namespace\})\/\{name\}/.exec(row.path) ?? [];
  return {
    namespace: `site-${SITE}`,
    name: row.path.endsWith('/diff') ? 'walk' : (names[collection] ?? 'x'),
    unit: 'rx101',
    cm: 'xv101',
    tag: 'reset',
    channel: 'lt101',
    address: 'xv101.reset', // the story leaves xv101 in Manual
    network: 'rx101-energy',
    formulaName: 'standard',
    revision: '1',
    id: row.path.includes('/recordings/')
      ? 'latest'
      : row.path.includes('/sessions/')
        ? left.session
        : row.path.includes('/signatures/')
          ? left.signature
          : row.path.includes('/reviews/')
            ? left.review
            : left.workOrder,
    username: row.path.includes('/lockouts/') ? 'locked' : 'first',
    batchID: 'WALK-C',
    lotID: 'MONO-0001',
    kind: 'Unit',
    component: 'io',
    correlationID: left.correlationID,
  };
}

t.test('Q-ERR-06 NONCE-15 NONCE-16 NONCE-17: every row keeps the order of refusal, and every write needs its nonce', async (t) => {
  const params = paramsOf;
  const options = { test, rows, site: SITE, foreignSite: FOREIGN_SITE, params, query: queryOf, freeBody: (row: RouteColumns) => row.path === '/api/v1/apply' };
  const { broken, tried, unreached } = await walkRoutes(options);
  for (const [rule, count] of tried) t.same(broken.get(rule) ?? [], [], `${rule} (${count} rows)`);
  t.equal(tried.size, 12, 'every rule was tried');
  t.same([...unreached].sort(), Object.keys(NOT_REACHED).sort(), 'the list of rows not reached is exact');
  for (const [row, why] of Object.entries(NOT_REACHED)) t.comment(`not reached: ${row}: ${why}`);
});

t.test('contract 1 to 3: every row that reads answers for what exists', async (t) => {
  for (const row of rows) {
    if (row.method !== 'GET' || keyOf(row) in NOT_READ || !row.path.startsWith('/api/')) continue;
    const given: Record<string, string> = { site: row.path.startsWith('/api/v1/sites/{name}') ? '' : SITE, ...paramsOf(row) };
    if (row.path.startsWith('/api/v1/sites/{name}')) given.name = SITE;
    const path = row.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_: string, name: string) => encodeURIComponent(given[name] ?? 'x'));
    const query = queryOf(row);
    const answer = await test.admin.get(query === undefined ? path : `${path}?${query}`);
    t.match(answer, { status: 200 }, `${keyOf(row)}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
});

/** Lists that take no pages, each with why. */
const NOT_PAGED: Readonly<Record<string, string>> = {
  'GET /api/v1/export': 'made while it is sent, of one moment',
  'GET /api/v1/snapshots/{name}': 'one export, as it was made',
};

/** A row whose answer is a bare array. */
function isList({ method, reply }: RouteColumns): boolean {
  const { 200: ok = reply } = (reply ?? {}) as { readonly 200?: unknown };
  return method === 'GET' && (ok as { readonly type?: string } | undefined)?.type === 'array';
}

t.test('D-C-05 MES-46 TAG-15: every list takes limit and cursor, and its pages are the whole', async (t) => {
  const whole = rows.filter((row) => isList(row) && !(row.query && 'limit' in row.query.entries)).map(keyOf);
  t.same(whole, Object.keys(NOT_PAGED), 'the list of those that take none is exact');
  const lists = rows.filter((row) => isList(row) && !(keyOf(row) in NOT_PAGED));
  t.ok(lists.length > 40, `${lists.length} lists`);
  for (const row of lists) {
    const given: Record<string, string> = { site: SITE, ...paramsOf(row) };
    const path = row.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_: string, name: string) => encodeURIComponent(given[name] ?? 'x'));
    const others = queryOf(row) === undefined ? '' : `${queryOf(row)}&`;
    const whole = (await test.admin.get(others === '' ? path : `${path}?${others}`)).body as readonly unknown[];
    const limit = Math.max(1, Math.ceil(whole.length / 3));
    const paged: unknown[] = [];
    let pages = 0;
    for (let next = `${path}?${others}limit=${limit}`; next !== ''; pages += 1) {
      const page = await test.admin.get(next);
      t.match(page, { status: 200 }, `${next}: ${page.text.slice(0, 200)}`);
      t.ok(page.body.length <= limit, `${next}: ${page.body.length}`);
      if (!NOT_COUNTED.includes(keyOf(row))) t.equal(page.headers['x-total-count'], String(whole.length), `${keyOf(row)}: the number of all`);
      paged.push(...page.body);
      next = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link ?? ''))?.[1] ?? '';
    }
    t.same(paged.map(identityOf), whole.map(identityOf), `${keyOf(row)} in ${pages} pages`);
    t.equal(pages, Math.max(1, Math.ceil(whole.length / limit)), keyOf(row));
    t.match(await test.admin.get(`${path}?${others}limit=0`), { status: 400, body: { code: 'invalid_query' } }, keyOf(row));
    t.match(await test.admin.get(`${path}?${others}cursor=x`), { status: 400, body: { code: 'invalid_query' } }, keyOf(row));
  }
});

/** Lists of the MES interface: newest first and at most 1,000 of them a page, so that how many there are in all is not told. */
const NOT_COUNTED = ['GET /api/v1/mes/sites/{site}/work-orders', 'GET /api/v1/mes/sites/{site}/production-performance'];

/** A row whose answer is an envelope of one page. */
function isLog({ method, reply }: RouteColumns): boolean {
  const { 200: ok = reply } = (reply ?? {}) as { readonly 200?: unknown };
  const { entries = {} } = (ok ?? {}) as { readonly entries?: object };
  return method === 'GET' && 'items' in entries && 'nextCursor' in entries;
}

t.test('Q-ERR-15: every log takes limit and cursor, and its pages are what one page of all is', async (t) => {
  const logs = rows.filter(isLog);
  t.ok(logs.length > 10, `${logs.length} logs`);
  for (const row of logs) {
    const given: Record<string, string> = { site: SITE, ...paramsOf(row) };
    const path = row.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_: string, name: string) => encodeURIComponent(given[name] ?? 'x'));
    const others = queryOf(row) === undefined ? '' : `${queryOf(row)}&`;
    const { items: whole } = (await test.admin.get(others === '' ? path : `${path}?${others}`)).body as { readonly items: readonly unknown[] };
    const limit = Math.max(1, Math.ceil(whole.length / 3));
    const paged: unknown[] = [];
    // what came since the look at the whole stands before it
    const start = (): number => (whole.length === 0 ? 0 : paged.findIndex((item) => isSame(item, whole[0])));
    for (let next: string | null = ''; next !== null && (start() < 0 || paged.length < start() + whole.length); ) {
      const page = await test.admin.get(`${path}?${others}limit=${limit}${next === '' ? '' : `&cursor=${encodeURIComponent(next)}`}`);
      if (!t.match(page, { status: 200 }, `${keyOf(row)}: ${page.text.slice(0, 200)}`)) break;
      t.ok(page.body.items.length <= limit, `${keyOf(row)}: ${page.body.items.length}`);
      paged.push(...page.body.items);
      next = page.body.nextCursor;
    }
    t.same(paged.slice(start(), start() + whole.length), whole, `${keyOf(row)}: ${whole.length}`);
    t.match(await test.admin.get(`${path}?${others}limit=0`), { status: 400, body: { code: 'invalid_query' } }, keyOf(row));
    t.match(await test.admin.get(`${path}?${others}cursor=x`), { status: 400, body: { code: 'invalid_query' } }, keyOf(row));
  }
});

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What an item is told from others by: its values move while the plant runs. */
function identityOf(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const members = ['name', 'id', 'address', 'username', 'revision', 'recipe', 'version', 'site', 'unit', 'channel', 'batchID', 'workOrderID', 'sequence', 'productID'];
  return members.map((member) => (item as Record<string, unknown>)[member]);
}

t.test('AUTH-24, AUTH-25, ERR-21: rows that need a fresh token refuse an old one before existence and body', async (t) => {
  t.same(await walkFreshToken({ test, rows, site: SITE, foreignSite: FOREIGN_SITE, params: paramsOf }), []);
});
