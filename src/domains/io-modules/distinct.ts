/** Whether a module is the only one of its device (decisions Q-IO-03). Pure. */
import { isSimulated } from '../../../runtime/catalog.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { assetKey } from './rules.js';

/** No other I/O module of the site has the same protocol, address and unit. A simulation is no device. */
export function isDistinct({ metadata, spec }: Resource<IOModuleSpec, IOModuleStatus>, read: StoreReader): boolean {
  if (isSimulated(spec.protocol)) return true;
  const key = assetKey(spec);
  return !read.list(IOModule, metadata.site).some((other) => other.metadata.name !== metadata.name && assetKey(other.spec) === key);
}
