/** A disk that has become slow is an alarm before it fails: what is written waits, and everybody is told (operations, alarms). */
import path from 'node:path';
import t from 'tap';
import Database from '../../src/platform/base/sqlite.js';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

function alarm(standing: boolean) {
  return plant.look(`the alarm ${standing ? 'stands' : 'falls'}`, async () => {
    const { body } = await plant.api.get(`${SITE}/alarms?type=System`);
    const found = body.find(({ name }: { name: string }) => name.startsWith('system-slow-storage'));
    const stands = found?.state.startsWith('Active') === true;
    return { done: stands === standing ? (found ?? {}) : undefined, seen: JSON.stringify(found ?? body.map(({ name }: { name: string }) => name)) };
  });
}

t.test('a commit that is under way for longer than 250 ms is an alarm, which falls when the disk is quick again', async (t) => {
  // another writer holds the file, so that a commit waits as on a disk that does not answer
  const holder = new Database(path.join(plant.dataDir, 'state.db'));
  holder.exec('BEGIN IMMEDIATE');
  const write = plant.api.put(`${SITE}/units/tk201`, { ...(await plant.api.get(`${SITE}/units/tk201`)).body, description: 'written slowly' }).catch(() => undefined);
  t.match(await alarm(true), { severity: 'High', message: /the storage is slow/ });
  holder.exec('COMMIT');
  holder.close();
  await write;
  await alarm(false);
});
