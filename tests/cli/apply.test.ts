/** Plant files against a box: apply, diff, export, prune, over the real pipeline. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { ApiError } from '../../src/client/api.js';
import { schemasOfBox } from '../../src/cli/files/schemas.js';
import type { Box } from '../../src/cli/remote/box.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { failureOf } from '../../src/cli/remote/outcome.js';
import type { Given } from '../../src/cli/remote/command.js';
import { IOModule } from '../../src/domains/io-modules/kind.js';
import { Area, Unit } from '../../src/domains/plant/kind.js';
import { yamlText } from '../../src/platform/base/yaml.js';
import { startPlantGateway } from '../support/plant-gateway.js';
import { boxContext, localContext, rowOf, silentTerminal } from './support.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-cli-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const url = `http://127.0.0.1:${plant.port}`;
const boxes = new KnownBoxes(path.join(folder, 'config'));
const admin = await plant.as('admin');
const reader = await plant.as('viewer');

const run = (words: string, args: readonly string[], options: Given = {}, said?: string[]) => rowOf(words).run(boxContext(boxes, args, options, silentTerminal(said)));
const refused = async (work: Promise<unknown>) =>
  failureOf(
    await work.then(
      () => new Error('it was taken'),
      (fault: unknown) => fault,
    ),
    url,
  );
const file = (name: string, ...manifests: readonly object[]): string => {
  writeFileSync(path.join(folder, name), manifests.map(yamlText).join('---\n'));
  return path.join(folder, name);
};
const manifest = (kind: string, name: string, spec: object = {}, more: object = { namespace: 'site-north' }) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...more },
  spec,
});

t.before(async () => {
  for (const [name, { username, password }] of [
    ['plant', admin],
    ['reader', reader],
  ] as const) {
    const terminal = { ...silentTerminal(), read: async () => `${password}\n` };
    await rowOf('login').run({ ...boxContext(withBox(name), [url], {}), boxes, terminal, args: [url], options: { user: username, passwordStdin: true, name } });
  }
});

/** An apply, and what happens between it and the removals. */
function applyAnd(options: Given, work: () => Promise<unknown>) {
  const context = boxContext(boxes, [], options);
  const { typed } = context.box;
  const post = typed.post.bind(typed);
  typed.post = (async (path: '/api/v1/apply', call: { readonly query?: { readonly dryRun?: boolean } }) => {
    const answer = await post(path, call as never);
    if (call.query?.dryRun !== true) await work();
    return answer;
  }) as never;
  return rowOf('apply').run(context);
}

/** A sign-in needs no box; the context of the test makes one all the same. */
function withBox(name: string): KnownBoxes {
  boxes.keep(name, { url, username: '', accessToken: '', refreshToken: '', site: '' });
  return boxes;
}

t.test('a sign-in is kept for its owner alone, and a wrong password is told', async (t) => {
  t.equal(statSync(boxes.file).mode & 0o777, 0o600);
  t.match(boxes.find('plant')?.box, { url, username: admin.username, accessToken: /\w/, refreshToken: /\w/ });
  const wrong = {
    ...boxContext(boxes, [url], { box: 'plant' }),
    terminal: { ...silentTerminal(), read: async () => 'not this one\n' },
    args: [url],
    options: { user: admin.username, passwordStdin: true, name: 'plant' },
  };
  const told = await refused(rowOf('login').run(wrong));
  t.match(told, { exitCode: 5, told: { code: 'invalid_credentials', status: 401 } });
});

t.test('D-C-03: apply takes files in any order; what is there already is left alone', async (t) => {
  const given = file('plant.yaml', manifest('ProcessCell', 'cell', { areaName: 'hall' }), manifest('Area', 'hall'), manifest('Site', 'north', {}, {}));
  t.match(await run('apply', [], { box: 'plant', filename: [given], dryRun: true }), { text: /would be created {2}Site north\n[^]*dry run: nothing was stored/ });
  t.equal(plant.store.list(Area).length, 0);
  t.match(await run('apply', [], { box: 'plant', filename: [given] }), { text: /created {2}ProcessCell cell \(north\)[^]*3 changes, 0 unchanged/, data: { dryRun: false } });
  t.match(await run('apply', [], { box: 'plant', filename: [given] }), { text: '0 changes, 3 unchanged' });
});

t.test('a refusal names each file and line, and changes nothing', async (t) => {
  const given = file('bad.yaml', manifest('Area', 'attic', { floor: 2 }), manifest('ProcessCell', 'other', { areaName: 'nowhere' }), manifest('Area', 'loft'));
  const told = await refused(run('apply', [], { box: 'plant', filename: [given] }));
  t.equal(told.exitCode, 4);
  t.match(told.message, /the box refuses 2 manifests and has changed nothing:\n.*bad\.yaml:7:10: Area attic: unknown field spec\.floor/);
  t.match(told.message, /bad\.yaml:15:13: ProcessCell other: areaName names Area nowhere, which does not exist \[unknown_reference\]/);
  t.equal(plant.store.get(Area, 'north', 'loft'), undefined);
  t.match(await refused(run('apply', [], { box: 'reader', filename: [given] })), { exitCode: 5, told: { code: 'action_missing' } });
  t.match(await refused(run('apply', [], { box: 'plant' })), { exitCode: 2 });
});

t.test('a difference is told value by value and text by line, with exit code 1', async (t) => {
  const given = file('plant.yaml', manifest('Area', 'hall', { description: 'the hall' }), manifest('Site', 'north', {}, {}));
  t.match(await run('diff', [], { box: 'plant', filename: [given] }), { exitCode: 1, text: 'differs  Area hall (north)\n  ~ spec.description: "" -> the hall' });
  await run('apply', [], { box: 'plant', filename: [given] });
  t.match(await run('diff', [], { box: 'plant', filename: [given] }), { exitCode: 0, text: 'no differences' });
});

t.test('D-C-03: an export is applied again without a change, and a change of the box comes into its file', async (t) => {
  await admin.post('/api/v1/demo/provision');
  const into = path.join(folder, 'export');
  t.match(await run('export', [into], { box: 'plant' }), { data: { unchanged: 0 } });
  t.match(await run('apply', [], { box: 'plant', filename: [into] }), { text: /^0 changes, \d\d+ unchanged$/ });
  t.match(await rowOf('validate').run(boxContext(boxes, [into], {})), { exitCode: 0 });
  t.match(await run('export', [into], { box: 'plant' }), { data: { written: [] } });
  await admin.put('/api/v1/sites/north/areas/hall', { description: 'another hall' });
  t.match(await run('export', [into], { box: 'plant' }), { data: { written: [path.join(into, 'north/area/hall.yaml')] } });
  t.match(await run('diff', [], { box: 'plant', filename: [into] }), { exitCode: 0 });
});

t.test('an export leaves what says the same in fewer words, and structured text; a change of the box replaces it', async (t) => {
  const own = path.join(folder, 'own');
  mkdirSync(own);
  const text = "PROGRAM p\n  // why\n  AO('', 5.0, 0.0, 100.0, 0.0, 100.0);\nEND_PROGRAM\n";
  const template = manifest('ControlModuleTemplate', 'in-text', { moduleType: 'valve', structuredText: text }, {});
  writeFileSync(path.join(own, 'own.yaml'), `# mine\n${[manifest('Area', 'yard'), template].map(yamlText).join('---\n')}`);
  await run('apply', [], { box: 'plant', filename: [own] });
  const before = readFileSync(path.join(own, 'own.yaml'), 'utf8');
  await run('export', [own], { box: 'plant' });
  t.equal(readFileSync(path.join(own, 'own.yaml'), 'utf8'), before);
  await admin.put('/api/v1/sites/north/areas/yard', { description: 'paved' });
  await run('export', [own], { box: 'plant' });
  const after = readFileSync(path.join(own, 'own.yaml'), 'utf8');
  t.match(after, /^# mine[^]*description: paved[^]*\/\/ why/);
  await admin.delete('/api/v1/controlmoduletemplates/in-text');
});

t.test('an export brings the id of the box into a module that says the same, so that another box does not drive its device', async (t) => {
  const own = path.join(folder, 'own-io');
  mkdirSync(own);
  writeFileSync(path.join(own, 'io.yaml'), yamlText(manifest('IOModule', 'own-plc', { protocol: 'modbus', address: '127.0.0.1:1', channels: [{ name: 'a', address: 'coil:0' }] })));
  await run('apply', [], { box: 'plant', filename: [own] });
  await run('export', [own], { box: 'plant' });
  t.match(readFileSync(path.join(own, 'io.yaml'), 'utf8'), /lineside.io\/device-id[^]*- name: a\n\s+address: "?coil:0"?\n?$/);
});

t.test('--prune removes what carries the label and stands in no file, and nothing else', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'test' } };
  const [a, b] = [manifest('Area', 'a', {}, label), manifest('Area', 'b', {}, label)];
  await run('apply', [], { box: 'plant', filename: [file('both.yaml', a, b, manifest('ProcessCell', 'in-b', { areaName: 'b' }, label))] });
  const only = file('both.yaml', a);
  t.match(await refused(run('apply', [], { box: 'plant', filename: [only], prune: true })), { exitCode: 2, message: /-l key=value/ });
  t.match(await run('apply', [], { box: 'plant', filename: [only], prune: true, selector: 'plant==test', dryRun: true }), {
    text: /would be removed {2}ProcessCell in-b \(north\)\nwould be removed {2}Area b \(north\)/,
  });
  t.ok(plant.store.get(Area, 'north', 'b'));
  t.match(await run('apply', [], { box: 'plant', filename: [only], prune: true, selector: 'plant=test' }), { text: /0 changes, 1 unchanged, 2 removed/ });
  t.equal(plant.store.get(Area, 'north', 'b'), undefined);
  t.ok(plant.store.get(Area, 'north', 'hall'), 'it has no label');
});

t.test('a flag that is wrong is told before anything is applied, and a time is given as everywhere', async (t) => {
  const given = file('later.yaml', manifest('Area', 'later'));
  t.match(await refused(run('apply', [], { box: 'plant', filename: [given], prune: true, selector: 'plant' })), { exitCode: 2, message: /key=value/ });
  t.match(await refused(run('apply', [], { box: 'plant', filename: [given], wait: true, timeout: 'soon' })), { exitCode: 2, message: /--timeout soon/ });
  t.equal(plant.store.get(Area, 'north', 'later'), undefined);
  t.match(await run('apply', [], { box: 'plant', filename: [given], dryRun: true, wait: true, timeout: '5m' }), { text: /created {2}Area later/ });
});

t.test('a removal that is refused tells what is gone and what is left', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'half' } };
  const areas = ['x', 'y', 'z'].map((name) => manifest('Area', name, {}, label));
  await run('apply', [], { box: 'plant', filename: [file('half.yaml', ...areas)] });
  const options = { box: 'plant', filename: [file('half.yaml', manifest('Area', 'w', {}, label))], prune: true, selector: 'plant=half' };
  const told = await refused(applyAnd(options, () => admin.post('/api/v1/apply', manifest('ProcessCell', 'in-y', { areaName: 'y' }))));
  t.match(told, {
    exitCode: 4,
    message: /^applied, and then Area y \(north\) is not removed: [^]*\n {2}removed {2}Area z \(north\)\n {2}removed {2}Area x \(north\)\n {2}not removed {2}Area y/,
  });
  t.match(told.told.removed, [{ kind: 'Area', namespace: 'site-north', name: 'z' }, { name: 'x' }]);
  t.match(told.told, { left: [{ name: 'y' }], manifests: [{ name: 'w', operation: 'created' }] });
  t.ok(plant.store.get(Area, 'north', 'w'));
  t.equal(plant.store.get(Area, 'north', 'z'), undefined);
});

t.test('what the box would not remove even after the apply keeps a prune from beginning, with how to go on', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'kept' } };
  const cell = (areaName: string) => manifest('ProcessCell', 'in-n', { areaName });
  await run('apply', [], { box: 'plant', filename: [file('kept.yaml', manifest('Area', 'm', {}, label), manifest('Area', 'n', {}, label), cell('n'))] });
  const [version, records] = [plant.store.resourceVersion, plant.audits.length];
  const options = { box: 'plant', filename: [file('kept.yaml', manifest('Area', 'r', {}, label))], prune: true, selector: 'plant=kept' };
  t.match(await refused(run('apply', [], options)), {
    exitCode: 4,
    message:
      /^nothing was changed, because --prune would not remove [^\n]*\nwould not be removed {2}Area n \(north\) is still used by ProcessCell in-n\nmend that or wait for it, or leave out --prune: [^\n]*$/,
    told: { code: 'has_dependents', status: 409, removed: [], left: [{ name: 'n', refused: [{ code: 'has_dependents' }] }] },
  });
  t.same([plant.store.resourceVersion, plant.audits.length], [version, records]);
  t.match(await run('apply', [], { box: 'plant', filename: options.filename }), { text: /created {2}Area r[^]*1 change, 0 unchanged$/ }, 'as it says');
  const moved = [file('kept.yaml', manifest('Area', 'r', {}, label), cell('r'))];
  t.match(await run('apply', [], { ...options, filename: moved }), { text: /1 change, 1 unchanged, 2 removed$/ }, 'possible after the apply');
});

t.test('the dry run of a prune says what would stay, and why, as the prune would; a rename is judged by what the files move', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'judged' } };
  const areas = ['j', 'k'].map((name) => manifest('Area', name, {}, label));
  await run('apply', [], { box: 'plant', filename: [file('judged.yaml', ...areas, manifest('ProcessCell', 'in-j', { areaName: 'j' }))] });
  const options = { box: 'plant', prune: true, selector: 'plant=judged', dryRun: true };
  const told = await refused(run('apply', [], { ...options, filename: [file('judged.yaml', manifest('Area', 'l', {}, label))] }));
  t.match(told, {
    exitCode: 4,
    message:
      /^would be created {2}Area l \(north\)\nwould be removed {2}Area k \(north\)\nwould not be removed {2}Area j \(north\) is still used by ProcessCell in-j\n1 change, 0 unchanged, 1 removed, 1 not removed \(dry run: nothing was stored\)$/,
    told: { code: 'has_dependents', status: 409, dryRun: true, removed: [{ name: 'k' }], left: [{ name: 'j', refused: [{ code: 'has_dependents' }] }] },
  });
  const renamed = [file('judged.yaml', manifest('Area', 'l', {}, label), manifest('ProcessCell', 'in-j', { areaName: 'l' }))];
  t.match(await run('apply', [], { ...options, filename: renamed }), {
    text: /would be removed {2}Area k \(north\)\nwould be removed {2}Area j \(north\)\n2 changes, 0 unchanged, 2 removed/,
  });
  t.ok(plant.store.get(Area, 'north', 'j'), 'nothing is removed by it');
  t.match(await run('apply', [], { ...options, dryRun: false, filename: renamed }), { text: /2 changes, 0 unchanged, 2 removed$/ });
});

t.test('what carries the label and is removed by no route is told by the dry run, and nothing is changed by the prune', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'odd' } };
  const endpoint = (name: string) => ({ kind: 'Phase', name });
  await run('apply', [], { box: 'plant', filename: [file('odd.yaml', manifest('SyncBarrier', 'meet', { participants: [endpoint('a'), endpoint('b')] }, label))] });
  const options = { box: 'plant', prune: true, selector: 'plant=odd', filename: [file('odd.yaml', manifest('Area', 'odd', {}, label))] };
  t.match(await refused(run('apply', [], { ...options, dryRun: true })), {
    exitCode: 4,
    message: /would not be removed {2}SyncBarrier meet \(north\): no route removes a SyncBarrier: take the label off meet/,
  });
  t.match(await refused(run('apply', [], options)), {
    exitCode: 4,
    message: /SyncBarrier meet \(north\) carries the label, and no route removes a SyncBarrier[^]*nothing was changed$/,
  });
  t.equal(plant.store.get(Area, 'north', 'odd'), undefined);
});

t.test('of a single manifest a refusal names file and line as validate does, and so does a warning', async (t) => {
  const given = file('single.yaml', manifest('Area', 'one', { floor: 1 }));
  const words = /single\.yaml:7:10: Area one: unknown field spec\.floor[^\n]* \[unknown_field\]$/m;
  t.match((await rowOf('validate').run(localContext([given], {}))).text, /single\.yaml:7:10: error: Area one: unknown field spec\.floor/);
  for (const command of ['apply', 'diff']) t.match((await refused(run(command, [], { box: 'plant', filename: [given] }))).message, words, command);
  const noUnit = file('single.yaml', manifest('ControlModule', 'one', { templateRef: 'none', parentName: 'none' }));
  t.match((await refused(run('apply', [], { box: 'plant', filename: [noUnit] }))).message, /single\.yaml:7:16: ControlModule one: .*templateRef/);
  const said: string[] = [];
  await run('apply', [], { box: 'plant', filename: [file('single.yaml', manifest('ControlProgram', 'p-one', { unitRef: '', colour: 'red' }))], dryRun: true }, said);
  t.match(said[0], /single\.yaml:7:3: ControlProgram p-one \(north\): spec\.colour is not a field of a control program and was ignored$/);
});

t.test('what can be read as no manifest has its place too', async (t) => {
  const text = path.join(folder, 'no-manifest.yaml');
  for (const [second, words] of [
    ['only words\n', /no-manifest\.yaml:8:1: [^\n]*object/],
    [`kind: ${'x'.repeat(1024 ** 2)}\n`, /no-manifest\.yaml:8:1: [^\n]*bytes[^\n]* \[payload_too_large\]$/],
    [yamlText(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 'x'.repeat(11_000)]))), /no-manifest\.yaml:8:1: [^\n]*bytes|fields/],
  ] as const) {
    writeFileSync(text, `${yamlText(manifest('Area', 'first'))}---\n${second}`);
    for (const command of ['apply', 'diff']) t.match((await refused(run(command, [], { box: 'plant', filename: [text] }))).message, words, command);
  }
});

t.test('a difference is shown while a batch runs, and beneath it what an apply would be refused for', async (t) => {
  await admin.post('/api/v1/demo/provision');
  const into = path.join(folder, 'busy');
  await run('export', [into], { box: 'plant', site: 'demo' });
  const unit = plant.store.get(Unit, 'demo', 'rx101');
  if (!unit) throw new Error('there is no unit');
  const work = (allocatedTo: string) => plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit.status, allocatedTo } }] });
  await work('b-1');
  const at = path.join(into, 'demo/controlmodule/xv103.yaml');
  const [before, others] = [readFileSync(at, 'utf8'), readFileSync(path.join(into, 'demo/controlmodule/xv101.yaml'), 'utf8')];
  writeFileSync(at, before.replace(/channel: .*\n/, 'channel: io-rx101:xv101.cmd\n'));
  const told = await run('diff', [], { box: 'plant', site: 'demo', filename: [into] });
  t.match(told, {
    exitCode: 1,
    text: /^differs {2}ControlModule xv103 \(demo\)\n {2}~ spec\.tags\[[^\n]*\n\nan apply would be refused now:\n[^\n]*xv103\.yaml:\d+:\d+: ControlModule xv103: [^\n]*b-1[^\n]* \[active_batch\]$/,
    data: { manifests: [{ name: 'xv103' }], refused: [{ file: at, code: 'active_batch' }] },
  });
  t.match(await refused(run('apply', [], { box: 'plant', site: 'demo', filename: [into] })), { exitCode: 4, told: { code: 'active_batch' } });
  await run('export', [into], { box: 'plant', site: 'demo' });
  t.equal(readFileSync(at, 'utf8'), before, 'an export is written all the same');
  t.equal(readFileSync(path.join(into, 'demo/controlmodule/xv101.yaml'), 'utf8'), others);
  await work('');
});

t.test('a box that does not know diff yet is asked for a dry run, and an export keeps what files say in fewer words', async (t) => {
  const own = path.join(folder, 'older');
  mkdirSync(own);
  writeFileSync(path.join(own, 'own.yaml'), yamlText(manifest('Area', 'older')));
  await run('apply', [], { box: 'plant', filename: [own] });
  const before = readFileSync(path.join(own, 'own.yaml'), 'utf8');
  const asked: object[] = [];
  /** A request with that parameter is refused in this way. */
  const older = (words: string, args: readonly string[], options: Given, refusal = { status: 400, code: 'unknown_parameter' }) => {
    const context = boxContext(boxes, args, { box: 'plant', ...options });
    const post = context.box.typed.post.bind(context.box.typed);
    context.box.typed.post = ((address: '/api/v1/apply', call: { readonly query?: object }) => {
      asked.push(call.query ?? {});
      return 'diff' in (call.query ?? {}) ? Promise.reject(new ApiError(refusal.status, { error: 'no', code: refusal.code, field: 'diff' })) : post(address, call as never);
    }) as never;
    return rowOf(words).run(context);
  };
  t.match(await older('diff', [], { filename: [own] }), { exitCode: 0, text: 'no differences' });
  t.same(asked.splice(0), [{ diff: true }, { dryRun: true }]);
  await older('export', [own], {});
  t.equal(readFileSync(path.join(own, 'own.yaml'), 'utf8'), before);
  t.match(await refused(older('export', [own], {}, { status: 503, code: 'bodies_busy' })), { exitCode: 4, told: { code: 'bodies_busy' } }, 'busy says nothing of the files');
  t.equal(readFileSync(path.join(own, 'own.yaml'), 'utf8'), before);
  t.match(await refused(older('diff', [], { filename: [own] }, { status: 400, code: 'invalid_query' })), { exitCode: 4 }, 'nothing else is asked again');
});

t.test('what no box takes, whatever it does, refuses a diff with the exit code of an apply', async (t) => {
  const recipe = (name: string) => manifest('MasterRecipe', name, { productID: 'twice', version: '1.0.0', formulas: [], procedure: { chart: { steps: [] } } });
  const given = file('twice.yaml', recipe('one'), recipe('other'));
  for (const words of ['diff', 'apply'])
    t.match(
      await refused(run(words, [], { box: 'plant', filename: [given] })),
      { exitCode: 4, told: { code: 'duplicate_version', faults: [{ file: given, code: 'duplicate_version' }] } },
      words,
    );
});

t.test('a list of modules marks what is not valid, and says below what it is', async (t) => {
  const template = { blocks: [{ name: 'do', type: 'DO', params: { addr: '' } }], tags: [{ name: 'cmd', dataType: 'BOOL', blockRef: 'do', portRef: 'IN' }] };
  const plc = { protocol: 'modbus', address: 'plc', enabled: false, channels: [{ name: 'a', address: 'coil:0', direction: 'output' }] };
  const module = (channel: string) => ({ templateRef: 'loop', parentName: 'pot', tags: [{ name: 'cmd', channel }] });
  const { status, body } = await admin.post('/api/v1/apply', [
    manifest('Site', 'west', {}, {}),
    ...[manifest('Area', 'hall'), manifest('ProcessCell', 'cell', { areaName: 'hall' }), manifest('Unit', 'pot', { processCellName: 'cell' })].map(inWest),
    manifest('ControlModuleTemplate', 'loop', template, {}),
    ...[manifest('IOModule', 'plc', plc), manifest('ControlModule', 'good', module('plc:a')), manifest('ControlModule', 'lost', module('gone:a'))].map(inWest),
  ]);
  t.equal(status, 200, JSON.stringify(body));
  const { text } = await run('get', ['cm'], { box: 'plant', site: 'west' });
  t.match(text, /^name .*configuration/);
  t.match(text, /^good (?!.*not valid)/m);
  t.match(text, /^lost .* not valid$/m);
  t.match(text, /\n\nlost: tag cmd needs I\/O module gone, which does not exist$/);
  t.notMatch((await run('get', ['units'], { box: 'plant', site: 'west' })).text, /configuration/);
});

const inWest = (each: ReturnType<typeof manifest>) => ({ ...each, metadata: { ...each.metadata, namespace: 'site-west' } });

t.test('--prune removes as it has read: what somebody has written meanwhile stays and is told, and what a device does by itself is no change', async (t) => {
  const label = { namespace: 'site-north', labels: { plant: 'read' } };
  const module = manifest('IOModule', 'plc-read', { protocol: 'modbus', address: '127.0.0.1:1', channels: [{ name: 'a', address: 'coil:0' }] }, label);
  const areas = ['p', 'q'].map((name) => manifest('Area', name, {}, label));
  await run('apply', [], { box: 'plant', filename: [file('read.yaml', ...areas, module)] });
  const options = { box: 'plant', filename: [file('read.yaml', manifest('Area', 'o', {}, label))], prune: true, selector: 'plant=read' };
  const touched = plant.store.get(IOModule, 'north', 'plc-read');
  const told = await refused(
    applyAnd(options, async () => {
      await admin.put('/api/v1/sites/north/areas/p', { description: 'the new one' });
      if (touched) await plant.store.write({ puts: [{ kind: IOModule, site: 'north', name: 'plc-read', status: { ...touched.status, message: 'no route' } } as never] });
    }),
  );
  t.match(told, { exitCode: 4, told: { code: 'precondition_failed' }, message: /Area p \(north\) is not removed: the resource has changed[^]*\n {2}not removed {2}Area p/ });
  t.match(told.told, { left: [{ name: 'p' }] });
  t.equal(plant.store.get(IOModule, 'north', 'plc-read'), undefined, 'its own state is no change of it');
  t.ok(plant.store.get(Area, 'north', 'p'));
  t.match(await rowOf('apply').run(boxContext(boxes, [], options)), { text: /1 removed/ }, 'read again, it goes');
});

t.test('what nobody is there to answer, and whom nobody can reach, is told', async (t) => {
  boxes.keep('gone', { url: 'http://127.0.0.1:9', username: 'x', accessToken: 'x', refreshToken: 'x', site: '' });
  t.match(await refused(run('get', ['units'], { box: 'gone', site: 'x' })), { exitCode: 6, told: { code: 'no_answer' } });
  t.throws(() => boxContext(boxes, [], { box: 'nobody' }), /not signed in to nobody/);
  t.match(await refused(run('get', ['unti'], { box: 'plant' })), { exitCode: 2, message: /did you mean unit\?/ });
});

t.test('an editor may have the schemas of the box, which are those of this program where both are of one version', async (t) => {
  const [own, ofBox] = [path.join(folder, 'own'), path.join(folder, 'of-box')];
  t.match(await run('schemas', [own]), { text: /^30 files written/ });
  t.match(await run('schemas', [ofBox], { box: 'plant' }), { text: /^30 files written/ });
  const [names, again] = [own, ofBox].map((at) => readdirSync(path.join(at, '.lineside')).sort());
  t.strictSame(names, again);
  for (const name of names ?? []) t.equal(readFileSync(path.join(ofBox, '.lineside', name), 'utf8'), readFileSync(path.join(own, '.lineside', name), 'utf8'), name);
});

t.test('a plant with more errors than a box tells: how many are not shown', async (t) => {
  const colours = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`colour${at}`, at]));
  const wrong = file('wrong-plant.yaml', ...Array.from({ length: 12 }, (_, at) => manifest('Area', `w${at}`, colours)));
  for (const words of ['apply', 'diff']) {
    const { message, told } = await refused(run(words, [], { filename: [wrong], box: 'plant' }));
    const lines = message.split('\n');
    t.match(
      [lines[0], lines.length, lines.at(-1)],
      ['the box refuses 10 manifests or more and has changed nothing:', 1002, '200 more errors not shown: the box tells the first 1000'],
      words,
    );
    t.match(told, { notShown: 200 });
  }
  const { text = '', data, exitCode } = await rowOf('validate').run(localContext([wrong], {}));
  t.match(text.split('\n').slice(1000), [
    /^judged is what an empty box would take, and site north stands in no file/,
    '200 more errors not shown; -o json has them all',
    '12 manifests in 1 file: 1200 errors',
  ]);
  t.match({ exitCode, errors: (data as { errors: unknown[] }).errors.length }, { exitCode: 1, errors: 1200 });
});

t.test('what tells no schemas is no box, whatever it answers, and nothing is written', async (t) => {
  const api = (all: unknown, one: unknown = {}) => ({ api: { get: async (path: string) => (path === '/api/v1/schemas' ? all : one) } }) as unknown as Pick<Box, 'api'>;
  const ref = ($ref: unknown) => ({ then: { $ref } });
  const answers = [null, 7, 'x', [], {}, { allOf: 'x' }, { allOf: [] }, { allOf: [null] }, { allOf: [{}] }, { allOf: [{ then: null }] }];
  for (const answer of [...answers, ...[7, 'x', '#/$defs/', '#/$defs/../../a', 'xxxxxxxxUnit'].map((odd) => ({ allOf: [ref('#/$defs/Unit'), ref(odd)] }))])
    t.match(await refused(schemasOfBox(api(answer))), { exitCode: 4, told: { code: 'no_schemas' } }, JSON.stringify(answer));
  for (const one of [null, 'x', 7, []])
    t.match(await refused(schemasOfBox(api({ allOf: [ref('#/$defs/Unit')] }, one))), { exitCode: 4, told: { code: 'no_schemas', kind: 'Unit' } }, JSON.stringify(one));
  t.strictSame(
    (await schemasOfBox(api({ allOf: [ref('#/$defs/Unit')] }, { type: 'object' }))).map(([name]) => name),
    ['manifest', 'Unit'],
  );
});

t.test('batch automatic tells what the box has done, not what it was asked', async (t) => {
  const level = (kind: string, path: string) => ({ kind, name: `wo-${path}`, path, mode: 'Manual', manual: null });
  const inManual = [level('Procedure', 'p'), level('Operation', 'p/o'), level('Phase', 'p/o/f')];
  const set = async (answer: object) => {
    const typed = {
      get: async (path: string) => (path.endsWith('/batches') ? [{ name: 'wo', batchID: 'WO' }] : { batchID: 'WO', inManual }),
      post: async () => ({ ok: true, kind: 'Procedure', name: 'wo-p', mode: 'Automatic', previousMode: 'Manual', levels: [], stillManual: [], message: '', ...answer }),
    };
    return rowOf('batch automatic').run({ ...boxContext(boxes, ['WO'], { box: 'plant' }), box: { site: async () => 'north', typed } as unknown as Box });
  };
  const moved = { kind: 'Phase', name: 'wo-p/o/f', path: 'p/o/f', previousMode: 'Manual' };
  t.match(await set({ levels: [moved] }), { text: 'WO is back in Automatic: Procedure p, Phase p/o/f', exitCode: 0, data: { levels: { length: 2 }, stillManual: [] } });
  t.match(await set({ previousMode: 'Automatic' }), { text: 'somebody has set the levels of WO back already', data: { levels: [] } });
  t.match(await set({ stillManual: [level('UnitProcedure', 'p/u')] }), {
    text: /^WO is back in Automatic: Procedure p\nstill in Manual: UnitProcedure p\/u; nothing fires there by itself/,
    exitCode: 1,
    data: { stillManual: [{ path: 'p/u' }] },
  });
});
