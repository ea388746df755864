/**
 * Equipment in the hand of a loop check (ADR 0098): where one goes through outputs a person may stand at the device, so nothing that would
 * take them begins by itself or by somebody else; whoever wants to begin aborts the check first. Pure but for reading.
 */
import { conflict, type Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { LoopCheck } from './kind.js';
import { handsOn, unitsOn } from './permission.js';

/** The check that is under way in a site, and what its outputs belong to. */
interface CheckedEquipment {
  readonly id: string;
  readonly ioModule: string;
  /** Display name of whoever conducts it. */
  readonly operator: string;
  readonly units: ReadonlySet<string>;
  readonly controlModules: ReadonlySet<string>;
}

/** Undefined where none is under way; one that has ended keeps nobody from his equipment, wherever its outputs are by then. */
function checkedIn(read: StoreReader, site: string): CheckedEquipment | undefined {
  const check = read.list(LoopCheck, site).find(({ status }) => status.phase === 'Running');
  const module = check && read.get(IOModule, site, check.spec.module);
  if (!check || !module) return undefined;
  const hands = handsOn(read, module);
  return {
    id: check.metadata.name,
    ioModule: check.spec.module,
    operator: check.spec.operator.displayName,
    units: unitsOn(read, module, hands),
    controlModules: new Set(hands.flatMap(({ modules }) => modules)),
  };
}

function underCheck(what: string, { id, ioModule, operator }: CheckedEquipment): Refusal {
  return conflict(
    'under_loop_check',
    `outputs of ${what} are in loop check ${id} of I/O module ${ioModule}, which ${operator} conducts; somebody may stand at the device: abort the check first`,
    {
      loopCheck: id,
      ioModule,
      operator,
    },
  );
}

/** Why work may not begin on the unit now; undefined where it may. 409 `under_loop_check`. */
export function unitUnderCheck(read: StoreReader, site: string, unit: string): Refusal | undefined {
  const checked = checkedIn(read, site);
  return checked?.units.has(unit) ? underCheck(`unit ${unit}`, checked) : undefined;
}

/** Why the control module may not go to Automatic now; undefined where it may. 409 `under_loop_check`. */
export function moduleUnderCheck(read: StoreReader, site: string, controlModule: string): Refusal | undefined {
  const checked = checkedIn(read, site);
  return checked?.controlModules.has(controlModule) ? underCheck(`control module ${controlModule}`, checked) : undefined;
}
