/**
 * Pages of a list that lies in memory and grows with time (decisions Q-ERR-15): sorted by time, then name, newest first
 * unless asked otherwise. A cursor names an instant and how many entries of that instant were given, so that entries that
 * came or went meanwhile neither repeat nor hide the others. What is sorted already is not sorted for a page.
 */
import type { WallMs } from '../base/times.js';
import { decodeCursor, encodeCursor } from '../base/cursor.js';
import { between, firstWhere, itemAt, type Sorted } from '../base/sorted.js';

export interface TimePaging {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly cursor?: string;
}

export interface Entry<Item> {
  readonly atMs: WallMs;
  readonly name: string;
  readonly item: Item;
}

/** @param newestFirst those of one instant by name. @throws Refusal `invalid_query` for a cursor that this list did not hand out. */
export function timePage<Item>(
  list: string,
  newestFirst: Sorted<Entry<Item>>,
  { order, limit, cursor }: TimePaging,
): { readonly items: readonly Item[]; readonly nextCursor: string | null } {
  const sign = order === 'asc' ? 1 : -1;
  const sorted = order === 'asc' ? new OldestFirst(newestFirst) : newestFirst;
  const firstFrom = (atMs: WallMs): number => firstWhere(sorted, (entry) => sign * (entry.atMs - atMs) >= 0);
  const start = cursor === undefined ? 0 : startOf(sorted, decodeCursor(list, cursor, 2), firstFrom);
  const page = between(sorted, start, start + limit);
  const last = page.at(-1);
  const items = page.map(({ item }) => item);
  if (!last || start + limit >= sorted.length) return { items, nextCursor: null };
  return { items, nextCursor: encodeCursor(list, last.atMs, start + page.length - firstFrom(last.atMs)) };
}

function startOf(sorted: Sorted<Entry<unknown>>, [atMs, given]: readonly [number, number], firstFrom: (atMs: WallMs) => number): number {
  const first = firstFrom(atMs);
  let start = first;
  while (start - first < given && sorted.at(start)?.atMs === atMs) start += 1;
  return start;
}

/** The other way round, except for those of one instant, which stay by name. */
class OldestFirst<Item> implements Sorted<Entry<Item>> {
  readonly #newestFirst: Sorted<Entry<Item>>;
  /** Of the instant that was asked for last: the first, and the first of the next. */
  #from = 0;
  #end = 0;

  constructor(newestFirst: Sorted<Entry<Item>>) {
    this.#newestFirst = newestFirst;
  }

  get length(): number {
    return this.#newestFirst.length;
  }

  at(n: number): Entry<Item> | undefined {
    const many = this.#newestFirst;
    const mirrored = many.length - 1 - n;
    if (mirrored < 0 || n < 0) return undefined;
    if (mirrored < this.#from || mirrored >= this.#end) {
      const { atMs } = itemAt(many, mirrored);
      this.#from = firstWhere(many, (entry) => entry.atMs <= atMs);
      this.#end = firstWhere(many, (entry) => entry.atMs < atMs);
    }
    return itemAt(many, this.#from + (this.#end - 1 - mirrored));
  }
}
