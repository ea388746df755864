/** The audit routes behind the real gateway, over the trail that the gateway itself wrote. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { NO_ANCHORS } from '../../support/no-anchors.js';
import { ArchiveIntegrity } from '../../../src/domains/audit/archive-integrity.js';
import { AUDIT_ROUTES } from '../../../src/domains/audit/routes.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { component } from '../../../src/platform/store/audit-record.js';
import { startGatewayTest } from '../../support/gateway.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { absent } from '../../support/absent.js';
import type { AuditGaps } from '../../../src/domains/audit/gaps.js';
import type { Gap } from '../../../src/platform/ledger/gaps.js';

/** As three starts have noted them, and a list that could not be read, which has no time. */
const GAPS = (
  [
    ['2026-01-01T00:00:00.000Z', 'c1'],
    ['2026-01-01T00:00:00.000Z', 'a1'],
    ['2026-01-02T00:00:00.000Z', 'b2'],
    ['2026-01-03T00:00:00.000Z', 'd3'],
    ['2026-01-03T00:00:00.000Z', 'a3'],
    ['2026-01-03T00:00:00.000Z', 'b3'],
    ['', 'z0'],
  ] as const
).map(([foundAt, id]): Gap => ({ kind: 'loss', text: id, first: 0, last: 0, covers: [], id, foundAt, acknowledged: null }));

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-audit-routes-'));
const queries = openQueries(dataDir);
const keys = openDeviceKeys(dataDir);
const gateway = await startGatewayTest({
  dataDir,
  routes: ({ store, clock }) => [
    routeSet(AUDIT_ROUTES, {
      store,
      queries,
      integrity: new ArchiveIntegrity({ store, queries, clock }),
      gaps: { all: GAPS, acknowledge: absent<AuditGaps['acknowledge']>('gaps') },
      anchors: NO_ANCHORS,
      keys,
      clock,
    }),
  ],
});
t.teardown(async () => {
  await queries.close();
  await gateway.stop();
});

for (let index = 1; index <= 25; index += 1) {
  const site = index % 5 === 0 ? 'south' : 'north';
  await gateway.store.write({
    audits: [
      {
        site,
        actor: component('test'),
        action: index % 2 ? 'Update' : 'Command',
        category: 'routes-test',
        target: { kind: 'Unit', name: `u${index}`, site },
        result: 'Success',
        correlationID: `corr-${Math.ceil(index / 2)}`,
      },
    ],
  });
}
const reader = await gateway.as('viewer');
const supervisor = await gateway.as('supervisor');

interface Item {
  readonly name: string;
  readonly sequence: number;
  readonly site: string;
  readonly target: { readonly name: string };
}
const names = (items: readonly Item[]): string[] => items.map((item) => item.target.name);

t.test('AUDIT-01: the audit trail of a site, newest first, with filters and pages', async (t) => {
  const all = await reader.get('/api/v1/sites/north/audit?category=routes-test');
  t.equal(all.status, 200);
  t.match(all.headers['content-type'], /^application\/json/);
  t.equal(all.body.items.length, 20);
  t.ok(all.body.items.every((item: Item) => item.site === 'north'));
  const seen: string[] = [];
  let cursor: string | null = '';
  do {
    const page = await reader.get(`/api/v1/sites/north/audit?category=routes-test&limit=6${cursor ? `&cursor=${cursor}` : ''}`);
    seen.push(...names(page.body.items));
    cursor = page.body.nextCursor;
  } while (cursor);
  t.same(seen, names(all.body.items));
  t.same(names((await reader.get('/api/v1/sites/south/audit?category=routes-test&action=Command&order=asc')).body.items), ['u10', 'u20']);
  t.same(names((await reader.get('/api/v1/sites/north/audit?kind=Unit&name=u7')).body.items), ['u7']);
});

t.test('AUDIT-01, AUDIT-02: an action or a result that no record can have is refused with those there are, not answered with an empty list', async (t) => {
  for (const list of ['/api/v1/audit', '/api/v1/sites/north/audit'])
    for (const [name, allowed] of [
      ['action', 'PromptAcknowledge'],
      ['result', 'Rejected'],
    ]) {
      const { status, body } = await reader.get(`${list}?${name}=Nope`);
      t.match({ status, ...body }, { status: 400, code: 'invalid_query', field: name });
      t.ok(body.allowed.includes(allowed), body.error);
      t.equal((await reader.get(`${list}?${name}=${allowed}`)).status, 200);
      t.equal((await reader.get(`${list}?${name}=`)).status, 200, 'an empty one is none');
    }
});

t.test('AUDIT-01: text search finds what a person wrote or a value says, in any member, and nothing but that', async (t) => {
  const record = (name: string, more: object): unknown =>
    gateway.store.write({
      audits: [
        {
          site: 'north',
          actor: component('test'),
          action: 'Update',
          category: 'text-test',
          target: { kind: 'Unit', name, site: 'north' },
          result: 'Success',
          correlationID: 'c',
          ...more,
        },
      ],
    });
  await record('t1', { operatorReason: 'Jacket at 100% — the "cold" one leaks' });
  await record('t2', { before: { limits: [{ text: 'Übertemperatur' }] }, after: { text: 'a_b' } });
  await record('t3', { details: { text: 'axb', path: 'C:\\tank' } });
  const found = async (q: string, rest = ''): Promise<string[]> =>
    names((await reader.get(`/api/v1/sites/north/audit?category=text-test&q=${encodeURIComponent(q)}${rest}`)).body.items);
  t.same(await found('JACKET'), ['t1']);
  t.same(await found('"cold" one'), ['t1']);
  t.same(await found('100%'), ['t1'], 'a percent sign is one');
  t.same(await found('a_b'), ['t2'], 'an underline is one');
  t.same(await found('C:\\tank'), ['t3'], 'a backslash is one');
  t.same(await found('bertemperatur'), ['t2']);
  t.same(await found('t3'), ['t3'], 'the name of the target');
  t.same(await found('operatorReason'), [], 'names of members are not looked at');
  t.same(await found('previousHash'), []);
  const [first] = (await reader.get('/api/v1/sites/north/audit?category=text-test')).body.items;
  t.same(await found(first.previousHash.slice(0, 12)), [], 'nor is the chain');
  t.same(await found('a', '&order=asc&limit=1'), ['t1']);
  t.same(names((await reader.get('/api/v1/audit?q=leaks&site=south')).body.items), []);
  t.match((await reader.get(`/api/v1/audit?q=${'x'.repeat(201)}`)).body, { status: 400, code: 'invalid_query', field: 'q' });
});

t.test('Q-ERR-15: limit, order, times and cursor that do not read are 400 invalid_query', async (t) => {
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['order=up', 'order'],
    ['from=yesterday', 'from'],
    ['to=2026-13-01T00:00:00Z', 'to'],
    ['cursor=abc', 'cursor'],
  ] as const) {
    const answer = await reader.get(`/api/v1/sites/north/audit?${query}`);
    t.equal(answer.status, 400, query);
    t.match(answer.body, { code: 'invalid_query', field, status: 400 }, query);
  }
  const offset = encodeURIComponent('2020-01-01T01:00:00+01:00');
  t.equal((await reader.get(`/api/v1/sites/north/audit?from=${offset}`)).status, 200);
});

t.test('AUDIT-02: one record by its name, and the records of a correlation oldest first', async (t) => {
  const [item] = (await reader.get('/api/v1/sites/north/audit?kind=Unit&name=u7')).body.items;
  t.same((await reader.get(`/api/v1/sites/north/audit/${item.name}`)).body, item);
  t.equal((await reader.get(`/api/v1/sites/south/audit/${item.name}`)).status, 404);
  t.match((await reader.get('/api/v1/sites/north/audit/audit-999999999999')).body, { status: 404, code: 'not_found' });
  t.equal((await reader.get('/api/v1/sites/north/audit/u7')).status, 404);
  t.same(names((await reader.get('/api/v1/sites/north/audit/correlation/corr-4')).body), ['u7', 'u8']);
  t.same((await reader.get('/api/v1/sites/north/audit/correlation/none')).body, []);
});

t.test('AUDIT-02: the plant-wide trail, with the filter site', async (t) => {
  t.equal((await reader.get('/api/v1/audit?category=routes-test&limit=1000')).body.items.length, 25);
  t.same(names((await reader.get('/api/v1/audit?category=routes-test&site=south&limit=2')).body.items), ['u25', 'u20']);
});

t.test('AUDIT-03: verify needs supervise and finds the trail of this gateway intact', async (t) => {
  t.equal((await reader.get('/api/v1/audit/verify')).status, 403);
  const answer = await supervisor.get('/api/v1/audit/verify');
  t.match(answer.body, { ok: true, firstSequence: 1, problems: [], headHash: /^[0-9a-f]{64}$/ });
  t.equal(answer.body.checked, answer.body.lastSequence);
  t.ok(answer.body.checked >= 25);
  t.equal((await supervisor.get('/api/v1/audit/verify?from=x')).status, 400);
});

t.test('D-C-09, Q-ERR-15: the gaps that several starts found are read page by page, oldest first, and whole without a limit', async (t) => {
  const gaps = '/api/v1/audit/gaps';
  t.same((await supervisor.get(gaps)).body, { items: GAPS }, 'as they were noted');
  for (const limit of [1, 2, 3, 7]) {
    const seen: string[] = [];
    let pages = 0;
    for (let next: string | null = ''; next !== null; pages += 1) {
      const page = await supervisor.get(`${gaps}?limit=${limit}${next === '' ? '' : `&cursor=${next}`}`);
      if (!t.match(page, { status: 200 }, page.text)) return;
      seen.push(...page.body.items.map(({ id }: Gap) => id));
      next = page.body.nextCursor;
    }
    t.same(seen, ['z0', 'a1', 'c1', 'b2', 'a3', 'b3', 'd3'], `in pages of ${limit}`);
    t.equal(pages, Math.ceil(GAPS.length / limit));
  }
});
