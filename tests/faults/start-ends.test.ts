/** How a start ends that cannot go on: refused (2) where somebody has to put something right, else a fault that is counted and started again (70). */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/api-client.js';
import { type ApplianceOptions, type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';

const ENVIRONMENT = { LINESIDE_AUTH__MODE: 'none', LINESIDE_GATEWAY__OPERATINGMODE: 'development' };
/** Of TEST-NET-1: nobody has it. */
const NOT_THERE = '192.0.2.1';
/** As a fault of ours in the middle of the start, after the data directory was taken. */
const FAILS_IN_THE_START = `
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
crypto.createPublicKey = () => { throw new TypeError('thrown in the start by the test'); };
syncBuiltinESMExports();
`;

async function boxOf(t: Test, options: ApplianceOptions = {}): Promise<ApplianceProcess> {
  const box = await applianceProcess({ bare: true, ...options, environment: { ...ENVIRONMENT, ...options.environment } });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  return box;
}

async function ended(box: ApplianceProcess): Promise<number | null> {
  const child = await box.launch();
  await eventually('the start has ended', async () => box.hasEnded);
  return child.exitCode;
}

t.test('a fault of ours in the start is 70 and counted: the fifth start is in rescue and says what it was', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-preload-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const preload = path.join(folder, 'preload.mjs');
  writeFileSync(preload, FAILS_IN_THE_START);
  const box = await boxOf(t, { preload });
  for (let start = 1; start <= 4; start += 1) t.equal(await ended(box), 70, `start ${start}`);
  t.match(box.output, /the start has failed: TypeError: thrown in the start by the test\n +at /, 'with its stack, for whoever maintains it');
  await box.launch();
  const ready = await eventually('it answers', async () => fetch(`${box.base}/readyz`).catch(() => undefined));
  t.equal(ready.status, 503);
  const { missing } = (await ready.json()) as { readonly missing: readonly string[] };
  t.equal(missing.length, 4);
  t.match(missing[3], /by a fault of its own: thrown in the start by the test/);
  t.equal(await box.end(), 0);
});

t.test('a port that another program has, and a certificate that is not there, are refused with the setting, and are no faults', async (t) => {
  const other = createServer();
  const box = await boxOf(t);
  await new Promise<void>((resolve) => void other.listen(box.port, '127.0.0.1', resolve));
  t.equal(await ended(box), 2);
  t.match(box.output, new RegExp(`cannot listen on 127\\.0\\.0\\.1:${box.port}: another program uses the port.*gateway\\.httpPort`));
  await new Promise((resolve) => other.close(resolve));
  t.throws(() => readFileSync(path.join(box.dataDir, 'faults.json')), { code: 'ENOENT' });

  const secured = await boxOf(t, { environment: { LINESIDE_GATEWAY__TLS__CERTFILE: '/nowhere/cert.pem', LINESIDE_GATEWAY__TLS__KEYFILE: '/nowhere/key.pem' } });
  t.equal(await ended(secured), 2);
  t.match(secured.output, /gateway\.tls\.certFile: \/nowhere\/cert\.pem cannot be read \(ENOENT\)/);
});

t.test('an address that the network has not given yet is waited for, and the start goes on when it comes', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-network-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const own = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']);
  if (own.status !== 0) {
    t.pass('this user may make no network of its own: the waiting alone is proved by tests/platform/http/listen.test.ts');
    return;
  }
  // the first process of a network of its own brings the address when the test says so
  const preload = path.join(folder, 'preload.mjs');
  writeFileSync(
    preload,
    `import { execFileSync } from 'node:child_process';
process.on('SIGUSR2', () => execFileSync('ip', ['address', 'add', '${NOT_THERE}/32', 'dev', 'lo']));
`,
  );
  const box = await boxOf(t, { preload, environment: { LINESIDE_AUTH__MODE: 'local', LINESIDE_GATEWAY__LISTEN: NOT_THERE } });
  box.wrapper = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  await box.launch();
  await box.says(/cannot listen on 192\.0\.2\.1:\d+ yet: no network of this machine has the address/);
  t.ok(box.isRunning);
  process.kill(box.pid, 'SIGUSR2');
  await box.says(/operator console +http:\/\/192\.0\.2\.1:/);
  t.equal(await box.end(), 0);
});
