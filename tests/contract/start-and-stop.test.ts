/**
 * In which order the parts of the appliance start and stop. A part ends before those that it needs: who is served before what serves
 * him, who writes before the storage, who is recorded before the record.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';
import t from 'tap';
import { Access } from '../../src/domains/access/access.js';
import { AuditGaps } from '../../src/domains/audit/gaps.js';
import { DemoPlant } from '../../src/domains/demo/demo.js';
import { ContentsKeeper } from '../../src/domains/io-modules/simulation-contents.js';
import { LocalProbes } from '../../src/domains/placement/local-probes.js';
import { LocalRuntimes } from '../../src/domains/placement/local-runtimes.js';
import { Rehearsals } from '../../src/domains/rehearsal/rehearsals.js';
import { UnitJournal } from '../../src/domains/units/journal.js';
import { Recordings } from '../../src/domains/units/recordings.js';
import { startAppliance } from '../../src/main.js';
import { ContainedFaults } from '../../src/platform/base/contained-faults.js';
import { History } from '../../src/platform/history/history.js';
import { Archiver } from '../../src/platform/ledger/archiver.js';
import { StateFileCheck } from '../../src/platform/ledger/file-check.js';
import { ThreadLedger } from '../../src/platform/ledger/ledger.js';
import { Loops } from '../../src/platform/reconcile/loops.js';
import { Hub } from '../../src/platform/stream/hub.js';
import { readSettings } from '../../src/settings.js';

process.env.LINESIDE_LOG_LEVEL ??= 'silent';
/** Threads of this process that have not ended. */
const threads = new Set<Worker>();
process.on('worker', (thread: Worker) => {
  threads.add(thread);
  thread.once('exit', () => threads.delete(thread));
});
const told: string[] = [];

/** Notes a call, which goes on as it would. */
function note(part: { readonly prototype: object }, method: string, as: string): void {
  const members = part.prototype as Record<string, (...given: unknown[]) => unknown>;
  const call = members[method] as (...given: unknown[]) => unknown;
  members[method] = function (this: unknown, ...given) {
    told.push(as);
    return call.apply(this, given);
  };
}

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-order-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
const settings = readSettings(
  [],
  { LINESIDE_GATEWAY__HTTPPORT: '0', LINESIDE_GATEWAY__LISTEN: '127.0.0.1', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_DEMO__ENABLED: 'true' },
  dataDir,
);

t.test('what the start found is on record before the demonstration plant is made, and both before the loops; the end is in its order', async (t) => {
  note(AuditGaps, 'record', 'audit');
  note(DemoPlant, 'provisionOnce', 'demonstration plant');
  note(Loops, 'start', 'loops');
  note(Hub, 'start', 'streams');
  const appliance = await startAppliance(settings, { version: '0.0.0-test', commit: '' });
  t.teardown(() => appliance.stop());
  t.same(
    told.filter((part) => part !== 'streams'),
    ['audit', 'demonstration plant', 'loops'],
  );
  t.ok(told.includes('streams'));
  t.equal((await fetch(`http://127.0.0.1:${appliance.port}/readyz`)).status, 200);

  told.length = 0;
  note(Rehearsals, 'stop', 'rehearsals');
  note(Hub, 'endAll', 'gateway');
  note(Hub, 'stop', 'streams');
  note(Access, 'stop', 'access');
  note(Archiver, 'stop', 'audit');
  note(Loops, 'stop', 'loops');
  note(UnitJournal, 'stop', 'units');
  note(ContentsKeeper, 'stop', 'I/O modules');
  note(LocalRuntimes, 'stop', 'runtimes');
  note(Recordings, 'close', 'recordings');
  note(LocalProbes, 'stop', 'probes');
  note(History, 'close', 'historian');
  note(ThreadLedger, 'close', 'storage');
  note(StateFileCheck, 'stop', 'check of the file');
  note(ContainedFaults, 'stop', 'faults');
  await appliance.stop();
  const order = [
    'rehearsals',
    'gateway',
    'streams',
    'access',
    'audit',
    'loops',
    'units',
    'I/O modules',
    'runtimes',
    'recordings',
    'probes',
    'historian',
    'storage',
    'check of the file',
    'faults',
  ];
  t.same([...new Set(told)], order);
  t.equal(threads.size, 0, 'no thread outlives it');
  t.notOk(existsSync(path.join(dataDir, 'pid')), 'the data directory is free');
});

t.test('a start that fails leaves nothing behind: the next one has the data directory', async (t) => {
  told.length = 0;
  const first = await startAppliance(settings, { version: '0.0.0-test', commit: '' });
  t.teardown(() => first.stop());
  const other = { ...settings, dataDir: mkdtempSync(path.join(tmpdir(), 'lineside-order-')), httpPort: first.port };
  t.teardown(() => rmSync(other.dataDir, { recursive: true, force: true }));
  told.length = 0;
  await t.rejects(startAppliance(other, { version: '0.0.0-test', commit: '' }), { message: /port/ });
  t.same([...new Set(told)].slice(-3), ['storage', 'check of the file', 'faults'], 'what was opened is closed');
  t.notOk(existsSync(path.join(other.dataDir, 'pid')));
  const second = await startAppliance({ ...other, httpPort: 0 }, { version: '0.0.0-test', commit: '' });
  await second.stop();
});

t.test('a fault that nobody catches while the parts start: outputs take their fail-safe values and the storage is closed', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-order-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const [start, takeFailSafe, close] = [Loops.prototype.start, LocalProbes.prototype.takeFailSafe, ThreadLedger.prototype.close];
  const asBefore = (): void => {
    LocalProbes.prototype.takeFailSafe = takeFailSafe;
    ThreadLedger.prototype.close = close;
  };
  const last: string[] = [];
  let fail: ((fault: unknown) => Promise<void>) | undefined;
  let done: Promise<void> | undefined;
  Loops.prototype.start = function (this: Loops): void {
    start.call(this);
    // asked for and not done: this process goes on, where that of the command ends
    LocalProbes.prototype.takeFailSafe = async () => void last.push('fail-safe values');
    ThreadLedger.prototype.close = async () => void last.push('storage');
    done = fail?.(new Error('thrown by a timer, say, when the loops have just started')).finally(asBefore);
  };
  t.teardown(() => {
    Loops.prototype.start = start;
    asBefore();
  });
  told.length = 0;
  const appliance = await startAppliance({ ...settings, dataDir, httpPort: 0 }, { version: '0.0.0-test', commit: '' }, undefined, (made) => {
    t.notOk(told.includes('loops'), 'before anything is driven');
    fail = (fault) => made.fail(fault);
  });
  t.ok(done, 'somebody can be asked');
  await done;
  t.same(last.toSorted(), ['fail-safe values', 'storage']);
  t.equal((await fetch(`http://127.0.0.1:${appliance.port}/readyz`)).status, 503, 'it does not come up behind it');
  await appliance.stop();
});
