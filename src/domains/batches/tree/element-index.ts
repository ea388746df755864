/**
 * Which elements and coordination blocks belong to a batch, and which elements to an element: kept beside the store by its
 * events, because a site keeps the elements of all its ended batches, and every look would walk them all.
 *
 * Only names are kept; what is read is always what the store has now.
 */
import type { Kind } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import { onePerStore } from '../../../platform/store/one-per-store.js';
import type { Store, StoreEvent } from '../../../platform/store/store.js';
import { CoordinationBlock, type CoordinationBlockSpec, type CoordinationBlockStatus, SyncBarrier, type SyncBarrierSpec, type SyncBarrierStatus } from '../../coordination/kind.js';
import { type ElementStatus, Operation, type OperationSpec, Phase, type PhaseSpec, Procedure, type ProcedureSpec, UnitProcedure } from '../../procedures/kind.js';

export type ElementResource = Resource<ProcedureSpec | OperationSpec | PhaseSpec, ElementStatus>;
export type CoordinationResource = Resource<CoordinationBlockSpec, CoordinationBlockStatus>;
export type BarrierResource = Resource<SyncBarrierSpec, SyncBarrierStatus>;

/** From the top level down. */
const ELEMENT_KINDS: readonly Kind[] = [Procedure, UnitProcedure, Operation, Phase];
const KINDS: readonly Kind[] = [...ELEMENT_KINDS, CoordinationBlock, SyncBarrier];

interface Owned {
  readonly batchRef: string;
  readonly parentRef?: { readonly kind: string; readonly name: string } | null;
}

export class ElementIndex {
  readonly #store: Store;
  /** Names by kind, and owner. */
  readonly #names = new Map<string, Map<string, Set<string>>>();
  /** The same in order, for those that have been asked for since they changed. */
  readonly #sorted = new WeakMap<Set<string>, readonly string[]>();

  constructor(store: Store) {
    this.#store = store;
    for (const kind of KINDS) {
      store.watch(kind, (event) => this.#follow(event));
      store.watchLent(kind, (resource, isThere) => (isThere ? this.#add(resource) : this.#drop(resource)));
    }
    store.watchReload(() => this.#build());
    this.#build();
  }

  #build(): void {
    for (const kind of KINDS) {
      this.#names.set(kind.kind, new Map());
      for (const resource of [...this.#store.list(kind), ...this.#store.lentOf(kind)]) this.#add(resource);
    }
  }

  /** Elements of a batch: level by level, sorted by name. */
  elementsOf(site: string, batch: string): ElementResource[] {
    return ELEMENT_KINDS.flatMap((kind) => this.#owned<ElementResource>(kind, batchKey(site, batch)));
  }

  phasesOf(site: string, batch: string): Resource<PhaseSpec, ElementStatus>[] {
    return this.#owned(Phase, batchKey(site, batch));
  }

  phasesUnder(site: string, parent: { readonly kind: string; readonly name: string }): Resource<PhaseSpec, ElementStatus>[] {
    return this.#owned(Phase, parentKey(site, parent.kind, parent.name));
  }

  blocksOf(site: string, batch: string): CoordinationResource[] {
    return this.#owned(CoordinationBlock, batchKey(site, batch));
  }

  barriersOf(site: string, batch: string): BarrierResource[] {
    return this.#owned(SyncBarrier, batchKey(site, batch));
  }

  /** Sorted by name. */
  childrenOf({ kind, metadata: { site, name } }: Pick<Resource, 'kind' | 'metadata'>): ElementResource[] {
    return ELEMENT_KINDS.flatMap((level) => this.#owned<ElementResource>(level, parentKey(site, kind, name)));
  }

  /** Everything below an element: each level sorted by name. */
  below(element: Pick<Resource, 'kind' | 'metadata'>): ElementResource[] {
    const children = this.childrenOf(element);
    return children.flatMap((child) => [child, ...this.below(child)]);
  }

  #owned<Found extends Resource>(kind: Kind, owner: string): Found[] {
    const site = owner.slice(0, owner.indexOf('/'));
    const names = this.#names.get(kind.kind)?.get(owner);
    return names === undefined ? [] : this.#inOrder(names).flatMap((name) => (this.#store.get(kind, site, name) as Found | undefined) ?? []);
  }

  #inOrder(names: Set<string>): readonly string[] {
    let sorted = this.#sorted.get(names);
    if (!sorted) this.#sorted.set(names, (sorted = [...names].sort()));
    return sorted;
  }

  /** Most events are of a status alone, and change no owner. */
  #follow({ type, resource, before }: StoreEvent): void {
    if (type === 'put' && before?.spec === resource.spec) return;
    if (before) this.#drop(before);
    if (type === 'put') this.#add(resource);
  }

  #add(resource: Resource): void {
    const owners = this.#names.get(resource.kind);
    for (const owner of ownersOf(resource)) {
      const names = owners?.get(owner) ?? new Set();
      this.#sorted.delete(names);
      owners?.set(owner, names.add(resource.metadata.name));
    }
  }

  #drop(resource: Resource): void {
    const owners = this.#names.get(resource.kind);
    for (const owner of ownersOf(resource)) {
      const names = owners?.get(owner);
      names?.delete(resource.metadata.name);
      if (names) this.#sorted.delete(names);
      if (names?.size === 0) owners?.delete(owner);
    }
  }
}

export const elementIndex = onePerStore((store) => new ElementIndex(store));

function ownersOf({ metadata: { site }, spec }: Resource): string[] {
  const { batchRef, parentRef } = spec as Owned;
  return [...(batchRef ? [batchKey(site, batchRef)] : []), ...(parentRef ? [parentKey(site, parentRef.kind, parentRef.name)] : [])];
}

function batchKey(site: string, batch: string): string {
  return `${site}/${batch}`;
}

function parentKey(site: string, kind: string, name: string): string {
  return `${site}/${kind}/${name}`;
}
