/**
 * Lists that are sorted and of which each item is made when it is asked for: of a hundred thousand a page shows sixty. An array is one.
 */
import { inside } from './assert.js';

export interface Sorted<Item> {
  readonly length: number;
  at(n: number): Item | undefined;
}

/** Of the first from which on all items are so; the length where none is. */
export function firstWhere<Item>(items: Sorted<Item>, isSo: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(itemAt(items, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Those from one to before another. */
export function between<Item>(items: Sorted<Item>, from: number, end: number): Item[] {
  const found: Item[] = [];
  for (let n = from; n < Math.min(end, items.length); n += 1) found.push(itemAt(items, n));
  return found;
}

export function itemAt<Item>(items: Sorted<Item>, n: number): Item {
  if (Array.isArray(items)) return inside(items as readonly Item[], n, 'what is asked of a list lies in it');
  return items.at(n) as Item; // its length says so
}

/** A few among many: `places` says of each of the few how many of the many stand before it. */
export class Interleaved<Item> implements Sorted<Item> {
  readonly #few: readonly Item[];
  readonly #places: readonly number[];
  readonly #many: Sorted<Item>;

  constructor(few: readonly Item[], places: readonly number[], many: Sorted<Item>) {
    this.#few = few;
    this.#places = places;
    this.#many = many;
  }

  get length(): number {
    return this.#few.length + this.#many.length;
  }

  at(n: number): Item | undefined {
    let low = 0;
    let high = this.#few.length; // how many of the few stand up to n
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as number) + middle <= n) low = middle + 1;
      else high = middle;
    }
    const last = low - 1;
    if (last >= 0 && (this.#places[last] as number) + last === n) return this.#few[last];
    return this.#many.at(n - low);
  }
}

/** Each is made of one of another list. */
export function made<From, Item>(items: Sorted<From>, make: (item: From) => Item): Sorted<Item> {
  return { length: items.length, at: (n) => (n >= 0 && n < items.length ? make(itemAt(items, n)) : undefined) };
}
