/** What an EtherNet/IP device can make the driver do is bounded: a look through its tags ends with its time, and neither parts nor idle frames come without end. */
import t, { type Test } from 'tap';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { EthernetIpLiar } from '../support/ethernet-ip-liar.js';
import { collector } from './conformance.js';
import { moduleOf } from './ethernet-ip-module.js';

const SYMBOLS = 0x55;
const READ = 0x4c;
const FRAGMENT = 0x52;
const TEMPLATE = 0x03;
const PARTIAL = 6;
const STRING = Buffer.from([0xd0, 0]);

async function liar(t: Test) {
  const device = await EthernetIpLiar.start();
  t.teardown(() => device.stop());
  const link = await ethernetIpDriver.connect(moduleOf(device.port, [], { path: 'direct' }), systemClock);
  t.teardown(() => link.close());
  return { device, link };
}

/** A row of the symbol object with name and type alone. */
function row(instance: number, name: string, type: number): Buffer {
  const bytes = Buffer.alloc(8 + name.length + 13);
  bytes.writeUInt32LE(instance, 0);
  bytes.writeUInt16LE(name.length, 4);
  bytes.write(name, 6, 'latin1');
  bytes.writeUInt16LE(type, 6 + name.length);
  return bytes;
}

t.test('Q-TIER-11: a device that lists programs without end is looked through for as long as there is time, and what was found is told', async (t) => {
  const { device, link } = await liar(t);
  let instance = 0;
  device.answers.set(SYMBOLS, () => {
    instance += 1;
    return { status: PARTIAL, data: Buffer.concat([row(instance, `Program:P${instance}`, 0x1068), row(instance, `Tag${instance}`, 0xc4)]) };
  });
  const found = await link.discover?.([], 400);
  t.match(found, { isTruncated: true });
  const asked = device.taken.get(SYMBOLS) ?? 0;
  t.ok(asked > 1);
  const after = await link.read([{ address: 'Level#DINT', dataType: 'int' }], collector(1).sink);
  t.equal(after.status, 'answered');
  t.equal(device.taken.get(SYMBOLS), asked, 'nothing of it goes on');
});

t.test('Q-TIER-11: a name that no controller has is no list of tags', async (t) => {
  const { device, link } = await liar(t);
  device.answers.set(SYMBOLS, () => ({ status: PARTIAL, data: row(1, 'N'.repeat(400), 0xc4) }));
  t.match(await link.discover?.([], 2000), { offered: [] });
  t.ok((device.taken.get(SYMBOLS) ?? 0) <= 3);
});

t.test('Q-TIER-11: a template that comes byte by byte is not read', async (t) => {
  const { device, link } = await liar(t);
  device.answers.set(SYMBOLS, () => ({ status: 0, data: row(1, 'Pump', 0x8123) }));
  const shape = Buffer.alloc(30);
  shape.writeUInt16LE(4, 0);
  for (const [at, attribute] of [
    [2, 4],
    [10, 5],
    [18, 2],
    [24, 1],
  ] as const)
    shape.writeUInt16LE(attribute, at);
  shape.writeUInt32LE(10_000, 6);
  device.answers.set(TEMPLATE, () => ({ status: 0, data: shape }));
  device.answers.set(READ, () => ({ status: PARTIAL, data: Buffer.from([1]) }));
  t.match(await link.discover?.([], 2000), { offered: [] });
  t.equal(device.taken.get(READ), 1);
});

t.test('D-IO-01: a value that comes byte by byte is Bad, and is not asked for to its end', async (t) => {
  const { device, link } = await liar(t);
  device.answers.set(READ, () => ({ status: PARTIAL, data: Buffer.concat([STRING, Buffer.from([1])]) }));
  device.answers.set(FRAGMENT, () => ({ status: PARTIAL, data: Buffer.concat([STRING, Buffer.from([1])]) }));
  const got = collector(1);
  await link.read([{ address: 'Name#STRING', dataType: 'string' }], got.sink);
  t.match(got.messages[0], /in parts of 1 bytes/);
  t.ok((device.taken.get(FRAGMENT) ?? 0) <= 2);
});

t.test('D-IO-02: a device that sends frames without a meaning and without end is let go; a few of them are nothing', async (t) => {
  const { device, link } = await liar(t);
  device.answers.set(READ, () => ({ status: 0, data: Buffer.from([0xc4, 0, 5, 0, 0, 0]) }));
  const read = async () => {
    const got = collector(1);
    await link.read([{ address: 'Level#DINT', dataType: 'int' }], got.sink);
    return got.values[0];
  };
  device.flood(3);
  t.equal(await read(), 5);
  device.flood(1000);
  t.match(await link.lost, /frames without a meaning/);
});
