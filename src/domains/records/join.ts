/** Batch records: made when a batch has ended, and read, reviewed and sealed through their routes. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { Refusal } from '../../platform/base/refusal.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, onLeaving, whenPut } from '../../platform/reconcile/wakes.js';
import type { Resource } from '../../platform/store/resource.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import type { FactReader } from '../runs/facts.js';
import type { SettingValues } from '../../settings.js';
import { Procedure } from '../procedures/kind.js';
import { compareWith } from './consolidated.js';
import { BatchRecord, type RecordResource } from './kind.js';
import { refusalToSign, trailOfRecord } from './open-records.js';
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
    /** For whoever is asked to sign a resource: why it is not, with what the trail tells of it. */
    refusalToSign: (resource: Resource): Promise<Refusal | undefined> | undefined =>
      resource.kind === BatchRecord.kind ? comparedRefusal(resource as RecordResource, parts) : undefined,
    reconcilers: [
      new ReconcileLoop(new RecordReconciler({ store, facts: queries }), clock, log, [hasEnded]),
      ...(afterMs === 0 ? [] : [new ReconcileLoop(new PastRunReconciler({ store, clock, afterMs }), clock, log, [hasEnded, comesBack])]),
      ...(recordPastAfterMs === 0 ? [] : [new ReconcileLoop(new PastBatchReconciler({ store, clock, afterMs: recordPastAfterMs }), clock, log, [hasEnded, ...hasLeft])]),
      ...(recordPastAfterMs === 0 ? [] : [new ReconcileLoop(new PastRecordReconciler({ store, clock, afterMs: recordPastAfterMs }), clock, log, [on(BatchRecord, whenPut)])]),
    ],
  };
}

async function comparedRefusal(record: RecordResource, { queries, keys }: RecordParts): Promise<Refusal | undefined> {
  const { site, name } = record.metadata;
  return refusalToSign(record, compareWith(await trailOfRecord(queries, site, name), record, keys), 'signed');
}
