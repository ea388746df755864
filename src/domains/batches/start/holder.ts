/** What has a unit, as people call it: a batch by its number, a run without one by its name. */
import type { StoreReader } from '../../../platform/store/kind.js';
import type { UnitStatus } from '../../plant/kind.js';
import { unavailableText } from '../../plant/unit-owner.js';
import { Batch } from '../kind.js';

export function holderText(read: StoreReader, site: string, holder: string): string {
  return read.get(Batch, site, holder)?.spec.batchID || holder;
}

/** Why nothing can begin on the unit. */
export function unavailableBecause(read: StoreReader, site: string, unit: string, status: Pick<UnitStatus, 'allocatedTo' | 'state'>): string {
  return unavailableText(unit, status, holderText(read, site, status.allocatedTo));
}
