/**
 * Packed entries of one kind and site: by name, and in the orders that are kept of its kind (`Kind.pastOrders`). A list is sorted when
 * something becomes past, not when somebody asks for a page of it.
 *
 * Invariant: what was handed out as a list is of one moment: an array that somebody may hold is not written to any more.
 */
import { systemClock } from '../base/clock.js';
import { contain } from '../base/guarded.js';
import { SlicedWalk } from '../base/slices.js';
import type { Sorted } from '../base/sorted.js';
import type { PackedEntries } from './packed-entries.js';
import type { PastShape } from './past-shape.js';
import { SearchTexts } from './search-texts.js';

/** What stays in memory of one past resource. Those of a list read what is asked of them. */
export interface PastEntry<Entry = unknown> {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly run: string;
  readonly entry: Entry;
}

/**
 * Orders of the entries of a kind, each by its name. A number sorts a list, lower first and those of one number by name; a text is what
 * an entry is found by. What says undefined is not in it, so one that says a single number is the list of some of them, by name.
 */
// biome-ignore lint/suspicious/noExplicitAny: each kind knows what it keeps
export type PastOrders = Readonly<Record<string, (entry: any, name: string) => number | string | undefined>>;

/** What a list asks of its entries. */
export interface PastQuestion {
  /** A member is one of these texts. */
  readonly oneOf?: readonly (readonly [member: string, texts: readonly string[]])[];
  /** One of these members, or the `name`, holds a text in small letters. */
  readonly holding?: { readonly members: readonly string[]; readonly text: string };
}

const ROWS_FIRST = 64;

interface Place {
  readonly kind: string;
  readonly site: string;
}

/** Rows in an order, and the number of each where it is not that of names. */
interface Rows {
  readonly rows: Uint32Array;
  readonly values?: Float64Array;
}

/** What is found by some members of the entries there are. */
type Search = (members: readonly string[]) => SearchTexts;

/** Entries of a kind and site in one order, as they were when they were asked for. */
export class PastList<Entry = unknown> implements Sorted<PastEntry<Entry>> {
  readonly #place: Place;
  readonly #entries: PackedEntries;
  readonly #rows: Rows;
  readonly #search: Search;

  constructor(place: Place, entries: PackedEntries, rows: Rows, search: Search) {
    this.#place = place;
    this.#entries = entries;
    this.#rows = rows;
    this.#search = search;
  }

  get length(): number {
    return this.#rows.rows.length;
  }

  at(n: number): PastEntry<Entry> | undefined {
    const row = this.#rows.rows[n];
    return row === undefined ? undefined : (new Listed(this.#place, this.#entries, row) as PastEntry<Entry>);
  }

  /** How many stand before one of this number and name; in the order of names there are no numbers. */
  before(name: string, value = 0): number {
    return placeOf(this.#entries, this.#rows, this.length, name, value);
  }

  /** How many have this number at most. */
  upTo(value: number): number {
    const { values } = this.#rows;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((values?.[middle] ?? 0) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  slice(from: number, end: number): PastList<Entry> {
    const { rows, values } = this.#rows;
    return new PastList(this.#place, this.#entries, { rows: rows.subarray(from, end), ...(values ? { values: values.subarray(from, end) } : {}) }, this.#search);
  }

  /** Those of which it is so, looked at in slices: a hundred thousand take longer than anybody shall wait for the loop. */
  async where({ oneOf = [], holding }: PastQuestion): Promise<PastList<Entry>> {
    if (oneOf.length === 0 && !holding) return this;
    const tests = oneOf.map(([member, texts]) => texts.map((text) => this.#entries.saying(member, text)));
    const holds = holding && holding.text !== '' && (await this.#search(holding.members).find(holding.text));
    const isSo = (row: number): boolean => (!holds || holds(row)) && tests.every((any) => any.some((says) => says(row)));
    const { rows, values } = this.#rows;
    const places: number[] = [];
    const walk = new SlicedWalk(systemClock);
    for (let n = 0; n < rows.length; n += 1) {
      const pause = walk.pause();
      if (pause) await pause;
      if (isSo(rows[n] as number)) places.push(n);
    }
    const found = Uint32Array.from(places, (n) => rows[n] as number);
    return new PastList(this.#place, this.#entries, { rows: found, ...(values ? { values: Float64Array.from(places, (n) => values[n] as number) } : {}) }, this.#search);
  }
}

/** One of a list. */
class Listed implements PastEntry {
  readonly #place: Place;
  readonly #entries: PackedEntries;
  readonly #row: number;

  constructor(place: Place, entries: PackedEntries, row: number) {
    this.#place = place;
    this.#entries = entries;
    this.#row = row;
  }

  get kind(): string {
    return this.#place.kind;
  }

  get site(): string {
    return this.#place.site;
  }

  get name(): string {
    return this.#entries.nameOf(this.#row);
  }

  get run(): string {
    return this.#entries.runOf(this.#row) || `${this.kind}/${this.site}/${this.name}`;
  }

  get entry(): unknown {
    return this.#entries.viewOf(this.#row);
  }
}

/** Of the first that does not come before it; a start adds by name, so that the last is looked at first. */
function placeOf(entries: PackedEntries, { rows, values }: Rows, count: number, name: string, value: number): number {
  const isBefore = (n: number): boolean => {
    const difference = (values?.[n] ?? 0) - (values ? value : 0);
    return difference < 0 || (difference === 0 && entries.compareName(rows[n] as number, name) < 0);
  };
  let low = 0;
  let high = count;
  if (high > 0 && isBefore(high - 1)) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows in an order, which grow; copied before they change where somebody may hold them. */
class GrowingRows {
  readonly #entries: PackedEntries;
  #rows = new Uint32Array(ROWS_FIRST);
  #values: Float64Array | undefined;
  #count = 0;
  #isHeld = false;
  #isSorted = true;
  /** Until they are sorted: they came by name. */
  #isByName = false;

  constructor(entries: PackedEntries, isNumbered: boolean) {
    this.#entries = entries;
    this.#values = isNumbered ? new Float64Array(ROWS_FIRST) : undefined;
  }

  get count(): number {
    return this.#count;
  }

  rowAt(n: number): number {
    return this.#rows[n] as number;
  }

  /** As costly as taking it out is: what stands behind it moves up. */
  indexOf(row: number): number | undefined {
    const at = this.#rows.subarray(0, this.#count).indexOf(row);
    return at === -1 ? undefined : at;
  }

  before(name: string, value = 0): number {
    this.sort();
    return placeOf(this.#entries, this.#all, this.#count, name, value);
  }

  /** As they are now, for as long as it is held. */
  hold(): Rows {
    this.sort();
    this.#isHeld = true;
    return { rows: this.#rows.subarray(0, this.#count), ...(this.#values ? { values: this.#values.subarray(0, this.#count) } : {}) };
  }

  insert(at: number, row: number, value = 0): void {
    const isFull = this.#count === this.#rows.length;
    if (isFull)
      this.#copy(this.#count + Math.max(ROWS_FIRST, this.#count >>> 2)); // of years a quarter more is months
    else this.#own();
    this.#rows.copyWithin(at + 1, at, this.#count);
    this.#values?.copyWithin(at + 1, at, this.#count);
    this.#count += 1;
    this.set(at, row, value);
  }

  /** Of many at once, which are sorted when somebody asks. `isNext`: its name is behind those before it. */
  append(row: number, value: number, isNext: boolean): void {
    this.#isByName = isNext && (this.#count === 0 || (this.#isByName && !this.#isSorted));
    this.insert(this.#count, row, value);
    this.#isSorted = false;
  }

  set(at: number, row: number, value = 0): void {
    this.#own();
    this.#rows[at] = row;
    if (this.#values) this.#values[at] = value;
  }

  remove(at: number): void {
    this.#own();
    this.#rows.copyWithin(at, at + 1, this.#count);
    this.#values?.copyWithin(at, at + 1, this.#count);
    this.#count -= 1;
  }

  sort(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    const [rows, values] = [this.#rows, this.#values as Float64Array];
    const order = new Uint32Array(this.#count);
    for (let n = 0; n < this.#count; n += 1) order[n] = n;
    const byName = this.#isByName
      ? (a: number, b: number): number => a - b
      : (a: number, b: number): number => this.#entries.compareName(rows[a] as number, this.#entries.nameOf(rows[b] as number));
    order.sort((a, b) => (values[a] as number) - (values[b] as number) || byName(a, b));
    this.#rows = new Uint32Array(this.#count);
    this.#values = new Float64Array(this.#count);
    this.#isHeld = false;
    for (const [n, from] of order.entries()) {
      this.#rows[n] = rows[from] as number;
      this.#values[n] = values[from] as number;
    }
  }

  get #all(): Rows {
    return { rows: this.#rows, ...(this.#values ? { values: this.#values } : {}) };
  }

  #own(): void {
    if (this.#isHeld) this.#copy(this.#rows.length);
  }

  #copy(length: number): void {
    const [rows, values] = [this.#rows, this.#values];
    this.#rows = new Uint32Array(length);
    this.#rows.set(rows);
    if (values) {
      this.#values = new Float64Array(length);
      this.#values.set(values);
    }
    this.#isHeld = false;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** One order that is kept. */
class KeptOrder {
  readonly #name: string;
  readonly #entries: PackedEntries;
  readonly #of: PastOrders[string];
  readonly rows: GrowingRows;
  #hasThrown = false;

  constructor(name: string, entries: PackedEntries, of: PastOrders[string]) {
    this.#name = name;
    this.#entries = entries;
    this.#of = of;
    this.rows = new GrowingRows(entries, true);
  }

  add(row: number, name: string, entry: Fields): void {
    const value = this.#valueOf(name, entry);
    if (value !== undefined) this.rows.insert(this.rows.before(name, value), row, value);
  }

  /** As `add`, of many. */
  append(row: number, name: string, entry: Fields, isNext: boolean): void {
    const value = this.#valueOf(name, entry);
    if (value !== undefined) this.rows.append(row, value, isNext);
  }

  /** By its row, not by where its entry says that it stands: whatever an entry says, no other one is taken out in place of it. */
  delete(row: number): void {
    const at = this.rows.indexOf(row);
    if (at !== undefined) this.rows.remove(at);
  }

  /** Those of one text, by name. */
  saying(text: string): Rows {
    const number = this.#entries.numberIfSaid(text);
    const { rows, values } = this.rows.hold();
    if (number === undefined) return { rows: rows.subarray(0, 0) };
    const from = this.rows.before('', number);
    let end = from;
    while (values?.[end] === number) end += 1;
    return { rows: rows.subarray(from, end) };
  }

  #valueOf(name: string, entry: Fields): number | undefined {
    const said = this.#said(name, entry);
    if (typeof said === 'string') return this.#entries.numberOf(said);
    return Number.isFinite(said) ? said : undefined; // one that was damaged may say anything
  }

  /** What the kind throws stays here: its run has left memory already, and is not on its way to the disk yet. Told once, not for each of a start. */
  #said(name: string, entry: Fields): number | string | undefined {
    try {
      return this.#of(entry, name);
    } catch (fault) {
      if (!this.#hasThrown) contain(`order ${this.#name} of what is past`, fault);
      this.#hasThrown = true;
      return undefined;
    }
  }
}

/** What a kind says of its entries. */
export interface PastRules {
  readonly pastOrders?: PastOrders;
  readonly pastShape?: PastShape;
}

const EMPTY = Buffer.from('{}');

/** Entries of one kind and site. */
export class Shelf implements Place {
  readonly kind: string;
  readonly site: string;
  readonly #entries: PackedEntries;
  readonly #byName: GrowingRows;
  readonly #orders: ReadonlyMap<string, KeptOrder>;
  /** How many members of each kind the runs have. */
  readonly #members = new Map<string, number>();
  /** Rows that have left: lists of before have them. */
  readonly #gone: number[] = [];
  /** By the members that are searched. */
  readonly #searches = new Map<string, SearchTexts>();
  #isLoading: boolean;

  readonly #fits: (row: number) => boolean;

  constructor(entries: PackedEntries, { kind, site }: Place, { pastOrders = {}, pastShape }: PastRules, isLoading: boolean) {
    this.#entries = entries;
    this.kind = kind;
    this.site = site;
    this.#byName = new GrowingRows(entries, false);
    this.#fits = pastShape ? entries.judging(pastShape) : () => true;
    this.#orders = new Map(Object.entries(pastOrders).map(([name, of]) => [name, new KeptOrder(name, entries, of)]));
    this.#isLoading = isLoading;
  }

  get count(): number {
    return this.#byName.count;
  }

  has(name: string): boolean {
    return this.#rowOf(name) !== undefined;
  }

  get(name: string): PastEntry | undefined {
    const row = this.#rowOf(name);
    if (row === undefined) return undefined;
    return { kind: this.kind, site: this.site, name, run: this.#entries.runOf(row) || `${this.kind}/${this.site}/${name}`, entry: this.#entries.wholeOf(row) };
  }

  /** @param bytes with its JSON in UTF-8. @throws SyntaxError where it is none, or not that of an entry of the kind; nothing has changed then. */
  put(name: string, run: string, bytes: Buffer, from: number, end: number): void {
    const row = this.#entries.add(name, run, bytes, from, end);
    if (!this.#fits(row)) throw new SyntaxError(`an entry of ${this.kind} ${name} has members that are something else`);
    this.#take(row, name);
  }

  /** An entry that says nothing. */
  putEmpty(name: string, run: string): void {
    this.#take(this.#entries.add(name, run, EMPTY, 0, EMPTY.length), name);
  }

  #take(row: number, name: string): void {
    const entry = this.#entries.viewOf(row) as Fields;
    const at = this.#byName.before(name);
    if (this.#isAt(at, name)) {
      this.#forget(this.#byName.rowAt(at));
      this.#byName.set(at, row);
    } else this.#byName.insert(at, row);
    for (const order of this.#orders.values()) {
      if (this.#isLoading) order.append(row, name, entry, at === this.count - 1);
      else order.add(row, name, entry);
    }
    for (const search of this.#searches.values()) search.add(row);
    this.#count(entry, 1);
  }

  delete(name: string): void {
    const row = this.#rowOf(name);
    if (row === undefined) return;
    this.#forget(row);
    this.#byName.remove(this.#byName.before(name));
  }

  /** What comes from now on comes one by one. Orders that are not sorted yet are when somebody asks. */
  loaded(): void {
    this.#isLoading = false;
  }

  /** One order after the other is sorted. */
  *sorting(): Generator<void> {
    for (const { rows } of this.#orders.values()) yield rows.sort();
  }

  /** How many members of a kind the runs have that are named by these. */
  membersOf(kind: string): number {
    return this.#members.get(kind) ?? 0;
  }

  /** In an order that is kept; of no order all, by name. */
  list(order?: string): PastList {
    const kept = order === undefined ? undefined : this.#orders.get(order);
    return this.#listOf((kept?.rows ?? this.#byName).hold());
  }

  /** Those of which a member, or what they are found by, is a text; by name. */
  saying(member: string, text: string): PastList {
    const kept = this.#orders.get(member);
    if (member === 'name') return this.#listOf({ rows: Uint32Array.from([this.#rowOf(text) ?? []].flat()) });
    if (kept) return this.#listOf(kept.saying(text));
    const says = this.#entries.saying(member, text);
    return this.#listOf({ rows: this.#byName.hold().rows.filter(says) });
  }

  #listOf(rows: Rows): PastList {
    return new PastList(this, this.#entries, rows, (members) => this.#searchOf(members));
  }

  #searchOf(members: readonly string[]): SearchTexts {
    const key = members.join();
    let search = this.#searches.get(key);
    if (!search) this.#searches.set(key, (search = new SearchTexts(this.#entries, members, [...this.#gone, ...this.#byName.hold().rows])));
    return search;
  }

  #rowOf(name: string): number | undefined {
    const at = this.#byName.before(name);
    return this.#isAt(at, name) ? this.#byName.rowAt(at) : undefined;
  }

  #isAt(at: number, name: string): boolean {
    return at < this.count && this.#entries.compareName(this.#byName.rowAt(at), name) === 0;
  }

  #forget(row: number): void {
    this.#gone.push(row);
    for (const order of this.#orders.values()) order.delete(row);
    this.#count(this.#entries.viewOf(row), -1);
  }

  #count({ members }: { readonly members?: unknown }, sign: number): void {
    if (typeof members !== 'object' || members === null) return;
    for (const [kind, count] of Object.entries(members)) if (typeof count === 'number') this.#members.set(kind, this.membersOf(kind) + sign * count);
  }
}
