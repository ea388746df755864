/** Modbus RTU over TCP and over a serial line (a pseudo terminal), against pymodbus in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import net from 'node:net';
import t, { type Test } from 'tap';
import { Duplex } from 'node:stream';
import { modbusDriver } from '../../runtime/io/modbus/driver.js';
import { answerLength, crc16, rtuFrame } from '../../runtime/io/modbus/rtu-frame.js';
import { readPdu } from '../../runtime/io/modbus/read-plan.js';
import { LateAnswers, RtuLine } from '../../runtime/io/modbus/rtu-line.js';
import type { Reply } from '../../runtime/io/modbus/transport.js';
import { WireRecord } from '../../runtime/io/modbus/wire-record.js';
import { gapMs } from '../../runtime/io/modbus/rtu-transport.js';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { type Clock, systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { ManualClock } from '../runtime/io/manual-clock.js';
import { eventually } from '../support/api-client.js';
import { freePort } from '../support/appliance-process.js';
import { collector, conformance } from './conformance.js';
import { conformanceOfFaults, type DeviceHandle } from './conformance-faults.js';
import { ModbusPeer } from './modbus-peer.js';
import { channelsOf, startProbe, until, valueOf } from './probe-harness.js';

const rtu = await ModbusPeer.start(0, 'rtu');
t.teardown(() => rtu.kill());
/** A chroot without devpts has none; nothing of a serial line is tested there. */
const NO_TERMINALS = existsSync('/dev/pts/ptmx') ? false : 'this machine has no pseudo terminals (/dev/pts)';
const serial = NO_TERMINALS ? rtu : await ModbusPeer.start(0, 'serial');
t.teardown(() => serial.kill());

const DEAD_PORT = 1;

/** What the descriptor leads to; '' where it is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

function moduleAt(address: string, channels: readonly ProbeChannel[] = [], options: ProbeModule['options'] = {}, name = 'io'): ProbeModule {
  const image = new ProcessImage(channels.length).buffer;
  return { site: 'north', module: name, protocol: 'modbus', address, options: { pollInterval: '50ms', timeout: '1s', retries: 1, ...options }, channels, image };
}

const overTcp = (port: number): string => `rtu+tcp://127.0.0.1:${port}`;

for (const [what, address, dead] of [
  ['RTU over TCP', overTcp(rtu.port), overTcp(DEAD_PORT)],
  ['serial', `rtu://${serial.place}?baud=19200&parity=even&stop=1`, 'rtu:///dev/tty-of-nobody'],
] as const) {
  t.test(`decisions 7.3, 7.4: ${what}`, { skip: what === 'serial' && NO_TERMINALS }, async (t) => {
    conformance(t, () => ({
      driver: modbusDriver,
      module: moduleAt(address),
      unreachable: moduleAt(dead),
      notAnAddress: 'rtu+tcp://host',
      notAChannel: 'holding:1:complex',
      writable: [
        { point: { address: 'coil:3', dataType: 'bool' }, values: [true, false] },
        { point: { address: 'holding:100', dataType: 'int' }, values: [65535, 1] },
        { point: { address: 'holding:102:int32:les', dataType: 'int' }, values: [-2_000_000_000, 17] },
        { point: { address: 'holding:106:int64:le', dataType: 'int' }, values: [-9_007_199_254_740_991, 3] },
        { point: { address: 'holding:114:float32', dataType: 'float' }, values: [1.5, -0.25] },
        { point: { address: 'holding:120:string4', dataType: 'string' }, values: ['Batch-12', 'x'] },
        { point: { address: 'holding:124:bit5', dataType: 'bool' }, values: [true, false] },
        { point: { address: 'holding:125@7', dataType: 'int' }, values: [71, 72] },
      ],
      readable: [
        { address: 'coil:0', dataType: 'bool' },
        { address: 'discrete:3', dataType: 'bool' },
        { address: 'holding:10:int16', dataType: 'int' },
        { address: 'input:24:float32', dataType: 'float' },
        { address: 'holding:0@7', dataType: 'int' },
      ],
      missing: { address: 'holding:303', dataType: 'int' },
    }));
  });
}

async function device(t: Test): Promise<DeviceHandle> {
  let peer = await ModbusPeer.start(await freePort(), 'rtu');
  t.teardown(() => peer.kill());
  const { port } = peer;
  return {
    port,
    kill: () => peer.kill(),
    async restart() {
      peer = await ModbusPeer.start(port, 'rtu');
    },
  };
}

const changed =
  (at: number, by: number) =>
  (reply: Buffer): Buffer => {
    reply[at] = ((reply[at] ?? 0) + by) & 0xff;
    return reply;
  };

t.test('RTU over TCP on a bad wire', async (t) => {
  conformanceOfFaults(t, () => ({
    module: (name, port, channels, options) => moduleAt(overTcp(port), channels, options, name),
    device,
    inputs: [
      { row: ['a', 'holding:11', 'int'], value: 65000 },
      { row: ['b', 'input:12:int32', 'int'], value: -123456789 },
      { row: ['c', 'holding:24:float32', 'float'], value: 3.25 },
    ],
    output: { row: ['out', 'holding:130', 'int'], shows: ['echo', 'holding:130', 'int'] },
    missing: ['hole', 'holding:302', 'int'],
    many: Array.from({ length: 66 }, (_, place) => [`m${place}`, `holding:${place * 3}`, 'int'] as const),
    lies: [
      { what: 'a byte of the value', of: changed(3, 1) },
      { what: 'the checksum', of: (reply) => changed(reply.length - 1, 1)(reply) },
      { what: 'another unit, with a checksum that fits', of: (reply) => rtuFrame(9, reply.subarray(1, -2)) },
      { what: 'another function, with a checksum that fits', of: (reply) => rtuFrame(reply[0] ?? 1, Buffer.from([5, 0, 1, 0, 0])) },
      { what: 'another count, with a checksum that fits', of: (reply) => rtuFrame(reply[0] ?? 1, Buffer.from([reply[1] ?? 3, 3, 0, 1, 2])) },
      { what: 'a frame cut off, and then silence', of: (reply) => reply.subarray(0, 4) },
      { what: 'bytes that are none of the protocol', of: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
    ],
    pulls: Number(process.env.IO_PULLS ?? 100),
    faults: Number(process.env.IO_FAULTS ?? 40),
    written: (frame) => (frame[1] === 6 && frame.length === 8 ? [frame.readUInt16BE(4)] : []),
    seed: Number(process.env.IO_SEED ?? 20_260_131),
  }));
});

t.test('decisions 7.3: a serial port has the settings of its address, or the address is refused', { skip: NO_TERMINALS }, async (t) => {
  for (const [baud, stop] of [
    [9600, 2],
    [115_200, 1],
  ]) {
    const link = await modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=${baud}&stop=${stop}&parity=none`), systemClock);
    t.equal(await serial.settings(), `baud=${baud} stop=${stop}`);
    const other = moduleAt(`rtu://${serial.place}?baud=1200`);
    await t.rejects(modbusDriver.connect(other, systemClock), /is open for another module with baud=/);
    await link.close();
  }
  for (const [query, reason] of [
    ['data=7', /data must be 8/],
    ['stop=3', /stop must be 1 or 2/],
    ['parity=mark', /parity must be none, even or odd/],
    ['baud=fast', /baud must be/],
    ['flow=rts', /flow is not known; known are baud, parity, stop, data/],
  ] as const)
    t.match(modbusDriver.parseAddress(`rtu:///dev/ttyS0?${query}`), { ok: false, message: reason }, query);
  t.same(modbusDriver.parseAddress('rtu+tcp://Server:4001'), { ok: true, value: 'rtu+tcp://server:4001' });
  t.match(modbusDriver.parseAddress('rtu+tcp://server'), { ok: false, message: /names no port/ });
  t.same(
    [gapMs(9600), gapMs(115_200)].map((ms) => Math.round(ms * 100) / 100),
    [4.01, 1.75],
    'silence of 3.5 characters',
  );
});

t.test('two modules share a serial line, one after the other asks, and the port is closed with the last', { skip: NO_TERMINALS }, async (t) => {
  const address = `rtu://${serial.place}?baud=38400`;
  const [one, two] = [await modbusDriver.connect(moduleAt(address), systemClock), await modbusDriver.connect(moduleAt(address, [], { unitId: 7 }), systemClock)];
  const reads = Array.from({ length: 20 }, async (_, turn) => {
    const got = collector(1);
    await (turn % 2 === 0 ? one : two).read([{ address: 'holding:0', dataType: 'int' }], got.sink);
    return got.values[0];
  });
  t.same(
    await Promise.all(reads),
    Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? 1 : 7)),
  );
  await one.close();
  const got = collector(1);
  t.same(await two.read([{ address: 'holding:0', dataType: 'int' }], got.sink), { status: 'answered' });
  await two.close();
  const again = await modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=9600`), systemClock);
  t.equal(await serial.settings(), 'baud=9600 stop=1', 'with other settings');
  await again.close();
});

t.test('a silent unit on a line costs the others one time-out at most, and they stay Good', { skip: NO_TERMINALS }, async (t) => {
  const rows = channelsOf([
    ['one', 'holding:11', 'int'],
    ['seven', 'holding:0@7', 'int'],
    ['nobody', 'holding:11@9', 'int'],
    ['nor', 'holding:11@10', 'int'],
  ]);
  const module = moduleAt(`rtu://${serial.place}?baud=115200`, rows, { pollInterval: '50ms', timeout: '500ms', retries: 2 });
  const probe = await startProbe(t, [module]);
  await until('degraded', () => probe.state() === 'Degraded' && valueOf(module, 'one').quality === QUALITY.Good && valueOf(module, 'seven').quality === QUALITY.Good);
  t.match(probe.message(), /^nobody: no answer within \d+ ms; nor: no answer within \d+ ms$/);
  let polls = 0;
  let lastMs = valueOf(module, 'one').atMs;
  const bad: string[] = [];
  await until('the others are polled on', () => {
    for (const name of ['one', 'seven']) if (valueOf(module, name).quality !== QUALITY.Good && bad.at(-1) !== probe.message()) bad.push(probe.message());
    const { atMs } = valueOf(module, 'one');
    if (atMs !== lastMs) polls += 1;
    lastMs = atMs;
    return polls >= 10;
  });
  t.same(bad, []);
});

/** A serial device server that answers as it is told, one answer for each request. */
async function told(
  t: Test,
  answer: (request: Buffer, turn: number) => readonly (readonly [delayMs: number, bytes: Buffer])[],
): Promise<{ readonly port: number; readonly asked: Buffer[] }> {
  const asked: Buffer[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (request) => {
      asked.push(request);
      for (const [delayMs, bytes] of answer(request, asked.length))
        later(delayMs).then(
          () => !socket.destroyed && socket.write(bytes),
          () => undefined,
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { port: (server.address() as net.AddressInfo).port, asked };
}

const holding = (value: number): Buffer => rtuFrame(1, Buffer.from([3, 2, value >> 8, value & 0xff]));

t.test('D-IO-02: the late answer to one request is never the answer to another one', async (t) => {
  const server = await told(t, (request) => [[request.readUInt16BE(2) === 1 ? 250 : 0, holding(request.readUInt16BE(2))]]);
  const link = await modbusDriver.connect(moduleAt(overTcp(server.port), [], { timeout: '200ms', retries: 0 }), systemClock);
  t.teardown(() => link.close());
  const read = async (address: string): Promise<unknown> => {
    const got = collector(1);
    await link.read([{ address, dataType: 'int' }], got.sink);
    return got.values[0] ?? got.messages[0];
  };
  t.match(await read('holding:1'), /no answer within 200 ms/);
  t.equal(await read('holding:2'), 2, 'it waits until the late answer has come');
  t.equal(await read('holding:3'), 3);
});

t.test('D-IO-02: a unit that answers all, but late, and is asked again before it answers: no value is another one’s', async (t) => {
  for (const lateMs of [190, 330]) {
    const server = await told(t, (request) => [[lateMs, holding(request.readUInt16BE(2))]]);
    const link = await modbusDriver.connect(moduleAt(overTcp(server.port), [], { timeout: '150ms', retries: 2 }), systemClock);
    for (let turn = 0; turn < 4; turn += 1) {
      const wanted = turn % 2 === 0 ? 1111 : 2222;
      const got = collector(1);
      await link.read([{ address: `holding:${wanted}`, dataType: 'int' }], got.sink);
      if (got.values[0] !== undefined) t.equal(got.values[0], wanted, `${lateMs} ms late, turn ${turn}`);
      else t.match(got.messages[0], /no answer within 150 ms/);
    }
    await link.close();
  }
});

/** A line over a wire that a test plays, on its clock. */
function playedLine(clock: Clock, late = new LateAnswers(), gapMs = 0) {
  const sent: Buffer[] = [];
  const stream = new Duplex({ read: () => undefined, write: (chunk: Buffer, _, done) => (sent.push(chunk), done()) });
  const line = new RtuLine(stream, { gapMs, endsOnGarbage: false, close: () => undefined }, clock, late);
  const asked = (pdu: Buffer, timeoutMs: number): Promise<Reply> =>
    new Promise((settle) => line.request({ unit: 1, pdu, timeoutMs, isUrgent: false, record: new WireRecord(), settle }));
  return { line, sent, stream, asked, ask: (register: number) => asked(readPdu('holding', register, 1), 300) };
}

t.test('D-IO-02: what a unit owes when its serial line is closed is no answer to the first request of the next one', async (t) => {
  const clock = new ManualClock();
  const late = new LateAnswers();
  const before = playedLine(clock, late);
  const first = before.ask(1);
  before.line.end('the connection was closed here');
  t.match(await first, { ok: false, reason: 'lost' });
  const after = playedLine(clock, late);
  const second = after.ask(2);
  await clock.advance(0);
  t.same(after.sent, [], 'nothing is asked while the answer to the request of before may come');
  after.stream.push(holding(111));
  await clock.advance(0);
  t.equal(after.sent.length, 1);
  after.stream.push(holding(222));
  t.same(await second, { ok: true, pdu: Buffer.from([3, 2, 0, 222]) });
  after.line.end('over');
});

t.test('D-IO-02: one of two answers has come: the same is not asked again before the other one has, which is no answer to it', async (t) => {
  const clock = new ManualClock();
  const { line, sent, stream, ask } = playedLine(clock);
  t.teardown(() => line.end('over'));
  const first = ask(1);
  await clock.advance(300);
  t.match(await first, { ok: false, reason: 'silent' });
  const repetition = ask(1);
  await clock.advance(50);
  t.equal(sent.length, 2, 'a repetition goes out at once');
  stream.push(holding(111));
  t.same(await repetition, { ok: true, pdu: Buffer.from([3, 2, 0, 111]) });
  const next = ask(1);
  await clock.advance(50);
  t.equal(sent.length, 2);
  stream.push(holding(111));
  await clock.advance(0);
  t.equal(sent.length, 3);
  stream.push(holding(222));
  t.same(await next, { ok: true, pdu: Buffer.from([3, 2, 0, 222]) }, 'what the unit has now, and not what it had then');
});

t.test('D-IO-02: a unit that was away for an hour, asked all the time, is read again at once when it is back, and owes no more than it can', async (t) => {
  const clock = new ManualClock();
  const late = new LateAnswers();
  const { line, sent, stream, ask } = playedLine(clock, late);
  t.teardown(() => line.end('over'));
  for (let request = 0; request < 12_000; request += 1) {
    const asked = ask(1);
    await clock.advance(300);
    if ((await asked).ok) t.fail('nobody has answered');
  }
  t.ok((late.owed.get(1)?.sentMonoMs.length ?? 0) <= 4, 'what would be too late is not owed');
  const back = ask(1);
  await clock.advance(0);
  stream.push(holding(111));
  t.match(await back, { ok: true });
  const before = sent.length;
  const next = ask(2);
  for (let ms = 0; ms < 1900 && sent.length === before; ms += 10) await clock.advance(10);
  t.equal(sent.length, before + 1, 'it waits for what the last requests may still bring, twice as late');
  stream.push(holding(222));
  t.match(await next, { ok: true });
});

t.test('D-IO-02: a unit that comes and goes is asked again within ten of its time-outs, however often it has gone', async (t) => {
  const clock = new ManualClock();
  const { line, sent, stream, ask } = playedLine(clock);
  t.teardown(() => line.end('over'));
  for (let gone = 0; gone < 8; gone += 1) {
    for (let request = 0; request < 100; request += 1) {
      const asked = ask(1);
      await clock.advance(300);
      if ((await asked).ok) t.fail('nobody has answered');
    }
    const back = ask(1);
    await clock.advance(0);
    stream.push(holding(111));
    t.match(await back, { ok: true });
    const before = sent.length;
    const next = ask(1);
    let waitedMs = 0;
    for (; waitedMs < 10_000 && sent.length === before; waitedMs += 10) await clock.advance(10);
    t.ok(waitedMs <= 3000, `asked again after ${waitedMs} ms`);
    stream.push(holding(222));
    t.match(await next, { ok: true });
  }
});

t.test('0 descriptors are left of a serial port that is opened and closed', { skip: NO_TERMINALS }, async (t) => {
  const held = (): number => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd) === serial.place).length;
  const begun = held();
  for (let turn = 0; turn < 3; turn += 1) {
    const link = await modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=9600`), systemClock);
    t.ok(held() > begun);
    await link.close();
    const next = await modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=19200`), systemClock); // which waits until the port is free
    await next.close();
  }
  await eventually('the port is closed', async () => held() === begun);
});

t.test('a serial port that another process has open is refused, and left as it is', { skip: NO_TERMINALS }, async (t) => {
  const other = spawn('flock', ['--exclusive', serial.place, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => other.kill('SIGKILL'));
  other.stdin.write('x');
  await once(other.stdout, 'data'); // it has the lock
  const before = await serial.settings();
  await t.rejects(modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=1200&stop=2`), systemClock), /another process has it open/);
  t.equal(await serial.settings(), before);
  other.stdin.end();
  await once(other, 'exit');
  await (await modbusDriver.connect(moduleAt(`rtu://${serial.place}?baud=9600`), systemClock)).close();
});

t.test('a line that is never quiet is told as such, and what has waited for it is not sent when it becomes quiet', async (t) => {
  const clock = new ManualClock();
  const { line, sent, stream, asked } = playedLine(clock, new LateAnswers(), 5);
  t.teardown(() => line.end('over'));
  const noise = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 1) {
      stream.push(Buffer.from([0x55]));
      await clock.advance(1);
    }
  };
  await noise(1);
  let reply: Reply | undefined;
  const answered = asked(Buffer.from([6, 0, 1, 0, 1]), 25).then((told) => (reply = told));
  await noise(95);
  t.equal(reply, undefined, 'it waits for four time-outs');
  await noise(10);
  t.match(reply, { ok: false, reason: 'silent', message: /never quiet/ });
  await answered;
  await clock.advance(20);
  t.same(sent, []);
  const next = asked(Buffer.from([6, 0, 1, 0, 2]), 25);
  t.equal(sent.length, 1, 'and now it can be asked');
  stream.push(rtuFrame(1, Buffer.from([6, 0, 1, 0, 2])));
  t.match(await next, { ok: true });
});

t.test('lastExchange shows the bytes of the wire, also where nothing came', async (t) => {
  const server = await told(t, (_, turn) => (turn === 1 ? [[0, holding(513)]] : []));
  const link = await modbusDriver.connect(moduleAt(overTcp(server.port), [], { timeout: '100ms', retries: 0 }), systemClock);
  t.teardown(() => link.close());
  t.equal(link.lastExchange?.(), undefined, 'nothing was asked yet');
  const got = collector(1);
  await link.read([{ address: 'holding:4', dataType: 'int' }], got.sink);
  t.match(link.lastExchange?.(), { sent: '01 03 00 04 00 01 c5 cb', received: '01 03 02 02 01 78 e4', roundTripMs: Number, atMs: Number });
  await link.read([{ address: 'holding:4', dataType: 'int' }], got.sink);
  t.match(link.lastExchange?.(), { sent: '01 03 00 04 00 01 c5 cb', received: '' });
});

t.test('a checksum of the serial line guide, and answers whose length only their function says', async (t) => {
  t.equal(crc16(Buffer.from([2, 7]), 2), 0x1241, 'appendix B: 41 12 on the wire');
  t.equal(answerLength(Buffer.from([1])), undefined);
  t.equal(answerLength(Buffer.from([1, 0x83])), 5);
  t.equal(answerLength(Buffer.from([1, 3, 4])), 9);
  t.equal(answerLength(Buffer.from([1, 3, 255])), 0, 'longer than a frame can be');
  t.equal(answerLength(Buffer.from([1, 16])), 8);
  t.equal(answerLength(Buffer.from([1, 17, 9])), 14);
  t.equal(answerLength(Buffer.from([1, 22])), 10);
  t.equal(answerLength(Buffer.from([1, 99])), 0);
  t.equal(answerLength(Buffer.from([1, 43, 14, 2, 2, 0, 0, 1, 0, 3, 65, 66, 67])), 15);
});
