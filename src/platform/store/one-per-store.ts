/** What is kept beside a store by its events (an index, a memory): one for each store, made when it is first asked for. */
import type { Store } from './store.js';

export function onePerStore<T extends object>(make: (store: Store) => T): (store: Store) => T {
  const made = new WeakMap<Store, T>();
  return (store) => {
    let one = made.get(store);
    if (!one) made.set(store, (one = make(store)));
    return one;
  };
}
