/**
 * Batches that were under way when the appliance ended and that nobody could hold since, because the storage refused changes
 * from the start on: what is stored of them says that they run, and nothing of them is driven. They are shown as what the
 * recovery will make of them (decisions 3.8), from memory, until it is written.
 */
import type { BatchState, State } from '../../../runtime/vocabulary/states.js';
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { Blocker } from './blocked-by.js';
import type { BatchSpec, BatchStatus } from './kind.js';

/** The batch itself is held after a restart of the appliance when it is found in one of these. */
export const HELD_FROM: readonly (BatchState | State)[] = ['Running', 'Pausing', 'Paused', 'Restarting'];
export const NOT_DRIVEN = 'the storage refuses changes; nothing is driven';

class Unrecovered {
  readonly #store: Store;
  /** `site/batch`. */
  readonly #batches = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  found(site: string, batch: string): void {
    this.#batches.add(`${site}/${batch}`);
  }

  passed(site: string, batch: string): void {
    this.#batches.delete(`${site}/${batch}`);
  }

  isShownHeld(site: string, batch: string, state: BatchState | State | ''): boolean {
    return !this.#store.accepting && state !== '' && HELD_FROM.includes(state) && this.#batches.has(`${site}/${batch}`);
  }
}

export const unrecovered = onePerStore((store) => new Unrecovered(store));

/** The batch as it is shown, and what is said of why it stands where it is not shown as it is stored. */
export function shownBatch(
  store: Store,
  batch: Resource<BatchSpec, BatchStatus>,
): { readonly shown: Resource<BatchSpec, BatchStatus>; readonly blockedBy: readonly Blocker[] | undefined } {
  const { site, name } = batch.metadata;
  if (!unrecovered(store).isShownHeld(site, name, batch.status.phase)) return { shown: batch, blockedBy: undefined };
  return { shown: { ...batch, status: { ...batch.status, phase: 'Held' } }, blockedBy: [notDriven({ kind: 'Batch', name, path: '', unit: '' })] };
}

export function notDriven(element: Blocker['element']): Blocker {
  return { reason: 'held', element, text: NOT_DRIVEN };
}
