/** The probe with a clock and a wire of the test's own. */
import t from 'tap';
import type { ProbeModule } from '../../../runtime/port.js';
import type { Driver } from '../../../runtime/io/driver.js';
import { WriteTurns } from '../../../runtime/io/write-turns.js';
import { CONNECTION, IMAGE_HEADER, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { at } from '../../support/at.js';
import { channel, imageOf, moduleOf, type Rig, rig, type Wire } from './wire-rig.js';

t.test('a protocol without a driver in this build is Failed with that sentence', async (t) => {
  const { core, load, last, messages } = rig();
  const module = moduleOf([channel('a'), channel('b', 'output')], { protocol: 'opcua' });
  await load(module);
  t.match(last('module'), { module: 'io', state: 'Failed', message: 'this build has no driver for the protocol opcua' });
  t.equal(imageOf(module).quality[0], QUALITY.Bad);
  await core.receive({ type: 'write', id: 1, module: 'io', channel: 'b', value: 1 });
  t.match(last('write-result'), { ok: false, code: 'device_unreachable' });
  await core.receive({ type: 'read', id: 2, module: 'elsewhere', channels: ['a'] });
  t.match(last('read-result').values, [{ quality: 'Bad', message: /does not serve/ }]);
  await core.receive({ type: 'stop' });
  t.equal(messages.at(-1)?.type, 'stopped');
});

t.test('a wrong address is Failed, and nothing is tried', async (t) => {
  const { load, last, wire } = rig();
  await load(moduleOf([channel('a')], { address: 'a b' }));
  t.match(last('module'), { state: 'Failed' });
  t.equal(wire.connectsAtMs.length, 0);
});

t.test('D-IO-02: attempts back off 500 ms doubling to 30 s; the first good read defines connected', async (t) => {
  const { clock, wire, load, last } = rig();
  wire.present = false;
  await load(moduleOf([channel('a')]));
  await clock.advance(100_000);
  t.same(wire.connectsAtMs.slice(0, 9), [0, 500, 1500, 3500, 7500, 15_500, 31_500, 61_500, 91_500]);
  t.match(last('module'), { state: 'Disconnected', message: 'nobody there' });
  wire.present = true;
  wire.values.set('a', 5);
  await clock.advance(35_000);
  t.match(last('module'), { state: 'Connected' });
  wire.pull();
  await clock.advance(499);
  const before = wire.connectsAtMs.length;
  await clock.advance(1);
  t.equal(wire.connectsAtMs.length, before + 1, 'after a good time the back-off starts anew');
});

t.test('D-IO-01: a silent device is Bad after its time-out, a slow poll is checked in between', async (t) => {
  for (const options of [{}, { pollInterval: '1h', timeout: '10s' }] as ProbeModule['options'][]) {
    const { clock, wire, load, last } = rig();
    wire.values.set('a', 5);
    const module = moduleOf([channel('a')], { options });
    await load(module);
    await clock.advance(60_000);
    t.equal(imageOf(module).quality[0], QUALITY.Good);
    wire.silent = true;
    await clock.advance(3000);
    t.equal(imageOf(module).quality[0], QUALITY.Bad, JSON.stringify(options));
    t.equal(Atomics.load(imageOf(module).header, IMAGE_HEADER.connection), CONNECTION.lost);
    t.match(last('module'), { state: 'Disconnected' });
  }
});

t.test('polls follow the interval of their channel', async (t) => {
  const { clock, wire, load } = rig();
  wire.values.set('fast', 1).set('slow', 2);
  const module = moduleOf([channel('fast', 'input', { pollIntervalMs: 100 }), channel('slow', 'input', { pollIntervalMs: 1000 })]);
  await load(module);
  await clock.advance(1950);
  const image = imageOf(module);
  t.same([at(image.sampledAtMs, 0) - 1_700_000_000_000, at(image.sampledAtMs, 1) - 1_700_000_000_000], [1900, 1000]);
});

t.test('an exception inside a driver is data, not a crash', async (t) => {
  const { clock, wire, load, last } = rig();
  wire.values.set('a', 5);
  const module = moduleOf([channel('a')]);
  await load(module);
  wire.explode = true;
  await clock.advance(600);
  t.match(last('module'), { state: 'Disconnected', message: 'a bug in the driver' });
  t.equal(at(imageOf(module).header, IMAGE_HEADER.version) % 2, 0, 'the image is not left open');
  wire.explode = false;
  await clock.advance(5000);
  t.match(last('module'), { state: 'Connected' });
});

t.test('D-IO-03: an edit restarts only what changed', async (t) => {
  const { clock, wire, load } = rig();
  wire.values.set('a', 1).set('b', 2).set('c', 3);
  const first = moduleOf([channel('a')]);
  const second = moduleOf([channel('a')], { module: 'io2', address: 'plc2' });
  await load(first, second);
  t.equal(wire.connectsAtMs.length, 2);
  const wider = moduleOf([channel('b'), channel('a'), channel('c')]);
  await load(wider, second);
  await clock.advance(10);
  t.equal(wire.connectsAtMs.length, 2, 'channels change in place');
  t.same([...imageOf(wider).value], [2, 1, 3]);
  await load({ ...wider, options: { retries: 1 } }, second);
  t.equal(wire.connectsAtMs.length, 3, 'options reconnect that module only');
  await load(second);
  t.same([...imageOf(wider).quality], [QUALITY.Bad, QUALITY.Bad, QUALITY.Bad], 'a module that left is Bad');
});

t.test('D-IO-03: a module that hangs while it connects keeps no other one waiting, neither when it leaves nor when it comes again', async (t) => {
  const { clock, wire, load } = rig();
  wire.values.set('a', 1);
  let letGo = (): void => {};
  wire.hanging = new Promise((resolve) => (letGo = resolve));
  const hung = moduleOf([channel('a')], { module: 'hung', address: 'nobody' });
  await load(hung);
  wire.hanging = undefined;
  const first = moduleOf([channel('a')]);
  await load(hung, first);
  t.equal(imageOf(first).quality[0], QUALITY.Good);
  const second = moduleOf([channel('a')], { module: 'io2', address: 'plc2' });
  await load(second);
  t.equal(imageOf(first).quality[0], QUALITY.Bad, 'what is no longer served is let go at once');
  t.equal(imageOf(second).quality[0], QUALITY.Good, 'and what is new is served at once');
  const again = moduleOf([channel('a')], { module: 'hung', address: 'plc3' });
  await load(second, again);
  t.equal(imageOf(again).quality[0], QUALITY.Good, 'the same module with an address that answers');
  const before = wire.connectsAtMs.length;
  letGo();
  await clock.advance(5000);
  t.equal(wire.connectsAtMs.length, before, 'the connection that came late closed itself');
});

t.test('D-IO-03: who follows a module at its device, or by its name, waits until that one has let go; nobody else does', async (t) => {
  const { clock, wire, load } = rig();
  wire.values.set('a', 1);
  let letGo = (): void => {};
  const closed = new Promise<void>((resolve) => (letGo = resolve));
  const connects: string[] = [];
  const { driver } = wire;
  const slowToClose: Driver = {
    ...driver,
    connect: async (module, ...more) => {
      connects.push(`${module.module} ${module.address}`);
      const link = await driver.connect(module, ...more);
      return { ...link, close: async () => (await closed, link.close()) };
    },
  };
  Object.assign(wire, { driver: slowToClose });
  await load(moduleOf([channel('a')]));
  connects.length = 0;
  const anew = moduleOf([channel('a')], { address: 'elsewhere' });
  const heir = moduleOf([channel('a')], { module: 'heir' });
  const other = moduleOf([channel('a')], { module: 'other', address: 'plc2' });
  await load(anew, heir, other);
  await load(anew, heir, other);
  await clock.advance(5000);
  t.same(connects, ['other plc2']);
  letGo();
  await clock.advance(0);
  t.same(connects.sort(), ['heir plc', 'io elsewhere', 'other plc2'], 'each of them once');
});

t.test('G9: what people ask waits in a line of its own, a poll waits for one request of it, and a place in the line has an end', async (t) => {
  const { clock, wire, core, load, messages } = rig();
  wire.values.set('a', 1);
  wire.readMs = 200;
  const module = moduleOf([channel('a')], { options: { pollInterval: '500ms', timeout: '500ms', retries: 0 } });
  await load(module);
  await clock.advance(1000);
  const asked = Array.from({ length: 60 }, (_, id) => core.receive({ type: 'read', id, module: 'io', channels: ['a'] }));
  for (let look = 0; look < 100; look += 1) {
    await clock.advance(100);
    t.equal(imageOf(module).quality[0], QUALITY.Good, `look ${look}`);
  }
  await Promise.all(asked);
  const results = messages.flatMap((message) => (message.type === 'read-result' ? message.values : []));
  t.equal(results.filter(({ quality }) => quality === 'Good').length, 16, 'those who may wait');
  t.equal(results.filter(({ message }) => message?.includes('ask again in a moment')).length, 44);
});

/** Reads of a module by number, with what they were answered and when. */
function asking({ clock, core, messages }: Pick<Rig, 'clock' | 'core' | 'messages'>) {
  const answeredAtMs = new Map<number, number>();
  return {
    answeredAtMs,
    ask: (id: number, isForChart: boolean, name = 'a'): void => {
      core.receive({ type: 'read', id, module: 'io', channels: [name], isForChart }).then(
        () => answeredAtMs.set(id, clock.monoMs()),
        (fault: unknown) => t.error(fault),
      );
    },
    answerTo: (wanted: number) => messages.flatMap((message) => (message.type === 'read-result' && message.id === wanted ? message.values : []))[0],
  };
}

t.test('ADR 0106: a chart waits for one request of the device, however long a discovery lasts, however many people and charts ask', async (t) => {
  const { clock, wire, core, load, messages } = rig();
  wire.values.set('a', 7);
  const { driver } = wire;
  const discovered: Driver = {
    ...driver,
    connect: async (...args) => ({ ...(await driver.connect(...args)), discover: () => new Promise(() => {}) }),
  };
  Object.assign(wire, { driver: discovered });
  await load(moduleOf([channel('a')], { options: { pollInterval: '1h' } }));
  wire.readMs = 300;
  const { ask, answeredAtMs, answerTo } = asking({ clock, core, messages });
  const discovery = core.receive({ type: 'discover', id: 1000, module: 'io', timeoutMs: 8000 });
  for (let id = 100; id < 120; id += 1) ask(id, false);
  await clock.advance(50);
  const readsBefore = wire.reads.length;
  for (let id = 0; id < 20; id += 1) ask(id, true);
  await clock.advance(100);
  ask(20, true);
  ask(21, true);
  await clock.advance(200);
  t.same([...answeredAtMs].filter(([id, atMs]) => id < 20 && atMs === 350).length, 20, 'twenty that ask at a time are asked together, and behind nobody');
  await clock.advance(300);
  t.same([answeredAtMs.get(20), answeredAtMs.get(21), wire.reads.length - readsBefore], [650, 650, 2], 'who comes meanwhile waits for that one, and shares the next');
  for (let id = 0; id < 22; id += 1) t.match(answerTo(id), { value: 7, quality: 'Good' });
  t.match(answerTo(119), { quality: 'Bad', message: /16 others are asking/ }, 'of people only so many wait');
  await clock.advance(10_000);
  await discovery;
});

t.test('ADR 0106: what people ask begins behind the charts that ask by then, and is refused when its time is over, though what is before it has not ended', async (t) => {
  const { clock, wire, core, load, messages } = rig();
  wire.values.set('a', 7).set('b', 8);
  await load(moduleOf([channel('a'), channel('b')], { options: { pollInterval: '1h', timeout: '500ms' } }));
  const { ask, answeredAtMs, answerTo } = asking({ clock, core, messages });
  wire.readMs = 300;
  ask(1, true);
  ask(2, false);
  await clock.advance(700);
  t.same([answeredAtMs.get(1), answeredAtMs.get(2)], [300, 600]);
  wire.readMs = 30_000;
  ask(3, false);
  await clock.advance(100);
  const readsBefore = wire.reads.length;
  ask(4, false, 'b');
  for (let id = 10; id < 25; id += 1) ask(id, false, 'b');
  ask(25, false, 'b');
  t.equal(
    messages.some((message) => message.type === 'read-result' && message.id === 4),
    false,
  );
  await clock.advance(8499);
  t.match(answerTo(25), { message: /16 others/ });
  t.equal(answerTo(4), undefined);
  await clock.advance(1);
  t.match(answerTo(4), { quality: 'Bad', message: /others were asking the device for too long/ });
  for (let id = 30; id < 46; id += 1) ask(id, false, 'b');
  await clock.advance(0);
  t.notOk(answerTo(45), 'their places in the line are free again');
  await clock.advance(60_000);
  t.match(answerTo(3), { quality: 'Good' });
  t.notOk(
    wire.reads.slice(readsBefore).some((addresses) => addresses.includes('b')),
    'and what was refused is never begun',
  );
});

/** The first order reaches the device when it is let go; the others wait behind it. */
function withHeldWrites(wire: Wire): () => void {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { driver } = wire;
  const slow: Driver = {
    ...driver,
    connect: async (...args) => {
      const link = await driver.connect(...args);
      const turns = new WriteTurns();
      return { ...link, write: (point, value, barred) => turns.take(barred, async () => (await held, link.write(point, value))) };
    },
  };
  Object.assign(wire, { driver: slow });
  return () => letGo();
}

t.test('G9: an order that could not be sent in its time is told so, and is never sent', async (t) => {
  const { clock, wire, core, load, last } = rig();
  wire.values.set('a', 1);
  const module = moduleOf([channel('a'), channel('y', 'output')], { options: { pollInterval: '500ms', timeout: '500ms', retries: 0 } });
  const letGo = withHeldWrites(wire);
  await load(module);
  const first = core.receive({ type: 'write', id: 1, module: 'io', channel: 'y', value: 5 });
  const second = core.receive({ type: 'write', id: 2, module: 'io', channel: 'y', value: 6 });
  await clock.advance(9000);
  letGo();
  await Promise.all([first, second]);
  t.match(last('write-result'), { id: 2, ok: false, code: 'device_unreachable', message: /was not sent/ });
  t.same(
    wire.written.map(([, value]) => value),
    [5],
  );
});

t.test('G9: an order that waits while the connection ends is not sent over what is left of it', async (t) => {
  const { clock, wire, core, load, last } = rig();
  wire.values.set('a', 1);
  const letGo = withHeldWrites(wire);
  await load(moduleOf([channel('a'), channel('y', 'output')]));
  const orders = [5, 6].map((value, id) => core.receive({ type: 'write', id, module: 'io', channel: 'y', value }));
  wire.pull();
  await clock.advance(100);
  letGo();
  await Promise.all(orders);
  t.match(last('write-result'), { id: 1, ok: false, code: 'device_unreachable', message: 'the connection was closed before the value was sent' });
  t.notOk(last('write-result').isUnknown, 'nobody has to look whether the device took it');
  t.same(
    wire.written.map(([, value]) => value),
    [5],
  );
});

t.test('decisions 7.6: a fail-safe value that the device does not take is named where it is said that they are written', async (t) => {
  const { clock, wire, load, last } = rig();
  wire.values.set('a', 1);
  const module = moduleOf([channel('a'), channel('y', 'output')], {
    failSafe: { posture: 'supervisory', timeoutMs: 2000, outputs: [{ channel: 'y', value: -1 }], heartbeatChannel: '' },
  });
  const image = imageOf(module);
  await load(module);
  Atomics.add(image.header, IMAGE_HEADER.wake, 1);
  await clock.advance(500);
  wire.refusal = 'it takes no -1';
  await clock.advance(4000);
  t.match(last('module'), { state: 'Degraded', message: /fail-safe values written, except y \(it takes no -1\)/ });
  wire.refusal = '';
  await clock.advance(2000);
  t.match(last('module'), { message: /fail-safe values written$/ });
});

t.test('ADR 0076: a connection that is gone between two polls is counted, and its last exchange can still be read', async (t) => {
  const { clock, wire, core, load, last } = rig();
  wire.values.set('a', 1);
  await load(moduleOf([channel('a')]));
  await clock.advance(100);
  wire.pull();
  await clock.advance(0);
  await core.receive({ type: 'statistics', id: 1, module: 'io' });
  t.match(last('statistics-result').statistics, { errors: { lost: 1 }, channels: [{ errors: { lost: 1 } }] });
  await core.receive({ type: 'exchange', id: 2, module: 'io' });
  t.match(last('exchange-result'), { exchange: { sent: '01', received: '' } });
});

t.test('decisions 7.6: heartbeat while the runtime lives, fail-safe values after the time-out, control again when it is back', async (t) => {
  const { clock, wire, load, last } = rig();
  const channels = [channel('sp', 'output'), channel('beat', 'output', { dataType: 'bool' }), channel('valve', 'output', { dataType: 'bool' })];
  const failSafe = {
    posture: 'regulating',
    timeoutMs: 5000,
    heartbeatChannel: 'beat',
    outputs: [
      { channel: 'sp', value: 4 },
      { channel: 'valve', value: false },
    ],
  };
  const module = moduleOf(channels, { failSafe });
  const image = imageOf(module);
  await load(module);
  await clock.advance(20_000);
  t.same(wire.written, [], 'nothing is written before the first scan');
  const scan = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      image.write(0, 12);
      image.write(2, 1);
      image.wakeProbe();
      await clock.advance(100);
    }
  };
  await scan(31);
  t.equal(wire.values.get('sp'), 12);
  t.equal(wire.values.get('valve'), 1);
  const beats = wire.written.filter(([address]) => address === 'beat').map(([, value]) => value);
  t.same(beats.slice(0, 3), [true, false, true]);
  const writes = wire.written.filter(([address]) => address === 'sp').length;
  t.ok(writes >= 4 && writes <= 5, `an unchanged value is written once a second, not in every scan (${writes})`);
  t.equal(image.outDone[0], image.outSeq[0]);
  t.equal(image.outStatus[0], WRITE_STATUS.done);
  await clock.advance(4800);
  t.equal(wire.values.get('sp'), 12, 'kept until the time-out');
  const beatsWhenSilent = wire.written.filter(([address]) => address === 'beat').length;
  await clock.advance(400);
  t.equal(wire.values.get('sp'), 4);
  t.equal(wire.values.get('valve'), 0);
  t.match(last('module'), { state: 'Degraded', message: /fail-safe/ });
  await clock.advance(3000);
  t.equal(wire.written.filter(([address]) => address === 'beat').length, beatsWhenSilent, 'no heartbeat for a dead runtime');
  wire.pull();
  wire.values.clear();
  wire.present = true;
  await clock.advance(1000);
  t.equal(wire.values.get('sp'), 4, 'after a reconnect the fail-safe values stand again');
  await scan(2);
  t.equal(wire.values.get('sp'), 12);
  t.match(last('module'), { state: 'Connected' });
  wire.pull();
  wire.values.clear();
  wire.present = true;
  await clock.advance(1000);
  t.equal(wire.values.get('sp'), 12, 'after a reconnect the outputs are written again');
});

t.test('decisions 7.6, ADR 0077: a probe that comes when the runtime is gone already writes the fail-safe values after their time-out', async (t) => {
  const failSafe = { posture: 'regulating', timeoutMs: 5000, heartbeatChannel: 'beat', outputs: [{ channel: 'valve', value: false }] };
  const module = moduleOf([channel('valve', 'output', { dataType: 'bool' }), channel('beat', 'output', { dataType: 'bool' })], { failSafe });
  const before = rig();
  await before.load(module);
  imageOf(module).write(0, 1);
  imageOf(module).wakeProbe();
  await before.clock.advance(100);
  t.equal(before.wire.values.get('valve'), 1);
  await before.core.receive({ type: 'stop' });

  const { clock, wire, load, last } = rig();
  await load(module);
  await clock.advance(4900);
  t.same(wire.written, [], 'what the device has stands until then, and nobody says that the runtime lives');
  await clock.advance(200);
  t.equal(wire.values.get('valve'), 0);
  t.match(last('module'), { state: 'Degraded', outputs: { failSafeTaken: true } });
});

t.test('decisions 7.6: a module that is only observed is never written', async (t) => {
  const { clock, wire, load, core, last } = rig();
  const module = moduleOf([channel('sp', 'output')], { failSafe: { posture: 'observed', timeoutMs: 0, outputs: [] } });
  await load(module);
  imageOf(module).write(0, 5);
  await clock.advance(100);
  t.same(wire.written, []);
  t.equal(imageOf(module).outStatus[0], WRITE_STATUS.failed);
  await core.receive({ type: 'write', id: 1, module: 'io', channel: 'sp', value: 1 });
  t.match(last('write-result'), { ok: false, code: 'device_write_failed' });
});

t.test('decisions 7.7: a mismatch ends when the device follows late', async (t) => {
  const { clock, wire, load } = rig();
  const module = moduleOf([channel('sp', 'output', { readbackAddress: 'pv' })]);
  wire.values.set('pv', 0);
  await load(module);
  const image = imageOf(module);
  image.write(0, 9);
  await clock.advance(4900);
  t.equal(image.outDone[0], 0, 'not dealt with yet');
  await clock.advance(400);
  t.same([image.outDone[0], image.outStatus[0], image.readback[0]], [1, WRITE_STATUS.mismatch, 0]);
  wire.values.set('pv', 9);
  await clock.advance(600);
  t.equal(image.outStatus[0], WRITE_STATUS.done);
});

const simulated = (more: Partial<ProbeModule> = {}): ProbeModule =>
  moduleOf([channel('cmd', 'output', { dataType: 'bool' }), channel('level')], {
    module: 'sim',
    protocol: 'simulation',
    address: '',
    simulation: {
      seed: 1,
      behaviors: [
        { address: 'level', type: 'Expr', params: { expr: 'self + if([cmd], 10, 0) * dt' } },
        { address: 'hidden', type: 'Expr', params: { expr: 't' } },
      ],
      faults: [],
    },
    ...more,
  });

t.test('SIM-16, IO-19, decisions 7.6: a simulated module in the probe', async (t) => {
  const { clock, load, core, last } = rig();
  const module = simulated({ failSafe: { timeoutMs: 2000, outputs: [{ channel: 'cmd', value: false }] } });
  const image = imageOf(module);
  await load(module);
  t.equal(image.quality[1], QUALITY.Bad, 'nothing before the first tick');
  await clock.advance(100);
  t.match(last('module'), { module: 'sim', state: 'Connected' });
  t.equal(image.quality[1], QUALITY.Good);
  image.write(0, 1);
  await clock.advance(1100);
  t.equal(Number(at(image.value, 1).toFixed(6)), 10);
  t.same([image.outDone[0], image.outStatus[0]], [1, WRITE_STATUS.done]);
  await core.receive({ type: 'write', id: 1, module: 'sim', channel: 'level', value: '77.5' });
  t.match(last('write-result'), { ok: true, forced: true, readback: 77.5 });
  t.equal(image.value[1], 77.5);
  await core.receive({ type: 'read', id: 2, module: 'sim', channels: ['level', 'hidden', 'cmd', 'nothing'] });
  t.match(last('read-result').values, [{ value: 77.5, forced: true }, { quality: 'Good', forced: false }, { value: true }, { quality: 'Bad' }]);
  await core.receive({ type: 'write', id: 3, module: 'sim', channel: 'level', value: 'high' });
  t.match(last('write-result'), { ok: false, code: 'invalid_value' });
  await core.receive({ type: 'release', id: 4, module: 'sim', channels: [] });
  t.same(last('release-result').released, ['level']);
  await clock.advance(2500);
  const level = image.value[1];
  t.match(last('module'), { state: 'Degraded', message: /fail-safe/ });
  await clock.advance(1000);
  t.equal(image.value[1], level, 'the command went to its fail-safe value');
});

t.test('SIM-15: an edit of the simulation goes on with the values there are', async (t) => {
  const { clock, load, last } = rig();
  const module = simulated();
  const image = imageOf(module);
  await load(module);
  image.write(0, 1);
  await clock.advance(1200);
  const level = at(image.value, 1);
  t.ok(level > 5);
  await load({
    ...module,
    simulation: {
      seed: 1,
      behaviors: [{ address: 'level', type: 'Expr', params: { expr: 'self' } }],
      faults: [{ name: 'f', address: 'level', type: 'QualityBad', params: {}, triggerMode: 'Manual', triggerAfterMs: 0 }],
    },
  });
  await clock.advance(200);
  t.equal(image.value[1], level);
  t.equal(image.quality[1], QUALITY.Bad);
  await load({ ...module, simulation: { seed: 1, behaviors: [{ address: 'level', type: 'Expr', params: { expr: '[nowhere]' } }], faults: [] } });
  t.match(last('module'), { state: 'Failed', message: /nowhere/ });
});

t.test('decisions 6.7: the time scale shortens the wall period of a tick and leaves dt alone', async (t) => {
  const { clock, load, core } = rig(10);
  const module = simulated();
  await load(module);
  imageOf(module).write(0, 1);
  await clock.advance(1010);
  t.equal(Number(at(imageOf(module).value, 1).toFixed(6)), 100, '101 ticks in one second, the first with the command still off');
  await core.receive({ type: 'time-scale', timeScale: 1 });
  await clock.advance(1000);
  t.equal(Number(at(imageOf(module).value, 1).toFixed(6)), 110);
});

t.test('decisions 7.7: a simulated output with a readback address is compared with it, for as long as the value stands', async (t) => {
  const { clock, load, core, last } = rig();
  const channels = [channel('v', 'output', { readbackAddress: 'fb' }), channel('fb')];
  const module = moduleOf(channels, { module: 'sim', protocol: 'simulation', address: '', simulation: { seed: 1, behaviors: [], faults: [] } });
  await load(module);
  const image = imageOf(module);
  image.write(0, 40);
  await clock.advance(4900);
  t.equal(image.outDone[0], 0, 'not dealt with yet');
  await clock.advance(300);
  t.same([image.outDone[0], image.outStatus[0], image.readback[0]], [1, WRITE_STATUS.mismatch, 0]);
  t.match(last('module'), { module: 'sim', outputs: { mismatched: ['v'] } });
  await core.receive({ type: 'write', id: 1, module: 'sim', channel: 'fb', value: 40 });
  await clock.advance(200);
  t.same([image.outStatus[0], last('module').outputs.mismatched], [WRITE_STATUS.done, []]);
  await core.receive({ type: 'write', id: 2, module: 'sim', channel: 'fb', value: 12 });
  await clock.advance(200);
  t.equal(image.outStatus[0], WRITE_STATUS.mismatch, 'also long after the write');
});

t.test('Q-IO-02: a fraction is no whole number, on a device and on a simulated channel', async (t) => {
  const { clock, load, core, last, wire } = rig();
  const whole = (name: string, more: Partial<ProbeModule>) => moduleOf([channel('n', 'output', { dataType: 'int' })], { module: name, ...more });
  await load(whole('io', {}), whole('sim', { protocol: 'simulation', address: '', simulation: { seed: 1, behaviors: [], faults: [] } }));
  await clock.advance(200);
  for (const module of ['io', 'sim']) {
    for (const value of [1.5, '1.5', -0.1]) {
      await core.receive({ type: 'write', id: 1, module, channel: 'n', value });
      t.match(last('write-result'), { ok: false, code: 'invalid_value' }, `${module} ${value}`);
    }
    for (const value of [2, '2', '2.0', true]) {
      await core.receive({ type: 'write', id: 1, module, channel: 'n', value });
      t.match(last('write-result'), { ok: true }, `${module} ${value}`);
    }
    await core.receive({ type: 'write', id: 1, module, channel: 'n', value: '9007199254740993' });
    t.match(last('write-result'), { ok: module === 'io' }, 'a simulated channel is a double, and would change it');
  }
  t.same(
    wire.written.map(([, value]) => value),
    [2, 2, 2, 1, '9007199254740993'],
  );
});
