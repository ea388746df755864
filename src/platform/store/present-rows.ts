/** The resources that are in memory: by kind, site and name, and each kind as a sorted list. */
import type { Ref, Resource } from './resource.js';

export class PresentRows {
  /** kind -> site -> name -> resource. */
  readonly #rows = new Map<string, Map<string, Map<string, Resource>>>();
  /** By `kind|site`, and by `kind|*` for all sites; each made when it is first asked for. */
  readonly #sorted = new Map<string, SortedList>();

  clear(): void {
    this.#rows.clear();
    this.#sorted.clear();
  }

  get(kind: string, site: string, name: string): Resource | undefined {
    return this.#rows.get(kind)?.get(site)?.get(name);
  }

  has({ kind, site, name }: Ref): boolean {
    return this.#rows.get(kind)?.get(site)?.has(name) === true;
  }

  /** Sorted by name, then by site; all sites when `site` is undefined. A list that a caller holds stays as it was read. */
  list(kind: string, site: string | undefined): readonly Resource[] {
    const key = site === undefined ? allOf(kind) : oneOf(kind, site);
    let sorted = this.#sorted.get(key);
    if (!sorted) {
      const bySite = this.#rows.get(kind);
      const found = site === undefined ? [...(bySite?.values() ?? [])].flatMap((names) => [...names.values()]) : [...(bySite?.get(site)?.values() ?? [])];
      sorted = new SortedList(found.sort(byName));
      this.#sorted.set(key, sorted);
    }
    return sorted.read();
  }

  place(resource: Resource): void {
    const { kind, metadata } = resource;
    const { site, name } = metadata;
    let bySite = this.#rows.get(kind);
    if (!bySite) this.#rows.set(kind, (bySite = new Map()));
    let byName = bySite.get(site);
    if (!byName) bySite.set(site, (byName = new Map()));
    const isNew = !byName.has(name);
    byName.set(name, resource);
    if (isNew) {
      this.#sorted.delete(allOf(kind));
      this.#sorted.delete(oneOf(kind, site));
    } else {
      this.#sorted.get(allOf(kind))?.replace(resource);
      this.#sorted.get(oneOf(kind, site))?.replace(resource);
    }
  }

  displace(resource: Resource): void {
    const { kind, metadata } = resource;
    this.#rows.get(kind)?.get(metadata.site)?.delete(metadata.name);
    this.#sorted.get(allOf(kind))?.remove(resource);
    this.#sorted.get(oneOf(kind, metadata.site))?.remove(resource);
  }
}

function allOf(kind: string): string {
  return `${kind}|*`;
}

function oneOf(kind: string, site: string): string {
  return `${kind}|${site}`;
}

/**
 * The resources of a kind by name. A change of one replaces it at its place, and one that goes leaves it: nothing is sorted anew, and
 * the list that a caller holds stays as it was read. Resources that came make a new list.
 */
class SortedList {
  #items: Resource[];
  /** Changed since the list was read last, by place; what changes often between two reads is written once. */
  readonly #changed = new Map<number, Resource | undefined>();

  constructor(items: Resource[]) {
    this.#items = items;
  }

  replace(resource: Resource): void {
    this.#changed.set(this.#placeOf(resource), resource);
  }

  remove(resource: Resource): void {
    this.#changed.set(this.#placeOf(resource), undefined);
  }

  read(): readonly Resource[] {
    if (this.#changed.size === 0) return this.#items;
    const items: (Resource | undefined)[] = this.#items.slice();
    for (const [at, resource] of this.#changed) items[at] = resource;
    this.#items = items as Resource[];
    if ([...this.#changed.values()].includes(undefined)) this.#items = this.#items.filter((resource) => resource !== undefined);
    this.#changed.clear();
    return this.#items;
  }

  #placeOf(resource: Resource): number {
    let low = 0;
    let high = this.#items.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (byName(this.#items[middle] as Resource, resource) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function byName(a: Resource, b: Resource): number {
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : a.metadata.site < b.metadata.site ? -1 : 1;
}
