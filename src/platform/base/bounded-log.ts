/**
 * The last entries of something that never ends: a ring with numbered entries, read page by page like every growing log
 * (decisions Q-ERR-15). What fell out of it is gone; a cursor that points there goes on with the oldest that is left.
 */
import type { WallMs } from './times.js';
import { decodeCursor, encodeCursor } from './cursor.js';

export interface BoundedLogQuery {
  /** Inclusive. */
  readonly fromMs?: WallMs;
  /** Exclusive. */
  readonly toMs?: WallMs;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly cursor?: string;
}

export class BoundedLog<Entry extends { readonly atMs: WallMs }> {
  readonly #name: string;
  readonly #max: number;
  #entries: Entry[] = [];
  /** Number of the first entry that is still there. */
  #first = 0;

  /** `name` marks the cursors of this list. */
  constructor(name: string, max: number) {
    this.#name = name;
    this.#max = max;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    // cut in pieces: moving the whole array for each entry would cost more than the entry
    if (this.#entries.length < 2 * this.#max) return;
    this.#first += this.#entries.length - this.#max;
    this.#entries = this.#entries.slice(-this.#max);
  }

  /** Oldest first. */
  entries(): readonly Entry[] {
    return this.#entries.slice(-this.#max);
  }

  page<Item>(query: BoundedLogQuery, show: (entry: Entry) => Item, fits: (entry: Entry) => boolean = () => true): { readonly items: Item[]; readonly nextCursor: string | null } {
    const step = query.order === 'asc' ? 1 : -1;
    const last = this.#first + this.#entries.length - 1;
    const oldest = Math.max(this.#first, last + 1 - this.#max);
    const after = query.cursor === undefined ? (step > 0 ? oldest - 1 : last + 1) : decodeCursor(this.#name, query.cursor, 1)[0];
    const items: Item[] = [];
    for (let number = step > 0 ? Math.max(after + 1, oldest) : Math.min(after - 1, last); number >= oldest && number <= last; number += step) {
      const entry = this.#entries[number - this.#first] as Entry; // the bounds of the loop are those of what is kept
      if ((query.fromMs !== undefined && entry.atMs < query.fromMs) || (query.toMs !== undefined && entry.atMs >= query.toMs) || !fits(entry)) continue;
      if (items.length === query.limit) return { items, nextCursor: encodeCursor(this.#name, number - step) };
      items.push(show(entry));
    }
    return { items, nextCursor: null };
  }
}
