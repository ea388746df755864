/** Real-time priority of scan threads: granted, refused or switched off, and what is said about it (performance notes, D). */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { ProbeInbound, ProbeOutbound, ProbeThread } from '../../../runtime/port.js';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import { PriorityShell, SCRIPT } from '../../../src/domains/placement/priority-shell.js';
import { RealtimePriority } from '../../../src/domains/placement/realtime.js';
import { SYSTEM_ROUTES } from '../../../src/domains/system/routes.js';
import type { Realtime } from '../../../src/domains/placement/runtimes.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import type { Log } from '../../../src/platform/base/log.js';
import { unitPlan } from '../../runtime/network/plans.js';
import { at } from '../../support/at.js';
import { testLog } from '../../support/test-log.js';

function logTo(lines: unknown[]): Log {
  return testLog((entry) => lines.push(entry));
}

t.test('Performance D: every scan thread is asked for by its operating-system id', async (t) => {
  const lines: unknown[] = [];
  const asked: number[] = [];
  const priority = new RealtimePriority({ wanted: true, log: logTo(lines), prioritise: async (id) => void asked.push(id) });
  t.match(priority.state, { granted: false, reason: /no scan thread/ });
  t.strictSame(await priority.ask(41), { granted: true, reason: '' });
  t.strictSame(await priority.ask(42), { granted: true, reason: '' });
  t.strictSame(asked, [41, 42]);
  t.strictSame(priority.state, { granted: true, reason: '' });
  t.strictSame(lines, []);
});

t.test('Performance D: a refusal is logged once, names what is missing and is not tried again', async (t) => {
  for (const [fault, reason] of [
    [new Error('chrt: failed to set pid 7 policy: Operation not permitted'), /CAP_SYS_NICE/],
    [Object.assign(new Error('spawn chrt ENOENT'), { code: 'ENOENT' }), /chrt .* not installed/],
    [Object.assign(new Error('Command failed: chrt'), { killed: true }), /chrt .* gave no answer within 15 s/],
  ] as const) {
    const lines: unknown[] = [];
    let tries = 0;
    const refuse = async (): Promise<void> => {
      tries += 1;
      throw fault;
    };
    const priority = new RealtimePriority({ wanted: true, log: logTo(lines), prioritise: refuse });
    for (const answer of await Promise.all([priority.ask(7), priority.ask(8)])) t.match(answer, { granted: false, reason }, 'threads that start together');
    t.match(await priority.ask(9), { granted: false, reason });
    t.match(priority.state, { granted: false, reason });
    t.equal(tries, 1);
    t.equal(lines.length, 1);
  }
});

t.test('Performance D: a shell that was lost is no refusal of the machine: another one is asked, once', async (t) => {
  const lines: unknown[] = [];
  const lost = Object.assign(new Error('the shell has ended'), { isLost: true });
  let losses = 1;
  const prioritise = async (): Promise<void> => {
    losses -= 1;
    if (losses >= 0) throw lost;
  };
  const priority = new RealtimePriority({ wanted: true, log: logTo(lines), prioritise });
  t.match(await priority.ask(7), { granted: true });
  t.equal(lines.length, 0);
  losses = 2;
  t.match(await priority.ask(8), { granted: false, reason: /lost twice/ });
  losses = 2;
  await priority.ask(9);
  t.equal(lines.length, 1, 'told once');
  t.match(await priority.ask(10), { granted: true }, 'and the next thread is asked for again');
  t.match(priority.state, { granted: true });
});

t.test('Performance D: a thread that is gone before it is raised refuses nothing', async (t) => {
  const lines: unknown[] = [];
  const gone = async (id: number): Promise<void> => {
    if (id === 1) throw new Error("chrt: failed to get pid 1's policy: No such process");
  };
  const priority = new RealtimePriority({ wanted: true, log: logTo(lines), prioritise: gone });
  t.equal((await priority.ask(1)).granted, false);
  t.equal((await priority.ask(2)).granted, true);
  t.equal(lines.length, 0);
});

t.test('Performance D: runtime.realtime false asks for nothing', async (t) => {
  const priority = new RealtimePriority({ wanted: false, log: logTo([]), prioritise: async () => void t.fail('asked') });
  t.match(await priority.ask(7), { granted: false, reason: /runtime.realtime/ });
});

/** Scheduling class of a thread of this process, as the machine has it. */
function policyOf(thread: number): string {
  return (
    readFileSync(`/proc/${process.pid}/task/${thread}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[38] ?? ''
  );
}

t.test('Performance D: one shell gives all threads their class, and says what the machine says', async (t) => {
  const shell = new PriorityShell();
  t.teardown(() => shell.close());
  const own = process.pid; // the first thread has the number of the process
  await shell.chrt('-o', '0', own);
  t.equal(policyOf(own), '0');
  const first = shell.chrt('-o', '0', own);
  await t.rejects(shell.chrt('-o', '0', own), /waits for its answer/);
  await first;
});

t.test('Performance D: a thread that is gone, a program that is missing and one that hangs are told apart, and the next thread is asked for anew', async (t) => {
  const gone = new PriorityShell();
  t.teardown(() => gone.close());
  await t.rejects(gone.chrt('-o', '0', 2 ** 22 + 1), /No such process/);
  await gone.chrt('-o', '0', process.pid);

  const without = new PriorityShell(5000, ['/bin/sh', '-c', `PATH=/there/is/nothing; ${SCRIPT}`]);
  t.teardown(() => without.close());
  await t.rejects(without.chrt('-o', '0', process.pid), { code: 'ENOENT' });
  await t.rejects(without.chrt('-o', '0', process.pid), { code: 'ENOENT' });

  await t.rejects(new PriorityShell(5000, ['/there/is/nothing']).chrt('-o', '0', process.pid), { code: 'ENOENT' });

  const hangs = new PriorityShell(20, ['/bin/sh', '-c', 'read -r line; read -r never']);
  t.teardown(() => hangs.close());
  await t.rejects(hangs.chrt('-o', '0', process.pid), /no answer within 20 ms/);
  await t.rejects(hangs.chrt('-o', '0', process.pid), /no answer within 20 ms/, 'of a shell of its own');

  const ends = new PriorityShell(5000, ['/bin/sh', '-c', 'read -r line']);
  await t.rejects(ends.chrt('-o', '0', process.pid), { isLost: true, message: 'the shell has ended' });

  const closed = new PriorityShell(5000, ['/bin/sh', '-c', 'read -r line; read -r never']);
  const asked = t.rejects(closed.chrt('-o', '0', process.pid), /it is closed/);
  closed.close();
  await asked;
  await t.rejects(closed.chrt('-o', '0', process.pid), /it is closed/, 'and starts no other shell');
});

t.test('Performance D: the link of a unit shows the priority of its worker', async (t) => {
  const runtimes = new LocalRuntimes({ clock: systemClock, log: logTo([]), heapMb: 64, prioritise: async (id) => void t.ok(id > 0) });
  t.teardown(() => runtimes.stop());
  const ready = new Promise<void>((resolve) => runtimes.onChange((_, what) => what === 'ready' && resolve()));
  runtimes.run(unitPlan({ networks: [] }));
  await ready;
  t.strictSame(runtimes.link('demo', 'u1')?.realtime, { granted: true, reason: '' });
  t.strictSame(runtimes.realtime, { granted: true, reason: '' });
});

t.test('Performance D: system health shows the priority and warns only while units run without it', async (t) => {
  const row = SYSTEM_ROUTES.find(({ path }) => path === '/api/v1/system/health');
  const healthOf = async (units: number, realtime: Realtime): Promise<unknown> =>
    row?.handle(
      { caller: { sites: null } } as never,
      {
        system: {
          authMode: 'local',
          antiReplay: { enabled: true, entries: () => 0, nearlyFull: () => false },
          settingsWithoutEffect: [],
          storageAccepting: () => true,
          contained: () => ({ total: 0, recent: 0, seams: [] }),
          lockedNames: () => 0,
          troubles: () => [],
          notes: () => [],
          integrity: () => ({ ok: null, checkedAt: '', problems: 0 }),
          runtimes: () => Array.from({ length: units }, () => ({ site: 's', unit: 'u', ready: true, message: '' })),
          realtime: () => realtime,
          box: () => ({}),
          backup: () => ({ configured: false, running: false, ok: null, lastAt: '', message: '' }),
          syslog: () => ({ configured: false, state: 'off' as const, receiver: '', sent: 0, confirmed: 0, lag: 0, gaps: [], message: '' }),
          tls: () => ({ on: false }),
        },
        store: { faults: [] },
      } as never,
    );
  const refused = { granted: false, reason: 'the machine refuses it' };
  t.match(await healthOf(1, refused), { status: 'ok', realtime: refused, warnings: [/real-time priority: the machine refuses it/] });
  t.strictSame(((await healthOf(0, refused)) as { warnings: string[] }).warnings, []);
  t.strictSame(((await healthOf(1, { granted: true, reason: '' })) as { warnings: string[] }).warnings, []);
});

/** Niceness of every thread of this process (proc(5), field 19 of `stat`; the second field is a name in brackets). */
function nicenesses(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      return [Number(at(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') '), 1).split(' ')[16])];
    } catch {
      return []; // it has ended since the list was read
    }
  });
}

t.test('Performance D: an I/O probe goes before ordinary work, alone among the threads that are not scans', async (t) => {
  const ordinary = os.getPriority();
  const before = nicenesses().filter((nice) => nice !== ordinary).length;
  for (const goAhead of [false, true]) {
    const worker = new Worker(new URL('../../../runtime/probe.js', import.meta.url), { workerData: { goAhead } satisfies ProbeThread });
    const [ready] = (await once(worker, 'message')) as [Extract<ProbeOutbound, { type: 'ready' }>];
    if (!goAhead) t.equal(ready.isAhead, false, 'not asked for');
    const ahead = nicenesses().filter((nice) => nice !== ordinary);
    t.equal(ahead.length, before + (ready.isAhead ? 1 : 0), ready.isAhead ? 'granted' : 'not granted');
    t.equal(os.getPriority(), ordinary, 'this thread stays where it was');
    worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
    await once(worker, 'exit');
  }
});
