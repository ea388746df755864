/**
 * Pages of a list that lies in memory and grows with time (decisions Q-ERR-15): sorted by time, then name, newest first
 * unless asked otherwise. A cursor names an instant and how many entries of that instant were given, so that entries that
 * came or went meanwhile neither repeat nor hide the others.
 */
import type { WallMs } from '../base/times.js';
import { decodeCursor, encodeCursor } from '../base/cursor.js';

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

/** @throws Refusal `invalid_query` for a cursor that this list did not hand out. */
export function timePage<Item>(
  list: string,
  entries: readonly Entry<Item>[],
  { order, limit, cursor }: TimePaging,
): { readonly items: readonly Item[]; readonly nextCursor: string | null } {
  const sign = order === 'asc' ? 1 : -1;
  const sorted = [...entries].sort((a, b) => sign * (a.atMs - b.atMs) || (a.name < b.name ? -1 : 1));
  const start = cursor === undefined ? 0 : startOf(sorted, decodeCursor(list, cursor, 2), sign);
  const page = sorted.slice(start, start + limit);
  const last = page.at(-1);
  if (!last || start + limit >= sorted.length) return { items: page.map(({ item }) => item), nextCursor: null };
  const given = sorted.slice(0, start + limit).filter((entry) => entry.atMs === last.atMs).length;
  return { items: page.map(({ item }) => item), nextCursor: encodeCursor(list, last.atMs, given) };
}

function startOf(sorted: readonly Entry<unknown>[], [atMs, given]: readonly [number, number], sign: number): number {
  const first = sorted.findIndex((entry) => sign * (entry.atMs - atMs) >= 0);
  if (first < 0) return sorted.length;
  let start = first;
  while (start - first < given && sorted[start]?.atMs === atMs) start += 1;
  return start;
}
