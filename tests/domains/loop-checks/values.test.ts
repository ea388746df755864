/** What a place in a device does not hold is refused where it is written down: steps of a loop check, and values of the fail-safe table. */
import t from 'tap';
import { FieldDevice } from '../../support/field-device.js';
import { CHECK, LIST, LIVE, module, NORTH, PATIENT, QUICK, served } from '../../support/loop-checked.js';
import { startPlant } from '../../support/plant.js';

const device = await FieldDevice.start();
const box = await startPlant({ production: true, environment: LIVE });
t.teardown(async () => {
  await box.end();
  await device.kill();
});
const PLC = `${NORTH}/iomodules/plc`;
const channels = [
  { name: 'wide', address: 'holding:10:float64', direction: 'output', readbackAddress: '' },
  { name: 'narrow', address: 'holding:20', direction: 'output', readbackAddress: '' },
  { name: 'single', address: 'holding:30:float32', direction: 'output', readbackAddress: '' },
];
await served(box, device.address, { ...PATIENT, channels });

t.test('ADR 0078: a range whose steps are no numbers, or no values of the output, begins no loop check', async (t) => {
  const asked = (channel: string, low: number, high: number) => box.api.post(CHECK, { ...QUICK, channels: [{ channel, low, high }] });
  for (const [low, high] of [
    [-1.7e308, 1.7e308],
    [0, 1e307],
  ] as const)
    t.match(await asked('wide', low, high), { status: 400, body: { code: 'out_of_range', field: 'channels[0].high', error: /too wide a range/ } });
  t.match(await asked('narrow', -5, 10), { status: 400, body: { field: 'channels[0]', error: /-5 is outside 0 to 65535 of uint16/ } });
  t.match(await asked('narrow', 0, 1e9), { status: 400, body: { field: 'channels[0]', error: /1000000000 is outside|250000000 is outside/ } });
  t.match(await asked('single', 0, 1e39), { status: 400, body: { error: /outside the range of float32/ } });
  t.same((await box.api.get(LIST)).body, [], 'none was begun');
  t.equal(device.writes.length, 0);
});

t.test('decisions 7.6: a fail-safe value that the place of its output does not hold is refused', async (t) => {
  const put = (channel: string, value: unknown) => box.api.put(PLC, { ...module(device.address, { channels }), failSafe: { timeout: '2s', outputs: [{ channel, value }] } });
  for (const [channel, value, error] of [
    ['narrow', -1, /fail-safe value of narrow: -1 is outside 0 to 65535 of uint16/],
    ['narrow', 70_000, /70000 is outside/],
    ['single', '1e400', /1e400/],
    ['single', 1e39, /outside the range of float32/],
  ] as const)
    t.match(await put(channel, value), { status: 400, body: { code: 'invalid_field', field: 'failSafe.outputs[0].value', error } });
  t.match(await put('narrow', 65_535), { status: 200 });
});
