/** Who waits for a unit, and since when (decisions 3.3, Allocation). */
import t from 'tap';
import { parse } from 'valibot';
import { allocationQueue, withRequests } from '../../../src/domains/batches/start/allocation-queue.js';
import { type Allocation, Batch, BatchSpec, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { Procedure, UnitProcedure } from '../../../src/domains/procedures/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const EARLY = '2026-01-01T08:00:00.000Z';
const LATE = '2026-01-01T09:00:00.000Z';
const NOW = '2026-01-01T10:00:00.000Z';

const allocation = (unit: string, state: Allocation['state'], since: string): Allocation => ({ capability: `can-${unit}`, unit, state, since });

t.test('ALLOC-02: a unit is asked for when its unit procedure waits to start; the request keeps its time until it is granted or nobody has it', async (t) => {
  const planned = allocation('rx101', 'Requested', '');
  const asked = allocation('rx101', 'Requested', EARLY);
  const rows: readonly [string, Allocation, string[], Allocation][] = [
    ['planned for later', planned, ['mx101'], planned],
    ['its turn has come', planned, ['rx101'], { ...planned, since: NOW }],
    ['still waits', asked, ['rx101'], asked],
    ['its step was left', asked, [], planned],
    ['granted, a second unit procedure on it waits', allocation('rx101', 'Granted', EARLY), ['rx101'], allocation('rx101', 'Granted', EARLY)],
    ['released, and the chart has come back to it', allocation('rx101', 'Released', EARLY), ['rx101'], { ...planned, since: NOW }],
    ['released for good', allocation('rx101', 'Released', EARLY), [], allocation('rx101', 'Released', EARLY)],
  ];
  for (const [title, before, wanted, after] of rows) {
    const allocations = [before];
    const next = withRequests(allocations, new Set(wanted), NOW);
    t.same(next, [after], title);
    if (before === after) t.equal(next, allocations, `${title}: nothing to write`);
  }
});

t.test('ALLOC-02: the queue of a unit has larger priorities first, then older requests, and nobody who has not asked', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const batch = (name: string, phase: BatchStatus['phase'], since: string, priority: number, state: Allocation['state'] = 'Requested') => {
    const spec = parse(BatchSpec, { batchID: name, masterRecipeRef: 'resin-a', priority });
    return { kind: Batch, site: 'demo', name, spec, status: { ...Batch.initialStatus(spec), phase, allocations: [allocation('rx101', state, since)] } } as Put;
  };
  const procedure = { batchRef: 'b-old', parentRef: null } as never;
  const progress = { active: ['react'], activatedAtMs: {} } as never;
  const elements = ['clean', 'react'].map((stepName) => {
    const spec = { batchRef: 'b-old', unitRef: 'rx101', stepName, parentRef: { kind: 'Procedure', name: 'b-old' } } as never;
    return { kind: UnitProcedure, site: 'demo', name: `b-old-${stepName}`, spec } as Put;
  });
  await plant.store.write({
    puts: [
      batch('a-same', 'Running', LATE, 100),
      batch('b-same', 'Running', LATE, 100),
      batch('b-old', 'Held', EARLY, 100),
      batch('b-urgent', 'Running', LATE, 500),
      batch('b-later', 'Running', '', 900),
      batch('b-ordered', 'Pending', EARLY, 900),
      batch('b-over', 'Aborted', EARLY, 900),
      batch('b-has', 'Running', EARLY, 900, 'Granted'),
      { kind: Procedure, site: 'demo', name: 'b-old', spec: procedure, status: { ...Procedure.initialStatus(procedure), progress } } as Put,
      ...elements,
    ],
  });
  t.same(
    allocationQueue(plant.store, 'demo', 'rx101').map((entry) => [entry.batch, entry.unitProcedure, entry.since]),
    [
      ['b-urgent', 'can-rx101', LATE],
      ['b-old', 'b-old-react', EARLY],
      ['a-same', 'can-rx101', LATE],
      ['b-same', 'can-rx101', LATE],
    ],
  );
  t.same(allocationQueue(plant.store, 'demo', 'mx101'), []);
});
