/** API keys (contract 1, API key; decisions KEY): 256 bits, shown once, kept as SHA-256, found by one hash and one look-up. */
import type { WallMs } from '../../platform/base/times.js';
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

export class ApiKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #byHash = new Map<string, string>();
  readonly #usedAtMs = new Map<string, number>();
  /** Since the last use that was saved. */
  readonly #saved = new Map<string, Stopwatch>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#load();
    store.watchReload(() => this.#load());
    store.watch(ApiKey, ({ type, resource, before }) => {
      if (before) this.#byHash.delete((before as ApiKeyResource).spec.hash);
      if (type === 'put') this.#byHash.set((resource as ApiKeyResource).spec.hash, resource.metadata.name);
      else {
        this.#usedAtMs.delete(resource.metadata.name);
        this.#saved.delete(resource.metadata.name);
      }
    });
  }

  static make(): { readonly key: string; readonly hash: string; readonly keyPrefix: string } {
    const key = `lsk_${randomBytes(32).toString('base64url')}`;
    return { key, hash: hashOf(key), keyPrefix: key.slice(0, PREFIX_LENGTH) };
  }

  /** @throws Refusal 401 for an unknown, revoked or expired key. */
  require(key: string): ApiKeyResource {
    const name = this.#byHash.get(hashOf(key));
    const found = name === undefined ? undefined : this.#store.get(ApiKey, '', name);
    if (!found) throw new Refusal('unauthenticated', 'the API key is not valid', { code: 'invalid_token' });
    const nowMs = this.#clock.wallMs();
    if (found.spec.expiresAtMs !== null && nowMs >= found.spec.expiresAtMs) throw new Refusal('unauthenticated', 'the API key has expired', { code: 'token_expired' });
    this.#use(found, nowMs);
    return found;
  }

  lastUsedAtMs({ metadata, status }: ApiKeyResource): number | null {
    return this.#usedAtMs.get(metadata.name) ?? status.lastUsedAtMs;
  }

  #use({ metadata }: ApiKeyResource, nowMs: WallMs): void {
    this.#usedAtMs.set(metadata.name, nowMs);
    const saved = this.#saved.get(metadata.name);
    if ((saved && saved.elapsedMs < USE_SAVE_INTERVAL_MS) || !this.#store.accepting) return;
    this.#saved.set(metadata.name, new Stopwatch(this.#clock));
    this.#store.apply({ puts: [{ kind: ApiKey, site: '', name: metadata.name, status: { lastUsedAtMs: nowMs } }] });
  }

  #load(): void {
    this.#byHash.clear();
    for (const { metadata, spec } of this.#store.list(ApiKey, '')) this.#byHash.set(spec.hash, metadata.name);
  }
}
