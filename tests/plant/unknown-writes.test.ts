/** A device that takes a write and does not answer it: whoever gave the order is told that nobody knows, and so is the audit trail. */
import t from 'tap';
import { EthernetIpPeer } from '../support/ethernet-ip-peer.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { FieldDevice } from '../support/field-device.js';
import { manifest } from '../support/manifest.js';
import { startPlant } from '../support/plant.js';
import { NORTH } from '../support/shared-device.js';

const SERVICE_AT = 40;
const WRITE_ANSWERED = 0xcd;

const device = await FieldDevice.start();
const controller = await EthernetIpPeer.start({ many: 0 });
const wire = await FaultProxy.start(() => controller.port);
const box = await startPlant({ production: true });
t.teardown(async () => {
  await box.end();
  await Promise.all([device.kill(), wire.stop(), controller.kill()]);
});

const IO = `${NORTH}/iomodules`;
const options = { pollInterval: '50ms', timeout: '300ms', retries: 0 };

t.before(async () => {
  const made = await box.api.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('IOModule', 'meter', {
      protocol: 'modbus',
      address: device.address,
      options,
      channels: [
        { name: 'sp', address: 'holding:1', direction: 'output' },
        { name: 'pv', address: 'input:2' },
      ],
    }),
    manifest('IOModule', 'plc', {
      protocol: 'ethernetip',
      address: `127.0.0.1:${wire.port}`,
      options,
      channels: [
        { name: 'sp', address: 'OutDint#DINT', direction: 'output' },
        { name: 'pv', address: 'Dint#DINT' },
      ],
    }),
  ]);
  if (made.status !== 200) throw new Error(made.text);
});

for (const [module, mute] of [
  [
    'meter',
    (isMute: boolean) => {
      device.isSilentToWrites = isMute;
    },
  ],
  [
    'plc',
    (isMute: boolean) => {
      wire.rewrite = (reply) => (reply[SERVICE_AT] === WRITE_ANSWERED ? Buffer.alloc(0) : reply);
      wire.mode = isMute ? 'rewrite' : 'pass';
    },
  ],
] as const) {
  t.test(`TAG-27: ${module}: a write that the device takes and does not answer is OutcomeUnknown in the trail, and the answer says what to look at`, async (t) => {
    await box.look('it is served', async () => {
      const { state, message } = (await box.api.get(`${IO}/${module}`)).body;
      return { done: state === 'Connected' || undefined, seen: `${state}: ${message}` };
    });
    t.match(await box.api.post(`${IO}/${module}/write`, { channel: 'sp', value: 5 }), { status: 200, body: { ok: true } });
    mute(true);
    const answer = await box.api.post(`${IO}/${module}/write`, { channel: 'sp', value: 7 });
    t.match(answer, { status: 503, body: { code: 'device_unreachable', error: /whether the device took it is not known: read channel sp to see/ } }, answer.text);
    mute(false);
    const id = answer.headers.get('x-correlation-id');
    const [accepted, ended] = await box.look('both records', async () => {
      const { body } = await box.api.get(`/api/v1/audit?correlationID=${id}&order=asc`);
      return { done: body.items?.length >= 2 ? body.items : undefined, seen: JSON.stringify(body) };
    });
    t.match(accepted, { result: 'Accepted', category: 'iomodule-write', target: { name: module } });
    t.match(ended, { result: 'Failed', reason: 'OutcomeUnknown', details: { code: 'device_unreachable' } });
    await box.look('who reads it sees what became of it', async () => {
      const { body } = await box.api.post(`${IO}/${module}/read`, { channel: 'sp' });
      return { done: body.value === 7 || undefined, seen: JSON.stringify(body) };
    });
  });
}
