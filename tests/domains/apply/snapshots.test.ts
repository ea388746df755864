/** Snapshots of the configuration, and the way back to one (ADR 0134), over the real pipeline and the commands. */
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { KnownBoxes } from '../../../src/cli/remote/boxes.js';
import type { Given } from '../../../src/cli/remote/command.js';
import { Area, ProcessCell, Site } from '../../../src/domains/plant/kind.js';
import { boxContext, rowOf } from '../../cli/support.js';
import { ownFolder } from '../../support/own-folder.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const KEPT = 3;
const plant = await startPlantGateway({ snapshotsKept: KEPT });
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const reader = await plant.as('viewer');
const folder = path.join(plant.dataDir, 'config-snapshots');

const manifest = (kind: string, name: string, spec: object = {}, metadata: object = { namespace: 'site-north' }) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});
const apply = async (...manifests: object[]) => {
  const answer = await engineer.post('/api/v1/apply', manifests);
  t.match(answer, { status: 200 }, answer.text);
  return answer.body as readonly { readonly warnings: readonly string[] }[];
};
const kept = async (): Promise<readonly { readonly name: string; readonly by: string }[]> => (await engineer.get('/api/v1/snapshots')).body;
const newest = async (): Promise<string> => (await kept()).at(-1)?.name ?? '';
const back = (name: string, query = '') => engineer.post(`/api/v1/snapshots/${name}/return${query}`);
const boxes = new KnownBoxes(path.join(ownFolder(t), 'config'));
boxes.keep('plant', { url: `http://127.0.0.1:${plant.port}`, username: engineer.username, accessToken: engineer.token, refreshToken: '', site: '' });
const run = (words: string, args: readonly string[] = [], options: Given = {}) => rowOf(words).run(boxContext(boxes, args, { box: 'plant', ...options }));
const area = (name: string) => plant.store.get(Area, 'north', name)?.spec.description;

t.test('one is kept before each apply that changes something, and of nothing else', async (t) => {
  t.same(await kept(), []);
  await t.rejects(run('snapshot return', ['latest']), /^there is no snapshot: one is taken before each apply that changes something$/);
  await apply(manifest('Site', 'north', {}, {}), manifest('Area', 'hall', { description: 'one' }));
  t.match(await kept(), [{ name: 'snapshot-000001', by: engineer.username, bytes: Number, sha256: /^[0-9a-f]{64}$/ }]);
  await apply(manifest('Area', 'hall', { description: 'one' }));
  await engineer.post('/api/v1/apply?dryRun=true', [manifest('Area', 'hall', { description: 'two' })]);
  t.equal((await engineer.post('/api/v1/apply', [manifest('Area', 'attic', { floor: 1 })])).status, 400);
  t.equal(await newest(), 'snapshot-000001');
  await apply(manifest('Area', 'hall', { description: 'two' }));
  t.match((await engineer.get(`/api/v1/snapshots/${await newest()}`)).body, [
    { kind: 'Site', metadata: { name: 'north' } },
    { kind: 'Area', metadata: { name: 'hall' }, spec: { description: 'one' } },
  ]);
});

t.test('the return brings back what was changed and what was removed, and tells what was not there then', async (t) => {
  const before = (await engineer.get('/api/v1/export')).body;
  await apply(manifest('Area', 'hall', { description: 'three' }), manifest('Area', 'annex'), manifest('ProcessCell', 'cell', { areaName: 'annex' }));
  const name = await newest();
  t.equal((await engineer.delete('/api/v1/sites/north/areas/annex')).status, 409);
  const audits = plant.audits.length;
  const told = await back(name, '?dryRun=true');
  t.match(told, { status: 200 }, told.text);
  t.match(told.body.map(({ kind, name, operation }: Record<string, string>) => `${operation} ${kind} ${name}`).sort(), [
    'configured Area hall',
    'removed Area annex',
    'removed ProcessCell cell',
    'unchanged Site north',
  ]);
  t.equal(area('hall'), 'three');
  t.equal(plant.audits.length, audits);
  t.match(await back(name), { status: 200 });
  t.equal(area('hall'), 'two');
  t.match(plant.audits.at(-1), { action: 'Update', target: { kind: 'Area', name: 'hall' }, details: { snapshot: name } });
  t.equal(plant.store.get(ProcessCell, 'north', 'cell')?.metadata.name, 'cell', 'removed is by a DELETE of each');
  for (const gone of ['processcells/cell', 'areas/annex']) t.equal((await engineer.delete(`/api/v1/sites/north/${gone}`)).status, 204);
  t.same((await engineer.get('/api/v1/export')).body, before);
});

t.test('lineside snapshot return: in one command, what was not there then removed behind it', async (t) => {
  const before = (await engineer.get('/api/v1/export')).body;
  await apply(manifest('Area', 'hall', { description: 'four' }), manifest('Area', 'annex'), manifest('ProcessCell', 'cell', { areaName: 'annex' }));
  t.match(await run('snapshot list'), { text: /^name +before the apply of +by +bytes\nsnapshot-0000\d\d / });
  t.match(await run('snapshot return', ['latest'], { dryRun: true }), {
    text: /would be configured {2}Area hall \(north\)\nwould be removed {2}ProcessCell cell \(north\)\nwould be removed {2}Area annex \(north\)\n1 change, 1 unchanged, 2 removed \(dry run: nothing was stored\)/,
  });
  t.match(await run('snapshot return', ['latest']), { text: /removed {2}Area annex \(north\)\n1 change, 1 unchanged, 2 removed$/ });
  t.same((await engineer.get('/api/v1/export')).body, before);
  // what a return has undone is one return away
  t.match(await run('snapshot return', ['latest']), { text: /created {2}ProcessCell cell/ });
  t.equal(area('hall'), 'four');
  await t.rejects(run('snapshot return', ['snapshot-999999']), /there is no snapshot snapshot-999999/);
});

t.test('so many are kept as the setting says, and their numbers go on', async (t) => {
  for (const description of ['five', 'six', 'seven', 'eight']) await apply(manifest('Area', 'hall', { description }));
  const names = (await kept()).map(({ name }) => name);
  t.equal(names.length, KEPT);
  t.same(
    readdirSync(folder).sort(),
    names.flatMap((name) => [`${name}.json`, `${name}.manifests.json.gz`]),
  );
  t.same(names, [...names].sort());
});

t.test('one that is damaged is refused, and what a power cut left half written is cleared away', async (t) => {
  const name = await newest();
  const file = path.join(folder, `${name}.manifests.json.gz`);
  const whole = readFileSync(file);
  for (const bytes of [whole.subarray(0, whole.length / 2), Buffer.from('this is something else'), Buffer.alloc(0)]) {
    writeFileSync(file, bytes);
    t.match(await back(name), { status: 409, body: { code: 'snapshot_damaged', error: new RegExp(`^${name} cannot be used`) } });
  }
  const told = path.join(folder, `${name}.json`);
  const asTold = readFileSync(told, 'utf8');
  for (const text of ['{"kind":"Area"}', '[{"kind":"Area"}]']) {
    writeFileSync(file, gzipSync(text));
    writeFileSync(told, JSON.stringify({ ...(JSON.parse(asTold) as object), sha256: createHash('sha256').update(text).digest('hex') }));
    t.match(await back(name), { status: 409, body: { code: 'snapshot_damaged', error: /it holds (no list of manifests|something that is no manifest)/ } }, text);
  }
  writeFileSync(told, asTold);
  rmSync(file);
  t.match(await engineer.get(`/api/v1/snapshots/${name}`), { status: 409, body: { code: 'snapshot_damaged' } });
  writeFileSync(file, whole);
  writeFileSync(path.join(folder, 'snapshot-000500.manifests.json.gz'), 'half');
  writeFileSync(path.join(folder, 'snapshot-000501.new'), '{');
  writeFileSync(path.join(folder, 'snapshot-000502.json'), '{"name":');
  t.equal((await back('snapshot-000500')).status, 404);
  await apply(manifest('Area', 'hall', { description: 'nine' }));
  t.same(
    readdirSync(folder).filter((each) => /00050[012]/.test(each)),
    [],
  );
});

t.test('two applies at once keep one each, in the order in which they come', async (t) => {
  await Promise.all(['ten', 'eleven'].map((name) => apply(manifest('Area', name))));
  const [first, second] = (await kept()).slice(-2);
  t.not(first?.name, second?.name);
  t.match(await back(first?.name ?? ''), { status: 200 });
});

t.test('where none can be kept the apply goes on, and says so', { skip: process.getuid?.() === 0 && 'root writes everywhere' }, async (t) => {
  chmodSync(folder, 0o500);
  t.teardown(() => chmodSync(folder, 0o700));
  const [row] = await apply(manifest('Area', 'hall', { description: 'ten' }));
  t.match(row?.warnings, [/^no snapshot of the configuration before this was kept: /]);
});

t.test('where the folder is none the apply goes on, and says so', async (t) => {
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in its place');
  const [row] = await apply(manifest('Area', 'hall', { description: 'twelve' }));
  t.match(row?.warnings, [/^no snapshot of the configuration before this was kept: /]);
  t.equal(area('hall'), 'twelve');
  rmSync(folder);
});

t.test('who may not write a kind returns to a snapshot that leaves it as it is, and to no other', async (t) => {
  const admin = await plant.as('admin');
  const controller = (displayName: string) => manifest('Controller', 'edge-1', { displayName });
  t.match(await admin.post('/api/v1/apply', [controller('one')]), { status: 200 });
  await apply(manifest('Area', 'hall', { description: 'a mistake' }));
  const mine = await newest();
  t.match(await admin.post('/api/v1/apply', [controller('two')]), { status: 200 });
  t.match(await back(mine, '?dryRun=true'), { status: 403, body: { code: 'action_missing', action: 'controller:update' } });
  t.match(await back(mine), { status: 403, body: { code: 'action_missing', action: 'controller:update' } });
  t.equal(area('hall'), 'a mistake');
  t.match(await admin.post('/api/v1/apply', [controller('one')]), { status: 200 });
  t.match(await back(mine), { status: 200 });
  t.not(area('hall'), 'a mistake');
});

t.test('who may not apply returns to nothing; who is confined to a site returns it alone', async (t) => {
  await apply(manifest('Site', 'south', {}, {}), manifest('Area', 'yard', { description: 'south' }, { namespace: 'site-south' }));
  await apply(manifest('Area', 'yard', { description: 'changed' }, { namespace: 'site-south' }), manifest('Area', 'hall', { description: 'changed' }));
  const name = await newest();
  t.match(await reader.post(`/api/v1/snapshots/${name}/return`), { status: 403 });
  t.match(await reader.get('/api/v1/snapshots'), { status: 403 });
  const south = await plant.as('engineer', 'site-south');
  const shown = (await south.get(`/api/v1/snapshots/${name}`)).body as { readonly metadata: { readonly name: string } }[];
  t.same(shown.map(({ metadata }) => metadata.name).sort(), ['south', 'yard']);
  t.match(await south.post(`/api/v1/snapshots/${name}/return`), { status: 200 });
  t.equal(plant.store.get(Area, 'south', 'yard')?.spec.description, 'south');
  t.equal(area('hall'), 'changed');
  t.ok(plant.store.get(Site, '', 'north'));
});
