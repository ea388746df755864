/**
 * Objects whose frame was dropped because a change of the same turn could not be stored. How they stand is told anew: at
 * once, because the store has read back from disk what is true before it refuses anybody; and where the disk cannot even be
 * read, as soon as it can. So a client is not left with an old state until the next change.
 *
 * Invariant: one entry per object, however often it changed, and none once it has been told.
 */
import { guarded } from '../base/guarded.js';
import type { Store } from '../store/store.js';

export class Untold {
  readonly #store: Pick<Store, 'isAsOnDisk'>;
  readonly #waiting = new Map<string, () => void>();

  constructor(store: Pick<Store, 'isAsOnDisk' | 'watchReload'>) {
    this.#store = store;
    store.watchReload(() => this.#tellAll());
  }

  /** The first frame of an object that was dropped knows what its clients were told last, so a later one does not replace it. */
  retell(key: string, tell: () => void): void {
    if (this.#store.isAsOnDisk) tell();
    else if (!this.#waiting.has(key)) this.#waiting.set(key, tell);
  }

  #tellAll(): void {
    if (!this.#store.isAsOnDisk) return;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const tell of waiting) guarded('told again after a reload', tell);
  }
}
