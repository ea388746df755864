/** What was read and does not fit, by `kind/site/name`, until it is written again or removed. */
import { keyOf, type Ref, type Resource, refOf, type RowFault } from './resource.js';

/** A fault that a change forgives, with what was read, for the case that the change is refused. */
export interface Forgiven {
  readonly fault: RowFault;
  readonly read: Resource | undefined;
}

export class RowFaults {
  readonly #faults = new Map<string, RowFault>();
  /** Of these what was read: what runs is worked with as its kind begins where it has lost its shape, and stays on disk as it is. */
  readonly #asRead = new Map<string, Resource>();

  get isEmpty(): boolean {
    return this.#faults.size === 0;
  }

  clear(): void {
    this.#faults.clear();
    this.#asRead.clear();
  }

  /** `read`: the resource, where another one is worked with in its place. */
  add(fault: RowFault, read?: Resource): void {
    this.#faults.set(keyOf(fault), fault);
    if (read) this.#asRead.set(keyOf(fault), read);
  }

  list(): readonly RowFault[] {
    return [...this.#faults.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  isQuarantined(ref: Ref): boolean {
    return this.#faults.get(keyOf(ref))?.kept === false;
  }

  replacedBecause(ref: Ref): string | undefined {
    const key = keyOf(ref);
    return this.#asRead.has(key) ? this.#faults.get(key)?.fault : undefined;
  }

  forgive(refs: readonly Ref[]): readonly Forgiven[] {
    return refs.flatMap((ref) => {
      const key = keyOf(ref);
      const fault = this.#faults.get(key);
      const read = this.#asRead.get(key);
      this.#faults.delete(key);
      this.#asRead.delete(key);
      return fault ? [{ fault, read }] : [];
    });
  }

  /** A status that is written says nothing of a spec that could not be worked with: that stays what it was, for whoever looks after it. */
  asStored(resources: readonly Resource[]): readonly Resource[] {
    if (this.#asRead.size === 0) return resources;
    return resources.map((resource) => {
      const read = this.#asRead.get(keyOf(refOf(resource)));
      return read ? { ...resource, spec: read.spec } : resource;
    });
  }
}
