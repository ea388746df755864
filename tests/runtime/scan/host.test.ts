/** Units that share a scan thread (ADR 0012): whose turn it is, what one may cost the others, and how one ends alone. */
import t from 'tap';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { ScanThreadInbound, ScanThreadOutbound, UnitInbound, UnitPlan } from '../../../runtime/port.js';
import { freeMoment, ScanHost } from '../../../runtime/scan/host.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { network, SETTINGS, tags, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

/** What a look at the clock takes on this one: so long is a step at least. */
const LOOK_MS = 0.5;
const FAULT = new Error('this unit is broken');

/** Counts its scans; `blocks` of a shape of its own take that many steps to be prepared. */
function planOf(unit: string, scanIntervalMs: number, blocks = 1): UnitPlan {
  return unitPlan({
    unit,
    scanIntervalMs,
    settings: { ...SETTINGS },
    tags: tags('many.out b0.OUT REAL', 'many.in b0.IN1 REAL w'),
    networks: [network({ name: 'many', scanIntervalMs, hash: unit, blocks: Array.from({ length: blocks }, (_, n) => ({ name: `b${n}`, type: 'ADD', params: { IN1: n } })) })],
  });
}

interface Scan {
  readonly unit: string;
  readonly atMs: number;
}

/** A thread on a clock of its own. What happens when is told by `at`: called once, when the time has come. */
class TestThread {
  readonly scans: Scan[] = [];
  readonly told: ScanThreadOutbound[] = [];
  nowMs = 0;
  busyMs = 2;
  /** The next sleep takes so much longer. */
  oversleepMs = 0;
  broken = '';
  readonly #inbox: ScanThreadInbound[] = [];
  readonly #events: { readonly atMs: number; readonly call: () => void }[] = [];
  readonly #plans = new Map<unknown, UnitPlan>();

  at(atMs: number, call: () => void): this {
    this.#events.push({ atMs, call });
    return this;
  }

  host(runtime: number, plan: UnitPlan): void {
    this.#plans.set(plan.settings, plan);
    this.send({ type: 'host', runtime });
    this.tell(runtime, { type: 'plan', plan });
  }

  tell(runtime: number, ...messages: readonly UnitInbound[]): void {
    this.send(...messages.map((message) => ({ type: 'unit', runtime, message }) as const));
  }

  send(...messages: readonly ScanThreadInbound[]): void {
    this.#inbox.push(...messages);
  }

  run(untilMs: number): void {
    const scanned = (settings: unknown): void => {
      const { unit } = this.#plans.get(settings) as UnitPlan;
      if (unit === this.broken) throw FAULT;
      this.scans.push({ unit, atMs: this.nowMs });
      this.nowMs += this.busyMs;
    };
    this.at(untilMs, () => this.send({ type: 'close' }));
    new ScanHost({
      receive: () => this.#inbox.shift(),
      post: (message) => this.told.push(message),
      monoMs: () => (this.nowMs += LOOK_MS),
      wallMs: () => this.nowMs,
      round: () => this.#round(),
      sleep: (ms) => {
        this.nowMs = Math.min(this.nowMs + ms, ...this.#events.map(({ atMs }) => Math.max(atMs, this.nowMs))) + this.oversleepMs;
        this.oversleepMs = 0;
      },
      turnOf: () => {},
      phases: (host, settings) => {
        class Charts extends PhaseSet {
          override scan(dtMs: number): void {
            scanned(settings);
            super.scan(dtMs);
          }
        }
        return new Charts(host, settings);
      },
    }).run();
  }

  #round(): void {
    for (const event of this.#events.filter(({ atMs }) => atMs <= this.nowMs)) {
      this.#events.splice(this.#events.indexOf(event), 1);
      event.call();
    }
  }

  timesOf(unit: string, fromMs = 0, toMs = Number.POSITIVE_INFINITY): number[] {
    return this.scans.filter((scan) => scan.unit === unit && scan.atMs >= fromMs && scan.atMs < toMs).map(({ atMs }) => atMs);
  }

  loaded(runtime: number): boolean {
    return this.told.some((told) => told.type === 'unit' && told.runtime === runtime && told.message.type === 'plan-loaded');
  }

  /** Results of writes of a runtime, in their order. */
  written(runtime: number): number[] {
    return this.told.flatMap((told) => (told.type === 'unit' && told.runtime === runtime && told.message.type === 'write-result' ? [told.message.id] : []));
  }

  get ended(): unknown[] {
    return this.told.filter(({ type }) => type === 'ended');
  }
}

const statsOf = (plan: UnitPlan): { readonly missed: number; readonly maxLatenessMs: number } => {
  const { stats } = new TagTable(plan.tags.length, plan.table);
  return { missed: at(stats, STAT.missed), maxLatenessMs: at(stats, STAT.maxLatenessUs) / 1000 };
};

t.test('ADR 0012: units of one thread keep their own periods, spread over the time between', async (t) => {
  const plans = [planOf('a', 100), planOf('b', 100), planOf('c', 100), planOf('d', 50)];
  const thread = new TestThread();
  thread.at(0, () => plans.forEach((plan, n) => thread.host(n + 1, plan)));
  thread.run(2500);
  for (const plan of plans) {
    const { missed, maxLatenessMs } = statsOf(plan);
    const scans = thread.timesOf(plan.unit, 1500, 2500).length;
    t.equal(missed, 0, plan.unit);
    t.ok(Math.abs(scans - 1000 / plan.scanIntervalMs) <= 1, `${plan.unit}: ${scans} scans in a second`);
    t.ok(maxLatenessMs <= 20, `${plan.unit}: ${maxLatenessMs} ms late at most, that of their loading included`);
  }
  const firstOf = (unit: string): number => at(thread.timesOf(unit, 2000, 2100), 0);
  const [a, b, c] = [firstOf('a'), firstOf('b'), firstOf('c')];
  const apart = (x: number, y: number): number => Math.min((x - y + 200) % 100, (y - x + 200) % 100);
  for (const [x, y] of [
    [a, b],
    [b, c],
    [a, c],
  ] as const)
    t.ok(apart(x, y) > 15, `two units of one period are ${apart(x, y)} ms apart`);
});

t.test('ADEF-21 ADR 0012: alarms of slow units that share a thread are judged between their scans, which keep their times', async (t) => {
  const armed = { definition: 'high', armed: true, active: false, evaluable: true };
  const plans = ['a', 'b'].map((unit) => ({
    ...planOf(unit, 10_000),
    alarms: [{ definition: 'high', address: 'many.in', tag: 1, condition: 'TagHigh', threshold: 50, deadband: 0, debounceMs: 3000 } as const],
  }));
  const thread = new TestThread();
  thread.at(0, () => plans.forEach((plan, n) => thread.host(n + 1, plan)));
  thread.at(15_000, () => [1, 2].forEach((runtime) => thread.tell(runtime, { type: 'alarm-gates', gates: [armed] }, { type: 'write', id: 1, address: 'many.in', value: 51 })));
  thread.run(60_000);
  for (const [n, plan] of plans.entries()) {
    const seenMs = at(thread.timesOf(plan.unit, 15_000), 0);
    const edges = thread.told.flatMap((told) => (told.type === 'unit' && told.runtime === n + 1 && told.message.type === 'alarm-edge' ? [told.message] : []));
    t.match(edges, [{ definition: 'high', edge: 'raised', value: 51 }]);
    t.equal(edges.length, 1);
    const afterMs = at(edges, 0).atMs - seenMs;
    t.ok(Math.abs(afterMs - 3000) < 50, `${plan.unit}: told ${afterMs} ms after the scan that saw it`);
    t.equal(statsOf(plan).missed, 0);
    t.ok(statsOf(plan).maxLatenessMs <= 20, `${plan.unit}: ${statsOf(plan).maxLatenessMs} ms late at most`);
    t.ok(Math.abs(thread.timesOf(plan.unit).length - 6) <= 1, 'no scan more');
  }
});

t.test('ADR 0012: the earliest deadline goes first, whoever is hosted first; a period that was missed is counted by each unit for itself', async (t) => {
  const plans = [planOf('slow', 1000), planOf('middle', 200), planOf('fast', 50)];
  const thread = new TestThread();
  thread.at(0, () => plans.forEach((plan, n) => thread.host(n + 1, plan)));
  let since = 0;
  thread.at(5000, () => {
    since = thread.scans.length;
    thread.oversleepMs = 170;
  });
  thread.run(5300);
  const behind = thread.scans.slice(since);
  const late = behind.filter(({ atMs }) => atMs < at(behind, 0).atMs + 3 * thread.busyMs + 30 * LOOK_MS).map(({ unit }) => unit);
  t.equal(late.indexOf('fast'), 0, `${late.join()}: its deadline was the earliest`);
  t.equal(statsOf(at(plans, 2)).missed, 3, 'of the fast one');
  t.equal(statsOf(at(plans, 0)).missed, 0);
});

t.test('ADR 0012: a unit that throws ends alone; hosted again, it is loaded beside the others', async (t) => {
  const mate = planOf('mate', 100);
  const [first, second] = [planOf('bad', 100), planOf('bad', 100, 400)];
  const thread = new TestThread();
  thread.at(0, () => [mate, first].forEach((plan, n) => thread.host(n + 1, plan)));
  thread.at(1000, () => (thread.broken = 'bad'));
  thread.at(1500, () => {
    thread.broken = '';
    thread.tell(2, { type: 'write', id: 7, address: 'many.in', value: 1 });
    thread.host(3, second);
  });
  thread.run(4000);
  t.match(thread.ended, [{ type: 'ended', runtime: 2, fault: /this unit is broken[^]*host\.test/ }], 'with where it happened');
  t.strictSame(thread.written(2), [], 'a runtime that ended hears nothing');
  t.same(thread.timesOf('bad', 1110, 1500), []);
  t.ok(thread.loaded(3) && thread.timesOf('bad', 3000).length > 8, 'it is back');
  t.equal(statsOf(mate).missed, 0);
  t.ok(statsOf(mate).maxLatenessMs <= 20, `${statsOf(mate).maxLatenessMs} ms late at most while 400 blocks were prepared`);
});

t.test('ADR 0012: what the only unit of a thread throws ends the thread', async (t) => {
  const thread = new TestThread();
  thread.at(0, () => thread.host(1, planOf('alone', 100)));
  thread.at(300, () => (thread.broken = 'alone'));
  t.throws(() => thread.run(1000), FAULT);
});

t.test('ADR 0012: a unit is dropped as it is and hosted again under another number, and stops on its own; its mate misses nothing', async (t) => {
  const mate = planOf('mate', 20);
  const [first, second] = [planOf('u', 20), planOf('u', 20)];
  const thread = new TestThread();
  thread.at(0, () => [mate, first].forEach((plan, n) => thread.host(n + 1, plan)));
  thread.at(1000, () => {
    thread.send({ type: 'drop', runtime: 2 });
    thread.host(3, second);
  });
  thread.at(2000, () => thread.tell(3, { type: 'stop' }));
  thread.run(3000);
  t.strictSame(thread.ended, [
    { type: 'ended', runtime: 2, fault: '' },
    { type: 'ended', runtime: 3, fault: '' },
  ]);
  const stopped = thread.told.flatMap((told) => (told.type === 'unit' && told.message.type === 'stopped' ? [told.runtime] : []));
  t.strictSame(stopped, [3], 'only who was stopped says so');
  t.same(thread.timesOf('u', 2030), []);
  t.equal(statsOf(mate).missed, 0);
  t.ok(thread.timesOf('mate', 900, 2900).length >= 99, `${thread.timesOf('mate', 900, 2900).length} scans of the mate in 2 s`);
});

t.test('ADR 0012: the first plan of a unit waits for nobody when it is alone, and for its mates in steps', async (t) => {
  const alone = new TestThread();
  let scansBefore = -1;
  alone.at(0, () => alone.host(1, planOf('large', 100, 600)));
  alone.at(10, () => {
    scansBefore = alone.scans.length;
  });
  alone.run(3000);
  t.equal(scansBefore, 1, 'it is scanned before the thread comes round again');
  const mate = planOf('mate', 50);
  const thread = new TestThread();
  thread.at(0, () => thread.host(1, mate));
  thread.at(500, () => {
    thread.host(2, planOf('large', 100, 600));
    thread.tell(2, { type: 'write', id: 1, address: 'many.in', value: 5 });
  });
  thread.run(6000);
  t.ok(thread.loaded(2));
  t.strictSame(thread.written(2), [1], 'what came before the plan was there is kept');
  t.equal(statsOf(mate).missed, 0);
  t.ok(statsOf(mate).maxLatenessMs <= 20, `${statsOf(mate).maxLatenessMs} ms late at most`);
});

t.test('TAG-27: a write that waits for the next scan of a slow unit can be withdrawn, and takes no effect then; one that was taken cannot', async (t) => {
  const plan = planOf('slow', 10_000);
  const thread = new TestThread();
  thread.at(0, () => thread.host(1, plan));
  thread.at(11_000, () => thread.tell(1, { type: 'write', id: 1, address: 'many.in', value: 5 }, { type: 'write', id: 2, address: 'many.in', value: 6 }));
  thread.at(12_000, () => thread.tell(1, { type: 'withdraw', id: 2 }));
  thread.at(31_000, () => thread.tell(1, { type: 'withdraw', id: 1 }));
  thread.run(45_000);
  const results = thread.told.flatMap((told) => (told.type === 'unit' && told.message.type === 'write-result' ? [told.message] : []));
  t.match(results, [
    { id: 2, ok: false, code: 'withdrawn' },
    { id: 1, ok: true },
  ]);
  t.equal(results.length, 2);
  t.equal(new TagTable(2, plan.table).values[1], 5);
});

t.test('ADR 0030: the reset of a device that waits for the next scan of a slow unit can be withdrawn', async (t) => {
  const thread = new TestThread();
  thread.at(0, () => thread.host(1, planOf('slow', 10_000)));
  thread.at(11_000, () => thread.tell(1, { type: 'reset-devices', id: 1, module: 'many', moves: true }, { type: 'reset-devices', id: 2, module: 'many', moves: true }));
  thread.at(12_000, () => thread.tell(1, { type: 'withdraw', id: 2 }));
  thread.run(45_000);
  const results = thread.told.flatMap((told) => (told.type === 'unit' && /^(write|reset)-result$/.test(told.message.type) ? [told.message] : []));
  t.match(results, [
    { type: 'write-result', id: 2, code: 'withdrawn' },
    { type: 'reset-result', id: 1 },
  ]);
  t.equal(results.length, 2);
});

t.test('ADR 0012: a flood of messages to one unit leaves the other its time, and loses none', async (t) => {
  const [flooded, mate] = [planOf('flooded', 100), planOf('mate', 100)];
  const ids = Array.from({ length: 400 }, (_, id) => id);
  const thread = new TestThread();
  thread.at(0, () => [flooded, mate].forEach((plan, n) => thread.host(n + 1, plan)));
  thread.at(1000, () => thread.tell(1, ...ids.map((id) => ({ type: 'write', id, address: 'many.in', value: id }) as const)));
  thread.run(6000);
  t.strictSame(thread.written(1), ids);
  t.equal(statsOf(mate).missed, 0);
  t.ok(statsOf(mate).maxLatenessMs <= 20, `${statsOf(mate).maxLatenessMs} ms late at most`);
});

t.test('ADR 0012: a unit that joins others begins in the middle of the longest time without a scan', async (t) => {
  for (const [periodMs, nowMs, dueMs, moment] of [
    [100, 1000, [], 1100],
    [100, 1000, [1040], 1090],
    [100, 1000, [1040, 1090], 1065],
    [100, 1000, [1010, 1020], 1065],
    [100, 1000, [1080, 1090], 1035],
    [100, 1000, [990], 1040],
    [50, 1000, [1110], 1035],
  ] as const)
    t.equal(freeMoment(periodMs, nowMs, dueMs), moment, `${periodMs} ms beside ${dueMs.join()}`);
});
