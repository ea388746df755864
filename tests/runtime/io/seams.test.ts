/**
 * What throws where nobody expected it is the fault of one module: it is told, the module is Bad and begins anew, and the
 * modules beside it are served as if nothing had been.
 */
import t from 'tap';
import type { Driver, Link } from '../../../runtime/io/driver.js';
import { modbusDescription } from '../../../runtime/io/modbus/description.js';
import { ProbeCore } from '../../../runtime/io/probe-core.js';
import { Signal } from '../../../runtime/io/signal.js';
import type { ProbeModule, ProbeOutbound, ProbePlan } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { ManualClock } from './manual-clock.js';

type Seam = Partial<Pick<Link, 'read' | 'write' | 'lane' | 'close'>> & { readonly connect?: () => Promise<Link> };

const BUG = 'a bug of ours';
const bug = (): never => {
  throw new Error(BUG);
};

/** A device that counts up with every read; the module at address `broken` has a bug in one of its seams while `isBroken`. */
class Devices {
  isBroken = true;
  #count = 0;
  readonly #seam: Seam;

  constructor(seam: Seam) {
    this.#seam = seam;
  }

  readonly driver: Driver = {
    ...modbusDescription,
    connect: async ({ address }) => {
      const seam = (): Seam => (address === 'broken' && this.isBroken ? this.#seam : {});
      const lost = new Signal();
      const { connect } = seam();
      if (connect) return connect();
      const link: Link = {
        lost: lost.promise,
        read: async (points, sink) => {
          this.#count += 1;
          sink.begin();
          points.forEach((_, position) => sink.number(position, this.#count));
          sink.end();
          return { status: 'answered' };
        },
        write: async () => ({ ok: true }),
        close: async () => lost.raise('closed'),
      };
      return {
        lost: link.lost,
        read: (points, sink) => (seam().read ?? link.read)(points, sink),
        write: (point, value) => (seam().write ?? link.write)(point, value),
        lane: (point) => (seam().lane ?? (() => ''))(point),
        close: () => (seam().close ?? link.close)(),
      };
    },
  };
}

function moduleOf(name: string, more: Partial<ProbeModule> = {}): ProbeModule {
  const channels = ['in', 'out'].map((channel): ProbeModule['channels'][number] => ({
    name: channel,
    address: `holding:${channel === 'in' ? 0 : 1}`,
    direction: channel === 'in' ? 'input' : 'output',
    dataType: 'int',
    readbackAddress: '',
    pollIntervalMs: 0,
  }));
  return { site: 'north', module: name, protocol: 'modbus', address: name, options: {}, channels, image: new ProcessImage(channels.length).buffer, ...more };
}

const imageOf = ({ channels, image }: ProbeModule): ProcessImage => new ProcessImage(channels.length, image);

function probeOf(driver: Driver) {
  const clock = new ManualClock();
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock, random: () => 0.5, post: (message) => void messages.push(message), drivers: { modbus: async () => driver } });
  const plan = (modules: readonly ProbeModule[]): ProbePlan => ({
    probe: 'p',
    revision: 1,
    timeScale: 1,
    modules,
    reconnectMinMs: 500,
    reconnectMaxMs: 30_000,
    readbackTimeoutMs: 5000,
  });
  return {
    clock,
    core,
    load: async (...modules: readonly ProbeModule[]) => {
      await core.receive({ type: 'plan', plan: plan(modules) });
      await clock.advance(0);
    },
    toldOf: (name: string) => messages.flatMap((message) => (message.type === 'module' && message.module === name ? [message] : [])),
    last: (type: ProbeOutbound['type']) => messages.findLast((message) => message.type === type),
  };
}

/** Inside a read a throw ends the connection, as a lost one does; elsewhere it is told as a fault of the program. */
const SEAMS: Readonly<Record<string, Seam>> = {
  'the connect of a driver': { connect: bug },
  'the lanes of a driver': { lane: bug },
  'a poll that throws at once': { read: bug },
  'a poll whose promise is rejected': { read: async () => bug() },
  'a decode in the middle of the samples': {
    read: async (_, sink) => {
      sink.begin();
      sink.number(0, 1);
      return bug();
    },
  },
  'a decode that names a point nobody asked for': {
    read: async (points, sink) => {
      sink.begin();
      sink.number(points.length, 1);
      sink.end();
      return { status: 'answered' };
    },
  },
  'a sample outside begin and end': {
    read: async (_, sink) => {
      sink.number(0, 1);
      return { status: 'answered' };
    },
  },
};

for (const [name, seam] of Object.entries(SEAMS)) {
  t.test(`a bug of ours in ${name} is that module's fault: it is Bad and told, the one beside it is served, and it comes back`, async (t) => {
    const devices = new Devices(seam);
    const { clock, load, toldOf, core } = probeOf(devices.driver);
    const [broken, beside] = [moduleOf('broken'), moduleOf('beside')];
    await load(broken, beside);
    await clock.advance(10_000);
    t.match(toldOf('broken').at(-1), { state: /Failed|Disconnected/, message: /a bug of ours|assertion failed: / });
    t.equal(imageOf(broken).quality[0], QUALITY.Bad);
    t.match(toldOf('beside').at(-1), { state: 'Connected' });
    const before = imageOf(beside).value[0] ?? 0;
    await clock.advance(2000);
    t.ok((imageOf(beside).value[0] ?? 0) > before, 'the one beside it goes on');
    const latched = { value: new Float64Array(2), sampledAtMs: new Float64Array(2), sampledMonoMs: new Float64Array(2), quality: new Uint8Array(2) };
    t.ok(imageOf(broken).latch(latched), 'no scan waits for a writer that is gone');
    devices.isBroken = false;
    await clock.advance(40_000);
    t.match(toldOf('broken').at(-1), { state: 'Connected' });
    t.equal(imageOf(broken).quality[0], QUALITY.Good);
    await core.receive({ type: 'stop' });
  });
}

t.test('a bug of ours in the write of a driver refuses that write and ends nothing', async (t) => {
  const { clock, load, core, last, toldOf } = probeOf(new Devices({ write: bug }).driver);
  await load(moduleOf('broken'), moduleOf('beside'));
  await clock.advance(2000);
  await core.receive({ type: 'write', id: 1, module: 'broken', channel: 'out', value: 1 });
  t.match(last('write-result'), { id: 1, ok: false, message: BUG });
  await core.receive({ type: 'write', id: 2, module: 'beside', channel: 'out', value: 1 });
  t.match(last('write-result'), { id: 2, ok: true });
  t.match(toldOf('beside').at(-1), { state: 'Connected' });
  await core.receive({ type: 'stop' });
});

t.test('a bug of ours in the close of a driver keeps no plan from being loaded', async (t) => {
  const { clock, load, core, toldOf } = probeOf(new Devices({ close: bug }).driver);
  await load(moduleOf('broken'), moduleOf('beside'));
  await clock.advance(2000);
  await load(moduleOf('beside'), moduleOf('new'));
  await clock.advance(2000);
  t.match(toldOf('new').at(-1), { state: 'Connected' });
  await core.receive({ type: 'stop' });
});

t.test('a simulated module that cannot be set up is Failed alone: the simulated and the real ones beside it are served', async (t) => {
  const { clock, load, core, toldOf } = probeOf(new Devices({}).driver);
  const simulated = { protocol: 'simulation', address: '', simulation: { seed: 1, behaviors: [], faults: [] } } as const;
  const torn = moduleOf('torn', { ...simulated, image: new SharedArrayBuffer(8) });
  await load(torn, moduleOf('tank', simulated), moduleOf('beside'));
  await clock.advance(2000);
  t.match(toldOf('torn').at(-1), { state: 'Failed', message: /a fault of this program/ });
  t.match(toldOf('tank').at(-1), { state: 'Connected' });
  t.match(toldOf('beside').at(-1), { state: 'Connected' });
  const whole = moduleOf('torn', simulated);
  await load(whole, moduleOf('tank', simulated), moduleOf('beside'));
  await clock.advance(2000);
  t.match(toldOf('torn').at(-1), { state: 'Connected' }, 'the next plan says all');
  await core.receive({ type: 'stop' });
});

t.test('a bug of ours while the simulated plant is set up is told of its modules, and the real ones are served', async (t) => {
  const { clock, load, core, toldOf } = probeOf(new Devices({}).driver);
  const simulated = { protocol: 'simulation', address: '', simulation: { seed: 1, behaviors: [], faults: [] } } as const;
  const unreadable = { seed: 1, behaviors: [{ address: 'x', type: 'Expr' }], faults: [] } as never;
  await load(moduleOf('tank', simulated), moduleOf('beside'));
  await clock.advance(2000);
  const tank = moduleOf('tank', simulated);
  await load(tank, moduleOf('torn', { ...simulated, simulation: unreadable }), moduleOf('beside'), moduleOf('new'));
  await clock.advance(2000);
  t.match(toldOf('tank').at(-1), { state: 'Failed', message: /a fault of this program in the simulation/ });
  t.strictSame([...imageOf(tank).quality], [QUALITY.Bad, QUALITY.Bad], 'no value of a plant that stands still is Good');
  for (const name of ['beside', 'new']) t.match(toldOf(name).at(-1), { state: 'Connected' });
  await load(moduleOf('tank', simulated), moduleOf('beside'), moduleOf('new'));
  await clock.advance(2000);
  t.match(toldOf('tank').at(-1), { state: 'Connected' });
  await core.receive({ type: 'stop' });
});
