/**
 * What stays in memory of resources whose runs are past (ADR 0035): one entry for each whose kind gives one, packed, by name. The past
 * grows by one run at a time, at any size.
 */
import { inside } from '../base/assert.js';
import { between } from '../base/sorted.js';
import { PackedEntries } from './packed-entries.js';
import { type PastEntry, type PastList, type PastRules, Shelf } from './past-shelf.js';
import type { Ref } from './resource.js';

export type { PastEntry, PastList, PastOrders } from './past-shelf.js';

/** One member of an entry and its text; `name` is that of the resource, `found by` what is kept of its kind (`Kind.pastOrders`). */
export type PastSaying<Entry> = readonly [member: (keyof Entry & string) | 'name' | `found by ${string}`, text: string];

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

interface RuledKind extends PastRules {
  readonly kind: string;
}

/** Of a kind of which no order is kept, and any entry taken. */
const NO_RULES: PastRules = {};

/** Some entries of one kind and site, as they are loaded. */
export interface PastSlice {
  readonly kind: string;
  readonly site: string;
  /** By name. */
  readonly names: readonly string[];
  /** `kind/site/name` of the run of each; '' where it is named as the entry itself. */
  readonly runs: readonly string[];
  /** JSON of one after the other in UTF-8, and where each ends. */
  readonly texts: Uint8Array;
  readonly ends: readonly number[];
}

export class PastIndex {
  readonly #entries = new PackedEntries();
  /** kind -> site -> entries by name. */
  readonly #shelves = new Map<string, Map<string, Shelf>>();
  /** Names without an entry that the ledger has refused, `kind/site/name`: kept over the reload that follows a refusal, and until they come back. */
  #refused = new Set<string>();
  /** Runs of entries that could not be read. */
  readonly #unreadable = new Set<string>();
  readonly #kinds: ReadonlyMap<string, RuledKind>;
  #isLoading = true;

  /** The kinds of which orders are kept, and by which entries are judged. */
  constructor(kinds: Iterable<RuledKind> = []) {
    this.#kinds = new Map([...kinds].map((each) => [each.kind, each]));
  }

  /** Empty, of the same kinds. */
  anew(): PastIndex {
    return new PastIndex(this.#kinds.values());
  }

  /** It was loaded in place of another one. */
  after(before: PastIndex): this {
    this.#refused = before.#refused;
    this.#isLoading = false;
    for (const sites of this.#shelves.values()) for (const shelf of sites.values()) shelf.loaded();
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

  /** In place of what was there; `text` is its JSON. */
  add({ kind, site, name }: Ref, run: string, text: string): void {
    const bytes = Buffer.from(text);
    this.#put(this.#shelfOf(kind, site), name, run === `${kind}/${site}/${name}` ? '' : run, bytes, 0, bytes.length);
  }

  addSlice({ kind, site, names, runs, texts, ends }: PastSlice): void {
    const shelf = this.#shelfOf(kind, site);
    const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length);
    let from = 0;
    for (const [n, name] of names.entries()) {
      const end = inside(ends, n, 'each entry of a slice has its end');
      this.#put(shelf, name, inside(runs, n, 'each entry of a slice has its run'), bytes, from, end);
      from = end;
    }
  }

  /** What is no entry stands there as one that says nothing, and its run is told. */
  #put(shelf: Shelf, name: string, run: string, bytes: Buffer, from: number, end: number): void {
    try {
      shelf.put(name, run, bytes, from, end);
    } catch (fault) {
      if (!(fault instanceof SyntaxError)) throw fault;
      this.#unreadable.add(run || `${shelf.kind}/${shelf.site}/${name}`);
      shelf.putEmpty(name, run);
    }
  }

  /** Sorts what was loaded, one order in a turn. */
  async sort(): Promise<void> {
    for (const sites of this.#shelves.values()) {
      for (const shelf of sites.values()) for (const _sorted of shelf.sorting()) await new Promise((resolve) => setImmediate(resolve));
    }
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
    return this.#shelvesOf(kind, site)
      .map((shelf) => (saying ? shelf.saying(...saying) : shelf.list()))
      .map((list) => between(list, 0, list.length))
      .reduce<readonly PastEntry[]>(merged, []);
  }

  /** Of one site, in an order that is kept of the kind, or of no order all, by name: nothing is made before it is asked for. */
  ordered(kind: string, site: string, order?: string): PastList {
    const shelf = this.#shelves.get(kind)?.get(site);
    return shelf?.list(order) ?? new Shelf(this.#entries, { kind, site }, NO_RULES, false).list();
  }

  /** How many members of `memberKind` the runs have that a kind names. */
  membersOf(kind: string, site: string, memberKind: string): number {
    return this.#shelves.get(kind)?.get(site)?.membersOf(memberKind) ?? 0;
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
    if (!shelf) sites.set(site, (shelf = new Shelf(this.#entries, { kind, site }, this.#kinds.get(kind) ?? NO_RULES, this.#isLoading)));
    return shelf;
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
