/**
 * Something else in the place of a file of the data directory: a folder, a link to nothing, a pipe, a file that may not be read. A start
 * that is refused names the file and the way out; what is no evidence and no key keeps no plant from its work.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';

const credentials = { username: 'ada', password: 'correct horse battery' };
const REASON = 'somebody has copied the folder the wrong way';
/** Where passwords may be cheap: obstacles are the same in both modes of operation. */
const environment = { LINESIDE_LOG_LEVEL: 'error', LINESIDE_GATEWAY__OPERATINGMODE: 'development' };

interface Test {
  teardown(call: () => unknown): void;
}

async function signIn(box: ApplianceProcess): Promise<ApiClient> {
  const { accessToken } = (await box.api.post('/api/v1/auth/login', credentials)).body;
  return box.api.with(`Bearer ${accessToken}`);
}

/** Data directory of an appliance with an administrator, stopped. */
async function seed(): Promise<string> {
  const box = await applianceProcess({ environment });
  await box.start();
  await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials });
  await (await signIn(box)).post('/api/v1/sites', { name: 'north' });
  await box.end();
  return box.dataDir;
}

const seeded = await seed();
t.teardown(() => rmSync(seeded, { recursive: true, force: true }));

type Damage = (file: string) => void;

async function boxWith(test: Test, damages: Readonly<Record<string, Damage>>, flags: readonly string[] = []): Promise<ApplianceProcess> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-obstacle-'));
  cpSync(seeded, dataDir, { recursive: true });
  for (const [name, damage] of Object.entries(damages)) {
    rmSync(path.join(dataDir, name), { recursive: true, force: true });
    damage(path.join(dataDir, name));
  }
  const box = await applianceProcess({ dataDir, environment, flags });
  test.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  return box;
}

const all = (names: readonly string[], damage: Damage): Record<string, Damage> => Object.fromEntries(names.map((name) => [name, damage]));

async function refused(box: ApplianceProcess): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = await box.launch();
  await eventually('the start has ended', async () => box.hasEnded);
  return { code: child.exitCode, output: box.output };
}

const folder = (file: string): void => {
  mkdirSync(file);
  writeFileSync(path.join(file, 'something'), 'that somebody may miss');
};
const link = (file: string): void => symlinkSync('/nowhere/at/all', file);
const file = (file: string): void => writeFileSync(file, 'something else');
const pipe = (file: string): void => void execFileSync('mkfifo', [file]);
const aside = (box: ApplianceProcess, name: string): string | undefined =>
  readdirSync(path.join(box.dataDir, path.dirname(name))).find((entry) => entry.startsWith(`${path.basename(name)}.lost-`));

for (const [name, damage, words] of [
  ['lock', folder, /lock file .*\/lock is a folder.*remove it and start again/],
  ['lock', pipe, /lock file .*\/lock is a pipe.*remove it and start again/],
  ['config.yaml', folder, /config\.yaml is a folder.*move it away/],
  ['config.yaml', link, /config\.yaml is a link to nothing.*move it away/],
  ['config.yaml', pipe, /config\.yaml is a pipe.*move it away/],
] as const) {
  t.test(`${name}, a ${damage.name}: the start is refused and names it`, async (t) => {
    const box = await boxWith(t, { [name]: damage });
    t.match(await refused(box), { code: 2, output: words });
  });
}

for (const [name, damage, words, accept] of [
  ['keys/audit-hmac', folder, /keys\/audit-hmac is a folder/, true],
  ['keys/audit-hmac', link, /keys\/audit-hmac is a link to nothing/, false],
  ['keys/device-ed25519.pem', pipe, /keys\/device-ed25519\.pem is a pipe/, false],
  ['keys', file, /keys is a file, and a folder has to stand there/, true],
  ['state.db', folder, /state\.db is a folder/, true],
  ['state.db', pipe, /state\.db is a pipe/, false],
  ['state.db-wal', folder, /state\.db-wal is a folder/, false],
] as const) {
  t.test(`${name}, a ${damage.name}: in rescue, says what it is, and a start that accepts it puts it aside`, async (t) => {
    const box = await boxWith(t, { [name]: damage });
    await box.launch();
    const ready = await eventually('it answers', () => box.api.get('/readyz').catch(() => undefined));
    t.match(ready, { status: 503, body: { status: 'rescue', missing: [words], waysOn: [/put back/, /--accept-loss/] } });
    t.equal(aside(box, name), undefined, 'nothing was changed');
    await box.end();
    if (!accept) return;
    box.flags = ['--accept-loss', '--new-admin-code'];
    await box.start();
    t.ok(aside(box, name), 'it is kept');
  });
}

const COPIES = ['audit-head', 'keys/appliance.json'];

for (const damage of [folder, link, pipe]) {
  t.test(`audit-head and the marker, each a ${damage.name}: the plant starts, and it is told until somebody acknowledges it`, async (t) => {
    const box = await boxWith(t, all(COPIES, damage));
    await box.start();
    for (const name of COPIES) {
      t.ok(aside(box, name), 'it is kept');
      t.ok(statSync(path.join(box.dataDir, name)).isFile(), 'and a new one is there');
    }
    const admin = await signIn(box);
    t.match((await admin.get('/api/v1/audit/gaps')).body.items, [
      { kind: 'head', text: /audit-head is a / },
      { kind: 'marker', text: /appliance\.json is a / },
    ]);
    if (damage !== folder) return;
    await box.end();
    await box.start();
    const later = await signIn(box);
    t.equal((await later.get('/api/v1/audit/verify')).body.ok, false, 'a second start has healed nothing');
    t.equal((await later.post('/api/v1/audit/gaps/acknowledge', { reason: REASON })).status, 200);
    t.match((await later.get('/api/v1/audit/verify')).body, { ok: true, problems: { length: 0 } });
  });
}

const warnings = async (box: ApplianceProcess): Promise<string> => (await (await signIn(box)).get('/api/v1/system/health')).body.warnings.join();

for (const damage of [folder, pipe]) {
  t.test(`historian.db, a ${damage.name}: it is put aside, recording goes on at once, and that is said`, async (t) => {
    const box = await boxWith(t, { 'historian.db': damage });
    await box.start();
    t.ok(aside(box, 'historian.db'), 'it is kept');
    t.match(await warnings(box), /historian\.db could not be opened \(.*historian\.db is a .*it is kept as historian\.db\.lost-.*, recording goes on in a new one/);
    t.match(await (await signIn(box)).get('/api/v1/historian/gaps'), { status: 200 });
    t.ok(statSync(path.join(box.dataDir, 'historian.db')).isFile());
  });
}

t.test('folders in the place of the WAL and of a part of the journal of the historian: only those are put aside, and what is in the database is served', async (t) => {
  const names = ['historian-journal-0000000000000000.bin', 'historian.db-wal', 'historian.db-shm'];
  const box = await boxWith(t, all(names, folder));
  const before = statSync(path.join(box.dataDir, 'historian.db')).ino;
  await box.start();
  t.equal(statSync(path.join(box.dataDir, 'historian.db')).ino, before, 'the same database');
  const told = await warnings(box);
  for (const name of names) {
    t.ok(aside(box, name), name);
    t.match(told, new RegExp(`${name} is a folder[^;]*kept as ${name}\\.lost-`));
  }
});

for (const damage of [folder, link, pipe]) {
  t.test(`pid, faults.json, a code that was used and the marks, each a ${damage.name}: no plant is kept from its work`, async (t) => {
    const box = await boxWith(t, all(['pid', 'faults.json', 'commissioning-code', 'keys/rows-sealed', 'keys/historian-begun'], damage));
    await box.start();
    t.equal((await (await signIn(box)).get('/api/v1/audit/verify')).body.ok, true);
    t.ok(aside(box, 'faults.json'));
    t.equal(await box.end(), 0);
  });
}

t.test('a commissioning code that cannot be kept is shown all the same', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-obstacle-'));
  folder(path.join(dataDir, 'commissioning-code'));
  const box = await applianceProcess({ dataDir, environment });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  t.equal((await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials })).status, 201);
});

t.test('a file that belongs to somebody else: what is told is who may not read it, and nothing is put aside', async (t) => {
  if (process.getuid?.() !== 0) {
    t.pass('only root can give files away: not tried here');
    return;
  }
  const nobody = 65_534;
  for (const [name, wayOn] of [
    ['state.db', /put right what is told/],
    ['audit-head', /put right what is told/],
    ['keys/audit-hmac', /put right what is told/],
    ['lock', /remove it and start again/],
  ] as const) {
    const box = await boxWith(t, {}, ['--accept-loss']);
    for (const entry of ['', ...readdirSync(box.dataDir, { recursive: true, encoding: 'utf8' })]) chownSync(path.join(box.dataDir, entry), nobody, nobody);
    chownSync(path.join(box.dataDir, name), 0, 0);
    chmodSync(path.join(box.dataDir, name), 0o600);
    box.runAs = nobody;
    await box.launch();
    await box.says(wayOn);
    t.match(box.output, new RegExp(`${name} cannot be read( and written)? \\(EACCES\\) by the user that lineside runs as, uid ${nobody}`), name);
    t.equal(aside(box, name), undefined, 'it stays where it is');
    await box.end('SIGKILL');
  }
});

t.test('a data directory that is a file is named', async (t) => {
  const parent = mkdtempSync(path.join(tmpdir(), 'lineside-obstacle-'));
  t.teardown(() => rmSync(parent, { recursive: true, force: true }));
  const dataDir = path.join(parent, 'data');
  writeFileSync(dataDir, 'no folder');
  const box = await applianceProcess({ dataDir, environment });
  t.teardown(() => box.end('SIGKILL'));
  t.match(await refused(box), { code: 2, output: /data is a file, and a folder has to stand there.*--data-dir/ });
});
