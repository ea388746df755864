/** Sites of which the files hold a part, and which themselves stand elsewhere. */
import { Site } from '../../domains/plant/kind.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import type { FiledManifest } from './manifest-files.js';

export interface AbsentSite {
  readonly name: string;
  /** The first that names it. */
  readonly first: FiledManifest;
}

/** In the order in which they are named; what no site can be called is refused where it stands. */
export function absentSitesOf(manifests: readonly FiledManifest[]): readonly AbsentSite[] {
  const first = new Map<string, FiledManifest>();
  const there = new Set<unknown>();
  for (const manifest of manifests) {
    const { kind, metadata } = (manifest.value ?? {}) as { readonly kind?: unknown; readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown } | null };
    if (kind === Site.kind) there.add(metadata?.name);
    const name = typeof metadata?.namespace === 'string' ? /^site-(.+)$/.exec(metadata.namespace)?.[1] : undefined;
    if (name !== undefined && !first.has(name)) first.set(name, manifest);
  }
  return [...first].filter(([name]) => isResourceName(name) && !there.has(name)).map(([name, manifest]) => ({ name, first: manifest }));
}

/** What stands for it, so that all that is in it is judged. */
export function assumed({ name }: AbsentSite): unknown {
  return { apiVersion: apiVersionOf(Site), kind: Site.kind, metadata: { name } };
}
