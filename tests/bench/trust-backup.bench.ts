/**
 * A backup of 1 GB while a batch runs: no scan is missed and others are served in p99 of at most twice what a quiet box takes; its verified
 * restore takes at most 5 minutes (reliability promise on backups).
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { ApiClient } from '../support/api-client.js';
import { COMMAND } from '../support/command.js';
import { SITE, SMALL, unitsReady } from '../support/plant.js';
import { filledTrail } from './filled-trail.js';
import { quantile, tell, verdict } from './judge.js';
import { DEMO, firstAdministrator, productBox } from './product-box.js';
import { servedDuring } from './served.js';

const RECORDS = 1_000_000;
const UNITS = ['mx101', 'rx101', 'tk201'];
const QUIET_MS = 10_000;
const TIMES_MAX = 2;
const RESTORE_S_MAX = 300;

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-'));
const at = (name: string): string => path.join(folder, name);
await filledTrail(at('data'), RECORDS, randomBytes(150).toString('hex'));
const megabytes = statSync(at('data/state.db')).size / 1e6;
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
writeFileSync(at('identity'), `${identity}\n`, { mode: 0o600 });

const box = await productBox({ ...DEMO, LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false' }, at('data'));
await box.start();
const anna = await firstAdministrator(box);
const api = box.api.with(anna.credential);
await unitsReady(api);
await begin(api);

async function begin(admin: ApiClient): Promise<void> {
  const { body } = await admin.post('/api/v1/mes/apikeys', { name: 'erp', site: 'demo' });
  const order = { workOrderID: 'WO-1', productDefinition: 'resin-a', ...SMALL };
  const made = await box.api.with(`ApiKey ${body.key}`).post('/api/v1/mes/sites/demo/work-orders?dispatch=immediate', order);
  const started = await admin.post(`${SITE}/command`, { kind: 'Batch', name: made.body.batchName, command: 'Start' });
  if (started.status !== 200) throw new Error(started.text);
}

async function missedScans(): Promise<number> {
  const status = await Promise.all(UNITS.map((unit) => api.get(`${SITE}/units/${unit}/runtime/status`)));
  return status.reduce((sum, { body }) => sum + (body.missed as number), 0);
}

function lineside(...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`lineside ${args[0]}: ${code}`))));
  });
}

const quiet = quantile(await servedDuring(box.base, () => pause(QUIET_MS)), 0.99);
const missedBefore = await missedScans();
let fromMs = performance.now();
const during = quantile(
  await servedDuring(box.base, () => lineside('backup', '--to', at('backup.age'), '--recipient', recipient, '--keys-to', at('keys.age'), '--data-dir', at('data'))),
  0.99,
);
const backupS = (performance.now() - fromMs) / 1000;
const missed = (await missedScans()) - missedBefore;
await box.end();
anna.remove();

fromMs = performance.now();
await lineside('restore', '--identity', at('identity'), '--keys', at('keys.age'), '--data-dir', at('restored'), at('backup.age'));
const restoreS = (performance.now() - fromMs) / 1000;
rmSync(folder, { recursive: true, force: true });

const times = during / quiet;
tell('scans missed while a backup is made', missed);
tell('served while a backup is made, p99, x quiet', times);
tell('verified restore, s', restoreS);
console.log(`backup of ${megabytes.toFixed(0)} MB while a batch runs: ${backupS.toFixed(1)} s, scans missed ${missed} (0 allowed) ${verdict(missed === 0)}`);
console.log(
  `others are served meanwhile in p99 ${during.toFixed(1)} ms, ${times.toFixed(2)} times the ${quiet.toFixed(1)} ms of a quiet box (${TIMES_MAX} allowed) ${verdict(times <= TIMES_MAX)}`,
);
console.log(`verified restore: ${restoreS.toFixed(1)} s (${RESTORE_S_MAX} allowed) ${verdict(restoreS <= RESTORE_S_MAX)}`);
