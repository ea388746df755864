/**
 * What wakes a reconciler, said beside it (as the For, Owns and Watches of controller-runtime): its own resources, resources of other
 * kinds that it looks at, and what comes from elsewhere.
 */
import type { Kind } from '../store/kind.js';
import type { Store, StoreEvent } from '../store/store.js';
import type { Key, Wakeable } from './key.js';

/** Connects a source to a loop, once, before the loop starts. */
export type Wake = (loop: Wakeable, store: Store) => void;

/**
 * Changes of resources of a kind; what becomes past has not changed, and what comes back is looked at. `keys` tells whom they concern: the resource's own key when left out, `all` every key of the
 * reconciler.
 */
export function on<Spec, Status>(
  kind: Kind<Spec, Status>,
  when: (event: StoreEvent<Spec, Status>) => boolean = always,
  keys: ((event: StoreEvent<Spec, Status>, store: Store) => Iterable<Key>) | 'all' = own,
): Wake {
  return (loop, store) => {
    store.watch(kind, (event) => {
      if ((event.past && event.type === 'remove') || !when(event)) return;
      if (keys === 'all') loop.wakeAll();
      else for (const { site, name } of keys(event, store)) loop.wake(site, name);
    });
  };
}

/** A resource of the kind has become past. */
export function onLeaving(kind: { readonly kind: string }): Wake {
  return (loop, store) => store.watch(kind, ({ type, past, resource: { metadata } }) => void (type === 'remove' && past && loop.wake(metadata.site, metadata.name)));
}

/** A change of the spec, labels or annotations; not one of the status alone. */
export function whenConfigured({ configuration }: StoreEvent): boolean {
  return configuration;
}

export function whenPut({ type }: StoreEvent): boolean {
  return type === 'put';
}

function always(): boolean {
  return true;
}

function own({ resource }: StoreEvent): Iterable<Key> {
  return [resource.metadata];
}
