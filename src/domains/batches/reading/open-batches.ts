/**
 * The batches of a site that have not ended, and those of them that have been started: kept beside the store by its events, because those that
 * have ended stay for ever, and every change of a batch has the list of all of them sorted anew.
 *
 * Only names are kept; what is read is always what the store has now.
 */
import type { Resource } from '../../../platform/store/resource.js';
import { onePerStore } from '../../../platform/store/one-per-store.js';
import type { Store } from '../../../platform/store/store.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../kind.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

class OpenBatches {
  readonly #store: Store;
  /** Names by site. */
  readonly #names = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.#store = store;
    store.watch(Batch, ({ type, resource }) => this.#follow(resource as BatchResource, type === 'put'));
    store.watchReload(() => this.#build());
    this.#build();
  }

  #build(): void {
    this.#names.clear();
    for (const batch of this.#store.list(Batch)) this.#follow(batch, true);
  }

  #follow({ metadata: { site, name }, status }: BatchResource, exists: boolean): void {
    const names = this.#names.get(site) ?? new Set();
    if (exists && !isFinalBatch(status.phase)) this.#names.set(site, names.add(name));
    else names.delete(name);
  }

  of(site: string): BatchResource[] {
    const found = [...(this.#names.get(site) ?? [])].sort().flatMap((name) => this.#store.get(Batch, site, name) ?? []);
    return found.filter(({ status }) => !isFinalBatch(status.phase));
  }
}

const index = onePerStore((store) => new OpenBatches(store));

/** Started and not ended. Sorted by name. */
export function openBatches(store: Store, site: string): BatchResource[] {
  return index(store)
    .of(site)
    .filter(({ status }) => status.phase !== 'Pending');
}

/** Those that wait for their Start too. Sorted by name. */
export function unendedBatches(store: Store, site: string): BatchResource[] {
  return index(store).of(site);
}
