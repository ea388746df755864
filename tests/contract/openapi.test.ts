/** The interface as openapi.json tells it: whole, valid, and with nothing that leads nowhere. */
import t from 'tap';
import * as v from 'valibot';
import { everyRow } from '../../src/cli/reference.js';
import { REFUSAL_MEANINGS, refusalCodes } from '../../src/cli/refusal-reference.js';
import { REFUSAL_REMEDIES } from '../../src/cli/refusal-remedies.js';
import { APPLIED_KINDS } from '../../src/domains/index.js';
import { nameSchemas } from '../../src/platform/base/schema-names.js';
import { oneOf } from '../../src/platform/http/alternatives.js';
import { isDescribed, openApiDocument } from '../../src/platform/http/openapi.js';
import { flag, LIST, parameters, required, text, words } from '../../src/platform/http/parameters.js';
import { rendered, type Route, routesFor } from '../../src/platform/http/route.js';
import { Interface } from '../support/answer-check.js';

/** 691,000 with every schema named that occurs twice, 834,000 with the words of their fields, 872,000 with loop checks and acceptances, 963,000 with OPC UA, change requests and restores; 1.3 million with each written out where it occurs. */
const DOCUMENT_CHARACTERS_MAX = 1_100_000;
const INFO = { title: 'Lineside', version: 'v1' };
const route = routesFor<object>();

interface Tree {
  name: string;
  below: Tree[];
}
const Tree: v.GenericSchema<unknown, Tree> = v.strictObject({ name: v.string(), below: v.array(v.lazy(() => Tree)) }) as v.GenericSchema<unknown, Tree>;
const Flat = v.strictObject({ name: v.string() });
const Nested = v.strictObject({ spec: Flat });
const rows: readonly Route[] = [
  route({ method: 'GET', path: '/api/v1/trees/{name}', action: 'tree:read', tier: 'read', reply: Tree, handle: () => ({ name: 'oak', below: [] }) }),
  route({
    method: 'GET',
    path: '/api/v1/trees',
    action: 'tree:list',
    tier: 'read',
    query: parameters({ ...LIST, kinds: words(['A', 'B'], 'of these kinds') }),
    reply: v.array(Tree),
    handle: () => [],
  }),
  route({
    method: 'POST',
    path: '/api/v1/trees',
    action: 'tree:create',
    tier: 'engineer',
    query: parameters({ how: required(text()), dry: flag() }),
    body: oneOf<v.GenericSchema>([Nested, Flat], (input) => (typeof input === 'object' && input !== null && 'spec' in input ? Nested : Flat)),
    reply: { 201: Tree, 202: v.strictObject({ later: v.boolean() }) },
    errors: { 409: ['tree_felled'], 422: ['no_ground'] },
    handle: () => ({ later: true }),
  }),
  route({ method: 'DELETE', path: '/api/v1/trees/{name}', action: 'tree:delete', tier: 'engineer', handle: () => undefined }),
  route({ method: 'POST', path: '/api/v1/trees/{name}/water', action: 'tree:water', tier: 'operate', reply: { 204: 'Watered' }, handle: () => undefined }),
  route({ method: 'GET', path: '/api/v1/trees.csv', action: 'tree:list', tier: 'read', reply: 'a line per tree', media: ['text/csv'], handle: () => rendered('') }),
  route({ method: 'GET', path: '/api/v1/mystery', action: 'tree:list', tier: 'read', handle: () => '' }),
];

function everyMember(value: unknown, name: string, path = ''): [path: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => [...(member === name ? [[path, inner] as [string, unknown]] : []), ...everyMember(inner, name, `${path}/${member}`)]);
}

function resolves(document: unknown, reference: string): boolean {
  let at = document;
  for (const part of reference.slice(2).split('/')) at = (at as Record<string, unknown> | undefined)?.[part];
  return at !== undefined;
}

async function problems(document: object): Promise<unknown> {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  const checked = await new Validator().validate(document as Record<string, unknown>);
  return checked.valid ? [] : checked.errors;
}

t.test('Q-VER-01: the document of all rows is valid, and every reference in it leads somewhere', async (t) => {
  const document = openApiDocument(everyRow(), INFO);
  t.same(await problems(document), []);
  t.same(
    everyMember(document, '$ref').filter(([, reference]) => typeof reference !== 'string' || !resolves(document, reference)),
    [],
  );
  t.same(everyMember(document, '$defs'), [], 'parts of schemas stand in the components');
  const { schemas } = document.components as { schemas: Record<string, unknown> };
  t.same(
    Object.keys(schemas).filter((name) => /^Part\d/.test(name)),
    [],
    'every part that refers to itself has a name: nameSchemas',
  );
  t.ok(JSON.stringify(document).length < DOCUMENT_CHARACTERS_MAX, 'what occurs in many answers stands once');
});

t.test('Q-ERR-01: every code of a refusal that a row tells has a meaning in the reference, and apply tells those of all kinds', async (t) => {
  const codes = refusalCodes(everyRow());
  t.same([...codes.keys()].sort(), Object.keys(REFUSAL_MEANINGS).sort());
  t.same([...codes.keys()].sort(), Object.keys(REFUSAL_REMEDIES).sort(), 'what to do about each');
  const told = new Set(everyRow().find(({ action }) => action === 'apply:create')?.errors?.[409]);
  const ofKinds = APPLIED_KINDS.all.filter(({ apply }) => apply.how === 'yes').flatMap(({ refuses }) => refuses?.write?.[409] ?? []);
  t.same(
    ofKinds.filter((code) => !told.has(code)),
    [],
  );
});

t.test('Q-VER-01: every row tells the schema of its answers', async (t) => {
  const left = everyRow().filter((row) => !isDescribed(row));
  t.same(
    left.map(({ method, path }) => `${method} ${path}`),
    [],
    'column `reply`: a strict schema of exactly what is served',
  );
});

t.test('D-C-04 Q-VER-01: parameters, answers by status and refusals of a row are told', async (t) => {
  const document = openApiDocument(rows, INFO) as { paths: Record<string, Record<string, { parameters: unknown; responses: Record<string, unknown>; requestBody: unknown }>> };
  t.same(await problems(document), []);
  const { get, post } = document.paths['/api/v1/trees'] ?? {};
  t.same(get?.parameters, [
    { name: 'limit', in: 'query', description: 'entries of a page', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
    { name: 'cursor', in: 'query', description: 'of the page before', schema: { type: 'string' } },
    { name: 'kinds', in: 'query', description: 'of these kinds', schema: { type: 'array', items: { type: 'string', enum: ['A', 'B'] } }, style: 'form', explode: false },
  ]);
  t.match(post?.parameters, [{ $ref: '#/components/parameters/Nonce' }, { name: 'how', in: 'query', required: true }, { name: 'dry', in: 'query', schema: { type: 'boolean' } }]);
  t.same(Object.keys(post?.responses ?? {}), ['201', '202', '400', '401', '403', '408', '409', '413', '415', '422', '429', '500', '503']);
  t.match(post?.responses['409'], { $ref: '#/components/responses/Refused409TreeFelled' });
  t.match(post?.requestBody, { content: { 'application/json': { schema: { anyOf: [{ required: ['spec'] }, { required: ['name'] }] } } } }, 'each form of the body');
  t.same(Object.keys(document.paths['/api/v1/trees/{name}']?.delete?.responses ?? {}).slice(0, 1), ['204']);
  t.match(document.paths['/api/v1/trees.csv']?.get?.responses['200'], { description: 'a line per tree', content: { 'text/csv': {} } });
  t.match(document.paths['/api/v1/mystery']?.get, { 'x-undescribed': true });
});

t.test('what is served has the members that have a default; a request may leave them out', async (t) => {
  const Stirred = v.strictObject({ speed: v.optional(v.number(), 60), default: v.optional(v.boolean(), false), note: v.optional(v.string()) });
  const row = route({ method: 'PUT', path: '/api/v1/stirred', action: 'tree:stir', tier: 'engineer', body: Stirred, reply: v.array(Stirred), handle: () => [] });
  const document = openApiDocument([row], INFO) as { paths: Record<string, Record<string, { requestBody: unknown; responses: Record<string, unknown> }>> };
  const { put } = document.paths['/api/v1/stirred'] ?? {};
  t.notMatch(put?.requestBody, { content: { 'application/json': { schema: { required: ['speed'] } } } });
  const items = { required: ['speed', 'default'], properties: { speed: { type: 'number' }, default: { type: 'boolean' } } };
  t.match(put?.responses['200'], { content: { 'application/json': { schema: { items } } } });
});

t.test('Q-VER-01: a schema with a name stands once in the components, a second time where what is sent differs from what is served', async (t) => {
  const Bough = v.strictObject({ length: v.optional(v.number(), 1) });
  const Leaf = v.strictObject({ colour: v.string() });
  const Oak = v.strictObject({ name: v.string(), boughs: v.array(Bough), leaf: v.optional(Leaf) });
  nameSchemas({ Bough, Leaf, Oak });
  const columns = { method: 'PUT', tier: 'engineer', action: 'oak:update', body: Oak } as const;
  const one = route({ ...columns, path: '/api/v1/oaks/{name}', reply: Oak, handle: ({ body }) => body });
  const many = route({ ...columns, path: '/api/v1/oaks', reply: v.array(Oak), handle: ({ body }) => [body] });
  const document = openApiDocument([one, many], INFO) as {
    paths: Record<string, Record<string, { requestBody: unknown; responses: Record<string, unknown> }>>;
    components: unknown;
  };
  t.same(await problems(document), []);
  const schema = (value: unknown) => ({ content: { 'application/json': { schema: value } } });
  const { put } = document.paths['/api/v1/oaks/{name}'] ?? {};
  t.match(put?.responses['200'], schema({ $ref: '#/components/schemas/Oak' }));
  t.match(put?.requestBody, schema({ $ref: '#/components/schemas/OakInput' }));
  t.match(document.paths['/api/v1/oaks']?.put?.responses['200'], schema({ type: 'array', items: { $ref: '#/components/schemas/Oak' } }));
  const { schemas } = document.components as { schemas: Record<string, { required?: string[]; properties: Record<string, unknown> }> };
  const named = Object.keys(schemas).filter((name) => !/^(Code|Refused)\d/.test(name));
  t.same(named.sort(), ['Bough', 'BoughInput', 'Error', 'Leaf', 'Oak', 'OakInput'], 'Leaf is the same in both');
  t.match(schemas.OakInput?.properties, { boughs: { items: { $ref: '#/components/schemas/BoughInput' } }, leaf: { $ref: '#/components/schemas/Leaf' } });
  const Other = v.strictObject({ colour: v.number() });
  nameSchemas({ Leaf: Other });
  t.throws(() => openApiDocument([one, route({ ...columns, path: '/api/v1/others', reply: Other, handle: () => ({ colour: 7 }) })], INFO), {
    message: 'two schemas of the interface have the name Leaf',
  });
});

t.test('the client that checks answers finds what does not fit', async (t) => {
  const told = new Interface(rows);
  const misfit = (method: string, target: string, status: number, body?: unknown) =>
    told.misfit({ method, target, status, mediaType: 'application/json; charset=utf-8', text: body === undefined ? '' : JSON.stringify(body) });
  t.equal(misfit('GET', '/api/v1/trees/a', 200, { name: 'a', below: [{ name: 'b', below: [] }] }), undefined);
  t.match(misfit('GET', '/api/v1/trees/a', 200, { name: 'a', below: [{ name: 7, below: [] }] }), /\/below\/0\/name must be string/);
  t.match(misfit('GET', '/api/v1/trees/a', 200, { name: 'a', below: [], age: 7 }), /"additionalProperty":"age"/, 'a member that is not told of');
  t.match(misfit('GET', '/api/v1/trees', 201, []), /201 is not told of it/);
  t.equal(misfit('POST', '/api/v1/trees?how=now', 202, { later: true }), undefined);
  t.equal(misfit('DELETE', '/api/v1/trees/a', 204), undefined);
  t.match(misfit('DELETE', '/api/v1/trees/a', 404, { message: 'no' }), /must have required property 'error'/);
  const refusal = (status: number, code?: string) => ({ error: 'no', status, ...(code === undefined ? {} : { code }) });
  t.equal(misfit('DELETE', '/api/v1/trees/a', 404, refusal(404, 'not_found')), undefined);
  t.match(misfit('DELETE', '/api/v1/trees/a', 404, refusal(404, 'gone')), /404 with the code gone is not told of it/);
  t.match(misfit('DELETE', '/api/v1/trees/a', 404, refusal(404)), /404 with the code undefined is not told of it/);
  t.match(misfit('DELETE', '/api/v1/trees/a', 418, refusal(418, 'teapot')), /418 is not told of it/);
  t.equal(misfit('POST', '/api/v1/trees?how=now', 409, refusal(409, 'tree_felled')), undefined, 'of the row');
  t.equal(misfit('POST', '/api/v1/trees?how=now', 409, refusal(409)), undefined, 'a nonce that was used before');
  t.match(misfit('POST', '/api/v1/trees?how=now', 409, refusal(409, 'not_found')), /409 with the code not_found is not told of it/);
  t.match(misfit('POST', '/api/v1/trees/a/water', 409, refusal(409, 'tree_felled')), /not told of it/, 'of another row');
  t.equal(misfit('GET', '/api/v1/mystery', 200, { whatever: 1 }), undefined, 'not told of yet');
});
