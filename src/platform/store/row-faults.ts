/**
 * What was read and does not fit, by `kind/site/name`, until it is written again or removed. Beside it, what had a mark of the past that
 * nobody has recorded: the ledger takes it away, and tells it with each load until anything of the row is written. Here it is told until its
 * spec is: recovery writes a status within milliseconds. Of a row that has both, both are told.
 */
import { keyOf, type Ref, type Resource, refOf, type RowFault } from './resource.js';

/** What a change forgives, with what was read, for the case that the change is refused. */
export interface Forgiven {
  readonly fault: RowFault | undefined;
  readonly read: Resource | undefined;
  readonly mark: RowFault | undefined;
}

export class RowFaults {
  readonly #faults = new Map<string, RowFault>();
  /** Of these what was read: what runs is worked with as its kind begins where it has lost its shape, and stays on disk as it is. */
  readonly #asRead = new Map<string, Resource>();

  readonly #marks = new Map<string, RowFault>();

  get isEmpty(): boolean {
    return this.#faults.size + this.#marks.size === 0;
  }

  /** All is read anew: the marks that were taken away are not found again. */
  clear(): void {
    this.#faults.clear();
    this.#asRead.clear();
  }

  /** `read`: the resource, where another one is worked with in its place. */
  add(fault: RowFault, read?: Resource): void {
    this.#faults.set(keyOf(fault), fault);
    if (read) this.#asRead.set(keyOf(fault), read);
  }

  /** Was marked as past, and is present. */
  addMark(fault: RowFault): void {
    this.#marks.set(keyOf(fault), fault);
  }

  list(): readonly RowFault[] {
    const all = new Map([...this.#marks, ...this.#faults]);
    for (const [key, { fault }] of this.#marks) {
      const other = this.#faults.get(key);
      if (other) all.set(key, { ...other, fault: `${other.fault}; ${fault}` });
    }
    return [...all.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  isQuarantined(ref: Ref): boolean {
    return this.#faults.get(keyOf(ref))?.kept === false;
  }

  replacedBecause(ref: Ref): string | undefined {
    const key = keyOf(ref);
    return this.#asRead.has(key) ? this.#faults.get(key)?.fault : undefined;
  }

  forgive(refs: readonly Ref[]): readonly Forgiven[] {
    const forgiven = refs.map((ref) => ({ fault: this.#taken(this.#faults, ref), read: this.#taken(this.#asRead, ref), mark: this.#taken(this.#marks, ref) }));
    return forgiven.filter(({ fault, mark }) => fault ?? mark);
  }

  giveBack({ fault, read, mark }: Forgiven): void {
    if (fault) this.add(fault, read);
    if (mark) this.addMark(mark);
  }

  #taken<Of>(of: Map<string, Of>, ref: Ref): Of | undefined {
    const taken = of.get(keyOf(ref));
    of.delete(keyOf(ref));
    return taken;
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
