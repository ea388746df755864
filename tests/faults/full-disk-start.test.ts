/** Started on a disk that takes nothing: what ran is shown as held, because nothing is driven, and is held as soon as that can be written (D-C-08, D-C-09). */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { SITE } from '../support/plant.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_LOG_LEVEL: 'error',
};
const NOT_DRIVEN = 'the storage refuses changes; nothing is driven';
/** Room for the lock and the process id, none for what is behind the end of the WAL. */
const ROOM_BYTES = 65_536;

t.test('a batch that ran is shown Held while the storage refuses, and is Held afterwards', async (t) => {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
  } catch {
    t.pass('prlimit is not installed: not tried here');
    return;
  }
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  const batch = (await box.api.post(`${SITE}/batches`, { batchID: 'b-1', masterRecipeRef: 'resin-a' })).body.name as string;
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  await eventually('a phase runs', async () => ((await box.api.get(`${SITE}/phases`)).body as { state: string }[]).some(({ state }) => state === 'Running'));
  t.match((await box.api.get(`${SITE}/units/rx101`)).body, { state: 'Running', allocatedTo: batch });
  await eventually('the WAL is longer than the room', async () => statSync(path.join(box.dataDir, 'state.db-wal')).size > ROOM_BYTES);
  await box.end('SIGKILL');

  await box.launch();
  execFileSync('prlimit', ['--pid', String(box.pid), `--fsize=${ROOM_BYTES}:`]);
  const refusing = await eventually('the storage refuses', async () => {
    const answer = await box.api.get('/readyz').catch(() => undefined);
    return answer?.body.status === 'storage_unavailable' ? answer : undefined;
  });
  t.match(refusing, { status: 503, body: { message: /Reason: the disk refused a commit/ } });
  for (let look = 0; look < 3; look += 1) {
    t.match((await box.api.get(`${SITE}/batches/${batch}`)).body, { phase: 'Held', blockedBecause: NOT_DRIVEN });
    t.match((await box.api.get(`${SITE}/units/rx101`)).body, { state: 'Held', blockedBecause: NOT_DRIVEN });
    t.ok(((await box.api.get(`${SITE}/batches`)).body as { phase: string }[]).every(({ phase }) => phase === 'Held'));
  }
  execFileSync('prlimit', ['--pid', String(box.pid), '--fsize=unlimited:']);
  await eventually('writes are accepted', async () => (await box.api.get('/readyz')).status === 200, 20_000);
  const held = await eventually('the batch is held', async () => {
    const { body } = await box.api.get(`${SITE}/batches/${batch}`);
    return body.phase === 'Held' && body.recovery ? body : undefined;
  });
  t.match(held, { recovery: { cause: 'ApplianceRestart', operator: { needed: true, command: 'Restart' } } });
});
