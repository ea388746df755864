/** D-C-05: what a GET of a resource gives can be sent back by PUT, for every family and every resource of the demonstration plant. */
import t from 'tap';
import type { Answer, Client } from '../support/gateway.js';
import { startPlantGateway } from '../support/plant-gateway.js';

const FAMILY = /^\/api\/v1\/(?:sites\/\{site\}\/)?[a-z/]+$/;
/** PROG-04: wiring is read as dataConnections and must not come back. CM-10: tags of the template must not either. */
const REFUSED: Readonly<Record<string, (body: Answer['body']) => boolean>> = {
  '/api/v1/sites/{site}/fbnetworks': () => true,
  '/api/v1/sites/{site}/controlmodules': ({ tags }) => tags.some(({ inherited }: { inherited: boolean }) => inherited),
};
/** What a change counts; everything else is as it was. */
function unchanged({ generation: _, updatedAt: __, metadata, ...body }: Answer['body']): unknown {
  if (metadata === undefined) return body;
  const { generation: ___, updatedAt: ____, resourceVersion: _____, ...rest } = metadata;
  return { ...body, metadata: rest };
}

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin: Client = await plant.as('admin');

t.test('every resource is taken back as it is read', async (t) => {
  const made = await admin.post('/api/v1/demo/provision', {});
  t.equal(made.status, 200, made.text);
  let sent = 0;
  for (const { method, path } of plant.gateway.rows) {
    const family = method === 'PUT' && path.endsWith('/{name}') ? path.slice(0, -'/{name}'.length) : '';
    if (!FAMILY.test(family) || family.startsWith('/api/v1/auth')) continue;
    const base = family.replace('{site}', 'demo');
    const { body: items } = await admin.get(base);
    for (const item of items as readonly (string | { readonly name: string })[]) {
      const one = `${base}/${encodeURIComponent(typeof item === 'string' ? item : item.name)}`;
      const read = await admin.get(one);
      const put = await admin.put(one, read.body);
      sent += 1;
      if (REFUSED[family]?.(read.body)) {
        t.equal(put.status, 400, `${one} must not come back whole`);
        continue;
      }
      t.equal(put.status, 200, `${one}: ${put.text.slice(0, 300)}`);
      t.same(unchanged(put.body), unchanged(read.body), one);
      t.same(unchanged((await admin.get(one)).body), unchanged(read.body), `${one} is as it was`);
    }
  }
  t.ok(sent > 50, `${sent} resources were sent back`);
});

t.test('a member that cannot be written and is not as it is read is named', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  t.match(await admin.put(path, { ...body, state: 'Elsewhere' }), { status: 400, body: { code: 'read_only_field', field: 'state' } });
  t.match(await admin.put(path, { ...body, colour: 'red' }), { status: 400, body: { code: 'unknown_field', field: 'colour' } }, 'what is not read either is unknown');
  const changed = await admin.put(path, { ...body, description: 'sent back with one change' });
  t.match(changed, { status: 200, body: { description: 'sent back with one change' } });
  t.same(unchanged({ ...changed.body, description: '' }), unchanged({ ...body, description: '' }));
});

t.test('when and how often it was written is nothing that a client states: a body that was read before the last change is taken', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  t.equal((await admin.put(path, { description: 'somebody else was faster' })).status, 200);
  const late = await admin.put(path, body);
  t.equal(late.status, 200, late.text);
  t.equal(late.body.description, body.description);
});

t.test('a whole body with an If-Match that is no longer true is told to read again, not what it may not write', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body, headers } = await admin.get(path);
  const stale = { headers: { 'If-Match': headers.etag as string } };
  t.equal((await admin.put(path, { description: 'somebody else was faster' })).status, 200);
  const late = { ...body, state: 'Elsewhere' };
  t.match(await admin.put(path, late, stale), { status: 412, body: { code: 'precondition_failed' } });
  t.match(await admin.put(path, late), { status: 400, body: { code: 'read_only_field', field: 'state' } }, 'without it the member is named');
  t.match(await admin.put(path, { ...body, colour: 'red' }, stale), { status: 400, body: { code: 'unknown_field' } }, 'what nobody ever reads is no matter of when');
});

t.test('a member named __proto__ is a member like any other that there is not', async (t) => {
  const path = '/api/v1/sites/demo/units/mx101';
  const { body } = await admin.get(path);
  const text = JSON.stringify({ ...body, state: body.state }).replace('{', '{"__proto__":{"description":"smuggled"},');
  t.match(await admin.put(path, JSON.parse(text)), { status: 400, body: { code: 'unknown_field', field: '__proto__' } });
  t.equal((await admin.get(path)).body.description, body.description);
});
