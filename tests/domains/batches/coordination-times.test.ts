/** The time that a signal or barrier has been Active is counted for as long as its batch goes on, and forgotten with it. */
import t from 'tap';
import type { BatchReconciliation } from '../../../src/domains/batches/tree/batch-reconciliation.js';
import { coordinationLeftMs } from '../../../src/domains/batches/tree/coordination.js';
import { CoordinationBlock } from '../../../src/domains/coordination/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';

t.test('D-C-07: what was still Active at the end of its batch is counted no more', async (t) => {
  const { clock, store } = await freshStore(t);
  const spec = { batchRef: 'b-1', timeoutSeconds: 5 };
  const status = { phase: 'Active', activeAt: '2026-01-01T08:00:00.000Z' };
  await store.write({ puts: [{ kind: CoordinationBlock, site: 'north', name: 'go', spec, status } as unknown as Put] });
  const left = (phase: string): number[] => coordinationLeftMs({ tree: {}, status: { phase }, site: 'north', scope: 'b-1' } as unknown as BatchReconciliation, store, clock);
  t.same(left('Running'), [5000]);
  clock.advance(2000);
  t.same(left('Running'), [3000]);
  t.same(left('Complete'), []);
  t.same(left('Running'), [5000], 'nothing of it is kept in memory');
});
