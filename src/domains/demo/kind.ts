/** What the demonstration has written, so that it is written once and never over the work of others. Never served. */
import * as v from 'valibot';
import type { Kind } from '../../platform/store/kind.js';

/** Name of the only one. */
export const DEMO_MARK = 'demo';

export const DemoMarkSpec = v.strictObject({
  /** SHA-256 (hex) of the manifests that were applied last. */
  version: v.string(),
  /** By `<kind>/<name>`: SHA-256 (hex) of the resource as the demonstration left it. */
  applied: v.record(v.string(), v.string()),
});
export type DemoMarkSpec = v.InferOutput<typeof DemoMarkSpec>;

export const DemoMark: Kind<DemoMarkSpec, Readonly<Record<string, never>>> = {
  kind: 'DemoMark',
  group: 'system',
  scope: 'cluster',
  action: 'demo',
  spec: DemoMarkSpec,
  body: 'document',
  apply: { how: 'no', reason: 'it is written by the demonstration plant' },
  initialStatus: () => ({}),
};
