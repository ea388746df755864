/** A manifest of a test, of the site that tests have. */

export function manifest(kind: string, name: string, spec: object = {}, metadata: object = { namespace: 'site-north' }) {
  return { apiVersion: 'physical.lineside.io/v1alpha1', kind, metadata: { name, ...metadata }, spec };
}
