import t from 'tap';
import { invalid } from '../../../src/platform/base/refusal.js';
import { readFlag } from '../../../src/platform/http/log-query.js';
import { flag, parameters, required, text, words } from '../../../src/platform/http/parameters.js';
import { ok, routeSet, routesFor } from '../../../src/platform/http/route.js';
import { startGatewayTest } from '../../support/gateway.js';
import * as v from 'valibot';

const route = routesFor<object>();
const site = { action: 'thing:list', tier: 'read' } as const;
const rows = [
  route({
    method: 'GET',
    path: '/api/v1/things',
    ...site,
    query: parameters({ colour: text(), active: flag(), kinds: words(['A', 'B']) }),
    handle: ({ query }) => ({ colour: query.get('colour') ?? '', active: readFlag(query, 'active') ?? null }),
  }),
  route({ method: 'GET', path: '/api/v1/plain', ...site, query: parameters({}), handle: () => 'plain' }),
  route({
    method: 'POST',
    path: '/api/v1/things',
    action: 'thing:create',
    tier: 'engineer',
    query: parameters({ how: required(text()) }),
    body: v.strictObject({ name: v.string() }),
    queryRule: (query) => {
      if (query.get('how') !== 'now') throw invalid('invalid_query', 'how', 'how must be now');
    },
    handle: ({ body }) => body,
  }),
  route({
    method: 'GET',
    path: '/api/v1/mes/sites/{site}/things',
    ...site,
    query: parameters({ state: text() }),
    formats: ['xml'],
    handle: ({ format, query }) => ok({ format, state: query.get('state') ?? '' }),
  }),
  route({ method: 'POST', path: '/api/v1/mes/sites/{site}/things', ...site, action: 'thing:create', query: parameters({}), handle: () => 'made' }),
  route({ method: 'GET', path: '/page', action: '-', tier: 'none', query: parameters({}), handle: () => 'page' }),
];

t.test('D-C-04: an unknown query parameter is refused, the known ones are named', async (t) => {
  const test = await startGatewayTest({ routes: [routeSet(rows, {})] });
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  t.same((await engineer.get('/api/v1/things?colour=red&active=true')).body, { colour: 'red', active: true });
  t.match(
    await engineer.get('/api/v1/things?colour=red&colour=blue'),
    { status: 400, body: { code: 'invalid_query', field: 'colour', error: /given more than once/ } },
    'of two values one would be left out',
  );
  t.match(await engineer.get('/api/v1/things?kinds=A&kinds=B'), { status: 200 }, 'a list may be sent one by one');
  t.match(await engineer.get('/api/v1/things?color=red'), {
    status: 400,
    body: {
      code: 'unknown_parameter',
      field: 'color',
      error: 'unknown query parameter color; the nearest known one is colour',
      allowed: ['colour', 'active', 'kinds'],
      nearest: 'colour',
    },
  });
  t.match(await engineer.get('/api/v1/things?colour=red&xyz='), { status: 400, body: { code: 'unknown_parameter', field: 'xyz', error: /known here: colour, active, kinds/ } });
  t.match(await engineer.get('/api/v1/plain?a=1'), { status: 400, body: { code: 'unknown_parameter', error: 'unknown query parameter a; this route takes none' } });
  t.match(await engineer.get('/api/v1/plain?format=xml'), { status: 400, body: { code: 'unknown_parameter', field: 'format' } });
  t.equal((await engineer.get('/api/v1/plain?')).status, 200);
  t.equal((await engineer.get('/page?from=a-bookmark')).status, 200, 'pages are asked for with what a browser adds');
  t.equal((await test.request('GET', '/healthz?probe=1')).status, 200);
});

t.test('Q-ERR-06: size and media type come before the query, the syntax of the body after it', async (t) => {
  const test = await startGatewayTest({ routes: [routeSet(rows, {})], settings: { bodyBytesMax: 100 } });
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  const post = async (query: string, more: object) => (({ status, body }) => [status, body.code])(await engineer.post(`/api/v1/things${query}`, undefined, more));
  t.same(await post('?hwo=now', { raw: 'x'.repeat(101) }), [413, 'payload_too_large']);
  t.same(await post('?hwo=now', { raw: '{', headers: { 'Content-Type': 'text/plain' } }), [415, 'unsupported_media_type']);
  t.same(await post('?hwo=now', { raw: '{' }), [400, 'unknown_parameter']);
  t.same(await post('?how=later', { raw: '{' }), [400, 'invalid_query']);
  t.same(await post('?how=now', { raw: '{' }), [400, 'invalid_json']);
  t.same(await post('?how=now', { raw: '{"name":"a"}' }), [200, undefined]);
  const viewer = await test.as('viewer');
  t.match(await viewer.post('/api/v1/things?hwo=now', {}), { status: 403, body: { code: 'action_missing' } }, 'who may not is not told what the route takes');
});

t.test('D-C-04: a reading MES client is told in a header what was ignored', async (t) => {
  const test = await startGatewayTest({ routes: [routeSet(rows, {})] });
  t.teardown(() => test.stop());
  const engineer = await test.as('engineer');
  const path = '/api/v1/mes/sites/north/things';
  t.match(await engineer.get(`${path}?state=a&colour=red&format=json`), {
    status: 200,
    body: { state: 'a' },
    headers: { 'x-lineside-warning': 'ignored unknown query parameters: colour; known here: state, format', vary: 'Accept' },
  });
  t.equal((await engineer.get(`${path}?state=a`)).headers['x-lineside-warning'], undefined);
  t.match(await engineer.get(`${path}?state=a&state=b`), { status: 200, body: { state: 'a' }, headers: { 'x-lineside-warning': 'given more than once, the first counts: state' } });
  t.match(await engineer.get(`${path}?format=pdf&colour=red`), { status: 400, headers: { 'x-lineside-warning': /colour/ } }, 'a refusal tells it too');
  const { headers } = await engineer.get(`${path}?a%0d%0aX-Made:%20up=1&${'n'.repeat(2000)}=1`);
  t.match(headers['x-lineside-warning'], /^ignored unknown query parameters: a%0D%0AX-Made%3A%20up, n{400,512}; known/, 'a name ends no header line');
  t.equal(headers['x-made'], undefined);
  t.match(await engineer.post(`${path}?colour=red`), { status: 400, body: { code: 'unknown_parameter' } }, 'a write is refused');
});
