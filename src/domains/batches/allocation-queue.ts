/**
 * Who waits for a unit (decisions 3.3, Allocation, OnDemand): a batch asks when its unit procedure becomes active, not when
 * it starts, so one that needs the unit later is never before one that needs it now. The requests are part of the batches,
 * so a restart changes neither their times nor their order.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { Procedure, UnitProcedure } from '../procedures/kind.js';
import { type Allocation, Batch, isFinalBatch } from './kind.js';

export interface QueueEntry {
  readonly batch: string;
  readonly unitProcedure: string;
  readonly priority: number;
  readonly since: string;
}

/** Batches that have asked for the unit and wait for it, the one that gets it next first. */
export function allocationQueue(read: StoreReader, site: string, unit: string): QueueEntry[] {
  return read
    .list(Batch, site)
    .filter(({ status }) => status.phase !== 'Pending' && !isFinalBatch(status.phase))
    .flatMap(({ metadata: { name: batch }, spec: { priority }, status }) =>
      status.allocations
        .filter((allocation) => allocation.unit === unit && isAsked(allocation))
        .map(({ capability, since }) => ({ batch, unitProcedure: waitingOn(read, site, batch, unit) ?? capability, priority, since })),
    )
    .sort(byUrgency);
}

/** Larger priority first, then the older request; of two in the same millisecond always the same one. */
export function byUrgency(a: Omit<QueueEntry, 'unitProcedure'>, b: Omit<QueueEntry, 'unitProcedure'>): number {
  return b.priority - a.priority || compare(a.since, b.since) || compare(a.batch, b.batch);
}

/**
 * The allocations with what is asked for now: `wanted` are the units whose unit procedures wait to start. A request that
 * stands keeps its time; one that nobody has any more, because its step was left by hand or the batch is being ended, is
 * taken back. The same array when nothing changes.
 */
export function withRequests(allocations: readonly Allocation[], wanted: ReadonlySet<string>, at: string): readonly Allocation[] {
  const next = allocations.map((allocation): Allocation => {
    if (allocation.state === 'Granted' || wanted.has(allocation.unit) === isAsked(allocation)) return allocation;
    if (wanted.has(allocation.unit)) return { ...allocation, state: 'Requested', since: at };
    return { ...allocation, since: '' };
  });
  return next.every((allocation, index) => allocation === allocations[index]) ? allocations : next;
}

function isAsked({ state, since }: Allocation): boolean {
  return state === 'Requested' && since !== '';
}

/** Its unit procedure on the unit whose step is active and that has not started. */
function waitingOn(read: StoreReader, site: string, batch: string, unit: string): string | undefined {
  const active = read.list(Procedure, site).find(({ spec }) => spec.batchRef === batch)?.status.progress?.active ?? [];
  const mine = read.list(UnitProcedure, site).filter(({ spec, status }) => spec.batchRef === batch && spec.unitRef === unit && status.state === 'Idle');
  return mine.find(({ spec }) => active.includes(spec.stepName))?.metadata.name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
