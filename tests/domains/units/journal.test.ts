/** What the journal of a unit makes of the messages of its worker. */
import { pino } from 'pino';
import t from 'tap';
import type { UnitOutbound } from '../../../runtime/port.js';
import { UnitJournal, unitOfLogLine } from '../../../src/domains/units/journal.js';
import type { ScanStatistics, UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';
import { TestClock } from '../../support/test-clock.js';

function journal() {
  const clock = new TestClock();
  const scans = { overruns: 0, missed: 0, heartbeatMonoMs: clock.monoMs() + 1 };
  const link = { site: 'north', unit: 'r1', epoch: 1, ready: true, message: 'restarting', startedMonoMs: clock.monoMs(), statistics: () => scans as ScanStatistics };
  const heard: { message?: (link: UnitLink, message: UnitOutbound) => void; change?: (link: UnitLink, what: 'ready' | 'down' | 'plan') => void } = {};
  const runtimes: Pick<UnitRuntimes, 'links' | 'onMessage' | 'onChange'> = {
    links: () => [link as unknown as UnitLink],
    onMessage: (listener) => (heard.message = listener),
    onChange: (listener) => (heard.change = listener),
  };
  const store = { watch: () => undefined };
  const made = new UnitJournal({ store, runtimes, clock, log: pino({ level: 'silent' }) } as unknown as ConstructorParameters<typeof UnitJournal>[0]);
  return {
    made,
    clock,
    link,
    scans,
    say: (message: object) => heard.message?.(link as unknown as UnitLink, message as UnitOutbound),
    change: (what: 'ready' | 'down') => heard.change?.(link as unknown as UnitLink, what),
    told: () =>
      made
        .events('north', 'r1')
        .entries()
        .map(({ type, reason, object }) => `${type} ${reason} ${object}`),
    last: () => made.events('north', 'r1').entries().at(-1),
  };
}

const report = (network: string, state: 'Running' | 'Degraded' | 'Error', faultedBlocks: string[] = []) => ({
  network,
  state,
  message: state === 'Error' ? 'no type' : '',
  faultedBlocks,
});

t.test('Q-UNIT-07: loads, swaps, faults, recoveries and ends of a worker are events', async (t) => {
  const { say, change, told, last, link } = journal();
  say({ type: 'plan-loaded', revision: 1, networks: [report('tic', 'Running'), report('bad', 'Error')] });
  change('ready');
  say({ type: 'network', ...report('tic', 'Degraded', ['div']) });
  t.match(last(), { message: 'skipped in the last scan: div' });
  say({ type: 'network', ...report('tic', 'Running') });
  say({ type: 'plan-loaded', revision: 2, networks: [report('tic', 'Running'), report('bad', 'Running')] });
  change('down');
  link.epoch = 2;
  say({ type: 'plan-loaded', revision: 2, networks: [report('tic', 'Running')] });
  t.same(told(), [
    'Normal PlanLoaded Unit/r1',
    'Warning NetworkError ControlProgram/bad',
    'Normal RuntimeReady Unit/r1',
    'Warning BlockFaulted ControlProgram/tic',
    'Normal Recovered ControlProgram/tic',
    'Normal HotSwapped Unit/r1',
    'Normal Recovered ControlProgram/bad',
    'Warning RuntimeDown Unit/r1',
    'Normal PlanLoaded Unit/r1',
  ]);
});

t.test('Q-UNIT-07: what phases and interlocks report carries its own time', async (t) => {
  const { say, told, last } = journal();
  say({ type: 'shadow-trip', module: 'p1', block: 'ilk', atMs: 7 });
  t.match(last(), { atMs: 7, message: /bypassed/ });
  say({ type: 'phase', phase: 'heat', state: 'Held', previousState: 'Running', cause: 'failure', atMs: 8 });
  t.match(last(), { atMs: 8, message: 'Running to Held by failure' });
  say({ type: 'phase', phase: 'heat', state: 'Held', previousState: 'Held', cause: '', atMs: 9 });
  say({ type: 'command-result', phase: 'heat', command: 'Start', accepted: true });
  say({ type: 'command-result', phase: 'heat', command: 'Start', accepted: false, rule: 'not-idle' });
  say({ type: 'alarm', phase: 'heat', severity: 'High', message: 'too hot', atMs: 10 });
  t.same(told(), ['Warning InterlockShadowTrip ControlModule/p1', 'Normal StateChanged Phase/heat', 'Warning CommandRejected Phase/heat', 'Warning PhaseAlarm Phase/heat']);
});

t.test('Q-UNIT-07: late scans are told together every 10 s, and never those of an earlier worker', async (t) => {
  const { made, clock, scans, link, say, told, last } = journal();
  made.start();
  t.teardown(() => made.stop());
  clock.advance(10_000);
  t.same(told(), []);
  Object.assign(scans, { overruns: 3, missed: 2 });
  clock.advance(9999);
  t.same(told(), []);
  clock.advance(1);
  t.match(last(), { type: 'Warning', reason: 'ScanOverrun', message: '3 scans took longer than their period and 2 periods were skipped in the last 10 s' });
  clock.advance(20_000);
  t.equal(told().length, 1, 'nothing new, nothing told');
  Object.assign(link, { epoch: 2, startedMonoMs: clock.monoMs() });
  say({ type: 'plan-loaded', revision: 1, networks: [] });
  clock.advance(10_000);
  t.equal(told().length, 2, 'the table still shows the worker before');
  Object.assign(scans, { overruns: 1, missed: 0, heartbeatMonoMs: clock.monoMs() });
  clock.advance(10_000);
  t.match(last(), { message: /^1 scans/ });
});

t.test('D-C-07: late scans are told on after somebody has set the clock back to before the start of the worker', async (t) => {
  const { made, clock, scans, link, last } = journal();
  Object.assign(link, { startedAtMs: clock.wallMs() });
  made.start();
  t.teardown(() => made.stop());
  clock.jump(-24 * 3_600_000);
  Object.assign(scans, { overruns: 3, heartbeatMonoMs: clock.monoMs() + 1, heartbeatAtMs: clock.wallMs() });
  clock.advance(10_000);
  t.match(last(), { reason: 'ScanOverrun', message: /^3 scans/ });
});

t.test('log lines belong to a unit by their members, or as keys of the unit reconciler', async (t) => {
  t.equal(unitOfLogLine({ site: 'north', unit: 'r1' }), 'north/r1');
  t.equal(unitOfLogLine({ site: 'north', reconciler: 'unit', name: 'r2' }), 'north/r2');
  t.equal(unitOfLogLine({ site: 'north', reconciler: 'batch', name: 'b' }), undefined);
  t.equal(unitOfLogLine({ unit: 'r1' }), undefined);
});
