/** What is found in the specs of a site, once for as long as they are the same: a status says nothing of it, and many are written in a second. */
import type { Resource } from '../../platform/store/resource.js';

type Row = Pick<Resource, 'metadata' | 'spec'>;
type Lists = readonly (readonly Row[])[];

/** One finding for each first resource: lists of another site or store have another one, and lists are others after each change of a status. */
export class OfSpecs<Found> {
  readonly #known = new WeakMap<object, { readonly lists: Lists; readonly found: Found }>();

  /** @param make reads nothing but names, creation, owners and specs of the lists. */
  of(lists: Lists, make: () => Found): Found {
    const anchor = lists.find((list) => list.length > 0)?.[0]?.spec;
    if (typeof anchor !== 'object' || anchor === null) return make();
    const before = this.#known.get(anchor);
    const isKnown = before?.lists.length === lists.length && lists.every((list, at) => isAlike(before.lists[at] ?? [], list));
    const found = before && isKnown ? before.found : make();
    this.#known.set(anchor, { lists, found });
    return found;
  }
}

function isAlike(before: readonly Row[], after: readonly Row[]): boolean {
  if (before === after) return true;
  if (before.length !== after.length) return false;
  for (const [at, { metadata, spec }] of after.entries()) {
    const was = before[at];
    if (was?.spec !== spec || !was) return false;
    const { name, createdAt, ownerReferences } = metadata;
    if (was.metadata.name !== name || was.metadata.createdAt !== createdAt || was.metadata.ownerReferences !== ownerReferences) return false;
  }
  return true;
}
