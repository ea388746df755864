/**
 * Who waits for a unit (decisions 3.3, Allocation, OnDemand; D-C-12): a batch asks when its unit procedure has its turn and
 * the signals and barriers it waits for at its start, not when the batch starts, so one that needs the unit later is never
 * before one that needs it now. Whoever asks for a class waits for each of its units. The requests are part of the batches, so a
 * restart changes neither their times nor their order.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { Procedure, UnitProcedure } from '../../procedures/kind.js';
import { elementIndex, type ElementResource } from '../tree/element-index.js';
import type { Allocation, BatchSpec, BatchStatus } from '../kind.js';
import { openBatches } from '../reading/open-batches.js';
import { ownUnits, startedClass } from './unit-class.js';

export const QueueEntry = v.strictObject({
  batch: v.string(),
  unitProcedure: v.string(),
  priority: v.number(),
  since: v.string(),
  /** Of a request for any unit of a class: the class, and the units that serve it. */
  capability: v.optional(v.string()),
  candidates: v.optional(v.array(v.string())),
});
export type QueueEntry = ToldBy<typeof QueueEntry>;

nameSchemas({ QueueEntry });

type Asking = Pick<Resource<BatchSpec, BatchStatus>, 'metadata' | 'spec' | 'status'>;

/** One request of a batch; `units` of which one will do: of a class those that fit, by the policy `listed`. */
export interface Waiter {
  readonly batch: string;
  readonly capability: string;
  readonly priority: number;
  readonly since: string;
  readonly isClass: boolean;
  readonly units: readonly string[];
}

/** Requests of the batches of the site, the most urgent first. `looked`: a batch as the look that asks has it, in place of what is stored. */
export function waitersOf(store: Store, site: string, looked?: Asking): Waiter[] {
  const stored: readonly Asking[] = openBatches(store, site).filter(({ metadata }) => metadata.name !== looked?.metadata.name);
  return [...stored, ...(looked ? [looked] : [])].flatMap((batch) => requestsOf(store, batch)).sort(byUrgency);
}

/**
 * What a batch asks for now. Of a class it does not take a unit that it has or will have for another capability: two of its unit
 * procedures would drive it at once.
 */
export function requestsOf(store: Store, { metadata: { site, name: batch }, spec: { priority }, status }: Asking): Waiter[] {
  const own = ownUnits(status.allocations);
  return status.allocations.filter(isAsked).map(({ capability, unit, since }): Waiter => {
    const common = { batch, capability, priority, since, isClass: unit === '' };
    if (unit !== '') return { ...common, units: [unit] };
    const { candidates = [] } = startedClass(store, site, status.controlRecipe, capability) ?? {};
    return { ...common, units: candidates.filter((each) => each.unfit === '' && !own.includes(each.unit)).map((each) => each.unit) };
  });
}

/** Among those who wait for one of its units, 1 is next; undefined while none fits, since it stands in no queue then. */
export function placeOf(own: Waiter, waiters: readonly Waiter[]): number | undefined {
  const rivals = waiters.filter(({ units }) => units.some((unit) => own.units.includes(unit)));
  return own.units.length > 0 ? 1 + rivals.indexOf(own) : undefined;
}

/** Batches that have asked for the unit and wait for it, the one that gets it next first. */
export function allocationQueue(store: Store, site: string, unit: string, waiters: readonly Waiter[] = waitersOf(store, site)): QueueEntry[] {
  return waiters
    .filter(({ units }) => units.includes(unit))
    .map(({ batch, capability, priority, since, isClass, units }) => ({
      batch,
      unitProcedure: waitingOn(store, site, batch, isClass ? '' : unit, capability) ?? capability,
      priority,
      since,
      ...(isClass ? { capability, candidates: [...units] } : {}),
    }));
}

/** Larger priority first, then the older request; of two in the same millisecond always the same one. */
export function byUrgency(a: Pick<QueueEntry, 'batch' | 'priority' | 'since'>, b: Pick<QueueEntry, 'batch' | 'priority' | 'since'>): number {
  return b.priority - a.priority || compare(a.since, b.since) || compare(a.batch, b.batch);
}

/**
 * What each request would get at this moment: the most urgent one first, no unit twice. One that is served by another unit of its class
 * keeps nobody from this one.
 * @param waiters the most urgent first
 * @param takes the units of a request that can be taken now, in the order in which it tries them
 */
export function served(waiters: readonly Waiter[], takes: (waiter: Waiter) => readonly string[]): ReadonlyMap<Waiter, string> {
  const found = new Map<Waiter, string>();
  const gone = new Set<string>();
  for (const waiter of waiters) {
    const unit = takes(waiter).find((each) => !gone.has(each));
    if (unit === undefined) continue;
    found.set(waiter, unit);
    gone.add(unit);
  }
  return found;
}

/** What is asked for by a request of a class has no unit yet: it is known by its capability. */
export function requestKey({ capability, unit }: Pick<Allocation, 'capability' | 'unit'>): string {
  return unit === '' ? `class/${capability}` : unit;
}

/**
 * The allocations with what is asked for now: `wanted` are the keys (`requestKey`) of what the unit procedures that wait to start need. A
 * request that stands keeps its time; one that nobody has any more, because its step was left by hand or the batch is being ended, is
 * taken back. The same array when nothing changes.
 */
export function withRequests(allocations: readonly Allocation[], wanted: ReadonlySet<string>, at: string): readonly Allocation[] {
  const next = allocations.map((allocation): Allocation => {
    const isWanted = wanted.has(requestKey(allocation));
    if (allocation.state === 'Granted' || isWanted === isAsked(allocation)) return allocation;
    if (isWanted) return { ...allocation, state: 'Requested', since: at };
    return { ...allocation, since: '' };
  });
  return next.every((allocation, index) => allocation === allocations[index]) ? allocations : next;
}

/** The batch waits for it; before its turn a unit is only planned. */
function isAsked({ state, since }: Allocation): boolean {
  return state === 'Requested' && since !== '';
}

/** Its unit procedure on the unit, or of the class, whose step is active and that has not started. */
function waitingOn(store: Store, site: string, batch: string, unit: string, capability: string): string | undefined {
  const elements = elementIndex(store).elementsOf(site, batch);
  const root = elements.find(({ kind }) => kind === Procedure.kind);
  const active = root?.status.progress?.active ?? [];
  const waits = ({ kind, spec, status }: ElementResource): boolean =>
    kind === UnitProcedure.kind &&
    'unitRef' in spec &&
    spec.unitRef === unit &&
    status.state === 'Idle' &&
    active.includes(spec.stepName) &&
    (unit !== '' || capabilityOf(root?.spec, spec.stepName) === capability);
  return elements.find(waits)?.metadata.name;
}

/** Of a step of the procedure: what its unit must be able to do. */
export function capabilityOf(procedure: object | undefined, step: string): string {
  const { chart } = (procedure ?? {}) as {
    readonly chart?: { readonly steps?: readonly { readonly name: string; readonly targetCapability?: string | undefined }[] | undefined } | null;
  };
  return chart?.steps?.find(({ name }) => name === step)?.targetCapability || step;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
