/** Where a control module stands in the plant: below a unit, or below another module that does. */
import type { StoreReader } from '../../platform/store/kind.js';
import { ControlModule, type ControlModuleSpec } from '../control-modules/kind.js';

export const NESTING_MAX = 4; // decisions Q-PROG-10

/** The unit a module belongs to through its chain of parents; '' when it has none. */
export function unitOf(read: StoreReader, site: string, module: ControlModuleSpec): string {
  let above: ControlModuleSpec | undefined = module;
  for (let depth = 0; above && depth <= NESTING_MAX; depth += 1) {
    if (above.parentKind === 'Unit') return above.parentName;
    above = above.parentName === '' ? undefined : read.get(ControlModule, site, above.parentName)?.spec;
  }
  return '';
}
