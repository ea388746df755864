/** Who waits for a unit (decisions 3.3, Allocation). */
import type { StoreReader } from '../../platform/store/kind.js';
import { Batch, isFinalBatch } from './kind.js';

export interface QueueEntry {
  readonly batch: string;
  readonly unitProcedure: string;
  readonly priority: number;
  readonly since: string;
}

/** Started batches that have asked for the unit and wait for it, the most urgent first, then the oldest request. */
export function allocationQueue(read: StoreReader, site: string, unit: string): QueueEntry[] {
  return read
    .list(Batch, site)
    .filter(({ status }) => status.phase !== 'Pending' && !isFinalBatch(status.phase))
    .flatMap((batch) =>
      batch.status.allocations
        .filter((allocation) => allocation.unit === unit && allocation.state === 'Requested')
        .map((allocation) => ({ batch: batch.metadata.name, unitProcedure: allocation.capability, priority: batch.spec.priority, since: allocation.since })),
    )
    .sort((a, b) => b.priority - a.priority || (a.since < b.since ? -1 : 1));
}
