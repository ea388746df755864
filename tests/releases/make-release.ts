/**
 * Makes the fixture of a release, once, from its own build: `node dist/tests/releases/make-release.js tests/fixtures/releases/<version>`.
 * It plays some days of a plant (batches in every place of their life, sealed and open records, signatures, an audit archive, people,
 * a key), ends it with SIGKILL in the middle of a batch, and writes down what this release served beforehand. What a later release
 * serves of the same data is compared with it (releases.test.ts).
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ApiAnswer, eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { ENVIRONMENT, finished, nothingTold, PASSWORD, startBatch, Story } from '../support/batch-story.js';
import { SITE } from '../support/plant.js';
import { observe } from './observed.js';

const [, , folder = ''] = process.argv;
if (folder === '') throw new Error('name the folder of the fixture: tests/fixtures/releases/<version>');
const REASON = 'as the procedure asks';

async function did(answer: Promise<ApiAnswer>): Promise<ApiAnswer> {
  const settled = await answer;
  if (settled.status >= 300) throw new Error(settled.text);
  return settled;
}

const box = await applianceProcess({ environment: { ...ENVIRONMENT, LINESIDE_AUDIT__MAXRECORDS: '1000' }, bare: true });
await box.start();
const story = new Story(box);
await story.commission();
const { admin } = story;
for (const [username, groups] of [
  ['otto', ['lineside-lead-operator']],
  ['vera', ['lineside-viewer', 'lineside-site-demo']],
] as const) {
  await did(admin.post('/api/v1/auth/users', { username, displayName: username, password: PASSWORD, groups, mustChangePassword: false }));
}

/** A batch that ran to its end and has its record, which bears its name. */
async function ended(order: string): Promise<string> {
  const batch = await story.order(order);
  await startBatch(story, batch);
  await finished(story, batch, nothingTold());
  await eventually('the record is made', async () => (await admin.get(`${SITE}/batchrecords/${batch}`)).status === 200);
  return batch;
}

const sealed = await ended('WO-sealed');
await did(admin.post('/api/v1/signatures', { target: { kind: 'Batch', name: sealed, site: 'demo' }, meaning: 'Witnessed', reason: REASON }));
await did(admin.post(`${SITE}/batchrecords/${sealed}/comments`, { text: 'pH taken twice', reference: 'ph' }));
await did(admin.post(`${SITE}/batchrecords/${sealed}/review`, { outcome: 'Accepted', comment: 'complete' }));
await did(admin.post(`${SITE}/batchrecords/${sealed}/finalize`, { reason: REASON }));
await ended('WO-open');

const stopped = await story.order('WO-stopped');
await startBatch(story, stopped);
await story.inState(stopped, 'Running');
await did(admin.post(`${SITE}/command`, { kind: 'Batch', name: stopped, command: 'Stop', reason: REASON }));
await story.inState(stopped, 'Stopped');
await did(admin.post(`${SITE}/command`, { kind: 'Batch', name: stopped, command: 'Reset', reason: REASON }));

for (let count = 0; count < 1100; count += 1) await story.command(stopped, 'Hold'); // refused, each on record: the trail grows beyond what is kept live
await eventually('the oldest records are in the archive', async () => (await did(admin.get('/api/v1/audit/verify-archived'))).body.checked > 0, 180_000, 1000);
await story.order('WO-pending');
const running = await story.order('WO-running');
await startBatch(story, running);
await story.inState(running, 'Running');
await story.serve(running, nothingTold());

const observed = await observe(admin);
await box.end('SIGKILL');
mkdirSync(folder, { recursive: true });
execFileSync('tar', ['-C', box.dataDir, '-czf', path.join(folder, 'data.tar.gz'), '.']);
writeFileSync(path.join(folder, 'observed.json.gz'), gzipSync(JSON.stringify(observed, null, 1), { level: 9 }));
for (const name of ['data.tar.gz', 'observed.json.gz']) console.log(name, statSync(path.join(folder, name)).size);
box.remove();
