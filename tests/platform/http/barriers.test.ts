import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import t from 'tap';
import * as v from 'valibot';
import { conflict, missing, Refusal } from '../../../src/platform/base/refusal.js';
import { Nonces } from '../../../src/platform/http/nonces.js';
import { expandIPv6, sourceKey } from '../../../src/platform/base/ip-address.js';
import { RateLimiter } from '../../../src/platform/http/rate-limit.js';
import { created, ok, routesFor, withRevision, type RouteSet, routeSet } from '../../../src/platform/http/route.js';
import { TrustedProxies } from '../../../src/platform/http/source-ip.js';
import { type GatewayTest, startGatewayTest, PASSWORD } from '../../support/gateway.js';
import { TestClock } from '../../support/test-clock.js';

interface Deps {
  acted: number;
}

const route = routesFor<Deps>();
const Item = v.strictObject({
  name: v.string(),
  size: v.optional(v.pipe(v.number(), v.integer())),
  kind: v.optional(v.picklist(['A', 'B'])),
  parts: v.optional(v.array(v.strictObject({ id: v.string() }))),
});

function rows(): { set: RouteSet; deps: Deps } {
  const deps: Deps = { acted: 0 };
  return {
    deps,
    set: routeSet(
      [
        route({ method: 'GET', path: '/api/v1/sites/{site}/things', action: 'thing:list', tier: 'read', handle: ({ params }) => [params.site] }),
        route({
          method: 'POST',
          path: '/api/v1/sites/{site}/things',
          action: 'thing:create',
          tier: 'engineer',
          body: Item,
          handle: ({ params, body }, deps) => {
            deps.acted += 1;
            return created(body, `/api/v1/sites/${params.site}/things/${body.name}`);
          },
        }),
        route({
          method: 'GET',
          path: '/api/v1/sites/{site}/things/{name}',
          action: 'thing:read',
          tier: 'read',
          exists: ({ name }) => {
            if (name === 'gone') throw missing('Thing', name);
          },
          handle: ({ params }) => withRevision({ name: params.name }, 7),
        }),
        route({ method: 'GET', path: '/api/v1/sites/{site}/tags/{address...}', action: 'tag:read', tier: 'read', handle: ({ params }) => ({ address: params.address }) }),
        route({ method: 'GET', path: '/api/v1/sites/{site}/things/special', action: 'thing:list', tier: 'read', handle: () => 'literal' }),
        route({
          method: 'POST',
          path: '/api/v1/sites/{site}/things/{name}/sign',
          action: 'thing:sign',
          tier: 'supervise',
          errors: { 403: ['automatic_mode'], 409: ['thing_busy'] },
          freshToken: true,
          reason: 'policy',
          body: v.strictObject({ reason: v.string() }),
          exists: ({ name }) => {
            if (name === 'gone') throw missing('Thing', name);
          },
          barrier: ({ name }) => {
            if (name === 'auto') throw new Refusal('forbidden', 'the module is in Automatic', { code: 'automatic_mode' });
          },
          handle: ({ params, body }) => {
            if (params.name === 'busy') throw conflict('thing_busy', 'the thing is busy');
            return ok({ reason: body.reason });
          },
        }),
        route({ method: 'POST', path: '/api/v1/compute', action: 'thing:compute', tier: 'read', computes: true, handle: () => ({ done: true }) }),
        route({ method: 'POST', path: '/api/v1/mes/sites/{site}/deliver', action: 'mes:deliver', tier: 'operate', apiKey: 'only', handle: () => ({ ok: true }) }),
        route({ method: 'GET', path: '/api/v1/mes/sites/{site}/orders', action: 'mes:read', tier: 'read', formats: ['b2mml', 'xml'], handle: ({ format }) => ({ format }) }),
        route({ method: 'GET', path: '/api/v1/broken', action: 'thing:list', tier: 'read', handle: () => Promise.reject(new Error('secret detail')) }),
        route({
          method: 'POST',
          path: '/api/v1/upload',
          action: 'thing:create',
          tier: 'engineer',
          bodyMedia: ['application/aml'],
          bodyBytesMax: 4096,
          handle: ({ body }) => ({ bytes: (body as unknown as Uint8Array).length }),
        }),
      ],
      deps,
    ),
  };
}

async function start(t: Tap.Test, options: Parameters<typeof startGatewayTest>[0] = {}): Promise<{ test: GatewayTest; deps: Deps }> {
  const { set, deps } = rows();
  const test = await startGatewayTest({ routes: [set], ...options });
  t.teardown(() => test.stop());
  return { test, deps };
}

declare namespace Tap {
  type Test = { teardown(call: () => unknown): void };
}

t.test('NONCE-01, NONCE-05, NONCE-08, ERR-02, D-NONCE-02: a write without nonce is refused with exactly error and status', async (t) => {
  const { test, deps } = await start(t);
  const engineer = await test.as('engineer');
  for (const headers of [{}, { 'X-DCS-Nonce': '' }, { 'X-DCS-Nonce': '   ' }] as Record<string, string>[]) {
    const answer = await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce: null, headers });
    t.same([answer.status, answer.body], [400, { error: 'missing required X-DCS-Nonce header', status: 400 }]);
  }
  for (const nonce of ['short', 'x'.repeat(129), 'with space in it', ['aaaaaaaa', 'bbbbbbbb']]) {
    const answer = await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce: null, headers: { 'X-DCS-Nonce': nonce } });
    t.same([answer.status, answer.body], [400, { error: 'invalid X-DCS-Nonce header', status: 400 }], String(nonce));
  }
  for (const method of ['POST', 'PUT', 'DELETE'] as const) {
    const path = method === 'POST' ? '/api/v1/auth/users' : '/api/v1/auth/users/nobody';
    t.match((await (await test.as('admin')).get('/api/v1/auth/users')).status, 200);
    t.match(
      await test.request(method, path, { token: (await test.as('admin')).token, nonce: null }),
      { status: 400, body: { error: 'missing required X-DCS-Nonce header' } },
      method,
    );
  }
  t.equal(deps.acted, 0);
  t.equal((await engineer.get('/api/v1/sites/north/things')).status, 200, 'NONCE-03: GET is exempt');
  t.equal((await test.request('HEAD', '/api/v1/sites/north/things', { token: engineer.token })).status, 200);
  t.equal((await test.request('OPTIONS', '/api/v1/sites/north/things')).status, 204);
});

t.test('NONCE-06, NONCE-09, Q-NONCE-02, Q-NONCE-03: a nonce is spent at admission, by any caller on any route, and by refused requests', async (t) => {
  const { test, deps } = await start(t);
  const engineer = await test.as('engineer');
  const admin = await test.as('admin');
  const nonce = randomUUID();
  t.equal((await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce })).status, 201);
  const again = await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce });
  t.same([again.status, again.body], [409, { error: 'duplicate request nonce', status: 409 }]);
  t.equal((await admin.delete('/api/v1/auth/users/nobody', { nonce })).status, 409);
  t.equal(deps.acted, 1);

  const viewer = await test.as('viewer', 'site-north');
  const spends: [string, () => Promise<{ status: number }>, number][] = [];
  const attempt = async (what: string, first: (nonce: string) => Promise<{ status: number }>, refused: number, then: number) => {
    const nonce = randomUUID();
    t.equal((await first(nonce)).status, refused, `${what}: refused`);
    t.equal((await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce })).status, then, `${what}: the nonce afterwards`);
  };
  await attempt('permission', (nonce) => viewer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce }), 403, 409);
  await attempt('missing resource', (nonce) => admin.post('/api/v1/sites/north/things/gone/sign', { reason: 'long enough reason' }, { nonce }), 404, 409);
  await attempt('media type', (nonce) => engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce, headers: { 'Content-Type': 'text/plain' } }), 415, 409);
  await attempt('body', (nonce) => engineer.post('/api/v1/sites/north/things', { nope: 1 }, { nonce }), 400, 409);
  await attempt('no credential', (nonce) => test.request('POST', '/api/v1/sites/north/things', { body: { name: 'a' }, nonce }), 401, 201);
  await attempt('foreign site', (nonce) => viewer.post('/api/v1/sites/south/things', { name: 'a' }, { nonce }), 403, 201);
  await attempt('unknown path', (nonce) => engineer.post('/api/v1/nothing', { name: 'a' }, { nonce }), 404, 201);
  await attempt('wrong method', (nonce) => engineer.put('/api/v1/sites/north/things', { name: 'a' }, { nonce }), 405, 201);
  t.same(spends, []);
});

t.test('NONCE-11, NONCE-14, LIMIT-01, D-NONCE-01: the window is ten minutes exactly and survives a restart', async (t) => {
  const first = await startGatewayTest({ routes: () => [rows().set], settings: { accessTokenLifetimeMs: 60 * 60_000 } });
  const nonce = randomUUID();
  const engineer = await first.as('engineer');
  const send = (test: GatewayTest) => test.request('POST', '/api/v1/compute', { token: engineer.token, nonce });
  t.equal((await send(first)).status, 200);
  first.clock.advance(5 * 60_000);
  const second = await first.restart();
  t.teardown(() => second.stop());
  t.equal((await send(second)).status, 409);
  second.clock.advance(10 * 60_000 - 1);
  t.equal((await send(second)).status, 409, 'D-C-07: what ran before the start may have been an instant: the window runs anew');
  second.clock.advance(1);
  t.equal((await send(second)).status, 200, 'equal to the window is forgotten');
});

const admit = (nonces: Nonces, nonce: string, anonymous: boolean) => nonces.admit(Nonces.hash(nonce), anonymous);

t.test('Q-NONCE-04: a full memory answers 503 and forgets nothing inside the window; anonymous nonces drop their oldest', async (t) => {
  const clock = new TestClock();
  const nonces = new Nonces(clock, 10_000, 1000);
  for (let i = 0; i < 1000; i += 1) {
    t.equal(admit(nonces, `nonce-${i}`, false), 'admitted');
    clock.advance(5);
  }
  t.equal(nonces.nearlyFull, true);
  t.equal(admit(nonces, 'one-more', false), 'full');
  t.equal(admit(nonces, 'nonce-0', false), 'duplicate');
  clock.advance(5001);
  t.equal(admit(nonces, 'one-more', false), 'admitted', 'the oldest is outside the window');
  t.equal(admit(nonces, 'nonce-999', false), 'duplicate');
  t.equal(admit(nonces, 'login', true), 'admitted');
  t.equal(admit(nonces, 'login', false), 'duplicate', 'uniqueness is judged over both stores');
  for (let i = 0; i < 50_000; i += 1) admit(nonces, `anonymous-${i}`, true);
  t.equal(admit(nonces, 'login', true), 'admitted', 'dropped as the oldest');
  t.equal(admit(nonces, 'anonymous-49999', true), 'duplicate');
});

t.test('D-NONCE-01: with a wall clock that went back, every entry is kept for one full window from the start', async (t) => {
  const clock = new TestClock();
  const nonces = new Nonces(clock, 10_000, 1000);
  nonces.load([
    { hash: Nonces.hash('old-nonce'), atMs: clock.wallMs() - 9000 },
    { hash: Nonces.hash('future-nonce'), atMs: clock.wallMs() + 60_000 },
  ]);
  clock.advance(9999);
  t.equal(admit(nonces, 'old-nonce', false), 'duplicate');
  t.equal(admit(nonces, 'future-nonce', false), 'duplicate');
  clock.advance(1);
  t.equal(admit(nonces, 'old-nonce', false), 'admitted');
});

t.test('Q-NONCE-06: switched off, the header is ignored and auth/config says so', async (t) => {
  const { test } = await start(t, { settings: { antiReplayEnabled: false } });
  const engineer = await test.as('engineer');
  for (let i = 0; i < 2; i += 1) t.equal((await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce: 'x' })).status, 201);
  t.match((await test.request('GET', '/api/v1/auth/config')).body.antiReplay, { enabled: false, header: 'X-DCS-Nonce', windowSeconds: 600 });
});

t.test('ERR-01, Q-ERR-06: the first barrier of the order answers', async (t) => {
  const { test } = await start(t);
  const confined = await test.as('viewer', 'site-south');
  const viewer = await test.as('viewer');
  const supervisor = await test.as('supervisor');
  const sign = '/api/v1/sites/north/things/gone/sign';
  const bad = { raw: '{broken', headers: { 'Content-Type': 'text/plain' } };
  const post = (path: string, token: string | undefined, nonce: string | null | undefined) =>
    test.request('POST', path, { token, ...(nonce === undefined ? {} : { nonce }), ...bad });
  t.match(await post(sign, undefined, null), { status: 401 }, 'authentication before the nonce');
  t.match(await post(sign, confined.token, null), { status: 403, body: { code: 'site_scope' } }, 'site scope before the nonce');
  t.match(await post(sign, viewer.token, null), { status: 400, body: { error: /missing required/ } }, 'nonce before permission');
  t.match(await post(sign, viewer.token, undefined), { status: 403, body: { code: 'action_missing', action: 'thing:sign' } }, 'permission before freshness');
  test.clock.advance(300_001);
  t.match(await post(sign, supervisor.token, undefined), { status: 401, body: { code: 'reauthentication_required' } }, 'AUTH-25: freshness before existence');
  const fresh = (await supervisor.post('/api/v1/auth/reauthenticate', { password: supervisor.password })).body.accessToken;
  t.match(await post(sign, fresh, undefined), { status: 404, body: { code: 'not_found' } }, 'existence before the mode barrier');
  t.match(await post(sign.replace('gone', 'auto'), fresh, undefined), { status: 403, body: { code: 'automatic_mode' } }, 'mode before media type');
  t.match(await post(sign.replace('gone', 'busy'), fresh, undefined), { status: 415 }, 'media type before syntax');
  t.match(await test.request('POST', sign.replace('gone', 'busy'), { token: fresh, raw: '{broken' }), { status: 400, body: { code: 'invalid_json' } }, 'syntax before fields');
  t.match(
    await test.request('POST', sign.replace('gone', 'busy'), { token: fresh, body: { reason: 'short', x: 1 } }),
    { status: 400, body: { code: 'unknown_field', field: 'x' } },
    'unknown field before the reason',
  );
  t.match(
    await test.request('POST', sign.replace('gone', 'busy'), { token: fresh, body: { reason: 'short' } }),
    { status: 400, body: { code: 'reason_too_short', minLength: 10 } },
    'reason before conflicts',
  );
  t.match(await test.request('POST', sign.replace('gone', 'busy'), { token: fresh, body: { reason: 'long enough reason' } }), { status: 409, body: { code: 'thing_busy' } });
  t.match(await test.request('POST', sign.replace('gone', 'calm'), { token: fresh, body: { reason: '  trimmed reason  ' } }), { status: 200, body: { reason: 'trimmed reason' } });
});

t.test('ERR-06: an unknown field is told with what may stand in its place, at every level', async (t) => {
  const { test } = await start(t);
  const engineer = await test.as('engineer');
  const post = async (body: unknown) => (await engineer.post('/api/v1/sites/north/things', body)).body;
  t.match(await post({ name: 'a', sizes: 1 }), {
    error: 'unknown field sizes; the nearest known one is size',
    code: 'unknown_field',
    field: 'sizes',
    nearest: 'size',
    allowed: ['name', 'size', 'kind', 'parts'],
  });
  t.match(await post({ name: 'a', parts: [{ id: 'x' }, { colour: 'red' }] }), {
    error: 'unknown field parts[1].colour; known here: id',
    field: 'parts[1].colour',
    nearest: undefined,
    allowed: ['id'],
  });
  t.match(await post({ name: 'a', parts: [{ id: 'x', toString: 1 }] }), { error: 'unknown field parts[0].toString; known here: id', allowed: ['id'] });
});

t.test('LIMIT-03, Q-AUTH-09: a token is fresh for exactly 300 s, and a refreshed one is not', async (t) => {
  const { test } = await start(t);
  const supervisor = await test.as('supervisor');
  const sign = (token: string) => test.request('POST', '/api/v1/sites/north/things/calm/sign', { token, body: { reason: 'long enough reason' } });
  test.clock.advance(300_000);
  t.equal((await sign(supervisor.token)).status, 200);
  test.clock.advance(1);
  t.equal((await sign(supervisor.token)).status, 401);
  t.match((await test.request('GET', '/api/v1/auth/policy', { token: supervisor.token })).body.freshTokenActions, ['thing:sign']);
});

t.test('REASON-01, REASON-02, REASON-05, REASON-06: reasons are trimmed and counted in code points against the policy', async (t) => {
  const { test } = await start(t, { argv: ['--reason-min-length', '5'] });
  const supervisor = await test.as('supervisor');
  const sign = (reason: string) => supervisor.post('/api/v1/sites/north/things/calm/sign', { reason });
  t.match(await sign(' abcd '), { status: 400, body: { code: 'reason_too_short', field: 'reason', minLength: 5 } });
  t.equal((await sign('\u{1F600}'.repeat(5))).status, 200, 'five characters, ten UTF-16 units');
  t.match(await sign('\u{1F600}'.repeat(4)), { status: 400 });
  t.equal((await sign('x'.repeat(1024))).status, 200);
  t.match(await sign('x'.repeat(1025)), { status: 400, body: { code: 'reason_too_long', maxLength: 1024 } });
  t.equal((await test.request('GET', '/api/v1/auth/config')).body.reasonMinLength, 5, 'REASON-03');
});

t.test('ERR-06, Q-ERR-04, Q-ERR-07, Q-ERR-08: bodies are refused with the field they fail at', async (t) => {
  const { test } = await start(t, { settings: { bodyBytesMax: 2000 } });
  const engineer = await test.as('engineer');
  const post = (body: unknown) => engineer.post('/api/v1/sites/north/things', body);
  t.match((await post({ name: 'a', colour: 1 })).body, { status: 400, code: 'unknown_field', field: 'colour' });
  t.match((await post({ name: 'a', parts: [{ id: 'x' }, { id: 'y', deep: 1 }] })).body, { code: 'unknown_field', field: 'parts[1].deep' });
  t.match((await post({})).body, { code: 'missing_field', field: 'name' });
  t.match((await post({ name: 5 })).body, { code: 'invalid_field', field: 'name', error: 'name must be a string' });
  t.match((await post({ name: 'a', size: 1.5 })).body, { code: 'invalid_field', field: 'size' });
  t.match((await post({ name: 'a', kind: 'C' })).body, { code: 'invalid_field', field: 'kind', allowed: ['A', 'B'] });
  t.match((await post([1])).body, { code: 'invalid_field', field: 'body' });
  const raw = (raw: string | Buffer) => engineer.post('/api/v1/sites/north/things', undefined, { raw });
  t.match((await raw('{"name":')).body, { code: 'invalid_json', field: 'body' });
  t.match((await raw(Buffer.from([0x22, 0xff, 0x22]))).body, { code: 'invalid_json' });
  t.match((await raw(`${'['.repeat(65)}${']'.repeat(65)}`)).body, { code: 'invalid_json', error: /64/ });
  t.match(await raw(`{"name":"${'x'.repeat(2000)}"}`), { status: 413, body: { code: 'payload_too_large', limitBytes: 2000 } });
  t.match(
    await engineer.post('/api/v1/sites/north/things', undefined, { raw: `{"name":"${'x'.repeat(2000)}"}`, headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': [] } }),
    { status: 413 },
    'without an announced length',
  );
  t.match(await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { headers: { 'Content-Type': 'application/json; charset=latin1' } }), {
    status: 415,
    body: { code: 'unsupported_media_type' },
  });
  t.equal((await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { headers: { 'Content-Type': 'application/json; charset=UTF-8' } })).status, 201);
  t.equal((await engineer.post('/api/v1/compute')).status, 200, 'no body');
  t.equal((await engineer.post('/api/v1/compute', {})).status, 200, 'an empty object');
  t.match(await engineer.post('/api/v1/compute', { x: 1 }), { status: 400, body: { code: 'unknown_field' } });
  t.match(await engineer.post('/api/v1/upload', undefined, { raw: '<CAEXFile/>', headers: { 'Content-Type': 'application/aml' } }), { status: 200, body: { bytes: 11 } });
  t.match(await engineer.post('/api/v1/upload', { a: 1 }), { status: 415 });
});

t.test('AUTH-08, AUTH-09, AUTH-22, AUTH-23, Q-AUTH-15: the fence and the site scope', async (t) => {
  const { test } = await start(t);
  const admin = await test.as('admin');
  const key: string = (await admin.post('/api/v1/mes/apikeys', { name: 'mes', site: 'north' })).body.key;
  const code = async (answer: ReturnType<typeof test.request>) => (await answer).body.code ?? (await answer).status;
  t.equal((await test.request('GET', '/api/v1/mes/sites/north/orders', { key })).status, 200);
  t.equal((await test.request('POST', '/api/v1/mes/sites/north/deliver', { key })).status, 200);
  t.equal(await code(test.request('GET', '/api/v1/mes/sites/south/orders', { key })), 'site_scope');
  t.equal(await code(test.request('GET', '/api/v1/sites/north/things', { key })), 'api_key_fence');
  t.equal(await code(test.request('GET', '/api/v1/mes/apikeys', { key })), 'api_key_fence', 'Q-AUTH-16');
  t.equal(await code(test.request('GET', '/api/v1/auth/config', { key })), 'api_key_fence', 'D-AUTH-05: public routes too');
  t.equal((await test.request('GET', '/healthz', { key })).status, 200, 'probes ignore the header');
  t.equal(await code(admin.post('/api/v1/mes/sites/north/deliver')), 'human_role');

  const confined = await test.as('engineer', 'site-south', 'site-west');
  const free = await test.as('engineer');
  const confinedAdmin = await test.as('admin', 'site-south');
  t.equal((await confined.get('/api/v1/sites/south/things')).status, 200);
  t.equal(await code(confined.get('/api/v1/sites/north/things')), 'site_scope');
  t.equal(await code(confined.get('/api/v1/sites/nowhere/things')), 'site_scope');
  t.equal(await code(confined.get('/api/v1/sites/west/things')), 'not_found');
  t.equal(await code(free.get('/api/v1/sites/nowhere/things')), 'not_found');
  t.equal((await confinedAdmin.get('/api/v1/sites/north/things')).status, 200, 'Q-AUTH-13: administrators are not confined');
  t.equal(await code(confined.get('/api/v1/version?site=north')), 'site_scope', 'Q-AUTH-14: a query that names a foreign site');
});

t.test('AUTH-10, AUTH-12, AUTH-14 to AUTH-21: shipped roles, tiers and the role table of a deployment', async (t) => {
  const roles = [
    { group: '{prefix}-operator', grant: [], deny: ['thing:list'] },
    { group: 'plant-guests', tier: 'none', grant: ['thing:*'], deny: ['thing:sign'] },
  ];
  const { test } = await start(t, { settings: { roles } });
  const tiers: Record<string, string[]> = {};
  for (const group of ['viewer', 'operator', 'lead-operator', 'engineer', 'supervisor', 'admin']) tiers[group] = (await (await test.as(group)).get('/api/v1/auth/me')).body.tiers;
  t.same(tiers, {
    viewer: ['read'],
    operator: ['read', 'operate'],
    'lead-operator': ['read', 'operate', 'operate-lead'],
    engineer: ['read', 'operate', 'operate-lead', 'engineer'],
    supervisor: ['read', 'operate', 'operate-lead', 'engineer', 'supervise'],
    admin: ['read', 'operate', 'operate-lead', 'engineer', 'supervise', 'admin'],
  });
  t.match(await (await test.as('operator')).get('/api/v1/sites/north/things'), { status: 403, body: { action: 'thing:list' } }, 'a deployment strips one action');
  t.equal((await (await test.as('operator')).get('/api/v1/sites/north/things/x')).status, 200);
  t.equal((await (await test.as('viewer', 'operator')).get('/api/v1/sites/north/things')).status, 200, 'the union over the groups');
  const policy = await (await test.as('supervisor')).get('/api/v1/auth/policy');
  t.match(
    policy.body.roles.find((role: { group: string }) => role.group === 'plant-guests'),
    { tier: null, grant: ['thing:*'], deny: ['thing:sign'], shipped: false },
  );
  t.equal((await (await test.as('engineer')).get('/api/v1/auth/policy')).status, 403, 'AUTH-28');
  await t.rejects(startGatewayTest({ settings: { roles: [{ group: 'x', grant: ['no:such'], deny: [] }] } }), { message: /unknown action no:such/ });
});

t.test('AUTH-20, AUTH-27: the prefix of a deployment names its groups, and auth/config tells it with the policy of reasons', async (t) => {
  const { test } = await start(t, { settings: { groupPrefix: 'brewery' } });
  t.match((await test.request('GET', '/api/v1/auth/config')).body, { groupPrefix: 'brewery', reasonMinLength: 10, reasonMaxLength: 1024 });
  const engineer = await test.as('engineer', 'site-north');
  t.match((await engineer.get('/api/v1/auth/me')).body, {
    groups: ['brewery-engineer', 'brewery-site-north'],
    tiers: ['read', 'operate', 'operate-lead', 'engineer'],
    sites: ['north'],
  });
  t.equal((await engineer.get('/api/v1/sites/south/things')).status, 403);
  const { status } = await (await test.as('admin')).post('/api/v1/auth/users', { username: 'otto', password: PASSWORD, displayName: 'Otto', groups: ['lineside-operator'] });
  t.equal(status, 400, 'groups of another prefix are none');
});

t.test('Q-ERR-03: unknown path 404, wrong method 405 with Allow, HEAD, OPTIONS, decoded once', async (t) => {
  const { test } = await start(t);
  const viewer = await test.as('viewer');
  t.same((await test.request('GET', '/api/v1/nothing')).body, { error: 'not found', status: 404, code: 'no_such_route' });
  t.match(await test.request('PATCH', '/api/v1/sites/north/things'), { status: 405, headers: { allow: 'GET, POST, HEAD, OPTIONS' }, body: { code: 'method_not_allowed' } });
  t.match(await test.request('OPTIONS', '/api/v1/sites/north/things'), { status: 204, headers: { allow: 'GET, POST, HEAD, OPTIONS' } });
  t.equal((await test.request('OPTIONS', '/api/v1/nothing')).status, 404);
  t.match(await test.request('GET', '/api/v1/sites/%zz/things'), { status: 400 });
  const head = await test.request('HEAD', '/api/v1/sites/north/things', { token: viewer.token });
  t.match(head, { status: 200, text: '', headers: { 'content-length': '9' } });
  t.equal((await viewer.get('/api/v1/sites/north/things/special')).text, '"literal"', 'a literal beats a parameter');
  t.same((await viewer.get('/api/v1/sites/north/tags/io1:a%2Fb/c%2520d')).body, { address: 'io1:a/b/c%20d' });
  t.equal((await viewer.get('/api/v1/sites/%6eorth/thing%73')).status, 200);
  for (const path of ['/api/v1/sites//things', '/api/v1/sites/north/things/', '/api/v1//sites/north/things', '/api/v1/sites/north/../north/things']) {
    t.equal((await viewer.get(path)).status, 404, path);
  }
});

t.test('Q-ERR-14: ETag, If-None-Match; Q-MES-28, Q-MES-29: forms; Q-ERR-01: error bodies', async (t) => {
  const { test } = await start(t);
  const viewer = await test.as('viewer');
  t.equal((await viewer.get('/api/v1/sites/north/things/x')).headers.etag, '"7"');
  t.match(await viewer.get('/api/v1/sites/north/things/x', { headers: { 'If-None-Match': '"6", "7"' } }), { status: 304, text: '', headers: { etag: '"7"' } });
  t.equal((await viewer.get('/api/v1/sites/north/things/x', { headers: { 'If-None-Match': '"8"' } })).status, 200);
  const form = async (query: string, accept?: string) => (await viewer.get(`/api/v1/mes/sites/north/orders${query}`, accept ? { headers: { Accept: accept } } : {})).body;
  t.match(await form(''), { format: 'json' });
  t.match(await form('?format=xml'), { format: 'xml' });
  t.match(await form('?format=json', 'application/xml'), { format: 'json' });
  t.match(await form('', 'application/xml'), { format: 'b2mml' });
  t.match(await form('', 'text/xml;q=0.9, application/json;q=0.8'), { format: 'b2mml' });
  t.match(await form('', 'application/json, application/xml'), { format: 'json' });
  t.match(await form('', '*/*'), { format: 'json' });
  t.match(await form('?format=pdf'), { status: 400, field: 'format' });
  t.match(await form('?format=b2mml-mesa'), { status: 406, code: 'not_acceptable' });
  t.match(await form('', 'application/xml;profile=mesa'), { status: 406 });
  const broken = await viewer.get('/api/v1/broken');
  t.same([broken.status, broken.body], [500, { error: 'internal error', status: 500, code: 'internal' }]);
});

t.test('D-ERR-01, D-ERR-05: correlation id, security headers, CORS only for the origins allowed', async (t) => {
  const { test } = await start(t, { settings: { allowedOrigins: ['https://panel.example'] } });
  const engineer = await test.as('engineer');
  const unkept = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', 'content-security-policy': "frame-ancestors 'none'" };
  t.match((await test.request('GET', '/api/v1/nothing')).headers, { 'x-correlation-id': /^[0-9a-f-]{36}$/, ...unkept }, 'a refusal');
  t.match((await engineer.get('/api/v1/version')).headers, unkept, 'an answer');
  const made = await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { headers: { 'X-Correlation-ID': 'my-request.1' } });
  t.equal(made.headers['x-correlation-id'], 'my-request.1');
  t.equal(test.audits.at(-1)?.correlationID, 'my-request.1');
  t.match((await engineer.get('/api/v1/version', { headers: { 'X-Correlation-ID': 'no good!' } })).headers['x-correlation-id'], /^[0-9a-f-]{36}$/);
  t.equal((await engineer.get('/api/v1/version', { headers: { Origin: 'https://evil.example' } })).headers['access-control-allow-origin'], undefined);
  t.match((await test.request('OPTIONS', '/api/v1/version', { headers: { Origin: 'https://panel.example' } })).headers, {
    'access-control-allow-origin': 'https://panel.example',
    'access-control-allow-headers': /X-DCS-Nonce/,
  });
});

t.test('D-AUDIT-02: every admitted write leaves a record, refusals included; reads and computing do not', async (t) => {
  const { test } = await start(t);
  const engineer = await test.as('engineer');
  const confined = await test.as('engineer', 'site-south');
  test.audits.length = 0;
  const last = () => test.audits.at(-1);
  await engineer.post('/api/v1/sites/north/things', { name: 'a' });
  t.match(last(), { site: 'north', action: 'Create', category: 'thing', result: 'Success', target: { kind: 'Thing', site: 'north' }, accountId: /./, sourceIP: '127.0.0.1' });
  await engineer.post('/api/v1/sites/north/things/gone/sign', { reason: 'x' });
  t.match(last(), { result: 'Rejected', reason: 'ActionMissing', target: { name: 'gone' } });
  await engineer.post('/api/v1/sites/north/things', { nope: 1 });
  t.match(last(), { result: 'Rejected', reason: 'UnknownField' });
  await confined.post('/api/v1/sites/north/things', { name: 'a' });
  t.match(last(), { result: 'Rejected', reason: 'SiteScope', site: 'north' });
  t.equal(test.audits.length, 4);
  await engineer.post('/api/v1/compute');
  await engineer.get('/api/v1/sites/north/things');
  await test.request('POST', '/api/v1/sites/north/things', { body: { name: 'a' } });
  await engineer.post('/api/v1/sites/north/things', { name: 'a' }, { nonce: null });
  t.equal(test.audits.length, 4, 'refusals of steps 1 to 3 and 6 are no write attempts');
});

t.test('ERR-12, Q-ERR-05: the rate limit is the first barrier, spares the probes and refills', async (t) => {
  const { test } = await start(t, { settings: { rateLimitPerSecond: 2, rateLimitBurst: 3 } });
  for (let i = 0; i < 3; i += 1) t.equal((await test.request('GET', '/api/v1/nothing')).status, 404);
  t.match(await test.request('GET', '/api/v1/nothing'), { status: 429, headers: { 'retry-after': '1' }, body: { code: 'rate_limited', retryAfterSeconds: 1 } });
  t.equal((await test.request('GET', '/healthz')).status, 200);
  test.clock.advance(500);
  t.equal((await test.request('GET', '/api/v1/nothing')).status, 404);
  t.equal((await test.request('GET', '/api/v1/nothing')).status, 429);
  const limiter = new RateLimiter({ enabled: true, requestsPerSecond: 1, burst: 1 }, new TestClock());
  t.equal(limiter.take('2001:db8:0:1::5'), 0);
  t.ok(limiter.take('2001:db8:0:1:ffff::9') > 0, 'IPv6 counts per /64');
  t.equal(limiter.take('2001:db8:0:2::5'), 0);
  t.equal(sourceKey('::1'), '0:0:0:0');
  t.same(expandIPv6('2001:DB8::1'), ['2001', 'db8', '0', '0', '0', '0', '0', '1']);
});

t.test('Q-ERR-05: X-Forwarded-For is read from right to left, and only from trusted proxies', async (t) => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '192.168.1.1']);
  t.equal(proxies.sourceOf('203.0.113.9', '1.2.3.4'), '203.0.113.9');
  t.equal(proxies.sourceOf('10.1.1.1', '6.6.6.6, 1.2.3.4, 10.2.2.2'), '1.2.3.4');
  t.equal(proxies.sourceOf('10.1.1.1', 'unknown, 10.2.2.2'), '10.2.2.2');
  t.equal(proxies.sourceOf('10.1.1.1', undefined), '10.1.1.1');
  t.equal(new TrustedProxies([]).sourceOf('10.1.1.1', '1.2.3.4'), '10.1.1.1');
  // one address has one text, however a proxy writes it: limits per source count by it
  t.equal(proxies.sourceOf('10.1.1.1', '::ffff:1.2.3.4'), '1.2.3.4');
  t.equal(proxies.sourceOf('10.1.1.1', '6.6.6.6, ::ffff:10.9.9.9'), '6.6.6.6', 'a mapped proxy is trusted like itself');
  t.equal(proxies.sourceOf('10.1.1.1', '2001:DB8:0:0::0:1'), '2001:db8::1');
  t.equal(proxies.sourceOf('10.1.1.1', 'fe80::1%eth0'), 'fe80::1');
  t.equal(proxies.sourceOf('10.1.1.1', '1.2.3.4:5678'), '10.1.1.1', 'what is no address is not believed');
});

t.test('GEN-08, GEN-11, GEN-12, D-GEN-01, Q-TIER-09: probes and pages', async (t) => {
  let ready = false;
  const { test } = await start(t, { ready: () => ready });
  t.match(await test.request('GET', '/healthz'), { status: 200, body: { status: 'ok' }, headers: { 'content-type': /json/ } });
  t.match(await test.request('GET', '/readyz'), { status: 503, body: { status: 'starting' } });
  t.match(await test.request('GET', '/api/v1/auth/config'), { status: 503, body: { code: 'starting' } });
  ready = true;
  t.match(await test.request('GET', '/readyz'), { status: 200, body: { status: 'ok' } });
  t.match(await test.request('GET', '/'), { status: 302, headers: { location: '/hmi' } });
});

/** Sends bytes and returns everything that came back until the other side closed, or this one left after `leaveAfterMs`. */
function raw(port: number, text: string, leaveAfterMs = 0): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setTimeout(leaveAfterMs, () => socket.destroy());
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
  });
}

t.test('a request that states its length twice or oddly is refused and its connection closed', async (t) => {
  const { test } = await start(t);
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const lengths of ['Content-Length: 0\r\nContent-Length: 36', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: gzip, chunked']) {
    const alone = await raw(test.port, `POST /api/v1/compute HTTP/1.1\r\nHost: x\r\n${lengths}\r\n\r\n`);
    t.match(alone, /^HTTP\/1\.1 400 .*Connection: close/is, lengths);
    const answer = await raw(test.port, `POST /api/v1/compute HTTP/1.1\r\nHost: x\r\n${lengths}\r\n\r\n${smuggled}`);
    t.notMatch(answer, /404|no_such_route/, `${lengths}: what hides behind it is not looked at`);
  }
  t.match(await raw(test.port, 'POST /api/v1/compute HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'), /^HTTP\/1\.1 400 /);
});

t.test('a client that goes away in the middle of its body harms nobody', async (t) => {
  const { test } = await start(t);
  const engineer = await test.as('engineer');
  for (let i = 0; i < 20; i += 1) {
    await raw(
      test.port,
      `POST /api/v1/sites/north/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${engineer.token}\r\nX-DCS-Nonce: ${randomUUID()}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":`,
      20,
    );
  }
  t.equal((await engineer.post('/api/v1/sites/north/things', { name: 'a' })).status, 201);
});
