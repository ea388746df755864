/**
 * What stays in memory of resources whose runs are past (ADR 0035): one entry for each whose kind gives one. Sorted lists are made when
 * somebody asks, and kept in order by insertion: the past grows by one run at a time, at any size.
 */
import type { Ref } from './resource.js';

/** What stays in memory of one past resource. */
export interface PastEntry<Entry = unknown> {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly run: string;
  readonly entry: Entry;
}

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

export type PastUse = readonly [kind: string, tail: string, path: string];

/** The entry of a kind that names runs. */
export function runEntry(members: readonly Ref[]): RunEntry {
  const counts: Record<string, number> = {};
  for (const { kind } of members) counts[kind] = (counts[kind] ?? 0) + 1;
  return { members: counts };
}

const TEXTS_KNOWN_MAX = 256;

/** Reads entries: those of runs of one recipe are alike word for word, so that a hundred thousand of them share a few objects. */
export class EntryTexts {
  /** By kind, those that were met last. */
  readonly #known = new Map<string, Map<string, unknown>>();

  /** @throws SyntaxError for what is not JSON. */
  read(kind: string, text: string): unknown {
    let known = this.#known.get(kind);
    if (!known) this.#known.set(kind, (known = new Map()));
    let entry = known.get(text);
    if (entry !== undefined) return entry;
    entry = JSON.parse(text);
    if (known.size >= TEXTS_KNOWN_MAX) known.delete(known.keys().next().value as string);
    known.set(text, entry);
    return entry;
  }
}

export class PastIndex {
  /** kind -> site -> name -> entry. */
  readonly #entries = new Map<string, Map<string, Map<string, PastEntry>>>();
  /** By `kind|site`, and `kind|*` for all sites. */
  readonly #sorted = new Map<string, PastEntry[]>();
  /** Names without an entry that the ledger has refused, `kind/site/name`: kept over the reload that follows a refusal, and until they come back. */
  readonly #refused = new Set<string>();

  /** In place of what was there. */
  load(entries: readonly PastEntry[]): void {
    this.#entries.clear();
    this.#sorted.clear();
    for (const entry of entries) this.#namesOf(entry).set(entry.name, entry);
  }

  get(kind: string, site: string, name: string): PastEntry | undefined {
    return this.#entries.get(kind)?.get(site)?.get(name);
  }

  /** Whether the name is known to be that of a past resource: those without an entry are known from the first refusal on. */
  has({ kind, site, name }: Ref): boolean {
    return this.get(kind, site, name) !== undefined || this.#refused.has(`${kind}/${site}/${name}`);
  }

  refused({ kind, site, name }: Ref): void {
    this.#refused.add(`${kind}/${site}/${name}`);
  }

  add(entry: PastEntry): void {
    this.delete(entry);
    this.#namesOf(entry).set(entry.name, entry);
    for (const list of this.#listsOf(entry)) list.splice(placeOf(list, entry), 0, entry);
  }

  delete(ref: Ref): void {
    this.#refused.delete(`${ref.kind}/${ref.site}/${ref.name}`);
    const names = this.#entries.get(ref.kind)?.get(ref.site);
    const entry = names?.get(ref.name);
    if (!names || !entry) return;
    names.delete(ref.name);
    for (const list of this.#listsOf(entry)) list.splice(placeOf(list, entry), 1);
  }

  /** Sorted by name; of all sites when `site` is undefined. It changes with the past: whoever keeps it copies it. */
  list(kind: string, site?: string): readonly PastEntry[] {
    const key = `${kind}|${site ?? '*'}`;
    let list = this.#sorted.get(key);
    if (!list) {
      const sites = this.#entries.get(kind);
      list = (site === undefined ? [...(sites?.values() ?? [])].flatMap((names) => [...names.values()]) : [...(sites?.get(site)?.values() ?? [])]).sort(byName);
      this.#sorted.set(key, list);
    }
    return list;
  }

  /** Of which something of a kind is past, by name. */
  sitesOf(kind: string): string[] {
    return [...(this.#entries.get(kind) ?? [])].flatMap(([site, names]) => (names.size > 0 ? [site] : [])).sort();
  }

  #listsOf({ kind, site }: PastEntry): PastEntry[][] {
    return [this.#sorted.get(`${kind}|*`), this.#sorted.get(`${kind}|${site}`)].filter((list) => list !== undefined);
  }

  #namesOf({ kind, site }: PastEntry): Map<string, PastEntry> {
    let sites = this.#entries.get(kind);
    if (!sites) this.#entries.set(kind, (sites = new Map()));
    let names = sites.get(site);
    if (!names) sites.set(site, (names = new Map()));
    return names;
  }
}

/** Of the first that does not come before it. */
function placeOf(list: readonly PastEntry[], entry: PastEntry): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byName(list[middle] as PastEntry, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byName(a: PastEntry, b: PastEntry): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.site < b.site ? -1 : a.site > b.site ? 1 : 0;
}
