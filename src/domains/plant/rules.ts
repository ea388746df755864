/** Rules of the physical hierarchy: references that must exist and what a delete would leave dangling (decisions Q-ERR-11, D-UNIT-02). */
import { isDeepStrictEqual } from 'node:util';
import { checkCondition } from '../../../runtime/language/checker.js';
import { parseCondition } from '../../../runtime/language/parser.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import type { Admission, Dependent, Kind, StoreReader } from '../../platform/store/kind.js';
import { kindNamed } from '../../platform/store/named-kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Batch } from '../batches/kind.js';
import type { ControlModule } from '../control-modules/kind.js';
import type { ControlProgram } from '../logic/kind.js';
import type { Area, Enterprise, ProcessCell, Site, Unit, UnitSpec, UnitStatus } from './kind.js';
import { workOn } from './unit-owner.js';

const UNIT_SCAN_MIN_MS = 10; // decisions 1.5
const UNIT_SCAN_MAX_MS = 10_000;
const FINAL_BATCH = ['Complete', 'Stopped', 'Aborted', 'Failed'];

// biome-ignore lint/suspicious/noExplicitAny: any kind may be asked for by name
type AnyKind = Kind<any, any>;

export const SITE = kindNamed<typeof Site>('Site');
export const ENTERPRISE = kindNamed<typeof Enterprise>('Enterprise');
export const AREA = kindNamed<typeof Area>('Area');
export const PROCESS_CELL = kindNamed<typeof ProcessCell>('ProcessCell');
export const UNIT = kindNamed<typeof Unit>('Unit');
const CONTROL_MODULE = kindNamed<typeof ControlModule>('ControlModule');
const CONTROL_PROGRAM = kindNamed<typeof ControlProgram>('ControlProgram');
const BATCH = kindNamed<typeof Batch>('Batch');

/** Everything that may stand in a site; audit and revisions do not hold it (decisions Q-ERR-11). */
const SITE_CONTENTS: readonly AnyKind[] = [
  'Area',
  'ProcessCell',
  'Unit',
  'ControlModule',
  'IOModule',
  'Controller',
  'SimulationPreset',
  'ControlProgram',
  'AlarmDefinition',
  'Alarm',
  'CoordinationBlock',
  'SyncBarrier',
  'MasterRecipe',
  'ControlRecipe',
  'Batch',
  'Procedure',
  'UnitProcedure',
  'Operation',
  'Phase',
  'ProcedureTemplate',
  'UnitProcedureTemplate',
  'OperationTemplate',
  'PhaseTemplate',
  'ChangeRequest',
  'BatchRecord',
].map((kind) => kindNamed<AnyKind>(kind));

/** @throws Refusal `unknown_reference` when a reference is set and points nowhere (decisions D-ERR-02, D-UNIT-02). */
export function mustExist(read: StoreReader, kind: AnyKind, site: string, name: string, field: string): void {
  if (name === '' || read.get(kind, site, name)) return;
  throw invalid('unknown_reference', field, `${field} names ${kind.kind} ${name}, which does not exist`, { kind: kind.kind, name });
}

/** The resources of a kind that pass, as dependents. */
export function dependentsIn<Spec, Status>(
  read: StoreReader,
  kind: Kind<Spec, Status>,
  site: string | undefined,
  keep: (resource: Resource<Spec, Status>) => boolean = () => true,
): Dependent[] {
  return read
    .list(kind, site)
    .filter(keep)
    .map((resource) => ({ kind: resource.kind, name: resource.metadata.name }));
}

export function sitesOf(read: StoreReader, enterprise: string): Dependent[] {
  return dependentsIn(read, SITE, '', (site) => site.spec.enterpriseName === enterprise);
}

export function contentsOfSite(read: StoreReader, site: string): Dependent[] {
  return SITE_CONTENTS.flatMap((kind) => dependentsIn(read, kind, site));
}

export function cellsOf(read: StoreReader, site: string, area: string): Dependent[] {
  return dependentsIn(read, PROCESS_CELL, site, (cell) => cell.spec.areaName === area);
}

export function unitsOfCell(read: StoreReader, site: string, cell: string): Dependent[] {
  return dependentsIn(read, UNIT, site, (unit) => unit.spec.processCellName === cell);
}

export const NO_CELL = 'the unit belongs to no process cell, so it is stored and not executed; set processCellName';

/** Members of a unit that no work on it hangs on: words, the mode for what is started next, where it would go to on a failure. */
const FREE_MEMBERS: readonly (keyof UnitSpec)[] = ['description', 'symbolId', 'mode', 'availability'];

/**
 * Where, how often and with which equipment a unit executes stays as it is while it works (D-C-13).
 * @throws Refusal 409 `active_batch` naming what would change.
 */
export function refuseUnitEdit({ metadata, spec, status }: Resource<UnitSpec, UnitStatus>, after: UnitSpec): void {
  const holder = workOn(status);
  if (holder === '') return;
  const changed = (Object.keys(after) as (keyof UnitSpec)[]).filter((member) => !FREE_MEMBERS.includes(member) && !isDeepStrictEqual(spec[member], after[member]));
  // the cell is its place in the hierarchy; without one it is not executed
  const [first] = changed.filter((member) => member !== 'processCellName' || after.processCellName === '');
  if (first === undefined) return;
  throw conflict('active_batch', `unit ${metadata.name} works for ${holder}; end that work before ${first} is changed`, { batch: holder, unit: metadata.name, field: first });
}

/** Control modules, programs of its own and open batches (decisions Q-ERR-11). */
export function unitDependents(read: StoreReader, site: string, unit: string): Dependent[] {
  return [
    ...dependentsIn(read, CONTROL_MODULE, site, ({ spec }) => spec.parentKind === 'Unit' && spec.parentName === unit),
    ...dependentsIn(read, CONTROL_PROGRAM, site, ({ spec, metadata }) => spec.unitRef === unit && metadata.ownerReferences.length === 0),
    ...dependentsIn(
      read,
      BATCH,
      site,
      ({ spec, status }) =>
        !FINAL_BATCH.includes(status.phase) && (Object.values(spec.equipment).includes(unit) || status.allocations.some((held) => held.unit === unit && held.state !== 'Released')),
    ),
  ];
}

export function admitUnit(spec: UnitSpec, { read, site }: Admission<UnitSpec, UnitStatus>): UnitSpec {
  mustExist(read, PROCESS_CELL, site, spec.processCellName, 'processCellName');
  mustExist(read, kindNamed<AnyKind>('Controller'), site, spec.controllerRef, 'controllerRef');
  spec.capabilities.forEach((capability, index) => {
    if (!isResourceName(capability)) throw invalid('invalid_name', `capabilities[${index}]`, `capability ${capability} must be lower-case letters, digits and hyphens`);
  });
  const roles = new Set<string>();
  spec.roleBindings.forEach(({ role }, index) => {
    const key = role.toLowerCase();
    if (roles.has(key)) throw invalid('invalid_field', `roleBindings[${index}].role`, `role ${role} is bound twice`);
    roles.add(key);
  });
  spec.permissives.forEach(({ name, conditionST }, index) => {
    if (spec.permissives.findIndex((other) => other.name === name) < index) throw invalid('invalid_field', `permissives[${index}].name`, `permissive ${name} stands twice`);
    const { expression, diagnostics } = parseCondition(conditionST);
    const scope = { names: new Map(), member: () => undefined, tag: () => ({ found: 'unresolved' as const }) };
    const fault = [...diagnostics, ...(expression ? checkCondition(expression, scope) : [])].find(({ severity }) => severity === 'error');
    if (fault) throw invalid('st_invalid', `permissives[${index}].conditionST`, `line ${fault.line}: ${fault.message}`);
  });
  if (spec.scanInterval !== '') {
    const ms = parseDuration(spec.scanInterval) ?? 0;
    if (ms < UNIT_SCAN_MIN_MS || ms > UNIT_SCAN_MAX_MS) throw invalid('invalid_field', 'scanInterval', `scanInterval ${spec.scanInterval} is outside 10ms to 10s`);
  }
  return spec;
}
