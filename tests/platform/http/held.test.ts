/** What a request is about becomes past neither while it waits, nor under whoever reads it (ADR 0037). */
import { request as httpRequest } from 'node:http';
import { randomUUID } from 'node:crypto';
import t from 'tap';
import * as v from 'valibot';
import { Procedure } from '../../../src/domains/procedures/kind.js';
import { conflict, missing } from '../../../src/platform/base/refusal.js';
import { routeSet, routesFor } from '../../../src/platform/http/route.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import type { Put, Store } from '../../../src/platform/store/store.js';
import { signIn, startGatewayTest } from '../../support/gateway.js';

interface Deps {
  readonly store: Store;
  /** A request has come so far. */
  seen(): void;
  /** Before it is answered. */
  readonly wait: () => Promise<void> | undefined;
}

const route = routesFor<Deps>();
const run = { kind: 'Procedure', site: 'north', name: 'b7' };
const row = { tier: 'engineer', past: ({ site = '', name = '' }) => [{ kind: 'Procedure', site, name }] } as const;
const exists = ({ site = '', name = '' }: Readonly<Record<string, string | undefined>>, { store, seen }: Deps): void => {
  seen();
  if (!store.get(Procedure, site, name)) throw missing('Procedure', name);
};

async function plant(t: { teardown(call: () => unknown): void }, wait: Deps['wait'] = () => undefined) {
  let seen = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (seen = resolve));
  const test = await startGatewayTest({
    routes: ({ store }) => [
      routeSet(
        [
          route({
            ...row,
            method: 'POST',
            path: '/api/v1/sites/{site}/runs/{name}',
            action: 'run:tell',
            body: v.strictObject({ text: v.string() }),
            exists,
            handle: async (_, deps) => {
              await deps.wait();
              return { ok: true };
            },
          }),
          route({
            ...row,
            method: 'DELETE',
            path: '/api/v1/sites/{site}/runs/{name}',
            action: 'run:delete',
            errors: { 409: ['element_owned'] },
            exists,
            handle: () => {
              throw conflict('element_owned', 'the run belongs to a batch');
            },
          }),
          route({ ...row, method: 'GET', path: '/api/v1/sites/{site}/runs/{name}', action: 'run:read', exists, handle: () => ({ ok: true }) }),
        ],
        { store, seen, wait },
      ),
    ],
  });
  t.teardown(() => test.stop());
  await test.store.write({ puts: [{ kind: Procedure, site: 'north', name: 'b7', spec: { batchRef: 'b7', parentRef: null, templateRef: '' } } as unknown as Put] });
  const engineer = await test.as('engineer');
  return { test, arrived, engineer, past: pastRows(test.store) };
}

t.test('from its headers to its answer a request holds what it is about, however slowly its body comes', async (t) => {
  const { test, arrived, engineer, past } = await plant(t);
  const headers = { Authorization: `Bearer ${engineer.token}`, 'X-DCS-Nonce': randomUUID(), 'Content-Type': 'application/json', 'Content-Length': '12' };
  const outgoing = httpRequest({ host: '127.0.0.1', port: test.port, method: 'POST', path: '/api/v1/sites/north/runs/b7', headers, agent: false });
  const status = new Promise<number | undefined>((resolve, reject) => {
    outgoing.on('response', (incoming) => resolve(incoming.resume().statusCode));
    outgoing.on('error', reject);
  });
  outgoing.write('{"text"');
  await arrived;
  t.ok(past.isHeld(run));
  outgoing.end(':"x"}');
  t.equal(await status, 200);
  t.notOk(past.isHeld(run));
});

t.test('what is answered or refused in its turn is held no longer', async (t) => {
  const { engineer, past } = await plant(t);
  t.equal((await engineer.get('/api/v1/sites/north/runs/b7')).status, 200);
  t.equal((await engineer.get('/api/v1/sites/north/runs/b8')).status, 404);
  t.equal((await engineer.post('/api/v1/sites/north/runs/b7', { other: 1 })).status, 400);
  t.same([past.isHeld(run), past.isHeld({ ...run, name: 'b8' })], [false, false]);
});

t.test('whoever waits in its handler holds it too', async (t) => {
  let begun = (): void => undefined;
  let letGo = (): void => undefined;
  const isHandled = new Promise<void>((resolve) => (begun = resolve));
  const mayGoOn = new Promise<void>((resolve) => (letGo = resolve));
  const { engineer, past } = await plant(t, () => {
    begun();
    return mayGoOn;
  });
  const answer = engineer.post('/api/v1/sites/north/runs/b7', { text: 'x' });
  await isHandled;
  t.ok(past.isHeld(run));
  letGo();
  t.equal((await answer).status, 200);
  t.notOk(past.isHeld(run));
});

t.test('a DELETE that is refused, and one whose caller was dismissed while the past was read, leave the past as it is', async (t) => {
  const { test, engineer, past } = await plant(t);
  await test.store.write({ pasts: [{ run, members: [run], streams: [] }] });
  const queries = openQueries(test.dataDir, () => test.store.recorded);
  t.teardown(() => queries.close());
  let asked = (): void => undefined;
  let letGo = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const mayGoOn = new Promise<void>((resolve) => (letGo = resolve));
  past.connect({
    pastPage: (request) => queries.pastPage(request),
    pastTexts: (request) => queries.pastTexts(request),
    pastRun: async (name) => {
      asked();
      await mayGoOn;
      return queries.pastRun(name);
    },
  });
  const admin = await test.as('admin');
  const dismissed = engineer.delete('/api/v1/sites/north/runs/b7');
  await isAsked;
  t.equal((await admin.delete(`/api/v1/auth/sessions/${engineer.sessionId}`)).status, 204);
  letGo();
  t.match(await dismissed, { status: 401, body: { code: 'session_ended' } });
  const other = await signIn(test, ['engineer']);
  t.match(await other.delete('/api/v1/sites/north/runs/b7'), { status: 409, body: { code: 'element_owned' } });
  t.match(await other.delete('/api/v1/sites/north/runs/b7-2'), { status: 404 });
  t.equal(past.returns, 0);
  t.ok(test.store.pastEntry(Procedure, 'north', 'b7'));
});
