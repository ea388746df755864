/** Whom an alarm wakes when it clears: the roots whose failure names it, and nobody else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { HeldByAlarm } from '../../../src/domains/batches/tree/held-by-alarm.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { Phase } from '../../../src/domains/procedures/kind.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type Put, Store } from '../../../src/platform/store/store.js';
import { TestClock } from '../../support/test-clock.js';

t.test('decisions 3.5: an alarm knows the batches and ad-hoc roots it holds, whatever becomes of their units', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-held-'));
  const ledger = await openLedger(dir);
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const store = new Store(ledger, new TestClock());
  await store.open(0);
  const failure = (...alarms: string[]) => (alarms.length === 0 ? {} : { failure: { rule: 'alarm-exception', alarms } });
  // biome-ignore lint/suspicious/noExplicitAny: two kinds
  const put = (kind: any, name: string, alarms: string[], more: Partial<Put> = {}) =>
    store.apply({ puts: [{ kind, site: 'north', name, spec: {}, status: { ...failure(...alarms) }, ...more }] });
  put(Batch, 'before', ['full-1']);
  const held = new HeldByAlarm(store);
  t.same(held.of('north', 'full-1'), ['before'], 'what the store held when it began');
  put(Batch, 'b-1', ['full-1', 'hot-2']);
  put(Phase, 'root', [], { status: { ...failure('hot-2'), adhoc: true } });
  put(Phase, 'b-1-heat', ['hot-2']);
  t.same(held.of('north', 'full-1'), ['before', 'b-1']);
  t.same(held.of('north', 'hot-2'), ['b-1', 'root'], 'an element of a batch is woken with its batch');
  t.same(held.of('south', 'hot-2'), []);
  t.same(held.of('north', 'none-1'), []);
  put(Batch, 'b-1', ['full-1']);
  put(Phase, 'root', []);
  t.same(held.of('north', 'hot-2'), []);
  store.apply({ removes: [{ kind: Batch.kind, site: 'north', name: 'before' }] });
  t.same(held.of('north', 'full-1'), ['b-1']);
  await store.recorded;
});
