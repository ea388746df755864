/** API keys (contract 1, API key; decisions KEY): 256 bits, shown once, kept as SHA-256, found by one hash and one look-up. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ApiKey, type ApiKeySpec, type ApiKeyStatus } from './kind.js';
import { hashOf } from './sessions.js';

const USE_SAVE_INTERVAL_MS = 60_000;
const PREFIX_LENGTH = 12; // decisions Q-KEY-01

export type ApiKeyResource = Resource<ApiKeySpec, ApiKeyStatus>;
type PreviousKey = NonNullable<ApiKeySpec['previous']>;

/** Which member of the status tells when it was used: of the key itself, or of the one that it replaced. */
type UsedMember = keyof ApiKeyStatus;

interface Known {
  readonly name: string;
  readonly used: UsedMember;
}

export class ApiKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #byHash = new Map<string, Known>();
  readonly #usedAtMs = new Map<string, number>();
  /** Since the last use that was saved. */
  readonly #saved = new Map<string, Stopwatch>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#load();
    store.watchReload(() => this.#load());
    store.watch(ApiKey, ({ type, resource, before }) => {
      for (const hash of before ? hashesOf(before as ApiKeyResource) : []) this.#byHash.delete(hash);
      if (type === 'put') this.#add(resource as ApiKeyResource);
      for (const hash of before ? hashesOf(before as ApiKeyResource) : []) if (!this.#byHash.has(hash)) this.#forget(hash);
    });
  }

  static make(): { readonly key: string; readonly hash: string; readonly keyPrefix: string } {
    const key = `lsk_${randomBytes(32).toString('base64url')}`;
    return { key, hash: hashOf(key), keyPrefix: key.slice(0, PREFIX_LENGTH) };
  }

  /** @throws Refusal 401 for an unknown, revoked, replaced or expired key. */
  require(key: string): ApiKeyResource {
    const hash = hashOf(key);
    const known = this.#byHash.get(hash);
    const found = known && this.#store.get(ApiKey, '', known.name);
    if (!known || !found) throw new Refusal('unauthenticated', 'the API key is not valid', { code: 'invalid_token' });
    const { previous, expiresAtMs } = found.spec;
    if (previous?.hash === hash && !this.isAccepted(previous)) throw new Refusal('unauthenticated', 'the API key was replaced by a new one', { code: 'token_expired' });
    const nowMs = this.#clock.wallMs();
    if (this.leftMs({ expiresAtMs }) <= 0) throw new Refusal('unauthenticated', 'the API key has expired', { code: 'token_expired' });
    this.#use(found, hash, known.used, nowMs);
    return found;
  }

  /** Until the instant that somebody has named for its end; of one without an end it is infinite. */
  leftMs({ expiresAtMs }: Pick<ApiKeySpec, 'expiresAtMs'>): number {
    return expiresAtMs === null ? Infinity : expiresAtMs - this.#clock.wallMs();
  }

  /** Whether a key that was replaced still opens what the new one opens. */
  isAccepted(previous: PreviousKey): boolean {
    return this.#store.terms.remainingMs(previous) > 0;
  }

  /** Of the key, and of the one that it replaced. */
  lastUsedAtMs({ spec, status }: ApiKeyResource): Required<ApiKeyStatus> {
    return {
      lastUsedAtMs: this.#usedAtMs.get(spec.hash) ?? status.lastUsedAtMs,
      previousUsedAtMs: this.#usedAtMs.get(spec.previous?.hash ?? '') ?? status.previousUsedAtMs ?? null,
    };
  }

  #use({ metadata: { name } }: ApiKeyResource, hash: string, used: UsedMember, nowMs: number): void {
    this.#usedAtMs.set(hash, nowMs);
    const saved = this.#saved.get(hash);
    if ((saved && saved.elapsedMs < USE_SAVE_INTERVAL_MS) || !this.#store.accepting) return;
    this.#saved.set(hash, new Stopwatch(this.#clock));
    const { status } = this.#store.get(ApiKey, '', name) as ApiKeyResource;
    this.#store.apply({ puts: [{ kind: ApiKey, site: '', name, status: { ...status, [used]: nowMs } }] });
  }

  #load(): void {
    this.#byHash.clear();
    for (const key of this.#store.list(ApiKey, '')) this.#add(key);
  }

  #add({ metadata: { name }, spec }: ApiKeyResource): void {
    if (spec.previous) this.#byHash.set(spec.previous.hash, { name, used: 'previousUsedAtMs' });
    this.#byHash.set(spec.hash, { name, used: 'lastUsedAtMs' });
  }

  #forget(hash: string): void {
    this.#usedAtMs.delete(hash);
    this.#saved.delete(hash);
  }
}

function hashesOf({ spec }: ApiKeyResource): string[] {
  return spec.previous ? [spec.hash, spec.previous.hash] : [spec.hash];
}
