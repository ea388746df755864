import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Behavior, SimulationFault } from '../../../runtime/port.js';
import { mergeBehaviors } from '../../../runtime/io/catalog.js';
import { SimulationEngine, type SimulatedModule } from '../../../runtime/io/simulation/engine.js';
import type { EXPRESSION_FUNCTIONS } from '../../../runtime/io/simulation/expression-parser.js';
import { fnv1a32, RandomStream, streamOf } from '../../../runtime/io/simulation/random.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { at } from '../../support/at.js';

const START_MS = 1_000_000;

interface Bench {
  readonly engine: SimulationEngine;
  readonly spec: SimulatedModule;
  /** Runs so many ticks and returns the values of `out` after each. */
  run(ticks: number): number[];
  now(): number;
}

function bench(behaviors: readonly Behavior[], extra: Partial<SimulatedModule> = {}): Bench {
  const channels = [
    { address: 'cmd', dataType: 'bool' as const, initial: 0 },
    { address: 'in', dataType: 'float' as const, initial: 0 },
  ];
  const spec: SimulatedModule = { name: 'm', tickMs: 100, seed: 7, channels, behaviors, faults: [], ...extra };
  const engine = new SimulationEngine();
  const problems = engine.configure([spec]);
  if (problems.size > 0) throw new Error([...problems.values()].join());
  let nowMs = START_MS;
  return {
    engine,
    spec,
    now: () => nowMs,
    run: (ticks) =>
      Array.from({ length: ticks }, () => {
        nowMs += 100;
        engine.tick(nowMs);
        return engine.sample('m', 'out')?.value ?? Number.NaN;
      }),
  };
}

const out = (type: string, params: Behavior['params']): Behavior => ({ address: 'out', type, params });
const expr = (text: string, more: Behavior['params'] = {}): Behavior => out('Expr', { expr: text, ...more });
const rounded = (values: readonly number[], digits = 9): number[] => values.map((value) => Number(value.toFixed(digits)));

t.test('SIM-04: behaviours give the values of their formulas', async (t) => {
  t.test('SineWave', async (t) => {
    // A quarter of 400 ms per tick, around 10 with amplitude 2.
    t.same(rounded(bench([out('SineWave', { amplitude: '2', period: '400ms', offset: 10 })]).run(4)), [12, 10, 8, 10]);
    t.same(rounded(bench([out('SineWave', { period: '400ms', phase: `${Math.PI / 2}` })]).run(4)), [0, -1, 0, 1], 'phase in rad');
  });
  t.test('RandomWalk', async (t) => {
    const random = streamOf(7, 'm', 'out');
    const first = 50 + 2 * Math.sqrt(0.1) * random.normal();
    const second = first + 2 * Math.sqrt(0.1) * random.normal();
    t.same(bench([out('RandomWalk', { initial: 50, step: 2 })]).run(2), [first, second]);
    const bounded = bench([out('RandomWalk', { initial: 1, step: 50, min: 0, max: 2 })]).run(200);
    t.ok(bounded.every((value) => value >= 0 && value <= 2));
  });
  t.test('NoisyConstant', async (t) => {
    t.same(bench([out('NoisyConstant', { value: '60', noise: '0' })]).run(2), [60, 60]);
    const u = streamOf(7, 'm', 'out').uniform();
    t.same(bench([out('NoisyConstant', { value: 5, noise: 0.5 })]).run(1), [5 + 0.5 * u]);
  });
  t.test('DigitalPulse', async (t) => {
    // Ticks at 0.1 .. 0.8; the pulse starts at 0.2 and is high for 0.1 of every 0.3 s.
    const params = { period: '300ms', dutyCycle: `${1 / 3}`, delay: '200ms' };
    t.same(bench([out('DigitalPulse', params)]).run(8), [0, 1, 0, 0, 1, 0, 0, 1]);
    t.same(bench([out('DigitalPulse', { ...params, invert: 'true' })]).run(8), [1, 0, 1, 1, 0, 1, 1, 0]);
  });
  t.test('TemperatureRamp', async (t) => {
    t.same(rounded(bench([out('TemperatureRamp', { start: 20, target: 21, rate: 4 })]).run(4)), [20.4, 20.8, 21, 21]);
    const cycle = out('TemperatureRamp', { start: 0, target: 1, rate: 10, hold: '200ms', cycle: true });
    t.same(rounded(bench([cycle]).run(8)), [1, 1, 1, 0, 0, 0, 1, 1]);
    t.same(rounded(bench([out('TemperatureRamp', { start: 0, target: 1, rate: 10, cycle: true })]).run(4)), [1, 0, 1, 0], 'no hold');
  });
  t.test('ValveFeedback', async (t) => {
    const open = bench([out('ValveFeedback', { command: 'cmd', travelTime: '800ms' })]);
    open.engine.write('m', 'cmd', 1);
    t.same(open.run(10), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 'the command shows at the first tick, eight ticks of travel follow');
    const closed = bench([out('ValveFeedback', { command: 'cmd', kind: 'closed', travelTime: '200ms' })]);
    t.same(closed.run(1), [1]);
    closed.engine.write('m', 'cmd', 1);
    t.same(closed.run(3), [1, 0, 0]);
    const stuck = bench([out('ValveFeedback', { command: 'cmd', kind: 'position', travelTime: '400ms', delay: '200ms', stuckAt: 0.6 })]);
    stuck.engine.write('m', 'cmd', 1);
    t.same(rounded(stuck.run(7)), [0, 0, 0, 25, 50, 60, 60]);
  });
  t.test('TankLevel', async (t) => {
    const tank = bench([out('TankLevel', { capacity: 2, initial: 1, inflow: 'in', outflow: '1' })]);
    tank.engine.write('m', 'in', 6);
    t.same(rounded(tank.run(4)), [0.9, 1.4, 1.9, 2], 'the inflow acts from the second tick');
    t.same(rounded(bench([out('TankLevel', { capacity: 4, initial: 1, inflow: 10, percent: 'true' })]).run(2)), [50, 75]);
  });
  t.test('PIDResponse', async (t) => {
    const share = 1 - Math.exp(-0.1 / 1);
    const process = bench([out('PIDResponse', { output: 'in', gain: 2, bias: 20, tau: '1s', deadTime: '100ms' })]);
    process.engine.write('m', 'in', 50);
    const moved = 20 + 100 * share;
    // Tick 1 sees 0, tick 2 sees 50 but acts on 0, tick 3 acts on 50.
    t.same(rounded(process.run(4)), rounded([20, 20, moved, moved + (120 - moved) * share]));
  });
  t.test('Expr limits its result and keeps the previous value when it is not finite', async (t) => {
    t.same(bench([expr('5 * t * 10', { engMin: '8', engMax: '12' })]).run(3), [8, 10, 12]);
    t.same(bench([expr('if(t > 0.15, exp(1e9), 3)')]).run(3), [3, 3, 3]);
  });
});

t.test('SIM-06: every expression function gives its value', async (t) => {
  const u = streamOf(7, 'm', 'out').uniform();
  const cases: Record<keyof typeof EXPRESSION_FUNCTIONS, [text: string, values: number[]]> = {
    lag: ['lag(if(t > 0.15, 1, 0), 0.2)', [0, 1 - Math.exp(-0.5), 1 - Math.exp(-1)]],
    ramp: ['ramp(if(t > 0.15, 1, 0), 4)', [0, 0.4, 0.8]],
    integral: ['integral(2, 10)', [10, 10.2, 10.4]],
    derivative: ['derivative(t * t)', [0, 0.3, 0.5]],
    noise: ['noise(2)', [2 * u]],
    clamp: ['clamp(t * 10, 1.5, 2.5)', [1.5, 2, 2.5]],
    abs: ['abs(-t)', [0.1, 0.2, 0.3]],
    sqrt: ['sqrt(if(t < 0.15, -4, 4))', [0, 2]],
    exp: ['exp(t)', [Math.exp(0.1)]],
    log: ['log(if(t < 0.15, 0, 2))', [-1e30, Math.log(2)]],
    sin: ['sin(1)', [Math.sin(1)]],
    cos: ['cos(1)', [Math.cos(1)]],
    min: ['min(3, t * 10, 2)', [1, 2, 2]],
    max: ['max(1.5, t * 10, 0)', [1.5, 2, 3]],
    pulse: ['pulse(0.3, 0.5)', [1, 0, 1, 1, 0]],
    if: ['if(t > 0.15, 4, 5)', [5, 4]],
    and: ['and(1, t > 0.15, 2)', [0, 1]],
    or: ['or(0, t > 0.15, 0)', [0, 1]],
    not: ['not(t > 0.15)', [1, 0]],
  };
  for (const [name, [text, values]] of Object.entries(cases)) {
    t.same(rounded(bench([expr(text)]).run(values.length), 6), rounded(values, 6), name);
  }
});

t.test('SIM-07: self, dt and t, precedence and totality of expressions', async (t) => {
  const last = (text: string, ticks = 1): number =>
    bench([expr(text)])
      .run(ticks)
      .at(-1) ?? Number.NaN;
  t.equal(Number(last('self + dt', 3).toFixed(9)), 0.3);
  t.equal(last('t', 3), 0.3, 'no rounding error gathers in t');
  t.equal(last('1 + 2 * 3 ^ 2'), 19);
  t.equal(last('-2 ^ 2'), -4, 'the sign binds weaker than the power');
  t.equal(last('2 ^ -1'), 0.5);
  t.equal(last('10 - 4 - 3'), 3);
  t.equal(last('7 % 4'), 3);
  t.equal(last('5 / 0'), 0);
  t.equal(last('5 % 0'), 0);
  t.equal(last('1 < 2 = true'), 1);
  t.equal(last('1 <> 1'), 0);
  t.equal(last('[cmd] != 1'), 1);
  t.equal(last('1e3 + .5'), 1000.5);
  t.equal(last('0 * exp(1e9)'), 0, 'not a number keeps the value before');
});

t.test('SIM-08: faults change the sample after the behaviours, in list order', async (t) => {
  const fault = (type: string, params: SimulationFault['params'] = {}, more: Partial<SimulationFault> = {}): SimulationFault => ({
    name: type,
    address: 'out',
    type,
    params,
    triggerMode: 'Manual',
    triggerAfterMs: 0,
    ...more,
  });
  const faulty = (...faults: SimulationFault[]): Bench => bench([expr('t * 10')], { faults });
  const qualityOf = (one: Bench): number => one.engine.sample('m', 'out')?.quality ?? -1;

  const bad = faulty(fault('QualityBad'));
  t.same(bad.run(2), [1, 2]);
  t.equal(qualityOf(bad), QUALITY.Bad);

  t.same(rounded(faulty(fault('SensorDrift', { rate: -1, max: 0.2 })).run(3)), [0.9, 1.8, 2.8]);
  t.same(rounded(faulty(fault('SensorDrift', {})).run(2)), [1.01, 2.02], 'default rate');

  const broken = faulty(fault('WireBreak', { value: '-3' }));
  t.same(broken.run(1), [-3]);
  t.equal(qualityOf(broken), QUALITY.Bad);

  t.same(rounded(faulty(fault('Oscillation', { amplitude: 2, period: '400ms' })).run(4)), [3, 2, 1, 4]);
  t.same(rounded(faulty(fault('SensorDrift', { rate: 1 }), fault('WireBreak', { value: 1 })).run(1)), [1], 'the later fault wins');

  t.test('SIM-09: Timed waits for triggerAfter, Manual does not', async (t) => {
    t.same(faulty(fault('WireBreak', { value: 9 }, { triggerMode: 'Timed', triggerAfterMs: 300 })).run(4), [1, 2, 9, 9]);
  });

  t.test('SIM-10: StuckValue freezes value and timestamp and keeps the quality Good', async (t) => {
    const stuck = faulty(fault('StuckValue', {}, { triggerMode: 'Timed', triggerAfterMs: 200 }));
    t.same(stuck.run(4), [1, 2, 2, 2]);
    t.equal(stuck.engine.sample('m', 'out')?.atMs, START_MS + 200);
    t.equal(qualityOf(stuck), QUALITY.Good);
    t.same(faulty(fault('StuckValue', { value: 42 })).run(2), [42, 42]);
  });

  t.test('removing a fault ends it', async (t) => {
    const one = faulty(fault('WireBreak', { value: -3 }));
    one.run(1);
    one.engine.configure([{ ...one.spec, faults: [] }]);
    t.same(one.run(1), [2]);
    t.equal(qualityOf(one), QUALITY.Good);
  });
});

t.test('decisions 6.6: random streams', async (t) => {
  t.equal(fnv1a32(''), 0x811c9dc5);
  t.equal(fnv1a32('a'), 0xe40c292c, 'published FNV-1a vector');
  t.equal(fnv1a32('foobar'), 0xbf9cf968, 'published FNV-1a vector');
  const stream = new RandomStream(1);
  t.same([stream.next(), stream.next()], [0.6270739405881613, 0.002735721180215478], 'mulberry32 of seed 1');
  const normal = new RandomStream(99);
  const draws = Array.from({ length: 20_000 }, () => normal.normal());
  const mean = draws.reduce((sum, value) => sum + value, 0) / draws.length;
  const variance = draws.reduce((sum, value) => sum + (value - mean) ** 2, 0) / draws.length;
  t.ok(Math.abs(mean) < 0.03 && Math.abs(variance - 1) < 0.05, `mean ${mean}, variance ${variance}`);
});

t.test('decisions 6.1: behaviours see the previous tick and integers are rounded', async (t) => {
  const chain = bench([expr('[a] + 1'), { address: 'a', type: 'Expr', params: { expr: 't * 10' } }]);
  t.same(chain.run(3), [1, 2, 3], 'a is one tick behind');
  const typed = bench([expr('t * 14')], { channels: [{ address: 'out', dataType: 'int', initial: 0 }] });
  t.same(typed.run(3), [1, 3, 4]);
  const truth = bench([expr('t > 0.15')], { channels: [{ address: 'out', dataType: 'bool', initial: 0 }] });
  t.same(truth.run(2), [0, 1]);
});

t.test('SIM-16: a written channel keeps its value until released, and its behaviour runs on underneath', async (t) => {
  const one = bench([expr('self + 1'), { address: 'sum', type: 'Expr', params: { expr: '[out] * 10' } }]);
  one.run(2);
  t.ok(one.engine.force('m', 'out', 100, one.now()));
  t.equal(one.engine.sample('m', 'out')?.value, 100, 'shown at once');
  t.same(one.run(2), [100, 100]);
  t.equal(one.engine.sample('m', 'sum')?.value, 1000, 'others see the forced value');
  t.equal(one.engine.sample('m', 'out')?.forced, true);
  t.same(one.engine.release('m', []), ['out']);
  t.same(one.run(1), [5]);
  t.same(one.engine.release('m', ['out']), []);
});

t.test('SIM-15: an edit keeps the state of what stays the same', async (t) => {
  const one = bench([expr('integral(1)'), { address: 'tank', type: 'TankLevel', params: { inflow: 10 } }]);
  one.run(3);
  one.engine.write('m', 'in', 8);
  one.engine.configure([{ ...one.spec, behaviors: [expr('integral(2)', { engMax: 50 }), { address: 'tank', type: 'TankLevel', params: { inflow: 20 } }] }]);
  t.same(rounded(one.run(1)), [0.4]);
  t.equal(one.engine.sample('m', 'tank')?.value, 5);
  t.equal(one.engine.sample('m', 'in')?.value, 8);
  one.engine.configure([{ ...one.spec, behaviors: [out('NoisyConstant', { value: 1 })] }]);
  t.same(one.run(1), [1], 'another type starts anew');
});

t.test('a module with an unknown reference stands still with Bad values and leaves the others alone', async (t) => {
  const engine = new SimulationEngine();
  const module = (name: string, text: string): SimulatedModule => ({ name, tickMs: 100, seed: 0, channels: [], behaviors: [expr(text)], faults: [] });
  const problems = engine.configure([module('good', '1'), module('wrong', '[nowhere]'), module('far', '[good/out] + 1')]);
  t.match(problems.get('wrong'), /nowhere/);
  t.equal(problems.size, 1);
  t.same(engine.tick(1), ['good', 'far']);
  engine.tick(2);
  t.equal(engine.sample('far', 'out')?.value, 2);
  t.equal(engine.sample('wrong', 'out')?.quality, QUALITY.Bad);
});

t.test('a slower module takes part in every n-th tick with its own dt', async (t) => {
  const engine = new SimulationEngine();
  const module = (name: string, tickMs: number): SimulatedModule => ({ name, tickMs, seed: 0, channels: [], behaviors: [expr('self + dt')], faults: [] });
  engine.configure([module('fast', 100), module('slow', 500)]);
  for (let tick = 1; tick <= 10; tick += 1) engine.tick(tick);
  t.equal(Number(engine.sample('fast', 'out')?.value.toFixed(9)), 1);
  t.equal(Number(engine.sample('slow', 'out')?.value.toFixed(9)), 1);
});

// -------------------------------------------------------------------------------------------- demonstration plant

interface DemoItem {
  kind: string;
  metadata: { name: string };
  spec: {
    behaviors?: Behavior[];
    channels?: { address: string; dataType: 'bool' | 'float'; initial?: number }[];
    simulation?: { seed: number; preset: string; addressMap: Record<string, string>; behaviors: Behavior[] };
  };
}

function demoModules(): SimulatedModule[] {
  const items = JSON.parse(readFileSync('demo/40-simulated-io.json', 'utf8')) as DemoItem[];
  const presets = new Map(items.filter((item) => item.kind === 'SimulationPreset').map((item) => [item.metadata.name, item.spec.behaviors ?? []]));
  return items.flatMap(({ kind, metadata, spec }) => {
    if (kind !== 'IOModule' || !spec.simulation) return [];
    const { preset, addressMap, behaviors, seed } = spec.simulation;
    return [
      {
        name: metadata.name,
        tickMs: 100,
        seed,
        channels: (spec.channels ?? []).map(({ address, dataType, initial }) => ({ address, dataType, initial: initial ?? 0 })),
        behaviors: mergeBehaviors(presets.get(preset) ?? [], addressMap, behaviors),
        faults: [],
      },
    ];
  });
}

function demoPlant(): SimulationEngine {
  const engine = new SimulationEngine();
  const problems = engine.configure(demoModules());
  if (problems.size > 0) throw new Error([...problems.values()].join());
  return engine;
}

t.test('decisions 9: the demonstration plant runs', async (t) => {
  t.test('opening xv101 fills rx101 with 3 kg/s', async (t) => {
    const plant = demoPlant();
    let nowMs = 0;
    const seconds = (count: number): void => {
      for (let tick = 0; tick < count * 10; tick += 1) plant.tick((nowMs += 100));
    };
    const value = (module: string, address: string): number => plant.sample(module, address)?.value ?? Number.NaN;
    seconds(1);
    t.equal(value('io-rx101', 'xv101.zsc'), 1);
    t.equal(value('io-rx101', 'mass101'), 0);
    plant.write('io-rx101', 'xv101.cmd', 1);
    seconds(5);
    t.equal(value('io-rx101', 'xv101.zso'), 1);
    const before = value('io-rx101', 'mass101');
    seconds(4);
    t.ok(Math.abs(value('io-rx101', 'mass101') - before - 12) < 0.01, `${value('io-rx101', 'mass101') - before} kg in 4 s`);
    const expected = 4 + (16 * value('io-rx101', 'mass101')) / 60;
    t.ok(Math.abs(value('io-rx101', 'lt101') - expected) < 0.1, 'the level transmitter of the preset follows the contents');
    plant.write('io-rx101', 'xv104.cmd', 1);
    plant.write('io-rx101', 'p101.cmd', 1);
    plant.write('io-tk201', 'xv201.cmd', 1);
    seconds(3);
    t.equal(value('io-rx101', 'fout101'), 6);
    t.equal(value('io-tk201', 'fin201'), 6, 'what leaves the reactor arrives in the tank');
  });
  t.test('equal seeds give equal values', async (t) => {
    const plants = [demoPlant(), demoPlant()];
    const traces = plants.map((plant) => {
      plant.write('io-rx101', 'xv101.cmd', 1);
      return Array.from({ length: 300 }, (_, tick) => {
        plant.tick(tick);
        return ['lt101', 'tt101', 'pt101', 'ft101'].map((address) => plant.sample('io-rx101', address)?.value);
      });
    });
    t.same(traces[0], traces[1]);
    t.not(at(at(traces, 0), 0)[0], at(at(traces, 0), 1)[0], 'and there is noise in them');
  });
});
