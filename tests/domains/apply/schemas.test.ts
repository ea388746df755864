/** The schemas of manifests as a box serves them, and what they find in a manifest. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { demoManifests } from '../../../src/domains/demo/demo.js';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const get = (path: string, headers: Readonly<Record<string, string>> = {}) => plant.request('GET', path, { headers });
const demo = demoManifests(`${process.cwd()}/demo`) as readonly { readonly kind: string; readonly spec?: object }[];
const checkOf = (schema: object) => new Ajv2020({ strict: false }).compile(schema);

t.test('schema:list gives one document for manifests of all kinds, without an account', async (t) => {
  const { status, body, headers } = await get('/api/v1/schemas');
  t.equal(status, 200);
  t.match(headers['cache-control'], 'no-cache');
  const check = checkOf(body);
  for (const manifest of demo) t.ok(check(manifest), `${manifest.kind} ${JSON.stringify(check.errors)}`);
  const unit = demo.find(({ kind }) => kind === 'Unit');
  t.notOk(check({ ...unit, spec: { ...unit?.spec, colour: 'red' } }));
  t.match(check.errors, [{ params: { additionalProperty: 'colour' } }], 'what is wrong of its kind is told, and nothing of other kinds');
  t.notOk(check({ ...unit, kind: 'Gadget' }));
  t.strictSame(body.properties.kind.enum.slice(0, 3), ['Enterprise', 'Site', 'Area'], 'an editor offers the kinds');
  t.notMatch(JSON.stringify(body), /"\$ref":"(?!#\/\$defs\/)/, 'it refers to nothing outside it');
});

t.test('schema:read gives that of one kind, by its aliases too', async (t) => {
  for (const { kind } of APPLIED_KINDS.all) {
    const { status, body } = await get(`/api/v1/schemas/${kind}`);
    t.match({ status, body }, { status: 200, body: { title: kind, properties: { kind: { enum: [kind] } } } });
    const check = checkOf(body);
    for (const manifest of demo) t.equal(check(manifest), manifest.kind === kind, `${manifest.kind} as ${kind}`);
  }
  t.match((await get('/api/v1/schemas/FBNetwork')).body, { title: 'ControlProgram' });
  const io = (await get('/api/v1/schemas/IOModule')).body;
  t.match(io.$defs.IOChannel.properties.direction, { enum: ['input', 'output'], default: 'input', description: /the box reads it/ });
});

t.test('schema:read of a kind that there is not is 404 with those that there are', async (t) => {
  t.match(await get('/api/v1/schemas/unit'), { status: 404, body: { code: 'not_found', nearest: 'Unit', error: /the nearest known one is Unit/ } });
  t.match(await get('/api/v1/schemas/Gadget'), { status: 404, body: { known: APPLIED_KINDS.all.map(({ kind }) => kind), error: /known: Enterprise, Site/ } });
  t.match(await get('/api/v1/schemas/constructor'), { status: 404 });
});

t.test('whoever has a schema is told that it is still the same; it comes compressed', async (t) => {
  const { headers } = await get('/api/v1/schemas');
  t.match(headers.etag, /^"[0-9a-f]+"$/);
  t.equal((await get('/api/v1/schemas', { 'If-None-Match': String(headers.etag) })).status, 304);
  t.equal((await get('/api/v1/schemas/Unit', { 'If-None-Match': String(headers.etag) })).status, 200, 'another one is not');
  const packed = await fetch(`http://127.0.0.1:${plant.port}/api/v1/schemas`, { headers: { 'Accept-Encoding': 'gzip' } });
  t.equal(packed.headers.get('content-encoding'), 'gzip');
  t.not(packed.headers.get('etag'), headers.etag);
  t.match(await packed.json(), { title: 'Lineside manifest' });
});
