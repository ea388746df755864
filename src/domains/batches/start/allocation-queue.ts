/**
 * Who waits for a unit (decisions 3.3, Allocation, OnDemand; D-C-12): a batch asks when its unit procedure has its turn and
 * the signals and barriers it waits for at its start, not when the batch starts, so one that needs the unit later is never
 * before one that needs it now. The requests are part of the batches, so a restart changes neither their times nor their order.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import type { Store } from '../../../platform/store/store.js';
import { Procedure, UnitProcedure } from '../../procedures/kind.js';
import { elementIndex, type ElementResource } from '../tree/element-index.js';
import type { Allocation } from '../kind.js';
import { openBatches } from '../reading/open-batches.js';

export const QueueEntry = v.strictObject({
  batch: v.string(),
  unitProcedure: v.string(),
  priority: v.number(),
  since: v.string(),
});
export type QueueEntry = ToldBy<typeof QueueEntry>;

nameSchemas({ QueueEntry });

/** Batches that have asked for the unit and wait for it, the one that gets it next first. */
export function allocationQueue(store: Store, site: string, unit: string): QueueEntry[] {
  return openBatches(store, site)
    .flatMap(({ metadata: { name: batch }, spec: { priority }, status }) =>
      status.allocations
        .filter((allocation) => allocation.unit === unit && isAsked(allocation))
        .map(({ capability, since }) => ({ batch, unitProcedure: waitingOn(store, site, batch, unit) ?? capability, priority, since })),
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
function waitingOn(store: Store, site: string, batch: string, unit: string): string | undefined {
  const elements = elementIndex(store).elementsOf(site, batch);
  const active = elements.find(({ kind }) => kind === Procedure.kind)?.status.progress?.active ?? [];
  const waits = ({ kind, spec, status }: ElementResource): boolean =>
    kind === UnitProcedure.kind && 'unitRef' in spec && spec.unitRef === unit && status.state === 'Idle' && active.includes(spec.stepName);
  return elements.find(waits)?.metadata.name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
