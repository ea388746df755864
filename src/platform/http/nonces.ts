/**
 * Anti-replay memory (contract 1, Anti-replay header; decisions NONCE). Two generations swapped once per window keep
 * forgetting cheap; the stored time is compared, so the window is exact. Nothing inside the window is forgotten early,
 * except anonymous nonces, whose own store drops its oldest.
 */
import type { MonoMs, WallMs } from '../base/times.js';
import { hash, randomBytes } from 'node:crypto';
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

  /** @param hash of the nonce, as `Nonces.hash` gives it. */
  admit(hash: string, anonymous: boolean): Admission {
    const nowMs = this.#clock.monoMs();
    const digest = digestOf(hash);
    if (this.#known.has(digest, nowMs) || this.#anonymous.has(digest, nowMs) || this.#seenEarlier(hash, nowMs)) return 'duplicate';
    if (anonymous) {
      this.#anonymous.add(digest, nowMs);
      if (this.#anonymous.size > ANONYMOUS_ENTRIES_MAX) this.#anonymous.dropOldest(nowMs);
      return 'admitted';
    }
    if (this.#full(nowMs)) return 'full';
    this.#known.add(digest, nowMs);
    return 'admitted';
  }

  /** SHA-256 (hex), the form in which a nonce is kept and persisted. */
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

  #seenEarlier(hash: string, nowMs: MonoMs): boolean {
    if (this.#earlier.size === 0) return false;
    if (nowMs >= this.#earlierUntilMonoMs) {
      this.#earlier.clear();
      return false;
    }
    const atMs = this.#earlier.get(hash);
    return atMs !== undefined && nowMs - atMs < this.windowMs;
  }
}

class Generations {
  readonly #windowMs: number;
  #young = new Generation();
  #old = new Generation();
  #youngSinceMs: number;

  constructor(windowMs: number, nowMs: MonoMs) {
    this.#windowMs = windowMs;
    this.#youngSinceMs = nowMs;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  has(digest: Digest, nowMs: MonoMs): boolean {
    const atMs = this.#young.find(digest) ?? this.#old.find(digest);
    return atMs !== undefined && nowMs - atMs < this.#windowMs;
  }

  /** What has not been found. */
  add(digest: Digest, nowMs: MonoMs): void {
    if (nowMs - this.#youngSinceMs >= this.#windowMs) this.#turn(nowMs);
    this.#young.add(digest, nowMs);
  }

  sweep(nowMs: MonoMs): void {
    if (nowMs - this.#youngSinceMs >= this.#windowMs) this.#turn(nowMs);
    while (this.#old.size > 0 && nowMs - this.#old.oldestMs >= this.#windowMs) this.#old.forgetOldest();
  }

  dropOldest(nowMs: MonoMs): void {
    if (this.#old.size === 0) this.#turn(nowMs); // everything is young
    this.#old.forgetOldest();
  }

  #turn(nowMs: MonoMs): void {
    this.#old = this.#young;
    this.#young = new Generation();
    this.#youngSinceMs = nowMs;
  }
}

/** The first 128 bits of the hash of a nonce: that two nonces share them happens less often than that memory fails. */
type Digest = Int32Array;

const WORDS = 4;
const HEX_OF_WORD = 8;
const looked: Digest = new Int32Array(WORDS);

/** Holds until the next call. */
function digestOf(hash: string): Digest {
  for (let word = 0; word < WORDS; word += 1) {
    let bits = 0;
    for (let at = word * HEX_OF_WORD; at < (word + 1) * HEX_OF_WORD; at += 1) {
      const character = hash.charCodeAt(at);
      bits = (bits << 4) | (character < 0x3a ? character - 0x30 : character - 0x57); // 0 to 9, a to f
    }
    looked[word] = bits;
  }
  return looked;
}

const FIRST_ENTRIES = 1024;
const SLOTS_PER_ENTRY = 2;
/** Whoever chooses nonces cannot know which of them share a place. */
const [SALT_A, SALT_B] = [(randomBytes(4).readInt32LE() << 1) | 1, (randomBytes(4).readInt32LE() << 1) | 1];

/**
 * Digests in the order in which they came, with their times, in memory of their own: 32 to 64 bytes each, which no
 * collection copies, and for a new one a single place to look at. Texts in a map took 100, and were copied twice as they grew old.
 */
class Generation {
  #digests = new Int32Array(FIRST_ENTRIES * WORDS);
  #atMs = new Float64Array(FIRST_ENTRIES);
  /** Entry + 1 by place; 0 where there is none. */
  #slots = new Int32Array(FIRST_ENTRIES * SLOTS_PER_ENTRY);
  #count = 0;
  /** What came before it is forgotten. */
  #first = 0;

  get size(): number {
    return this.#count - this.#first;
  }

  /** Of the one that is not forgotten and came first. */
  get oldestMs(): number {
    return this.#atMs[this.#first] as number;
  }

  forgetOldest(): void {
    this.#first += 1;
  }

  /** When it came. */
  find(digest: Digest): number | undefined {
    if (this.size === 0) return undefined;
    const slots = this.#slots;
    const digests = this.#digests;
    const mask = slots.length - 1;
    for (let slot = placeOf(digest, 0) & mask; ; slot = (slot + 1) & mask) {
      const entry = (slots[slot] as number) - 1;
      if (entry < 0) return undefined;
      const at = entry * WORDS;
      if (digests[at] !== digest[0] || digests[at + 1] !== digest[1] || digests[at + 2] !== digest[2] || digests[at + 3] !== digest[3]) continue;
      return entry < this.#first ? undefined : this.#atMs[entry];
    }
  }

  add(digest: Digest, atMs: number): void {
    if (this.#count === this.#atMs.length) this.#grow();
    const entry = this.#count;
    this.#digests.set(digest, entry * WORDS);
    this.#atMs[entry] = atMs;
    this.#place(entry);
    this.#count += 1;
  }

  #place(entry: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = placeOf(this.#digests, entry * WORDS) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = entry + 1;
  }

  #grow(): void {
    const [digests, atMs] = [this.#digests, this.#atMs];
    const entries = atMs.length * 2;
    this.#digests = new Int32Array(entries * WORDS);
    this.#digests.set(digests);
    this.#atMs = new Float64Array(entries);
    this.#atMs.set(atMs);
    this.#slots = new Int32Array(entries * SLOTS_PER_ENTRY);
    for (let entry = this.#first; entry < this.#count; entry += 1) this.#place(entry);
  }
}

function placeOf(digests: Int32Array, at: number): number {
  const mixed = Math.imul(digests[at] as number, SALT_A) ^ Math.imul(digests[at + 1] as number, SALT_B);
  return mixed ^ (mixed >>> 15);
}
