/**
 * The store as it will be once the manifests before this one are applied (decisions Q-CHANGE-06): later manifests see
 * earlier ones, and nothing is written until all are accepted.
 */
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { PastEntry, PastSaying } from '../../platform/store/past-index.js';
import type { Ref, Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { StagedList } from './staged-list.js';

/** What was read of a store, and what stood there. */
export class ReadTrace {
  readonly #gets = new Map<string, { readonly kind: Kind; readonly site: string; readonly name: string; readonly found: unknown }>();
  readonly #lists = new Map<string, { readonly kind: Kind; readonly site: string | undefined; readonly found: unknown }>();
  readonly #has = new Map<string, { readonly kind: Kind; readonly site: string; readonly name: string; readonly isThere: boolean }>();
  #readsPast = false;

  /** What a put is read by. */
  static keysOf({ kind, site, name }: Put): readonly string[] {
    return [`${kind.kind}/${site}/${name}`, listKey(kind, site), listKey(kind, undefined)];
  }

  noteGet(kind: Kind, site: string, name: string, found: unknown): void {
    const key = `${kind.kind}/${site}/${name}`;
    if (!this.#gets.has(key)) this.#gets.set(key, { kind, site, name, found });
  }

  noteHas(kind: Kind, site: string, name: string, isThere: boolean): void {
    const key = `${kind.kind}/${site}/${name}`;
    if (!this.#has.has(key)) this.#has.set(key, { kind, site, name, isThere });
  }

  noteList(kind: Kind, site: string | undefined, found: unknown): void {
    const key = listKey(kind, site);
    if (!this.#lists.has(key)) this.#lists.set(key, { kind, site, found });
  }

  /** Of the past nobody can tell whether it has changed. */
  notePast(): void {
    this.#readsPast = true;
  }

  touches(keys: ReadonlySet<string>): boolean {
    if (keys.size === 0) return false;
    return [...keys].some((key) => this.#gets.has(key) || this.#lists.has(key) || this.#has.has(key));
  }

  /** A resource that changes is another object, and so is a list in which one has changed (PresentRows). */
  isTrueOf(store: StoreReader): boolean {
    if (this.#readsPast) return false;
    for (const { kind, site, name, found } of this.#gets.values()) if (store.get(kind, site, name) !== found) return false;
    for (const { kind, site, name, isThere } of this.#has.values()) if ((store.get(kind, site, name) !== undefined) !== isThere) return false;
    for (const { kind, site, found } of this.#lists.values()) if (store.list(kind, site) !== found) return false;
    return true;
  }
}

function listKey({ kind }: { readonly kind: string }, site: string | undefined): string {
  return `${kind}/${site ?? '*'}/`;
}

export class StagedStore implements StoreReader {
  readonly #base: StoreReader;
  #trace: ReadTrace | undefined;
  /** kind -> `site/name` -> resource; undefined of one that is removed. */
  readonly #staged = new Map<string, Map<string, Resource | undefined>>();
  /** Lists that were asked for, each of a list of the store below. */
  readonly #lists = new Map<string, StagedList>();

  constructor(base: StoreReader) {
    this.#base = base;
  }

  /** What is read of the store below from here on, until `endTrace`. */
  beginTrace(): ReadTrace {
    return (this.#trace = new ReadTrace());
  }

  endTrace(): void {
    this.#trace = undefined;
  }

  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined {
    const below = this.#base.get(kind, site, name);
    this.#trace?.noteGet(kind as Kind, site, name, below);
    const staged = this.#staged.get(kind.kind);
    const key = `${site}/${name}`;
    return staged?.has(key) ? (staged.get(key) as Resource<Spec, Status> | undefined) : below;
  }

  /** As `get`, and rests on nothing but that it is there. */
  has(kind: Kind, site: string, name: string): boolean {
    const isThere = this.#base.get(kind, site, name) !== undefined;
    this.#trace?.noteHas(kind, site, name, isThere);
    const staged = this.#staged.get(kind.kind);
    const key = `${site}/${name}`;
    return staged?.has(key) ? staged.get(key) !== undefined : isThere;
  }

  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[] {
    const stored = this.#base.list(kind, site);
    this.#trace?.noteList(kind as Kind, site, stored);
    const staged = this.#staged.get(kind.kind);
    if (!staged) return stored;
    const key = listKey(kind, site);
    let list = this.#lists.get(key);
    if (list?.stored !== stored) {
      list = new StagedList(stored);
      for (const [place, resource] of staged) {
        const [of = '', name = ''] = place.split('/');
        if (site === undefined || of === site) list.change({ site: of, name }, resource);
      }
      this.#lists.set(key, list);
    }
    return list.read() as readonly Resource<Spec, Status>[];
  }

  pastIndex<Entry>(kind: { readonly kind: string }, site?: string, saying?: PastSaying<Entry>): readonly PastEntry<Entry>[] {
    this.#trace?.notePast();
    return this.#base.pastIndex(kind, site, saying);
  }

  /** What is staged, as it will be; without what is removed. */
  *staged(): Generator<Resource> {
    for (const resources of this.#staged.values()) for (const resource of resources.values()) if (resource) yield resource;
  }

  /** Whether it is not as it is stored. */
  isStaged({ kind, site, name }: Ref): boolean {
    return this.#staged.get(kind)?.has(`${site}/${name}`) === true;
  }

  /** Stages that it goes. */
  remove(ref: Ref): void {
    this.#stage(ref, undefined);
  }

  /** Stages one put; what it says replaces what is there, member by member, as the store will do it. */
  put(put: Put): void {
    const before = this.get(put.kind, put.site, put.name);
    const spec = put.spec === undefined ? before?.spec : put.spec;
    const resource: Resource = {
      kind: put.kind.kind,
      metadata: {
        uid: '',
        generation: 0,
        resourceVersion: 0,
        createdAt: '',
        updatedAt: '',
        ...before?.metadata,
        name: put.name,
        site: put.site,
        labels: put.labels ?? before?.metadata.labels ?? {},
        annotations: put.annotations ?? before?.metadata.annotations ?? {},
        ownerReferences: put.ownerReferences ?? before?.metadata.ownerReferences ?? [],
      },
      spec,
      status: put.status ?? before?.status ?? put.kind.initialStatus(spec),
    };
    this.#stage({ kind: put.kind.kind, site: put.site, name: put.name }, resource);
  }

  #stage({ kind, site, name }: Ref, resource: Resource | undefined): void {
    const staged = this.#staged.get(kind) ?? new Map<string, Resource | undefined>();
    staged.set(`${site}/${name}`, resource);
    for (const of of [site, undefined]) this.#lists.get(listKey({ kind }, of))?.change({ site, name }, resource);
    this.#staged.set(kind, staged);
  }
}
