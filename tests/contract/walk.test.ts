/** Every row of the table, over HTTP. The rows here are those of access and system; a wider gateway gives its own. */
import t from 'tap';
import * as v from 'valibot';
import { printRoutes } from '../../src/platform/http/route-table.js';
import { routesFor, routeSet } from '../../src/platform/http/route.js';
import { startGatewayTest } from '../support/gateway.js';
import { targetOf, walkFreshToken, walkRoutes } from '../support/walk.js';

const route = routesFor<object>();
const site = '/api/v1/sites/{site}';
const sample = [
  route({ method: 'GET', path: `${site}/alarms`, action: 'alarm:list', tier: 'read', handle: () => [] }),
  route({ method: 'POST', path: `${site}/command`, action: 'command:send', tier: 'operate', body: v.strictObject({ kind: v.string() }), handle: () => ({ ok: true }) }),
  route({
    method: 'PUT',
    path: `${site}/units/{name}`,
    action: 'unit:update',
    tier: 'engineer',
    body: v.strictObject({ description: v.optional(v.string()) }),
    handle: () => ({}),
  }),
  route({ method: 'DELETE', path: `${site}/units/{name}`, action: 'unit:delete', tier: 'engineer', handle: () => undefined }),
  route({
    method: 'POST',
    path: `${site}/units/{name}/failover`,
    action: 'unit:failover',
    tier: 'operate-lead',
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    handle: () => ({}),
  }),
  route({
    method: 'POST',
    path: `${site}/recipes/master/{name}/approve`,
    action: 'masterrecipe:approve',
    tier: 'supervise',
    freshToken: true,
    reason: 'nonempty',
    body: v.strictObject({ reason: v.string() }),
    handle: () => ({}),
  }),
  route({ method: 'POST', path: `${site}/controlmodules/{cm}/interlock/bypass`, action: 'interlock:bypass', tier: 'custom', handle: () => ({}) }),
  route({ method: 'POST', path: '/api/v1/validate/st', action: 'validate:st', tier: 'engineer', computes: true, body: v.strictObject({ source: v.string() }), handle: () => ({}) }),
  route({ method: 'GET', path: '/api/v1/changerequests/{namespace}/{name}', action: 'changerequest:read', tier: 'read', handle: () => ({}) }),
  route({
    method: 'POST',
    path: '/api/v1/mes/sites/{site}/phases/{name}/external-result',
    action: 'mes:deliver-external-result',
    tier: 'operate',
    apiKey: 'only',
    body: v.strictObject({ value: v.string() }),
    handle: () => ({}),
  }),
  route({ method: 'GET', path: '/api/v1/mes/sites/{site}/work-orders', action: 'mes:read', tier: 'read', handle: () => [] }),
];

t.test('every row of the table keeps the rules of all rows', async (t) => {
  const test = await startGatewayTest({ routes: [routeSet(sample, {})], settings: { rateLimitEnabled: false, bodyBytesMax: 4096, lockoutThreshold: 1000 } });
  t.teardown(() => test.stop());
  const rows = test.gateway.rows;
  const options = { test: targetOf(test), rows, site: 'north', foreignSite: 'south' };
  const { broken, tried, unreached } = await walkRoutes(options);
  for (const [rule, count] of tried) t.same(broken.get(rule) ?? [], [], `${rule} (${count} rows)`);
  t.equal(tried.size, 11, 'every rule was tried');
  t.same(
    unreached.filter((row) => row.includes('/sites/')),
    [],
  );
  t.same(await walkFreshToken(options), [], 'AUTH-24, AUTH-25: rows that need a fresh token refuse an old one before existence and body');
});

t.test('Q-VER-01, TIER: the document and the printed table come from the same rows', async (t) => {
  const test = await startGatewayTest({ routes: [routeSet(sample, {})] });
  t.teardown(() => test.stop());
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  const document = (await (await test.as('viewer')).get('/api/v1/openapi.json')).body;
  const checked = await new Validator().validate(document);
  t.equal(checked.valid, true, JSON.stringify(checked.errors ?? null));
  t.match(document.paths['/api/v1/sites/{site}/command'].post, { 'x-action': 'command:send', 'x-tier': 'operate', requestBody: {} });
  const printed = printRoutes(test.gateway.rows);
  t.match(printed, /^POST\t\/api\/v1\/auth\/login\tauth:login\tnone$/m);
  t.equal(printed.trimEnd().split('\n').length, test.gateway.rows.length);
});

t.test('Q-VER-01: the document is put together once, whoever asks for it again and again', async (t) => {
  let described = 0;
  const counted = route({ method: 'GET', path: `${site}/alarms`, action: 'alarm:list', tier: 'read', handle: () => [] });
  const row = Object.defineProperty({ ...counted }, 'summary', {
    enumerable: true,
    get: () => {
      described += 1;
      return 'counts how often it is described';
    },
  });
  const test = await startGatewayTest({ routes: [routeSet([row], {})] });
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const first = await viewer.get('/api/v1/openapi.json');
  described = 0;
  for (let time = 0; time < 5; time += 1) t.equal((await viewer.get('/api/v1/openapi.json')).text, first.text);
  t.equal(described, 0, 'a caller who asks a hundred times a second does not keep everybody else from being served');
});
