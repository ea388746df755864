/** A force of a simulated channel lasts until somebody releases it, whatever is started again meanwhile. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { manifest } from '../support/manifest.js';

const MODULE = '/api/v1/sites/north/iomodules/sim';
const SIMULATED = {
  protocol: 'simulation',
  controllerRef: 'box',
  channels: [
    { name: 't', address: 't', dataType: 'float' },
    { name: 'u', address: 'u', dataType: 'float' },
  ],
};

t.test('SIM-16 ADR 0087: a force is kept over a restart of its probe, of the box by a kill, and over a module that is switched off and on', async (t) => {
  const box = await applianceProcess({ environment: { LINESIDE_AUTH__MODE: 'none', LINESIDE_DEMO__ENABLED: 'false', LINESIDE_GATEWAY__OPERATINGMODE: 'development' } });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  const applied = await box.api.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Controller', 'box', { simulation: true }),
    manifest('IOModule', 'sim', SIMULATED),
  ]);
  t.equal(applied.status, 200, applied.text);
  const channel = async (name: string) => (await box.api.get(`${MODULE}/tags/${name}`)).body;
  await eventually('it is simulated', async () => (await channel('t')).quality === 'Good');
  const { status, text } = await box.api.post(`${MODULE}/write`, { channel: 't', value: 78 });
  t.equal(status, 200, text);
  const isForced = (value: number) =>
    eventually(`it is forced to ${value}`, async () => {
      const { value: found, quality, forced, heldBy } = await channel('t');
      return found === value && quality === 'Good' && forced && heldBy?.how === 'Force' && heldBy.by !== '' && heldBy.at !== '';
    });
  await isForced(78);
  const restart = await box.api.post('/api/v1/system/services/io/restart', { reason: 'to see whether forces stay' });
  t.equal(restart.status, 200, restart.text);
  await eventually('the probe was restarted', async () => {
    const { items } = (await box.api.get(`/api/v1/audit?correlationID=${restart.headers.get('x-correlation-id')}`)).body;
    return JSON.stringify(items).includes('"restarted":["north/box"]');
  });
  await isForced(78);
  t.equal((await box.api.post(`${MODULE}/write`, { channel: 't', value: 79 })).status, 200);
  t.equal((await box.api.post(`${MODULE}/write`, { channel: 'u', value: 42 })).status, 200);
  const put = async (channels: readonly object[]) => t.equal((await box.api.post('/api/v1/apply', manifest('IOModule', 'sim', { ...SIMULATED, channels }))).status, 200);
  await put(SIMULATED.channels.slice(0, 1));
  await eventually('the channel is gone', async () => (await box.api.get(`${MODULE}/tags/u`)).status === 404);
  await put(SIMULATED.channels);
  await box.end('SIGKILL');
  await box.start();
  await isForced(79);
  t.match(await channel('u'), { forced: false, heldBy: null, value: 0 }, 'a force ends with its channel');
  for (const enabled of [false, true]) t.equal((await box.api.post('/api/v1/apply', manifest('IOModule', 'sim', { ...SIMULATED, enabled }))).status, 200);
  await isForced(79);
  t.match(await box.api.post(`${MODULE}/release`, {}), { status: 200, body: { released: ['t'] } });
  await box.end('SIGKILL');
  await box.start();
  const free = await eventually('it is simulated again', async () => {
    const found = await channel('t');
    return found.quality === 'Good' ? found : undefined;
  });
  t.match(free, { forced: false, heldBy: null, value: 0 });
});
