/**
 * Anti-replay memory (contract 1, Anti-replay header; decisions NONCE). Two generations swapped once per window keep
 * forgetting cheap; the stored time is compared, so the window is exact. Nothing inside the window is forgotten early,
 * except anonymous nonces, whose own store drops its oldest.
 */
import type { MonoMs, WallMs } from '../base/times.js';
import { hash } from 'node:crypto';
import type { Clock } from '../base/clock.js';

const ANONYMOUS_ENTRIES_MAX = 50_000; // decisions Q-NONCE-04
const ALARM_SHARE = 0.8; // decisions Q-NONCE-04: alarm `system-nonce-store`

export type Admission = 'admitted' | 'duplicate' | 'full';

export interface PersistedNonce {
  readonly hash: string;
  readonly atMs: WallMs;
}

export interface NonceSettings {
  readonly antiReplayEnabled: boolean;
  readonly antiReplayWindowMs: number;
  readonly antiReplayEntriesMax: number;
}

/** With those of the window, as `store.open` has read them; none where the barrier is off. */
export function openNonces({ antiReplayEnabled, antiReplayWindowMs, antiReplayEntriesMax }: NonceSettings, clock: Clock, earlier: readonly PersistedNonce[]): Nonces | undefined {
  if (!antiReplayEnabled) return undefined;
  const nonces = new Nonces(clock, antiReplayWindowMs, antiReplayEntriesMax);
  nonces.load(earlier);
  return nonces;
}

export class Nonces {
  readonly windowMs: number;
  readonly #entriesMax: number;
  readonly #clock: Clock;
  readonly #known: Generations;
  readonly #anonymous: Generations;
  /** Hashes admitted before the last start; empty again one window later. */
  #earlier = new Map<string, number>();
  #earlierUntilMonoMs = 0;

  constructor(clock: Clock, windowMs: number, entriesMax: number) {
    this.#clock = clock;
    this.windowMs = windowMs;
    this.#entriesMax = entriesMax;
    this.#known = new Generations(windowMs, clock.monoMs());
    this.#anonymous = new Generations(windowMs, clock.monoMs());
  }

  /**
   * D-NONCE-01: a restart forgets nothing. The interruption counts as no time, whatever the clock says of it (D-C-07): what was
   * spent is kept for one full window of this run.
   */
  load(entries: readonly PersistedNonce[]): void {
    const monoMs = this.#clock.monoMs();
    this.#earlier = new Map(entries.map((entry) => [entry.hash, monoMs]));
    this.#earlierUntilMonoMs = monoMs + this.windowMs;
  }

  admit(nonce: string, anonymous: boolean): Admission {
    // whole milliseconds take no memory of their own; rounded so that nothing is forgotten early
    const monoMs = this.#clock.monoMs();
    const nowMs = Math.floor(monoMs);
    const admittedMs = Math.ceil(monoMs);
    if (this.#known.has(nonce, nowMs) || this.#anonymous.has(nonce, nowMs) || this.#seenEarlier(nonce, nowMs)) return 'duplicate';
    if (anonymous) {
      this.#anonymous.add(nonce, admittedMs);
      if (this.#anonymous.size > ANONYMOUS_ENTRIES_MAX) this.#anonymous.dropOldest();
      return 'admitted';
    }
    if (this.#full(nowMs)) return 'full';
    this.#known.add(nonce, admittedMs);
    return 'admitted';
  }

  /** SHA-256 (hex), the form in which a nonce is persisted. */
  static hash(nonce: string): string {
    return hash('sha256', nonce, 'hex');
  }

  get size(): number {
    return this.#known.size;
  }

  /** True at 80 % of `gateway.antiReplay.maxEntries`. */
  get nearlyFull(): boolean {
    return this.#known.size + this.#earlier.size >= this.#entriesMax * ALARM_SHARE;
  }

  #full(nowMs: MonoMs): boolean {
    if (this.#known.size + this.#earlier.size < this.#entriesMax) return false;
    this.#known.sweep(nowMs);
    return this.#known.size + this.#earlier.size >= this.#entriesMax;
  }

  #seenEarlier(nonce: string, nowMs: MonoMs): boolean {
    if (this.#earlier.size === 0) return false;
    if (nowMs >= this.#earlierUntilMonoMs) {
      this.#earlier.clear();
      return false;
    }
    const atMs = this.#earlier.get(Nonces.hash(nonce));
    return atMs !== undefined && nowMs - atMs < this.windowMs;
  }
}

class Generations {
  readonly #windowMs: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  #youngSinceMs: number;
  /** Walks `#old` from its oldest entry; what it has passed is forgotten. */
  #sweeper: Iterator<[string, number]> | undefined;
  #waiting: [string, number] | undefined;

  constructor(windowMs: number, nowMs: MonoMs) {
    this.#windowMs = windowMs;
    this.#youngSinceMs = nowMs;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  has(nonce: string, nowMs: MonoMs): boolean {
    if (this.size === 0) return false;
    const atMs = this.#young.get(nonce) ?? (this.#old.size === 0 ? undefined : this.#old.get(nonce));
    return atMs !== undefined && nowMs - atMs < this.#windowMs;
  }

  add(nonce: string, nowMs: MonoMs): void {
    if (nowMs - this.#youngSinceMs >= this.#windowMs) this.#turn(nowMs);
    this.#young.set(nonce, nowMs);
  }

  sweep(nowMs: MonoMs): void {
    if (nowMs - this.#youngSinceMs >= this.#windowMs) this.#turn(nowMs);
    for (;;) {
      const entry = this.#oldest();
      if (!entry || nowMs - entry[1] < this.#windowMs) return;
      this.#forgetOldest();
    }
  }

  dropOldest(): void {
    if (this.#oldest()) return this.#forgetOldest();
    // everything is young: make it the old generation and drop from there
    this.#turn(this.#youngSinceMs);
    if (this.#oldest()) this.#forgetOldest();
  }

  #turn(nowMs: MonoMs): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSinceMs = nowMs;
    this.#sweeper = undefined;
    this.#waiting = undefined;
  }

  #oldest(): [string, number] | undefined {
    if (this.#waiting) return this.#waiting;
    this.#sweeper ??= this.#old.entries();
    const next = this.#sweeper.next();
    this.#waiting = next.done ? undefined : next.value;
    return this.#waiting;
  }

  #forgetOldest(): void {
    if (this.#waiting) this.#old.delete(this.#waiting[0]);
    this.#waiting = undefined;
  }
}
