/** Between which instants the historian holds something of a batch, where the clock was set back while it ran. */
import t from 'tap';
import { parse } from 'valibot';
import { Batch, BatchSpec } from '../../../src/domains/batches/kind.js';
import { ClockSteps } from '../../../src/domains/batches/reading/clock-span.js';
import type { BatchReconciliation } from '../../../src/domains/batches/tree/batch-reconciliation.js';
import { timestamp } from '../../../src/platform/base/clock.js';
import type { Put } from '../../../src/platform/store/kind.js';
import { freshStore } from '../../support/fresh-store.js';

t.test('a clock that was set back just after a look: what was recorded by the new clock until the next look is within the span', async (t) => {
  const { store, clock } = await freshStore(t);
  const spec = parse(BatchSpec, { batchID: 'b-1', masterRecipeRef: 'm' });
  await store.write({ puts: [{ kind: Batch, site: 'north', name: 'b-1', spec, status: { ...Batch.initialStatus(spec), phase: 'Running' } } as Put] });
  const steps = new ClockSteps(store, clock);
  clock.advance(1000);
  t.notOk(steps.look());
  const before = clock.wallMs();
  clock.jump(-3_600_000);
  const firstByNewClock = clock.wallMs();
  clock.advance(990);
  t.ok(steps.look());
  const reconciliation = { site: 'north', scope: 'b-1', status: {} } as unknown as BatchReconciliation;
  steps.take(reconciliation);
  t.same(reconciliation.status.clockSpan, { from: timestamp(firstByNewClock), to: timestamp(before + 990) });
});
