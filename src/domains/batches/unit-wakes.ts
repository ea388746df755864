/** Which batches have to look again when a unit has changed: a site of fifty batches would look fifty times at each otherwise. */
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { UnitSpec, UnitStatus } from '../plant/kind.js';
import { Batch, isFinalBatch } from './kind.js';

type UnitResource = Resource<UnitSpec, UnitStatus>;

/** The holder, as long as it stays the same; else everybody who has the unit among his. */
export function batchesOnUnit(read: StoreReader, unit: UnitResource, before: UnitResource | undefined): string[] {
  const { site, name } = unit.metadata;
  const holder = unit.status.allocatedTo;
  if (holder !== '' && before?.status.allocatedTo === holder) return [holder];
  return read
    .list(Batch, site)
    .filter(({ status }) => status.phase !== 'Pending' && !isFinalBatch(status.phase) && status.allocations.some((allocation) => allocation.unit === name))
    .map(({ metadata }) => metadata.name);
}
