/** The EtherNet/IP driver against a device in a process of its own over loopback: types, tags, messages, routes. */
import { Controller, Structure, Tag } from 'st-ethernet-ip';
import t, { type Test } from 'tap';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import type { Link, Point } from '../../runtime/io/driver.js';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import type { Value } from '../../runtime/vocabulary/data-types.js';
import { at } from '../support/at.js';
import { EthernetIpPeer, type PeerOptions } from '../support/ethernet-ip-peer.js';
import { collector, conformance } from './conformance.js';
import { DEAD_PORT, moduleOf, untilTrue } from './ethernet-ip-module.js';

/** One that is written to, and one that stays as it is. */
const [peer, fresh] = await Promise.all([EthernetIpPeer.start(), EthernetIpPeer.start()]);
t.teardown(() => Promise.all([peer.kill(), fresh.kill()]));

const ofPeer = (port: number, options: ProbeModule['options'] = {}): ProbeModule => moduleOf(port, [], options);

conformance(t, () => ({
  driver: ethernetIpDriver,
  module: ofPeer(peer.port),
  unreachable: ofPeer(DEAD_PORT),
  notAnAddress: 'host:0',
  notAChannel: 'Tag#COMPLEX',
  writable: [
    { point: { address: 'OutBool#BOOL', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'OutSint#SINT', dataType: 'int' }, values: [-128, 5] },
    { point: { address: 'OutInt#INT', dataType: 'int' }, values: [-32768, 5] },
    { point: { address: 'OutDint#DINT', dataType: 'int' }, values: [-2_000_000_000, 17] },
    { point: { address: 'OutLint#LINT', dataType: 'int' }, values: [-9_007_199_254_740_991, 3] },
    { point: { address: 'OutUsint#USINT', dataType: 'int' }, values: [255, 1] },
    { point: { address: 'OutUint#UINT', dataType: 'int' }, values: [65535, 1] },
    { point: { address: 'OutUdint#UDINT', dataType: 'int' }, values: [4_294_967_295, 0] },
    { point: { address: 'OutUlint#ULINT', dataType: 'int' }, values: [9_007_199_254_740_991, 3] },
    { point: { address: 'OutReal#REAL', dataType: 'float' }, values: [1.5, -0.25] },
    { point: { address: 'OutLreal#LREAL', dataType: 'float' }, values: [0.1, -1e200] },
    { point: { address: 'OutText#STRING', dataType: 'string' }, values: ['Batch-12', 'x'] },
    { point: { address: 'OutText21#STRING', dataType: 'string' }, values: ['021 characters are it', ''] },
    { point: { address: 'OutText1000#STRING', dataType: 'string' }, values: ['y'.repeat(1000), 'z'] },
    { point: { address: 'OutFlags[33]', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'OutFlags[64]#BOOL', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'List[3].31#DINT', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Grid[1,2,3].7', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[1].Open', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[1].Set[2]#REAL', dataType: 'float' }, values: [7.5, -1] },
    { point: { address: 'Program:Main.Tank[0].Word.15', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[0].Label', dataType: 'string' }, values: ['left', 'right'] },
    { point: { address: 'Program:Main.Step', dataType: 'int' }, values: [10, 20] },
  ],
  readable: [
    { address: 'Bool#BOOL', dataType: 'bool' },
    { address: 'Dint', dataType: 'int' },
    { address: 'Real#REAL', dataType: 'float' },
    { address: 'Text', dataType: 'string' },
    { address: 'Text1000', dataType: 'string' },
    { address: 'Flags[35]', dataType: 'bool' },
    { address: 'Program:Main.Tank[2].Level#REAL', dataType: 'float' },
  ],
  learned: 'Program:Main.Step',
  missing: { address: 'Nothing', dataType: 'int' },
}));

const READ: readonly (readonly [address: string, dataType: Point['dataType'], value: number | bigint | string])[] = [
  ['Bool', 'bool', 1],
  ['Bool#BOOL', 'bool', 1],
  ['Sint#SINT', 'int', -128],
  ['Int#INT', 'int', -12345],
  ['Dint#DINT', 'int', -123456789],
  ['Lint#LINT', 'int', -1234567890123456789n],
  ['Usint#USINT', 'int', 250],
  ['Uint#UINT', 'int', 65000],
  ['Udint#UDINT', 'int', 4000000000],
  ['Ulint#ULINT', 'int', 18000000000000000000n],
  ['Real#REAL', 'float', 3.25],
  ['Lreal#LREAL', 'float', -0.1],
  ['Text#STRING', 'string', 'Reactor'],
  ['Text21#STRING', 'string', 'Batch 7'],
  ['Text1000#STRING', 'string', 'x'.repeat(990)],
  ['Lint', 'int', -1234567890123456789n],
  ['Real', 'float', 3.25],
  ['Dint', 'float', -123456789],
  ['Bool', 'int', 1],
  ['List[9]', 'int', 109],
  ['Grid[1,2,3]#INT', 'int', 23],
  ['Grid[0,1,2]', 'int', 6],
  ['Flags[35]', 'bool', 1],
  ['Flags[36]#BOOL', 'bool', 0],
  ['Flags[63]#BOOL', 'bool', 1],
  ['Uint.3', 'bool', 1],
  ['Uint.0#UINT', 'bool', 0],
  ['Int.15', 'bool', 1],
  ['Ulint.63', 'bool', 1],
  ['Program:Main.Step', 'int', 30],
  ['Program:Main.Tank[2].Level', 'float', 2.5],
  ['Program:Main.Tank[2].Open', 'bool', 0],
  ['Program:Main.Tank[2].Closed#BOOL', 'bool', 1],
  ['Program:Main.Tank[2].Set[3]#REAL', 'float', 23],
  ['Program:Main.Tank[2].Label', 'string', 'Tank 2'],
  ['Program:Main.Tank[2].Word.0#INT', 'bool', 0],
];

for (const connected of [false, true])
  t.test(`decisions 7.4: every type, bit, element, member and text is read${connected ? ' over a connection' : ''}`, async (t) => {
    const link = await ethernetIpDriver.connect(ofPeer(fresh.port, { connected }), systemClock);
    t.teardown(() => link.close());
    const got = collector(READ.length);
    t.same(
      await link.read(
        READ.map(([address, dataType]) => ({ address, dataType })),
        got.sink,
      ),
      { status: 'answered' },
    );
    for (const [place, [address, , value]] of READ.entries()) t.equal(got.values[place], value, `${address} ${got.messages[place]}`);
  });

const readOne = async (link: Link, address: string, dataType: Point['dataType']): Promise<string> => {
  const got = collector(1);
  await link.read([{ address, dataType }], got.sink);
  return at(got.messages, 0);
};

const linkTo = async (t: Test, module: ProbeModule): Promise<Link> => {
  const link = await ethernetIpDriver.connect(module, systemClock);
  t.teardown(() => link.close());
  return link;
};

const startPeer = async (t: Test, options: PeerOptions): Promise<EthernetIpPeer> => {
  const other = await EthernetIpPeer.start(options);
  t.teardown(() => other.kill());
  return other;
};

t.test('decisions 7.4: a type that contradicts the channel is bad, with a message that names both', async (t) => {
  const link = await linkTo(t, ofPeer(fresh.port));
  const contradictions: readonly (readonly [address: string, dataType: Point['dataType'], message: string])[] = [
    ['Dint#REAL', 'float', 'the channel says REAL, the device has DINT'],
    ['Real#DINT', 'int', 'the channel says DINT, the device has REAL'],
    ['Real', 'int', 'the channel is int, the device has REAL'],
    ['Dint', 'bool', 'the channel is bool, the device has DINT'],
    ['Dint', 'string', 'the channel is string, the device has DINT'],
    ['Text', 'float', 'the channel is float, the device has STRING'],
    ['Text#DINT', 'int', 'the channel says DINT, the device has a structure'],
    ['Program:Main.Tank[0]', 'string', 'the channel is string, the device has a structure that is no text: name a member of it'],
    ['Real.3', 'bool', 'the channel is bit 3 of a whole number, the device has REAL'],
    ['Int.20', 'bool', 'the channel is bit 20, the device has INT with the bits 0 to 15'],
    ['NotANumber', 'float', 'the device delivers a number that is not finite'],
    ['List[10]', 'int', 'the element is behind the end of the tag (CIP status 0xff, 0x2105)'],
    ['Grid[1,2]', 'int', 'the path leads nowhere (CIP status 0x05)'],
    ['Nothing', 'int', 'there is no such tag or member (CIP status 0x04)'],
    ['Program:Other.Step', 'int', 'there is no such tag or member (CIP status 0x04)'],
  ];
  for (const [address, dataType, message] of contradictions) t.equal(await readOne(link, address, dataType), message, address);
});

t.test('decisions 7.4: writes that do not fit change nothing, and say what fits', async (t) => {
  const link = await linkTo(t, ofPeer(fresh.port));
  const write = (address: string, dataType: Point['dataType'], value: Value): ReturnType<Link['write']> => link.write({ address, dataType }, value);
  t.same(await write('OutSint#SINT', 'int', 128), { ok: false, reason: 'invalid', message: '128 is outside -128 to 127 of SINT' });
  t.match(await write('OutUlint', 'int', '18446744073709551616'), { ok: false, reason: 'invalid' });
  t.same(await write('OutUlint', 'int', '18446744073709551615'), { ok: true }, '64 bit without loss of digits');
  t.match(await write('OutDint', 'float', 1.5), { ok: false, reason: 'invalid' }, 'nobody rounds');
  t.match(await write('OutReal', 'float', 1e39), { ok: false, reason: 'invalid' });
  t.same(await write('OutText', 'string', 'x'.repeat(83)), { ok: false, reason: 'invalid', message: 'the text has 83 characters, 82 fit' });
  t.same(await write('OutText21', 'string', 'x'.repeat(22)), { ok: false, reason: 'invalid', message: 'the text has 22 characters, 21 fit' });
  t.match(await write('OutText', 'string', '€'), { ok: false, reason: 'invalid' });
  t.match(await write('OutBool', 'bool', 'maybe'), { ok: false, reason: 'invalid' });
  t.same(await write('Locked', 'int', 6), { ok: false, reason: 'refused', message: 'permission denied (CIP status 0x0f)' });
  t.match(await write('Dint#REAL', 'float', 6), { ok: false, reason: 'refused', message: /another type/ });
  t.match(await write('Nothing', 'int', 6), { ok: false, reason: 'refused', message: /no such tag/ });
  const got = collector(4);
  await link.read(
    ['OutSint', 'OutUlint', 'OutDint', 'Locked'].map((address) => ({ address, dataType: 'int' as const })),
    got.sink,
  );
  t.same(got.values, [0, 18446744073709551615n, 0, 5]);
});

t.test('a bit is changed within the device, and by hand where the device cannot; its neighbours stay', async (t) => {
  for (const hasReadModifyWrite of [true, false]) {
    const other = await startPeer(t, { hasReadModifyWrite });
    const link = await linkTo(t, ofPeer(other.port));
    await other.put(['OutDint'], '0000f0ff');
    t.same(await link.write({ address: 'OutDint.1', dataType: 'bool' }, true), { ok: true });
    t.same(await link.write({ address: 'OutDint.31', dataType: 'bool' }, false), { ok: true });
    await other.put(['OutFlags', 1], '00000080');
    t.same(await link.write({ address: 'OutFlags[34]', dataType: 'bool' }, true), { ok: true });
    const got = collector(3);
    const points = [
      { address: 'OutDint', dataType: 'int' as const },
      { address: 'OutFlags[63]', dataType: 'bool' as const },
      { address: 'OutFlags[34]', dataType: 'bool' as const },
    ];
    await link.read(points, got.sink);
    t.same(got.values, [0x7ff00002, 1, 1], hasReadModifyWrite ? 'service 0x4E' : 'read, change, write');
    t.equal((await other.counts()).services.get(0x4e) !== undefined, true);
  }
});

const many = (count: number): Point[] => Array.from({ length: count }, (_, place) => ({ address: `Many_${String(place).padStart(4, '0')}#DINT`, dataType: 'int' }));

t.test('many tags go in few messages, each within maxPacket, and one bad tag among them costs nobody anything', async (t) => {
  for (const [maxPacket, messagesMax] of [
    [504, 40],
    [250, 85],
    [100, 255],
  ] as const) {
    const other = await startPeer(t, { replyMax: maxPacket });
    const link = await linkTo(t, ofPeer(other.port, { maxPacket }));
    const points = many(1000).toSpliced(500, 0, { address: 'Nothing', dataType: 'int' });
    const before = (await other.counts()).messages;
    const got = collector(points.length);
    t.same(await link.read(points, got.sink), { status: 'answered' });
    const messages = (await other.counts()).messages - before;
    t.ok(messages <= messagesMax, `${messages} messages of at most ${maxPacket} bytes`);
    t.equal(got.messages[500], 'there is no such tag or member (CIP status 0x04)');
    t.same(
      got.values.toSpliced(500, 1),
      Array.from({ length: 1000 }, (_, place) => place),
    );
    t.ok(got.deliveries.every((count) => count === 1));
  }
});

t.test('a device that takes one service in a message, or has little room for answers, is read all the same', async (t) => {
  for (const [options, connection] of [
    [{ hasMultiple: false }, {}],
    [{ replyMax: 60 }, {}],
    [{ replyMax: 60 }, { connected: true, maxPacket: 100 }],
  ] as const) {
    const other = await startPeer(t, options);
    const link = await linkTo(t, ofPeer(other.port, connection));
    for (let round = 0; round < 2; round += 1) {
      const got = collector(READ.length);
      t.same(
        await link.read(
          READ.map(([address, dataType]) => ({ address, dataType })),
          got.sink,
        ),
        { status: 'answered' },
      );
      t.same(
        got.values,
        READ.map(([, , value]) => value),
      );
      t.ok(got.deliveries.every((count) => count === 1));
    }
    const long = { address: 'OutText1000', dataType: 'string' as const };
    t.same(await link.write(long, 'long '.repeat(200)), { ok: true });
    const got = collector(1);
    await link.read([long], got.sink);
    t.equal(got.values[0], 'long '.repeat(200), 'in fragments there and back');
  }
});

t.test('decisions 7.3: slot and path lead to the controller; a way that is none is refused with a sentence', async (t) => {
  const behind = await startPeer(t, { slot: 3 });
  t.equal(await readOne(await linkTo(t, ofPeer(behind.port, { slot: 3 })), 'Dint', 'int'), '');
  t.equal(await readOne(await linkTo(t, ofPeer(behind.port, { path: '1,3' })), 'Dint', 'int'), '', 'path overrides slot');
  t.equal(await readOne(await linkTo(t, ofPeer(behind.port, { path: '1,3', connected: true })), 'Dint', 'int'), '');
  await t.rejects(ethernetIpDriver.connect(ofPeer(behind.port, { slot: 0 }), systemClock), {
    message: 'there is no way to slot 0: the route leads to an address that is not there (CIP status 0x01, 0x0312)',
  });
  await t.rejects(ethernetIpDriver.connect(ofPeer(behind.port, { path: '2,192.168.1.5,1,0' }), systemClock), {
    message: /path 2,192.168.1.5,1,0: the route has a port that is not there/,
  });
  await t.rejects(ethernetIpDriver.connect(ofPeer(behind.port, { slot: 1, connected: true }), systemClock), {
    message: /refuses a connection of 4002 bytes to slot 1: .*connected: false/,
  });
  t.match(await readOne(await linkTo(t, ofPeer(behind.port, { path: 'direct' })), 'Dint', 'int'), /no such tag/, 'the module in front has no tags');
  const alone = await startPeer(t, { slot: -1 });
  t.equal(await readOne(await linkTo(t, ofPeer(alone.port, { path: 'direct' })), 'Dint', 'int'), '', 'a controller without slots');
  await t.rejects(ethernetIpDriver.connect(ofPeer(alone.port), systemClock), { message: /no way to slot 0: the device does not know the service/ });
});

t.test('decisions 7.3: a connection is opened, used and closed; large messages open a large one', async (t) => {
  const other = await startPeer(t, { connectionsMax: 1, replyMax: 4000 });
  const link = await ethernetIpDriver.connect(ofPeer(other.port, { connected: true, maxPacket: 4002 }), systemClock);
  const got = collector(1000);
  const before = (await other.counts()).messages;
  await link.read(many(1000), got.sink);
  t.equal(got.values[999], 999);
  t.ok((await other.counts()).messages - before <= 5, '1000 tags in messages of 4002 bytes');
  t.equal((await other.counts()).connections, 1);
  await t.rejects(ethernetIpDriver.connect(ofPeer(other.port, { connected: true }), systemClock), { message: /no connection left .*connected: false/ });
  await link.close();
  await untilTrue('closed', async () => (await other.counts()).connections === 0);
  await untilTrue('no session left', async () => (await other.counts()).sessionsOpen === 0);
});

t.test('IO-21: discovery names the device, judges the channels, and offers what one could configure', async (t) => {
  for (const options of [{ many: 100 }, { replyMax: 150, many: 30 }]) {
    const other = await startPeer(t, options);
    const link = await linkTo(t, ofPeer(other.port));
    const channel = (name: string, address: string, dataType: Point['dataType'], readbackAddress = ''): ProbeChannel => ({
      name,
      address,
      dataType,
      readbackAddress,
      direction: readbackAddress === '' ? 'input' : 'output',
      pollIntervalMs: 0,
    });
    const channels = [
      channel('a', 'Dint', 'int'),
      channel('b', 'Nothing', 'int'),
      channel('c', 'Real#DINT', 'int'),
      channel('d', 'OutDint', 'int', 'OutReal'),
      channel('e', 'Locked', 'float'),
      channel('f', 'Text21', 'string'),
      channel('g', 'Flags[35]', 'bool', 'Nowhere'),
    ];
    const discovery = await link.discover?.(channels, 10_000);
    if (!discovery) throw new Error('the driver discovers');
    t.same(discovery.device, { vendor: 'Rockwell Automation', product: '1756-L83E of a test', revision: '33.011', serial: 'C0FFEE12' });
    t.match(discovery.channels, [
      { channel: 'a', isFound: true, dataType: 'int', isWritable: true, message: '' },
      { channel: 'b', isFound: false, message: /no such tag/ },
      { channel: 'c', isFound: false, dataType: 'float', message: 'the channel says DINT, the device has REAL' },
      { channel: 'd', isFound: true, dataType: 'int', isReadbackFound: false },
      { channel: 'e', isFound: true, dataType: 'int', isWritable: false },
      { channel: 'f', isFound: true, dataType: 'string' },
      { channel: 'g', isFound: true, dataType: 'bool', isReadbackFound: false },
    ]);
    const offered = new Map(discovery.offered.map((row) => [row.address, row]));
    for (const [address, wanted] of [
      ['Lreal#LREAL', { dataType: 'float', isWritable: true, description: 'LREAL' }],
      ['Lint#LINT', { dataType: 'int' }],
      ['Text#STRING', { dataType: 'string', description: 'STRING' }],
      ['List[9]#DINT', { dataType: 'int', description: 'DINT of an array [10]' }],
      ['Grid[0,2,3]#INT', { dataType: 'int' }],
      ['Flags[15]#BOOL', { dataType: 'bool', description: 'BOOL of an array [64]' }],
      ['Program:Main.Step#DINT', { dataType: 'int' }],
      ['Program:Main.Tank[2].Level#REAL', { dataType: 'float', description: 'REAL in TankData' }],
      ['Program:Main.Tank[2].Open#BOOL', { dataType: 'bool' }],
      ['Program:Main.Tank[0].Set[3]#REAL', { dataType: 'float' }],
      ['Program:Main.Tank[1].Label#STRING', { dataType: 'string' }],
      ['Many_0007#DINT', { dataType: 'int' }],
    ] as const)
      t.match(offered.get(address) ?? {}, wanted, address);
    t.notOk(offered.has('Dint#DINT'), 'what is configured is not offered');
    t.notOk(
      [...offered.keys()].some((address) => address.includes('ZZZZ')),
      'nothing hidden',
    );
    const points = discovery.offered.map(({ address, dataType = 'int' }) => ({ address, dataType }));
    const got = collector(points.length);
    await link.read(points, got.sink);
    t.same(
      got.messages.filter((message) => message !== '' && !message.includes('not finite')),
      [],
      'whatever is offered can be read',
    );
    t.equal(discovery.isTruncated, true, 'arrays longer than 16 elements are not told whole');
  }
  const dumb = await startPeer(t, { hasSymbolAccess: false });
  const discovery = await (await linkTo(t, ofPeer(dumb.port))).discover?.([], 10_000);
  t.match(discovery, { channels: [], offered: [], isTruncated: false, device: { vendor: 'Rockwell Automation' } });
});

t.test('the last exchange can be seen in bytes', async (t) => {
  const link = await linkTo(t, ofPeer(fresh.port));
  await readOne(link, 'Dint', 'int');
  const exchange = link.lastExchange?.();
  t.match(exchange?.sent, /^6f 00 .* 4c 03 91 04 44 69 6e 74 01 00 01 00 01 00$/);
  t.match(exchange?.received, /^6f 00 .* cc 00 00 00 c4 00 eb 32 a4 f8$/);
  t.ok(exchange && exchange.roundTripMs >= 0 && exchange.atMs > 0);
});

t.test('the device of these tests is one for the client of st-ethernet-ip too, whose session and parsers the driver does not use', async (t) => {
  const config = (await import('st-ethernet-ip/dist/config.js')) as unknown as { default: { EIP_PORT: number } };
  const before = config.default.EIP_PORT;
  config.default.EIP_PORT = fresh.port;
  t.teardown(() => (config.default.EIP_PORT = before));
  // its time-outs go on for 40 s when what they were for has come, and would keep the process
  const { setTimeout: timer } = globalThis;
  globalThis.setTimeout = Object.assign((...given: Parameters<typeof timer>) => timer(...given).unref(), timer);
  t.teardown(() => (globalThis.setTimeout = timer));
  for (const isConnected of [false, true]) {
    const controller = new Controller(isConnected);
    await controller.connect('127.0.0.1', 0);
    t.match(controller.properties, { name: '1756-L83E of a test', version: '33.11' });
    const names = controller.tagList.map(({ name, program }) => (program ? `${program}.${name}` : name));
    for (const name of ['Dint', 'Flags', 'Main.Tank', 'Many_0999']) t.ok(names.includes(name), name);
    for (const [name, program, value] of [
      ['Dint', null, -123456789],
      ['Real', null, 3.25],
      ['Step', 'Main', 30],
      ['List[9]', null, 109],
    ] as const) {
      const tag = program === null ? new Tag(name) : new Tag(name, program);
      await controller.readTag(tag);
      t.equal(tag.value, value, name);
    }
    const structure = new Structure('Tank[2]', controller.state.tagList, 'Main');
    await controller.readTag(structure);
    t.match(structure.value, { Level: 2.5, Closed: true, Open: false, Label: 'Tank 2', Word: -2 });
    controller.destroy();
  }
});
