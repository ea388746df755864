/** A box that is killed in the moment of an approval: the change and the request are both there after the next start, or neither. */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { applianceProcess } from '../../support/appliance-process.js';
import { eventually } from '../../support/api-client.js';
import { AT, HALL, manifestOf, PLANT, REQUESTS } from '../../support/change-requests.js';

const ENVIRONMENT = { LINESIDE_AUTH__MODE: 'none', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_DEMO__ENABLED: 'false' };
const PRELOAD = fileURLToPath(new URL('../../support/killed-at.js', import.meta.url));

t.test('decisions Q-CHANGE-02: a kill before the transaction of an approval leaves the plant and the request as they were, and it is approved after the start', async (t) => {
  const killed = await applianceProcess({ environment: { ...ENVIRONMENT, KILLED_AT: '"phase":"Applied"' }, preload: PRELOAD });
  t.teardown(() => killed.end('SIGKILL').then(() => killed.remove()));
  await killed.start();
  t.equal((await killed.api.post('/api/v1/apply', PLANT)).status, 200);
  t.equal((await killed.api.post(REQUESTS, { name: 'killed', spec: HALL })).status, 201);
  await killed.api.post(`${AT}/killed/approve`, { reason: 'checked' }).catch(() => undefined);
  await eventually('it is killed', async () => !killed.isRunning);

  const box = await applianceProcess({ environment: ENVIRONMENT, dataDir: killed.dataDir });
  t.teardown(() => box.end('SIGKILL'));
  await box.start();
  t.match((await box.api.get('/api/v1/sites/north/areas/hall')).body, { description: 'hall 1' });
  t.match((await box.api.get(`${AT}/killed`)).body, { status: { phase: 'Pending' }, targetChanged: false }, 'within one boot it is known how long nobody was there');
  t.match((await box.api.post(`${AT}/killed/approve`, { reason: 'checked' })).body, { status: { phase: 'Applied' } });
  await box.api.post(REQUESTS, { name: 'next', spec: { ...HALL, manifest: manifestOf('Area', 'hall', { description: 'hall 3' }) } });
  t.match((await box.api.post(`${AT}/next/approve`, { reason: 'checked' })).body, { status: { phase: 'Applied' } });
  await box.end('SIGKILL');
  await box.start();
  t.match((await box.api.get('/api/v1/sites/north/areas/hall')).body, { description: 'hall 3' }, 'what was answered is on disk');
  t.match((await box.api.get(`${AT}/next`)).body, { status: { phase: 'Applied' } });
  t.match((await box.api.get('/api/v1/change-control/verify')).body, { ok: true, checked: 2 });
});
