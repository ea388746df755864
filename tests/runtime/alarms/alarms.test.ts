/** Alarm definitions in the scan: every condition scan by scan, the debounce, the gate, and values that cannot be judged. */
import t from 'tap';
import { AlarmSet } from '../../../runtime/vocabulary/alarm-set.js';
import type { AlarmCondition, AlarmPlan, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { network, tags, unitPlan } from '../network/plans.js';

const SCAN_MS = 100;
const ARMED = { definition: 'a', armed: true, active: false, evaluable: true };

function alarm(condition: AlarmCondition, more: Partial<AlarmPlan> = {}): AlarmPlan {
  return { definition: 'a', address: 'v.in', tag: 0, condition, deadband: 0, debounceMs: 0, ...more };
}

/** One tag, one definition: what is told in each scan. */
class Bench {
  set: AlarmSet;
  readonly readings = { values: new Float64Array(1), quality: new Uint8Array(1), isStale: false, stale: () => this.readings.isStale };

  constructor(plan: AlarmPlan) {
    this.set = new AlarmSet([plan]);
    this.set.setGates([ARMED]);
  }

  scan(value: number, dtMs = SCAN_MS): string {
    const told: string[] = [];
    this.readings.values[0] = value;
    this.set.scan(dtMs, this.readings, (_plan, edge) => told.push(edge));
    return told.join(' ');
  }

  scans(...values: readonly number[]): string {
    return values.map((value) => this.scan(value) || '-').join(' ');
  }
}

/** A value per scan, and what was told in that scan. */
const CONDITIONS: readonly [title: string, plan: AlarmPlan, values: readonly number[], told: string][] = [
  [
    'ADEF-05 ADEF-07: TagHigh comes above the threshold and goes at threshold less deadband',
    alarm('TagHigh', { threshold: 95, deadband: 2 }),
    [95, 95.1, 96, 93.1, 93, 95],
    '- raised - - cleared -',
  ],
  ['ADEF-05: TagHighHigh is judged as TagHigh', alarm('TagHighHigh', { threshold: 105, deadband: 0 }), [105, 106, 105], '- raised cleared'],
  [
    'ADEF-05 ADEF-07: TagLow comes below the threshold and goes at threshold plus deadband',
    alarm('TagLow', { threshold: 75, deadband: 1 }),
    [75, 74, 75.9, 76, 75],
    '- raised - cleared -',
  ],
  ['ADEF-05: TagLowLow is judged as TagLow, also below zero', alarm('TagLowLow', { threshold: -5, deadband: 1 }), [-5, -5.1, -4.5, -4], '- raised - cleared'],
  [
    'ADEF-06: TagDeviation with a threshold goes at threshold less deadband',
    alarm('TagDeviation', { setpoint: 10, threshold: 3, deadband: 1 }),
    [13, 13.5, 12.5, 12, 6.9],
    '- raised - cleared raised',
  ],
  ['ADEF-06: TagDeviation without a threshold has the deadband for its limit', alarm('TagDeviation', { setpoint: 10, deadband: 2 }), [12, 12.1, 7.9, 8], '- raised - cleared'],
  ['ADEF-06: TagDeviation without threshold and deadband is any difference', alarm('TagDeviation', { setpoint: 10 }), [10, 10.01, 10], '- raised cleared'],
  ['ADEF-03: TagTrue ignores the deadband', alarm('TagTrue', { deadband: 5 }), [0, 1, 1, 0], '- raised - cleared'],
  ['ADEF-03: TagFalse ignores the deadband', alarm('TagFalse', { deadband: 5 }), [1, 0, 0, 1], '- raised - cleared'],
  [
    'ADEF-08: the condition must hold without a break for the debounce; clearing is immediate',
    alarm('TagTrue', { debounceMs: 300 }),
    [1, 1, 1, 0, 1, 1, 1, 1, 0],
    '- - - - - - - raised cleared',
  ],
];

for (const [title, plan, values, told] of CONDITIONS) {
  t.test(title, async (t) => {
    t.equal(new Bench(plan).scans(...values), told);
  });
}

t.test('ADEF-08: the debounce is plant time: a scan after missed ones counts all of them', async (t) => {
  const bench = new Bench(alarm('TagTrue', { debounceMs: 500 }));
  t.equal(bench.scan(1), '', 'begins');
  t.equal(bench.scan(1, 400), '');
  t.equal(bench.scan(1), 'raised');
});

t.test('Q-ALARM-02: a value that is Bad, Uncertain, Raw, stale or no number freezes the alarm and its debounce', async (t) => {
  for (const [name, spoil, mend] of [
    ['Bad', (b: Bench) => (b.readings.quality[0] = QUALITY.Bad), (b: Bench) => (b.readings.quality[0] = QUALITY.Good)],
    ['Uncertain', (b: Bench) => (b.readings.quality[0] = QUALITY.Uncertain), (b: Bench) => (b.readings.quality[0] = QUALITY.Good)],
    ['Raw', (b: Bench) => (b.readings.quality[0] = QUALITY.Raw), (b: Bench) => (b.readings.quality[0] = QUALITY.Good)],
    ['stale', (b: Bench) => (b.readings.isStale = true), (b: Bench) => (b.readings.isStale = false)],
  ] as const) {
    const bench = new Bench(alarm('TagHigh', { threshold: 10, debounceMs: 200 }));
    bench.scans(11, 11);
    spoil(bench);
    t.equal(bench.scans(11, 11, 0), 'lost - -', `${name}: no activation, and it is told once`);
    mend(bench);
    t.equal(bench.scans(11, 0), 'evaluable raised cleared', `${name}: the debounce goes on where it was`);
    bench.scans(11, 11, 11);
    spoil(bench);
    t.equal(bench.scans(0, 0), 'lost -', `${name}: no clearing`);
    mend(bench);
    t.equal(bench.scans(11, 0), 'evaluable cleared', `${name}: it stood until a good value said otherwise`);
  }
  t.equal(new Bench(alarm('TagHigh', { threshold: 1 })).scans(Number.NaN, 2), 'lost evaluable raised');
});

t.test('Q-ALARM-13: a definition that is not armed is not evaluated; its debounce begins when it is armed', async (t) => {
  const bench = new Bench(alarm('TagTrue', { debounceMs: 100 }));
  bench.set.setGates([{ ...ARMED, armed: false }]);
  t.equal(bench.scans(1, 1, 1), '- - -');
  bench.set.setGates([ARMED]);
  t.equal(bench.scans(1, 1, 1), '- raised -');
  bench.set.setGates([{ ...ARMED, armed: false }]);
  t.equal(bench.scans(0, 1), '- -', 'the gateway clears what stands when a gate closes');
  t.equal(new Bench(alarm('TagTrue')).set.snapshot().armed[0], 1);
  t.equal(new AlarmSet([alarm('TagTrue')]).snapshot().armed[0], 0, 'nothing is armed until the gateway says so');
});

t.test('Q-ALARM-06: what the gateway holds true wins, and the difference is told in the next scan', async (t) => {
  const bench = new Bench(alarm('TagHigh', { threshold: 95, deadband: 5, debounceMs: 1000 }));
  bench.set.setGates([{ ...ARMED, active: true }]);
  t.equal(bench.scans(93, 91), '- -', 'after a restart an alarm inside its deadband stands');
  t.equal(bench.scan(90), 'cleared', 'and goes without a debounce');
  bench.set.setGates([{ ...ARMED, active: true, evaluable: false }]);
  t.equal(bench.scans(96), 'evaluable');
  for (let n = 0; n < 12; n += 1) bench.scan(96);
  bench.set.setGates([ARMED]);
  t.equal(bench.scan(96), 'raised', 'an alarm that was deleted while its condition holds comes anew in the next scan');
});

t.test('ADR 0005: a hot swap keeps what stands and, while the condition is the same, its debounce; a snapshot keeps all of it', async (t) => {
  const plan = alarm('TagHigh', { threshold: 10, debounceMs: 300 });
  const bench = new Bench(plan);
  bench.scans(11, 11, 11);
  const saved = bench.set.snapshot();
  const restored = new AlarmSet([plan]);
  restored.restore(saved);
  t.strictSame(restored.snapshot(), saved);
  bench.set = new AlarmSet([alarm('TagLow', { definition: 'b' }), plan], bench.set);
  t.equal(bench.scan(11), 'raised', 'the debounce went on');
  bench.set = new AlarmSet([{ ...plan, threshold: 20 }], bench.set);
  t.equal(bench.scans(15), 'cleared', 'the new limit holds at once');
  bench.set = new AlarmSet([plan], bench.set);
  t.equal(bench.scans(15, 15, 15, 15), '- - - raised', 'another condition begins its debounce anew');
});

// ---------------------------------------------------------------- in the scan loop

t.test(
  'ADEF-21: a tag condition is told within 10 s and its debounce, and never before its debounce is over, at any scan up to 5 s; at the slowest, 10 s, where the debounce is whole scans',
  async (t) => {
    const POLL_MS = 10_000; // contract 2, Alarms; no unit scans more seldom
    for (const [scanMs, debounces] of [
      [SCAN_MS, [0, 4000, 25_050]],
      [5000, [0, 4000, 26_000]],
      [POLL_MS, [0, 20_000]],
    ] as const) {
      for (const debounceMs of debounces) {
        for (const trueAtMs of [0, 1, scanMs - 1]) {
          const bench = new Bench(alarm('TagHigh', { threshold: 50, debounceMs }));
          let toldMs = -1;
          for (let atMs = 0; toldMs < 0 && atMs < 100_000; atMs += scanMs) if (bench.scan(atMs >= trueAtMs ? 51 : 50, scanMs) === 'raised') toldMs = atMs;
          const reactedMs = toldMs - trueAtMs;
          t.ok(reactedMs >= debounceMs && reactedMs <= POLL_MS + debounceMs, `scan ${scanMs} ms, debounce ${debounceMs} ms, true at ${trueAtMs} ms: told after ${reactedMs} ms`);
        }
      }
    }
  },
);

t.test('D-ALARM-02: the scan of a unit judges its tags once per scan and posts edges with value and time', async (t) => {
  const inbox: UnitInbound[] = [];
  const sent: UnitOutbound[] = [];
  let nowMs = 1000;
  const loop = new UnitLoop({
    receive: () => inbox.shift(),
    post: (message) => sent.push(message),
    clock: new ScanClock({ monoMs: () => nowMs }),
    monoMs: () => nowMs,
    wallMs: () => nowMs,
    phases: (host, settings) => new PhaseSet(host, settings),
  });
  const plan = unitPlan({
    tags: tags('v.in move.IN REAL w', 'v.out move.OUT REAL'),
    networks: [network({ name: 'v', blocks: [{ name: 'move', type: 'MOVE' }] })],
    alarms: [alarm('TagHigh', { address: 'v.out', tag: 1, threshold: 50, debounceMs: 200 })],
  });
  const edges = (): unknown[] => sent.splice(0).flatMap((message) => (message.type === 'alarm-edge' ? [[message.edge, message.value, message.atMs]] : []));
  const scan = (...messages: readonly UnitInbound[]): unknown[] => {
    inbox.push(...messages);
    loop.receive();
    nowMs += SCAN_MS;
    loop.scan(1);
    return edges();
  };
  scan({ type: 'plan', plan }, { type: 'write', id: 1, address: 'v.in', value: 51 });
  t.strictSame(scan(), [], 'nothing is armed yet');
  t.strictSame([scan({ type: 'alarm-gates', gates: [ARMED] }), scan(), scan()], [[], [], [['raised', 51, 1500]]]);
  t.strictSame(scan({ type: 'plan', plan: { ...plan, revision: 2 } }), [], 'a hot swap raises nothing anew');
  t.strictSame(scan({ type: 'write', id: 2, address: 'v.in', value: 50 }), [['cleared', 50, 1700]]);
});
