/** More units than threads (ADR 0012): who shares with whom, and what the end of a unit or of a thread does to the others. */
import t, { type Test } from 'tap';
import type { Worker } from 'node:worker_threads';
import type { ScanThreadOutbound, UnitPlan } from '../../../runtime/port.js';
import { LocalRuntimes, type LocalRuntimesOptions } from '../../../src/domains/placement/local-runtimes.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { network, tags, unitPlan } from '../../runtime/network/plans.js';
import { eventually } from '../../support/api-client.js';
import { TestClock } from '../../support/test-clock.js';
import { at } from '../../support/at.js';
import { testLog } from '../../support/test-log.js';

function planOf(unit: string, scanIntervalMs = 20, revision = 1): UnitPlan {
  return unitPlan({
    unit,
    revision,
    scanIntervalMs,
    tags: tags('n.out b0.OUT REAL', 'n.in b0.IN REAL w'),
    networks: [network({ name: 'n', scanIntervalMs, blocks: [{ name: 'b0', type: 'MOVE' }] })],
  });
}

class Threads {
  readonly runtimes: LocalRuntimes;
  /** `unit what`, in their order. */
  readonly changes: string[] = [];
  readonly errors: string[] = [];

  constructor(t: Test, options: Partial<LocalRuntimesOptions>) {
    const log = testLog(({ level, unit, msg }) => level === 'error' && this.errors.push(`${unit}: ${msg}`));
    this.runtimes = new LocalRuntimes({ clock: systemClock, log, heapMb: 256, realtime: false, ...options });
    this.runtimes.onChange((link, what) => this.changes.push(`${link.unit} ${what}`));
    t.teardown(() => this.runtimes.stop());
  }

  link(unit: string) {
    const link = this.runtimes.link('demo', unit);
    if (!link) throw new Error(`there is no unit ${unit}`);
    return link;
  }

  async run(...plans: readonly UnitPlan[]): Promise<void> {
    for (const plan of plans) this.runtimes.run(plan);
    await this.ready(...plans.map(({ unit }) => unit));
  }

  async ready(...units: readonly string[]): Promise<void> {
    await eventually(`${units.join()} are ready`, async () => units.every((unit) => this.link(unit).ready));
  }

  sharedWith(unit: string): string {
    return this.link(unit)
      .sharedWith.map((other) => other.unit)
      .sort()
      .join();
  }

  /** It scans, whatever it has done so far. */
  async scans(unit: string): Promise<void> {
    const before = this.link(unit).statistics().scanCount;
    await eventually(`${unit} scans`, async () => this.link(unit).statistics().scanCount > before);
  }
}

t.test('ADR 0012: a unit has a thread of its own while there are few, and then joins the least loaded one of its period class', async (t) => {
  const threads = new Threads(t, { threadsMax: 2 });
  await threads.run(planOf('a'), planOf('b'), planOf('c'), planOf('d'), planOf('e'), planOf('slow', 200), planOf('slower', 200));
  t.strictSame(
    ['a', 'b', 'c', 'd', 'e', 'slow', 'slower'].map((unit) => threads.sharedWith(unit)),
    ['c,e', 'd', 'a,e', 'b', 'a,c', 'slower', 'slow'],
    'another interval has a thread of its own beyond the limit, and shares that',
  );
  for (const unit of ['a', 'b', 'c', 'd', 'e', 'slow', 'slower']) await threads.scans(unit);
  await threads.runtimes.remove('demo', 'a');
  t.equal(threads.runtimes.link('demo', 'a'), undefined);
  t.equal(threads.sharedWith('c'), 'e', 'nothing moves');
  await threads.run(planOf('f'), planOf('g'));
  t.strictSame([threads.sharedWith('f'), threads.sharedWith('g')], ['c,e', 'b,d'], 'new ones fill up');
});

t.test('ADR 0012: a thread has at most one unit per 16 MB of its heap', async (t) => {
  const threads = new Threads(t, { threadsMax: 1, heapMb: 64 });
  await threads.run(...['a', 'b', 'c', 'd', 'e'].map((unit) => planOf(unit)));
  t.strictSame([threads.sharedWith('a'), threads.sharedWith('e')], ['b,c,d', '']);
});

t.test('ADR 0012, Q-UNIT-07: a unit that shares a thread is written, restarted and reloaded for itself', async (t) => {
  const threads = new Threads(t, { threadsMax: 1 });
  await threads.run(planOf('a'), planOf('b'));
  const [a, b] = [threads.link('a'), threads.link('b')];
  t.match(await a.write('n.in', 41), { ok: true });
  t.match(await b.write('n.in', 7), { ok: true });
  const out = (unit: string): unknown => {
    const link = threads.link(unit);
    link.refresh();
    return link.reading(link.tagIndex('n.out')).value;
  };
  await eventually('each has its own value', async () => out('a') === 41 && out('b') === 7);
  threads.changes.length = 0;
  const before = a.statistics().scanCount;
  await b.restart();
  await threads.ready('b');
  t.strictSame(threads.changes, ['b down', 'b ready', 'b plan'], 'nothing of the other');
  t.strictSame([a.epoch, b.epoch, threads.sharedWith('b')], [1, 2, 'a'], 'in the same thread');
  await eventually('what was written came back with it', async () => out('b') === 7);
  await threads.scans('a');
  t.ok(a.statistics().scanCount > before && out('a') === 41);
  threads.runtimes.run(planOf('b', 20, 2));
  await eventually('the next plan is loaded', async () => b.planRevision === 2);
  t.equal(a.planRevision, 1);
  t.match(await b.inspect('diagnostics', ''), { unit: 'b', scan: { count: Number } });
});

t.test('D-UNIT-04, ADR 0012: a unit that fails again and again in a shared thread stays down alone, until somebody restarts it', async (t) => {
  const threads = new Threads(t, { threadsMax: 1 });
  await threads.run(planOf('a'), planOf('b'));
  threads.runtimes.run({ ...planOf('bad'), table: new SharedArrayBuffer(8) });
  const bad = threads.link('bad');
  await eventually('it is given up', async () => bad.message.startsWith('the runtime stopped 3 times within 60 s'));
  t.strictSame(threads.errors, Array(4).fill('bad: unit runtime failed'));
  t.strictSame([threads.link('a').epoch, threads.link('b').epoch, bad.epoch, bad.ready, threads.sharedWith('a')], [1, 1, 4, false, 'b']);
  await threads.scans('a');
  threads.runtimes.run(planOf('bad', 20, 2));
  await bad.restart();
  await threads.ready('bad');
  t.strictSame([bad.epoch, threads.sharedWith('bad'), threads.link('a').epoch], [5, 'a,b', 1]);
  await threads.scans('b');
});

t.test('D-UNIT-04, ADR 0012: when a thread ends, all its units come back, each in a thread of its own', async (t) => {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on('worker', note);
  t.teardown(() => process.off('worker', note));
  const threads = new Threads(t, { threadsMax: 1 });
  await threads.run(planOf('a'), planOf('b'), planOf('c'));
  t.equal(workers.length, 1);
  await at(workers, 0).terminate();
  t.strictSame(threads.changes.slice(-3), ['a down', 'b down', 'c down']);
  await threads.ready('a', 'b', 'c');
  for (const unit of ['a', 'b', 'c']) t.strictSame([threads.link(unit).epoch, threads.sharedWith(unit)], [2, '']);
  await at(workers, 2).terminate();
  await threads.ready('b');
  t.strictSame([threads.link('a').epoch, threads.link('b').epoch, threads.sharedWith('b')], [2, 3, ''], 'who shared a thread that ended shares no more');
  await threads.run(planOf('d'));
  t.equal(threads.sharedWith('d'), '', 'and nobody joins them');
});

t.test('ADR 0012: a thread that no longer comes round is ended, and its units come back', async (t) => {
  const clock = new TestClock();
  const ready: number[] = [];
  const note = (worker: Worker): void => void worker.on('message', ({ type }: ScanThreadOutbound) => type === 'ready' && ready.push(worker.threadId));
  process.on('worker', note);
  t.teardown(() => process.off('worker', note));
  const threads = new Threads(t, { clock, threadsMax: 1, entry: new URL('../../support/stuck-thread.js', import.meta.url) });
  threads.runtimes.run(planOf('a'));
  threads.runtimes.run(planOf('b'));
  await eventually('the thread is made', async () => ready.length === 1);
  clock.advance(10_000);
  t.strictSame(threads.errors, [], 'that may happen');
  clock.advance(10_000);
  await eventually('both units were ended', async () => threads.link('a').epoch === 2 && threads.link('b').epoch === 2);
  t.match(threads.errors, [/^a: the scan thread is ended: it has not come round for 15 s/, /^b: /]);
  t.strictSame(threads.changes, ['a down', 'b down']);
  await eventually('they have threads of their own', async () => ready.length === 3);
  const stopped = threads.runtimes.stop();
  clock.advance(5000);
  await stopped;
});
