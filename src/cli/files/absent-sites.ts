/** Sites of which the files hold a part, and which themselves stand elsewhere. */
import { Site } from '../../domains/plant/kind.js';
import { isResourceName, isSiteName } from '../../platform/base/resource-name.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import type { JudgedError } from './offline.js';
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
  return [...first].filter(([name]) => isSiteName(name) && !there.has(name)).map(([name, manifest]) => ({ name, first: manifest }));
}

/** Whether what a manifest names and the files do not hold can stand on a box: of a name that nothing can have, no box has it. */
export function canBeElsewhere({ code, error, field }: JudgedError, value: unknown): boolean {
  if (code === 'unknown_reference') {
    const name = /names \S+ (.*), which does not exist/s.exec(error)?.[1];
    return name === undefined || isResourceName(name);
  }
  if (code !== 'not_found') return false;
  const namespace = (value as { readonly metadata?: { readonly namespace?: unknown } | null } | null)?.metadata?.namespace;
  return field !== 'metadata.namespace' || (typeof namespace === 'string' && isSiteName(namespace.replace(/^site-/, '')));
}

/** What stands for it, so that all that is in it is judged. */
export function assumed({ name }: AbsentSite): unknown {
  return { apiVersion: apiVersionOf(Site), kind: Site.kind, metadata: { name } };
}
