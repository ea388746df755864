/** The service as the unit starts it, against a real notification socket: by a path and by a name that is no file. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/api-client.js';
import { COMMAND } from '../support/command.js';
import { type Service, type ServiceOptions, startService } from '../support/service.js';

const WATCHDOG_MS = 4000;

function folderOf(t: Test): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-service-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function service(t: Test, options: Omit<ServiceOptions, 'watchdogMs'>): Promise<Service> {
  const started = await startService({ watchdogMs: WATCHDOG_MS, ...options });
  t.teardown(() => started.end('SIGKILL'));
  return started;
}

t.test('service: it says that it is ready when /readyz is 200, feeds the watchdog, and says that it stops; the main process itself tells', async (t) => {
  const folder = folderOf(t);
  const box = await service(t, { folder, address: path.join(folder, 'notify') });
  const { peer } = box;
  await peer.hears(/^READY=1$/);
  t.equal((await fetch(`${box.base}/readyz`)).status, 200);
  await peer.hears(/^STATUS=0 of 0 units are scanned$/);
  await eventually('it is fed again and again', async () => peer.lines.filter((line) => line === 'WATCHDOG=1').length >= 4);
  t.strictSame([...new Set(peer.heard.map(({ pid }) => pid))], [box.pid], 'perl has become node, and nobody else tells');
  const ended = box.end('SIGTERM');
  await peer.hears(/^STOPPING=1$/);
  await peer.hears(/^STATUS=stops \(SIGTERM\)$/);
  t.equal(await ended, 0);
});

t.test('service: in rescue it is ready too, since another start would change nothing, and says why', async (t) => {
  const folder = folderOf(t);
  const first = await service(t, { folder, address: `@${folder}/first` });
  await first.peer.hears(/^READY=1$/);
  t.equal(await first.end('SIGTERM'), 0);
  truncateSync(path.join(first.dataDir, 'state.db'), 0);
  const box = await service(t, { folder, address: `@${folder}/second` });
  await box.peer.hears(/^READY=1$/);
  await box.peer.hears(/^STATUS=in rescue, no unit is driven: /);
  t.equal((await fetch(`${box.base}/readyz`)).status, 503);
  await eventually('it is fed', async () => box.peer.lines.filter((line) => line === 'WATCHDOG=1').length >= 3);
  t.equal(await box.end('SIGTERM'), 0);
});

t.test('service: ends by the watchdog, for want of memory or by a crash end in rescue as faults of the program do, and the process stays up', async (t) => {
  const folder = folderOf(t);
  const first = await service(t, { folder, address: `@${folder}/1` });
  await first.peer.hears(/^READY=1$/);
  t.equal(await first.end('SIGTERM'), 0);
  for (const [SERVICE_RESULT, EXIT_STATUS] of [
    ['watchdog', 'ABRT'],
    ['oom-kill', 'KILL'],
    ['signal', 'KILL'], // somebody's: not counted
    ['core-dump', 'SEGV'],
    ['watchdog', 'ABRT'],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'note-end', '--data-dir', first.dataDir], {
      env: { PATH: process.env.PATH ?? '', SERVICE_RESULT, EXIT_STATUS },
      encoding: 'utf8',
    });
    t.equal(status, 0, stderr);
  }
  const box = await service(t, { folder, address: `@${folder}/2` });
  await box.peer.hears(/^READY=1$/);
  await box.peer.hears(/^STATUS=in rescue, no unit is driven: .*the watchdog of the service ended it/);
  const said = (await (await fetch(`${box.base}/readyz`)).json()) as { readonly missing: readonly string[] };
  t.equal(said.missing.length, 4);
  await eventually('it stays up and is fed', async () => box.peer.lines.filter((line) => line === 'WATCHDOG=1').length >= 3);
  t.equal(await box.end('SIGTERM'), 0, 'and ends when it is told to');
});

t.test('service: a start that hangs leaves its mark for note-end, and one that is through takes it away', async (t) => {
  const folder = folderOf(t);
  const runtime = path.join(folder, 'run');
  mkdirSync(runtime);
  const environment = { RUNTIME_DIRECTORY: runtime };
  const preload = path.join(folder, 'preload.mjs');
  // at the first write of the key the start waits for ever, as on a dead disk
  writeFileSync(
    preload,
    `import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
crypto.createPublicKey = () => { process.stdout.write('hangs in its start\\n'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); };
syncBuiltinESMExports();
`,
  );
  const hung = await service(t, { folder, address: `@${folder}/1`, environment, preload });
  await eventually('it hangs', async () => hung.output.includes('hangs in its start'));
  await hung.end('SIGKILL'); // as systemd does after TERM
  const noteEnd = (): readonly unknown[] => {
    const env = { PATH: process.env.PATH ?? '', ...environment, SERVICE_RESULT: 'timeout', EXIT_STATUS: 'KILL' };
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'note-end', '--data-dir', hung.dataDir], { env, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    return JSON.parse(readFileSync(path.join(hung.dataDir, 'faults.json'), 'utf8')) as unknown[];
  };
  t.match(noteEnd(), [{ fault: /^its start was not through after \d+ s/, hungMs: Number }]);
  const box = await service(t, { folder, address: `@${folder}/2`, environment });
  await box.peer.hears(/^READY=1$/);
  t.same(readdirSync(runtime), []);
  t.equal(await box.end('SIGTERM'), 0);
  t.equal(noteEnd().length, 1, 'a stop that took too long is no fault of the program');
});

t.test('service: without the open socket it runs, and says what is wrong with its start', async (t) => {
  const folder = folderOf(t);
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'start', '--data-dir', path.join(folder, 'data'), '--no-rescue'], {
    env: { PATH: process.env.PATH ?? '', NOTIFY_SOCKET: '/run/systemd/notify', NOTIFY_FD: '0', LINESIDE_GATEWAY__LISTEN: 'no address' },
    encoding: 'utf8',
  });
  t.match(stderr, /NOTIFY_FD is '0', which is no open socket of this process/);
  t.equal(status, 2, 'what ends it here is the address to listen on');
});

t.test('service: a socket on which a manager that does not read would hold the program is told of, and not written to', async (t) => {
  const OPEN = 'socketpair(my $ours, my $theirs, AF_UNIX, SOCK_DGRAM, 0); fcntl($ours, F_SETFD, 0); $ENV{NOTIFY_FD} = fileno($ours); exec @ARGV';
  const { stderr } = spawnSync('perl', ['-MSocket', '-MFcntl', '-e', OPEN, process.execPath, COMMAND, 'start', '--data-dir', '/dev/null/none'], {
    env: { PATH: process.env.PATH ?? '' },
    encoding: 'utf8',
  });
  t.match(stderr, /the socket of NOTIFY_FD \d+ is a blocking one/);
});
