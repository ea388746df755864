/** Batch records: made when a batch has ended, and read, reviewed and sealed through their routes. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, onLeaving, whenPut } from '../../platform/reconcile/wakes.js';
import type { Resource } from '../../platform/store/resource.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import type { FactReader } from '../runs/facts.js';
import type { SettingValues } from '../../settings.js';
import { Procedure } from '../procedures/kind.js';
import { integrityOf } from './consolidated.js';
import { BatchRecord, type RecordResource } from './kind.js';
import { PastBatchReconciler } from './past-batches.js';
import { PastRecordReconciler } from './past-records.js';
import { PastRunReconciler } from './past-runs.js';
import { RecordReconciler } from './reconciler.js';
import { type RecordRouteDeps, recordRoutes } from './routes.js';

export interface RecordParts extends RecordRouteDeps {
  readonly queries: RecordRouteDeps['queries'] & FactReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<SettingValues, 'pastAfterMs' | 'recordPastAfterMs'>;
}

export function joinRecords(parts: RecordParts) {
  const { store, queries, clock, log } = parts;
  const { pastAfterMs: afterMs, recordPastAfterMs } = parts.settings;
  const hasEnded = on(Batch, ({ type, resource }) => type === 'put' && isFinalBatch(resource.status.phase));
  const comesBack = on(
    Procedure,
    ({ type, past }) => type === 'put' && past === true,
    ({ resource: { metadata, spec } }) => [{ site: metadata.site, name: spec.batchRef }],
  );
  // the last that a batch left behind may leave before or after its record
  const hasLeft = [BatchRecord, Procedure].map(onLeaving);
  return {
    routes: [routeSet(recordRoutes, parts)],
    /** For whoever is asked to sign a resource: what is not as the trail tells of it. */
    changes: (resource: Resource): Promise<readonly string[]> | undefined => (resource.kind === BatchRecord.kind ? changesOf(resource as RecordResource, parts) : undefined),
    reconcilers: [
      new ReconcileLoop(new RecordReconciler({ store, facts: queries }), clock, log, [hasEnded]),
      ...(afterMs === 0 ? [] : [new ReconcileLoop(new PastRunReconciler({ store, clock, afterMs }), clock, log, [hasEnded, comesBack])]),
      ...(recordPastAfterMs === 0 ? [] : [new ReconcileLoop(new PastBatchReconciler({ store, clock, afterMs: recordPastAfterMs }), clock, log, [hasEnded, ...hasLeft])]),
      ...(recordPastAfterMs === 0 ? [] : [new ReconcileLoop(new PastRecordReconciler({ store, clock, afterMs: recordPastAfterMs }), clock, log, [on(BatchRecord, whenPut)])]),
    ],
  };
}

async function changesOf(record: RecordResource, { queries, keys }: RecordParts): Promise<readonly string[]> {
  const { site, name } = record.metadata;
  return integrityOf(record, await queries.auditOf({ site, targets: [{ kind: BatchRecord.kind, name }], correlationIDs: [] }), keys).problems;
}
