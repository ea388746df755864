/** What has a unit, as people call it: a batch by its number, a run without one by its name. */
import { type Told, told } from '../../../../runtime/vocabulary/told.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { UnitStatus } from '../../plant/kind.js';
import { unavailableText } from '../../plant/unit-owner.js';
import { Batch } from '../kind.js';

export function holderText(read: StoreReader, site: string, holder: string): string {
  return read.get(Batch, site, holder)?.spec.batchID || holder;
}

/** Why nothing can begin on the unit, as a code. */
export function unavailableTold(read: StoreReader, site: string, unit: string, { allocatedTo, state }: Pick<UnitStatus, 'allocatedTo' | 'state'>): Told {
  return allocatedTo === '' ? told('unit-not-at-rest', { unit, state }) : told('unit-taken', { unit, holder: holderText(read, site, allocatedTo) });
}

/** Why nothing can begin on the unit. */
export function unavailableBecause(read: StoreReader, site: string, unit: string, status: Pick<UnitStatus, 'allocatedTo' | 'state'>): string {
  return unavailableText(unit, status, holderText(read, site, status.allocatedTo));
}
