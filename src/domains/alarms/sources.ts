/** What an alarm definition watches: the units concerned, the state of its source, its arming gate (decisions Q-ALARM-12, Q-ALARM-13). */
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { moduleHealth } from '../control-modules/dto.js';
import { ControlModule } from '../control-modules/kind.js';
import { modulesOf, resolvedModuleOf } from '../control-modules/modules.js';
import { IOModule } from '../io-modules/kind.js';
import { Unit } from '../plant/kind.js';
import { phaseStates } from '../procedures/phase-states.js';
import type { AlarmDefinitionSpec } from './kind.js';
import { unitOf } from '../plant/unit-of.js';

/** Units concerned by a definition: its unit, the unit of its module, or every unit with a tag on its I/O module. */
export function unitsConcerned({ sourceKind, sourceName }: Pick<AlarmDefinitionSpec, 'sourceKind' | 'sourceName'>, read: StoreReader, site: string): string[] {
  if (sourceKind === 'Unit') return [sourceName];
  if (sourceKind === 'ControlModule') {
    const module = read.get(ControlModule, site, sourceName);
    return module ? [unitOf(read, site, module.spec)] : [];
  }
  return read
    .list(Unit, site)
    .map((unit) => unit.metadata.name)
    .filter((unit) => modulesOf(read, site, unit).some((module) => resolvedModuleOf(read, module)?.ioModules.includes(sourceName)));
}

/** State of the source as its own route serves it; '' while there is none to compare with. */
export function sourceState({ sourceKind, sourceName }: AlarmDefinitionSpec, read: StoreReader, site: string): string {
  switch (sourceKind) {
    case 'Unit':
      return read.get(Unit, site, sourceName)?.status.state ?? '';
    case 'IOModule':
      return read.get(IOModule, site, sourceName)?.status.state ?? '';
    case 'ControlModule':
      return read.get(ControlModule, site, sourceName) ? moduleHealth(read, site, sourceName).state : '';
  }
}

/** Why a definition that is not armed is not (contract 2, Alarm definition). */
export function suppressionOf({ enabled }: Pick<AlarmDefinitionSpec, 'enabled'>): 'Disabled' | 'NotArmed' {
  return enabled ? 'NotArmed' : 'Disabled';
}

/** In service, and without a gate or with an open one: a phase of the template on the unit is in one of the states. */
export function isArmed({ enabled, armingGate }: AlarmDefinitionSpec, store: Store, site: string): boolean {
  if (!enabled) return false;
  if (!armingGate) return true;
  return phaseStates(store).isAnyIn(site, armingGate.unitRef, armingGate.phaseTemplateRef, armingGate.states);
}
