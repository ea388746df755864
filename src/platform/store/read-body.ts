import * as v from 'valibot';
import type { Metadata, Resource } from './resource.js';

/** The `...metadata` of read bodies of a kind that belongs to no site: labels, createdAt, updatedAt, generation (decisions 1.1). */
export const CLUSTER_METADATA = { labels: v.record(v.string(), v.string()), createdAt: v.string(), updatedAt: v.string(), generation: v.number() };
/** Of a kind of a site: with its `site`. */
export const SITE_METADATA = { ...CLUSTER_METADATA, site: v.string() };

export type ClusterMetadata = Pick<Metadata, 'labels' | 'createdAt' | 'updatedAt' | 'generation'>;
export type SiteMetadata = ClusterMetadata & Pick<Metadata, 'site'>;

export function clusterMetadataBody({ metadata: { labels, createdAt, updatedAt, generation } }: Resource): ClusterMetadata {
  return { labels, createdAt, updatedAt, generation };
}

export function metadataBody(resource: Resource): SiteMetadata {
  return { ...clusterMetadataBody(resource), site: resource.metadata.site };
}
