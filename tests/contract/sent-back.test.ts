/** D-C-05: what a GET of a resource gives can be sent back by PUT, for every row that has both and every resource of the demonstration plant. */
import t from 'tap';
import { type BatchRouteDeps, batchRoutes } from '../../src/domains/batches/routes.js';
import type { FactReader } from '../../src/domains/runs/facts.js';
import { routeSet } from '../../src/platform/http/route.js';
import { absent, NO_RUNTIMES } from '../support/absent.js';
import type { Answer, Client } from '../support/gateway.js';
import { startPlantGateway } from '../support/plant-gateway.js';

/** PROG-04: wiring is read as dataConnections and must not come back. CM-10: tags of the template must not either. */
const REFUSED: Readonly<Record<string, (body: Answer['body']) => string | undefined>> = {
  '/api/v1/sites/{site}/fbnetworks': () => 'dataConnections',
  '/api/v1/sites/{site}/controlmodules': ({ tags }) => (tags.some(({ inherited }: { inherited: boolean }) => inherited) ? 'tags' : undefined),
};
/** What a change counts; everything else is as it was. */
function unchanged({ generation: _, updatedAt: __, metadata, ...body }: Answer['body']): unknown {
  if (metadata === undefined) return body;
  const { generation: ___, updatedAt: ____, resourceVersion: _____, ...rest } = metadata;
  return { ...body, metadata: rest };
}

const plant = await startPlantGateway({
  more: ({ store, clock }) => [
    routeSet(batchRoutes, {
      store,
      clock,
      runtimes: NO_RUNTIMES,
      facts: absent<FactReader>('facts'),
      queries: absent<BatchRouteDeps['queries']>('queries'),
      production: false,
      storageLow: () => false,
      reasonLengthMin: 10,
    }),
  ],
});
t.teardown(() => plant.stop());
const admin: Client = await plant.as('admin');

t.test('D-C-05: every resource is taken back as it is read', async (t) => {
  const made = await admin.post('/api/v1/demo/provision', {});
  t.equal(made.status, 200, made.text);
  t.equal((await admin.post('/api/v1/sites/demo/batches', { batchID: 'SB-1', masterRecipeRef: 'resin-a', description: 'first' })).status, 201);
  t.equal((await admin.post('/api/v1/mes/apikeys', { name: 'erp', site: 'demo' })).status, 201);
  const draft = await admin.post('/api/v1/sites/demo/recipes/master/resin-a/new-version', { bump: 'minor' });
  t.equal(draft.status, 201, draft.text);
  const reads = new Set(plant.gateway.rows.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const sent = new Map<string, number>();
  for (const { method, path } of plant.gateway.rows) {
    if (method !== 'PUT' || !reads.has(path)) continue;
    const family = path.slice(0, path.lastIndexOf('/'));
    const base = family.replace('{site}', 'demo').replace('{name}', draft.body.name);
    const { body: items } = await admin.get(base);
    sent.set(path, 0);
    for (const item of items as readonly (string | { readonly name?: string; readonly username?: string })[]) {
      const one = `${base}/${encodeURIComponent(typeof item === 'string' ? item : (item.name ?? item.username ?? ''))}`;
      const read = await admin.get(one);
      const put = await admin.put(one, read.body);
      sent.set(path, (sent.get(path) ?? 0) + 1);
      const refused = REFUSED[family]?.(read.body);
      if (refused !== undefined) {
        t.match(put, { status: 400, body: { field: refused } }, `${one} must not come back whole: ${put.text.slice(0, 300)}`);
        continue;
      }
      t.equal(put.status, 200, `${one}: ${put.text.slice(0, 300)}`);
      t.same(unchanged(put.body), unchanged(read.body), one);
      t.same(unchanged((await admin.get(one)).body), unchanged(read.body), `${one} is as it was`);
    }
  }
  // the elements of a run come with a run
  const none = [...sent].filter(([, count]) => count === 0).map(([path]) => path.replace('/api/v1/sites/{site}/', ''));
  t.same(none, ['procedures/{name}', 'unitprocedures/{name}', 'operations/{name}', 'phases/{name}'], 'and of every family there is one');
});

t.test('D-C-05: a batch is sent back with what is changed of it; what it shows beside its spec cannot be', async (t) => {
  const [{ name }] = (await admin.get('/api/v1/sites/demo/batches')).body;
  const path = `/api/v1/sites/demo/batches/${name}`;
  const { body: first, headers } = await admin.get(path);
  t.equal(first.phase, 'Pending');
  const { status, body } = await admin.put(path, { ...first, spec: { ...first.spec, description: 'second' } });
  t.match({ status, body }, { status: 200, body: { description: 'second', spec: { description: 'second' } } });
  for (const [member, value] of Object.entries({ phase: 'Running', startedAt: '2026-01-01T00:00:00.000Z', outputs: [{}], validCommands: [] }))
    t.match(await admin.put(path, { ...body, [member]: value }), { status: 400, body: { code: 'read_only_field', field: member } });
  t.match(await admin.put(path, { ...body, colour: 'red' }), { status: 400, body: { code: 'unknown_field', field: 'colour' } });
  const stale = { headers: { 'If-Match': headers.etag as string } };
  t.match(await admin.put(path, { ...body, phase: 'Running' }, stale), { status: 412, body: { code: 'precondition_failed' } });
  t.equal((await admin.get(path)).body.phase, 'Pending');
});

t.test('D-C-05: of what a batch shows by itself and in its spec either is changed; two that say two things are refused', async (t) => {
  const made = await admin.post('/api/v1/sites/demo/batches', { batchID: 'SB-2', masterRecipeRef: 'resin-a', description: 'first', quantity: '20', engineeringUnit: 'kg' });
  t.equal(made.status, 201, made.text);
  const path = `/api/v1/sites/demo/batches/${made.body.name}`;
  for (const [member, values] of Object.entries({
    description: ['second', 'third'],
    priority: [7, 8],
    quantity: ['21', '22'],
    lotID: ['L1', 'L2'],
    mode: ['Manual', 'Semi-Automatic'],
  })) {
    const [one, other] = values;
    const { body } = await admin.get(path);
    const changed = await admin.put(path, { ...body, [member]: one });
    t.match({ status: changed.status, body: changed.body }, { status: 200, body: { [member]: one, spec: { [member]: one } } }, `${member}: ${changed.text.slice(0, 200)}`);
    const { body: now } = await admin.get(path);
    t.match(await admin.put(path, { ...now, [member]: other, spec: { ...now.spec, [member]: other } }), { status: 200, body: { spec: { [member]: other } } }, 'both say the same');
    const refused = await admin.put(path, { ...now, [member]: one, spec: { ...now.spec, [member]: body.spec[member] } });
    t.match(refused, { status: 400, body: { code: 'invalid_field', field: member, error: new RegExp(`spec\\.${member}.*leave the other out`) } }, refused.text.slice(0, 200));
    t.match((await admin.get(path)).body.spec, { [member]: other }, 'and nothing is changed');
  }
});

t.test('D-C-05: an account is sent back with what is changed of it; whose it is and when it was made cannot be', async (t) => {
  const path = `/api/v1/auth/users/${admin.username}`;
  const { body } = await admin.get(path);
  t.match(await admin.put(path, { ...body, displayName: 'Chief' }), { status: 200, body: { ...body, displayName: 'Chief' } });
  for (const [member, value] of Object.entries({ username: 'other', accountId: 'x', lastLoginAt: null, passwordChangedAt: '2026-01-01T00:00:00.000Z' }))
    t.match(await admin.put(path, { ...body, [member]: value }), { status: 400, body: { code: 'read_only_field', field: member } });
  t.match(await admin.put(path, { password: 'x' }), { status: 400, body: { code: 'unknown_field', field: 'password' } });
});

t.test('Q-ERR-14: a change of an account is refused when the account has changed since it was read', async (t) => {
  const path = `/api/v1/auth/users/${admin.username}`;
  const { headers } = await admin.get(path);
  const asRead = { headers: { 'If-Match': headers.etag as string } };
  t.match(await admin.put(path, { displayName: 'Head' }, asRead), { status: 200, body: { displayName: 'Head' } });
  t.match(await admin.put(path, { displayName: 'Tail' }, asRead), { status: 412, body: { code: 'precondition_failed' } });
  t.equal((await admin.get(path)).body.displayName, 'Head');
});

t.test('D-C-05 PROG-04: of a control program only the wiring must go by its other name; what is read beside it may come along', async (t) => {
  const path = '/api/v1/sites/demo/fbnetworks/rx101-energy';
  const { body } = await admin.get(path);
  const { dataConnections: connections, ...read } = body;
  t.match(await admin.put(path, { spec: body }), { status: 400, body: { code: 'unknown_field', field: 'spec.dataConnections' } });
  const put = await admin.put(path, { metadata: { name: body.name }, spec: { ...read, connections } });
  t.equal(put.status, 200, put.text);
  t.same(unchanged(put.body), unchanged(body));
  t.match(await admin.put(path, { spec: { ...read, connections, state: 'Error' } }), { status: 400, body: { code: 'read_only_field', field: 'spec.state' } });
  t.match(await admin.put(path, { spec: { ...read, connections, scanCount: body.scanCount + 7 } }), { status: 200 }, 'a count says nothing that could be meant otherwise');
  t.match(await admin.put(path, { spec: { ...read, connections, structuredText: '' } }), { status: 400, body: { code: 'unknown_field', field: 'spec.structuredText' } }, 'PROG-12');
});

t.test('D-C-05: a member that cannot be written and is not as it is read is named', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  t.match(await admin.put(path, { ...body, state: 'Elsewhere' }), { status: 400, body: { code: 'read_only_field', field: 'state' } });
  t.match(await admin.put(path, { ...body, colour: 'red' }), { status: 400, body: { code: 'unknown_field', field: 'colour' } }, 'what is not read either is unknown');
  const changed = await admin.put(path, { ...body, description: 'sent back with one change' });
  t.match(changed, { status: 200, body: { description: 'sent back with one change' } });
  t.same(unchanged({ ...changed.body, description: '' }), unchanged({ ...body, description: '' }));
});

t.test('D-C-05: when and how often it was written is nothing that a client states: a body that was read before the last change is taken', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  t.equal((await admin.put(path, { description: 'somebody else was faster' })).status, 200);
  const late = await admin.put(path, body);
  t.equal(late.status, 200, late.text);
  t.equal(late.body.description, body.description);
});

t.test('D-C-05: a whole body with an If-Match that is no longer true is told to read again, not what it may not write', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body, headers } = await admin.get(path);
  const stale = { headers: { 'If-Match': headers.etag as string } };
  t.equal((await admin.put(path, { description: 'somebody else was faster' })).status, 200);
  const late = { ...body, state: 'Elsewhere' };
  t.match(await admin.put(path, late, stale), { status: 412, body: { code: 'precondition_failed' } });
  t.match(await admin.put(path, late), { status: 400, body: { code: 'read_only_field', field: 'state' } }, 'without it the member is named');
  t.match(await admin.put(path, { ...body, colour: 'red' }, stale), { status: 400, body: { code: 'unknown_field' } }, 'what nobody ever reads is no matter of when');
});

t.test('D-C-05: a member named __proto__ is a member like any other that there is not', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  const text = JSON.stringify({ ...body, state: body.state }).replace('{', '{"__proto__":{"description":"smuggled"},');
  t.match(await admin.put(path, JSON.parse(text)), { status: 400, body: { code: 'unknown_field', field: '__proto__' } });
  t.equal((await admin.get(path)).body.description, body.description);
});
