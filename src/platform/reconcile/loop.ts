/**
 * The reconcile loop: keys wait in order, each is looked at once however often it was woken, and a key that fails is
 * looked at again with growing delay. Many of them are looked at in slices: nobody else waits for the last one. A
 * reconciler is given a name and nothing else, so a restart, a lost event and an ordinary change all run the same lines.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { Slice } from '../base/slices.js';

export interface Key {
  readonly site: string;
  readonly name: string;
}

export type Outcome = 'settled' | { readonly lookAgainMs: number };

export interface Reconciler {
  /** For logs and health, for example `batch`. */
  readonly name: string;
  /** Every key there is; looked at when the loop starts and after the store has reloaded. */
  keys(): Iterable<Key>;
  reconcile(key: Key): Outcome | Promise<Outcome>;
}

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 30_000;
const RESYNC_MS = 60_000;

export class ReconcileLoop {
  readonly #reconciler: Reconciler;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new Map<string, Key>();
  readonly #timers = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  #busy = false;
  #scheduled = false;
  #stopped = false;
  #cancelResync: () => void = () => undefined;

  constructor(reconciler: Reconciler, clock: Clock, log: Log) {
    this.#reconciler = reconciler;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.wakeAll();
    this.#resyncLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelResync();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
  }

  wake(site: string, name: string): void {
    if (this.#stopped) return;
    this.#waiting.set(`${site}/${name}`, { site, name });
    this.#schedule();
  }

  wakeAll(): void {
    for (const key of this.#reconciler.keys()) this.wake(key.site, key.name);
  }

  /** Nothing waits and nothing runs; timers do not count. */
  get idle(): boolean {
    return !this.#busy && this.#waiting.size === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    let slice = new Slice(this.#clock);
    while (this.#waiting.size > 0 && !this.#stopped) {
      const [id, key] = this.#waiting.entries().next().value as [string, Key];
      this.#waiting.delete(id);
      await this.#look(id, key);
      if (!slice.isOver) continue;
      await nextTurn();
      slice = new Slice(this.#clock);
    }
    this.#busy = false;
  }

  async #look(id: string, key: Key): Promise<void> {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    try {
      const outcome = this.#reconciler.reconcile(key);
      const settled = outcome instanceof Promise ? await outcome : outcome;
      this.#failures.delete(id);
      if (settled !== 'settled') this.#later(id, key, settled.lookAgainMs);
    } catch (fault) {
      const failures = (this.#failures.get(id) ?? 0) + 1;
      this.#failures.set(id, failures);
      this.#log.error({ reconciler: this.#reconciler.name, ...key, failures, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) }, 'reconcile failed');
      this.#later(id, key, Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_MAX_MS));
    }
  }

  #later(id: string, key: Key, delayMs: number): void {
    if (this.#stopped) return;
    this.#timers.set(
      id,
      this.#clock.after(delayMs, () => {
        this.#timers.delete(id);
        this.wake(key.site, key.name);
      }),
    );
  }

  #resyncLater(): void {
    this.#cancelResync = this.#clock.after(RESYNC_MS, () => {
      if (this.#stopped) return;
      this.wakeAll();
      this.#resyncLater();
    });
  }
}
