/** Simulated plants as they are used: a loop that is tuned, devices beside simulations, edits while it runs (decisions 6, 7.7; ADR 0069). */
import t from 'tap';
import type { Behavior, ImagePlan, ProbeChannel, ProbeModule, ProbeOutbound, SimulationFault } from '../../../runtime/port.js';
import { ProbeCore } from '../../../runtime/io/probe-core.js';
import { SimulationEngine, type SimulatedModule } from '../../../runtime/io/simulation/engine.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import { CONNECTION, IMAGE_HEADER, OUTPUTS, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { at } from '../../support/at.js';
import { network, tags, unitPlan, wires } from '../network/plans.js';
import { ManualClock } from './manual-clock.js';

const channel = (name: string, direction: ProbeChannel['direction'] = 'input', more: Partial<ProbeChannel> = {}): ProbeChannel => ({
  name,
  address: name,
  direction,
  dataType: 'float',
  readbackAddress: '',
  pollIntervalMs: 0,
  ...more,
});

function simulated(channels: readonly ProbeChannel[], behaviors: readonly Behavior[], more: Partial<NonNullable<ProbeModule['simulation']>> = {}): ProbeModule {
  const image = new ProcessImage(channels.length).buffer;
  return { site: 'north', module: 'sim', protocol: 'simulation', address: '', options: {}, channels, image, simulation: { seed: 1, behaviors, faults: [], ...more } };
}

function probe() {
  const clock = new ManualClock();
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock, random: () => 0.5, post: (message) => void messages.push(message), drivers: {} });
  const load = async (...modules: ProbeModule[]): Promise<void> => {
    await core.receive({ type: 'plan', plan: { probe: 'p', revision: 1, timeScale: 1, modules, reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 } });
    await clock.advance(0);
  };
  const last = <T extends ProbeOutbound['type']>(type: T): Extract<ProbeOutbound, { type: T }> => messages.findLast((message) => message.type === type) as never;
  return { clock, core, load, last };
}

// -------------------------------------------------------------------------------------------- a loop to tune

t.test('SIM-04, decisions 6.2: a step of PIDResponse is the curve of first order with dead time, within 1 % at a tick of 100 ms', async (t) => {
  for (const [gain, tau, deadTime] of [
    [0.8, 20, 3],
    [2, 1, 0],
    [1.5, 5, 0.25],
    [1, 0.4, 0.33],
    [-0.5, 60, 12.05],
  ] as const) {
    const engine = new SimulationEngine();
    const channels = [
      { address: 'u', dataType: 'float' as const, initial: 0 },
      { address: 'y', dataType: 'float' as const, initial: 0 },
    ];
    const params = { output: 'u', gain, bias: 20, tau: `${tau}s`, deadTime: `${deadTime * 1000}ms` };
    engine.configure([{ name: 'm', tickMs: 100, seed: 0, channels, behaviors: [{ address: 'y', type: 'PIDResponse', params }], faults: [] }]);
    engine.tick(1);
    engine.write('m', 'u', 40);
    engine.tick(2); // the step shows: instant 0 of the curve
    let worst = 0;
    for (let tick = 1; tick <= 10 * (deadTime + 6 * tau); tick += 1) {
      engine.tick(2 + tick);
      const seconds = tick / 10 - deadTime;
      const curve = 20 + (seconds <= 0 ? 0 : gain * 40 * (1 - Math.exp(-seconds / tau)));
      worst = Math.max(worst, Math.abs((engine.sample('m', 'y')?.value ?? Number.NaN) - curve));
    }
    t.ok(worst <= 0.01 * Math.abs(gain) * 40, `gain ${gain}, tau ${tau} s, dead time ${deadTime} s: at most ${worst} off`);
  }
});

t.test('SIM-04: a PID tuned by rule settles the simulated process with dead time', async (t) => {
  // process: gain 0.8, tau 20 s, dead time 3 s. Rule of Skogestad with the closed loop as fast as the dead time: kp = tau / (gain * 2 * theta), ti = tau
  const { clock, load } = probe();
  const plant = simulated(
    [channel('heater', 'output'), channel('temperature')],
    [{ address: 'temperature', type: 'PIDResponse', params: { output: 'heater', gain: 0.8, bias: 20, tau: '20s', deadTime: '3s' } }],
  );
  await load(plant);
  const image: ImagePlan = {
    module: 'sim',
    buffer: plant.image,
    staleAfterMs: 2000,
    channels: plant.channels.map(({ name, address, direction, dataType }) => ({ name, address, direction, dataType, hasReadback: false })),
  };
  const set = new NetworkSet(
    unitPlan({
      images: [image],
      tags: tags('tic.SP pid.SP REAL w', 'tic.OUT pid.OUT REAL', 'tic.PV ai.OUT REAL'),
      networks: [
        network({
          name: 'tic',
          blocks: [
            { name: 'ai', type: 'AI', params: { addr: '', rawMin: 0, rawMax: 100, engMin: 0, engMax: 100 } },
            { name: 'pid', type: 'PID', params: { kp: 20 / (0.8 * 2 * 3), ti: 'T#20s', outMin: 0, outMax: 100, spMin: 0, spMax: 100 } },
            { name: 'ao', type: 'AO', params: { addr: '', rawMin: 0, rawMax: 100, outMin: 0, outMax: 100 } },
          ],
          connections: wires('ai.OUT > pid.PV', 'pid.OUT > ao.IN'),
          channels: [
            { block: 'ai', image: 0, channel: 1 },
            { block: 'ao', image: 0, channel: 0 },
          ],
        }),
      ],
    }),
    { texts: new TextTable(), clockMs: () => 0 },
  );
  t.match(at(set.reports(), 0), { state: 'Running', message: '' });
  const value = (tag: string): number => Number(set.read(set.slot(`tic.${tag}`)));
  const seconds = async (count: number, seen: (pv: number) => void = () => undefined): Promise<void> => {
    for (let scan = 0; scan < 10 * count; scan += 1) {
      await clock.advance(100);
      set.latch(clock.monoMs());
      set.scan(1);
      set.drive(clock.monoMs());
      seen(value('PV'));
    }
  };
  set.write(set.slot('tic.SP'), 20);
  await seconds(60);
  set.write(set.slot('tic.SP'), 60);
  let highest = 0;
  await seconds(60, (pv) => (highest = Math.max(highest, pv)));
  t.ok(highest < 60 + 0.1 * 40, `overshoot to ${highest}: below a tenth of the step`);
  let off = 0;
  await seconds(60, (pv) => (off = Math.max(off, Math.abs(pv - 60))));
  t.ok(off < 0.02 * 40, `from a minute on within 2 % of the step: ${off}`);
  await seconds(120);
  t.ok(Math.abs(value('PV') - 60) < 0.01 && Math.abs(value('OUT') - 50) < 0.05, `at rest at ${value('PV')} with ${value('OUT')} %, as gain and bias say`);
});

// -------------------------------------------------------------------------------------------- devices beside simulations

/** A device whose module another probe serves: the plant knows its image alone. */
function device() {
  const names = ['valve.cmd', 'flow.pv', 'label'] as const;
  const image = new ProcessImage(names.length);
  const plan: ImagePlan = {
    module: 'plc',
    buffer: image.buffer,
    staleAfterMs: 2000,
    channels: [
      { name: 'valve.cmd', address: 'coil:7', direction: 'output', dataType: 'bool', hasReadback: false },
      { name: 'flow.pv', address: 'holding:4:float32', direction: 'input', dataType: 'float', hasReadback: false },
      { name: 'label', address: 'holding:20:string8', direction: 'input', dataType: 'string', hasReadback: false },
    ],
  };
  return {
    plan,
    image,
    connection: (word: number): void => void Atomics.store(image.header, IMAGE_HEADER.connection, word),
    command(value: number, clock: ManualClock, status: number = WRITE_STATUS.done): void {
      image.write(0, value);
      image.outStatus[0] = status;
      Atomics.store(image.outDone, 0, Atomics.load(image.outSeq, 0));
      if (status !== WRITE_STATUS.done) return;
      image.beginInputs();
      image.value[0] = value;
      image.quality[0] = QUALITY.Good;
      image.stamp(0, clock.wallMs(), clock.monoMs());
      image.endInputs();
    },
    sample(value: number, clock: ManualClock, quality: number = QUALITY.Good): void {
      image.beginInputs();
      image.value[1] = value;
      image.quality[1] = quality;
      image.stamp(1, clock.wallMs(), clock.monoMs());
      image.endInputs();
    },
  };
}

t.test('ADR 0069: a simulated level follows a valve that is real, and holds with quality Bad while nobody knows it', async (t) => {
  const { clock, core, load, last } = probe();
  const { plan, command, connection, sample, image: plc } = device();
  const behaviors: Behavior[] = [
    { address: 'inflow', type: 'Expr', params: { expr: 'if([plc/coil:7], 10, 0)' } },
    { address: 'level', type: 'TankLevel', params: { capacity: 1000, inflow: 'inflow' } },
    { address: 'echo', type: 'Expr', params: { expr: '[plc/flow.pv] * 2' } },
    { address: 'apart', type: 'Expr', params: { expr: 't' } },
  ];
  const module = simulated(
    ['inflow', 'level', 'echo', 'apart'].map((name) => channel(name)),
    behaviors,
    { reads: [plan] },
  );
  const shown = new ProcessImage(4, module.image);
  const before = JSON.stringify([...plc.out, ...plc.outSeq]);
  await load(module);
  await clock.advance(1000);
  t.match(last('module'), { module: 'sim', state: 'Connected' });
  t.same([...shown.quality], [QUALITY.Bad, QUALITY.Bad, QUALITY.Bad, QUALITY.Good], 'nothing is known of the device yet');
  await core.receive({ type: 'read', id: 1, module: 'sim', channels: ['level', 'apart'] });
  t.match(last('read-result').values, [
    { quality: 'Bad', message: 'it holds its last value, because it rests on what is not known now: plc/valve.cmd' },
    { quality: 'Good', message: '' },
  ]);
  t.equal(JSON.stringify([...plc.out, ...plc.outSeq]), before, 'a simulation writes nothing to a device');

  connection(CONNECTION.connected);
  Atomics.store(plc.header, IMAGE_HEADER.outputs, OUTPUTS.live);
  command(1, clock);
  sample(21, clock);
  await clock.advance(2000);
  sample(21, clock);
  await clock.advance(100);
  t.same([...shown.quality], [QUALITY.Good, QUALITY.Good, QUALITY.Good, QUALITY.Good]);
  t.equal(shown.value[2], 42);
  const level = at(shown.value, 1);
  t.ok(level > 18 && level <= 21, `about two seconds of 10 a second: ${level}`);

  connection(CONNECTION.lost);
  const heldAtMs = at(shown.sampledAtMs, 1);
  await clock.advance(3000);
  t.same([shown.value[1], shown.quality[1], shown.sampledAtMs[1]], [level, QUALITY.Bad, heldAtMs], 'it holds, and shows since when');
  t.equal(shown.quality[3], QUALITY.Good);

  await core.receive({ type: 'write', id: 2, module: 'sim', channel: 'inflow', value: 100 });
  await clock.advance(1000);
  t.ok(at(shown.value, 1) > level + 80 && shown.quality[1] === QUALITY.Good, 'a forced inflow is known, whatever the device is');
  await core.receive({ type: 'release', id: 3, module: 'sim', channels: [] });
  await clock.advance(100);
  t.equal(shown.quality[1], QUALITY.Bad);

  connection(CONNECTION.connected);
  await clock.advance(100);
  t.same([shown.quality[0], shown.quality[1]], [QUALITY.Good, QUALITY.Good], 'known again');
  t.equal(shown.quality[2], QUALITY.Bad, 'a sample of twice the age that its module allows is not known');
  sample(5, clock, QUALITY.Bad);
  await clock.advance(100);
  t.same([shown.value[2], shown.quality[2]], [42, QUALITY.Bad], 'nor is a bad one');
  command(0, clock, WRITE_STATUS.failed);
  await clock.advance(100);
  t.equal(shown.quality[0], QUALITY.Bad, 'nor where an output stands that the device has refused');
});

t.test('ADR 0069: what rests on itself is known again when the device is; a text is no channel for it', async (t) => {
  const engine = new SimulationEngine();
  const behaviors = [
    { address: 'a', type: 'Expr', params: { expr: '[b] + [plc/x]' } },
    { address: 'b', type: 'Expr', params: { expr: '[a] * 0.5' } },
  ];
  const module: SimulatedModule = { name: 'm', tickMs: 100, seed: 0, channels: [], behaviors, faults: [] };
  const foreign = [{ name: 'plc', channels: [{ name: 'x', address: 'holding:1' }] }];
  t.same([...engine.configure([module], foreign)], []);
  const quality = (): unknown[] => ['a', 'b'].map((address) => engine.sample('m', address)?.quality);
  engine.tick(1);
  t.same(quality(), [QUALITY.Bad, QUALITY.Bad]);
  engine.coupling.tell(engine.coupling.slot('plc', 'x') ?? 0, 4, true);
  engine.tick(2);
  t.same(quality(), [QUALITY.Good, QUALITY.Good]);
  engine.tick(3);
  t.equal(engine.sample('m', 'a')?.value, 4);
  t.equal(engine.sample('m', 'b')?.value, 2);
  t.match(
    [...engine.configure([{ ...module, behaviors: [{ address: 'a', type: 'Expr', params: { expr: '[plc/nothing]' } }] }], foreign)],
    [['m', /of a module of the same controller/]],
  );
  t.match(
    [...engine.configure([{ ...module, behaviors: [{ address: 'plc/x', type: 'Expr', params: { expr: '1' } }] }], foreign)],
    [['m', /a behaviour moves a channel of its own module, and reads those of others/]],
  );
});

// -------------------------------------------------------------------------------------------- outputs and their read-back

t.test('IO-READBACK, decisions 7.7: a readback address that nothing follows, or that there is not, is a mismatch on a simulated module', async (t) => {
  const { clock, load, last } = probe();
  const module = simulated([channel('v', 'output', { readbackAddress: 'fb' }), channel('fb'), channel('w', 'output', { readbackAddress: 'gone' })], []);
  await load(module);
  const image = new ProcessImage(3, module.image);
  image.write(0, 40);
  image.write(2, 40);
  await clock.advance(5300);
  t.same([image.outStatus[0], image.outStatus[2]], [WRITE_STATUS.mismatch, WRITE_STATUS.mismatch]);
  t.match(last('module'), { module: 'sim', outputs: { mismatched: ['v', 'w'] } });
});

// -------------------------------------------------------------------------------------------- while it runs

const START_MS = 1_000_000;

function running(behaviors: readonly Behavior[], more: Partial<SimulatedModule> = {}) {
  const engine = new SimulationEngine();
  const channels = [
    { address: 'in', dataType: 'float' as const, initial: 3 },
    { address: 'word', dataType: 'string' as const, initial: 'ready' },
  ];
  let spec: SimulatedModule = { name: 'm', tickMs: 100, seed: 7, channels, behaviors, faults: [], ...more };
  const edit = (changed: Partial<SimulatedModule>): ReadonlyMap<string, string> => engine.configure([(spec = { ...spec, ...changed })]);
  edit({});
  let nowMs = START_MS;
  const ticks = (count: number): void => {
    for (let tick = 0; tick < count; tick += 1) engine.tick((nowMs += 100));
  };
  return { engine, edit, ticks, value: (address: string): number => engine.sample('m', address)?.value ?? Number.NaN, now: () => nowMs };
}

const counting: Behavior = { address: 'out', type: 'Expr', params: { expr: 'self + 1' } };
const fault = (type: string, params: SimulationFault['params'] = {}, more: Partial<SimulationFault> = {}): SimulationFault => ({
  name: type,
  address: 'out',
  type,
  params,
  triggerMode: 'Manual',
  triggerAfterMs: 0,
  ...more,
});

t.test('decisions 6.1: a channel without behaviour holds its initial value, then the last that was written', async (t) => {
  const one = running([]);
  one.ticks(1);
  t.same([one.value('in'), one.engine.sample('m', 'word')?.text], [3, 'ready']);
  one.engine.write('m', 'in', 8);
  one.engine.write('m', 'word', 'busy');
  t.equal(one.value('in'), 3, 'values appear together, at the tick');
  one.ticks(1);
  t.same([one.value('in'), one.engine.sample('m', 'word')?.text], [8, 'busy']);
});

t.test('SIM-16: writes of control go on under a forced value and show after its release', async (t) => {
  const one = running([]);
  one.engine.force('m', 'in', 50, one.now());
  one.engine.force('m', 'word', 'held', one.now());
  one.engine.write('m', 'in', 9);
  one.engine.write('m', 'word', 'done');
  one.ticks(1);
  t.same([one.value('in'), one.engine.sample('m', 'word')?.text], [50, 'held']);
  one.engine.release('m', ['in', 'word']);
  one.ticks(1);
  t.same([one.value('in'), one.engine.sample('m', 'word')?.text], [9, 'done']);
});

t.test('SIM-09: Timed counts plant time from the moment the fault is configured, and an edit beside it does not begin it anew', async (t) => {
  const one = running([counting]);
  one.ticks(10);
  const timed = fault('WireBreak', { value: -1 }, { triggerMode: 'Timed', triggerAfterMs: 500 });
  one.edit({ faults: [timed] });
  one.ticks(4);
  t.equal(one.value('out'), 14);
  one.edit({ faults: [timed], behaviors: [counting, { address: 'other', type: 'NoisyConstant', params: {} }] });
  one.ticks(1);
  t.same([one.value('out'), one.engine.sample('m', 'out')?.quality], [-1, QUALITY.Bad]);
  one.edit({ faults: [{ ...timed, params: { value: -2 } }] });
  one.ticks(1);
  t.equal(one.value('out'), -2, 'another param of it acts at once');
  one.edit({ faults: [] });
  one.ticks(1);
  t.same([one.value('out'), one.engine.sample('m', 'out')?.quality], [17, QUALITY.Good], 'the behaviour went on underneath');
});

t.test('SIM-08: a fault stands on an internal channel too, and what reads it sees the fault', async (t) => {
  const one = running([counting, { address: 'reader', type: 'Expr', params: { expr: '[out]' } }], { faults: [fault('StuckValue', { value: 77 })] });
  one.ticks(2);
  t.same([one.value('out'), one.value('reader')], [77, 77]);
});

t.test('SIM-15: another type begins anew with its own start value; a module that is mended goes on from where it was', async (t) => {
  const one = running([counting]);
  one.ticks(5);
  one.edit({ behaviors: [{ address: 'out', type: 'RandomWalk', params: { initial: 50, step: 0 } }] });
  one.ticks(1);
  t.equal(one.value('out'), 50);
  one.edit({ behaviors: [{ address: 'out', type: 'Expr', params: { expr: 'integral(10)', initial: 4 } }] });
  t.ok(one.ticks(11) === undefined && Math.abs(one.value('out') - 10) < 1e-9);
  t.equal(one.edit({ behaviors: [{ address: 'out', type: 'Expr', params: { expr: '[nowhere]' } }] }).size, 1);
  one.ticks(3);
  t.equal(one.engine.sample('m', 'out')?.quality, QUALITY.Bad);
  one.edit({ behaviors: [{ address: 'out', type: 'Expr', params: { expr: 'integral(20)' } }] });
  one.ticks(1);
  t.ok(Math.abs(one.value('out') - 12) < 1e-9, `${one.value('out')}: the integral kept its value`);
});

t.test('SIM-02, decisions 6.6: equal configuration and ticks give equal values; another seed, module or address gives others', async (t) => {
  const noisy = (address: string): Behavior => ({ address, type: 'RandomWalk', params: { initial: 50 } });
  const trace = (name: string, address: string, seed: number): number[] => {
    const engine = new SimulationEngine();
    engine.configure([{ name, tickMs: 100, seed, channels: [], behaviors: [noisy('first'), noisy(address)], faults: [] }]);
    return Array.from({ length: 50 }, (_, tick) => {
      engine.tick(tick + 1);
      return engine.sample(name, address)?.value ?? Number.NaN;
    });
  };
  const one = trace('m', 'x', 1);
  t.same(trace('m', 'x', 1), one);
  for (const other of [trace('m', 'x', 2), trace('n', 'x', 1), trace('m', 'y', 1)]) t.notSame(other, one);
});

t.test('decisions 6.4: and, or, if and the arguments of every function are all reckoned, so that their states advance', async (t) => {
  const one = running([{ address: 'out', type: 'Expr', params: { expr: 'if(t < 0.35, 0, integral(1)) + 0 * and(0, integral(1)) + 0 * or(1, integral(1))' } }]);
  one.ticks(4);
  t.ok(Math.abs(one.value('out') - 0.3) < 1e-9, `${one.value('out')}: the integral ran while the other branch was chosen`);
});
