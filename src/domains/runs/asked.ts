/**
 * What was asked of the equipment of a batch and is not answered yet: a write that waits for the runtime, the reset of a fault
 * that the device judges. It belongs to the batch that held the unit when it was asked, which may end before the answer; so its
 * place is reserved before the wait, and its record is not made while something is open (records/reconciler.ts). Each wait has a
 * deadline of its own, so none keeps a record back for long.
 */
import { onePerStore } from '../../platform/store/one-per-store.js';
import type { Store } from '../../platform/store/store.js';
import type { PendingFact } from './execution-log.js';
import { factsFor, type Holding, holdingOf, type Intervention } from './interventions.js';

class Asked {
  readonly #store: Store;
  /** Open ones by `site/batch`. */
  readonly #open = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  isOpen(site: string, batch: string): boolean {
    return this.#open.has(`${site}/${batch}`);
  }

  /**
   * Runs what is asked of units. `factsOf` makes the facts of what was done, for whoever held them when it was asked, and for
   * whoever has them now: what was done outlives the first.
   */
  async during<T>(site: string, units: Iterable<string>, work: (factsOf: (equipment: string, done: Intervention) => PendingFact[]) => Promise<T>): Promise<T> {
    const concerned = [...new Set(units)];
    const holders = (): Holding[] => concerned.flatMap((unit) => holdingOf(this.#store, site, unit) ?? []);
    const before = holders();
    const keys = [...new Set(before.map(({ scope }) => `${site}/${scope}`))];
    for (const key of keys) this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
    try {
      return await work((equipment, done) => {
        const since = holders().filter(({ scope }) => !before.some((holding) => holding.scope === scope));
        return [...before, ...since].flatMap((holding) => factsFor(this.#store, holding, equipment, done));
      });
    } finally {
      for (const key of keys) this.#close(key);
    }
  }

  #close(key: string): void {
    const left = (this.#open.get(key) ?? 1) - 1;
    if (left > 0) this.#open.set(key, left);
    else this.#open.delete(key);
  }
}

export const asked = onePerStore((store) => new Asked(store));
