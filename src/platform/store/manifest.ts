/** A resource as the document that apply takes (decisions 1.1, Q-CHANGE-10): what an engineer configures of it, and what export writes. */
import * as v from 'valibot';
import { isReservedKey } from './envelope.js';
import type { Kind } from './kind.js';
import type { Resource } from './resource.js';

export const MANIFEST_METADATA = {
  name: v.string(),
  /** Absent for what belongs to no site. */
  namespace: v.optional(v.string()),
  labels: v.optional(v.record(v.string(), v.string())),
  annotations: v.optional(v.record(v.string(), v.string())),
};

export interface Manifest<Spec = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: v.InferOutput<v.StrictObjectSchema<typeof MANIFEST_METADATA, undefined>>;
  readonly spec: Spec;
}

export function apiVersionOf({ group }: Pick<Kind, 'group'>): string {
  return `${group}.lineside.io/v1alpha1`;
}

export function manifestOf<Spec, Status>(kind: Kind<Spec, Status>, { metadata, spec }: Resource<Spec, Status>): Manifest<Spec> {
  const { name, site, labels, annotations } = metadata;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name,
      ...(site === '' ? {} : { namespace: `site-${site}` }),
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: kind.redact?.(spec) ?? spec,
  };
}

/** What the product has written on a resource is of this box, and no other takes it (envelope.ts). */
export function withoutOwnKeys<Spec, Status>({ openKeys }: Kind<Spec, Status>, resource: Resource<Spec, Status>): Resource<Spec, Status> {
  const given = (keys: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(keys).filter(([key]) => !isReservedKey(key) || openKeys?.includes(key)));
  const { metadata } = resource;
  return { ...resource, metadata: { ...metadata, labels: given(metadata.labels), annotations: given(metadata.annotations) } };
}
