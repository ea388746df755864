/** Seams: what throws on the other side is told and counted; whoever called goes on. */
import pino from 'pino';
import t from 'tap';
import { ContainedFaults, FAULTS_MAX } from '../../../src/platform/base/contained-faults.js';
import { contain, guarded, guardedPromise, onContained } from '../../../src/platform/base/guarded.js';
import { TestClock } from '../../support/test-clock.js';

const throws = (message: string) => (): never => {
  throw new Error(message);
};

t.test('a guarded call gives its result, and nothing when it throws', async (t) => {
  const seen: [string, unknown][] = [];
  t.teardown(onContained((seam, fault) => seen.push([seam, (fault as Error).message])));
  t.equal(
    guarded('a', () => 7),
    7,
  );
  t.equal(guarded('b', throws('no')), undefined);
  t.same(seen, [['b', 'no']]);
});

t.test('a guarded promise never rejects, whether the call throws or its promise does', async (t) => {
  const seen: string[] = [];
  t.teardown(onContained((seam, fault) => seen.push(`${seam}: ${(fault as Error).message}`)));
  guardedPromise('thrown', throws('at once'));
  guardedPromise('rejected', () => Promise.reject(new Error('later')));
  guardedPromise('fine', () => Promise.resolve(1));
  await new Promise(setImmediate);
  t.same(seen, ['thrown: at once', 'rejected: later']);
});

t.test('a listener that throws itself keeps the fault from nobody', async (t) => {
  const seen: string[] = [];
  t.teardown(onContained(throws('the log is full')));
  t.teardown(onContained((seam) => seen.push(seam)));
  const { error } = console;
  console.error = () => undefined;
  t.teardown(() => {
    console.error = error;
  });
  t.doesNotThrow(() => contain('c', new Error('x')));
  t.same(seen, ['c']);
});

t.test('faults are counted by seam, logged a few times a minute, and too many in one minute are told as such', async (t) => {
  const clock = new TestClock();
  const lines: { seam?: string }[] = [];
  let again = 0;
  const faults = new ContainedFaults(clock, pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
  faults.watch(() => {
    again += 1;
  });
  t.teardown(() => faults.stop());
  for (let n = 0; n < FAULTS_MAX; n += 1) guarded('watcher of Batch', throws(`fault ${n}`));
  t.match(faults.view(), { total: FAULTS_MAX, recent: FAULTS_MAX, seams: [{ seam: 'watcher of Batch', count: FAULTS_MAX, message: `fault ${FAULTS_MAX - 1}` }] });
  t.notOk(faults.tooMany);
  t.equal(lines.filter(({ seam }) => seam === 'watcher of Batch').length, 5);
  t.equal(again, 0);
  guarded('timer', throws('one more'));
  t.ok(faults.tooMany);
  t.equal(faults.last, 'timer: one more');
  clock.advance(1000);
  t.equal(again, 1, 'everybody looks again, once for all of them');
  clock.advance(60_000);
  t.notOk(faults.tooMany, 'a minute later it is over');
  t.match(faults.view(), { total: FAULTS_MAX + 1, recent: 0 });
  guarded('watcher of Batch', throws('again'));
  t.equal(lines.filter(({ seam }) => seam === 'watcher of Batch').length, 6, 'and the next one is logged');
});
