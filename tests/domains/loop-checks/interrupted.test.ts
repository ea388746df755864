/** Whatever ends a loop check, its outputs stand as before: nobody at it, a pulled cable, a kill, work on the unit, another check. */
import t, { type Test } from 'tap';
import { eventually } from '../../support/api-client.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { FieldDevice, FULL } from '../../support/field-device.js';
import {
  type Body,
  begun,
  CHECK,
  connected,
  killableBox,
  LIST,
  LIVE,
  module,
  NORTH,
  QUICK,
  read,
  served,
  stepped,
  untilSealed,
  V1,
  VALVE_LOGIC,
} from '../../support/loop-checked.js';
import { manifest } from '../../support/manifest.js';
import { type Plant, startPlant } from '../../support/plant.js';

const BEFORE = 120;
/** Of a phase that runs until it is stopped. */
const ENDLESS = { steps: [{ name: 'on', initial: true }, { name: 'never' }], transitions: [{ from: 'on', to: 'never', conditionST: 'FALSE' }] };

interface Bench {
  readonly box: Plant;
  readonly device: FieldDevice;
  readonly proxy: FaultProxy;
}

async function bench(t: Test, more: object = {}): Promise<Bench> {
  const device = await FieldDevice.start();
  device.holding[0] = BEFORE;
  const proxy = await FaultProxy.start(() => device.port);
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    await box.end();
    await proxy.stop();
    await device.kill();
  });
  await served(box, `127.0.0.1:${proxy.port}`, more);
  return { box, device, proxy };
}

/** A check that stands in its third step, at half of the range. */
async function halfWay(box: { readonly api: Plant['api'] }, device: FieldDevice, more: object = {}): Promise<string> {
  const { id } = await begun(box, { ...QUICK, channels: [V1], ...more });
  await stepped(box, id, 3);
  if (device.holding[0] !== FULL / 2) throw new Error(`the output stands at ${device.holding[0]}`);
  return id;
}

const isBack = (device: FieldDevice): Promise<unknown> => eventually('the output stands as before', async () => device.holding[0] === BEFORE);

t.test('IO: a person who goes away ends the check; nothing goes on by itself, and the sheet is not signed in his name', async (t) => {
  const { box, device } = await bench(t);
  const id = await halfWay(box, device, { attendTimeout: '1s' });
  const sheet = await untilSealed(box, id);
  t.match(sheet, { end: { reason: 'unattended', by: 'loop-check' }, outcome: 'incomplete', signedBy: 'loop-check', valid: true, channels: [{ outcome: 'not-checked' }] });
  t.match(sheet.returned, [{ channel: 'v1', value: BEFORE, isReturned: true }]);
  t.equal(device.holding[0], BEFORE);
  t.equal(sheet.stepsDone, 3, 'no step was taken that nobody confirmed');
  t.match(await box.api.post(`${LIST}/${id}/confirm`, { step: 4 }), { status: 409, body: { code: 'loop_check_ended' } });
  t.match(await box.api.post(`${LIST}/${id}/abort`, {}), { status: 409, body: { code: 'loop_check_ended' } });
});

t.test('IO: a check that is held goes on while a person gives a sign, and no longer', async (t) => {
  const { box, device } = await bench(t);
  const { id } = await begun(box, { ...QUICK, channels: [V1], attend: 'hold', attendTimeout: '2s' });
  t.match(await untilSealed(box, id), { outcome: 'pass', end: { reason: 'complete' }, channels: [{ outcome: 'pass' }] });
  t.equal(device.holding[0], BEFORE);
  const slow = await begun(box, { ...QUICK, channels: [V1, { ...V1, channel: 'v2' }], attend: 'hold', attendTimeout: '1s', settle: '1s' });
  device.wiring = 'stuck'; // each step takes three times settle
  t.match(await untilSealed(box, slow.id), { outcome: 'incomplete', end: { reason: 'unattended' } });
  t.equal(device.holding[0], BEFORE);
});

t.test('IO: abort ends it at once, by anybody who operates; a step is confirmed once', async (t) => {
  const { box, device } = await bench(t);
  const id = await halfWay(box, device);
  t.match(await box.api.post(`${LIST}/${id}/confirm`, { step: 3 }), { status: 409, body: { code: 'loop_check_step', waiting: 4 } }, 'a step that was taken');
  t.match(await box.api.post(`${LIST}/${id}/confirm`, {}), { status: 409, body: { code: 'loop_check_step' } });
  t.match(await box.api.post(CHECK, { ...QUICK, channels: [V1] }), { status: 409, body: { code: 'loop_check_active', loopCheck: id } }, 'one at a time');
  t.match(await box.api.post(`${NORTH}/iomodules/plc/write`, { channel: 'v1', value: 7 }), { status: 409, body: { code: 'outputs_withheld' } }, 'nobody writes over it');
  t.match((await box.api.get(`${NORTH}/iomodules/plc`)).body.outputs, { state: 'withheld', reason: `the outputs are held by loop check ${id}` });
  t.equal((await box.api.post(`${LIST}/${id}/abort`, { reason: 'the valve hisses' })).status, 200);
  t.match(await untilSealed(box, id), { end: { reason: 'aborted', message: 'the valve hisses' }, outcome: 'incomplete', valid: true });
  t.equal(device.holding[0], BEFORE);
  await connected(box);
  const two = await Promise.all([box.api.post(CHECK, { ...QUICK, channels: [V1] }), box.api.post(CHECK, { ...QUICK, channels: [V1] })]);
  t.same(two.map(({ status }) => status).sort(), [200, 409], 'of two that are begun at once one is');
  const one = two.find(({ status }) => status === 200)?.body.id;
  await box.api.post(`${LIST}/${one}/abort`, {});
  await untilSealed(box, one);
});

t.test('IO D-IO-03: a cable that is pulled ends the check, and the outputs go back when it is plugged in again', async (t) => {
  const { box, device, proxy } = await bench(t);
  const id = await halfWay(box, device);
  proxy.refuse(true);
  proxy.reset();
  await eventually('it is on its way back', async () => (await read(box, id)).phase === 'Returning');
  t.match(await read(box, id), { end: { reason: 'device-lost' }, digest: '', signature: '' }, 'a sheet is not sealed while that is open');
  t.equal(device.holding[0], FULL / 2, 'nobody can reach it');
  t.match(await box.api.post(CHECK, { ...QUICK, channels: [V1] }), { status: 409, body: { code: 'loop_check_active' } }, 'and nobody begins another one');
  proxy.refuse(false);
  const sheet = await untilSealed(box, id);
  t.match(sheet.returned, [{ channel: 'v1', value: BEFORE, isReturned: true }]);
  t.equal(device.holding[0], BEFORE);
});

t.test('IO: a module that is disabled or changed meanwhile ends the check, with its outputs back', async (t) => {
  const { box, device, proxy } = await bench(t);
  const id = await halfWay(box, device);
  const changed = await box.api.post('/api/v1/apply', manifest('IOModule', 'plc', module(`127.0.0.1:${proxy.port}`, { enabled: false })));
  t.equal(changed.status, 200, changed.text);
  t.match(await untilSealed(box, id), { end: { reason: 'module-changed' }, returned: [{ channel: 'v1', isReturned: true }] });
  await isBack(device);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: [V1] }), { status: 409, body: { code: 'outputs_withheld' } }, 'nor is one begun');
});

const LOGIC = [...VALVE_LOGIC, manifest('PhaseTemplate', 'endless', ENDLESS)];

t.test('IO TAG-27: no check while a module is in Automatic or its unit works; behind one logic writes what it commands by then', async (t) => {
  const { box, device } = await bench(t);
  const answer = await box.api.post('/api/v1/apply', LOGIC);
  t.equal(answer.status, 200, answer.text);
  const mode = (word: string) => box.api.post(`${NORTH}/mode`, { kind: 'ControlModule', name: 'fv', mode: word });
  await eventually('logic commands the output', async () => device.holding[0] === 0);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: ['v1'] }), { status: 403, body: { code: 'automatic_mode', controlModule: 'fv' } });
  t.equal((await mode('Manual')).status, 200);
  t.equal((await box.api.post(`${NORTH}/units/tank/runtime/write`, { writes: [{ address: 'fv.out', value: 30 }] })).status, 200);
  await eventually('the set-point is out', async () => device.holding[0] === 300);

  const id = (await begun(box, { ...QUICK, channels: ['v1'] })).id as string;
  await stepped(box, id, 3);
  t.equal(device.holding[0], 500, 'logic commands 300 all the while, and the check stands at 500');
  t.same((await read(box, id)).before[0], { channel: 'v1', value: 300, source: 'read' });
  const launch = () => box.api.post(`${NORTH}/units/tank/execute-phase`, { phaseTemplateRef: 'endless' });
  t.match(await launch(), { status: 409, body: { code: 'under_loop_check', loopCheck: id } }, 'work waits until whoever is at the loop has ended it');
  await box.api.post(`${LIST}/${id}/abort`, {});
  t.match(await untilSealed(box, id), { end: { reason: 'aborted' }, returned: [{ channel: 'v1', isReturned: true }] });
  await eventually('logic has its output again', async () => device.holding[0] === 300);
  t.equal((await launch()).status, 201);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: ['v1'] }), { status: 409, body: { code: 'active_batch', unit: 'tank' } });
});

t.test('IO SIM: a kill of the gateway in the middle leaves nothing stepped: the next start brings the outputs back before it seals the sheet', async (t) => {
  const { box, device } = await killableBox(t);
  device.holding[0] = BEFORE;
  const id = await halfWay(box, device);
  await box.end('SIGKILL');
  t.equal(device.holding[0], FULL / 2, 'a killed process writes nothing');
  await box.start();
  const sheet: Body = await untilSealed(box, id);
  t.match(sheet, { end: { reason: 'restart' }, outcome: 'incomplete', signedBy: 'loop-check', valid: true, returned: [{ channel: 'v1', value: BEFORE, isReturned: true }] });
  t.equal(device.holding[0], BEFORE);
  await connected(box);
  const stopped = await halfWay(box, device);
  await box.end('SIGTERM');
  t.equal(device.holding[0], BEFORE, 'one that is stopped brings them back before it ends');
  await box.start();
  t.match(await untilSealed(box, stopped), { end: { reason: 'shutdown' }, returned: [{ isReturned: true }] });
});
