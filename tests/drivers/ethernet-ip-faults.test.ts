/** The EtherNet/IP driver and the probe against a device that is away, silent, late, torn off, or lies. */
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ProbeInbound, ProbeModule, ProbeOutbound } from '../../runtime/port.js';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import type { Link, Point } from '../../runtime/io/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { freePort } from '../support/appliance-process.js';
import { at } from '../support/at.js';
import { EthernetIpPeer, type PeerMode, type PeerOptions } from '../support/ethernet-ip-peer.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { type ChannelText, DEAD_PORT, moduleOf, planOf, startProbe, until, untilTrue, valueOf } from '../support/probe-bench.js';
import { collector } from './conformance.js';

const ofPort = (port: number, rows: readonly ChannelText[], options: ProbeModule['options'] = {}): ProbeModule => moduleOf('ethernetip', port, rows, options);

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
const connectionOf = (module: ProbeModule): number => Atomics.load(new ProcessImage(module.channels.length, module.image).header, IMAGE_HEADER.connection);

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

for (const connected of [false, true])
  for (const [mode, reason] of Object.entries(LIES))
    t.test(`a device that answers with the wrong ${mode}${connected ? ' on a connection' : ''} is believed nothing, and the connection ends`, async (t) => {
      const peer = await startPeer(t);
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

t.test('IO-02: the device goes and comes: Bad while it is away, Good again by itself', async (t) => {
  const port = await freePort();
  const peer = await EthernetIpPeer.start({ port, many: 0 });
  t.teardown(() => peer.kill());
  const module = ofPort(port, [
    ['level', 'Program:Main.Tank[2].Level', 'float'],
    ['count', 'Dint#DINT', 'int'],
    ['nothing', 'Nothing', 'int'],
  ]);
  const probe = await startProbe(t, module);
  await until('connected', () => probe.state() === 'Degraded');
  t.equal(probe.message(), 'nothing: there is no such tag or member (CIP status 0x04)');
  t.match(valueOf(module, 'level'), { value: 2.5, quality: QUALITY.Good });
  for (let round = 0; round < 3; round += 1) {
    const old = round === 0 ? peer : await EthernetIpPeer.start({ port, many: 0 });
    if (round > 0) await until('good again', () => valueOf(module, 'level').quality === QUALITY.Good && valueOf(module, 'count').quality === QUALITY.Good);
    await old.kill();
    await until('bad', () => valueOf(module, 'level').quality === QUALITY.Bad && valueOf(module, 'count').quality === QUALITY.Bad);
    t.equal(probe.state(), 'Disconnected');
    t.equal(connectionOf(module), CONNECTION.lost);
  }
});

t.test('D-IO-01: a frozen device is Bad within 3 s, and read again when it goes on', async (t) => {
  const peer = await startPeer(t);
  const module = ofPort(peer.port, [['count', 'Dint#DINT', 'int']], { retries: 2 });
  const probe = await startProbe(t, module);
  await until('good', () => valueOf(module, 'count').quality === QUALITY.Good);
  peer.freeze(true);
  const tookMs = await until('bad', () => valueOf(module, 'count').quality === QUALITY.Bad);
  t.ok(tookMs < 3500, `${Math.round(tookMs)} ms`);
  peer.freeze(false);
  await until('good again', () => valueOf(module, 'count').quality === QUALITY.Good && probe.state() === 'Connected');
});

t.test('G9: 100 pulled cables, resets and refusals: no value stays Good while the device is gone, no socket leaks', async (t) => {
  const peer = await startPeer(t);
  const proxy = await FaultProxy.start(() => peer.port);
  t.teardown(() => proxy.stop());
  const module = ofPort(
    proxy.port,
    [
      ['a', 'Dint#DINT', 'int'],
      ['b', 'Text', 'string'],
      ['c', 'Flags[35]', 'bool'],
    ],
    { pollInterval: '10ms', timeout: '150ms', retries: 0 },
  );
  const probe = await startProbe(t, module);
  const all = (quality: number) => (): boolean => ['a', 'b', 'c'].every((name) => valueOf(module, name).quality === quality);
  for (let round = 0; round < 100; round += 1) {
    proxy.mode = round % 10 === 9 ? 'bytes' : 'pass';
    await until(`good in round ${round}`, all(QUALITY.Good));
    t.same([valueOf(module, 'a').value, valueOf(module, 'b').text, valueOf(module, 'c').value], [-123456789, 'Reactor', 1]);
    if (round % 4 === 0) proxy.mode = 'half-open';
    proxy.refuse(true);
    if (round % 4 !== 0) proxy.reset();
    await until(`bad in round ${round}`, all(QUALITY.Bad));
    proxy.refuse(false);
  }
  proxy.mode = 'pass';
  await until('good at last', () => probe.state() === 'Connected');
  await until('one connection', () => proxy.open === 1);
  await probe.core.receive({ type: 'stop' });
  await until('closed', () => proxy.open === 0);
  await untilTrue('no session is left open', async () => (await peer.counts()).sessionsOpen === 0);
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
