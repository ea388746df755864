/** A fault that nobody caught ends the process as the plant wants it: fail-safe outputs, nothing acknowledged lost, and rescue in place of a loop. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { ModbusPeer } from '../drivers/modbus-peer.js';
import { eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { SITE, unitsReady } from '../support/plant.js';
import { at } from '../support/at.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
  LINESIDE_RUNTIME__MAXTHREADS: '12', // as the product runs
  LINESIDE_RUNTIME__TIMESCALE: '10',
  LINESIDE_IO__OUTPUTS: 'live',
};
const PLC = `${SITE}/iomodules/plc`;
const [COIL, OTHER_COIL] = [1, 3];
/** A throw of a timer, and a rejection of a promise that nobody awaits, when the test says so. */
const PRELOAD = `
process.on('SIGUSR2', () => setTimeout(() => { throw new Error('thrown by a timer of the test'); }, 0));
process.on('SIGALRM', () => void Promise.reject(new Error('rejected by a promise of the test')));
`;

/** Function 1 of Modbus TCP: what the device has, asked past the appliance. */
function coil(port: number, address: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from([0, 1, 0, 0, 0, 6, 1, 1, 0, address, 0, 1])));
    socket.once('error', reject);
    socket.once('data', (reply) => {
      socket.destroy();
      resolve(at(reply, 9) & 1);
    });
  });
}

/** @returns the exit code. */
async function failed(box: ApplianceProcess, signal: 'SIGUSR2' | 'SIGALRM'): Promise<number | null> {
  return box.end(signal);
}

t.test('an exception and a rejection that nobody caught: exit code 70, fail-safe outputs, an unbroken trail, and after four of them rescue', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-preload-'));
  const preload = path.join(folder, 'preload.mjs');
  writeFileSync(preload, PRELOAD);
  const peer = await ModbusPeer.start();
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true, preload });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
    await peer.kill();
    rmSync(folder, { recursive: true });
  });
  await box.start();
  await unitsReady(box.api);
  const module = {
    name: 'plc',
    protocol: 'modbus',
    address: `127.0.0.1:${peer.port}`,
    options: { pollInterval: '100ms', timeout: '500ms' },
    channels: [
      { name: 'valve', address: `coil:${COIL}`, direction: 'output' },
      { name: 'lamp', address: `coil:${OTHER_COIL}`, direction: 'output' },
      { name: 'level', address: 'holding:11' },
    ],
    failSafe: { timeout: '1h', outputs: [{ channel: 'valve', value: false }] },
  };
  const made = await box.api.post(`${SITE}/iomodules`, module);
  t.equal(made.status, 201, made.text);
  await eventually('the device is read', async () => (await box.api.get(PLC)).body.state === 'Connected');
  for (const channel of ['valve', 'lamp']) t.equal((await box.api.post(`${PLC}/write`, { channel, value: true })).status, 200);
  t.same([await coil(peer.port, COIL), await coil(peer.port, OTHER_COIL)], [1, 1]);

  const batch = (await box.api.post(`${SITE}/batches`, { batchID: 'b1', masterRecipeRef: 'resin-a' })).body.name as string;
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' })).status, 200);
  await eventually('it runs', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Running');
  t.equal((await box.api.post(`${SITE}/areas`, { name: 'acknowledged-last' })).status, 201);
  const startedAt = performance.now();
  t.equal(await failed(box, 'SIGUSR2'), 70);
  t.ok(performance.now() - startedAt < 5000, 'soon');
  t.same([await coil(peer.port, COIL), await coil(peer.port, OTHER_COIL)], [0, 1], 'what has a fail-safe value took it, what has none stays');
  const told = box.output.split('\n').find((line) => line.includes('nobody caught a fault of ours'));
  t.match(JSON.parse(told ?? '{}'), { level: 60, fault: /thrown by a timer of the test/, units: [{ unit: 'mx101', scans: true }, {}, {}], probes: [{ state: 'serves' }] });

  await box.start();
  await eventually('the batch is Held', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Held');
  t.match((await box.api.get('/api/v1/audit/verify')).body, { ok: true, problems: { length: 0 }, gaps: { length: 0 } });
  t.equal((await box.api.get(`${SITE}/areas/acknowledged-last`)).status, 200, 'what was acknowledged is there');
  const { warnings } = (await box.api.get('/api/v1/system/health')).body as { readonly warnings: readonly string[] };
  t.match(warnings.join('\n'), /the appliance ended at .* by a fault of its own: thrown by a timer/);
  t.equal(await failed(box, 'SIGALRM'), 70, 'a rejection ends it as well');
  for (let more = 0; more < 2; more += 1) {
    await box.start();
    t.equal(await failed(box, 'SIGUSR2'), 70);
  }

  await box.launch();
  const ready = await eventually('it answers', async () => fetch(`${box.base}/readyz`).catch(() => undefined));
  t.equal(ready.status, 503);
  const said = (await ready.json()) as { readonly missing: readonly string[] };
  t.match(said, { status: 'rescue', waysOn: [/log/, /another version/, /--accept-faults/] });
  t.equal(said.missing.length, 4);
  t.match((await box.api.get(`${SITE}/units`)).body, { code: 'rescue', error: /more than three times within ten minutes; nothing is driven/ });
  t.equal(await box.end(), 0);

  box.flags = ['--accept-faults'];
  await box.start();
  t.match((await box.api.get(`${SITE}/batches/${batch}`)).body, { batchID: 'b1', phase: 'Held' });
  t.match((await box.api.get('/api/v1/audit/verify')).body, { ok: true });
  await box.end();
  box.flags = [];
  await box.start();
  t.equal((await box.api.get('/readyz')).status, 200, 'accepted once, it stays accepted');
});
