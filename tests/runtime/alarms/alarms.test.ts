/** Alarm definitions in the scan: every condition scan by scan, the debounce, the gate, and values that cannot be judged. */
import t from 'tap';
import { AlarmSet, clearsAt } from '../../../runtime/vocabulary/alarm-set.js';
import type { AlarmCondition, AlarmPlan, RecordingPart, TagPlan, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { Player } from '../../../runtime/replay/player.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { image, network, tags, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

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

t.test('what a person is told of when an alarm clears is what the scan does', async (t) => {
  const rows: readonly (readonly [AlarmPlan, ReturnType<typeof clearsAt>])[] = [
    [alarm('TagHigh', { threshold: 95, deadband: 2 }), { wanted: '<=', limit: 93 }],
    [alarm('TagHighHigh', { threshold: 105 }), { wanted: '<=', limit: 105 }],
    [alarm('TagLow', { threshold: 75, deadband: 1 }), { wanted: '>=', limit: 76 }],
    [alarm('TagLowLow', { threshold: -5, deadband: 1 }), { wanted: '>=', limit: -4 }],
    [alarm('TagTrue'), { wanted: '=', limit: false }],
    [alarm('TagFalse'), { wanted: '=', limit: true }],
    [alarm('TagDeviation', { setpoint: 10, threshold: 3 }), undefined],
    [alarm('TagHigh'), undefined],
    [alarm('TagLow'), undefined],
  ];
  for (const [plan, wanted] of rows) {
    const told = clearsAt(plan);
    t.strictSame(told, wanted, plan.condition);
    if (!told) continue;
    const [bench, limit] = [new Bench(plan), Number(told.limit)];
    const [stands, cleared] = told.wanted === '<=' ? [limit + 0.01, limit] : told.wanted === '>=' ? [limit - 0.01, limit] : [1 - limit, limit];
    bench.scan(told.wanted === '<=' ? 1000 : told.wanted === '>=' ? -1000 : stands);
    t.strictSame([bench.scan(stands), bench.scan(cleared)], ['', 'cleared'], `${plan.condition}: at the limit`);
  }
});

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
    t.equal(bench.scans(11, 11, 0), 'evaluable raised cleared', `${name}: the debounce goes on where it was, without the time between`);
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
  t.equal(new AlarmSet(Array.from({ length: 200_000 }, () => plan)).plans.length, 200_000, 'however many there are');
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

// ---------------------------------------------------------------- units that scan seldom

/** Tags of the slow unit: read past its networks, and through a block of one. */
const TAGS: readonly TagPlan[] = [
  { address: 'v.raw', network: 'v', name: 'raw', type: 'REAL', writable: false, cyclic: true, binding: { kind: 'channel', image: 0, channel: 0 } },
  ...tags('v.level level.OUT REAL'),
];

interface SlowUnitOptions {
  readonly scanMs: number;
  readonly alarms: readonly AlarmPlan[];
  readonly timeScale?: number;
  readonly staleAfterMs?: number;
}

/** A unit in its thread, on a clock of its own; its only input is written as its device says it. */
class SlowUnit {
  nowMs = 0;
  readonly edges: { readonly edge: string; readonly value: unknown; readonly atMs: number }[] = [];
  readonly parts: RecordingPart[] = [];
  /** When it was given a turn. */
  readonly turnsMs: number[] = [];
  /** The next turn begins so much later than it should. */
  oversleepMs = 0;
  readonly loop: UnitLoop;
  readonly #inbox: UnitInbound[] = [];
  readonly #image: ProcessImage;

  constructor({ scanMs, alarms, timeScale = 1, staleAfterMs = 0 }: SlowUnitOptions) {
    const io = { ...image('io', 'AI1 input'), staleAfterMs };
    this.#image = new ProcessImage(1, io.buffer);
    this.sample(0);
    const time = (): number => this.nowMs;
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message, transfer) => {
        if (message.type === 'recording') this.parts.push(structuredClone(message.part, { transfer: [...(transfer ?? [])] }));
        if (message.type === 'alarm-edge') this.edges.push({ edge: message.edge, value: message.value, atMs: message.atMs });
      },
      clock: new ScanClock({ monoMs: time }),
      monoMs: time,
      wallMs: time,
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    const level = network({
      name: 'v',
      scanIntervalMs: scanMs,
      blocks: [{ name: 'level', type: 'AI', params: { addr: 'io:AI1' } }],
      channels: [{ block: 'level', image: 0, channel: 0 }],
    });
    this.send(
      { type: 'plan', plan: unitPlan({ scanIntervalMs: scanMs, timeScale, tags: TAGS, networks: [level], images: [io], alarms }) },
      { type: 'alarm-gates', gates: alarms.map(({ definition }) => ({ ...ARMED, definition })) },
    );
  }

  send(...messages: readonly UnitInbound[]): void {
    this.#inbox.push(...messages);
  }

  /** What the device says now. */
  sample(value: number): void {
    this.#image.beginInputs();
    this.#image.value[0] = value;
    this.#image.stamp(0, Math.max(1, this.nowMs), this.nowMs);
    this.#image.quality[0] = QUALITY.Good;
    this.#image.endInputs();
  }

  /** Goes on to a time, turn by turn as they are due. */
  runTo(untilMs: number): void {
    while (Math.max(this.nowMs, this.loop.dueMs + this.oversleepMs) <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.loop.dueMs + this.oversleepMs);
      this.oversleepMs = 0;
      this.turnsMs.push(this.nowMs);
      this.loop.turn();
    }
    this.nowMs = untilMs;
  }

  /** How long after the present moment the edge was told. */
  reactionMs(edge: string, limitMs: number): number {
    const fromMs = this.nowMs;
    const before = this.edges.length;
    this.runTo(fromMs + limitMs);
    const told = this.edges.slice(before).find((entry) => entry.edge === edge);
    return told ? told.atMs - fromMs : Number.NaN;
  }
}

const POLL_MS = 10_000;

t.test('LIMIT-10 ADEF-21: an alarm comes within 10 s and its debounce and goes within 10 s of the input, however seldom the unit scans', async (t) => {
  for (const scanMs of [100, 5000, 5100, 7300, 9900, 10_000, 30_000, 60_000]) {
    for (const debounceMs of [0, 1000, 3000, 12_000, 61_000]) {
      // what a network calculates is as old as its scan: a unit of at most 10 s, which is what the contract allows
      for (const [tag, address] of scanMs <= POLL_MS
        ? ([
            [0, 'v.raw'],
            [1, 'v.level'],
          ] as const)
        : ([[0, 'v.raw']] as const)) {
        for (const phase of [0.001, 0.3, 0.5, 0.999]) {
          const unit = new SlowUnit({ scanMs, alarms: [alarm('TagHigh', { address, tag, threshold: 50, debounceMs })] });
          unit.runTo((2 + phase) * scanMs + 20_000);
          const which = `${address}, scan ${scanMs} ms, debounce ${debounceMs} ms, phase ${phase}`;
          unit.sample(51);
          const cameMs = unit.reactionMs('raised', POLL_MS + debounceMs + 60_000);
          t.ok(cameMs >= debounceMs && cameMs <= POLL_MS + debounceMs, `${which}: came after ${cameMs} ms`);
          t.strictSame(
            unit.edges.filter(({ edge }) => edge === 'raised').map(({ value }) => value),
            [51],
            `${which}: once, with its value`,
          );
          unit.runTo(unit.nowMs + phase * scanMs);
          unit.sample(50);
          const wentMs = unit.reactionMs('cleared', POLL_MS + 60_000);
          t.ok(wentMs >= 0 && wentMs <= POLL_MS, `${which}: went after ${wentMs} ms`);
        }
      }
    }
  }
});

t.test('ADEF-08: a debounce is never shortened: not by a scan that begins late, and a break that a pass sees begins it anew', async (t) => {
  const unit = new SlowUnit({ scanMs: POLL_MS, alarms: [alarm('TagTrue', { address: 'v.level', tag: 1, debounceMs: 5000 })] });
  unit.runTo(POLL_MS + 100);
  unit.sample(1);
  unit.runTo(unit.loop.scanDueMs - 1);
  unit.oversleepMs = 7000;
  unit.runTo(unit.nowMs + 7001);
  const seenMs = unit.turnsMs.at(-1) ?? 0;
  unit.runTo(POLL_MS * 4);
  t.match(unit.edges, [{ edge: 'raised', atMs: seenMs + 5000 }], 'though the next scan is due 3 s after the late one');

  const broken = new SlowUnit({ scanMs: 60_000, alarms: [alarm('TagTrue', { address: 'v.raw', debounceMs: 12_000 })] });
  broken.runTo(60_001);
  broken.sample(1);
  broken.runTo(72_000);
  broken.sample(0);
  broken.runTo(77_500);
  broken.sample(1);
  broken.runTo(120_000);
  t.equal(broken.edges.length, 1);
  t.ok(at(broken.edges, 0).atMs >= 77_500 + 12_000 && at(broken.edges, 0).atMs <= 77_500 + POLL_MS + 12_000, `raised at ${at(broken.edges, 0).atMs}`);
});

t.test('ADEF-21: a unit that scans at least every 5 s has no turn beside its scans, and a slow one not many: none for a tag that cannot be judged', async (t) => {
  const debounced = alarm('TagTrue', { address: 'v.raw', debounceMs: 7000 });
  const fast = new SlowUnit({ scanMs: 5000, alarms: [debounced] });
  fast.sample(1);
  fast.runTo(60_000);
  t.strictSame(
    fast.turnsMs.slice(1),
    Array.from({ length: fast.turnsMs.length - 1 }, (_, n) => at(fast.turnsMs, 1) + 5000 * n),
  );
  const none = new SlowUnit({ scanMs: POLL_MS, alarms: [] });
  none.runTo(60_000);
  t.ok(none.turnsMs.length <= 7, 'no alarms, no passes');

  const frozen = new SlowUnit({ scanMs: POLL_MS, alarms: [debounced], staleAfterMs: 3000 });
  frozen.runTo(30_001);
  frozen.sample(1); // and never again
  frozen.runTo(90_001);
  t.match(frozen.edges.at(-1), { edge: 'lost' });
  t.ok(frozen.turnsMs.length <= 4 * 10, `${frozen.turnsMs.length} turns in 90 s`);
  frozen.sample(1);
  const cameMs = frozen.reactionMs('raised', 3 * POLL_MS);
  t.ok(Number.isNaN(cameMs), 'a sample that goes stale at once proves no seven seconds');
});

t.test('Decisions 6.7: between the scans too a debounce is plant time, also when the time scale changes meanwhile', async (t) => {
  const unit = new SlowUnit({ scanMs: POLL_MS, timeScale: 10, alarms: [alarm('TagTrue', { address: 'v.raw', debounceMs: 12_000 })] });
  unit.runTo(2001);
  unit.sample(1);
  const cameMs = unit.reactionMs('raised', 5000);
  t.ok(cameMs >= 1200 && cameMs <= 2200, `ten times as fast: ${cameMs} ms`);
  unit.sample(0);
  unit.runTo(unit.nowMs + 1001);
  const settled = unit.edges.length;
  unit.sample(1);
  unit.send({ type: 'time-scale', timeScale: 1 });
  const slowMs = unit.reactionMs('raised', 60_000);
  t.ok(slowMs > 1200 + 5000 && slowMs <= 22_000, `the scale ends while it holds: ${slowMs} ms`);
  t.equal(unit.edges.length, settled + 1);
});

t.test('ADR 0005: what is judged between the scans is recorded: a replay comes to the same alarms, and the scans cannot tell', async (t) => {
  const alarms = [
    alarm('TagHigh', { address: 'v.raw', threshold: 50, debounceMs: 12_000 }),
    alarm('TagHigh', { definition: 'b', address: 'v.level', tag: 1, threshold: 60, debounceMs: 3000 }),
  ];
  const unit = new SlowUnit({ scanMs: POLL_MS, alarms, staleAfterMs: 8000 });
  unit.runTo(30_000);
  unit.send({ type: 'record', recording: 'r', durationMaxMs: 10 ** 9, bytesMax: 2 ** 26 });
  for (let n = 0; n < 400; n += 1) {
    unit.sample(((n * 37) % 100) + (n % 40 < 20 ? 30 : -30));
    unit.runTo(unit.nowMs + 1700 + (n % 7 === 0 ? 9000 : 0));
    if (n === 150) unit.send({ type: 'time-scale', timeScale: 3 });
    if (n === 250) unit.send({ type: 'time-scale', timeScale: 1 });
    if (n === 300) unit.send({ type: 'alarm-gates', gates: [{ ...ARMED, armed: false }] });
    if (n === 320) unit.send({ type: 'alarm-gates', gates: [ARMED] });
  }
  unit.send({ type: 'record-stop', recording: 'r' });
  unit.runTo(unit.nowMs + 2 * POLL_MS);
  for (const edge of ['raised', 'cleared', 'lost', 'evaluable']) t.ok(unit.edges.filter((told) => told.edge === edge).length > 3, `told ${edge}`);
  const [start, ...rest] = unit.parts;
  if (start?.kind !== 'start') throw new Error('a recording begins with its start');
  const player = new Player(start.start);
  for (const part of rest) {
    if (part.kind === 'scans') t.ok(part.first <= part.last, 'a part names scans');
    player.play(part);
  }
  t.ok(player.ended && player.checksums > 5, 'the state at the end, alarms included, is the recorded one');
});
