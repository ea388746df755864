/**
 * Batches and ad-hoc runs that were under way when the appliance ended and that nobody could hold since, because the storage
 * refused changes from the start on: what is stored of them says that they run, and nothing of them is driven. They, their
 * elements and their units are shown as what the recovery will make of them (decisions 3.8), from memory, until it is written.
 *
 * Whoever serves the state of a batch, an element or a unit asks `lookAtShown` for it; what decides reads the store.
 */
import type { BatchState, State } from '../../../../runtime/vocabulary/states.js';
import { guarded } from '../../../platform/base/guarded.js';
import { onePerStore } from '../../../platform/store/one-per-store.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { scopeOf } from '../../procedures/roots.js';
import { HELD_FROM } from '../kind.js';
import type { Blocker } from '../reading/blocked-by.js';

export const NOT_DRIVEN = 'the storage refuses changes; nothing is driven';

/** The parts of a batch, an element or a unit by which it is found and shown. */
interface Status {
  readonly state?: State | '';
  readonly phase?: BatchState;
  readonly allocatedTo?: string;
  readonly activeWork?: object | null;
}

class Unrecovered {
  readonly #store: Store;
  /** `site/scope`: the name of the batch or of the root of the run. */
  readonly #scopes = new Set<string>();
  readonly #watchers: ((site: string, scope: string) => void)[] = [];
  /** The storage has refused since they were found; before it does, each is about to be held. */
  #refused = false;

  constructor(store: Store) {
    this.#store = store;
    store.watchReload(() => {
      if (this.#refused || store.accepting) return;
      this.#refused = true;
      for (const key of this.#scopes) this.#tell(key);
    });
  }

  found(site: string, scope: string): void {
    this.#scopes.add(`${site}/${scope}`);
  }

  passed(site: string, scope: string): void {
    const key = `${site}/${scope}`;
    if (!this.#scopes.delete(key)) return;
    if (this.#refused) this.#tell(key);
    if (this.#scopes.size === 0) this.#refused = false;
  }

  /** Called after the things of a batch or run are shown in another way than before, although none of them was changed. */
  watch(watcher: (site: string, scope: string) => void): void {
    this.#watchers.push(watcher);
  }

  isShownHeld(resource: Resource): boolean {
    if (!this.#refused) return false;
    const { state, phase } = resource.status as Status;
    const stands = phase ?? state ?? '';
    if (stands === '' || !HELD_FROM.includes(stands)) return false;
    return this.#scopes.has(`${resource.metadata.site}/${this.#scopeOf(resource)}`);
  }

  #scopeOf(resource: Resource): string {
    if (resource.kind === 'Batch') return resource.metadata.name;
    return resource.kind === 'Unit' ? ((resource.status as Status).allocatedTo ?? '') : scopeOf(this.#store, resource as never);
  }

  #tell(key: string): void {
    const cut = key.indexOf('/');
    for (const watcher of this.#watchers) guarded('watcher of what is shown held', () => watcher(key.slice(0, cut), key.slice(cut + 1)));
  }
}

export const unrecovered = onePerStore((store) => new Unrecovered(store));

/** A batch, an element or a unit as it is shown, and what is said of why it stands where it is not shown as it is stored. */
export interface Shown<Of> {
  readonly shown: Of;
  readonly blockedBy: readonly Blocker[] | undefined;
}

export function lookAtShown<Of extends Resource<object, unknown>>(store: Store, resource: Of): Shown<Of> {
  if (!unrecovered(store).isShownHeld(resource)) return { shown: resource, blockedBy: undefined };
  const { kind, metadata } = resource;
  const { unitRef = kind === 'Unit' ? metadata.name : '', stepPath = '' } = resource.spec as { readonly unitRef?: string; readonly stepPath?: string };
  const element = { kind, name: metadata.name, path: kind === 'Batch' || kind === 'Unit' ? '' : stepPath || metadata.name, unit: unitRef };
  return { shown: { ...resource, status: held(resource) }, blockedBy: [{ reason: 'held', element, text: NOT_DRIVEN }] };
}

/** For whoever says nothing of why. */
export function asShown<Of extends Resource<object, unknown>>(store: Store, resource: Of): Of {
  return lookAtShown(store, resource).shown;
}

function held({ kind, status }: Resource): unknown {
  if (kind === 'Batch') return { ...(status as Status), phase: 'Held' };
  const { activeWork } = status as Status;
  return { ...(status as Status), state: 'Held', ...(activeWork ? { activeWork: { ...activeWork, state: 'Held' } } : {}) };
}
