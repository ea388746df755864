/** Loop checks against a device on the wire whose field is wired well, or in one wrong way. */
import t, { type Test } from 'tap';
import { FieldDevice, FULL, type Wiring } from '../../support/field-device.js';
import { type Body, gone, LIST, LIVE, PATIENT, QUICK, served, V1 } from '../../support/loop-checked.js';
import { type Plant, startPlant } from '../../support/plant.js';

async function withDevice(t: Test, wiring: Wiring, work: (box: Plant, device: FieldDevice) => Promise<void>, more: object = {}): Promise<void> {
  const device = await FieldDevice.start(wiring);
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    await box.end();
    await device.kill();
  });
  await served(box, device.address, { ...PATIENT, ...more });
  await work(box, device);
}

t.test('IO: five fields, five sheets: a healthy loop passes, and each fault has its name and its measured values', async (t) => {
  await withDevice(t, 'healthy', async (box, device) => {
    device.holding[0] = 120;
    device.input[0] = 120;
    const healthy = await gone(box, { ...QUICK, channels: [V1, 'xv'] });
    t.match(healthy, {
      outcome: 'pass',
      end: { reason: 'complete' },
      valid: true,
      problems: [],
      channels: [
        { channel: 'v1', outcome: 'pass' },
        { channel: 'xv', outcome: 'pass' },
      ],
    });
    t.same(
      healthy.channels[0].steps.map(({ commanded, readings }: Body) => [commanded, readings[0].value]),
      [0, 250, 500, 750, 1000].map((value) => [value, value]),
      'the measured values of each step',
    );
    t.equal(device.holding[0], 120, 'the output stands where it stood');
    t.match(healthy.returned, [
      { channel: 'v1', value: 120, isReturned: true },
      { channel: 'xv', value: false, isReturned: true },
    ]);
    t.equal(device.writes.filter(({ offset, table }) => offset === 1 && table === 'holding').length, 0, 'what was not checked was not written');
    for (const [wiring, found] of Object.entries(FAULTS)) {
      device.wiring = wiring as Wiring;
      device.input.fill(0);
      device.discrete.fill(0);
      const sheet = await gone(box, { ...QUICK, channels: [V1] });
      t.match(sheet, { outcome: 'fault', end: { reason: 'complete' }, valid: true, channels: [{ channel: 'v1', ...found }] }, wiring);
      t.comment(`${wiring}: ${sheet.channels[0].outcome}: ${sheet.channels[0].message}`);
      t.equal(device.holding[0], 120, 'and the output stands where it stood');
    }
    const rows = (await box.api.get(LIST)).body;
    t.equal(rows.length, 1 + Object.keys(FAULTS).length);
    const signature = (await box.api.get(`/api/v1/signatures/${healthy.signature}`)).body;
    t.match(signature, { valid: true, meaning: 'qualification', target: { kind: 'LoopCheck', name: healthy.id }, digest: healthy.digest });
    const again = await box.api.post('/api/v1/signatures', { target: { kind: 'LoopCheck', name: healthy.id, site: 'north' }, meaning: 'Reviewed', reason: 'stood beside it' });
    t.match(again, { status: 201, body: { digest: healthy.digest } }, 'a reviewer signs the same content');
  });
});

const FAULTS = {
  'wrong-channel': { outcome: 'wrong-channel', moved: ['v2'] },
  inverted: { outcome: 'inverted', factor: -1, offset: FULL },
  scaled: { outcome: 'scaled', factor: 10 },
  stuck: { outcome: 'stuck', moved: [] },
} as const;
