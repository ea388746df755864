/**
 * The store as it will be once the manifests before this one are applied (decisions Q-CHANGE-06): later manifests see
 * earlier ones, and nothing is written until all are accepted.
 */
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { PastEntry, PastSaying } from '../../platform/store/past-index.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';

export class StagedStore implements StoreReader {
  readonly #base: StoreReader;
  /** kind -> `site/name` -> resource. */
  readonly #staged = new Map<string, Map<string, Resource>>();
  readonly puts: Put[] = [];

  constructor(base: StoreReader) {
    this.#base = base;
  }

  get<Spec, Status>(kind: Kind<Spec, Status>, site: string, name: string): Resource<Spec, Status> | undefined {
    const staged = this.#staged.get(kind.kind)?.get(`${site}/${name}`);
    return (staged as Resource<Spec, Status> | undefined) ?? this.#base.get(kind, site, name);
  }

  list<Spec, Status>(kind: Kind<Spec, Status>, site?: string): readonly Resource<Spec, Status>[] {
    const stored = this.#base.list(kind, site);
    const staged = this.#staged.get(kind.kind);
    if (!staged) return stored;
    const added = [...staged.values()].filter((resource) => site === undefined || resource.metadata.site === site) as Resource<Spec, Status>[];
    const kept = stored.filter((resource) => !staged.has(`${resource.metadata.site}/${resource.metadata.name}`));
    return [...kept, ...added].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  pastIndex<Entry>(kind: { readonly kind: string }, site?: string, saying?: PastSaying<Entry>): readonly PastEntry<Entry>[] {
    return this.#base.pastIndex(kind, site, saying);
  }

  /** Stages one put; what it says replaces what is there, member by member, as the store will do it. */
  put(put: Put): void {
    this.puts.push(put);
    const before = this.get(put.kind, put.site, put.name);
    const spec = put.spec === undefined ? before?.spec : put.spec;
    const resource: Resource = {
      kind: put.kind.kind,
      metadata: {
        uid: '',
        ownerReferences: [],
        generation: 0,
        resourceVersion: 0,
        createdAt: '',
        updatedAt: '',
        ...before?.metadata,
        name: put.name,
        site: put.site,
        labels: put.labels ?? before?.metadata.labels ?? {},
        annotations: put.annotations ?? before?.metadata.annotations ?? {},
      },
      spec,
      status: put.status ?? before?.status ?? put.kind.initialStatus(spec),
    };
    const staged = this.#staged.get(put.kind.kind) ?? new Map<string, Resource>();
    staged.set(`${put.site}/${put.name}`, resource);
    this.#staged.set(put.kind.kind, staged);
  }
}
