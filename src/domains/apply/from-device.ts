/**
 * A copy of a plant must not drive the plant (ADR 0015): an exported I/O module says which box it comes from, and arrives
 * disabled on any other.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import type { Resource } from '../../platform/store/resource.js';
import type { IOModuleSpec } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { assetKey } from '../io-modules/rules.js';

/** Annotation of an exported I/O module: the device id of its box. Read and taken off by apply. */
export const FROM_DEVICE = 'lineside.io/device-id';

export interface Arrival {
  readonly name: string;
  readonly spec: IOModuleSpec;
  readonly before: Resource<IOModuleSpec, unknown> | undefined;
  readonly fromDevice: string | undefined;
  /** Of this box. */
  readonly deviceId: string | undefined;
}

/** The spec as it is taken: one that is here already for the same device stays as somebody here has decided. */
export function arrived({ name, spec, before, fromDevice, deviceId }: Arrival): { readonly spec: IOModuleSpec; readonly warning?: string } {
  if (isSimulated(spec.protocol) || fromDevice === undefined || deviceId === undefined || fromDevice === deviceId) return { spec };
  if (before && isSameDevice(before.spec, spec)) return { spec: { ...spec, enabled: isEnabled(before.spec) } };
  const warning = `I/O module ${name} comes from another box (device id ${fromDevice}) and arrives disabled: no connection is made until it is enabled here; enable it only when the other box does not drive the device`;
  return { spec: { ...spec, enabled: false }, warning };
}

function isSameDevice(before: IOModuleSpec, after: IOModuleSpec): boolean {
  return assetKey(before) === assetKey(after);
}
