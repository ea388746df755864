/**
 * The reconcile loop: keys wait in order, each is looked at once however often it was woken, and a key that fails is
 * looked at again with growing delay. A look that does not end in time is reported and its key parked, and the others go on. Many of them are looked at in slices, which all loops share: nobody else waits for the last one. A
 * reconciler is given a name and nothing else, so a restart, a lost event and an ordinary change all run the same lines.
 */
import type { Clock } from '../base/clock.js';
import { contain, guarded, guardedPromise } from '../base/guarded.js';
import type { Log } from '../base/log.js';
import { SharedTurns } from '../base/slices.js';
import type { Store } from '../store/store.js';
import type { Wake } from './wakes.js';
import type { Key, Wakeable } from './key.js';

/** Told of a source (`<kind>/<name>`) that can no longer be looked at, and when it can again; site '' when it is so in every site. */
export type TroubleListener = (site: string, source: string) => void;

export type Outcome = 'settled' | { readonly lookAgainMs: number };

export interface Reconciler {
  /** For logs and health, for example `batch`. */
  readonly name: string;
  /** Every key there is; looked at when the loop starts and after the store has reloaded. */
  keys(): Iterable<Key>;
  reconcile(key: Key): Outcome | Promise<Outcome>;
  /** `<kind>/<name>` of what a key stands for, for whoever is told that it cannot be looked at. */
  sourceOf?(key: Key): string;
}

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 30_000;
const RESYNC_MS = 60_000;
/** A look reads memory and waits for one commit at most; a disk that takes longer than this is refused by the ledger. */
const LOOK_MAX_MS = 30_000;
/** One failure may be a disk; what fails so often in a row is told. */
const FAILURES_TOLD = 3;

export class ReconcileLoop implements Wakeable {
  readonly #reconciler: Reconciler;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new Map<string, Key>();
  readonly #timers = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  /** Keys whose look has not ended in time; each is looked at again when it has. */
  readonly #parked = new Set<string>();
  /** Site and source -> why it cannot be looked at. */
  readonly #troubles = new Map<string, string>();
  readonly #listeners: TroubleListener[] = [];
  readonly #wokenBy: readonly Wake[];
  #inFlight: Promise<void> | undefined;
  #busy = false;
  #scheduled = false;
  #started = false;
  #stopped = false;
  #cancelResync: () => void = () => undefined;

  constructor(reconciler: Reconciler, clock: Clock, log: Log, wokenBy: readonly Wake[] = []) {
    this.#wokenBy = wokenBy;
    this.#reconciler = reconciler;
    this.#clock = clock;
    this.#log = log;
  }

  /** Once, before it starts: from here on what wakes it does. */
  connect(store: Store): void {
    for (const wake of this.#wokenBy) wake(this, store);
  }

  watchTrouble(listener: TroubleListener): void {
    this.#listeners.push(listener);
  }

  /** Looks at everything, and at what was woken before: what its looks need may not have been there. */
  start(): void {
    this.#started = true;
    this.#schedule();
    this.wakeAll();
    this.#resyncLater();
  }

  /** Settles when the look that was in flight has ended, or is parked: what it writes must find the ledger open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelResync();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
    await this.#inFlight;
  }

  /** Why a source of a site cannot be looked at; null while it can. */
  faultOf(site: string, source: string): string | null {
    return this.#troubles.get(`${site}|${source}`) ?? this.#troubles.get(`|${source}`) ?? null;
  }

  wake(site: string, name: string): void {
    if (this.#stopped) return;
    this.#waiting.set(`${site}/${name}`, { site, name });
    this.#schedule();
  }

  /**
   * Never throws: what keys there are is asked of the domain, and whoever wakes all wakes other loops too. A loop that cannot list
   * them looks at nothing by itself, and it is asked once a minute only: it is told at the first time.
   */
  wakeAll(): void {
    const { name } = this.#reconciler;
    let why: string | null = null;
    try {
      for (const key of this.#reconciler.keys()) this.wake(key.site, key.name);
    } catch (fault) {
      contain(`keys of ${name}`, fault);
      why = `what there is to look at cannot be listed: ${messageOf(fault)}`;
    }
    this.#trouble('', `System/${name}-keys`, why);
  }

  /** Nothing waits and nothing runs; timers do not count. */
  get idle(): boolean {
    return !this.#busy && this.#waiting.size === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy || !this.#started) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#busy) guardedPromise(`loop of ${this.#reconciler.name}`, () => (this.#inFlight = this.#drain()));
    });
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    const turns = SharedTurns.of(this.#clock);
    let slice = await turns.enter();
    // one iterator, which comes to what is added meanwhile: a new one for each key would walk over the places of all before it
    for (const [id, key] of this.#waiting) {
      if (this.#stopped) break;
      this.#waiting.delete(id);
      if (!this.#parked.has(id)) await this.#look(id, key);
      if (!slice.isOver) continue;
      slice = await turns.enter();
    }
    this.#busy = false;
  }

  /** @throws LateLook when it has not ended in LOOK_MAX_MS; its key is parked until it does. */
  async #inTime(id: string, key: Key, look: Promise<Outcome>): Promise<Outcome> {
    let cancel = (): void => undefined;
    const late = new Promise<'late'>((resolve) => {
      cancel = this.#clock.after(LOOK_MAX_MS, () => resolve('late'));
    });
    const first = await Promise.race([look, late]);
    cancel();
    if (first !== 'late') return first;
    this.#parked.add(id);
    const again = (): void => {
      this.#parked.delete(id);
      this.wake(key.site, key.name);
    };
    look.then(again, again);
    throw new Error(`a look has not ended in ${LOOK_MAX_MS / 1000} s`);
  }

  async #look(id: string, key: Key): Promise<void> {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    try {
      const outcome = this.#reconciler.reconcile(key);
      const settled = outcome instanceof Promise ? await this.#inTime(id, key, outcome) : outcome;
      if (this.#failures.delete(id)) guarded('told of a look that succeeds again', () => this.#trouble(key.site, this.#sourceOf(key), null));
      if (settled !== 'settled') this.#later(id, key, settled.lookAgainMs);
    } catch (fault) {
      const failures = (this.#failures.get(id) ?? 0) + 1;
      this.#failures.set(id, failures);
      this.#log.error({ reconciler: this.#reconciler.name, ...key, failures, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) }, 'reconcile failed');
      const isParked = this.#parked.has(id);
      if (failures >= FAILURES_TOLD || isParked) guarded('told of a failing look', () => this.#trouble(key.site, this.#sourceOf(key), messageOf(fault)));
      if (isParked) return;
      this.#later(id, key, Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_MAX_MS));
    }
  }

  #sourceOf(key: Key): string {
    return this.#reconciler.sourceOf?.(key) ?? `System/${this.#reconciler.name}`;
  }

  #trouble(site: string, source: string, why: string | null): void {
    const id = `${site}|${source}`;
    if (why === null ? !this.#troubles.delete(id) : this.#troubles.get(id) === why) return;
    if (why !== null) this.#troubles.set(id, why);
    for (const listener of this.#listeners) guarded('listener of what cannot be looked at', () => listener(site, source));
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

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
