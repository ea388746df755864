/** Outputs of a network module, through the real probe: what is commanded, by whom, and what is never written. */
import t from 'tap';
import type { ProbeChannel, ProbeModule, ProbeOutbound } from '../../../runtime/port.js';
import type { Driver, Link, WriteOutcome } from '../../../runtime/io/driver.js';
import { modbusDescription } from '../../../runtime/io/modbus/description.js';
import { ProbeCore } from '../../../runtime/io/probe-core.js';
import { Signal } from '../../../runtime/io/signal.js';
import { CONNECTION, IMAGE_HEADER, OUTPUTS, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { ManualClock, settle } from './manual-clock.js';
import { at as elementAt } from '../../support/at.js';

/** A device whose answers to writes wait until the test lets them go. */
class Device {
  readonly values = new Map<string, number | bigint>();
  readonly written: [address: string, value: unknown, atMs: number][] = [];
  readonly #clock: ManualClock;
  readonly #waiting: (() => void)[] = [];
  isPresent = true;
  isSlow = false;
  refuses = false;
  isMute = false;
  #lost = new Signal();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  writesOf(address: string): unknown[] {
    return this.written.filter(([name]) => name === address).map(([, value]) => value);
  }

  async answer(): Promise<void> {
    for (const answer of this.#waiting.splice(0)) answer();
    await settle();
  }

  leave(): void {
    this.isPresent = false;
    this.#lost.raise('the plug was pulled');
  }

  async #write(address: string, value: unknown): Promise<WriteOutcome> {
    this.written.push([address, value, this.#clock.monoMs()]);
    if (this.isSlow) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.isMute) return { ok: false, reason: 'unreachable', message: 'no answer within 1 s' };
    if (this.refuses) return { ok: false, reason: 'refused', message: 'illegal data value (exception 3)' };
    this.values.set(address, typeof value === 'string' ? BigInt(value) : Number(value));
    return { ok: true };
  }

  readonly driver: Driver = {
    ...modbusDescription,
    connect: async (): Promise<Link> => {
      if (!this.isPresent) throw new Error('nobody there');
      const lost = new Signal();
      this.#lost = lost;
      return {
        lost: lost.promise,
        read: async (points, sink) => {
          sink.begin();
          points.forEach(({ address }, position) => {
            const value = this.values.get(address);
            if (value === undefined) sink.bad(position, 'no such address');
            else if (typeof value === 'bigint') sink.integer(position, value);
            else sink.number(position, value);
          });
          sink.end();
          return { status: 'answered' };
        },
        write: ({ address }, value) => this.#write(address, value),
        close: async () => lost.raise('closed'),
      };
    },
  };
}

function output(name: string, more: Partial<ProbeChannel> = {}): ProbeChannel {
  return { name, address: name, direction: 'output', dataType: 'float', readbackAddress: '', pollIntervalMs: 0, ...more };
}

function moduleOf(channels: readonly ProbeChannel[], more: Partial<ProbeModule> = {}): ProbeModule {
  return { site: 'north', module: 'io', protocol: 'modbus', address: 'plc', options: {}, channels, image: new ProcessImage(channels.length).buffer, ...more };
}

const imageOf = (module: ProbeModule): ProcessImage => new ProcessImage(module.channels.length, module.image);

function rig() {
  const clock = new ManualClock();
  const device = new Device(clock);
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock, random: () => 0.5, post: (message) => void messages.push(message), drivers: { modbus: async () => device.driver } });
  return {
    clock,
    device,
    core,
    messages,
    load: async (...modules: ProbeModule[]) => {
      await core.receive({ type: 'plan', plan: { probe: 'p', revision: 1, timeScale: 1, modules, reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 } });
      await clock.advance(0);
    },
    all: <T extends ProbeOutbound['type']>(type: T) => messages.filter((message) => message.type === type) as Extract<ProbeOutbound, { type: T }>[],
    /** A network that commands the values, scan by scan. */
    scan: async (image: ProcessImage, values: readonly number[], forMs: number, everyMs = 1000) => {
      for (let ms = 0; ms < forMs; ms += everyMs) {
        values.forEach((value, channel) => image.write(channel, value));
        image.wakeProbe();
        await clock.advance(everyMs);
      }
    },
  };
}

t.test('D-IO-03: a channel added in front while a write is in flight moves no value to another output', async (t) => {
  const { clock, device, load } = rig();
  const before = moduleOf([output('a'), output('b')]);
  await load(before);
  device.isSlow = true;
  imageOf(before).write(1, 7);
  await clock.advance(50);
  imageOf(before).write(1, 8); // waits behind the one in flight
  await clock.advance(50);
  const after = moduleOf([output('x'), output('a'), output('b')]);
  await load(after);
  device.isSlow = false;
  await device.answer();
  await clock.advance(200);
  t.same(
    device.written.map(([address, value]) => [address, value]),
    [['b', 7]],
    'nobody commands anything in the new image yet',
  );
  imageOf(after).write(2, 9);
  await clock.advance(50);
  t.same(device.writesOf('b'), [7, 9]);
  t.same(device.writesOf('a'), []);
});

t.test('D-IO-03: a channel removed while a write is in flight ends neither the probe nor the other modules', async (t) => {
  const { clock, device, load, core, all } = rig();
  const before = moduleOf([output('a'), output('b')]);
  const other = moduleOf([output('o')], { module: 'other' });
  await load(before, other);
  device.isSlow = true;
  imageOf(before).write(1, 7);
  const request = core.receive({ type: 'write', id: 1, module: 'io', channel: 'b', value: 5 });
  await clock.advance(50);
  const after = moduleOf([output('a')]);
  await load(after, other);
  device.isSlow = false;
  await device.answer();
  await request;
  const [reply] = all('write-result');
  t.match(reply, { ok: false, code: 'device_write_failed', message: /changed while/ }, 'what was replaced while something was in flight is told so');
  imageOf(other).write(0, 3);
  imageOf(after).write(0, 4);
  await clock.advance(50);
  t.same([device.writesOf('o'), device.writesOf('a')], [[3], [4]], 'both are served on');
});

t.test('decisions 5.2: what a network has commanded before a channel was edited is written at once, not with the next refresh', async (t) => {
  const { clock, device, load } = rig();
  const before = moduleOf([output('a')]);
  await load(before);
  await clock.advance(5000);
  imageOf(before).write(0, 7); // the probe has not looked yet
  await load({ ...before, channels: [output('a', { span: 50 })] });
  await clock.advance(50);
  t.same(device.writesOf('a'), [7], 'it waited for a look');
  device.isSlow = true;
  imageOf(before).write(0, 8);
  await clock.advance(50);
  imageOf(before).write(0, 9); // waits behind the one in flight
  await clock.advance(50);
  await load({ ...before, channels: [output('a', { span: 60 })] });
  device.isSlow = false;
  await device.answer();
  await clock.advance(100);
  t.same(device.writesOf('a'), [7, 8, 9], 'it waited behind a write in flight');
  t.equal(Atomics.load(imageOf(before).outDone, 0), Atomics.load(imageOf(before).outSeq, 0), 'and it has been dealt with');
});

t.test('decisions 5.2, AO and DO: an output that the device dropped by itself is written again within a second', async (t) => {
  const { device, load, scan } = rig();
  const module = moduleOf([output('ao'), output('do', { dataType: 'bool' })]);
  await load(module);
  const image = imageOf(module);
  await scan(image, [50, 1], 3000);
  device.values.set('ao', 7).set('do', 0);
  await scan(image, [50, 1], 1000);
  t.same([device.values.get('ao'), device.values.get('do')], [50, 1]);
  const at = device.written.filter(([address]) => address === 'ao').map(([, , ms]) => ms);
  t.ok(
    at.slice(1).every((ms, n) => ms - elementAt(at, n) <= 1000),
    `at least every second: ${at.join(', ')}`,
  );
});

t.test('decisions 5.2: a unit that scans seldom is refreshed in between, one that ended is not', async (t) => {
  const { clock, device, load, scan } = rig();
  const module = moduleOf([output('ao')]);
  await load(module);
  await scan(imageOf(module), [50], 8000, 4000);
  const inSecondPeriod = device.written.filter(([, , ms]) => ms > 4000 && ms <= 8000).length;
  t.ok(inSecondPeriod >= 4, `written ${inSecondPeriod} times in 4 s`);
  await clock.advance(20_000);
  const before = device.written.length;
  await clock.advance(10_000);
  t.equal(device.written.length, before, 'nobody commands it any more');
});

t.test('decisions 7.7: a readback is compared all the time, not only after a write', async (t) => {
  const { device, load, scan } = rig();
  const module = moduleOf([output('sp', { readbackAddress: 'pv' })]);
  device.values.set('pv', 60);
  await load(module);
  const image = imageOf(module);
  await scan(image, [60], 2000);
  t.equal(image.outStatus[0], WRITE_STATUS.done);
  device.values.set('pv', 8);
  await scan(image, [60], 1000);
  t.equal(image.outStatus[0], WRITE_STATUS.mismatch);
  device.values.set('pv', 60);
  await scan(image, [60], 1000);
  t.equal(image.outStatus[0], WRITE_STATUS.done);
});

t.test('TAG-27: what is ordered while the device is away is never delivered; what is commanded when it comes is, and it is told', async (t) => {
  const { clock, device, load, scan, all } = rig();
  device.isPresent = false;
  const module = moduleOf([output('net'), output('coil', { dataType: 'bool' })]);
  await load(module);
  const image = imageOf(module);
  image.order(1, 1);
  image.wakeProbe();
  await clock.advance(100);
  t.equal(image.outStatus[1], WRITE_STATUS.failed);
  await scan(image, [12], 20_000);
  device.isPresent = true;
  await scan(image, [12], 20_000);
  t.same(device.writesOf('coil'), [], 'an order of long ago');
  t.ok(device.writesOf('net').length > 0);
  t.same(
    all('outputs-resumed').map(({ module: name, outputs }) => [name, outputs]),
    [['io', [{ channel: 'net', value: 12 }]]],
  );
});

t.test('TAG-27: an order that is given again is written again: the device may have dropped it since', async (t) => {
  const { clock, device, load } = rig();
  const module = moduleOf([output('coil', { dataType: 'bool' })]);
  await load(module);
  const image = imageOf(module);
  const order = async (): Promise<void> => {
    image.order(0, 1);
    image.wakeProbe();
    await clock.advance(100);
  };
  await order();
  device.values.set('coil', 0); // it was started again behind its gateway, whose connection stayed
  await order();
  t.same(device.writesOf('coil'), [true, true]);
  t.same([device.values.get('coil'), image.outStatus[0]], [1, WRITE_STATUS.done]);
  device.refuses = true;
  await order();
  t.equal(image.outStatus[0], WRITE_STATUS.failed, 'nor is one told as done that the device has refused');
});

t.test('an output whose network ended is not driven when its device comes back', async (t) => {
  const { clock, device, load, scan } = rig();
  const module = moduleOf([output('net')]);
  await load(module);
  await scan(imageOf(module), [12], 3000);
  device.leave();
  await clock.advance(10_000);
  device.values.clear();
  device.isPresent = true;
  await clock.advance(40_000);
  t.equal(device.values.get('net'), undefined);
});

t.test('a fault of ours in one module restarts that module and leaves the others alone', async (t) => {
  const { clock, device, load, all } = rig();
  const broken = moduleOf([output('a')], { module: 'broken' });
  const sound = moduleOf([output('b')], { module: 'sound' });
  await load(broken, { ...sound });
  await clock.advance(100);
  // an image that ends before its channels: whatever counts positions in it throws
  await load({ ...broken, channels: [output('a'), output('c'), output('d')], image: new SharedArrayBuffer(8) }, sound);
  t.match(
    all('module').findLast((message) => message.module === 'broken'),
    { state: 'Failed' },
  );
  imageOf(sound).write(0, 3);
  await clock.advance(100);
  t.same(device.writesOf('b'), [3]);
  await load(broken, sound);
  await clock.advance(2000);
  imageOf(broken).write(0, 4);
  await clock.advance(100);
  t.same(device.writesOf('a'), [4], 'the next plan is taken');
  t.equal(Atomics.load(imageOf(broken).header, IMAGE_HEADER.connection), CONNECTION.connected);
});

t.test('D-C-06: withheld, nothing is written, by nobody; the reason is told, and nothing waits for later', async (t) => {
  const { device, load, scan, core, all } = rig();
  const withheld = 'this box withholds its outputs';
  const failSafe = { posture: 'regulating', timeoutMs: 3000, heartbeatChannel: 'beat', outputs: [{ channel: 'ao', value: 4 }] };
  const module = moduleOf([output('ao'), output('beat', { dataType: 'bool' })], { withheld, failSafe });
  await load(module);
  const image = imageOf(module);
  await scan(image, [50], 5000);
  await scan(image, [], 5000);
  await core.receive({ type: 'write', id: 1, module: 'io', channel: 'ao', value: 7 });
  t.same(device.written, [], 'neither a value nor a heartbeat nor a fail-safe value');
  t.match(all('write-result'), [{ ok: false, code: 'outputs_withheld', message: withheld }]);
  t.equal(Atomics.load(image.header, IMAGE_HEADER.outputs), OUTPUTS.withheld, 'where the scans see it');
  t.match(all('module').at(-1), { outputs: { withheld, secondMaster: false } });
  const { withheld: _, ...live } = module;
  await load(live);
  await scan(image, [51], 1000);
  t.same(device.writesOf('ao').slice(0, 1), [51], 'the value of now');
});

/** Boxes of one device, each with its probe: what one of them commands is told apart by its value. */
function boxes() {
  const clock = new ManualClock();
  const device = new Device(clock);
  const box = (deviceId: string, more: Partial<NonNullable<ProbeModule['ownership']>> = {}) => {
    const messages: ProbeOutbound[] = [];
    const module = moduleOf([output('ao')], { ownership: { address: 'holding:900', intervalMs: 1000, deviceId, ...more } });
    const core = new ProbeCore({ clock, random: () => 0.5, post: (message) => void messages.push(message), drivers: { modbus: async () => device.driver } });
    const image = imageOf(module);
    return {
      start: (withheld?: string) =>
        core.receive({
          type: 'plan',
          plan: {
            probe: 'p',
            revision: 1,
            timeScale: 1,
            modules: [withheld ? { ...module, withheld } : module],
            reconnectMinMs: 500,
            reconnectMaxMs: 30_000,
            readbackTimeoutMs: 5000,
          },
        }),
      stop: () => core.receive({ type: 'stop' }),
      command: (value: number) => image.write(0, value),
      outputs: () => (messages.findLast((message) => message.type === 'module') as Extract<ProbeOutbound, { type: 'module' }>).outputs,
    };
  };
  const register = 'holding:900:uint64';
  device.values.set(register, 0);
  return { clock, device, box, register, mark: () => (BigInt(device.values.get(register) ?? 0) >> 32n).toString(16) };
}

const ONE = 'aaaa0001'.padEnd(32, '0');
const TWO = 'bbbb0002'.padEnd(32, '0');

for (const [first, second] of [
  [ONE, TWO],
  [TWO, ONE],
] as const)
  t.test(`D-C-06: of two boxes ${first.slice(0, 8)} came first: the second withholds within two intervals and writes nothing, not even the register`, async (t) => {
    const { clock, device, box, mark } = boxes();
    const [a, b] = [box(first), box(second)];
    await a.start();
    a.command(1);
    await clock.advance(3000);
    a.command(1);
    await clock.advance(100);
    t.same([mark(), a.outputs().withheld, device.values.get('ao')], [first.slice(0, 8), '', 1]);
    await b.start();
    for (let n = 0; n < 30; n += 1) {
      a.command(1);
      b.command(2);
      await clock.advance(500);
    }
    t.notOk(device.writesOf('ao').includes(2));
    t.match(b.outputs(), { secondMaster: true, withheld: new RegExp(`mark ${first.slice(0, 8)}`) });
    t.same([mark(), a.outputs().withheld], [first.slice(0, 8), '']);
    await a.stop();
    await clock.advance(60_000);
    t.equal(b.outputs().secondMaster, true, 'silence is no permission');
    await b.stop();
  });

t.test('D-C-06: two boxes that start in the same moment: one is left, the other withholds', async (t) => {
  const { clock, device, box } = boxes();
  const [a, b] = [box(ONE), box(TWO)];
  await Promise.all([a.start(), b.start()]);
  for (let n = 0; n < 10; n += 1) {
    a.command(1);
    b.command(2);
    await clock.advance(1000);
  }
  t.equal([a, b].filter((each) => each.outputs().secondMaster).length, 1);
  t.equal(new Set(device.writesOf('ao')).size, 1, 'only one of them has ever written');
});

t.test('D-C-06: the place of a box that is off is taken by name, once its counter stands still; not while it moves', async (t) => {
  const { clock, device, box, mark } = boxes();
  const a = box(ONE);
  const b = box(TWO, { takeFrom: ONE.slice(0, 8) });
  await a.start();
  await clock.advance(3000);
  await b.start();
  b.command(2);
  await clock.advance(10_000);
  t.equal(b.outputs().secondMaster, true, 'the other one is at work');
  await a.stop();
  await clock.advance(6000);
  b.command(2);
  await clock.advance(100);
  t.same([b.outputs().withheld, mark(), device.values.get('ao')], ['', TWO.slice(0, 8), 2]);
});

t.test('D-C-06: a box that starts again finds its own mark and goes on; a copy of it with the same device id does not', async (t) => {
  const { clock, box } = boxes();
  const before = box(ONE);
  await before.start();
  await clock.advance(3000);
  await before.stop();
  const again = box(ONE);
  await again.start();
  await clock.advance(5000);
  t.equal(again.outputs().withheld, '');
  const copy = box(ONE);
  await copy.start();
  await clock.advance(10_000);
  t.match(copy.outputs(), { secondMaster: true, withheld: /copy of this box/ });
  t.equal(again.outputs().withheld, '');
});

t.test('D-C-06: a box that withholds leaves the register alone; one that cannot read it writes nothing', async (t) => {
  const { clock, device, box, register, mark } = boxes();
  const a = box(ONE);
  await a.start('this box withholds its outputs');
  a.command(1);
  await clock.advance(5000);
  t.same([mark(), device.written], ['0', []]);
  await a.stop();
  device.values.delete(register);
  const b = box(TWO);
  await b.start();
  b.command(2);
  await clock.advance(5000);
  t.same(device.written, []);
  t.match(b.outputs(), { secondMaster: false, withheld: /cannot be read: no such address/ });
});

t.test('ADR 0069: a behaviour reads an output of a device as the device has taken it, by hand too, and nothing where nobody knows it', async (t) => {
  const { clock, device, load, core } = rig();
  device.values.set('coil:2', 0);
  const plc = moduleOf([output('a'), output('b', { readbackAddress: 'coil:2' }), { ...output('coil:9'), direction: 'input' }]);
  device.values.set('coil:9', 0);
  const plan = {
    module: 'io',
    buffer: plc.image,
    staleAfterMs: 2000,
    channels: plc.channels.map(({ name, address, direction, dataType, readbackAddress }) => ({ name, address, direction, dataType, hasReadback: readbackAddress !== '' })),
  };
  const inputs = ['a', 'b'].map((name) => ({ ...output(name), direction: 'input' as const }));
  const behaviors = ['a', 'b'].map((address) => ({ address, type: 'Expr' as const, params: { expr: `[io/${address}]` } }));
  const model = moduleOf(inputs, { module: 'sim', protocol: 'simulation', simulation: { seed: 1, behaviors, faults: [], reads: [plan] } });
  const shown = imageOf(model);
  const seen = async (channel: number): Promise<unknown> => {
    await clock.advance(300);
    return shown.quality[channel] === 0 ? shown.value[channel] : 'Bad';
  };
  const byHand = (channel: string, value: number) => core.receive({ type: 'write', id: 1, module: 'io', channel, value });
  await load(plc, model);
  t.equal(await seen(0), 'Bad', 'nobody has commanded it');
  await byHand('a', 5);
  t.equal(await seen(0), 5, 'by hand, and nobody before');
  imageOf(plc).order(0, 7);
  t.equal(await seen(0), 7);
  await byHand('a', 3);
  t.equal(await seen(0), 3, 'by hand after an order: not what was ordered');
  device.refuses = true;
  await byHand('a', 4);
  t.equal(await seen(0), 3, 'what was refused by hand has changed nothing');
  device.refuses = false;
  device.isMute = true;
  await byHand('a', 6);
  t.equal(await seen(0), 'Bad', 'whether it was taken is known to nobody');
  device.isMute = false;
  await byHand('a', 8);
  t.equal(await seen(0), 8, 'known again');
  device.isSlow = true;
  imageOf(plc).order(0, 9);
  t.equal(await seen(0), 8, 'on its way it is not taken');
  device.isSlow = false;
  await device.answer();
  t.equal(await seen(0), 9);

  await clock.advance(1000);
  t.equal(await seen(1), 0, 'with a readback it is what is read back');
  device.values.set('coil:2', 1);
  await clock.advance(1000);
  t.equal(await seen(1), 1, 'whoever has moved it');

  device.leave();
  t.equal(await seen(0), 'Bad');
  device.isPresent = true;
  await clock.advance(60_000);
  t.equal(imageOf(plc).header[IMAGE_HEADER.connection], CONNECTION.connected);
  t.equal(await seen(0), 'Bad', 'a device that was away may stand anywhere: the order of before is not written again');
  t.equal(await seen(1), 1);
});
