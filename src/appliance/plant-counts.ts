/**
 * How large the plant of a store is. It is asked for with each look at the health and with each write of a plant, so each unit, module and
 * program is counted by itself when it has changed and somebody asks, and the sums are kept.
 */
import { StagedStore } from '../domains/apply/staging.js';
import { ControlModule, ControlModuleTemplate } from '../domains/control-modules/kind.js';
import { readableTagCount } from '../domains/control-modules/merge.js';
import { ControlProgram, ownerOfProgram } from '../domains/logic/kind.js';
import { Unit } from '../domains/plant/kind.js';
import type { Change, StoreEvent } from '../platform/store/change.js';
import type { Kind, StoreReader } from '../platform/store/kind.js';
import { onePerStore } from '../platform/store/one-per-store.js';
import { type Ref, refOf } from '../platform/store/resource.js';
import type { Store } from '../platform/store/store.js';

/** Of all sites together. */
export interface PlantSize {
  readonly units: number;
  /** As the catalog of tags lists them (domains/tags/catalog.ts). */
  readonly tags: number;
}

const NONE: PlantSize = { units: 0, tags: 0 };

/** What one resource adds to the plant of which it is read. */
const SIZES: ReadonlyMap<string, (read: StoreReader, site: string, name: string) => PlantSize> = new Map([
  [Unit.kind, (read, site, name) => (read.get(Unit, site, name) ? { units: 1, tags: 0 } : NONE)],
  [ControlModule.kind, (read, site, name) => ({ units: 0, tags: tagsOfModule(read, site, name) })],
  [ControlProgram.kind, (read, site, name) => ({ units: 0, tags: tagsOfProgram(read, site, name) })],
]);

function tagsOfModule(read: StoreReader, site: string, name: string): number {
  const module = read.get(ControlModule, site, name)?.spec;
  const template = module && read.get(ControlModuleTemplate, '', module.templateRef)?.spec;
  return module && template ? readableTagCount(module, template) : 0;
}

/** The program of a module has the tags of its module. */
function tagsOfProgram(read: StoreReader, site: string, name: string): number {
  const program = read.get(ControlProgram, site, name);
  if (!program || ownerOfProgram(program.metadata) !== undefined) return 0;
  return program.spec.variables.filter(({ direction, source }) => direction !== 'input' || !source).length;
}

const KINDS: readonly Kind[] = [Unit, ControlModule, ControlProgram] as readonly unknown[] as readonly Kind[];

const keyOf = ({ kind, site, name }: Ref): string => `${kind}/${site}/${name}`;

class PlantCounts {
  readonly #store: Store;
  readonly #sizes = new Map<string, PlantSize>();
  /** Modules by the template that they name, whether it is there or not. */
  readonly #users = new Map<string, Map<string, Ref>>();
  readonly #templateOf = new Map<string, string>();
  /** Changed since they were counted. */
  readonly #changed = new Map<string, Ref>();
  #units = 0;
  #tags = 0;

  constructor(store: Store) {
    this.#store = store;
    const countChanged = ({ type, resource, before }: StoreEvent): void => {
      if (type === 'remove' || before?.spec !== resource.spec || before?.metadata.ownerReferences !== resource.metadata.ownerReferences) this.#note(refOf(resource));
    };
    for (const kind of KINDS) store.watch(kind, countChanged);
    store.watch(ControlModuleTemplate, ({ type, resource, before }) => {
      if (type === 'remove' || before?.spec !== resource.spec) for (const module of this.#usersOf(resource.metadata.name)) this.#note(module);
    });
    store.watchReload(() => this.#countAll());
    this.#countAll();
  }

  get size(): PlantSize {
    for (const ref of this.#changed.values()) this.#count(ref);
    this.#changed.clear();
    return { units: this.#units, tags: this.#tags };
  }

  /** As it will be with a change. */
  sizeAfter({ puts = [], removes = [] }: Pick<Change, 'puts' | 'removes'>): PlantSize {
    const stage = new StagedStore(this.#store);
    const touched = new Map<string, Ref>();
    const touch = (ref: Ref): unknown => touched.set(keyOf(ref), ref);
    for (const put of puts) {
      stage.put(put);
      const { site, name, kind } = put;
      if (kind.kind === ControlModuleTemplate.kind) for (const module of this.#usersOf(name)) touch(module);
      else touch({ kind: kind.kind, site, name });
    }
    const removed = new Set(removes.map(keyOf));
    for (const ref of removes) touch(ref);
    let { units, tags } = this.size; // which counts what has changed
    for (const [key, ref] of touched) {
      const was = this.#sizes.get(key) ?? NONE;
      const now = removed.has(key) ? NONE : sizeOf(stage, ref);
      units += now.units - was.units;
      tags += now.tags - was.tags;
    }
    return { units, tags };
  }

  #usersOf(template: string): readonly Ref[] {
    return [...(this.#users.get(template)?.values() ?? [])];
  }

  #countAll(): void {
    this.#changed.clear();
    this.#sizes.clear();
    this.#users.clear();
    this.#templateOf.clear();
    this.#units = this.#tags = 0;
    for (const kind of KINDS) for (const resource of this.#store.list(kind)) this.#note(refOf(resource));
  }

  #note(ref: Ref): void {
    if (ref.kind === ControlModule.kind) this.#noteTemplate(ref);
    this.#changed.set(keyOf(ref), ref);
  }

  #count(ref: Ref): void {
    const key = keyOf(ref);
    const was = this.#sizes.get(key) ?? NONE;
    const now = sizeOf(this.#store, ref);
    this.#units += now.units - was.units;
    this.#tags += now.tags - was.tags;
    if (now.units === 0 && now.tags === 0) this.#sizes.delete(key);
    else this.#sizes.set(key, now);
  }

  #noteTemplate(module: Ref): void {
    const key = keyOf(module);
    const before = this.#templateOf.get(key);
    const template = this.#store.get(ControlModule, module.site, module.name)?.spec.templateRef;
    if (before === template) return;
    if (before !== undefined) this.#users.get(before)?.delete(key);
    if (template === undefined) {
      this.#templateOf.delete(key);
      return;
    }
    this.#templateOf.set(key, template);
    const users = this.#users.get(template) ?? new Map<string, Ref>();
    users.set(key, module);
    this.#users.set(template, users);
  }
}

function sizeOf(read: StoreReader, { kind, site, name }: Ref): PlantSize {
  return SIZES.get(kind)?.(read, site, name) ?? NONE;
}

const plantCounts = onePerStore((store) => new PlantCounts(store));

/** The plant of a store as it is. */
export function plantSize(store: Store): PlantSize {
  return plantCounts(store).size;
}

/** The plant of a store as it will be with a change; puts come before removes. */
export function plantSizeAfter(store: Store, change: Pick<Change, 'puts' | 'removes'>): PlantSize {
  return plantCounts(store).sizeAfter(change);
}
