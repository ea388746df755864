/**
 * Batches that wait for each other's units for ever (D-C-12): each has what the next one waits for, and none of them has anything else to do.
 * It is shown, not resolved: which of them is given up is a decision of people. Computed on read.
 */
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { Unit } from '../../plant/kind.js';
import { type ElementStatus, Procedure, type ProcedureSpec, UnitProcedure } from '../../procedures/kind.js';
import { Batch } from '../kind.js';
import { capabilityOf, requestKey, type Waiter, waitersOf } from '../start/allocation-queue.js';
import { elementIndex } from '../tree/element-index.js';

/** The others of a ring that the batch is part of, by name; none where something can still move. */
export function deadlockOf(store: Store, site: string, batch: string): string[] {
  if (!hasUnit(store, site, batch)) return [];
  const requests = new Map<string, Waiter[]>();
  for (const waiter of waitersOf(store, site)) requests.set(waiter.batch, [...(requests.get(waiter.batch) ?? []), waiter]);
  // who has nothing keeps nobody waiting, and goes on as soon as somebody else is given up
  const stuck = new Set([...requests.keys()].filter((name) => hasUnit(store, site, name) && onlyWaits(store, site, name, requests.get(name)?.length ?? 0)));
  const holderOf = (unit: string): string => store.get(Unit, site, unit)?.status.allocatedTo ?? '';
  /** None of the units that would do can come free but by one that is stuck itself. */
  const isHopeless = ({ units }: Waiter): boolean => units.length > 0 && units.every((unit) => stuck.has(holderOf(unit)));
  for (let before = -1; before !== stuck.size; ) {
    before = stuck.size;
    for (const name of stuck) if (!requests.get(name)?.every(isHopeless)) stuck.delete(name);
  }
  if (!stuck.has(batch)) return [];
  const reached = new Set<string>();
  const follow = (name: string): void => {
    for (const holder of requests.get(name)?.flatMap(({ units }) => units.map(holderOf)) ?? []) {
      if (reached.has(holder)) continue;
      reached.add(holder);
      follow(holder);
    }
  };
  follow(batch);
  return [...reached].filter((name) => name !== batch).sort();
}

function hasUnit(store: Store, site: string, batch: string): boolean {
  return store.get(Batch, site, batch)?.status.allocations.some(({ state }) => state === 'Granted') ?? false;
}

/** Every active step of its procedure has asked for a unit and waits: nothing else of it goes on and could give one back. */
function onlyWaits(store: Store, site: string, batch: string, requests: number): boolean {
  const elements = elementIndex(store).elementsOf(site, batch);
  const root = elements.find(({ kind }) => kind === Procedure.kind) as Resource<ProcedureSpec, ElementStatus> | undefined;
  const active = root?.status.progress?.active ?? [];
  const waiting = elements.filter(({ kind, spec, status }) => kind === UnitProcedure.kind && active.includes(spec.stepName) && status.state === 'Idle');
  const asked = new Set(waiting.map(({ spec }) => requestKey({ capability: capabilityOf(root?.spec, spec.stepName), unit: 'unitRef' in spec ? spec.unitRef : '' })));
  return requests > 0 && waiting.length === active.length && asked.size === requests;
}
