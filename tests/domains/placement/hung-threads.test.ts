/** What a supervisor cannot cure is told, for the watchdog of the service; and a thread that never sleeps does not keep its processor from the others. */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { LocalProbes, SHARED_PROBE } from '../../../src/domains/placement/local-probes.js';
import { LocalRuntimes, type LocalRuntimesOptions } from '../../../src/domains/placement/local-runtimes.js';
import { LedgerAtWork, LedgerLooks, ledgerCells } from '../../../src/platform/ledger/at-work.js';
import { unitPlan } from '../../runtime/network/plans.js';
import { eventually } from '../../support/api-client.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const STUCK = new URL('../../support/stuck-thread.js', import.meta.url);
const BELOW = new URL('../../support/stuck-below.js', import.meta.url);
const BUSY = new URL('../../support/busy-thread.js', import.meta.url);

/** A pipe that nobody writes; the result lets go whoever waits for it. */
function hangOn(t: Test): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-pipe-'));
  const pipe = path.join(folder, 'pipe');
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  process.env.HANG_ON = pipe;
  t.teardown(() => rmSync(folder, { recursive: true }));
  return () => closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
}

function bench(t: Test, options: Partial<LocalRuntimesOptions>) {
  const clock = new TestClock();
  const said: string[] = [];
  const log = testLog(({ level, msg }) => said.push(`${level}: ${msg}`));
  const runtimes = new LocalRuntimes({ clock, log, heapMb: 64, realtime: false, ...options });
  t.teardown(async () => {
    const stopped = runtimes.stop();
    clock.advance(5000);
    await stopped;
  });
  runtimes.run(unitPlan({ unit: 'a', networks: [] }));
  /** A second of the supervisor, with time for the threads to answer. */
  const second = (): void => clock.advance(1000);
  return { runtimes, clock, said, second };
}

t.test('service: a scan thread that hangs is ended and started again by its supervisor, and is no case for the watchdog', async (t) => {
  const { runtimes, second, said } = bench(t, { entry: STUCK });
  await eventually('it is ended', async () => {
    second();
    return said.includes('error: the scan thread is ended: it has not come round for 15 s');
  });
  t.equal(runtimes.hung, undefined);
  await eventually('it is started again', async () => runtimes.link('demo', 'a')?.epoch === 2);
  t.equal(runtimes.hung, undefined);
});

t.test('service: a scan thread that cannot be ended is told, until it lets go', async (t) => {
  const letGo = hangOn(t);
  const { runtimes, second, said } = bench(t, { entry: BELOW });
  await eventually('it is told', async () => {
    second();
    return runtimes.hung;
  });
  t.match(runtimes.hung, /^the scan thread of demo\/a has not come round for 20 s and cannot be ended$/);
  t.ok(said.includes('error: the scan thread is ended: it has not come round for 15 s'), 'it was tried before');
  letGo();
  await eventually('it has ended, and the unit is scanned by another one', async () => runtimes.link('demo', 'a')?.epoch === 2);
  t.equal(runtimes.hung, undefined);
  // the second one hangs there as well
  const stopped = runtimes.stop();
  await eventually('the second one waits', async () => {
    try {
      letGo();
      return true;
    } catch {
      return false; // nobody has opened it to read yet
    }
  });
  await stopped;
});

t.test('service: an I/O probe that cannot be ended is told', async (t) => {
  const letGo = hangOn(t);
  const clock = new TestClock();
  const probes = new LocalProbes({ clock, log: testLog(), settings: { reconnectMinMs: 100, reconnectMaxMs: 1000, readbackTimeoutMs: 1000 }, entry: BELOW });
  const image = probes.image('north', 'io', ['a']);
  const channel = { name: 'a', address: 'a', direction: 'input', dataType: 'float', readbackAddress: '', pollIntervalMs: 0 } as const;
  probes.run('north', SHARED_PROBE, [{ site: 'north', module: 'io', protocol: 'modbus', address: 'plc', options: {}, channels: [channel], image: image.buffer }]);
  await eventually('it is told', async () => {
    clock.advance(1000);
    return probes.hung;
  });
  t.match(probes.hung, /^the I\/O probe north\/shared has not come round for 20 s and cannot be ended$/);
  const stopped = probes.stop();
  letGo();
  await stopped;
  t.equal(probes.hung, undefined);
});

t.test('service: the ledger may wait for its disk as long as it likes, and hangs when it comes round no more without it', async (t) => {
  const memory = ledgerCells();
  const [thread, looks] = [new LedgerAtWork(memory), new LedgerLooks(memory)];
  const after = (seconds: number): string | undefined => {
    let why: string | undefined;
    for (let n = 0; n < seconds; n += 1) why = looks.look();
    return why;
  };
  thread.round();
  t.equal(after(60), undefined);
  thread.onStorage(() => t.equal(after(3600), undefined, 'a slow disk alone ends nothing: control goes on'));
  t.throws(() =>
    thread.onStorage(() => {
      throw new Error('the disk refuses');
    }),
  );
  t.equal(after(59), undefined);
  t.match(after(1), /^the ledger thread has not come round for 60 s, and does not wait for the disk$/);
  thread.round();
  t.equal(after(1), undefined);
});

t.test('service: a scan thread that never sleeps loses its real-time priority, and is given it back when it has slept for a minute', async (t) => {
  const asked: string[] = [];
  const { runtimes, second, said } = bench(t, {
    entry: BUSY,
    realtime: true,
    prioritise: async (id) => void asked.push(`first in, first out: ${id}`),
    demote: async (id) => void asked.push(`ordinary: ${id}`),
  });
  const link = runtimes.link('demo', 'a');
  const realtime = (): boolean => link?.realtime.granted === true;
  await eventually('it has the priority', async () => realtime());
  await eventually('it has lost it', async () => {
    second();
    return !realtime();
  });
  t.strictSame(asked, ['first in, first out: 41', 'ordinary: 41']);
  t.match(link?.realtime.reason, /^taken back: the thread did not sleep any more/);
  t.ok(said.includes('warn: the scan thread has not slept for 3 s and loses its real-time priority'));
  t.same(runtimes.realtime, { granted: true, reason: '' }, 'other threads keep theirs');
  let seconds = 0;
  /** Each a moment after the other, in which the thread comes round. */
  const until = (what: string, is: () => boolean): Promise<true | undefined> => {
    seconds = 0;
    const look = async (): Promise<boolean> => {
      second();
      seconds += 1;
      return is();
    };
    return eventually(what, async () => (await look()) || undefined, 60_000, 10);
  };
  await until('a minute and more has passed', () => seconds > 70);
  t.notOk(realtime(), 'it does not sleep yet');
  link?.send({ type: 'alive' });
  await until('it has it again', realtime);
  t.ok(seconds >= 60, `after ${seconds} s`);
  t.strictSame(asked.slice(2), ['first in, first out: 41']);
});
