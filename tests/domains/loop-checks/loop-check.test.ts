/** Loop checks against a device on the wire whose field is wired well, or in one wrong way. */
import t, { type Test } from 'tap';
import { FieldDevice, FULL, type Wiring } from '../../support/field-device.js';
import { manifest } from '../../support/manifest.js';
import { type Plant, startPlant } from '../../support/plant.js';

const NORTH = '/api/v1/sites/north';
const CHECK = `${NORTH}/iomodules/plc/loop-check`;
const LIST = `${NORTH}/iomodules/plc/loop-checks`;
const REASON = 'loop check of the new valve';

/** An empty box whose outputs are live. */
export const LIVE = {
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_IO__OUTPUTS: 'live',
  LINESIDE_IO__RECONNECT__MIN: '50ms',
};

export const module = (address: string, more: object = {}) => ({
  protocol: 'modbus',
  address,
  options: { pollInterval: '100ms', timeout: '300ms', retries: 0 },
  channels: [
    { name: 'v1', address: 'holding:0', direction: 'output', readbackAddress: 'input:0' },
    { name: 'v2', address: 'holding:1', direction: 'output', readbackAddress: 'input:1' },
    { name: 'xv', address: 'coil:0', direction: 'output', readbackAddress: 'discrete:0' },
    { name: 'limit', address: 'discrete:5' },
  ],
  ...more,
});

async function served(box: Plant, address: string, more: object = {}): Promise<void> {
  const answer = await box.api.post('/api/v1/apply', [manifest('Site', 'north', {}, {}), manifest('IOModule', 'plc', module(address, more))]);
  if (answer.status !== 200) throw new Error(answer.text);
  await connected(box);
}

const connected = (box: Plant): Promise<unknown> =>
  box.look('the module is connected', async () => {
    const { body } = await box.api.get(`${NORTH}/iomodules/plc`);
    return { done: body.state === 'Connected' && body.outputs?.state === 'live' ? body : undefined, seen: JSON.stringify(body) };
  });

const V1 = { channel: 'v1', low: 0, high: FULL };
const QUICK = { reason: REASON, settle: '200ms', attendTimeout: '30s' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

export const read = async (box: Plant, id: string): Promise<Body> => (await box.api.get(`${LIST}/${id}`)).body;

const untilWaiting = (box: Plant, id: string, step: number): Promise<Body> =>
  box.look(`step ${step} waits`, async () => {
    const body = await read(box, id);
    return { done: body.phase !== 'Running' || (body.next?.isWaiting && body.next.step === step) ? body : undefined, seen: JSON.stringify(body.next) };
  });

export const untilSealed = (box: Plant, id: string): Promise<Body> =>
  box.look('the sheet is sealed', async () => {
    const body = await read(box, id);
    return { done: body.phase === 'Sealed' ? body : undefined, seen: `${body.phase} ${JSON.stringify(body.next)} ${JSON.stringify(body.end)}` };
  });

export async function begun(box: Plant, body: object): Promise<Body> {
  const answer = await box.api.post(CHECK, body);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

/** Confirms step after step until the sheet is sealed. */
async function gone(box: Plant, body: object): Promise<Body> {
  const { id } = await begun(box, body);
  for (let step = 1; ; step += 1) {
    const seen = await untilWaiting(box, id, step);
    if (seen.phase !== 'Running') break;
    const answer = await box.api.post(`${LIST}/${id}/confirm`, { step });
    if (answer.status !== 200) break;
    if (step === seen.channels.reduce((sum: number, { dataType }: Body) => sum + (dataType === 'bool' ? 3 : 5), 0)) break;
  }
  return untilSealed(box, id);
}

async function withDevice(t: Test, wiring: Wiring, work: (box: Plant, device: FieldDevice) => Promise<void>, more: object = {}): Promise<void> {
  const device = await FieldDevice.start(wiring);
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    await box.end();
    await device.stop();
  });
  await served(box, device.address, more);
  await work(box, device);
}

t.test('ROUTE-04 IO: five fields, five sheets: a healthy loop passes, and each fault has its name and its measured values', async (t) => {
  await withDevice(t, 'healthy', async (box, device) => {
    device.holding[0] = 120;
    device.input[0] = 120;
    const healthy = await gone(box, { ...QUICK, channels: [V1, 'xv'] });
    t.match(healthy, { outcome: 'pass', end: { reason: 'complete' }, valid: true, problems: [], channels: [{ channel: 'v1', outcome: 'pass' }, { channel: 'xv', outcome: 'pass' }] });
    t.same(
      healthy.channels[0].steps.map(({ commanded, readings }: Body) => [commanded, readings[0].value]),
      [0, 250, 500, 750, 1000].map((value) => [value, value]),
      'the measured values of each step',
    );
    t.equal(device.holding[0], 120, 'the output stands where it stood');
    t.match(healthy.returned, [{ channel: 'v1', value: 120, isReturned: true }, { channel: 'xv', value: false, isReturned: true }]);
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
    const again = await box.api.post('/api/v1/signatures', { target: { kind: 'LoopCheck', name: healthy.id, site: 'north' }, meaning: 'Witnessed', reason: 'stood beside it' });
    t.match(again, { status: 201, body: { digest: healthy.digest } }, 'a witness signs the same content');
  });
});

const FAULTS = {
  'wrong-channel': { outcome: 'wrong-channel', moved: ['v2'] },
  inverted: { outcome: 'inverted', factor: -1, offset: FULL },
  scaled: { outcome: 'scaled', factor: 10 },
  stuck: { outcome: 'stuck', moved: [] },
} as const;
