/**
 * The list of a kind as it will be: that of the store below, with what is staged in its places. What was staged since it was told last is put in
 * by search, however often it is asked for between two manifests: nothing is sorted anew but those few. A list that a caller holds stays as it was read.
 */
import { firstWhere } from '../../platform/base/sorted.js';
import type { Resource } from '../../platform/store/resource.js';

type Place = Pick<Resource['metadata'], 'site' | 'name'>;

export class StagedList {
  /** By name, then by site, as every list of a store. */
  readonly stored: readonly Resource[];
  #list: readonly Resource[];
  /** Since it was told last, by `site/name`; undefined for what goes. */
  readonly #changed = new Map<string, { readonly place: Place; readonly resource: Resource | undefined }>();

  constructor(stored: readonly Resource[]) {
    this.stored = stored;
    this.#list = stored;
  }

  change(place: Place, resource: Resource | undefined): void {
    this.#changed.set(`${place.site}/${place.name}`, { place, resource });
  }

  read(): readonly Resource[] {
    if (this.#changed.size === 0) return this.#list;
    const list: Resource[] = [];
    let from = 0;
    for (const { place, resource } of [...this.#changed.values()].sort((a, b) => byName(a.place, b.place))) {
      const at = firstWhere(this.#list, ({ metadata }) => byName(metadata, place) >= 0);
      for (let n = from; n < at; n += 1) list.push(this.#list[n] as Resource);
      if (resource) list.push(resource);
      const old = this.#list[at];
      from = old && byName(old.metadata, place) === 0 ? at + 1 : at;
    }
    for (let n = from; n < this.#list.length; n += 1) list.push(this.#list[n] as Resource);
    this.#changed.clear();
    return (this.#list = list);
  }
}

function byName(a: Place, b: Place): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.site === b.site ? 0 : a.site < b.site ? -1 : 1;
}
