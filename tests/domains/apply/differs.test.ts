/** What apply says will be otherwise on this box than where an export comes from (D-C-03): secrets, outputs, phases of recipes. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { secretsIn } from '../../../src/domains/io-modules/secrets.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-secrets-'));
const [here, there] = [await startPlantGateway(), await startPlantGateway({ box: { outputs: 'withheld', secrets: secretsIn(folder) } })];
t.teardown(async () => {
  await Promise.all([here.stop(), there.stop()]);
  rmSync(folder, { recursive: true, force: true });
});
const [ours, theirs] = [await here.as('admin'), await there.as('admin')];
const MODULES = '/api/v1/sites/demo/iomodules';
const channels = [
  { name: 'in', address: 'discrete:1' },
  { name: 'out', address: 'coil:1', direction: 'output' },
];

interface Exported {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly spec: { readonly options?: object };
}
interface Told {
  readonly kind: string;
  readonly name: string;
  readonly operation: string;
  readonly warnings: readonly string[];
}
const exported = async (query = ''): Promise<Exported[]> => (await ours.get(`/api/v1/export?site=demo${query}`)).body;

async function applied(manifests: readonly Exported[]): Promise<Record<string, readonly string[]>> {
  const answer = await theirs.post('/api/v1/apply', manifests);
  if (answer.status !== 200) throw new Error(answer.text.slice(0, 500));
  const told = (answer.body as Told[]).filter(({ warnings }) => warnings.length > 0);
  return Object.fromEntries(told.map(({ kind, name, warnings }) => [`${kind} ${name}`, warnings]));
}

await ours.post('/api/v1/demo/provision');
for (const [name, body] of [
  ['plc', { protocol: 'modbus', address: '10.0.0.1', channels }],
  ['reader', { protocol: 'modbus', address: '10.0.0.2', channels: channels.slice(0, 1) }],
  ['off', { protocol: 'modbus', address: '10.0.0.3', enabled: false, channels }],
  ['locked', { protocol: 'opcua', address: 'opc.tcp://10.0.0.4:4840', options: { username: 'line', password: 'hush-hush' } }],
  ['sealed', { protocol: 'opcua', address: 'opc.tcp://10.0.0.5:4840', security: { authType: 'UserName', secretRef: { name: 'plc-login' } } }],
] as const) {
  const made = await ours.post(MODULES, { name, ...body });
  if (made.status !== 201) throw new Error(made.text);
}

const PASSWORD = 'I/O module locked has a password where it comes from, which no export holds: set options.password here';
const SECRET =
  'I/O module sealed needs the secret plc-login (security.secretRef), which is not on this box: set it there (PUT …/secrets/plc-login, or lineside secret set plc-login), or put it into site-demo/plc-login of secrets.dir';

t.test('D-C-03: an export says which secret it leaves out, and not what it is', async (t) => {
  const all = await exported();
  t.notMatch(JSON.stringify(all), 'hush-hush');
  t.same(
    all
      .filter(({ metadata }) => metadata.annotations?.['lineside.io/left-out'] !== undefined)
      .map(({ metadata }) => [metadata.name, metadata.annotations?.['lineside.io/left-out']]),
    [['locked', 'options.password']],
  );
});

t.test('D-C-03: a plant that is moved to another box is told what is left to do there, each at what it is about', async (t) => {
  t.same(await applied(await exported()), {
    'IOModule locked': [PASSWORD],
    'IOModule plc': ['outputs of I/O module plc are withheld: this box withholds its outputs (setting io.outputs): inputs are read, nothing is written to the device'],
    'IOModule sealed': [SECRET],
    'MasterRecipe clean-train': ['recipe clean-train arrives as Draft: signatures are given on this box (approve, release, activate), apply brings none'],
    'MasterRecipe resin-a': ['recipe resin-a arrives as Draft: signatures are given on this box (approve, release, activate), apply brings none'],
  });
  t.match((await theirs.get('/api/v1/sites/demo/recipes/master/resin-a')).body, { phase: 'Draft' });
  t.notMatch((await theirs.get(`${MODULES}/locked`)).text, 'left-out', 'what was left out is no property of the module here');
});

t.test('D-C-03: what is still to be done is told again, what was done is not', async (t) => {
  t.same(await applied(await exported()), { 'IOModule locked': [PASSWORD], 'IOModule sealed': [SECRET] }, 'nothing changes, and two secrets are not there yet');
  t.equal((await theirs.put(`${MODULES}/locked`, { options: { username: 'line', password: 'their-own' } })).status, 200);
  mkdirSync(path.join(folder, 'site-demo/plc-login'), { recursive: true });
  t.same(await applied(await exported()), {});
});

t.test('D-C-03: with its status an export tells the phase that a recipe had; apply brings none', async (t) => {
  const recipes = await exported('&kinds=MasterRecipe&status=true');
  const told = await applied(recipes);
  t.same(told['MasterRecipe resin-a'], [
    'status is ignored: apply takes the spec, and what runs makes its own status',
    'recipe resin-a is Draft here, and was Effective where it comes from: signatures are given on this box (approve, release, activate), apply brings none',
  ]);
  const home = await ours.post('/api/v1/apply', recipes);
  t.same(new Set((home.body as Told[]).flatMap(({ operation, warnings }) => [operation, warnings.length])), new Set(['unchanged', 1]), 'at home only the status is ignored');
});
