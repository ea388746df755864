/** A data directory that held an appliance and has lost something is not a new box (D-C-09): it is in rescue, and nothing is healed silently. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import Database from '../../src/platform/base/sqlite.js';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';

const PASSWORD = 'correct horse battery';
const REASON = 'the disk was exchanged';
const credentials = { username: 'ada', password: PASSWORD };
/** Where passwords may be cheap: rescue is the same in both modes of operation. */
const environment = { LINESIDE_LOG_LEVEL: 'error', LINESIDE_GATEWAY__OPERATINGMODE: 'development' };

interface Test {
  teardown(call: () => unknown): void;
}

/** Data directories of an appliance with an administrator: one that was stopped, one that was killed. */
async function seed(): Promise<{ readonly stopped: string; readonly killed: string }> {
  const box = await applianceProcess({ environment });
  await box.start();
  await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials });
  const admin = await signIn(box);
  for (const name of ['n1', 'n2', 'n3']) await admin.post('/api/v1/sites', { name });
  await box.end();
  const stopped = mkdtempSync(path.join(tmpdir(), 'lineside-rescue-'));
  cpSync(box.dataDir, stopped, { recursive: true });
  await box.start();
  const again = await signIn(box);
  for (const name of ['n4', 'n5', 'n6']) await again.post('/api/v1/sites', { name });
  await box.end('SIGKILL');
  return { stopped, killed: box.dataDir };
}

async function signIn(box: ApplianceProcess): Promise<ApiClient> {
  const { accessToken } = (await box.api.post('/api/v1/auth/login', credentials)).body;
  return box.api.with(`Bearer ${accessToken}`);
}

const seeded = await seed();
t.teardown(() => {
  for (const dir of [seeded.stopped, seeded.killed]) rmSync(dir, { recursive: true, force: true });
});

async function damaged(test: Test, from: string, damage: (dir: string) => void, flags: readonly string[] = []): Promise<ApplianceProcess> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-rescue-'));
  cpSync(from, dataDir, { recursive: true });
  const box = await applianceProcess({ dataDir, environment, flags });
  test.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  damage(dataDir);
  return box;
}

const remove = (dir: string, ...names: string[]): void => {
  for (const name of names) rmSync(path.join(dir, name), { force: true });
};
const withDatabase = (dir: string, change: (database: Database.Database) => void): void => {
  const database = new Database(path.join(dir, 'state.db'));
  change(database);
  database.close();
};
const zeroPage = (dir: string, page: number): void => {
  const file = path.join(dir, 'state.db');
  const bytes = readFileSync(file);
  bytes.fill(0, page * 4096, (page + 1) * 4096);
  writeFileSync(file, bytes);
};

const LAST_RECORD_FAR_AWAY = 'UPDATE audit SET sequence = 9007199254740991 WHERE sequence = (SELECT MAX(sequence) FROM audit)';

const LOSSES: readonly (readonly [string, 'stopped' | 'killed', (dir: string) => void, RegExp])[] = [
  ['state.db is deleted', 'stopped', (dir) => remove(dir, 'state.db'), /state\.db is missing/],
  ['state.db is empty', 'stopped', (dir) => truncateSync(path.join(dir, 'state.db'), 0), /state\.db is empty/],
  ['state.db is cut', 'stopped', (dir) => truncateSync(path.join(dir, 'state.db'), 3 * 4096), /state\.db/],
  ['state.db is another file', 'stopped', (dir) => writeFileSync(path.join(dir, 'state.db'), 'x'.repeat(9000)), /state\.db cannot be read/],
  ['a page of state.db is zeroed', 'stopped', (dir) => zeroPage(dir, 4), /state\.db/],
  ['the WAL is deleted', 'killed', (dir) => remove(dir, 'state.db-wal', 'state.db-shm'), /ends at audit record \d+, and the trail had reached \d+/],
  ['the WAL is cut', 'killed', (dir) => truncateSync(path.join(dir, 'state.db-wal'), 8000), /ends at audit record \d+, and the trail had reached \d+/],
  [
    'the newest records and audit-head are deleted',
    'stopped',
    (dir) => {
      withDatabase(dir, (database) => database.exec('DELETE FROM audit WHERE sequence > (SELECT MAX(sequence) - 3 FROM audit)'));
      remove(dir, 'audit-head');
    },
    /ends at audit record \d+, and the trail had reached \d+/,
  ],
  [
    'the number of the last audit record is damaged',
    'stopped',
    (dir) => withDatabase(dir, (database) => database.exec(LAST_RECORD_FAR_AWAY)),
    /audit record \d+ has the number 9007199254740991 in .*state\.db/,
  ],
  [
    'a view stands in the place of a table',
    'stopped',
    (dir) => withDatabase(dir, (database) => database.exec('ALTER TABLE audit_sites RENAME TO audit_sites0; CREATE VIEW audit_sites AS SELECT * FROM audit_sites0')),
    /state\.db cannot be opened: .*audit_sites/,
  ],
  [
    'the last migration is forgotten',
    'stopped',
    (dir) => withDatabase(dir, (database) => database.exec('DELETE FROM migrations WHERE version = (SELECT MAX(version) FROM migrations)')),
    /state\.db cannot be opened: .*index facts_of_lot already exists/,
  ],
];

for (const [what, which, damage, words] of LOSSES) {
  t.test(`${what}: in rescue, and says what is missing`, async (t) => {
    const box = await damaged(t, seeded[which], damage);
    const before = filesOf(box.dataDir);
    await box.launch();
    const ready = await eventually('it answers', () => box.api.get('/readyz').catch(() => undefined));
    t.match(ready, { status: 503, body: { status: 'rescue', missing: [words] } });
    t.equal((await box.api.get('/healthz')).status, 200);
    for (const page of ['/', '/hmi', '/login']) t.match((await box.api.get(page)).text, /--accept-loss/, page);
    t.match((await box.api.get('/docs/operations/storage.html')).text, /<h1[^>]*>When what was stored is missing/, 'what to do is there to read');
    t.equal((await box.api.get('/docs/nowhere.html')).status, 503);
    t.match(await box.api.get('/api/v1/system/health'), { status: 503, body: { code: 'rescue' } });
    t.match(await box.api.post('/api/v1/auth/login', credentials), { status: 503 });
    await box.says(/in rescue, no unit is driven/);
    t.notMatch(box.output, /commissioning code/);
    t.equal(await box.end(), 0);
    t.same(filesOf(box.dataDir), before, 'nothing was made or changed');
  });
}

function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^(lock|pid)$|-shm$|-wal$/.test(name))
    .sort();
}

t.test('--no-rescue ends with exit code 3 and says the same', async (t) => {
  const box = await damaged(t, seeded.stopped, (dir) => remove(dir, 'state.db'), ['--no-rescue']);
  t.match(await box.attempt(), { code: 3, output: /state\.db is missing.*--accept-loss/ });
});

t.test('--accept-loss after state.db is gone: a Critical alarm, a record, a failed verification, and no administrator by code', async (t) => {
  const box = await damaged(t, seeded.stopped, (dir) => remove(dir, 'state.db'), ['--accept-loss']);
  await box.start();
  t.match((await box.api.get('/api/v1/auth/config')).body, { firstAdminRequired: false });
  t.notMatch(box.output, /commissioning code/);
  await box.end();

  box.flags = []; // the loss was accepted once; without an administrator the code has to be asked for
  await box.start();
  t.notMatch(box.output, /commissioning code/);
  await box.end();

  box.flags = ['--new-admin-code'];
  await box.start();
  t.equal((await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials })).status, 201);
  const admin = await signIn(box);
  await admin.post('/api/v1/sites', { name: 'north' });
  const alarm = await eventually('the alarm stands', async () =>
    ((await admin.get('/api/v1/sites/north/alarms')).body as { name: string }[]).find(({ name }) => name.startsWith('system-audit-gap')),
  );
  t.match(alarm, { severity: 'Critical', message: /state\.db is missing/ });
  t.match((await admin.get('/api/v1/system/health')).body, { status: 'degraded', warnings: [/state\.db is missing/] });
  t.match((await admin.get('/api/v1/audit?category=storage')).body.items, [{ result: 'Failed', details: { text: /state\.db is missing/ } }]);
  t.match((await admin.get('/api/v1/audit/verify')).body, { ok: false, gaps: [{ kind: 'loss', acknowledged: null }] });

  t.match(await admin.post('/api/v1/audit/gaps/acknowledge', { reason: REASON }), { status: 200, body: { items: [{ acknowledged: { by: 'ada', reason: REASON } }] } });
  t.match((await admin.get('/api/v1/audit/verify')).body, { ok: true, gaps: [{ kind: 'loss', acknowledged: { by: 'ada' } }] }, 'it stays in every verification');
  t.match(await admin.post('/api/v1/audit/gaps/acknowledge', { reason: REASON }), { status: 409, body: { code: 'no_gap' } });
  await eventually('the alarm ends', async () => {
    const { state } = (await admin.get(`/api/v1/sites/north/alarms/${(alarm as { name: string }).name}`)).body;
    return state === 'ClearedUnacknowledged';
  });
});

t.test('--accept-loss of a file that cannot be opened keeps it beside the new one', async (t) => {
  const box = await damaged(t, seeded.stopped, (dir) => writeFileSync(path.join(dir, 'state.db'), 'x'.repeat(9000)), ['--accept-loss', '--new-admin-code']);
  await box.start();
  t.ok(readdirSync(box.dataDir).some((name) => name.startsWith('state.db.lost-')));
  await box.commissioningCode();
});

t.test('--accept-loss of the newest records goes on after the hole', async (t) => {
  const box = await damaged(t, seeded.killed, (dir) => remove(dir, 'state.db-wal', 'state.db-shm'), ['--accept-loss']);
  await box.start();
  const admin = await signIn(box);
  const { problems, ok, gaps } = (await admin.get('/api/v1/audit/verify')).body;
  t.match({ ok, gaps }, { ok: false, gaps: [{ kind: 'loss' }] });
  t.ok(problems.length > 0 && problems.every(({ problem }: { problem: string }) => problem === 'missing'));
  await admin.post('/api/v1/audit/gaps/acknowledge', { reason: REASON });
  t.match((await admin.get('/api/v1/audit/verify')).body, { ok: true, problems: { length: 0 } });
  await box.end();
  box.flags = [];
  await box.start();
  t.match((await (await signIn(box)).get('/api/v1/audit/verify')).body, { ok: true, gaps: { length: 1 } }, 'and a start later');
});

t.test('--accept-loss gives an audit record its own number again, and writes go on', async (t) => {
  const box = await damaged(t, seeded.stopped, (dir) => withDatabase(dir, (database) => database.exec(LAST_RECORD_FAR_AWAY)), ['--accept-loss']);
  await box.start();
  const admin = await signIn(box);
  t.equal((await admin.post('/api/v1/sites', { name: 'later' })).status, 201);
  t.match((await admin.get('/api/v1/audit/verify')).body, { ok: false, problems: { length: 0 }, gaps: [{ kind: 'loss', text: /has the number 9007199254740991/ }] });
  t.equal((await admin.post('/api/v1/audit/gaps/acknowledge', { reason: REASON })).status, 200);
  await box.end();
  box.flags = [];
  await box.start();
  t.match((await (await signIn(box)).get('/api/v1/audit/verify')).body, { ok: true, gaps: { length: 1 } });
});

t.test('--accept-loss of a state.db with another schema keeps it beside the new one', async (t) => {
  const box = await damaged(
    t,
    seeded.stopped,
    (dir) => withDatabase(dir, (database) => database.exec('ALTER TABLE audit_sites RENAME TO audit_sites0; CREATE VIEW audit_sites AS SELECT * FROM audit_sites0')),
    ['--accept-loss', '--new-admin-code'],
  );
  await box.start();
  t.ok(readdirSync(box.dataDir).some((name) => name.startsWith('state.db.lost-')));
  t.equal((await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials })).status, 201);
  t.match((await (await signIn(box)).get('/api/v1/audit/gaps')).body.items, [{ kind: 'loss', text: /state\.db cannot be opened/ }]);
});

t.test('a state.db of a newer version: in rescue, and --accept-loss puts it aside for nobody', async (t) => {
  const box = await damaged(t, seeded.stopped, (dir) => withDatabase(dir, (database) => database.exec("INSERT INTO migrations VALUES (9999, 'x')")), ['--accept-loss']);
  await box.launch();
  const ready = await eventually('it answers', () => box.api.get('/readyz').catch(() => undefined));
  t.match(ready, { status: 503, body: { status: 'rescue', missing: [/newer version/] } });
  t.notOk(readdirSync(box.dataDir).some((name) => name.startsWith('state.db.lost-')));
});

const TOLD: readonly (readonly [string, (dir: string) => void, readonly string[]])[] = [
  ['audit-head is deleted', (dir) => remove(dir, 'audit-head'), ['head']],
  ['the signed heads are deleted', (dir) => withDatabase(dir, (database) => database.exec('DELETE FROM audit_heads')), ['heads']],
  ['the audit key is deleted', (dir) => remove(dir, 'keys/audit-hmac'), ['keys']],
  ['the device key is deleted', (dir) => remove(dir, 'keys/device-ed25519.pem'), ['keys']],
  ['the audit key is another one', (dir) => writeFileSync(path.join(dir, 'keys/audit-hmac'), Buffer.alloc(32, 7)), ['keys', 'head']],
  ['the marker is deleted', (dir) => remove(dir, 'keys/appliance.json'), ['marker']],
  ['the last resource version is no number', (dir) => withDatabase(dir, (database) => database.exec("UPDATE meta SET value = '9e999' WHERE key = 'resourceVersion'")), ['number']],
];

for (const [what, damage, kinds] of TOLD) {
  t.test(`${what}: the plant starts, and it is told until somebody acknowledges it`, async (t) => {
    const box = await damaged(t, seeded.stopped, damage);
    await box.start();
    t.ok(existsSync(path.join(box.dataDir, 'keys/appliance.json')));
    const admin = await signIn(box);
    t.same(
      (await admin.get('/api/v1/audit/gaps')).body.items.map((gap: { kind: string }) => gap.kind),
      kinds,
    );
    t.equal((await admin.get('/api/v1/system/health')).body.status, 'degraded');
    t.equal((await admin.get('/api/v1/audit/verify')).body.ok, false);
    await box.end();
    await box.start();
    const later = await signIn(box);
    t.equal((await later.get('/api/v1/audit/verify')).body.ok, false, 'a second start has healed nothing');
    t.equal((await later.post('/api/v1/audit/gaps/acknowledge', { reason: REASON })).status, 200);
    t.match((await later.get('/api/v1/audit/verify')).body, { ok: true, problems: { length: 0 } });
  });
}

for (const [file, bytes] of [
  ['keys/device-ed25519.pem', 'no key'],
  ['keys/audit-hmac', 'short'],
] as const) {
  t.test(`${file} that is no key: the start is refused and names it`, async (t) => {
    const box = await damaged(t, seeded.stopped, (dir) => writeFileSync(path.join(dir, file), bytes));
    t.match(await box.attempt(), { code: 2, output: new RegExp(`${file.replace('.', '[.]')} .*restore it or move it away`) });
  });
}

t.test('a new data directory, and one that nobody has touched, have no gap', async (t) => {
  const box = await damaged(t, seeded.killed, () => undefined);
  await box.start();
  t.match((await (await signIn(box)).get('/api/v1/audit/gaps')).body, { items: { length: 0 } });
});
