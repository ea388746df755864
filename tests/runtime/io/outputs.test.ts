/** Outputs of a network module, through the real probe: what is commanded, by whom, and what is never written. */
import t from 'tap';
import type { ProbeChannel, ProbeModule, ProbeOutbound } from '../../../runtime/port.js';
import type { Driver, Link, WriteOutcome } from '../../../runtime/io/driver.js';
import { modbusDescription } from '../../../runtime/io/modbus/description.js';
import { ProbeCore } from '../../../runtime/io/probe-core.js';
import { Signal } from '../../../runtime/io/signal.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { ManualClock, settle } from './manual-clock.js';

/** A device whose answers to writes wait until the test lets them go. */
class Device {
  readonly values = new Map<string, number | bigint>();
  readonly written: [address: string, value: unknown, atMs: number][] = [];
  readonly #clock: ManualClock;
  readonly #waiting: (() => void)[] = [];
  isPresent = true;
  isSlow = false;
  refuses = false;
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
    at.slice(1).every((ms, n) => ms - at[n] <= 1000),
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
