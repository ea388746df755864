/** Conditions of the units that work begins on, the same for a batch, an ad-hoc run and its Start again (decisions 3.2). */
import { type Told, told } from '../../../../runtime/vocabulary/told.js';
import type { RefusalContext } from '../../../platform/base/refusal.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import { unitUnderCheck } from '../../loop-checks/equipment.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { missingPermissive } from '../../placement/conditions.js';
import { Unit, unitMode } from '../../plant/kind.js';
import { NO_CELL } from '../../plant/rules.js';
import type { Blocker, StartCondition } from './conditions.js';

export interface UnitFacts {
  readonly store: StoreReader;
  readonly runtimes: UnitRuntimes;
}

/** Units that are to be taken. */
export interface EquipmentLook extends UnitFacts {
  readonly site: string;
  readonly units: readonly string[];
  /** Each unit is waited for when its turn comes: what keeps it from being taken now is a warning. */
  readonly isOnDemand: boolean;
}

export interface StorageLook {
  /** Less free space than `storage.reserveBytes`. */
  storageLow(): boolean;
}

export const RUNTIME_READY: StartCondition<EquipmentLook> = {
  rule: 'runtime-not-ready',
  check: 'runtime-ready',
  find: ({ store, runtimes, site, units }) =>
    [...new Set(units)].sort().flatMap((name): Blocker[] => {
      if (runtimes.link(site, name)?.ready) return [];
      const named = { element: name, refusal: `the runtime of ${name} is not ready`, units: [name], about: { kind: Unit.kind, name, unit: name } };
      return store.get(Unit, site, name)?.spec.processCellName === ''
        ? [{ ...named, message: `${name}: ${NO_CELL}`, told: told('no-cell', { unit: name }), liftedBy: { tier: 'engineer', action: `give unit ${name} a process cell` } }]
        : [
            {
              ...named,
              message: `the runtime of ${name} is not ready`,
              told: told('runtime-not-ready', { unit: name }),
              liftedBy: { tier: 'engineer', action: `restart the runtime of unit ${name}` },
            },
          ];
    }),
  refuse: (blockers) => {
    const units = blockers.flatMap((blocker) => blocker.units ?? []);
    return { message: `the runtime of ${units.join(', ')} is not ready`, told: told('runtime-not-ready', { unit: units.join(', ') }), units, context: { units } };
  },
};

export const PERMISSIVES: StartCondition<EquipmentLook> = {
  rule: 'permissive',
  check: 'equipment',
  find: (look) =>
    look.units.flatMap((name): Blocker[] => {
      const missing = permissiveOf(look, look.site, name);
      if (!missing) return [];
      const liftedBy = { tier: 'operate', action: `make ${missing.rule} of unit ${name} TRUE` } as const;
      return [{ ...missing, element: name, liftedBy, units: [name], context: { rule: missing.rule }, ...(look.isOnDemand ? { severity: 'warning' } : {}) }];
    }),
};

export const UNITS_AUTOMATIC: StartCondition<EquipmentLook> = {
  rule: 'mode-manual',
  check: 'equipment',
  find: ({ store, site, units }) =>
    units.flatMap((name): Blocker[] => {
      const unit = store.get(Unit, site, name);
      if (!unit || unitMode(unit.spec) !== 'Manual') return [];
      const liftedBy = { tier: 'operate', action: `set unit ${name} to Automatic` } as const;
      return [{ message: `unit ${name} is in Manual`, told: told('unit-in-manual', { unit: name }), element: name, liftedBy, units: [name], context: { unit: name } }];
    }),
  refuse: ([first, ...others]) => ({ ...first, units: [first, ...others].flatMap(({ units = [] }) => units) }),
};

/** A person may stand at a device of the unit (ADR 0098). */
export const UNDER_LOOP_CHECK: StartCondition<EquipmentLook> = {
  rule: 'under-loop-check',
  check: 'equipment',
  find: ({ store, site, units, isOnDemand }) =>
    units.flatMap((name): Blocker[] => {
      const checked = underCheckNow(store, site, name);
      if (!checked) return [];
      const { message, told: as, context } = checked;
      const liftedBy = { tier: 'operate', action: `abort loop check ${String(context.loopCheck)}, or wait until it is through` } as const;
      return [{ message, told: as, element: name, liftedBy, units: [name], context: { ...context, unit: name }, ...(isOnDemand ? { severity: 'warning' } : {}) }];
    }),
};

export const STORAGE: StartCondition<StorageLook> = {
  rule: 'storage-low',
  check: 'storage',
  find: (look) =>
    look.storageLow()
      ? [{ message: 'the storage of the appliance is nearly full', told: told('storage-low', {}), liftedBy: { tier: 'admin', action: 'free space on the appliance' } }]
      : [],
};

/** Why work may not begin on the unit now, although it is free: judged when the unit is taken (decisions 1.5, `permissives`; ADR 0098). */
export function withheldBy(facts: UnitFacts, site: string, name: string): { readonly rule: string; readonly message: string } | undefined {
  const [missing, checked] = [permissiveOf(facts, site, name), unitUnderCheck(facts.store, site, name)];
  if (missing) return { rule: missing.rule, message: missing.message };
  return checked && { rule: UNDER_LOOP_CHECK.rule, message: checked.message };
}

/** The loop check that has outputs of the unit in its hand; undefined where none has. */
export function underCheckNow(read: StoreReader, site: string, unit: string): { readonly message: string; readonly told: Told; readonly context: RefusalContext } | undefined {
  const refusal = unitUnderCheck(read, site, unit);
  if (!refusal) return undefined;
  const { message, context } = refusal;
  const { loopCheck, ioModule, operator } = context;
  return { message, context, told: told('under-loop-check', { unit, loopCheck: String(loopCheck), ioModule: String(ioModule), operator: String(operator) }) };
}

function permissiveOf({ store, runtimes }: UnitFacts, site: string, name: string): { readonly rule: string; readonly message: string; readonly told: Told } | undefined {
  const unit = store.get(Unit, site, name);
  const link = runtimes.link(site, name);
  const missing = unit && link && missingPermissive(unit.spec, link);
  if (!missing) return undefined;
  const message = missing.message || missing.conditionST;
  return { rule: `permissive-${missing.name}`, message: `unit ${name}: ${message}`, told: told('permissive-missing', { unit: name, permissive: missing.name, message }) };
}
