/** The scan clock, its figures, and the scan loop without a thread. */
import t from 'tap';
import type { ChartHost } from '../../../runtime/chart/host.js';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { Histogram } from '../../../runtime/scan/histogram.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import type { PhaseEngine } from '../../../runtime/scan/phase-engine.js';
import { TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { network, SETTINGS, tags, unitPlan } from '../network/plans.js';

/** A clock whose thread sleeps until it is due, and oversleeps when told to. */
class FakeTime {
  nowMs = 0;
  oversleepMs = 0;
  readonly clock = new ScanClock({ monoMs: () => this.nowMs });

  wait(): number {
    this.nowMs = Math.max(this.nowMs, this.clock.dueMs) + this.oversleepMs;
    this.oversleepMs = 0;
    return this.clock.begin();
  }
}

t.test('Decisions 5.1 rule 4: deadlines are absolute, a missed period is skipped and counted, never run twice', async (t) => {
  const time = new FakeTime();
  time.clock.setPeriod(100, 1);
  t.equal(time.wait(), 1);
  time.oversleepMs = 30;
  t.equal(time.wait(), 1);
  t.strictSame([time.clock.latenessMs, time.nowMs], [30, 230]);
  time.wait();
  t.strictSame([time.clock.latenessMs, time.nowMs], [0, 300], 'the lateness did not add up');
  time.oversleepMs = 250;
  t.equal(time.wait(), 3, 'two periods were missed');
  t.strictSame([time.clock.missed, time.clock.latenessMs], [2, 50]);
  t.equal(time.wait(), 1);
  t.equal(time.nowMs, 700);
});

t.test('Decisions 6.7: the wall period is the interval divided by the time scale', async (t) => {
  const time = new FakeTime();
  time.clock.setPeriod(100, 10);
  time.wait();
  time.wait();
  t.equal(time.nowMs, 20);
});

t.test('Q-UNIT-07: quantiles and coarse counts of durations', async (t) => {
  const histogram = new Histogram();
  for (let us = 1; us <= 1000; us += 1) histogram.add(us);
  t.ok(Math.abs(histogram.quantileUs(0.5) / 500 - 1) < 0.2);
  t.equal(histogram.quantileUs(1), 1000);
  t.equal(
    histogram.coarse().reduce((sum, row) => sum + row.count, 0),
    1000,
  );
  t.equal(new Histogram().quantileUs(0.99), 0);
});

t.test('Decisions 2.4: a text is announced before its id is in the tag table', async (t) => {
  const plan = unitPlan({ tags: tags('v.state v.STATE STRING'), networks: [network({ name: 'v', blocks: [{ name: 'v', type: 'VALVE', params: { CMD: true } }] })] });
  const table = new TagTable(1, plan.table);
  const announced: [text: string, published: boolean][] = [];
  const ids = new Map<string, number>();
  const inbox: UnitInbound[] = [{ type: 'plan', plan }];
  const loop = new UnitLoop({
    receive: () => inbox.shift(),
    post: (message) => {
      if (message.type !== 'text') return;
      announced.push([message.text, table.values[0] === message.id]);
      ids.set(message.text, message.id);
    },
    clock: new FakeTime().clock,
    monoMs: () => 0,
    wallMs: () => 0,
    phases: (host, settings) => new PhaseSet(host, settings),
  });
  loop.receive();
  loop.scan(1);
  t.strictSame(
    announced.filter(([text]) => text === 'Opening'),
    [['Opening', false]],
  );
  t.equal(table.values[0], ids.get('Opening'));
});

t.test('Decisions 1.5: charts keep the interval of their unit when a network makes it come round more often', async (t) => {
  const blocks = [{ name: 'one', type: 'CONST', params: { value: 1 } }];
  const fast = unitPlan({ scanIntervalMs: 50, chartIntervalMs: 100, networks: [network({ name: 'n', scanIntervalMs: 50, blocks })] });
  const inbox: UnitInbound[] = [{ type: 'plan', plan: fast }];
  const charts: number[] = [];
  const engine = new Proxy({}, { get: (_, name) => (name === 'scan' ? (ms: number) => charts.push(ms) : () => undefined) }) as PhaseEngine;
  const loop = new UnitLoop({ receive: () => inbox.shift(), post: () => {}, clock: new FakeTime().clock, monoMs: () => 0, wallMs: () => 0, phases: () => engine });
  loop.receive();
  for (let scan = 0; scan < 5; scan += 1) loop.scan(1);
  t.same(charts, [100, 100, 100], 'the first scan, and each second one');
  loop.scan(4);
  t.same(charts.splice(0), [100, 100, 100, 200], 'late, with the time that has passed');
  inbox.push({ type: 'plan', plan: { ...fast, scanIntervalMs: 100, revision: 2 } });
  loop.receive();
  for (let scan = 0; scan < 3; scan += 1) loop.scan(1);
  t.same(charts, [100, 100, 100]);
});

t.test('Q-PROG-03: a download is no change of a tag: one that is published on change keeps the time of its last change', async (t) => {
  const onChange = (text: string) => tags(text).map((tag) => ({ ...tag, cyclic: false }));
  const networks = [network({ name: 'v', blocks: [{ name: 'move', type: 'MOVE' }] })];
  const plan = unitPlan({ tags: [...onChange('v.in move.IN REAL w'), ...tags('v.cyclic move.IN REAL')], networks });
  const next = unitPlan({ tags: [...onChange('v.out move.OUT REAL'), ...onChange('v.in move.IN REAL w')], networks });
  const inbox: UnitInbound[] = [
    { type: 'plan', plan },
    { type: 'write', id: 1, address: 'v.in', value: 42 },
  ];
  let nowMs = 1000;
  const loop = new UnitLoop({
    receive: () => inbox.shift(),
    post: () => {},
    clock: new FakeTime().clock,
    monoMs: () => nowMs,
    wallMs: () => nowMs,
    phases: (host, settings) => new PhaseSet(host, settings),
  });
  const scan = (): void => {
    nowMs += 100;
    loop.receive();
    loop.scan(1);
  };
  scan();
  scan();
  const before = new TagTable(2, plan.table);
  t.strictSame([...before.values, ...before.timestamps], [42, 42, 1100, 1200]);
  inbox.push({ type: 'plan', plan: next });
  scan();
  const after = new TagTable(2, next.table);
  t.strictSame([...after.values, ...after.timestamps], [42, 42, 1300, 1100], 'a tag that is new has its first value');
  inbox.push({ type: 'write', id: 2, address: 'v.in', value: 43 });
  scan();
  t.strictSame([...after.values, ...after.timestamps], [43, 43, 1400, 1400]);
});

t.test('Decisions 2.4: a write of a chart is seen by the networks in the same scan; signals and refusals reach the chart', async (t) => {
  const plan = unitPlan({
    tags: [...tags('v.in move.IN REAL w', 'v.out move.OUT REAL')].map((tag) => ({ ...tag, engMax: 100 })),
    networks: [network({ name: 'v', blocks: [{ name: 'move', type: 'MOVE' }] })],
    settings: { ...SETTINGS, orphanTimeoutMs: 10_000 },
  });
  const inbox: UnitInbound[] = [
    { type: 'signals', scope: 'b1', raised: ['ready'] },
    { type: 'plan', plan },
  ];
  const sent: UnitOutbound[] = [];
  const seen: unknown[] = [];
  let host: ChartHost | undefined;
  const phases: PhaseEngine = {
    load: () => {},
    drop: () => {},
    scopeOf: () => undefined,
    hasScope: () => true,
    rebind: () => seen.push('rebind'),
    command: () => {},
    setMode: () => {},
    steer: () => {},
    answer: () => {},
    requestResult: () => {},
    signalsChanged: () => seen.push('signals'),
    controllerLost: () => seen.push('lost'),
    inspect: () => 'a phase',
    snapshot: () => t.fail('nothing is recorded here') as never,
    restore: () => {},
    sum: () => {},
    scan: (dtMs) => {
      if (!host) return;
      seen.push(
        dtMs,
        host.signal('b1', 'ready'),
        host.read(host.slot('v.out')),
        host.write(host.slot('v.in'), 42),
        host.write(host.slot('v.in'), 101)?.rule,
        host.write(host.slot('v.out'), 1)?.rule,
      );
    },
  };
  let nowMs = 0;
  const loop = new UnitLoop({
    receive: () => inbox.shift(),
    post: (message) => sent.push(message),
    clock: new FakeTime().clock,
    monoMs: () => nowMs,
    wallMs: () => nowMs,
    phases: (given) => {
      host = given;
      return phases;
    },
  });
  loop.receive();
  t.strictSame(seen, ['signals'], 'what came before the plan was kept');
  nowMs += 100;
  loop.scan(2);
  t.strictSame(seen.slice(1), [200, true, 0, null, 'write-range', 'write-read-only']);
  t.equal(new TagTable(2, plan.table).values[1], 42);
  nowMs = 10_000;
  loop.scan(1);
  t.notOk(seen.includes('lost'), 'decisions Q-ST-02: exactly the time-out is not over it');
  nowMs += 1;
  for (let scan = 0; scan < 3; scan += 1) loop.scan(1);
  inbox.push({ type: 'alive' });
  loop.receive();
  nowMs += 10_000;
  loop.scan(1);
  t.equal(seen.filter((entry) => entry === 'lost').length, 1, 'once in a silence, which the sign of life ends');
  inbox.push({ type: 'plan', plan: { ...plan, revision: 2 } }, { type: 'inspect', id: 3, what: 'phase', name: 'p' }, { type: 'stop' });
  loop.receive();
  t.equal(seen.at(-1), 'rebind');
  t.match(sent.slice(-3), [{ type: 'plan-loaded', revision: 2 }, { type: 'inspect-result', id: 3, result: 'a phase' }, { type: 'stopped' }]);
  t.ok(loop.stopped);
});
