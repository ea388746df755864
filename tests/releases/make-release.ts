/**
 * Makes the fixture of a release, once, from its own build: `node dist/tests/releases/make-release.js tests/fixtures/releases/<version>`.
 * It plays some days of a plant (batches in every place of their life, sealed and open records, signatures, alarms that stand and that
 * are settled, a row that cannot be used, an audit archive, people, a key, history), ends it with SIGKILL in the middle of a batch,
 * and writes down what this release served beforehand. What a later release serves of the same data is compared with it
 * (releases.test.ts).
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { routesText } from '../../src/cli/reference.js';
import { decode, Message } from '../../src/platform/ledger/wire.js';
import { type ApiAnswer, eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { withWriter } from '../support/archive-data.js';
import { ENVIRONMENT, finished, nothingTold, PASSWORD, startBatch, Story } from '../support/batch-story.js';
import { resource, transaction } from '../support/ledger-data.js';
import { SITE } from '../support/plant.js';
import { observe, UNFIT } from './observed.js';

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
for (const [username, groups] of [
  ['otto', ['lineside-lead-operator']],
  ['vera', ['lineside-viewer', 'lineside-site-demo']],
] as const) {
  await did(story.admin.post('/api/v1/auth/users', { username, displayName: username, password: PASSWORD, groups, mustChangePassword: false }));
}

// a row as an earlier version may have left it, written by the ledger's own writer: it is named, and everything else goes on
await box.end('SIGTERM');
withWriter(box.dataDir, (writer) => {
  const { resourceVersion } = writer.load(0);
  const message = new Message();
  message.add(transaction({ puts: [resource('AlarmDefinition', 'demo', UNFIT, resourceVersion + 1, { sourceKind: 7 })] }));
  const taken = decode(message.fields);
  for (const refused of writer.commit(() => taken.splice(0))) if (refused !== null) throw new Error(refused);
});
await box.start();
await story.signIn();
await story.unitsReady();

/** An alarm that stands as long as the definition is so. */
async function raised(name: string): Promise<string> {
  const always = { sourceKind: 'ControlModule', sourceName: 'li101', conditionType: 'TagHigh', tagName: 'pv', threshold: '-50', message: `level as ${name} asks` };
  await did(story.admin.post(`${SITE}/alarmdefinitions`, { name, ...always }));
  return inAlarm(name, 'ActiveUnacknowledged');
}

async function inAlarm(definition: string, state: string): Promise<string> {
  const standing = (): Promise<ApiAnswer> => story.admin.get(`${SITE}/alarms?definition=${definition}&state=${state}`);
  return eventually(`an alarm of ${definition} is ${state}`, async () => (await standing()).body[0]?.name as string | undefined, 60_000);
}

await raised('release-standing');
const settled = await raised('release-settled');
await did(story.admin.post(`${SITE}/alarms/${settled}/acknowledge`, { comment: 'seen' }));
await did(
  story.admin.put(`${SITE}/alarmdefinitions/release-settled`, { sourceKind: 'ControlModule', sourceName: 'li101', conditionType: 'TagHigh', tagName: 'pv', threshold: '100000' }),
);
await inAlarm('release-settled', 'ClearedAcknowledged');

/** A batch that ran to its end and has its record, which bears its name. */
async function ended(order: string): Promise<string> {
  const batch = await story.order(order);
  await startBatch(story, batch);
  await finished(story, batch, nothingTold());
  await eventually('the record is made', async () => (await story.admin.get(`${SITE}/batchrecords/${batch}`)).status === 200);
  return batch;
}

const sealed = await ended('WO-sealed');
await did(story.admin.post('/api/v1/signatures', { target: { kind: 'Batch', name: sealed, site: 'demo' }, meaning: 'Witnessed', reason: REASON }));
await did(story.admin.post(`${SITE}/batchrecords/${sealed}/comments`, { text: 'pH taken twice', reference: 'ph' }));
await did(story.admin.post(`${SITE}/batchrecords/${sealed}/review`, { outcome: 'Accepted', comment: 'complete' }));
await did(story.admin.post(`${SITE}/batchrecords/${sealed}/finalize`, { reason: REASON }));
await ended('WO-open');

const stopped = await story.order('WO-stopped');
await startBatch(story, stopped);
await story.inState(stopped, 'Running');
await did(story.admin.post(`${SITE}/command`, { kind: 'Batch', name: stopped, command: 'Stop', reason: REASON }));
await story.inState(stopped, 'Stopped');
await did(story.admin.post(`${SITE}/command`, { kind: 'Batch', name: stopped, command: 'Reset', reason: REASON }));

for (let count = 0; count < 1100; count += 1) await story.command(stopped, 'Hold'); // refused, each on record: the trail grows beyond what is kept live
await eventually('the oldest records are in the archive', async () => (await did(story.admin.get('/api/v1/audit/verify-archived'))).body.checked > 0, 180_000, 1000);
await story.order('WO-pending');
const running = await story.order('WO-running');
await startBatch(story, running);
await story.inState(running, 'Running');
await story.serve(running, nothingTold());

const observed = await observe(story.admin);
await box.end('SIGKILL');
mkdirSync(folder, { recursive: true });
execFileSync('tar', ['-C', box.dataDir, '-czf', path.join(folder, 'data.tar.gz'), '.']);
writeFileSync(path.join(folder, 'observed.json.gz'), gzipSync(JSON.stringify(observed, null, 1), { level: 9 }));
writeFileSync(path.join(folder, 'routes.txt'), routesText());
for (const name of ['data.tar.gz', 'observed.json.gz']) console.log(name, statSync(path.join(folder, name)).size);
box.remove();
