/** Where the outputs of a loop check go back to, and whom its sheet names: another device, a person who has gone, fail-safe values. */
import t, { type Test } from 'tap';
import { eventually } from '../../support/api-client.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { FieldDevice, FULL } from '../../support/field-device.js';
import { type Body, begun, CHECK, connected, LIST, LIVE, module, NORTH, PATIENT, QUICK, read, served, stepped, untilSealed, V1, VALVE_LOGIC } from '../../support/loop-checked.js';
import { manifest } from '../../support/manifest.js';
import { type Plant, startPlant } from '../../support/plant.js';

const BEFORE = 120;

async function bench(t: Test, more: object = {}): Promise<{ readonly box: Plant; readonly device: FieldDevice; readonly proxy: FaultProxy }> {
  const device = await FieldDevice.start();
  device.holding[0] = BEFORE;
  const proxy = await FaultProxy.start(() => device.port);
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    await box.end();
    await proxy.stop();
    await device.kill();
  });
  await served(box, `127.0.0.1:${proxy.port}`, { ...PATIENT, ...more });
  return { box, device, proxy };
}

t.test(
  'ADR 0086: a module that is changed to another device while its outputs are on their way back: the other device is not written, and the sheet tells what was left',
  async (t) => {
    const { box, device, proxy } = await bench(t);
    const other = await FieldDevice.start();
    t.teardown(() => other.kill());
    other.holding[0] = 999;
    const { id } = await begun(box, { ...QUICK, channels: [V1] });
    await stepped(box, id, 3);
    proxy.refuse(true);
    proxy.reset();
    await eventually('it is on its way back', async () => (await read(box, id)).phase !== 'Running');
    const changed = await box.api.post('/api/v1/apply', manifest('IOModule', 'plc', module(other.address, PATIENT)));
    t.equal(changed.status, 200, changed.text);
    const sheet = await untilSealed(box, id);
    t.match(sheet, { valid: true, returned: [{ channel: 'v1', isReturned: false, message: /another device/ }] });
    t.same([other.writes.length, other.holding[0]], [0, 999]);
    t.equal(device.holding[0], FULL / 2, 'it stands as the sheet says');
  },
);

t.test('ADR 0086: a module that becomes a simulated one while its outputs are on their way back: no probe has the device, and the sheet tells what was left', async (t) => {
  const { box, device, proxy } = await bench(t);
  const { id } = await begun(box, { ...QUICK, channels: [V1] });
  await stepped(box, id, 3);
  proxy.refuse(true);
  proxy.reset();
  await eventually('it is on its way back', async () => (await read(box, id)).phase !== 'Running');
  const simulated = { protocol: 'simulation', controllerRef: 'edge', channels: [{ name: 'v1', address: 'v1', direction: 'output' }] };
  const changed = await box.api.post('/api/v1/apply', [manifest('Controller', 'edge'), manifest('IOModule', 'plc', simulated)]);
  t.equal(changed.status, 200, changed.text);
  t.match(await untilSealed(box, id), { valid: true, returned: [{ channel: 'v1', isReturned: false, message: /another device/ }] });
  t.equal(device.holding[0], FULL / 2, 'it stands as the sheet says');
});

t.test('D-AUDIT-01 ADR 0086: each write of a check has its beginning and its end on record, and so has the way back', async (t) => {
  const { box } = await bench(t);
  const { id } = await begun(box, { ...QUICK, channels: [V1] });
  await stepped(box, id, 2);
  await box.api.post(`${LIST}/${id}/abort`, {});
  const sheet = await untilSealed(box, id);
  t.match(sheet.signatures, [{ meaning: 'qualification', valid: true }]);
  const { items } = (await box.api.get('/api/v1/audit?category=iomodule-write&limit=50')).body;
  const rows = items.map(({ result, details }: Body) => [result, details.step ?? (details.isWayBack ? 'back' : '')]).sort();
  t.same(rows, [
    ['Accepted', 1],
    ['Accepted', 2],
    ['Success', 1],
    ['Success', 2],
    ['Success', 'back'],
  ]);
  t.match(await box.api.post('/api/v1/signatures', { target: { kind: 'LoopCheck', name: id, site: 'north' }, meaning: 'Witnessed', reason: 'I was there' }), {
    status: 409,
    body: { code: 'meaning_not_applicable' },
  });
  const verified = await box.api.post('/api/v1/system/integrity', {});
  t.match(verified.body, { ok: true, checked: { sheets: 1 } }, verified.text);
});

const failSafe = (timeout: string) => ({ failSafe: { timeout, outputs: [{ channel: 'v1', value: 555 }] } });

t.test('ADR 0087: a module that moves to another controller in the middle: its probe brings the outputs back before it lets go', async (t) => {
  const { box, device, proxy } = await bench(t);
  t.equal((await box.api.post('/api/v1/apply', [manifest('Controller', 'edge')])).status, 200);
  const { id } = await begun(box, { ...QUICK, channels: [V1] });
  await stepped(box, id, 3);
  t.equal(device.holding[0], FULL / 2);
  const moved = await box.api.post('/api/v1/apply', manifest('IOModule', 'plc', module(`127.0.0.1:${proxy.port}`, { ...PATIENT, controllerRef: 'edge' })));
  t.equal(moved.status, 200, moved.text);
  t.match(await untilSealed(box, id), { end: { reason: 'module-changed' }, valid: true, returned: [{ channel: 'v1', value: BEFORE, isReturned: true, message: '' }] });
  t.equal(device.holding[0], BEFORE);
  await eventually('the probe of the other controller serves it', async () => (await box.api.get(`${NORTH}/iomodules/plc/statistics`)).body.counted?.polls >= 2);
  await connected(box);
  const written = device.writes.length;
  const again = await begun(box, { ...QUICK, channels: [V1] });
  t.equal(device.writes.length, written, 'and nothing of it is left to the probe of the other controller');
  await stepped(box, again.id, 2);
  await box.api.post(`${LIST}/${again.id}/abort`, {});
  t.match(await untilSealed(box, again.id), { returned: [{ channel: 'v1', value: BEFORE, isReturned: true }] }, 'which goes through it as the first one did');
});

t.test('ADR 0086: an edit that takes away the very output that stands stepped brings it back first', async (t) => {
  const { box, device, proxy } = await bench(t);
  const { id } = await begun(box, { ...QUICK, channels: [V1, 'xv'] });
  await stepped(box, id, 3);
  t.equal(device.holding[0], FULL / 2);
  const { channels, ...others } = module(`127.0.0.1:${proxy.port}`, PATIENT);
  const edited = await box.api.put(`${NORTH}/iomodules/plc`, { ...others, channels: channels.filter(({ name }) => name !== 'v1') });
  t.equal(edited.status, 200, edited.text);
  const sheet = await untilSealed(box, id);
  t.match(sheet, { end: { reason: 'module-changed' }, outcome: 'incomplete', valid: true, channels: [{ channel: 'v1' }, { channel: 'xv', outcome: 'not-checked' }] });
  t.match(sheet.returned, [{ channel: 'v1', value: BEFORE, isReturned: true }]);
  t.equal(device.holding[0], BEFORE);
});

t.test('ADR 0086: fail-safe values that are taken in the middle go before the check, and the sheet tells where the output stands', async (t) => {
  const { box, device } = await bench(t, failSafe('5s'));
  t.equal((await box.api.post('/api/v1/apply', VALVE_LOGIC)).status, 200);
  await eventually('logic commands the output', async () => device.holding[0] === 0);
  t.equal((await box.api.post(`${NORTH}/mode`, { kind: 'ControlModule', name: 'fv', mode: 'Manual' })).status, 200);
  const { id } = await begun(box, { ...QUICK, channels: ['v1'] });
  const { end } = await stepped(box, id, 3);
  t.equal(end, null, end?.message);
  t.equal(device.holding[0], FULL / 2);
  t.equal((await box.api.delete(`${NORTH}/controlmodules/fv`)).status, 204, 'whoever commands the output goes');
  const sheet = await untilSealed(box, id);
  t.match(sheet, { end: { reason: 'fail-safe-taken' }, outcome: 'incomplete', signedBy: 'loop-check', valid: true });
  t.match(sheet.returned, [{ channel: 'v1', value: 555, source: 'fail-safe', isReturned: false, message: /fail-safe values are taken/ }]);
  await eventually('it stands there', async () => device.holding[0] === 555);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: [V1] }), { status: 409 }, 'and no check begins over it');
});

t.test('ADR 0087: what is read of a device is of that device: another one under the name has a new image, and nobody writes to it', async (t) => {
  const { box, device } = await bench(t, failSafe('1s'));
  t.equal((await box.api.post('/api/v1/apply', VALVE_LOGIC)).status, 200);
  await eventually('logic commands the output', async () => device.holding[0] === 0);
  t.equal((await box.api.delete(`${NORTH}/controlmodules/fv`)).status, 204);
  await eventually('its fail-safe value is taken', async () => device.holding[0] === 555);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: [V1] }), { status: 409 }, 'ADR 0086: and nobody takes the outputs from them');
  t.equal(device.holding[0], 555);
  const other = await FieldDevice.start();
  t.teardown(() => other.kill());
  other.input[3] = 7;
  const changed = await box.api.post('/api/v1/apply', manifest('IOModule', 'plc', module(other.address, { ...PATIENT, ...failSafe('1s') })));
  t.equal(changed.status, 200, changed.text);
  await eventually('it is connected, and has been read for longer than its time-out', async () => {
    const { body } = await box.api.get(`${NORTH}/iomodules/plc/statistics`);
    return body.counted?.polls >= 20 || undefined;
  });
  t.same(other.writes, []);
});

for (const [what, leave] of [
  ['deleted', (box: Plant) => box.api.delete(`${NORTH}/iomodules/plc`)],
  ['changed and disabled', (box: Plant) => box.api.post('/api/v1/apply', manifest('IOModule', 'plc', module('127.0.0.1:1', { enabled: false })))],
] as const) {
  t.test(`ADR 0086: a module that is ${what} while its device is silent: what the device takes with the last attempt does not stand in the sheet as not back`, async (t) => {
    const { box, device, proxy } = await bench(t, { options: { pollInterval: '100ms', timeout: '1s', retries: 0 } });
    const { id } = await begun(box, { ...QUICK, channels: [V1] });
    await stepped(box, id, 3);
    proxy.mode = 'hold';
    t.match(await leave(box), { status: /^20[04]$/ });
    await eventually('the device has the last attempt', async () => device.holding[0] === BEFORE);
    const sheet = await untilSealed(box, id);
    t.match(sheet, { end: { reason: 'module-changed' }, valid: true, returned: [{ channel: 'v1', value: BEFORE }] });
    const [{ isReturned, message }] = sheet.returned;
    t.ok(isReturned || /not known/.test(message), `isReturned ${isReturned}: ${message}`);
  });
}
