/**
 * What stays in memory of resources whose runs are past (ADR 0035): one entry for each whose kind gives one, packed, by name. The past
 * grows by one run at a time, at any size.
 */
import { PackedEntries } from './packed-entries.js';
import type { Ref } from './resource.js';

/** What stays in memory of one past resource. Those of a list read what is asked of them. */
export interface PastEntry<Entry = unknown> {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly run: string;
  readonly entry: Entry;
}

/** One member of an entry and its text; `name` is that of the resource. */
export type PastSaying<Entry> = readonly [member: (keyof Entry & string) | 'name', text: string];

/** What an entry of a kind that names runs says of its run. */
export interface RunEntry {
  /** How many of each kind there are. */
  readonly members: Readonly<Record<string, number>>;
  /**
   * What members name outside of the run, by `kind/site/name` of what is named: who is told by what follows the name of the run in his
   * own, so that runs of one recipe say the same. A past run keeps nothing from going: these may dangle.
   */
  readonly names?: Readonly<Record<string, readonly PastUse[]>>;
}

/** `when` is that of the reference (kind.ts); left out where the resource may be written without it. */
export type PastUse = readonly [kind: string, tail: string, path: string, when?: 'write'];

/** The entry of a kind that names runs. */
export function runEntry(members: readonly Ref[]): RunEntry {
  const counts: Record<string, number> = {};
  for (const { kind } of members) counts[kind] = (counts[kind] ?? 0) + 1;
  return { members: counts };
}

const ROWS_FIRST = 64;

export class PastIndex {
  readonly #entries = new PackedEntries();
  /** kind -> site -> entries by name. */
  readonly #shelves = new Map<string, Map<string, Shelf>>();
  /** Names without an entry that the ledger has refused, `kind/site/name`: kept over the reload that follows a refusal, and until they come back. */
  #refused = new Set<string>();
  /** Runs of entries that could not be read. */
  readonly #unreadable = new Set<string>();

  /** It was loaded in place of another one. */
  after(before: PastIndex): this {
    this.#refused = before.#refused;
    return this;
  }

  get<Entry>(kind: string, site: string, name: string): PastEntry<Entry> | undefined {
    return this.#shelves.get(kind)?.get(site)?.get(name) as PastEntry<Entry> | undefined;
  }

  /** Whether the name is known to be that of a past resource: those without an entry are known from the first refusal on. */
  has({ kind, site, name }: Ref): boolean {
    return this.#shelves.get(kind)?.get(site)?.has(name) === true || this.#refused.has(`${kind}/${site}/${name}`);
  }

  refused({ kind, site, name }: Ref): void {
    this.#refused.add(`${kind}/${site}/${name}`);
  }

  /** In place of what was there; `text` is its JSON. What is none stands there as an entry that says nothing. */
  add({ kind, site, name }: Ref, run: string, text: string): void {
    const entry = parsed(text);
    if (!entry) this.#unreadable.add(run);
    this.#shelfOf(kind, site).put(name, run === `${kind}/${site}/${name}` ? '' : run, entry ?? {});
  }

  /** Runs whose entries could not be read when they were added: nobody finds them by what they said. */
  get unreadable(): readonly string[] {
    return [...this.#unreadable];
  }

  delete({ kind, site, name }: Ref): void {
    this.#refused.delete(`${kind}/${site}/${name}`);
    this.#shelves.get(kind)?.get(site)?.delete(name);
  }

  /** Sorted by name, as it is now; of all sites when `site` is undefined. */
  list(kind: string, site?: string, saying?: readonly [member: string, text: string]): readonly PastEntry[] {
    const [member, text = ''] = saying ?? [];
    const passes = member === undefined || member === 'name' ? undefined : this.#entries.saying(member, text);
    return this.#shelvesOf(kind, site)
      .map((shelf) => (member === 'name' ? shelf.named(text) : shelf.list(passes)))
      .reduce(merged, []);
  }

  count(kind: string, site?: string): number {
    return this.#shelvesOf(kind, site).reduce((sum, { count }) => sum + count, 0);
  }

  /** Of which something of a kind is past, by name. */
  sitesOf(kind: string): string[] {
    return [...(this.#shelves.get(kind) ?? [])].flatMap(([site, { count }]) => (count > 0 ? [site] : [])).sort();
  }

  #shelvesOf(kind: string, site?: string): Shelf[] {
    const sites = this.#shelves.get(kind);
    if (site === undefined) return [...(sites?.values() ?? [])].sort((a, b) => (a.site < b.site ? -1 : 1));
    const shelf = sites?.get(site);
    return shelf ? [shelf] : [];
  }

  #shelfOf(kind: string, site: string): Shelf {
    let sites = this.#shelves.get(kind);
    if (!sites) this.#shelves.set(kind, (sites = new Map()));
    let shelf = sites.get(site);
    if (!shelf) sites.set(site, (shelf = new Shelf(this.#entries, kind, site)));
    return shelf;
  }
}

/** Entries of one kind and site, by name. */
class Shelf {
  readonly kind: string;
  readonly site: string;
  readonly #entries: PackedEntries;
  #rows = new Uint32Array(ROWS_FIRST);
  #count = 0;

  constructor(entries: PackedEntries, kind: string, site: string) {
    this.#entries = entries;
    this.kind = kind;
    this.site = site;
  }

  get count(): number {
    return this.#count;
  }

  has(name: string): boolean {
    const at = this.#placeOf(name);
    return at < this.#count && this.#entries.compareName(this.#rows[at] as number, name) === 0;
  }

  get(name: string): PastEntry | undefined {
    if (!this.has(name)) return undefined;
    const row = this.#rows[this.#placeOf(name)] as number;
    return { kind: this.kind, site: this.site, name, run: this.#entries.runOf(row) || `${this.kind}/${this.site}/${name}`, entry: this.#entries.wholeOf(row) };
  }

  put(name: string, run: string, entry: Readonly<Record<string, unknown>>): void {
    const row = this.#entries.add(name, run, entry);
    const at = this.#placeOf(name);
    if (!this.has(name)) {
      if (this.#count === this.#rows.length) this.#widen();
      this.#rows.copyWithin(at + 1, at, this.#count);
      this.#count += 1;
    }
    this.#rows[at] = row;
  }

  delete(name: string): void {
    if (!this.has(name)) return;
    const at = this.#placeOf(name);
    this.#rows.copyWithin(at, at + 1, this.#count);
    this.#count -= 1;
  }

  named(name: string): PastEntry[] {
    const found = this.get(name);
    return found ? [found] : [];
  }

  list(passes?: (row: number) => boolean): PastEntry[] {
    const list: PastEntry[] = [];
    for (let at = 0; at < this.#count; at += 1) {
      const row = this.#rows[at] as number;
      if (!passes || passes(row)) list.push(new Listed(this, this.#entries, row));
    }
    return list;
  }

  /** Of the first that does not come before it; a start adds them in their order. */
  #placeOf(name: string): number {
    let low = 0;
    let high = this.#count;
    if (high > 0 && this.#entries.compareName(this.#rows[high - 1] as number, name) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entries.compareName(this.#rows[middle] as number, name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #widen(): void {
    const rows = new Uint32Array(this.#rows.length * 2);
    rows.set(this.#rows);
    this.#rows = rows;
  }
}

/** One of a list. */
class Listed implements PastEntry {
  readonly #shelf: Shelf;
  readonly #entries: PackedEntries;
  readonly #row: number;

  constructor(shelf: Shelf, entries: PackedEntries, row: number) {
    this.#shelf = shelf;
    this.#entries = entries;
    this.#row = row;
  }

  get kind(): string {
    return this.#shelf.kind;
  }

  get site(): string {
    return this.#shelf.site;
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

/** Of the same name the first list's goes first. */
function merged(a: readonly PastEntry[], b: readonly PastEntry[]): readonly PastEntry[] {
  if (a.length === 0) return b;
  const list: PastEntry[] = [];
  let next = 0;
  for (const each of a) {
    const { name } = each;
    for (let other = b[next]; other && other.name < name; other = b[next]) {
      list.push(other);
      next += 1;
    }
    list.push(each);
  }
  return list.concat(b.slice(next));
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const entry: unknown = JSON.parse(text);
    return typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? (entry as Readonly<Record<string, unknown>>) : undefined; // `null` is JSON too
  } catch {
    return undefined;
  }
}
