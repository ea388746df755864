/**
 * Lock-outs (decisions Q-AUTH-03, D-C-21). An attempt is counted before it is judged: its place among the failures is taken
 * when it begins and given back when it was right. Five failures lock a name for the address they came from, fifty over all
 * addresses lock it for everybody; names lock known or not, so that nobody learns which exist. Failed logins of one address
 * are counted as well (decisions Q-ERR-05).
 *
 * Invariant: for every name and address, failures within the window plus attempts under way never exceed the threshold. An
 * attempt beyond it waits for a verdict: it is refused when that locks, and begins when the one before it was right.
 *
 * What counts is in memory and elapses by the monotonic clock. The store has a copy, from which a start goes on as if the
 * interruption had taken no time (D-C-07).
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import type { Clock } from '../../platform/base/clock.js';
import { Deadline, Stopwatch } from '../../platform/base/elapsed.js';
import { guarded } from '../../platform/base/guarded.js';
import { sourceKey } from '../../platform/base/ip-address.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { HashPlace } from './hash-queue.js';
import { LockOut, type LockOutSpec, LockOutStatus } from './kind.js';

const NAMES_MAX = 10_000; // decisions Q-AUTH-03
const EVERYWHERE_FACTOR = 10; // D-C-21: five of one address, fifty of all
const SOURCE_FAILURES_MAX = 20; // decisions Q-ERR-05
const SOURCE_WINDOW_MS = 5 * 60_000;
const SOURCES_MAX = 10_000;
const WAITING_OF_SOURCE_MAX = 256; // each is an open request and a closure
const WAITING_MAX = 2048;
const SOURCE_IPS_SHOWN = 20;
const SWEEP_INTERVAL_MS = 60_000;

export interface LockOutLimits {
  readonly lockoutThreshold: number;
  readonly lockoutWindowMs: number;
  readonly lockoutDurationMs: number;
}

/** A name that is locked, for an address or for everybody. */
export interface LockedName {
  readonly username: string;
  readonly failuresAtMs: readonly number[];
  readonly lockedUntilMs: WallMs;
  readonly sourceIPs: readonly string[];
  readonly everywhere: boolean;
}

/** An attempt whose place is taken. Exactly one of the three is called, in the end. */
export interface Attempt {
  readonly place: HashPlace;
  /** It was wrong: what is to be stored, and the lock that follows from it. */
  fail(): {
    readonly change: { readonly puts: readonly Put<LockOutSpec, LockOutStatus>[]; readonly removes: readonly Ref[] };
    readonly locks: 'address' | 'everywhere' | undefined;
  };
  /** It was right and clears the failures of its address: what is to be stored. */
  succeed(): { readonly puts: readonly Put<LockOutSpec, LockOutStatus>[]; readonly removes: readonly Ref[] };
  /** It was not judged. No effect after one of the others. */
  cancel(): void;
}

interface Failure {
  readonly atMs: WallMs;
  readonly age: Stopwatch;
}

interface AddressCount {
  readonly sourceIP: string;
  failures: Failure[];
  underWay: number;
  locked: Deadline | undefined;
}

interface NameCount {
  readonly addresses: Map<string, AddressCount>;
  locked: Deadline | undefined;
}

interface SourceCount {
  failures: Stopwatch[];
  underWay: number;
  waiting: number;
}

export class LockOuts {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: LockOutLimits;
  /** In the order of the last failure. */
  readonly #names = new Map<string, NameCount>();
  readonly #sources = new Map<string, SourceCount>();
  /** Addresses that somebody has signed in from, oldest first. */
  readonly #proven = new Set<string>();
  /** Attempts that wait for a verdict, by name. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #stopSweep: () => void;

  constructor(store: Store, clock: Clock, limits: LockOutLimits) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
    for (const { metadata, status } of store.list(LockOut, '')) this.#load(metadata.name, status);
    this.#stopSweep = this.#sweepLater();
  }

  stop(): void {
    this.#stopSweep();
  }

  /** Somebody has signed in from there. */
  prove(sourceIP: string): void {
    const source = sourceKey(sourceIP);
    this.#proven.delete(source);
    if (this.#proven.size >= SOURCES_MAX) this.#proven.delete(this.#proven.values().next().value as string);
    this.#proven.add(source);
  }

  placeOf(sourceIP: string): HashPlace {
    const source = sourceKey(sourceIP);
    if (this.#proven.has(source)) return { source, rank: 0 };
    return { source, rank: this.#recent(this.#sources.get(source)?.failures ?? []).length === 0 ? 1 : 2 };
  }

  /**
   * Takes a place among the failures of the name, or waits until an earlier attempt has its verdict.
   * @throws Refusal 401 `account_locked`, 429 when the address failed too often or waits too often.
   */
  async begin(name: string, sourceIP: string): Promise<Attempt> {
    const address = sourceKey(sourceIP);
    for (;;) {
      this.#refuseSource(address);
      this.refuseLocked(name, sourceIP);
      const attempt = this.#take(name, address, sourceIP);
      if (attempt) return attempt;
      await this.#verdict(name, address);
    }
  }

  /** @throws Refusal 401 `account_locked`. */
  refuseLocked(name: string, sourceIP: string): void {
    const count = this.#names.get(name);
    if (!count) return;
    this.#expire(name, count);
    const lockedForMs = Math.max(count.locked?.remainingMs ?? 0, count.addresses.get(sourceKey(sourceIP))?.locked?.remainingMs ?? 0);
    if (lockedForMs <= 0) return;
    const retryAfterSeconds = Math.ceil(lockedForMs / 1000);
    throw new Refusal('unauthenticated', `too many failed attempts; this name is locked for ${retryAfterSeconds} s`, { code: 'account_locked', retryAfterSeconds });
  }

  /** Forgets every failure of the name, once its removal is on disk. */
  async unlock(name: string, write: (removes: readonly Ref[]) => Promise<unknown>): Promise<void> {
    await write(refsOf(this.#store, name));
    const count = this.#names.get(name);
    if (!count) return;
    count.locked = undefined;
    for (const address of count.addresses.values()) {
      address.failures = [];
      address.locked = undefined;
    }
    this.#expire(name, count);
    this.#wake(name);
  }

  /** By name. */
  locked(): LockedName[] {
    const found: LockedName[] = [];
    for (const [name, count] of [...this.#names]) {
      this.#expire(name, count);
      const everywhere = count.locked !== undefined;
      const concerned = [...count.addresses.values()].filter((address) => everywhere || address.locked !== undefined);
      const remainingMs = Math.max(count.locked?.remainingMs ?? 0, ...concerned.map((address) => address.locked?.remainingMs ?? 0));
      if (remainingMs === 0) continue;
      found.push({
        username: name,
        failuresAtMs: failuresOf(concerned),
        lockedUntilMs: this.#clock.wallMs() + remainingMs,
        sourceIPs: concerned.map(({ sourceIP }) => sourceIP).slice(-SOURCE_IPS_SHOWN),
        everywhere,
      });
    }
    return found.sort((a, b) => (a.username < b.username ? -1 : 1));
  }

  // -------------------------------------------------------------- attempts

  #take(name: string, address: string, sourceIP: string): Attempt | undefined {
    let count = this.#names.get(name);
    const { lockoutThreshold } = this.#limits;
    const own = count?.addresses.get(address) ?? { sourceIP, failures: [], underWay: 0, locked: undefined };
    if (own.failures.length >= lockoutThreshold) this.#lock(count as NameCount, own); // kept by a start with a higher threshold
    if (own.failures.length + own.underWay >= lockoutThreshold) return undefined;
    if (count && spent(count) >= lockoutThreshold * EVERYWHERE_FACTOR) {
      this.#lock(count, own);
      return undefined;
    }
    if (!count) this.#names.set(name, (count = { addresses: new Map(), locked: undefined }));
    count.addresses.set(address, own);
    own.underWay += 1;
    const source = this.#sourceOf(address);
    source.underWay += 1;
    return this.#attempt(name, address, count, own, source);
  }

  #attempt(name: string, address: string, count: NameCount, own: AddressCount, source: SourceCount): Attempt {
    let settled = false;
    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      own.underWay -= 1;
      source.underWay -= 1;
      return true;
    };
    return {
      place: this.placeOf(own.sourceIP),
      fail: () => {
        if (!settle()) return { change: { puts: [], removes: [] }, locks: undefined };
        source.failures = [...this.#recent(source.failures), new Stopwatch(this.#clock)].slice(-SOURCE_FAILURES_MAX);
        own.failures.push({ atMs: this.#clock.wallMs(), age: new Stopwatch(this.#clock) });
        const locks = this.#lock(count, own);
        this.#names.delete(name);
        const dropped = this.#makeRoom();
        this.#names.set(name, count);
        count.addresses.set(address, own);
        this.#wake(name);
        return { change: { puts: [this.#putOf(name, count)], removes: dropped.flatMap((lost) => refsOf(this.#store, lost)) }, locks };
      },
      succeed: () => {
        settle();
        own.failures = []; // an earlier success says nothing of those still under way: they count when they have failed
        this.prove(own.sourceIP);
        this.#expire(name, count);
        this.#wake(name);
        if (refsOf(this.#store, name).length === 0) return { puts: [], removes: [] };
        return this.#names.has(name) && failuresOf(count.addresses.values()).length > 0
          ? { puts: [this.#putOf(name, count)], removes: [] }
          : { puts: [], removes: refsOf(this.#store, name) };
      },
      cancel: () => {
        if (!settle()) return;
        this.#expire(name, count);
        this.#wake(name);
      },
    };
  }

  #lock(count: NameCount, own: AddressCount): 'address' | 'everywhere' | undefined {
    const { lockoutThreshold, lockoutDurationMs } = this.#limits;
    const everywhere = failuresOf(count.addresses.values()).length >= lockoutThreshold * EVERYWHERE_FACTOR;
    if (everywhere) count.locked = new Deadline(this.#clock, lockoutDurationMs);
    if (own.failures.length < lockoutThreshold) return everywhere ? 'everywhere' : undefined;
    own.locked = new Deadline(this.#clock, lockoutDurationMs);
    return everywhere ? 'everywhere' : 'address';
  }

  async #verdict(name: string, address: string): Promise<void> {
    const source = this.#sourceOf(address);
    if (source.waiting >= WAITING_OF_SOURCE_MAX || this.#waitingCount >= WAITING_MAX) throw tooMany('too many logins at once', 2);
    source.waiting += 1;
    this.#waitingCount += 1;
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(name) ?? [];
      waiting.push(resolve);
      this.#waiting.set(name, waiting);
    });
    source.waiting -= 1;
    this.#waitingCount -= 1;
  }

  #wake(name: string): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const resume of waiting) resume();
  }

  // -------------------------------------------------------------- sources

  #refuseSource(address: string): void {
    const source = this.#sources.get(address);
    if (!source) return;
    source.failures = this.#recent(source.failures);
    const [oldest] = source.failures;
    if (oldest && source.failures.length >= SOURCE_FAILURES_MAX) {
      throw tooMany('too many failed logins from this address', Math.max(1, Math.ceil((SOURCE_WINDOW_MS - oldest.elapsedMs) / 1000)));
    }
    if (source.failures.length + source.underWay >= SOURCE_FAILURES_MAX) throw tooMany('too many logins at once', 2);
  }

  #recent(failures: Stopwatch[]): Stopwatch[] {
    const [oldest] = failures;
    return !oldest || oldest.elapsedMs < SOURCE_WINDOW_MS ? failures : failures.filter((failure) => failure.elapsedMs < SOURCE_WINDOW_MS);
  }

  #sourceOf(address: string): SourceCount {
    let source = this.#sources.get(address);
    if (source) return source;
    if (this.#sources.size >= SOURCES_MAX) this.#forgetSources();
    this.#sources.set(address, (source = { failures: [], underWay: 0, waiting: 0 }));
    return source;
  }

  /** Those that count nothing any more, else the oldest that nobody works with. */
  #forgetSources(): void {
    for (const [address, source] of this.#sources) {
      if (source.underWay + source.waiting === 0 && this.#recent(source.failures).length === 0) this.#sources.delete(address);
    }
    for (const [address, source] of this.#sources) {
      if (this.#sources.size < SOURCES_MAX) return;
      if (source.underWay + source.waiting === 0) this.#sources.delete(address);
    }
  }

  // -------------------------------------------------------------- what is over, what is kept

  /** Ends what has run out; a lock that has ended takes the failures with it that made it. */
  #expire(name: string, count: NameCount): void {
    const everywhereOver = count.locked?.hasPassed === true;
    if (everywhereOver) count.locked = undefined;
    for (const [address, own] of count.addresses) {
      if (everywhereOver || own.locked?.hasPassed === true) {
        own.locked = undefined;
        own.failures = [];
      } else if (!own.locked && !count.locked) own.failures = own.failures.filter(({ age }) => age.elapsedMs < this.#limits.lockoutWindowMs);
      if (own.underWay === 0 && own.failures.length === 0 && !own.locked) count.addresses.delete(address);
    }
    if (count.addresses.size === 0 && !count.locked) this.#names.delete(name);
  }

  #sweepLater(): () => void {
    return this.#clock.after(SWEEP_INTERVAL_MS, () => {
      guarded('sweep of the lock-outs', () => this.#sweep());
      this.#stopSweep = this.#sweepLater();
    });
  }

  #sweep(): void {
    for (const [name, count] of [...this.#names]) this.#expire(name, count);
    if (!this.#store.accepting) return;
    const over = this.#store.list(LockOut, '').filter(({ metadata }) => !this.#names.has(metadata.name));
    if (over.length > 0) this.#store.apply({ removes: over.map(({ metadata }) => ({ kind: LockOut.kind, site: '', name: metadata.name })) });
  }

  /** The names whose last failure is longest ago make room, those that are locked last. */
  #makeRoom(): string[] {
    if (this.#names.size < NAMES_MAX) return [];
    const idle = [...this.#names].filter(([, count]) => [...count.addresses.values()].every(({ underWay }) => underWay === 0));
    const isLocked = ([, count]: [string, NameCount]): number => Number(count.locked !== undefined || [...count.addresses.values()].some(({ locked }) => locked !== undefined));
    const dropped = idle
      .sort((a, b) => isLocked(a) - isLocked(b))
      .slice(0, NAMES_MAX / 10)
      .map(([name]) => name);
    for (const name of dropped) this.#names.delete(name);
    return dropped;
  }

  #putOf(name: string, count: NameCount): Put<LockOutSpec, LockOutStatus> {
    const addresses = [...count.addresses].filter(([, own]) => own.failures.length > 0 || own.locked);
    const lockedForMs = count.locked?.remainingMs ?? 0;
    const longestMs = Math.max(lockedForMs, ...addresses.map(([, own]) => own.locked?.remainingMs ?? 0));
    return {
      kind: LockOut,
      site: '',
      name,
      spec: { username: name },
      status: {
        failuresAtMs: failuresOf(count.addresses.values()),
        sourceIPs: addresses.map(([, own]) => own.sourceIP).slice(-SOURCE_IPS_SHOWN),
        lockedUntilMs: longestMs === 0 ? 0 : this.#clock.wallMs() + longestMs,
        lockedForMs,
        addresses: addresses.map(([address, own]) => ({
          address,
          sourceIP: own.sourceIP,
          failures: own.failures.map(({ atMs, age }) => ({ atMs, ageMs: age.elapsedMs })),
          lockedForMs: own.locked?.remainingMs ?? 0,
        })),
      },
    };
  }

  /** What does not read counts nothing: it is removed by the next sweep. */
  #load(name: string, status: unknown): void {
    const read = v.safeParse(LockOutStatus, status);
    if (!read.success) return;
    const { addresses, lockedForMs = 0, lockedUntilMs } = read.output;
    const lockOf = (forMs: number): Deadline | undefined => (forMs > 0 ? new Deadline(this.#clock, Math.min(forMs, this.#limits.lockoutDurationMs)) : undefined);
    if (!addresses) {
      // 0.1.0 kept no more than the instant at which the lock ends
      const locked = lockOf(lockedUntilMs - this.#clock.wallMs());
      if (locked) this.#names.set(name, { addresses: new Map(), locked });
      return;
    }
    const count: NameCount = { addresses: new Map(), locked: lockOf(lockedForMs) };
    for (const kept of addresses) {
      const failures = kept.failures.map(({ atMs, ageMs }) => ({ atMs, age: new Stopwatch(this.#clock, ageMs) }));
      count.addresses.set(kept.address, { sourceIP: kept.sourceIP, failures, underWay: 0, locked: lockOf(kept.lockedForMs) });
    }
    this.#names.set(name, count);
  }
}

/** Failures and attempts under way over all addresses. */
function spent(count: NameCount): number {
  let sum = 0;
  for (const { failures, underWay } of count.addresses.values()) sum += failures.length + underWay;
  return sum;
}

function failuresOf(addresses: Iterable<AddressCount>): number[] {
  return [...addresses].flatMap(({ failures }) => failures.map(({ atMs }) => atMs)).sort((a, b) => a - b);
}

function refsOf(store: Store, name: string): readonly Ref[] {
  return store.get(LockOut, '', name) ? [{ kind: LockOut.kind, site: '', name }] : [];
}

function tooMany(what: string, retryAfterSeconds: number): Refusal {
  return new Refusal('limited', `${what}; try again in ${retryAfterSeconds} s`, { code: 'rate_limited', retryAfterSeconds });
}
