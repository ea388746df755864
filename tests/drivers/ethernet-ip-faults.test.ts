/** The EtherNet/IP driver and the probe against a device that is away, silent, late, torn off, or lies. */
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ProbeInbound, ProbeModule, ProbeOutbound } from '../../runtime/port.js';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import type { Link, Point } from '../../runtime/io/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage, WRITE_STATUS } from '../../runtime/vocabulary/process-image.js';
import { freePort } from '../support/appliance-process.js';
import { at } from '../support/at.js';
import { EthernetIpPeer, type PeerMode, type PeerOptions } from '../support/ethernet-ip-peer.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { collector } from './conformance.js';
import { conformanceOfFaults, type DeviceHandle } from './conformance-faults.js';
import { DEAD_PORT, moduleOf, untilTrue } from './ethernet-ip-module.js';
import { type ChannelText, channelsOf, planOf, until } from './probe-harness.js';

const ofPort = (port: number, rows: readonly ChannelText[], options: ProbeModule['options'] = {}): ProbeModule => moduleOf(port, channelsOf(rows), options);

const startPeer = async (t: Test, options: PeerOptions = { many: 10 }): Promise<EthernetIpPeer> => {
  const peer = await EthernetIpPeer.start(options);
  t.teardown(() => peer.kill());
  return peer;
};

const linkTo = async (t: Test, module: ProbeModule): Promise<Link> => {
  const link = await ethernetIpDriver.connect(module, systemClock);
  t.teardown(() => link.close());
  return link;
};

const DINT: Point = { address: 'Dint#DINT', dataType: 'int' };

/** How the device lies, and what the link makes of it. */
const LIES: Readonly<Partial<Record<PeerMode, RegExp>>> = {
  context: /sender context of another request/,
  session: /answered in session \d+, not in \d+/,
  length: /wrong length/,
  garbage: /announced a message of \d+ bytes|answered command/,
  service: /answered service 0x4d to a request of service 0x4c/,
  endless: /announced a message of 65535 bytes/,
  reset: /ECONNRESET|closed the connection/,
};

/** On a connection the sequence tells the request, and the sender context says nothing (CIP Volume 2, 2-4.8). */
const HARMLESS_CONNECTED: readonly PeerMode[] = ['context'];

/** One for all who are lied to: it is right again when they end. */
const liar = await EthernetIpPeer.start({ many: 10 });
t.teardown(() => liar.kill());

for (const connected of [false, true])
  for (const [mode, reason] of Object.entries(LIES))
    t.test(`a device that answers with the wrong ${mode}${connected ? ' on a connection' : ''} is believed nothing, and the connection ends`, async (t) => {
      const peer = liar;
      await peer.misbehave('right');
      const link = await linkTo(t, ofPort(peer.port, [], { connected, retries: 0 }));
      await peer.misbehave(mode as PeerMode);
      const got = collector(1);
      const outcome = await link.read([DINT], got.sink);
      if (connected && HARMLESS_CONNECTED.includes(mode as PeerMode)) {
        t.same([outcome, got.values[0]], [{ status: 'answered' }, -123456789]);
        return;
      }
      t.match(outcome, { status: 'lost', message: reason });
      t.same([got.values[0], got.messages[0]], [undefined, await link.lost]);
      t.match(await link.write({ address: 'OutDint#DINT', dataType: 'int' }, 1), { ok: false, reason: 'unreachable' });
      await peer.misbehave('right');
      await untilTrue('no session is left open', async () => (await peer.counts()).sessionsOpen === 0);
    });

t.test('D-IO-02: an answer that comes twice or too late ends the connection; silence does not', async (t) => {
  const peer = await startPeer(t);
  const twice = await linkTo(t, ofPort(peer.port, []));
  await peer.misbehave('twice');
  const got = collector(1);
  t.same(await twice.read([DINT], got.sink), { status: 'answered' });
  t.equal(got.values[0], -123456789);
  t.match(await twice.lost, /nobody waits for any more/);
  await peer.misbehave('right');

  const late = await linkTo(t, ofPort(peer.port, [], { timeout: '200ms', retries: 0 }));
  await peer.misbehave('slow', 400);
  t.match(await late.read([DINT], collector(1).sink), { status: 'silent', message: 'no answer within 200 ms' });
  t.match(await late.lost, /nobody waits for any more|sender context/);
  await peer.misbehave('right');

  for (const [mode, retries] of [
    ['silent', 2],
    ['half', 0],
  ] as const) {
    const quiet = await linkTo(t, ofPort(peer.port, [], { timeout: '100ms', retries }));
    await peer.misbehave(mode);
    const before = (await peer.counts()).messages;
    const bad = collector(1);
    t.match(await quiet.read([DINT], bad.sink), { status: 'silent', message: 'no answer within 100 ms' }, mode);
    t.equal(bad.messages[0], 'no answer within 100 ms');
    t.equal((await peer.counts()).messages - before, 1 + retries, 'asked, and repeated');
    t.match(await quiet.write({ address: 'OutDint#DINT', dataType: 'int' }, 1), { ok: false, reason: 'unreachable' });
    await peer.misbehave('right');
    await quiet.close();
    await quiet.close();
    t.equal(await quiet.lost, 'the connection was closed here');
  }
});

t.test('TAG-27: a write that is barred meanwhile is not repeated', async (t) => {
  const peer = await startPeer(t);
  const link = await linkTo(t, ofPort(peer.port, [], { timeout: '500ms', retries: 5 }));
  await link.read([{ address: 'OutDint#DINT', dataType: 'int' }], collector(1).sink);
  await peer.misbehave('silent');
  const before = (await peer.counts()).messages;
  let looks = 0;
  const barred = () => {
    looks += 1;
    return looks < 4 ? undefined : ({ ok: false, reason: 'withheld', message: 'another box drives the device' } as const);
  };
  t.match(await link.write({ address: 'OutDint#DINT', dataType: 'int' }, 7, barred), { ok: false, reason: 'unreachable', message: 'no answer within 500 ms' });
  t.equal((await peer.counts()).messages - before, 2, 'sent when its turn came and nothing had to be learned, repeated once');
  await peer.misbehave('right');
});

t.test('connect gives up within its time-out, whatever the device does not do, and leaves nothing behind', async (t) => {
  const peer = await startPeer(t, { many: 0, connectionsMax: 0 });
  await t.rejects(ethernetIpDriver.connect(ofPort(DEAD_PORT, []), systemClock), { message: /ECONNREFUSED/ });
  await t.rejects(ethernetIpDriver.connect(ofPort(peer.port, [], { connected: true }), systemClock), { message: /no connection left/ });
  await peer.misbehave('silent');
  const started = performance.now();
  await t.rejects(ethernetIpDriver.connect(ofPort(peer.port, [], { timeout: '300ms' }), systemClock), { message: /(does not|no) answer within 300 ms/ });
  t.ok(performance.now() - started < 5000, 'not the 10 s of the library');
  peer.freeze(true);
  await t.rejects(ethernetIpDriver.connect(ofPort(peer.port, [], { timeout: '300ms' }), systemClock), { message: /(does not|no) answer within 300 ms/ });
  peer.freeze(false);
  await peer.misbehave('reset');
  await t.rejects(ethernetIpDriver.connect(ofPort(peer.port, []), systemClock), { message: /ECONNRESET|closed/ });
  await peer.misbehave('garbage');
  await t.rejects(ethernetIpDriver.connect(ofPort(peer.port, []), systemClock), Error);
  await untilTrue('no session is left open', async () => (await peer.counts()).sessionsOpen === 0);
});

t.test('a write goes before waiting reads', async (t) => {
  const peer = await startPeer(t);
  const proxy = await FaultProxy.start(() => peer.port);
  t.teardown(() => proxy.stop());
  const link = await linkTo(t, ofPort(proxy.port, [], { timeout: '5s' }));
  await link.read([DINT], collector(1).sink);
  proxy.mode = 'hold';
  const order: string[] = [];
  const reads = [0, 1, 2].map((place) => link.read([DINT], collector(1).sink).then(() => order.push(`read ${place}`)));
  const write = link.write({ address: 'OutDint#DINT', dataType: 'int' }, 7).then(() => order.push('write'));
  await new Promise((resolve) => setImmediate(resolve));
  proxy.release();
  await Promise.all([...reads, write]);
  t.same(order, ['read 0', 'write', 'read 1', 'read 2'], 'one was under way already');
});

t.test('IO-18, decisions 7.7: outputs of a scan reach the controller and are read back; writes by hand are answered by it', async (t) => {
  const peer = await startPeer(t);
  const output = { direction: 'output' as const };
  const module = ofPort(
    peer.port,
    [
      ['sp', 'OutReal', 'float', { ...output, readbackAddress: 'OutReal' }],
      ['wrong', 'OutInt', 'int', { ...output, readbackAddress: 'OutUint' }],
      ['plain', 'OutDint', 'int', output],
      ['echo', 'OutDint', 'int'],
      ['refused', 'Locked', 'int', output],
      ['bit', 'OutUdint.31', 'bool', { ...output, readbackAddress: 'OutUdint.31' }],
    ],
    { pollInterval: '20ms' },
  );
  const worker = new Worker(new URL('../../runtime/probe.js', import.meta.url));
  const messages: ProbeOutbound[] = [];
  worker.on('message', (message: ProbeOutbound) => void messages.push(message));
  worker.postMessage({ type: 'plan', plan: planOf(module) } satisfies ProbeInbound);
  const image = new ProcessImage(module.channels.length, module.image);
  await until('connected', () => messages.some((message) => message.type === 'module' && message.state === 'Connected'));
  const write = async (channel: number, value: number): Promise<number> => {
    image.write(channel, value);
    image.wakeProbe();
    await until(`output ${channel} dealt with`, () => Atomics.load(image.outDone, channel) === Atomics.load(image.outSeq, channel));
    return at(image.outStatus, channel);
  };
  t.equal(await write(0, 41.5), WRITE_STATUS.done);
  t.equal(image.readback[0], 41.5);
  t.equal(await write(1, 6), WRITE_STATUS.mismatch);
  t.equal(await write(2, 77), WRITE_STATUS.done);
  await until('the input sees it', () => image.value[3] === 77);
  t.equal(await write(4, 1), WRITE_STATUS.failed);
  t.equal(await write(5, 1), WRITE_STATUS.done);
  worker.postMessage({ type: 'write', id: 1, module: 'io', channel: 'refused', value: 9 } satisfies ProbeInbound);
  await until('answered', () => messages.some((message) => message.type === 'write-result'));
  t.match(
    messages.find((message) => message.type === 'write-result'),
    { ok: false, code: 'device_write_failed', message: 'permission denied (CIP status 0x0f)' },
  );
  worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
  await new Promise((resolve) => worker.once('exit', resolve));
});

/** One device for all cases: what is done to it is done on the wire, but for one that pulls its plug and puts it in again. */
const port = await freePort(); // nobody takes it while the plug is pulled
let shared = await EthernetIpPeer.start({ port, many: 100 });
t.teardown(() => shared.kill());
const handle: DeviceHandle = {
  port,
  kill: () => shared.kill(),
  async restart() {
    shared = await EthernetIpPeer.start({ port, many: 100 });
  },
};

/** A reply with one byte changed; of the first frame in it. Replies to a session that is being opened are those of the device. */
const changed =
  (at: number, by: number) =>
  (reply: Buffer): Buffer => {
    if (at < reply.length) reply[at] = ((reply[at] ?? 0) + by) & 0xff;
    return reply;
  };

/** Path of the output, its type and one element: what only a write has, and behind it the value. */
const OUTPUT_WRITTEN = Buffer.concat([Buffer.from([0x91, 7]), Buffer.from('OutDint\0'), Buffer.from([0xc4, 0, 1, 0])]);

function valuesWritten(request: Buffer): number[] {
  const values: number[] = [];
  for (let at = request.indexOf(OUTPUT_WRITTEN); at >= 0; at = request.indexOf(OUTPUT_WRITTEN, at + 1)) values.push(request.readInt32LE(at + OUTPUT_WRITTEN.length));
  return values;
}

const SERVICE_AT = 40;

conformanceOfFaults(t, () => ({
  module: (name, port, channels, options) => moduleOf(port, channels, options, name),
  device: async () => handle,
  inputs: [
    { row: ['a', 'Dint#DINT', 'int'], value: -123456789 },
    { row: ['b', 'Program:Main.Tank[2].Level', 'float'], value: 2.5 },
    { row: ['c', 'Flags[35]', 'bool'], value: 1 },
    { row: ['d', 'Uint.3', 'bool'], value: 1 },
  ],
  output: { row: ['out', 'OutDint', 'int'], shows: ['echo', 'OutDint', 'int'] },
  missing: ['hole', 'Nothing', 'int'],
  many: Array.from({ length: 100 }, (_, place) => [`m${place}`, `Many_${String(place).padStart(4, '0')}`, 'int'] as const),
  lies: [
    { what: 'another command', of: changed(0, 1) },
    { what: 'another session', of: changed(4, 1) },
    { what: 'a status', of: changed(8, 0x64) },
    { what: 'another sender context', of: changed(12, 77) },
    { what: 'options', of: changed(20, 1) },
    { what: 'another count of items', of: changed(30, 1) },
    { what: 'another service', of: changed(SERVICE_AT, 1) },
    { what: 'a request in place of an answer', of: changed(SERVICE_AT, 0x80) },
    { what: 'another count of services', of: changed(SERVICE_AT + 4, 1) },
    { what: 'a longer frame than it sends', of: changed(2, 4) },
    { what: 'a shorter frame than it sends', of: changed(2, 0x100 - 2) },
    { what: 'a frame cut off, and then silence', of: (reply) => reply.subarray(0, 8) },
    { what: 'bytes that are none of the protocol', of: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
  ],
  pulls: Number(process.env.IO_PULLS ?? 100),
  faults: Number(process.env.IO_FAULTS ?? 40),
  written: valuesWritten,
  seed: Number(process.env.IO_SEED ?? 20_260_131),
}));
