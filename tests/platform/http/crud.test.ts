import t from 'tap';
import * as v from 'valibot';
import { conflict, invalid } from '../../../src/platform/base/refusal.js';
import { crudRoutes } from '../../../src/platform/http/crud.js';
import { listReply } from '../../../src/platform/http/paged-list.js';
import { type Kind, ruled } from '../../../src/platform/store/kind.js';
import { type GatewayTest, startGatewayTest } from '../../support/gateway.js';
import { routeSet } from '../../../src/platform/http/route.js';

const Text = v.optional(v.string(), '');
const none = { initialStatus: () => ({}), group: 'physical', apply: { how: 'yes' } } as const;

const TankSpec = v.strictObject({ area: Text, description: Text, tags: v.optional(v.array(v.strictObject({ name: v.string(), unit: Text })), []), hidden: Text });
type TankSpec = v.InferOutput<typeof TankSpec>;
const Tank: Kind<TankSpec, object> = {
  ...none,
  kind: 'Tank',
  scope: 'site',
  action: 'tank',
  path: 'tanks',
  spec: TankSpec,
  body: 'flat',
  writtenElsewhere: ['hidden'],
  required: ['area'],
};
const tankRules = ruled(Tank, {
  refuses: { write: { 400: ['unknown_reference'] } },
  admit(spec) {
    if (spec.area === 'nowhere') throw invalid('unknown_reference', 'area', 'area nowhere does not exist');
    return spec;
  },
  dependents: ({ metadata }) => (metadata.name === 'used' ? Array.from({ length: 25 }, (_, i) => ({ kind: 'Pipe', name: `p${i}` })) : []),
});

const PlanSpec = v.strictObject({ description: Text, steps: v.optional(v.array(v.string()), []) });
const Plan: Kind<v.InferOutput<typeof PlanSpec>, object> = { ...none, kind: 'Plan', scope: 'cluster', action: 'plan', path: 'plans', spec: PlanSpec, body: 'spec' };

const CodeSpec = v.strictObject({ source: v.string(), blocks: v.optional(v.array(v.string()), []) });
const Code: Kind<v.InferOutput<typeof CodeSpec>, object> = {
  ...none,
  kind: 'Code',
  scope: 'site',
  action: 'code',
  path: 'codes',
  spec: CodeSpec,
  body: 'document',
  required: ['source'],
};

async function start(): Promise<GatewayTest> {
  return startGatewayTest({
    routes: ({ store }) => [
      routeSet(
        [
          ...crudRoutes(tankRules, {
            read: 'read',
            write: 'engineer',
            dto: ({ metadata, spec }) => ({ name: metadata.name, ...spec, generation: metadata.generation }),
            rows: { update: { errors: { 409: ['frozen'] } } },
            refuse({ verb, before, spec }) {
              if (verb === 'update' && before?.spec.description === 'frozen' && spec?.description !== 'thawed') throw conflict('frozen', 'the tank is frozen');
            },
            also: ({ verb, name }) => (verb === 'delete' ? { puts: [{ kind: Plan, site: '', name: `after-${name}`, spec: { description: 'left behind', steps: [] } }] } : {}),
          }),
          ...crudRoutes(ruled(Plan, {}), {
            read: 'read',
            write: 'engineer',
            dto: ({ metadata, spec }) => ({ name: metadata.name, labels: metadata.labels, spec }),
            item: ({ metadata }) => metadata.name,
            derives: true,
          }),
          ...crudRoutes(ruled(Code, {}), {
            read: 'read',
            write: 'engineer',
            put: 'replace',
            dto: ({ metadata, spec }) => ({ name: metadata.name, ...spec }),
            createdBody: ({ metadata }) => ({ name: metadata.name }),
          }),
        ],
        { store },
      ),
    ],
  });
}

t.test('HIER-01, Q-ERR-09, Q-ERR-10, Q-ERR-12, Q-ERR-13: create and read', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  const path = '/api/v1/sites/north/tanks';
  const made = await engineer.post(path, { name: 't-2', area: 'a', tags: [{ name: 'x' }] });
  t.match(made, { status: 201, headers: { location: `${path}/t-2`, etag: /^"\d+"$/ } });
  t.same(made.body, { name: 't-2', area: 'a', description: '', tags: [{ name: 'x', unit: '' }], hidden: '', generation: 1 });
  t.match(test.audits.at(-1), { action: 'Create', category: 'tank', target: { kind: 'Tank', name: 't-2', site: 'north' }, result: 'Success', after: { area: 'a' } });
  await engineer.post(path, { name: 't-1', area: 'a' });
  t.match((await engineer.get(path)).body, [{ name: 't-1' }, { name: 't-2' }], 'Q-ERR-15: a bare array sorted by name');
  t.match((await engineer.get('/api/v1/sites/south/tanks')).body, []);
  const refused = async (body: unknown) => (({ status, body: { code, field } }) => ({ status, code, field }))(await engineer.post(path, body));
  t.same(await refused({ name: 't-1', area: 'a' }), { status: 409, code: 'already_exists', field: undefined });
  t.same(await refused({ area: 'a' }), { status: 400, code: 'missing_field', field: 'name' });
  t.same(await refused({ name: 't-3' }), { status: 400, code: 'missing_field', field: 'area' });
  t.same(await refused({ name: 't-3', area: '' }), { status: 400, code: 'missing_field', field: 'area' });
  t.same(await refused({ name: 'T_3', area: 'a' }), { status: 400, code: 'invalid_name', field: 'name' });
  t.same(await refused({ name: 't-3', area: 'a', hidden: 'x' }), { status: 400, code: 'unknown_field', field: 'hidden' }, 'a member that is written elsewhere');
  t.same(await refused({ name: 't-3', area: 'a', generation: 1 }), { status: 400, code: 'unknown_field', field: 'generation' });
  t.same(await refused({ name: 't-1', area: 'nowhere' }), { status: 400, code: 'unknown_reference', field: 'area' }, 'references before uniqueness');
  t.match(await engineer.get(`${path}/none`), { status: 404, body: { code: 'not_found' } });
  t.equal((await (await test.as('viewer')).post(path, { name: 'x' })).status, 403);
});

t.test('Q-ERR-14, Q-ERR-16: update merges by top-level field under If-Match', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  const path = '/api/v1/sites/north/tanks/t-1';
  await engineer.post('/api/v1/sites/north/tanks', { name: 't-1', area: 'a', description: 'd', tags: [{ name: 'x', unit: 'C' }] });
  t.match(await engineer.put(path, { description: 'e' }), { status: 200, body: { area: 'a', description: 'e', tags: [{ name: 'x', unit: 'C' }], generation: 2 } }, 'omitted keeps');
  t.match((await engineer.put(path, { tags: [{ name: 'y' }] })).body.tags, [{ name: 'y', unit: '' }], 'an array replaces whole');
  t.match((await engineer.put(path, { tags: null, description: '' })).body, { tags: [], description: '' }, 'null and empty clear');
  t.match(await engineer.put(path, { area: null }), { status: 400, body: { code: 'missing_field', field: 'area' } });
  t.equal((await engineer.put(path, { name: 't-1', description: 'f' })).status, 200);
  t.match(await engineer.put(path, { name: 't-9' }), { status: 400, body: { code: 'invalid_field', field: 'name' } });
  const { etag } = (await engineer.get(path)).headers;
  t.equal((await engineer.put(path, { description: 'frozen' }, { headers: { 'If-Match': String(etag) } })).status, 200);
  t.match(
    await engineer.put(path, { description: 'g' }, { headers: { 'If-Match': String(etag) } }),
    { status: 412, body: { code: 'precondition_failed', currentETag: /^"\d+"$/ } },
    '412 before the conflict',
  );
  const now = String((await engineer.get(path)).headers.etag);
  t.match(await engineer.put(path, { description: 'g' }, { headers: { 'If-Match': `W/${now}` } }), { status: 412, body: { currentETag: now } }, 'a weak tag matches nothing');
  t.match(await engineer.put(path, { description: 'g' }), { status: 409, body: { code: 'frozen' } });
  t.match(test.audits.at(-1), { action: 'Update', result: 'Rejected', reason: 'Frozen', target: { kind: 'Tank', name: 't-1' } });
  t.equal((await engineer.put(path, { description: 'thawed' }, { headers: { 'If-Match': '*' } })).status, 200);
  t.match(test.audits.at(-1), { before: { description: 'frozen' }, after: { description: 'thawed' } });
});

t.test('Q-ERR-11: delete refuses dependents, obeys If-Match, and cascades in its own transaction', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  for (const name of ['used', 'free']) await engineer.post('/api/v1/sites/north/tanks', { name, area: 'a' });
  const refused = await engineer.delete('/api/v1/sites/north/tanks/used');
  t.match(refused, { status: 409, body: { code: 'has_dependents', dependentCount: 25 } });
  t.equal(refused.body.dependents.length, 20);
  t.equal((await engineer.delete('/api/v1/sites/north/tanks/free', { headers: { 'If-Match': '"0"' } })).status, 412);
  const gone = await engineer.delete('/api/v1/sites/north/tanks/free');
  t.same([gone.status, gone.text], [204, '']);
  t.equal((await engineer.get('/api/v1/sites/north/tanks/free')).status, 404);
  t.equal((await engineer.get('/api/v1/plans/after-free')).status, 200);
  t.match(test.audits.filter(({ action }) => action === 'Delete').at(-1), { result: 'Success', before: { area: 'a' } });
});

t.test('D-RECIPE-01: the body forms {name, labels, spec}, flat, and {metadata, spec}', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  t.match(await engineer.post('/api/v1/plans', { name: 'p1', labels: { a: 'b' }, spec: { steps: ['x'] } }), {
    status: 201,
    body: { name: 'p1', labels: { a: 'b' }, spec: { steps: ['x'], description: '' } },
  });
  t.match(await engineer.post('/api/v1/plans', { name: 'p2', steps: ['y'] }), { status: 201, body: { spec: { steps: ['y'] } } });
  t.match(await engineer.put('/api/v1/plans/p1', { spec: { description: 'd' } }), { status: 200, body: { labels: { a: 'b' }, spec: { steps: ['x'], description: 'd' } } });
  t.match(await engineer.put('/api/v1/plans/p1', { steps: [] }), { status: 200, body: { spec: { steps: [], description: 'd' } } });
  t.match((await engineer.post('/api/v1/plans', { name: 'p3', spec: { step: 1 } })).body, { code: 'unknown_field', field: 'spec.step' });
  t.match((await engineer.post('/api/v1/plans', { name: 'p3', spec: {}, steps: [] })).body, { code: 'unknown_field', field: 'steps' });
  t.same((await engineer.get('/api/v1/plans')).body, ['p1', 'p2']);
  const { etag } = (await engineer.get('/api/v1/plans/p1')).headers;
  t.match(etag, /^"\d+-[0-9a-f]{12}"$/, 'a body that shows other resources too is covered whole');
  t.equal((await engineer.put('/api/v1/plans/p1', { steps: ['z'] }, { headers: { 'If-Match': String(etag) } })).status, 200);

  t.match(await engineer.post('/api/v1/sites/north/codes', { metadata: { name: 'c1', labels: { l: '1' } }, spec: { source: 's', blocks: ['b'] } }), {
    status: 201,
    body: { name: 'c1' },
    headers: { location: '/api/v1/sites/north/codes/c1' },
  });
  t.match(
    await engineer.put('/api/v1/sites/north/codes/c1', { metadata: { name: 'c1' }, spec: { source: 't' } }),
    { status: 200, body: { source: 't', blocks: [] } },
    'replaces the whole spec',
  );
  t.match((await engineer.put('/api/v1/sites/north/codes/c1', { spec: {} })).body, { code: 'missing_field', field: 'spec.source' });
  t.match((await engineer.post('/api/v1/sites/north/codes', { metadata: {}, spec: { source: 's' } })).body, { code: 'missing_field', field: 'metadata.name' });
  t.match((await engineer.post('/api/v1/sites/north/codes', { name: 'c2', source: 's' })).body, { code: 'unknown_field' });
});

t.test('Q-ERR-15, Q-MES-16: a list is whole and bare without limit and cursor, and a page of it with them', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  const path = '/api/v1/sites/north/tanks';
  const names = Array.from({ length: 7 }, (_, at) => `t-${at}`);
  for (const name of names) await engineer.post(path, { name, area: 'a' });
  const namesOf = ({ body }: { readonly body: unknown }): string[] => (body as { name: string }[]).map(({ name }) => name);
  const whole = await engineer.get(path);
  t.same(namesOf(whole), names);
  t.notOk(whole.headers.link);
  const first = await engineer.get(`${path}?limit=3`);
  t.same(namesOf(first), ['t-0', 't-1', 't-2']);
  t.equal(first.headers['x-total-count'], '7');
  const next = (answer: typeof first): string => /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link))?.[1] ?? '';
  t.equal((await engineer.delete(`${path}/t-2`)).status, 204);
  t.equal((await engineer.delete(`${path}/t-4`)).status, 204);
  await engineer.post(path, { name: 't-1b', area: 'a' });
  const second = await engineer.get(next(first));
  t.same(namesOf(second), ['t-3', 't-5', 't-6'], 'what came and went meanwhile neither repeats nor hides the others');
  t.notOk(second.headers.link, 'the last page has no way on');
  t.same(namesOf(await engineer.get(`${path}?cursor=${new URL(next(first), 'http://x').searchParams.get('cursor')}`)), ['t-3', 't-5', 't-6'], 'a cursor alone');
  const own = JSON.parse(Buffer.from(new URL(next(first), 'http://x').searchParams.get('cursor') ?? '', 'base64url').toString()) as readonly string[];
  const madeUp = (...key: readonly unknown[]): string => `cursor=${Buffer.from(JSON.stringify([own[0], ...key])).toString('base64url')}`;
  t.same(namesOf(await engineer.get(`${path}?${madeUp('t-4z')}`)), ['t-5', 't-6'], 'one that is made up reads on from there');
  const stranger = Buffer.from(JSON.stringify(['plans', 't-2'])).toString('base64url');
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['cursor=zzz', 'cursor'],
    [`cursor=${stranger}`, 'cursor'],
    ...[[], [5], ['t-2', 't-2'], ['t-2', 5], [null], [['t-2']], [{}]].map((key) => [madeUp(...key), 'cursor'] as const),
  ] as const)
    t.match(await engineer.get(`${path}?${query}`), { status: 400, body: { code: 'invalid_query', field } }, query);
});

t.test('a long list holds the event loop no longer than a slice', async (t) => {
  const items = Array.from({ length: 400 }, (_, at) => ({ name: `i-${String(at).padStart(4, '0')}` }));
  const busy = (): void => {
    const until = performance.now() + 0.5;
    while (performance.now() < until);
  };
  let turns = 0;
  let over = false;
  const turn = (): void => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const reply = await listReply(
    { path: '/x', query: { get: () => undefined, all: () => [] } },
    { list: 'x', items, keyOf: ({ name }) => [name], render: (item) => (busy(), item) },
  );
  over = true;
  t.same(JSON.parse(String(reply.body)), items);
  t.ok(turns >= 20, `200 ms of work let the others have ${turns} turns`);
});
