/** Words for fields that many kinds have, and for what stands beside the spec. */

/** Of a resource itself. */
export const DESCRIPTION = { description: 'What it is, for people. It has no effect.' } as const;

/** Where a control module or program is scanned. */
export const SCAN_INTERVAL_EXAMPLES = ['100ms', '1s'] as const;

/** Beside the spec, in the bodies of the routes. */
export const BODY_WORDS = {
  name: ['Name of the resource: lower case letters, digits and hyphens, at most 63. It cannot be changed.', 'reactor-1'],
  labels: "Keys with short texts, by which people and programs find resources. Keys under lineside.io/ are the product's own.",
  site: 'Name of the site that the resource belongs to.',
  createdAt: 'When it was made.',
  updatedAt: 'When it was last changed.',
  generation: 'How often the spec has been changed, from 1.',
  conditions: 'What is the matter with it, each with status, reason and a sentence.',
} as const;

/** Members of a document beside `spec`. */
export const METADATA_WORDS = {
  name: BODY_WORDS.name,
  namespace: ['Namespace of its site, site-<name of the site>. What belongs to no site has none.', 'site-north'],
  labels: BODY_WORDS.labels,
  annotations: 'Keys with texts of any length. Nothing is found by them.',
} as const;
