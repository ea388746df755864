/** What the service manager is told, and when it is told no more. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { faultOf } from '../../src/cli/note-end.js';
import { openFatalFaults } from '../../src/platform/base/fatal-faults.js';
import { startMark } from '../../src/platform/service/start-mark.js';
import { ServiceManager, watchdogOf } from '../../src/platform/service/service-manager.js';
import { TestClock } from '../support/test-clock.js';
import { ownFolder } from '../support/own-folder.js';

const WATCHDOG_MS = 30_000;

class Bench {
  readonly clock = new TestClock();
  readonly said: string[] = [];
  readonly hung: string[] = [];
  /** The manager has no room. */
  isFull = false;
  condition = '3 of 3 units are scanned';
  hangs: string | undefined;
  readonly manager: ServiceManager;

  constructor(watchdogMs: number | undefined = WATCHDOG_MS) {
    const send = (fields: readonly string[]): boolean => {
      if (!this.isFull) this.said.push(fields.join(' | '));
      return !this.isFull;
    };
    this.manager = new ServiceManager({ socket: { send }, clock: this.clock, watchdogMs, hung: (why) => void this.hung.push(why) });
  }

  ready(): void {
    const bench = this;
    this.manager.ready({
      get condition() {
        return bench.condition;
      },
      look: () => this.hangs,
    });
  }

  /** In so many seconds from now. */
  feedsIn(seconds: number): number {
    const before = this.said.length;
    this.clock.advance(seconds * 1000);
    return this.said.slice(before).filter((line) => line.includes('WATCHDOG=1')).length;
  }
}

t.test('service: a start asks for time while it goes on, and not for ever', async (t) => {
  const bench = new Bench();
  bench.manager.starting();
  bench.clock.advance(25_000);
  t.strictSame(bench.said, ['STATUS=starting', 'EXTEND_TIMEOUT_USEC=60000000 | STATUS=starting, for 10 s', 'EXTEND_TIMEOUT_USEC=60000000 | STATUS=starting, for 20 s']);
  bench.clock.advance(3_600_000);
  t.equal(bench.said.length, 90, 'one every ten seconds of a quarter of an hour, the first word among them');
  bench.ready();
  t.equal(bench.said.at(-1), 'READY=1 | STATUS=3 of 3 units are scanned | WATCHDOG=1');
});

t.test('service: a stop that was asked for in the start is the last word: no READY and no beat behind it', async (t) => {
  const bench = new Bench();
  bench.manager.starting();
  bench.manager.stopping('stops (SIGTERM)');
  bench.ready();
  bench.clock.advance(100_000);
  t.strictSame(bench.said, ['STATUS=starting', 'STOPPING=1 | STATUS=stops (SIGTERM)']);
});

t.test('service: the watchdog is fed four times in its time-out, and told of a change of the condition at once', async (t) => {
  const bench = new Bench();
  bench.ready();
  const feeds = bench.feedsIn(300);
  t.ok(feeds >= 40 && feeds <= 50, `${feeds} times in 300 s`);
  bench.condition = '2 of 3 units are scanned';
  bench.clock.advance(1000);
  t.match(bench.said.at(-1), /^STATUS=2 of 3 units are scanned/);
  bench.manager.stopping('stops (SIGTERM)');
  t.equal(bench.said.at(-1), 'STOPPING=1 | STATUS=stops (SIGTERM)');
  t.equal(bench.feedsIn(300), 0);
});

t.test('service: a thread that hangs for good ends the feeding, and the process is told once', async (t) => {
  const bench = new Bench();
  bench.ready();
  bench.clock.advance(20_000);
  bench.hangs = 'the scan thread of demo/rx101 cannot be ended';
  t.equal(bench.feedsIn(300), 0);
  t.equal(bench.said.at(-1), `STATUS=ends: ${bench.hangs}`);
  bench.hangs = undefined;
  t.equal(bench.feedsIn(300), 0, 'also when it comes back');
  t.strictSame(bench.hung, ['the scan thread of demo/rx101 cannot be ended']);
});

t.test('service: what the manager had no room for is said again, the last value of each', async (t) => {
  const bench = new Bench();
  bench.isFull = true;
  bench.ready();
  bench.condition = 'other';
  bench.clock.advance(3000);
  t.strictSame(bench.said, []);
  bench.isFull = false;
  bench.clock.advance(1000);
  t.strictSame(bench.said, ['READY=1 | STATUS=other | WATCHDOG=1']);
});

t.test('service: without a watchdog nothing is fed, and a thread that hangs for good is noticed all the same', async (t: Test) => {
  const bench = new Bench(0 || undefined);
  const unfed = new ServiceManager({
    socket: { send: (fields) => bench.said.push(...fields) > 0 },
    clock: bench.clock,
    watchdogMs: undefined,
    hung: (why) => void bench.hung.push(why),
  });
  unfed.ready({ condition: 'well', look: () => bench.hangs });
  bench.clock.advance(100_000);
  t.strictSame(bench.said, ['READY=1', 'STATUS=well', 'WATCHDOG=1']);
  bench.hangs = 'it hangs';
  bench.clock.advance(1000);
  t.strictSame(bench.hung, ['it hangs']);
});

t.test('service: the watchdog of another process is not ours', async (t) => {
  for (const [environment, ms] of [
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 30_000],
    [{ WATCHDOG_USEC: '30000000' }, 30_000],
    [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, undefined],
    [{ WATCHDOG_USEC: '0' }, undefined],
    [{ WATCHDOG_USEC: 'soon' }, undefined],
    [{}, undefined],
  ] as const) {
    const given: NodeJS.ProcessEnv = { ...environment };
    t.equal(watchdogOf(given, 7), ms, JSON.stringify(environment));
    t.strictSame(given, {}, 'and our own programs are not given it');
  }
});

t.test('service: an end that the program could not tell of is counted, one that it counted or somebody wanted is not', async (t) => {
  for (const [SERVICE_RESULT, EXIT_STATUS, fault] of [
    ['watchdog', 'ABRT', /^the watchdog of the service ended it/],
    ['oom-kill', 'KILL', /^the machine ended it for want of memory/],
    ['core-dump', 'SEGV', /signal SEGV/],
    ['signal', 'XCPU', /signal XCPU/],
    ['signal', 'KILL', undefined],
    ['exit-code', '70', undefined],
    ['exit-code', '2', undefined],
    ['success', '0', undefined],
    ['timeout', 'TERM', undefined], // of a stop
  ] as const) {
    const said = faultOf({ SERVICE_RESULT, EXIT_STATUS });
    if (fault === undefined) t.equal(said, undefined, `${SERVICE_RESULT} ${EXIT_STATUS}`);
    else t.match(said, fault);
  }
});

t.test('service: a start that systemd waited for no longer is counted, a stop that took too long is not', async (t) => {
  const folder = ownFolder(t);
  const clock = new TestClock();
  const mark = startMark({ RUNTIME_DIRECTORY: `${folder}:/elsewhere` }, clock);
  t.equal(mark.underWayForMs(), undefined);
  mark.begin();
  clock.advance(960_000);
  t.equal(startMark({ RUNTIME_DIRECTORY: folder }, clock).underWayForMs(), 960_000, 'another process can tell');
  t.match(faultOf({ SERVICE_RESULT: 'timeout', EXIT_STATUS: 'KILL' }, 960_000), /^its start was not through after 960 s/);
  t.equal(faultOf({ SERVICE_RESULT: 'exit-code', EXIT_STATUS: '2' }, 1000), undefined, 'what it ended with by itself it has counted, or it is none');
  mark.end();
  t.equal(mark.underWayForMs(), undefined, 'from there on a time-out is that of a stop');
  startMark({}, clock).begin();
  t.equal(startMark({}, clock).underWayForMs(), undefined, 'without systemd there is nothing to tell');
});

t.test('service: four starts that hang are four in a row, however long each took; four ends of long runs are not', async (t) => {
  for (const [hungMs, count] of [
    [960_000, 4],
    [0, 0],
  ] as const) {
    const folder = ownFolder(t);
    const clock = new TestClock();
    for (let start = 0; start < 4; start += 1) {
      clock.advance(962_000);
      openFatalFaults(folder, 'build', clock).note(new Error('its start was not through'), hungMs);
    }
    t.equal(openFatalFaults(folder, 'build', clock).repeated.length, count);
    rmSync(path.join(folder, 'faults.json'));
  }
});
