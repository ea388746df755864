/**
 * The keys of the identity provider (decisions D-AUTH-04): a key that is not known is asked for at most every 30 s, whoever sends tokens that
 * name it; those that are known stay usable for 24 h while nobody answers, also over a restart, and no longer.
 */
import type { Clock } from '../../../platform/base/clock.js';
import { Stopwatch } from '../../../platform/base/elapsed.js';
import { elapsedSince } from '../../../platform/base/moment.js';
import type { Store } from '../../../platform/store/store.js';
import { isSigned, KeySet, publicKeysOf, type UnprovenToken } from '../jws.js';
import { IssuerKeys as StoredKeys } from '../kind.js';
import type { TimeWitness } from '../sessions.js';
import { IssuerFault } from './issuer-fetch.js';

const REFETCH_INTERVAL_MS = 30_000;
const USABLE_MS = 24 * 3_600_000;
/** So old may what is stored be while the keys stay the same. */
const STORED_AGAIN_MS = 3_600_000;
const NAME = 'issuer';

/** D-AUTH-04. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

export interface KeyParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: TimeWitness;
  readonly issuer: string;
  /** The JWK set as it is served. */
  readonly fetch: () => Promise<unknown>;
}

export class IssuerKeys {
  readonly #parts: KeyParts;
  #set: { readonly keys: KeySet; readonly text: string; readonly age: Stopwatch } | undefined;
  #stored: Stopwatch | undefined;
  /** Since a key was asked for that was not known. */
  #refetched: Stopwatch | undefined;
  #fetching: Promise<void> | undefined;
  #generation = 0;

  constructor(parts: KeyParts) {
    this.#parts = parts;
    this.#load();
  }

  /** Another one once keys are gone: what they have vouched for is looked at anew. */
  get generation(): number {
    return this.#generation;
  }

  get isUsable(): boolean {
    return this.#usable !== undefined;
  }

  get #usable(): KeySet | undefined {
    if (this.#set && this.#set.age.elapsedMs > USABLE_MS) {
      this.#set = undefined;
      this.#generation += 1;
    }
    return this.#set?.keys;
  }

  /** One request at a time; whoever comes meanwhile waits for it. Rejects with an IssuerFault. */
  refetch(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  /** Whether a key of the issuer has signed it. */
  async vouchFor(token: UnprovenToken): Promise<boolean> {
    const { alg, kid } = token.header;
    if (!ALGORITHMS.some((known) => known === alg)) return false;
    if (kid !== undefined && !(this.#usable?.kids.has(kid) ?? false)) await this.#refetchForUnknown();
    const keys = this.#usable;
    return keys !== undefined && isSigned(token, ALGORITHMS, keys.keyOf);
  }

  async #refetchForUnknown(): Promise<void> {
    if (this.#fetching) return this.#fetching.catch(() => undefined);
    if (this.#refetched && this.#refetched.elapsedMs < REFETCH_INTERVAL_MS) return;
    this.#refetched = new Stopwatch(this.#parts.clock);
    await this.refetch().catch(() => undefined); // it is told where the issuer is asked
  }

  async #fetch(): Promise<void> {
    const keys = publicKeysOf(await this.#parts.fetch());
    if (!keys || keys.length === 0) throw new IssuerFault('the keys of the identity provider are no set of public keys');
    this.#take(JSON.stringify(keys), 0);
    this.#store();
  }

  #take(text: string, ageMs: number): void {
    const age = new Stopwatch(this.#parts.clock, ageMs);
    const before = this.#set;
    if (before?.text === text) {
      this.#set = { ...before, age };
      return;
    }
    const keys = new KeySet(JSON.parse(text));
    if (before) this.#generation += 1;
    this.#set = { keys, text, age };
    this.#stored = undefined;
  }

  #store(): void {
    const { store, issuer, time } = this.#parts;
    if (!this.#set || !store.accepting || (this.#stored && this.#stored.elapsedMs < STORED_AGAIN_MS)) return;
    this.#stored = new Stopwatch(this.#parts.clock);
    store.apply({ puts: [{ kind: StoredKeys, site: '', name: NAME, spec: { issuer, keys: this.#set.text, at: time.now() } }] });
  }

  #load(): void {
    const { store, issuer, time } = this.#parts;
    const stored = store.get(StoredKeys, '', NAME)?.spec;
    if (stored?.issuer !== issuer) return;
    const ageMs = elapsedSince(stored.at, time.now(), time.synchronised());
    if (ageMs !== undefined && ageMs <= USABLE_MS) this.#take(stored.keys, ageMs);
  }
}
