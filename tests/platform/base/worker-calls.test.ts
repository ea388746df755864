/** Threads that end by themselves, and somebody who throws when he is told of it. */
import t from 'tap';
import { ScanThread } from '../../../src/domains/placement/scan-thread.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { WorkerCalls } from '../../../src/platform/base/worker-calls.js';
import { testLog } from '../../support/test-log.js';

const ENDS_AT_ONCE = new URL('data:text/javascript,');

let told: string[] = [];
t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
t.beforeEach(() => {
  told = [];
});

function fail(): never {
  throw new Error('thrown by a listener');
}

t.test('F4: a call to a thread that has ended is refused, whatever whoever is told of the death does', async (t) => {
  const calls = new WorkerCalls({ url: ENDS_AT_ONCE, name: 'odd', data: null }, undefined, { died: fail });
  await t.rejects(calls.call('anything', {}), { message: 'the odd thread stopped' });
  t.same(told, ['death of a thread: thrown by a listener']);
});

t.test('F4: the end of a scan thread is told to all its units, whatever the first of them does', async (t) => {
  const prioritise = (): Promise<{ granted: boolean; reason: string }> => Promise.resolve({ granted: false, reason: '' });
  const thread = new ScanThread({ clock: systemClock, log: testLog(), name: 'scan 1', heapMb: 64, entry: ENDS_AT_ONCE, prioritise, takePriorityBack: prioritise, gone: fail });
  const ended: string[] = [];
  const unit = (name: string, end: () => void) => thread.host({ site: 'north', unit: name, scanIntervalMs: 20, take: () => undefined, ended: end });
  const first = unit('a', fail);
  unit('b', () => ended.push('b'));
  await Promise.all([thread.untilEnded(first), thread.untilGone()]);
  t.same(ended, ['b']);
  t.same(told, ['end of a scan thread: thrown by a listener', 'end of a unit runtime: thrown by a listener']);
});
