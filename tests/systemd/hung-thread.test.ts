/** The whole service with a thread that hangs: what the service manager hears, as the unit starts it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, constants, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { startService } from '../support/service.js';

const STUCK = fileURLToPath(new URL('../support/stuck-below.js', import.meta.url));
const WATCHDOG_MS = 4000;
/** Of the first thread that the appliance starts for its units. */
const HANG = `
import workers from 'node:worker_threads';
import { syncBuiltinESMExports } from 'node:module';
const { Worker } = workers;
workers.Worker = class extends Worker {
  constructor(entry, options) { super(String(entry).endsWith('runtime/worker.js') ? new URL('file://${STUCK}') : entry, options); }
};
syncBuiltinESMExports();
`;

t.test('service: a main thread that hangs feeds no more', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-hung-'));
  const preload = path.join(folder, 'hang.mjs');
  writeFileSync(preload, "process.on('SIGUSR2', () => { for (;;); });");
  const service = await startService({ folder, address: `@${folder}`, watchdogMs: WATCHDOG_MS, preload });
  t.teardown(async () => {
    await service.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  await service.peer.hears(/^READY=1$/);
  process.kill(service.pid, 'SIGUSR2');
  await eventually('nothing was heard for the time-out of the watchdog', async () => performance.now() - (service.peer.heard.at(-1)?.atMs ?? 0) > WATCHDOG_MS);
  t.equal(await service.end('SIGABRT'), null, 'the signal of the watchdog ends it');
});

t.test('service: a scan thread that hangs and cannot be ended lets the watchdog bite; until then, and while it is being ended, it is fed', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-hung-'));
  const pipe = path.join(folder, 'pipe');
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const preload = path.join(folder, 'hang.mjs');
  writeFileSync(preload, HANG);
  const service = await startService({ folder, address: `@${folder}`, watchdogMs: WATCHDOG_MS, preload, environment: { HANG_ON: pipe, LINESIDE_DEMO__ENABLED: 'true' } });
  t.teardown(async () => {
    await service.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const { peer } = service;
  await peer.hears(/^READY=1$/);
  await peer.hears(/^STATUS=ends: the scan thread of demo\/.+ has not come round for 20 s and cannot be ended$/);
  const feeds = peer.heard.filter(({ lines }) => lines.includes('WATCHDOG=1'));
  const gaps = feeds.slice(1).map(({ atMs }, n) => atMs - (feeds[n]?.atMs ?? 0));
  t.ok(feeds.length >= 5 && Math.max(...gaps) < WATCHDOG_MS, `it was fed ${feeds.length} times, with ${Math.round(Math.max(...gaps))} ms between them at most`);
  t.match(service.output, /the scan thread is ended: it has not come round for 15 s/, 'while its supervisor still hoped');
  const saidAtMs = peer.heard.at(-1)?.atMs ?? 0;
  // the end of the process waits for the thread, as for a dead disk: here the service manager acts
  await eventually('the time-out of the watchdog has passed', async () => performance.now() - saidAtMs > WATCHDOG_MS, 3 * WATCHDOG_MS);
  t.strictSame(
    peer.heard.filter(({ atMs, lines }) => atMs > saidAtMs && lines.some((line) => line.includes('WATCHDOG'))),
    [],
    'no feed any more: it bites',
  );
  t.equal(JSON.parse(readFileSync(path.join(service.dataDir, 'faults.json'), 'utf8')).length, 1, 'the end counts as a fault of the program');
  closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)); // the disk is back
  t.equal(await service.ended, 70, 'with its thread gone it ends as after a fault of its own');
});
