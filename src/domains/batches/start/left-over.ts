/** What the work before has left on a unit: phases that have ended and whose resetting charts bring the equipment back (decisions 3.3). */
import { isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Store } from '../../../platform/store/store.js';
import type { UnitStatus } from '../../plant/kind.js';
import { Phase, type PhaseSpec, type ElementStatus } from '../../procedures/kind.js';
import { ROOT_KINDS, scopeOf } from '../../procedures/roots.js';
import { elementIndex, type ElementResource } from '../tree/element-index.js';
import { hasResetting } from '../tree/held-units.js';

/** The root of the last work on a unit, an ad-hoc run or a unit procedure of a batch, where it is there. */
export function lastWorkOn(store: StoreReader, site: string, { lastWork }: Pick<UnitStatus, 'lastWork'>): ElementResource | undefined {
  const kind = lastWork && ROOT_KINDS[lastWork.kind as keyof typeof ROOT_KINDS];
  return kind && (store.get(kind, site, lastWork.name) as ElementResource | undefined);
}

/** Batch or ad-hoc root that has to reset what it has left on the unit before somebody else begins there; '' when none has. */
export function scopeToReset(store: Store, site: string, unit: string, status: UnitStatus): string {
  const last = lastWorkOn(store, site, status);
  if (!last || status.state === '' || !isFinal(status.state)) return '';
  const index = elementIndex(store);
  const scope = scopeOf(store, last);
  const elements = last.spec.batchRef === '' ? [last, ...index.below(last)] : index.phasesOf(site, scope);
  const left = elements.filter(({ kind: level }) => level === Phase.kind) as readonly Resource<PhaseSpec, ElementStatus>[];
  return left.some(({ spec, status }) => spec.unitRef === unit && isFinal(status.state) && hasResetting(spec)) ? scope : '';
}
