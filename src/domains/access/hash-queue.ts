/**
 * Who is hashed next (D-C-21). Every address has waiting places of its own and takes turns with the others, so that a flood
 * keeps nobody else waiting. Addresses that somebody has signed in from come first, those that failed of late come last:
 * a flood from many addresses has only new or failed ones.
 */
import { Refusal } from '../../platform/base/refusal.js';

const AT_A_TIME = 2; // D-AUTH-03: a hash takes 32 MiB and one core for a tenth of a second
const WAITING_OF_SOURCE_MAX = 16;
const WAITING_OF_RANK_MAX = 256;

/** 0 somebody has signed in from there, 1 unknown, 2 failed of late. */
export type SourceRank = 0 | 1 | 2;

export interface HashPlace {
  /** As `sourceKey` makes it; '' for the appliance itself. */
  readonly source: string;
  readonly rank: SourceRank;
}

interface Waiter {
  readonly go: () => void;
  readonly refuse: (refusal: Refusal) => void;
}

/** The waiting of one rank; the source at the front of the map is next, and goes to its end when it has had its turn. */
class Rank {
  readonly #bySource = new Map<string, Waiter[]>();
  #size = 0;

  push(source: string, waiter: Waiter): void {
    const own = this.#bySource.get(source) ?? [];
    if (own.length >= WAITING_OF_SOURCE_MAX) return waiter.refuse(busy());
    if (this.#size >= WAITING_OF_RANK_MAX && !this.#makeRoom(own.length)) return waiter.refuse(busy());
    own.push(waiter);
    this.#bySource.set(source, own);
    this.#size += 1;
  }

  shift(): Waiter | undefined {
    for (const [source, own] of this.#bySource) {
      const next = own.shift();
      this.#bySource.delete(source);
      if (own.length > 0) this.#bySource.set(source, own);
      this.#size -= 1;
      return next;
    }
    return undefined;
  }

  /** The last of the source that holds most places makes room for one that holds fewer. */
  #makeRoom(held: number): boolean {
    let most: Waiter[] = [];
    for (const own of this.#bySource.values()) if (own.length > most.length) most = own;
    if (most.length <= held + 1) return false;
    most.pop()?.refuse(busy());
    this.#size -= 1;
    return true;
  }
}

export class HashQueue {
  readonly #ranks: readonly [Rank, Rank, Rank] = [new Rank(), new Rank(), new Rank()];
  #running = 0;

  /** @throws Refusal 429 when the places of this source, or all places, are taken. */
  async run<Result>({ source, rank }: HashPlace, hash: () => Promise<Result>): Promise<Result> {
    if (this.#running >= AT_A_TIME) await new Promise<void>((go, refuse) => this.#ranks[rank].push(source, { go, refuse }));
    else this.#running += 1;
    try {
      return await hash();
    } finally {
      this.#next();
    }
  }

  /** A place is handed over without being free in between. */
  #next(): void {
    for (const rank of this.#ranks) {
      const next = rank.shift();
      if (next) return next.go();
    }
    this.#running -= 1;
  }
}

function busy(): Refusal {
  return new Refusal('limited', 'too many logins at once; try again', { code: 'rate_limited', retryAfterSeconds: 2 });
}
