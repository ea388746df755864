/** A box that was restored (D-C-06, D-C-08): its records are those that were, it drives nothing until somebody has confirmed, and its work is held. */
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { makeBackup } from '../../src/platform/backup/make.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import type { Given } from '../../src/cli/remote/command.js';
import { restoreBox } from '../../src/platform/backup/restore.js';
import Database from '../../src/platform/base/sqlite.js';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { FieldDevice } from '../support/field-device.js';
import { module, NORTH, PATIENT } from '../support/loop-checked.js';
import { manifest } from '../support/manifest.js';
import { boxContext, rowOf } from '../cli/support.js';
import { ownFolder } from '../support/own-folder.js';
import { patientDemo } from '../support/patient-demo.js';
import { SITE } from '../support/plant.js';
import { keyPair } from '../support/sealed-tar.js';

const REASON = 'the other box is off and in the store';
const credentials = { username: 'ada', password: 'correct horse battery' };
const place = ownFolder(t);
const backups = path.join(place, 'backups');
const keys = await keyPair();
const environment = {
  LINESIDE_LOG_LEVEL: 'error',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_DEMO__DIR: patientDemo(path.join(place, 'demo')),
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
  LINESIDE_IO__OUTPUTS: 'live',
  LINESIDE_RUNTIME__TIMESCALE: '1',
  LINESIDE_BACKUP__DIRECTORY: backups,
  LINESIDE_BACKUP__RECIPIENT: keys.recipient,
};
const dataDir = path.join(place, 'data');
const device = await FieldDevice.start();
const box = await applianceProcess({ dataDir, environment });
t.teardown(async () => {
  await box.end('SIGKILL');
  await device.kill();
});

async function signIn(of: ApplianceProcess): Promise<ApiClient> {
  const { accessToken } = (await of.api.post('/api/v1/auth/login', credentials)).body;
  return of.api.with(`Bearer ${accessToken}`);
}

const outputsOf = async (api: ApiClient) => (await api.get(`${NORTH}/iomodules/plc`)).body.outputs;

/** What is evidence, as text: trail with its seals, facts, records. */
function evidenceOf(dir: string, upTo: number): string {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    const rows = [
      database.prepare('SELECT * FROM audit WHERE sequence <= ?').all(upTo),
      database.prepare("SELECT * FROM resources WHERE kind IN ('BatchRecord', 'SignatureRecord', 'RecipeRevision')").all(),
    ];
    return JSON.stringify(rows);
  } finally {
    database.close();
  }
}

await box.start();
await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials });
const before = await signIn(box);

t.test('Q-CHANGE-13: the component backup makes a backup of the running box, tells of it, and keeps no more than it is told to', async (t) => {
  const { body: told } = await before.post('/api/v1/system/services/backup/run', { reason: 'before the wipe' });
  t.match(told, { component: 'backup', runID: String });
  const { backup } = await eventually('the backup is told', async () => {
    const { body } = await before.get('/api/v1/system/health');
    return body.backup.lastAt === '' || body.backup.running ? undefined : body;
  });
  t.match(backup, { configured: true, ok: true, running: false, message: /lineside-[0-9a-f]{8}-\d{8}T\d{6}Z\.tar\.gz\.age/ });
  t.equal(readdirSync(backups).length, 1);
  const { items } = (await before.get(`/api/v1/audit?category=backup`)).body;
  t.match(items[0], { action: 'Execute', result: 'Success', target: { kind: 'Backup', name: told.runID }, details: { headSequence: Number } });
  t.match(await before.post('/api/v1/system/services/historian/run', {}), { status: 409, body: { code: 'not_runnable' } });
  t.match(await before.post('/api/v1/system/services/nobody/run', {}), { status: 404 });
});

t.test('G27, D-C-06, D-C-08: backed up while a batch runs, wiped and restored, a box is the one it was, holds its work and drives nothing', async (t) => {
  await before.post('/api/v1/demo/provision', {});
  await before.post('/api/v1/apply', [manifest('Site', 'north', {}, {}), manifest('IOModule', 'plc', module(device.address, { ...PATIENT, failSafe: undefined }))]);
  await eventually('outputs are live', async () => (await outputsOf(before))?.state === 'live');
  for (const unit of ['mx101', 'rx101', 'tk201']) await eventually(`${unit} is scanned`, async () => (await before.get(`${SITE}/units/${unit}`)).body.runtimeReady === true);
  const { body: batch } = await before.post(`${SITE}/batches`, { batchID: 'R-1', masterRecipeRef: 'clean-train', parameters: [{ name: 'dwellTime', value: '3000' }] });
  await before.post(`${SITE}/command`, { kind: 'Batch', name: batch.name, command: 'Start', reason: 'asked for by the test' });
  await eventually(
    'the batch runs',
    async () =>
      (await before.get(`${SITE}/batches/${batch.name}`)).body.status?.phase === 'Running' || (await before.get(`${SITE}/batches/${batch.name}`)).body.phase === 'Running',
  );
  const hold = { name: 'claim-7', reason: 'claim 7 of the customer', scope: { site: 'demo', batchRecords: [batch.name] } };
  t.match(await before.post('/api/v1/legal-holds', { ...hold, scope: { site: 'demo', batchRecords: ['R-1'] } }), {
    status: 400,
    body: { field: 'scope.batchRecords[0]', error: new RegExp(`R-1 is a batchID, and its record is ${batch.name}$`) },
  });
  t.equal((await before.post('/api/v1/legal-holds', hold)).status, 201);
  const [file, keysFile] = [path.join(place, 'b.age'), path.join(place, 'k.age')];
  const made = await makeBackup({
    dataDir,
    configFile: null,
    secretsDir: path.join(dataDir, 'secrets'),
    to: file,
    keysTo: keysFile,
    sealedFor: { recipients: [keys.recipient] },
    product: { version: '0.1.0', commit: '' },
  });
  await before.post('/api/v1/sites', { name: 'lost' });
  await box.end('SIGKILL');
  renameSync(dataDir, path.join(place, 'gone'));
  const report = await restoreBox({ file, openedWith: { identities: [keys.identity] }, keysFile, dataDir, acceptProblems: false });
  t.match(report, { withKeys: true, unverified: [], problems: [] });
  const written = device.writes.length;

  await box.start();
  t.match(await before.get('/api/v1/sites'), { status: 401 }, 'no session of before is valid');
  const admin = await signIn(box);
  t.match(await admin.get('/api/v1/sites/lost'), { status: 404 }, 'what was written after the backup is not here');
  t.equal(evidenceOf(dataDir, made.head.sequence), evidenceOf(path.join(place, 'gone'), made.head.sequence), 'the records are byte by byte what they were');
  t.match((await admin.get('/api/v1/version')).body, { deviceId: made.deviceId });
  t.match((await admin.get('/api/v1/legal-holds/claim-7')).body, { state: 'Standing', holds: [batch.name] }, 'a legal hold stands as before');
  const { items } = (await admin.get('/api/v1/audit?category=backup&kind=Restore')).body;
  t.match(
    items,
    [{ reason: 'Restored', details: { otherHistoryFrom: made.head.sequence + 1, backup: { head: made.head, deviceId: made.deviceId }, withKeys: true } }],
    'the trail says so',
  );
  t.match((await admin.get('/api/v1/audit/verify')).body, { ok: true, problems: [] });
  const restored = await eventually('the batch is held', async () => {
    const { body } = await admin.get(`${SITE}/batches/${batch.name}`);
    return (body.status?.phase ?? body.phase) === 'Held' ? body : undefined;
  });
  t.equal(restored.uid ?? restored.metadata?.uid, batch.uid ?? batch.metadata?.uid, 'it is the same batch');

  const withheld = await eventually('outputs are withheld', async () => {
    const outputs = await outputsOf(admin);
    return outputs?.state === 'withheld' ? outputs : undefined;
  });
  t.match(withheld.reason, /restored from a backup/);
  const { warnings } = (await admin.get('/api/v1/system/health')).body as { warnings: string[] };
  t.ok(warnings.some((warning) => /restored at .* outputs are withheld/.test(warning)));
  t.match((await admin.get('/api/v1/system/restore')).body, { waits: true, restored: { withKeys: true, backup: { deviceId: made.deviceId } } });
  t.match(await admin.post('/api/v1/system/restore/confirm', { reason: 'no' }), { status: 400 });
  t.equal(device.writes.length, written, 'the device was not written');

  await box.end();
  await box.start();
  const again = await signIn(box);
  const told = (await again.get('/api/v1/audit?category=backup&kind=Restore')).body.items as { reason: string }[];
  t.equal(told.filter(({ reason }) => reason === 'Restored').length, 1, 'another start tells of it once');
  t.match((await again.get('/api/v1/system/restore')).body, { waits: true }, 'and goes on waiting');
  const confirmed = await again.post('/api/v1/system/restore/confirm', { reason: REASON });
  t.match(confirmed, { status: 200, body: { waits: false, signature: /^[0-9a-f]{64}$/ } }, confirmed.text);
  await eventually('outputs are live again', async () => (await outputsOf(again))?.state === 'live');
  t.match((await again.get('/api/v1/audit?category=backup&kind=Restore')).body.items[0], {
    action: 'Sign',
    reason: 'RestoreConfirmed',
    operatorReason: REASON,
    signature: { meaning: 'restore-confirm' },
  });
  const ended = await eventually('its alarm ends', async () => {
    const { body } = await again.get(`${SITE}/alarms`);
    return (body as { name: string; state: string; message: string }[]).find(({ name, state }) => name.includes('restored') && state.startsWith('Cleared'));
  });
  t.match(ended.message, new RegExp(`ada confirmed at .* that the other box is off \\(${REASON}\\)`), 'it says what was done, and no longer what is to be done');
  t.match(await again.post('/api/v1/system/restore/confirm', { reason: REASON }), { status: 409, body: { code: 'not_restored' } });
  t.notOk(existsSync(path.join(dataDir, 'restored.json')));
  await box.end();
});

t.test('D-C-06: what stands in the place of the mark counts as a restore of which nothing is known', async (t) => {
  writeFileSync(path.join(dataDir, 'restored.json'), 'x');
  await box.start();
  const admin = await signIn(box);
  t.match((await admin.get('/api/v1/system/restore')).body, { waits: true, restored: null });
  t.match(await outputsOf(admin), { state: 'withheld' });
  const boxes = new KnownBoxes(path.join(ownFolder(t), 'config'));
  const { body: session } = await box.api.post('/api/v1/auth/login', credentials);
  boxes.keep('box', { url: box.base, username: credentials.username, accessToken: session.accessToken, refreshToken: '', site: '' });
  const line = (words: string, options: Given = {}) => rowOf(words).run(boxContext(boxes, [], { box: 'box', ...options }));
  t.match(await line('restored show'), { text: /^this box was restored, and nothing is known of the backup\nit drives no output until somebody confirms/ });
  t.match(await line('restored confirm', { reason: REASON }), { text: /^confirmed with signature [0-9a-f]{64}: this box drives its outputs from now on$/ });
  t.match(await line('restored show'), { text: 'no restore of this box waits for a confirmation' });
  t.notOk(existsSync(path.join(dataDir, 'restored.json')));
  await box.end();
  writeFileSync(path.join(dataDir, 'restored.json'), '');
  await box.start();
  t.match(await admin.get('/api/v1/sites'), { status: 401 }, 'another of which nothing is known ends the sessions as the first one did');
  await box.end();
});
