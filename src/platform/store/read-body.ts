import type { Resource } from './resource.js';

/** The `...metadata` of read bodies: labels, createdAt, updatedAt, generation, and `site` for namespaced kinds (decisions 1.1). */
export function metadataBody({ metadata }: Resource): Record<string, unknown> {
  return {
    labels: metadata.labels,
    createdAt: metadata.createdAt,
    updatedAt: metadata.updatedAt,
    generation: metadata.generation,
    ...(metadata.site === '' ? {} : { site: metadata.site }),
  };
}
