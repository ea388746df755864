/** Starts over storage that is not as it should be, and what is told of storage and threads while the appliance runs. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { WorkerCalls } from '../../src/platform/base/worker-calls.js';
import { Nonces } from '../../src/platform/http/nonces.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { eventually } from '../support/api-client.js';
import { type ApplianceOptions, type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';
import { transaction } from '../support/ledger-data.js';
import { SITE } from '../support/plant.js';
import { TestClock } from '../support/test-clock.js';

const DEMO = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_LOG_LEVEL: 'error',
};

interface Test {
  teardown(call: () => unknown): void;
}

async function boxOf(test: Test, options: ApplianceOptions): Promise<ApplianceProcess> {
  const box = await applianceProcess(options);
  test.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  return box;
}

const health = async (box: ApplianceProcess): Promise<{ warnings: string[] }> => (await box.api.get('/api/v1/system/health')).body;

t.test('a broken historian is put aside: the plant starts, a gap is declared, and an alarm says it', async (t) => {
  const box = await boxOf(t, { environment: DEMO });
  await box.start();
  await eventually('something is recorded', async () => (await box.api.get('/api/v1/historian/tags/distinct')).body?.items?.length > 0);
  await box.end();
  const file = path.join(box.dataDir, 'historian.db');
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 0, 4096));
  await box.start();
  t.ok(
    readdirSync(box.dataDir).some((name) => /^historian\.db\.lost-/.test(name)),
    'it is kept',
  );
  t.match((await health(box)).warnings.join(), /historian\.db could not be opened/);
  await eventually('the alarm stands', async () =>
    ((await box.api.get(`${SITE}/alarms?type=System`)).body as { name: string }[]).some(({ name }) => name.startsWith('system-historian')),
  );
  await eventually('the gap is declared', async () =>
    ((await box.api.get('/api/v1/historian/gaps')).body.items as { cause: string }[]).some(({ cause }) => cause === 'HistoryLost'),
  );
  await eventually('and it records again', async () => (await box.api.get('/api/v1/historian/tags/distinct')).body.items.length > 0);
});

t.test('a historian that is missing is begun anew, and said to be: once', async (t) => {
  const box = await boxOf(t, { environment: DEMO });
  await box.start();
  t.same(
    (await health(box)).warnings.filter((text) => /historian/.test(text)),
    [],
    'a new box has lost none',
  );
  await box.end();
  for (const name of readdirSync(box.dataDir)) if (name.startsWith('historian')) rmSync(path.join(box.dataDir, name));
  await box.start();
  t.match((await health(box)).warnings.join(), /historian\.db is missing and was begun anew/);
  await eventually('the gap is declared', async () =>
    ((await box.api.get('/api/v1/historian/gaps')).body.items as { cause: string }[]).some(({ cause }) => cause === 'HistoryLost'),
  );
  await box.end();
  await box.start();
  t.same(
    (await health(box)).warnings.filter((text) => /historian/.test(text)),
    [],
  );
});

t.test('D-C-07: a nonce that was spent is not admitted because the clock went ahead while the appliance was down', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-nonces-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const windowMs = 600_000;
  const atMs = Date.parse('2026-01-31T09:00:00Z');
  const ledger = await openLedger(dir);
  await ledger.load(windowMs);
  await ledger.commit(transaction({ nonces: [{ hash: Nonces.hash('spent-before'), atMs }] }));
  await ledger.close();
  for (const start of ['first', 'second', 'third']) {
    const again = await openLedger(dir);
    const { nonces } = await again.load(windowMs);
    await again.close();
    const clock = new TestClock();
    const memory = new Nonces(clock, windowMs, 1000);
    memory.load(nonces);
    t.equal(memory.admit(Nonces.hash('spent-before'), false), 'duplicate', `the ${start} start after it, years after ${new Date(atMs).toISOString()}`);
    t.equal(memory.admit(Nonces.hash('new-one'), false), 'admitted');
  }
});

t.test('files of the data directory are for the owner only, whoever made the directory', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-modes-'));
  chmodSync(dataDir, 0o755);
  const box = await boxOf(t, { dataDir, environment: { ...DEMO, LINESIDE_LOG_LEVEL: 'warn' } });
  await box.start();
  await box.says(/could be read by everybody/);
  t.equal(statSync(dataDir).mode & 0o777, 0o750);
  for (const name of readdirSync(dataDir)) {
    const stat = statSync(path.join(dataDir, name));
    if (stat.isFile()) t.equal(stat.mode & 0o077, 0, name);
  }
});

t.test('passwords in clear, said in health', async (t) => {
  const box = await boxOf(t, {
    environment: {
      ...DEMO,
      LINESIDE_DEMO__ENABLED: 'false',
      LINESIDE_AUTH__MODE: 'local',
      LINESIDE_GATEWAY__OPERATINGMODE: 'production',
      LINESIDE_GATEWAY__LISTEN: '0.0.0.0',
      LINESIDE_LOG_LEVEL: 'warn',
    },
  });
  await box.start();
  await box.says(/passwords and tokens travel in clear/);
});

t.test('the end of the session that started it is a clean stop, and a stop says so', async (t) => {
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
    const box = await boxOf(t, { environment: DEMO, bare: true });
    await box.start();
    t.equal(await box.end(signal), 0, signal);
    t.match(box.output, `lineside has stopped (${signal})`);
  }
});

/** Raises the signal at the moment from which the command listens to signals. */
const raisedAtOnce = (signal: NodeJS.Signals): string =>
  `data:text/javascript,const on = process.on; process.on = (name, call) => { on.call(process, name, call); if (name === 'SIGHUP') process.kill(process.pid, '${signal}'); return process; };`;

t.test('a stop that is asked for while it starts is a clean one too, and asking again changes nothing', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const box = await boxOf(t, { environment: DEMO, bare: true, preload: raisedAtOnce(signal) });
    await box.launch();
    await box.says(/stops when its start is through/);
    t.equal(await box.end(signal), 0, signal);
    t.match(box.output, `lineside has stopped (${signal})`);
    t.notOk(readdirSync(box.dataDir).includes('pid'), 'nothing says that it runs');
  }
});

t.test('a lock file that is damaged is named with the way out', async (t) => {
  const box = await boxOf(t, {});
  writeFileSync(path.join(box.dataDir, 'lock'), 'not a database'.repeat(400));
  t.match(await box.attempt(), { code: 2, output: new RegExp(`lock file ${box.dataDir}/lock .*remove it and start again`) });
});

t.test('/readyz says what is the matter while the storage refuses', async (t) => {
  if (!canLimitFiles(t)) return;
  const box = await boxOf(t, { environment: DEMO, bare: true });
  await box.start();
  limitFiles(box.pid, 0);
  await box.api.post('/api/v1/sites', { name: 'refused' });
  t.match(await box.api.get('/readyz'), { status: 503, body: { status: 'storage_unavailable', message: /refuses changes/ } });
});

t.test('a call between threads has an end: a time, a death that is told, an argument that cannot be sent', async (t) => {
  const deaths: string[] = [];
  const url = new URL('data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.on("message", (m) => { if (m.name === "die") process.exit(1); });');
  const calls = new WorkerCalls({ url, name: 'deaf', data: {} }, undefined, { withinMs: 200, died: (name, fault) => deaths.push(`${name}: ${fault}`) });
  await t.rejects(calls.call('anything', {}), { message: 'the deaf thread has not answered anything within 0.2 s' });
  await t.rejects(calls.call('anything', { uncloneable: () => undefined }), /could not be cloned/);
  await t.rejects(calls.call('die', {}, 60_000), /the deaf thread stopped/);
  t.same(deaths, ['deaf: the deaf thread stopped']);
});

t.test('the help of start names every flag and setting', async (t) => {
  const text = execFileSync(process.execPath, [path.resolve('dist/src/cli/lineside.js'), 'start', '--help'], { encoding: 'utf8' });
  for (const word of ['--data-dir', '--config', '--auth-mode', '--accept-loss', '--no-rescue', '--new-admin-code', 'gateway.httpPort', 'LINESIDE_HISTORIAN__MAXBYTES'])
    t.match(text, word);
});
