/** The EtherNet/IP driver reads neighbours of an array together, what is too long for one answer without a tear, and over a connection as large as the device grants. */
import t, { type Test } from 'tap';
import type { Link, Point } from '../../runtime/io/driver.js';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import type { ProbeModule } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { at } from '../support/at.js';
import { EthernetIpPeer, type PeerOptions } from '../support/ethernet-ip-peer.js';
import { collector } from './conformance.js';
import { moduleOf } from './ethernet-ip-module.js';

const READ = 0x4c;
const MULTIPLE = 0x0a;
const FRAGMENT = 0x52;
const WRITE = 0x4d;
const WRITE_FRAGMENT = 0x53;

const peer = await EthernetIpPeer.start({ many: 10 });
t.teardown(() => peer.kill());

async function linkTo(t: Test, port: number, options: ProbeModule['options'] = {}): Promise<Link> {
  const link = await ethernetIpDriver.connect(moduleOf(port, [], options), systemClock);
  t.teardown(() => link.close());
  return link;
}

async function startPeer(t: Test, options: PeerOptions): Promise<EthernetIpPeer> {
  const other = await EthernetIpPeer.start(options);
  t.teardown(() => other.kill());
  return other;
}

const points = (dataType: Point['dataType'], ...addresses: readonly string[]): Point[] => addresses.map((address) => ({ address, dataType }));
const elements = (count: number, of: (at: number) => string): string[] => Array.from({ length: count }, (_, place) => of(place));

async function readAll(link: Link, wanted: readonly Point[]): Promise<{ readonly values: unknown[]; readonly messages: string[] }> {
  const got = collector(wanted.length);
  const outcome = await link.read(wanted, got.sink);
  if (outcome.status !== 'answered') throw new Error(outcome.message);
  if (got.deliveries.some((count) => count !== 1)) throw new Error(`delivered ${got.deliveries.join()}`);
  return { values: got.values, messages: got.messages };
}

/** Services that a read took, by code. */
async function servicesOf(device: EthernetIpPeer, work: () => Promise<unknown>): Promise<ReadonlyMap<number, number>> {
  const before = (await device.counts()).services;
  await work();
  const { services } = await device.counts();
  return new Map([...services].map(([code, count]) => [code, count - (before.get(code) ?? 0)] as const).filter(([, count]) => count > 0));
}

t.test('elements of one array are read together once each has answered alone, each with its own value', async (t) => {
  const link = await linkTo(t, peer.port);
  const wanted = [
    ...points('int', ...elements(100, (place) => `Row[${place}]`), 'Row[150].3', 'Row[102]#DINT'),
    ...points('int', ...elements(20, (place) => `Longs[${19 - place}]#LINT`), ...elements(33, (place) => `Bytes[${place}]`)),
    ...points('int', 'Grid[1,2,0]', 'Grid[1,2,1]', 'Grid[1,2,3]', 'Grid[0,1,2]'),
    ...points('float', ...elements(4, (place) => `Program:Main.Tank[1].Set[${place}]#REAL`)),
    ...points('string', ...elements(6, (place) => `Names[${place}]`)),
  ];
  const first = await readAll(link, wanted);
  t.same(
    first.messages.filter((message) => message !== ''),
    [],
  );
  t.same(first.values.slice(0, 102), [...elements(100, (place) => `${1000 + place}`).map(Number), (1150 >> 3) & 1, 1102]);
  t.same(
    first.values.slice(102, 122),
    Array.from({ length: 20 }, (_, place) => 9_000_000_000_000_000_000n + BigInt(19 - place)),
  );
  t.same(
    first.values.slice(122, 155),
    Array.from({ length: 33 }, (_, place) => place - 16),
  );
  t.same(first.values.slice(155), [20, 21, 23, 6, 10, 11, 12, 13, ...elements(6, (place) => `Name ${place}`)]);
  const again: unknown[] = [];
  const services = await servicesOf(peer, async () => void again.push((await readAll(link, wanted)).values));
  t.same(again, [first.values], 'together they are what they are alone');
  t.ok((services.get(READ) ?? 0) <= 12, `${services.get(READ)} reads for ${wanted.length} points`);
  t.ok((services.get(MULTIPLE) ?? 0) <= 4, `${services.get(MULTIPLE)} messages of several services`);
});

t.test('arrays of BOOL are looked at once, and read by their words, which stand together', async (t) => {
  const link = await linkTo(t, peer.port);
  const wanted = points('bool', ...elements(320, (place) => `Bits[${place}]${place % 2 === 0 ? '#BOOL' : ''}`), 'Flags[35]', 'Flags[36]');
  const looked = await servicesOf(peer, () => readAll(link, wanted));
  t.ok((looked.get(READ) ?? 0) <= 2 + 12, `${looked.get(READ)} reads: a look at each array, and its words`);
  let values: unknown[] = [];
  const services = await servicesOf(peer, async () => void ({ values } = await readAll(link, wanted)));
  t.same(values, [...Array.from({ length: 320 }, (_, place) => Number(place % 32 === place >> 5)), 1, 0]);
  t.same(services.get(READ), 2, 'ten words, and one');
});

t.test('an element that is not there costs its neighbours nothing, and none is ever taken for it', async (t) => {
  const link = await linkTo(t, peer.port);
  const wanted = points('int', 'List[8]', 'List[9]', 'List[10]', 'Grid[0,0,2]', 'Grid[0,0,3]', 'Grid[0,0,4]', 'Row[299]', 'Row[300]');
  for (let round = 0; round < 3; round += 1) {
    const { values, messages } = await readAll(link, wanted);
    t.same(values, [108, 109, undefined, 2, 3, undefined, 1299, undefined], 'the row behind Grid[0,0,3] is another one');
    t.match([messages[2], messages[7]], [/behind the end/, /behind the end/]);
  }
});

t.test('an array that has become shorter, or of another type, is read by its elements at once', async (t) => {
  const other = await startPeer(t, { many: 0 });
  const link = await linkTo(t, other.port);
  const wanted = points('int', ...elements(10, (place) => `List[${place}]`));
  for (let round = 0; round < 2; round += 1) await readAll(link, wanted);
  await other.become('List', 0xc4, [6], '01000000020000000300000004000000050000000600000007000000');
  const { values, messages } = await readAll(link, wanted);
  t.same(values, [1, 2, 3, 4, 5, 6, undefined, undefined, undefined, undefined]);
  t.match(messages[6], /behind the end/);
  t.same((await readAll(link, wanted)).values, values);
  await other.become('List', 0xc3, [10], '0b000c000d000e000f00100011001200130014000000');
  t.same((await readAll(link, wanted)).values, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20], 'a DINT is no two INT');
  const services = await servicesOf(other, () => readAll(link, wanted));
  t.equal(services.get(READ), 1, 'together again');
});

t.test('a device with less room for answers than maxPacket is asked for as much as it has', async (t) => {
  const other = await startPeer(t, { many: 0, replyMax: 120 });
  const link = await linkTo(t, other.port);
  const wanted = points('int', ...elements(200, (place) => `Row[${place}]`), 'Dint', 'Lint#LINT');
  for (let round = 0; round < 12; round += 1) {
    const { values, messages } = await readAll(link, wanted);
    t.same([values[0], values[199], values[200], messages.find((message) => message !== '')], [1000, 1199, -123456789, undefined]);
  }
  const services = await servicesOf(other, () => readAll(link, wanted));
  t.ok((services.get(READ) ?? 0) < 20, `${services.get(READ)} reads, none of them twice`);
});

const textOf = (text: string): string => {
  const bytes = Buffer.alloc(1004);
  bytes.writeInt32LE(text.length, 0);
  bytes.write(text, 4, 'latin1');
  return bytes.toString('hex');
};

t.test('a text of several fragments is never a mixture of two, and costs one round while it stands', async (t) => {
  const link = await linkTo(t, peer.port);
  const wanted = points('string', 'Text1000');
  const [one, other] = ['a'.repeat(990), 'b'.repeat(1000)];
  for (let round = 0; round < 2; round += 1) await readAll(link, wanted);
  const still = await servicesOf(peer, () => readAll(link, wanted));
  t.same([...still], [[FRAGMENT, 3]], 'what it was proven to be is proven again');
  for (const answers of [1, 2, 3, 4, 5, 7]) {
    await peer.put(['Text1000'], textOf(one));
    await readAll(link, wanted);
    await peer.flicker(['Text1000'], [textOf(other), textOf(one)], answers);
    const [value] = (await readAll(link, wanted)).values;
    t.ok(value === one || value === other, `changed before ${answers} fragments: ${String(value).slice(0, 20)}`);
  }
  await peer.flicker(['Text1000'], [textOf(other), textOf(one)], 1_000_000);
  const { values, messages } = await readAll(link, wanted);
  t.same([values[0], messages[0]], [undefined, 'it changes while the 3 messages that it takes are read; with connected: true and a larger maxPacket it takes fewer']);
  await peer.flicker(['Text1000'], [textOf(other)], 1);
  t.equal((await readAll(link, wanted)).values[0], other, 'it stands again');
});

t.test('a text of several fragments is whole in one message of a large connection', async (t) => {
  const other = await startPeer(t, { many: 0, replyMax: 4002 });
  const link = await linkTo(t, other.port, { connected: true });
  const wanted = points('string', 'Text1000', 'OutText1000');
  await readAll(link, wanted);
  await other.flicker(['Text1000'], [textOf('a'.repeat(990)), textOf('b'.repeat(1000))], 1_000_000);
  const services = await servicesOf(other, async () => t.match((await readAll(link, wanted)).values[0], /^(a{990}|b{1000})$/, 'also while it changes'));
  t.notOk(services.has(FRAGMENT));
});

t.test('ADR 0092: a text that is longer than a message is written so that nobody sees a mixture of two, and a short one in a long tag at once', async (t) => {
  const other = await startPeer(t, { many: 0, replyMax: 4002 });
  const link = await linkTo(t, other.port);
  const witness = await linkTo(t, other.port, { connected: true });
  const [text] = points('string', 'OutText1000') as [Point];
  const write = async (value: string): Promise<void> => void t.same(await link.write(text, value), { ok: true });
  await write('a');
  t.same([...(await servicesOf(other, () => write('b'.repeat(300))))], [[WRITE_FRAGMENT, 1]], 'LEN and what is used of DATA');
  t.same([...(await servicesOf(other, () => write('c'.repeat(990))))], [[WRITE_FRAGMENT, 5]], 'LEN 0, three parts, LEN');
  t.equal((await readAll(witness, [text])).values[0], 'c'.repeat(990));
  t.same([...(await servicesOf(other, async () => t.same(await witness.write(text, 'd'.repeat(1000)), { ok: true })))], [[WRITE, 1]], 'a large connection takes all of it at once');

  const seen = new Set<string>();
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const value = String((await readAll(witness, [text])).values[0]);
      seen.add(/^(?:e*|f*)$/.test(value) && [0, 990, 1000].includes(value.length) ? (value[0] ?? 'empty') : value);
    }
  };
  await write('e'.repeat(990));
  const looking = look();
  for (let round = 0; round < 30; round += 1) await write(round % 2 === 0 ? 'f'.repeat(1000) : 'e'.repeat(990));
  isOver = true;
  await looking;
  t.same(
    [...seen].filter((value) => !['e', 'f', 'empty'].includes(value)),
    [],
    'one, the other, or none',
  );
  t.ok(seen.has('empty') && seen.size === 3, [...seen].join());

  const small = await linkTo(t, other.port, { maxPacket: 100 });
  t.same(await small.write(text, 'g'.repeat(500)), { ok: true });
  t.equal((await readAll(witness, [text])).values[0], 'g'.repeat(500));
  t.match(await small.write(text, 'h'.repeat(1001)), { ok: false, reason: 'invalid', message: 'the text has 1001 characters, 1000 fit' });
});

t.test('decisions 7.3: a connection is as large as the device grants, and never larger than maxPacket', async (t) => {
  for (const [connectionBytesMax, maxPacket, bytes] of [
    [4002, undefined, 4002],
    [4002, 2000, 2000],
    [1500, undefined, 1500],
    [504, undefined, 504],
    [504, 3000, 504],
    [300, undefined, 300],
    [504, 250, 250],
  ] as const) {
    const other = await startPeer(t, { many: 100, connectionBytesMax, replyMax: 4002 });
    const link = await linkTo(t, other.port, { connected: true, ...(maxPacket === undefined ? {} : { maxPacket }) });
    t.same((await other.counts()).bytes, [bytes], `${maxPacket} of ${connectionBytesMax}`);
    const { values } = await readAll(link, points('int', ...elements(100, (place) => `Many_${String(place).padStart(4, '0')}#DINT`)));
    t.equal(at(values, 99), 99);
    t.same([...(await servicesOf(other, () => readAll(link, points('string', 'Text1000')))).keys()].includes(FRAGMENT), bytes < 1020);
  }
});

t.test('IO-21: where the controller does not say who it is, discovery says who answers at the address (List Identity)', async (t) => {
  const [alone, behind] = [await startPeer(t, { many: 0, slot: -1, hasIdentity: false }), await startPeer(t, { many: 0, hasIdentity: false })];
  const direct = await (await linkTo(t, alone.port, { path: 'direct' })).discover?.([], 10_000);
  t.same(direct?.device, { vendor: 'Rockwell Automation', product: '1756-L83E of a test', revision: '33.011', serial: 'C0FFEE12' });
  const routed = await (await linkTo(t, behind.port)).discover?.([], 10_000);
  t.match(routed?.device, { vendor: 'Rockwell Automation', product: '1756-EN2TR of a test in front of slot 0' });
  const dumb = await startPeer(t, { many: 0, hasIdentity: false, hasListIdentity: false });
  t.match(await (await linkTo(t, dumb.port)).discover?.([], 10_000), { device: { vendor: '', product: '' }, channels: [] });
});
