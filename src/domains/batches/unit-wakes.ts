/** Which batches have to look again when a unit has changed: a site of fifty batches would look fifty times at each otherwise. */
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { UnitSpec, UnitStatus } from '../plant/kind.js';
import { openBatches } from './reading/open-batches.js';

type UnitResource = Resource<UnitSpec, UnitStatus>;

/** The holder, as long as it stays the same; else everybody who has the unit among his, and the new holder: work that has ended may have it to reset. */
export function batchesOnUnit(store: Store, unit: UnitResource, before: UnitResource | undefined): string[] {
  const { site, name } = unit.metadata;
  const holder = unit.status.allocatedTo;
  if (holder !== '' && before?.status.allocatedTo === holder) return [holder];
  // whoever waits for a class may wait for this one too
  const waiting = openBatches(store, site).filter(({ status }) => status.allocations.some(({ unit: own, since }) => own === name || (own === '' && since !== '')));
  return [...new Set([...(holder === '' ? [] : [holder]), ...waiting.map(({ metadata }) => metadata.name)])];
}
