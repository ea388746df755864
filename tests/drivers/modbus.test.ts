/** The Modbus driver and the probe against a real device (pymodbus, a separate process) over loopback. */
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { ProbeInbound, ProbeModule, ProbeOutbound } from '../../runtime/port.js';
import { modbusDriver } from '../../runtime/io/modbus/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { CONNECTION, ProcessImage, WRITE_STATUS } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { collector, conformance } from './conformance.js';
import { ModbusPeer } from './modbus-peer.js';
import { type ChannelText, channelsOf, connectionOf, planOf, startProbe, until, valueOf } from './probe-harness.js';
import { at } from '../support/at.js';

const peer = await ModbusPeer.start();
t.teardown(() => peer.kill());

function moduleOf(port: number, rows: readonly ChannelText[], options: ProbeModule['options'] = {}, more: Partial<ProbeModule> = {}): ProbeModule {
  const channels = channelsOf(rows);
  return {
    site: 'north',
    module: 'io',
    protocol: 'modbus',
    address: `127.0.0.1:${port}`,
    options: { pollInterval: '50ms', timeout: '1s', retries: 1, ...options },
    channels,
    image: new ProcessImage(channels.length).buffer,
    ...more,
  };
}

/** A port on which nobody listens (tcpmux). One that was free a moment ago may be that of another test's server now. */
const DEAD_PORT = 1;

conformance(t, () => ({
  driver: modbusDriver,
  module: moduleOf(peer.port, []),
  unreachable: moduleOf(DEAD_PORT, []),
  notAnAddress: 'host:0',
  notAChannel: 'holding:1:complex',
  writable: [
    { point: { address: 'coil:3', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'holding:100', dataType: 'int' }, values: [65535, 1] },
    { point: { address: 'holding:101:int16', dataType: 'int' }, values: [-32768, 5] },
    { point: { address: 'holding:102:int32:les', dataType: 'int' }, values: [-2_000_000_000, 17] },
    { point: { address: 'holding:104:uint32:bes', dataType: 'int' }, values: [4_294_967_295, 0] },
    { point: { address: 'holding:106:int64:le', dataType: 'int' }, values: [-9_007_199_254_740_991, 3] },
    { point: { address: 'holding:110:uint64', dataType: 'int' }, values: [9_007_199_254_740_991, 3] },
    { point: { address: 'holding:114:float32', dataType: 'float' }, values: [1.5, -0.25] },
    { point: { address: 'holding:116:float64:les', dataType: 'float' }, values: [0.1, -1e200] },
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

t.test('decisions 7.4: all tables, types and orders are read', async (t) => {
  const module = moduleOf(peer.port, [
    ['coil-on', 'coil:2', 'bool'],
    ['coil-off', 'coil:5', 'bool'],
    ['discrete', 'discrete:9', 'bool'],
    ['unit1', 'holding:0', 'int'],
    ['unit7', 'holding:0@7', 'int'],
    ['input7', 'input:0@7', 'int'],
    ['int16', 'holding:10:int16', 'int'],
    ['uint16', 'holding:11', 'int'],
    ['int32', 'holding:12:int32', 'int'],
    ['uint32', 'holding:14:uint32', 'int'],
    ['int64', 'holding:16:int64', 'int'],
    ['uint64', 'input:20:uint64', 'int'],
    ['float32', 'input:24:float32', 'float'],
    ['float64', 'holding:26:float64', 'float'],
    ['text', 'holding:30:string5', 'string'],
    ['le', 'holding:40:int32:le', 'int'],
    ['bes', 'holding:42:int32:bes', 'int'],
    ['les', 'holding:44:int32:les', 'int'],
    ['le64', 'holding:46:float64:le', 'float'],
    ['bit0', 'holding:50:bit0', 'bool'],
    ['bit1', 'holding:50:bit1', 'bool'],
    ['bit15', 'holding:50:bit15', 'bool'],
    ['last', 'holding:65535', 'int'],
  ]);
  const probe = await startProbe(t, [module]);
  await until('connected', () => probe.state() === 'Connected');
  const expected: Record<string, number> = {
    'coil-on': 1,
    'coil-off': 0,
    discrete: 1,
    unit1: 1,
    unit7: 7,
    input7: 1007,
    int16: -1234,
    uint16: 65000,
    int32: -123456789,
    uint32: 4000000000,
    int64: Number(-1234567890123456789n),
    uint64: Number(18000000000000000000n),
    float32: 3.25,
    float64: -0.1,
    le: -123456789,
    bes: -123456789,
    les: -123456789,
    le64: -0.1,
    bit0: 1,
    bit1: 0,
    bit15: 1,
    last: 9,
  };
  for (const [name, value] of Object.entries(expected)) t.match(valueOf(module, name), { value, quality: QUALITY.Good }, name);
  t.equal(valueOf(module, 'text').text, 'Reactor', 'cut at the first NUL');
  t.equal(valueOf(module, 'int64').text, '-1234567890123456789', '64 bit without loss of digits');
  t.equal(connectionOf(module), CONNECTION.connected);
  const { values } = await probe.ask({ type: 'read', id: 5, module: 'io', channels: ['uint64', 'holding:24:float32', 'nothing'] }, 'read-result');
  t.match(values[0], { channel: 'uint64', value: '18000000000000000000', quality: 'Good' });
  t.match(values[1], { quality: 'Bad', message: /no channel/ }, 'an address that no channel has is unknown');
});

/** Cells that a device thread and this one share: hold the next answer, it is held, let it go, it is sent. */
const CELL = { hold: 0, held: 1, release: 2, sent: 3 } as const;

/** A device in a thread of its own, which answers while this one stands still: every register is 7. */
async function startDeviceThread(t: Test): Promise<{ readonly port: number; readonly cells: Int32Array }> {
  const cells = new Int32Array(new SharedArrayBuffer(16));
  const code = `
    const { parentPort, workerData: cells } = require('node:worker_threads');
    require('node:net').createServer((socket) => {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('data', (frame) => {
        const holds = Atomics.exchange(cells, ${CELL.hold}, 0) === 1;
        if (holds) {
          Atomics.store(cells, ${CELL.held}, 1);
          Atomics.wait(cells, ${CELL.release}, 0);
        }
        const count = frame.readUInt16BE(10);
        const answer = Buffer.alloc(9 + 2 * count);
        frame.copy(answer, 0, 0, 8);
        answer.writeUInt16BE(3 + 2 * count, 4);
        answer[8] = 2 * count;
        for (let at = 0; at < count; at += 1) answer.writeUInt16BE(7, 9 + 2 * at);
        socket.write(answer);
        if (!holds) return;
        Atomics.store(cells, ${CELL.sent}, 1);
        Atomics.notify(cells, ${CELL.sent});
      });
    }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });`;
  const worker = new Worker(code, { eval: true, workerData: cells });
  t.teardown(() => worker.terminate());
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { port, cells };
}

/** Stands still until the answer has arrived and the time-out is over: the timer and the answer are due in one turn. */
function standStill(cells: Int32Array, timeoutMs: number): void {
  Atomics.store(cells, CELL.release, 1);
  Atomics.notify(cells, CELL.release);
  Atomics.wait(cells, CELL.sent, 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeoutMs + 50);
}

t.test('D-IO-02: an answer that came in time is heard, however late this thread looks at it', async (t) => {
  const { port, cells } = await startDeviceThread(t);
  const link = await modbusDriver.connect(moduleOf(port, [], { timeout: '1s', retries: 0 }), systemClock);
  t.teardown(() => link.close());
  const got = collector(1);
  Atomics.store(cells, CELL.hold, 1);
  const reading = link.read([{ address: 'holding:1', dataType: 'int' }], got.sink);
  await until('the request has arrived', () => Atomics.load(cells, CELL.held) === 1);
  standStill(cells, 1000);
  t.same(await reading, { status: 'answered' });
  t.equal(got.values[0], 7);
});

t.test('D-IO-01: a probe that stood still does not call its device silent', async (t) => {
  const { port, cells } = await startDeviceThread(t);
  const module = moduleOf(port, [['speed', 'holding:1', 'int']], { timeout: '1s', retries: 0 });
  const probe = await startProbe(t, [module]);
  await until('connected', () => probe.state() === 'Connected');
  Atomics.store(cells, CELL.hold, 1);
  await until('a request has arrived', () => Atomics.load(cells, CELL.held) === 1);
  const told = probe.messages.length;
  standStill(cells, 1000);
  const image = new ProcessImage(module.channels.length, module.image);
  const heldMs = at(image.sampledAtMs, 0);
  await until('the answer was heard', () => image.quality[0] !== QUALITY.Good || at(image.sampledAtMs, 0) > heldMs);
  t.equal(image.quality[0], QUALITY.Good);
  t.same(probe.messages.slice(told), [], 'nothing happened');
});

t.test('an exception reply is Bad on its channels only; a hole in a block costs its neighbours nothing', async (t) => {
  const module = moduleOf(peer.port, [
    ['left', 'holding:300', 'int'],
    ['hole', 'holding:302', 'int'],
    ['right', 'holding:305', 'int'],
  ]);
  const probe = await startProbe(t, [module]);
  await until('degraded', () => probe.state() === 'Degraded');
  t.match(probe.message(), /^hole: illegal data address \(exception 2\)$/);
  t.match(
    [valueOf(module, 'left'), valueOf(module, 'right')],
    [
      { value: 3, quality: QUALITY.Good },
      { value: 35, quality: QUALITY.Good },
    ],
  );
  t.equal(valueOf(module, 'hole').quality, QUALITY.Bad);
});

t.test('IO-18: write answers with the device, also when it refuses', async (t) => {
  const output = { direction: 'output' as const };
  const module = moduleOf(peer.port, [
    ['valve', 'coil:7', 'bool', output],
    ['speed', 'holding:130:float32', 'float', { ...output, readbackAddress: 'holding:130:float32', span: 100 }],
    ['other', 'holding:134', 'int', { ...output, readbackAddress: 'holding:135' }],
    ['hole', 'holding:400', 'int', output],
    ['sensor', 'holding:11', 'int'],
  ]);
  const probe = await startProbe(t, [module]);
  await until('connected', () => probe.state() === 'Connected');
  let id = 0;
  const write = (channel: string, value: number | string | boolean): Promise<Extract<ProbeOutbound, { type: 'write-result' }>> =>
    probe.ask({ type: 'write', id: (id += 1), module: 'io', channel, value }, 'write-result');
  t.match(await write('valve', true), { ok: true, forced: false });
  t.match(await write('speed', '12.3'), { ok: true });
  t.match((await probe.ask({ type: 'read', id: 900, module: 'io', channels: ['valve', 'speed'] }, 'read-result')).values, [{ value: true, quality: 'Good' }, { quality: 'Good' }]);
  t.match(await write('other', 5), { ok: false, code: 'device_write_failed', message: /read back 0/ }, 'a readback that never agrees');
  t.match(await write('hole', 1), { ok: false, code: 'device_write_failed', message: /illegal data address/ });
  t.match(await write('other', 70000), { ok: false, code: 'invalid_value', message: /0 to 65535/ });
  t.match(await write('valve', 'maybe'), { ok: false, code: 'invalid_value' });
  t.match(await write('sensor', 1), { ok: false, code: 'invalid_value' });
  t.match(await write('nothing', 1), { ok: false, code: 'unknown_channel' });
  await probe.core.receive({ type: 'plan', plan: planOf({ ...module, address: `127.0.0.1:${DEAD_PORT}` }) });
  t.match(await write('valve', true), { ok: false, code: 'device_unreachable' });
  t.match(await probe.ask({ type: 'release', id: 901, module: 'io', channels: [] }, 'release-result'), { released: [] });
});

t.test('decisions 7.7: outputs of a scan reach the device and are read back; the thread wakes on the wake word', async (t) => {
  const module = moduleOf(
    peer.port,
    [
      ['sp', 'holding:140:float32', 'float', { direction: 'output', readbackAddress: 'holding:140:float32' }],
      ['wrong', 'holding:144', 'int', { direction: 'output', readbackAddress: 'holding:146' }],
      ['plain', 'holding:148', 'int', { direction: 'output' }],
      ['echo', 'holding:148', 'int'],
      ['refused', 'holding:400', 'int', { direction: 'output' }],
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
  t.equal(await write(2, 77), WRITE_STATUS.done, 'an unchanged value is done at once');
  t.equal(await write(4, 1), WRITE_STATUS.failed);
  worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
  await new Promise((resolve) => worker.once('exit', resolve));
  t.ok(
    messages.some((message) => message.type === 'stopped'),
    'the thread ends by itself after stop',
  );
});

t.test('one Modbus unit behind a gateway may be silent without harm to the others', async (t) => {
  const module = moduleOf(peer.port, [
    ['here', 'holding:11', 'int'],
    ['gone', 'holding:11@99', 'int'],
  ]);
  const probe = await startProbe(t, [module]);
  await until('degraded', () => probe.state() === 'Degraded' && valueOf(module, 'here').quality === QUALITY.Good);
  t.match(probe.message(), /^gone: /);
  t.equal(valueOf(module, 'gone').quality, QUALITY.Bad);
});

t.test('decisions 7.4: two bits of one register never overwrite each other, not even from two connections', async (t) => {
  const links = await Promise.all([1, 2].map(() => modbusDriver.connect(moduleOf(peer.port, []), systemClock)));
  t.teardown(() => Promise.all(links.map((link) => link.close())));
  const register = { address: 'holding:150', dataType: 'int' as const };
  for (const [value, wanted] of [
    [true, 0xffff],
    [false, 0],
  ] as const) {
    const writes = Array.from({ length: 16 }, (_, bit) => at(links, bit % 2).write({ address: `holding:150:bit${bit}`, dataType: 'bool' }, value));
    t.same(
      await Promise.all(writes),
      Array.from({ length: 16 }, () => ({ ok: true })),
    );
    const got = collector(1);
    await at(links, 0).read([register], got.sink);
    t.equal(got.values[0], wanted);
  }
});

/** A device of few functions: answers each request as it is told, in place of pymodbus, which knows them all. */
async function poorDevice(t: Test, answer: (pdu: Buffer) => Buffer | undefined): Promise<{ readonly port: number; readonly functions: number[] }> {
  const functions: number[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (frame) => {
      const pdu = frame.subarray(7);
      functions.push(at(pdu, 0));
      const reply = answer(pdu);
      if (reply) socket.write(Buffer.concat([frame.subarray(0, 4), Buffer.from([0, reply.length + 1]), frame.subarray(6, 7), reply]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { port: (server.address() as net.AddressInfo).port, functions };
}

t.test('decisions 7.4: a device without function 22 has its bits read, changed and written back, and is not asked for it again', async (t) => {
  for (const refusal of [Buffer.from([0x96, 1]), undefined]) {
    let register = 0b1010;
    const device = await poorDevice(t, (pdu) => {
      if (pdu[0] === 22) return refusal;
      if (pdu[0] === 3) return Buffer.from([3, 2, register >> 8, register & 0xff]);
      register = pdu.readUInt16BE(3);
      return Buffer.from(pdu);
    });
    const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 0 }), systemClock);
    t.teardown(() => link.close());
    const write = (bit: number, value: boolean): Promise<unknown> => link.write({ address: `holding:1:bit${bit}`, dataType: 'bool' }, value);
    t.same(await Promise.all([write(0, true), write(1, false), write(15, true)]), [{ ok: true }, { ok: true }, { ok: true }]);
    t.equal(register, 0b1000_0000_0000_1001);
    t.same(device.functions, refusal ? [22, 3, 6, 3, 6, 3, 6] : [22, 3, 6, 22, 3, 6, 3, 6], refusal ? 'refused' : 'silent, which may be chance once');
  }
});

t.test('decisions 7.4: one lost answer does not turn a device that knows function 22 into one that does not', async (t) => {
  let turn = 0;
  const device = await poorDevice(t, (pdu) => ((turn += 1) === 2 ? undefined : Buffer.from(pdu)));
  const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 0 }), systemClock);
  t.teardown(() => link.close());
  const write = (bit: number): Promise<unknown> => link.write({ address: `holding:1:bit${bit}`, dataType: 'bool' }, true);
  t.same(await write(0), { ok: true });
  t.match(await write(1), { ok: false, reason: 'unreachable', message: /no answer/ });
  t.same(device.functions, [22, 22], 'and nothing is written back that somebody else may have set');
});

t.test('decisions 7.4: a gateway that refuses function 22 for a device that says nothing to it is no answer of the device', async (t) => {
  let register = 0;
  const device = await poorDevice(t, (pdu) => {
    if (pdu[0] === 22) return Buffer.from([0x96, 11]);
    if (pdu[0] === 3) return Buffer.from([3, 2, 0, register]);
    register = pdu.readUInt16BE(3);
    return Buffer.from(pdu);
  });
  const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 0 }), systemClock);
  t.teardown(() => link.close());
  const write = (bit: number): Promise<unknown> => link.write({ address: `holding:1:bit${bit}`, dataType: 'bool' }, true);
  t.same(await Promise.all([write(0), write(1), write(3)]), [{ ok: true }, { ok: true }, { ok: true }]);
  t.equal(register, 0b1011);
  t.same(device.functions, [22, 3, 6, 22, 3, 6, 3, 6]);
});

t.test('what is barred while a register is read for its bit is not written back', async (t) => {
  for (const refusal of [Buffer.from([0x96, 1]), undefined]) {
    let isBarred = false;
    const device = await poorDevice(t, (pdu) => {
      if (pdu[0] === 22) return refusal;
      isBarred = true; // while the device is asked, another box has taken it
      return Buffer.from([3, 2, 0, 0]);
    });
    const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 0 }), systemClock);
    t.teardown(() => link.close());
    const bar = { ok: false, reason: 'withheld', message: 'another box drives it' } as const;
    const outcome = await link.write({ address: 'holding:1:bit0', dataType: 'bool' }, true, () => (isBarred ? bar : undefined));
    if (refusal) t.equal(outcome, bar, 'the device said that it has changed nothing');
    else t.same(outcome, { ...bar, isUnknown: true }, 'it may have done what it did not answer');
    t.same(device.functions, [22, 3]);
  }
});

t.test('an order that was barred while its device said nothing is not repeated', async (t) => {
  let isBarred = false;
  const device = await poorDevice(t, () => {
    isBarred = true;
    return undefined;
  });
  const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '100ms', retries: 2 }), systemClock);
  t.teardown(() => link.close());
  const bar = { ok: false, reason: 'withheld', message: 'another box drives it' } as const;
  const outcome = await link.write({ address: 'holding:1', dataType: 'int' }, 7, () => (isBarred ? bar : undefined));
  t.match(outcome, { ok: false, reason: 'unreachable', message: /no answer within 100 ms/ });
  t.not(outcome, bar, 'the device may have taken it');
  t.same(device.functions, [6]);
});

t.test('G9: a gateway that answers for a device that does not is silence, to reads and to writes', async (t) => {
  for (const exception of [10, 11]) {
    const device = await poorDevice(t, (pdu) => Buffer.from([(pdu[0] ?? 0) | 0x80, exception]));
    const link = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 0 }), systemClock);
    t.teardown(() => link.close());
    const got = collector(1);
    t.match(await link.read([{ address: 'holding:1', dataType: 'int' }], got.sink), { status: 'silent', message: /gateway/ });
    t.match(got.messages[0], /gateway/);
    t.match(await link.write({ address: 'holding:1', dataType: 'int' }, 7), { ok: false, reason: 'unreachable', message: /gateway/ });
  }
});

t.test('decisions 7.3: coils and registers are written by the functions that writeMode names', async (t) => {
  for (const [writeMode, functions] of [
    ['auto', [5, 6, 16]],
    ['multiple', [15, 16, 16]],
  ] as const) {
    const device = await poorDevice(t, (pdu) => Buffer.from(pdu.subarray(0, 5)));
    const link = await modbusDriver.connect(moduleOf(device.port, [], { writeMode }), systemClock);
    t.teardown(() => link.close());
    for (const [address, dataType, value] of [
      ['coil:1', 'bool', true],
      ['holding:1', 'int', 7],
      ['holding:2:float32', 'float', 1.5],
    ] as const)
      t.same(await link.write({ address, dataType }, value), { ok: true });
    t.same(device.functions, functions);
  }
});

t.test('Q-TIER-11: a device says its name by function 43, and one that does not is discovered all the same', async (t) => {
  const channels = moduleOf(0, [['level', 'holding:11', 'int']]).channels;
  const link = await modbusDriver.connect(moduleOf(peer.port, []), systemClock);
  t.teardown(() => link.close());
  t.match(await link.discover?.(channels, 1000), {
    device: { vendor: 'Pymodbus', product: 'Peer of the driver tests', revision: '3.0', serial: '' },
    channels: [{ isFound: true }],
  });
  for (const answer of [Buffer.from([0xab, 1]), Buffer.from([43, 14, 2, 2, 0, 0, 9, 0, 200, 65]), undefined]) {
    const device = await poorDevice(t, (pdu) => (pdu[0] === 43 ? answer : pdu[0] === 17 ? Buffer.from([0x91, 1]) : Buffer.from([3, 2, 0, 1])));
    const poor = await modbusDriver.connect(moduleOf(device.port, [], { timeout: '200ms', retries: 3 }), systemClock);
    t.teardown(() => poor.close());
    t.match(await poor.discover?.(channels, 1000), { device: { vendor: '', product: '', revision: '', serial: '' }, channels: [{ channel: 'level', isFound: true, message: '' }] });
    t.same(device.functions, answer ? [3, 43, 17] : [3, 43], 'each asked once, and none after silence');
  }
});

t.test('Q-TIER-11: a device that says nothing by function 43 is known by the words of function 17', async (t) => {
  for (const [said, product] of [
    [Buffer.concat([Buffer.from([7, 0xff]), Buffer.from('Flowmeter FM-2  1.07\0')]), 'Flowmeter FM-2  1.07'],
    [Buffer.concat([Buffer.from('VFD 300'), Buffer.from([0, 1, 0x41, 2]), Buffer.from('rev B')]), 'VFD 300 rev B'],
    [Buffer.from([0x12, 0xff, 0, 9]), ''],
    [Buffer.alloc(0), ''],
  ] as const) {
    const device = await poorDevice(t, (pdu) => (pdu[0] === 43 ? Buffer.from([0xab, 1]) : Buffer.from([17, said.length, ...said])));
    const link = await modbusDriver.connect(moduleOf(device.port, []), systemClock);
    t.teardown(() => link.close());
    t.same((await link.discover?.([], 1000))?.device, { vendor: '', product, revision: '', serial: '' });
  }
});
