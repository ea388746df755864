/** What an apply would do, and bodies in YAML, over the real pipeline. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest } from 'node:http';
import t from 'tap';
import { CONFLICT_CODES, isOfNow } from '../../../src/domains/apply/conflicts.js';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { combined, conflict, Refusal } from '../../../src/platform/base/refusal.js';
import { yamlText } from '../../../src/platform/base/yaml.js';
import { YamlBodies } from '../../../src/platform/http/yaml-body.js';
import { eventually } from '../../support/api-client.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { TestClock } from '../../support/test-clock.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const engineer = await plant.as('engineer');

const inNorth = { namespace: 'site-north' };
const manifest = (kind: string, name: string, spec: object = {}, metadata: object = inNorth) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});
/** Nobody leaves. */
const STAYS = new AbortController().signal;
/** Takes a second to read. */
const SLOW = Array.from({ length: 40_000 }, (_, n) => `k${n}: ${n}\n`).join('');

/** Sent, and left to whoever wants to hang up. */
function sent(text: string): ClientRequest {
  const headers = { Authorization: `Bearer ${engineer.token}`, 'X-DCS-Nonce': randomUUID(), 'Content-Type': 'application/yaml', 'Content-Length': Buffer.byteLength(text) };
  const request = httpRequest({ host: '127.0.0.1', port: plant.port, path: '/api/v1/apply', method: 'POST', agent: false, headers });
  request.on('error', () => undefined);
  request.end(text);
  return request;
}

const dry = (body: unknown, who = engineer) => who.post('/api/v1/apply?dryRun=true', body);
const yaml = (text: string, query = '', type = 'application/yaml') => engineer.post(`/api/v1/apply${query}`, undefined, { raw: text, headers: { 'Content-Type': type } });

t.test('D-C-03: a dry run tells each change, stores nothing and leaves no record', async (t) => {
  const [version, records] = [plant.store.resourceVersion, plant.audits.length];
  const site = manifest('Site', 'north', { location: 'A' }, {});
  const told = await dry([site, manifest('Area', 'hall'), manifest('ProcessCell', 'cell', { areaName: 'hall' })]);
  t.match(told, {
    status: 200,
    body: [
      { kind: 'Site', operation: 'created', dryRun: true, generation: 0 },
      { kind: 'Area', operation: 'created', dryRun: true },
      { kind: 'ProcessCell', operation: 'created', dryRun: true },
    ],
  });
  const changeOf = (at: number, path: string) => told.body[at].changes.find((change: { path: string }) => change.path === path);
  t.strictSame(changeOf(0, 'spec.location'), { path: 'spec.location', from: null, to: 'A' });
  t.strictSame(changeOf(2, 'spec.areaName'), { path: 'spec.areaName', from: null, to: 'hall' });
  t.equal(plant.store.resourceVersion, version);
  t.equal(plant.audits.length, records);
  t.equal(plant.store.get(Site, '', 'north'), undefined);
  t.match(await dry([site, manifest('Area', 'hall', { floor: 1 })]), { status: 400, body: { index: 1, errors: [{ index: 1, code: 'unknown_field', field: 'spec.floor' }] } });
  t.equal(plant.audits.length, records, 'what is refused in a dry run changed nothing either');

  t.match(await engineer.post('/api/v1/apply', site), { status: 200 });
  t.match(await dry(site), { status: 200, body: { operation: 'unchanged', dryRun: true, changes: [], generation: 1 } });
  t.match((await dry(manifest('Site', 'north', { location: 'B' }, { labels: { made: 'here' } }))).body, {
    operation: 'configured',
    changes: [
      { path: 'metadata.labels.made', from: null, to: 'here' },
      { path: 'spec.location', from: 'A', to: 'B' },
    ],
  });
  t.equal(plant.store.get(Site, '', 'north')?.spec.location, 'A');
});

t.test('a difference is told also of what the box refuses while a batch runs; what no box takes refuses it', async (t) => {
  const [hall, unit] = [manifest('Area', 'hall'), manifest('Unit', 'pot', { processCellName: 'cell', capabilities: ['boil'] })];
  const template = (ramp: number) =>
    manifest(
      'ControlModuleTemplate',
      'loop',
      { blocks: [{ name: 'ao', type: 'AO', params: { addr: '', rate: ramp } }], tags: [{ name: 'out', dataType: 'REAL', blockRef: 'ao', portRef: 'IN' }] },
      {},
    );
  const module = manifest('ControlModule', 'fic', { templateRef: 'loop', parentName: 'pot' });
  const made = await engineer.post('/api/v1/apply', [hall, manifest('ProcessCell', 'cell', { areaName: 'hall' }), unit, template(10), module]);
  t.equal(made.status, 200, made.text);
  const stored = plant.store.get(Unit, 'north', 'pot');
  if (!stored) throw new Error('there is no unit');
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'pot', status: { ...stored.status, allocatedTo: 'b-1' } }] });
  const [version, records] = [plant.store.resourceVersion, plant.audits.length];
  const changed = [template(20), manifest('Area', 'hall', { description: 'the hall' }), module];
  t.match(await dry(changed), { status: 409, body: { code: 'active_batch', index: 0 } });
  const diff = (body: unknown) => engineer.post('/api/v1/apply?diff=true', body);
  const told = await diff(changed);
  t.match(told, {
    status: 200,
    body: [
      { name: 'loop', operation: 'configured', dryRun: true, changes: [{ from: 10, to: 20 }], refused: [{ status: 409, code: 'active_batch', error: /b-1/ }] },
      { name: 'hall', operation: 'configured', changes: [{ path: 'spec.description', to: 'the hall' }] },
      { name: 'fic', operation: 'unchanged' },
    ],
  });
  t.equal(told.body[1].refused, undefined);
  t.same([plant.store.resourceVersion, plant.audits.length], [version, records]);
  t.match(await diff([...changed, manifest('Area', 'attic', { floor: 1 })]), { status: 409, body: { errors: [{ code: 'active_batch' }, { status: 400, code: 'unknown_field' }] } });
  const pruned = await engineer.post('/api/v1/apply?diff=true&toPrune=hall%3Dold', changed);
  t.equal(pruned.body.length, 3, 'there is nothing to prune');
  const attics = ['attic', 'loft'].map((name) => manifest('Area', name, {}, { ...inNorth, labels: { hall: 'old' } }));
  t.equal((await engineer.post('/api/v1/apply', [...attics, manifest('ProcessCell', 'up', { areaName: 'loft' })])).status, 200);
  const removals = await engineer.post('/api/v1/apply?diff=true&toPrune=hall%3Dold', changed);
  t.match(removals.body.slice(3), [
    { name: 'attic', operation: 'removed', dryRun: true },
    { name: 'loft', operation: 'removed', refused: [{ status: 409, code: 'has_dependents' }] },
  ]);
  t.equal(removals.body.length, 5);
  const labelled = { ...template(10), metadata: { name: 'loop', labels: { hall: 'old' } } };
  t.match(await engineer.post('/api/v1/apply', labelled), { status: 200, body: { operation: 'configured' } });
  const again = await engineer.post('/api/v1/apply?diff=true&toPrune=hall%3Dold', changed);
  t.match(again.body[0], { name: 'loop', refused: [{ code: 'active_batch' }] });
  t.equal(again.body.length, 5, 'what is refused for now stands in the request all the same, and is not pruned');
  t.match(await engineer.post('/api/v1/apply?dryRun=true&toPrune=hall%3Dold', changed), { status: 409, body: { errors: [{ code: 'active_batch' }] } });
  for (const name of ['processcells/up', 'areas/loft', 'areas/attic']) await engineer.delete(`/api/v1/sites/north/${name}`);
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'pot', status: stored.status }] });
  t.notOk((await diff(changed)).body.some(({ refused }: { refused?: unknown }) => refused));
});

t.test('what is refused whatever the plant does refuses a diff as it does a dry run', async (t) => {
  const recipe = (name: string, version = '1.0.0') => manifest('MasterRecipe', name, { productID: 'twice', version, formulas: [], procedure: { chart: { steps: [] } } });
  const both = async (body: unknown, code: string) => {
    const answers = [await dry(body), await engineer.post('/api/v1/apply?diff=true', body)];
    for (const answer of answers) t.match(answer, { status: 409, body: { code } }, code);
    t.same(answers[1]?.body.errors, answers[0]?.body.errors);
  };
  await both([recipe('one'), recipe('other')], 'duplicate_version');
  await both([manifest('FunctionBlockType', 'ton', { structuredText: 'FUNCTION_BLOCK TON END_FUNCTION_BLOCK' }, {})], 'already_exists');
  t.match(await engineer.post('/api/v1/apply?diff=true', [recipe('one'), recipe('other', '1.1.0')]), { status: 200 });
});

t.test('of each conflict it is known whether it is of now', (t) => {
  const ofNow = CONFLICT_CODES.filter((code) => isOfNow(conflict(code, 'no')));
  t.same(ofNow, ['active_batch', 'element_active', 'too_many_open']);
  t.notOk(isOfNow(conflict('has_dependents', 'no')), 'what stands in no row is not');
  t.notOk(isOfNow(new Refusal('missing', 'no', { code: 'active_batch' })));
  t.notOk(isOfNow(combined([conflict('active_batch', 'no'), conflict('recipe_phase', 'no')]) ?? conflict('active_batch', 'no')), 'beside one that is not');
  t.end();
});

t.test('D-C-03: an array of one is an array: what is wrong has its index', async (t) => {
  t.match(await dry([manifest('Area', 'hall', { floor: 1 })]), {
    status: 400,
    body: { index: 0, errors: [{ index: 0, kind: 'Area', name: 'hall', field: 'spec.floor' }], errorsTotal: 1 },
  });
  t.equal((await dry(manifest('Area', 'hall', { floor: 1 }))).body.errors, undefined, 'a manifest alone has one error of its own');
});

t.test('D-C-03: a dry run tells that a secret differs, and not what it is', async (t) => {
  const module = (password: string) => manifest('IOModule', 'plc', { protocol: 'opcua', address: 'opc.tcp://plc:4840', enabled: false, options: { username: 'op', password } });
  const first = await admin.post('/api/v1/apply', module('of yesterday'));
  t.equal(first.status, 200, JSON.stringify(first.body));
  const told = await dry(module('of today'), admin);
  t.match(told.body, { operation: 'configured', changes: [{ path: 'spec.options.password', from: '(secret)', to: '(secret)' }] });
  t.notMatch(JSON.stringify(told.body), /of today|of yesterday/);
});

t.test('D-C-03: bodies may be YAML; several documents are one transaction', async (t) => {
  const text = `# of the hall\napiVersion: physical.lineside.io/v1alpha1\nkind: Area\nmetadata: {name: east, namespace: site-north}\n---\napiVersion: physical.lineside.io/v1alpha1\nkind: ProcessCell\nmetadata:\n  name: line\n  namespace: site-north\nspec:\n  areaName: east # where it stands\n`;
  t.match(await yaml(text), {
    status: 200,
    body: [
      { kind: 'Area', operation: 'created' },
      { kind: 'ProcessCell', operation: 'created' },
    ],
  });
  t.match(await yaml(text, '?dryRun=true', 'Application/YAML; charset=utf-8'), { status: 200, body: [{ operation: 'unchanged' }, { operation: 'unchanged' }] });
  const [one] = text.split('---');
  t.match(await yaml(one ?? ''), { status: 200, body: { kind: 'Area', operation: 'unchanged' } });
  t.match(await yaml(''), { status: 400 });
});

t.test('D-C-03: what is not YAML that stands for JSON is refused, with line and column', async (t) => {
  const refused: readonly [text: string, words: RegExp][] = [
    ['kind: Site\nkind: Area\n', /line 2, column 1: Map keys must be unique/],
    ['a: {b: 1, 2: x, "2": y}\n', /line 1, column 17: Map keys must be unique/],
    ['a: [1, 2\nb: 3\n', /line \d+, column \d+/],
    ['a: .inf\n', /line 1, column 4: a number must be finite/],
    ['? [x]\n: 1\n', /a key must be a text/],
    ['a: !!js/function "x"\n', /line 1, column 4: Unresolved tag/],
    [`a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`, /alias/],
    ['kind: Area\nspec: &s\n  me: *s\n', /line 3, column 7: \*s stands within &s: it would hold itself without end/],
    [`a: &a ${'['.repeat(60)}${']'.repeat(60)}\nb: [[[[*a]]]]\n`, /line 2, column 8: it is nested deeper than 64 levels/],
    ['a: "\\ud800"\n', /surrogate|valid YAML|Unicode/],
  ];
  for (const [text, words] of refused) t.match(await yaml(text), { status: 400, body: { error: words } }, text.slice(0, 40));
  t.match(await yaml(`a: ${'['.repeat(80)}${']'.repeat(80)}\n`), { status: 400, body: { error: /line 1, column 67: it is nested deeper than 64 levels/ } });
  t.match(await yaml('a: 1', '', 'application/yaml; charset=latin1'), { status: 415 });
  t.match(await engineer.post('/api/v1/sites', undefined, { raw: 'name: x', headers: { 'Content-Type': 'application/yaml' } }), { status: 415 }, 'other routes take JSON');
  t.match(await yaml(`a: ${'x'.repeat(2 * 1024 ** 2)}`), { status: 413, body: { limitBytes: 2 * 1024 ** 2 } });
});

t.test('aliases that unfold to more than a body may hold are refused, and hold nobody up', async (t) => {
  const list = Array.from({ length: 60_000 }, () => 'x').join(', ');
  const text = `a: &a [${list}]\nb: [${Array.from({ length: 99 }, () => '*a').join(', ')}]\n`;
  t.match(await yaml(text), { status: 400, body: { code: 'invalid_yaml', error: /aliases unfold to more than/ } });
});

t.test('two bodies in YAML that one caller sends at once are both taken', async (t) => {
  const area = (name: string): string => yamlText(manifest('Area', name, { description: 'x' }));
  const answers = await Promise.all(['attic', 'cellar'].map((name) => yaml(area(name), '?dryRun=true')));
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200],
  );
});

t.test('others are served while hostile YAML is read', async (t) => {
  let isRead = false;
  const hostile = yaml('['.repeat(100_000)).finally(() => {
    isRead = true;
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => engineer.get('/api/v1/sites').then(({ status }) => ({ status, isRead }))));
  t.ok(answers.every(({ status }) => status === 200));
  t.ok(
    answers.some((answer) => !answer.isRead),
    'the gateway was not held',
  );
  t.match(await hostile, { status: 400 });
});

t.test('of a caller one body in YAML is read at a time and few wait, and others are not kept waiting by its further ones', async (t) => {
  const bodies = new YamlBodies();
  const ended: string[] = [];
  const read = async (text: string, by: string, called = by): Promise<unknown> => {
    const value = await bodies.read(Buffer.from(text), by, STAYS);
    ended.push(called);
    return value;
  };
  // each key is compared with none of the others: by a library that compares all with all it took minutes
  const slow = read(SLOW, 'anna');
  const further = [2, 3, 4].map((n) => read(`a: ${n}`, 'anna', `anna ${n}`));
  await t.rejects(read('a: 1', 'anna'), { message: /^4 bodies of yours in YAML are being read: try again in a moment/, context: { code: 'yaml_busy' } });
  const others = ['bert', 'cleo', 'dora'].map((by) => read('a: 1', by));
  await t.rejects(read(`a: ${'x'.repeat(64 * 1024)}`, 'emil'), /^Refusal: other bodies in YAML|^other bodies in YAML/);
  const short = read('a: 1', 'emil', 'emil: a short one is let in');
  t.match(await slow, { k39999: 39_999 });
  t.strictSame(await Promise.all(others), [{ a: 1 }, { a: 1 }, { a: 1 }]);
  t.strictSame(await short, { a: 1 });
  t.strictSame(await Promise.all(further), [{ a: 2 }, { a: 3 }, { a: 4 }]);
  t.strictSame(ended, ['anna', 'bert', 'cleo', 'dora', 'emil: a short one is let in', 'anna 2', 'anna 3', 'anna 4'], 'who is read first goes again behind the others');
  ended.length = 0;
  const turns = ['anna 1', 'anna 2', 'bert 1', 'bert 2', 'anna 3', 'cleo 1'].map((called) => read('a: 1', called.split(' ')[0] ?? '', called));
  await Promise.all(turns);
  t.strictSame(ended, ['anna 1', 'bert 1', 'cleo 1', 'anna 2', 'bert 2', 'anna 3'], 'callers take turns');
  const wrong = [read('[', 'anna'), read('a: 5', 'anna')];
  await t.rejects(wrong[0] ?? Promise.resolve(), /cannot be read as YAML/);
  t.strictSame(await wrong[1], { a: 5 }, 'behind one that cannot be read');
  await t.rejects(read('[', 'anna'), /cannot be read as YAML: line 1/);
  // a million items: whichever of its bounds it meets first
  await t.rejects(read('-\n'.repeat(1_000_000), 'anna'), /more than 192 MB of memory to read|takes longer than 10 s to read/);
  t.strictSame(await read('b: 2', 'anna'), { b: 2 }, 'there is room again');
});

t.test('a body whose client has left is dropped, waiting or being read: its place is free and nothing of it is carried out', async (t) => {
  const dropped = (): number => plant.audits.filter(({ reason }) => reason === 'BodyIncomplete').length;
  const slow = sent(SLOW);
  const ghost = sent(yamlText(manifest('Area', 'ghost')));
  const others = [sent(SLOW), sent(SLOW)];
  await Promise.all([slow, ghost, ...others].map(async (request) => request.writableFinished || (await once(request, 'finish'))));
  await engineer.get('/api/v1/sites'); // behind all that they have sent
  t.match(await yaml('a: 1'), { status: 503, body: { code: 'yaml_busy', error: /^4 bodies of yours/ }, headers: { 'retry-after': '5' } }, 'all four are here');
  ghost.destroy();
  await eventually('one that waits is dropped', async () => dropped() === 1);
  const last = yaml(yamlText(manifest('Area', 'stays')));
  for (const request of [slow, ...others]) request.destroy();
  await eventually('one that is being read is dropped', async () => dropped() === 4);
  t.match(await last, { status: 200 }, 'who stays has his turn at once');
  t.match(await engineer.get('/api/v1/sites/north/areas/ghost'), { status: 404 });
  t.match(await engineer.get('/api/v1/sites/north/areas/stays'), { status: 200 });
});

t.test('a manifest in YAML has the bounds of one in JSON, and is read on its own', async (t) => {
  const area = yamlText(manifest('Area', 'hall'));
  const long = yamlText(manifest('Area', 'long', { description: 'x'.repeat(1024 ** 2) }));
  t.match(await yaml([area, long].join('---\n'), '?dryRun=true'), { status: 413, body: { code: 'payload_too_large', field: '[1]', error: /^member 1 of the array has at most/ } });
  t.match(await yaml(long, '?dryRun=true'), { status: 413, body: { error: /^what is no array of several/ } });
  const names = Array.from({ length: 101 }, (_, n) => `k${n}: 1\n`).join('');
  t.match(await yaml([area, names].join('---\n'), '?dryRun=true'), { status: 400, body: { field: '[1]', error: /101 fields/ } });
});

t.test('a body in YAML whose turn does not come within 20 s is refused, and not read', async (t) => {
  const clock = new TestClock();
  const bodies = new YamlBodies(clock);
  const slow = bodies.read(Buffer.from(SLOW), 'anna', STAYS);
  const waits = t.rejects(bodies.read(Buffer.from('a: 1'), 'bert', STAYS), {
    message: /read for 20 s, and nothing was changed/,
    context: { code: 'yaml_busy', retryAfterSeconds: 5 },
  });
  clock.advance(20_000);
  await waits;
  t.match(await slow, { k0: 0 });
  t.strictSame(await bodies.read(Buffer.from('a: 2'), 'bert', STAYS), { a: 2 });
});
