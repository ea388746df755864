/** Token bucket per source (decisions Q-ERR-05): IPv4 by address, IPv6 by /64. */
import type { MonoMs } from '../base/times.js';
import type { Clock } from '../base/clock.js';
import { sourceKey } from '../base/ip-address.js';

export interface RateLimit {
  readonly enabled: boolean;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: MonoMs;
}

const SOURCES_MAX = 50_000; // a bucket that has filled up again is not worth keeping

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** 0 when the request may pass, else the seconds after which one may. */
  take(sourceIP: string): number {
    if (!this.#limit.enabled) return 0;
    const { requestsPerSecond, burst } = this.#limit;
    const nowMs = this.#clock.monoMs();
    const key = sourceKey(sourceIP);
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (this.#buckets.size >= SOURCES_MAX) this.#forgetFull(nowMs);
      this.#buckets.set(key, (bucket = { tokens: burst, atMs: nowMs }));
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * requestsPerSecond) / 1000);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / requestsPerSecond;
    bucket.tokens -= 1;
    return 0;
  }

  #forgetFull(nowMs: MonoMs): void {
    const { requestsPerSecond, burst } = this.#limit;
    for (const [key, bucket] of this.#buckets) {
      if (bucket.tokens + ((nowMs - bucket.atMs) * requestsPerSecond) / 1000 >= burst) this.#buckets.delete(key);
    }
    if (this.#buckets.size >= SOURCES_MAX) this.#buckets.clear();
  }
}
