/** Rows of past runs that somebody reads (PastRows): they are found by name and stand in no list, and nothing of them is written. */
import { guarded } from '../base/guarded.js';
import { keyOf, type Ref, type Resource, refOf } from './resource.js';

/** `isThere`: from now on; without, no longer. */
export type LentWatcher = (resource: Resource, isThere: boolean) => void;

const NOTHING: readonly never[] = [];

export class LentRows {
  /** By `kind/site/name`. */
  readonly #rows = new Map<string, Resource>();
  readonly #watchers = new Map<string, LentWatcher[]>();

  get(kind: string, site: string, name: string): Resource | undefined {
    return this.#rows.size === 0 ? undefined : this.#rows.get(keyOf({ kind, site, name }));
  }

  has(ref: Ref): boolean {
    return this.#rows.size > 0 && this.#rows.has(keyOf(ref));
  }

  lend(rows: readonly Resource[]): void {
    for (const resource of rows) {
      this.#rows.set(keyOf(refOf(resource)), resource);
      this.#tell(resource, true);
    }
  }

  /** An index that went by the name of what is present again goes on with that. */
  takeAway(rows: readonly Resource[], isPresent: (ref: Ref) => boolean): void {
    for (const resource of rows) {
      const ref = refOf(resource);
      if (this.#rows.delete(keyOf(ref)) && !isPresent(ref)) this.#tell(resource, false);
    }
  }

  of(kind: string): readonly Resource[] {
    return this.#rows.size === 0 ? NOTHING : [...this.#rows.values()].filter((resource) => resource.kind === kind);
  }

  watch(kind: string, watcher: LentWatcher): void {
    this.#watchers.set(kind, [...(this.#watchers.get(kind) ?? NOTHING), watcher]);
  }

  #tell(resource: Resource, isThere: boolean): void {
    for (const watcher of this.#watchers.get(resource.kind) ?? NOTHING) guarded(`watcher of what is lent of ${resource.kind}`, () => watcher(resource, isThere));
  }
}
