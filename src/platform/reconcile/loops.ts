/** All reconcile loops of the appliance, in the order in which their domains were joined: one to start, to stop and to ask why something cannot be looked at. */
import { guarded } from '../base/guarded.js';
import type { Store } from '../store/store.js';
import type { ReconcileLoop, TroubleListener } from './loop.js';

export class Loops {
  readonly #store: Store;
  readonly #loops: ReconcileLoop[] = [];
  readonly #listeners: TroubleListener[] = [];

  constructor(store: Store) {
    this.#store = store;
    store.watchReload(() => this.wakeAll());
  }

  /** Connects what wakes it, from here on; `start` looks at everything once. */
  add(loop: ReconcileLoop): void {
    this.#loops.push(loop);
    loop.connect(this.#store);
    loop.watchTrouble((site, source) => {
      for (const listener of this.#listeners) guarded('listener of what cannot be looked at', () => listener(site, source));
    });
  }

  /** One that cannot start is told of: the appliance starts with the others. */
  start(): void {
    for (const loop of this.#loops) guarded('start of a reconcile loop', () => loop.start());
  }

  /** Settles when every look that was in flight has ended, or is parked: what they write must find the ledger open. */
  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  wakeAll(): void {
    for (const loop of this.#loops) loop.wakeAll();
  }

  /** Called when a source can no longer be looked at by one of them, and when it can again. */
  watchTrouble(listener: TroubleListener): void {
    this.#listeners.push(listener);
  }

  /** Why a source of a site cannot be looked at; null while it can. */
  faultOf(site: string, source: string): string | null {
    for (const loop of this.#loops) {
      const fault = loop.faultOf(site, source);
      if (fault !== null) return fault;
    }
    return null;
  }
}
