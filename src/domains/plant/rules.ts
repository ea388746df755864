/** Rules of the physical hierarchy: what a unit may say, and what of a plant at work must stay (decisions Q-ERR-11, D-C-13). */
import { isDeepStrictEqual } from 'node:util';
import { checkCondition } from '../../../runtime/language/checker.js';
import { parseCondition } from '../../../runtime/language/parser.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { inside } from '../../platform/base/assert.js';
import { conflict, forAll, invalid, together } from '../../platform/base/refusal.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { type Admission, type Dependent, type Kind, ruled, type StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { checkConnections, checkLayout, layoutOf } from './connections.js';
import { Site, Unit, type UnitSpec, type UnitStatus, Enterprise, Area, ProcessCell } from './kind.js';
import { workOn } from './unit-owner.js';
import { Batch, isFinalBatch } from '../batches/kind.js';

const UNIT_SCAN_MIN_MS = 10; // decisions 1.5
const UNIT_SCAN_MAX_MS = 10_000;

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

export const NO_CELL = 'the unit belongs to no process cell, so it is stored and not executed; set processCellName';

/** Members of a unit that no work on it hangs on: words, the mode for what is started next, where it would go to on a failure. */
const FREE_MEMBERS: readonly (keyof UnitSpec)[] = ['description', 'symbolId', 'mode', 'availability', 'connections', 'layout'];

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

/** Open batches that name it or hold it (decisions Q-ERR-11). */
function openBatchesOn({ metadata }: Resource<UnitSpec, UnitStatus>, read: StoreReader): Dependent[] {
  return read
    .list(Batch, metadata.site)
    .filter(({ status }) => !isFinalBatch(status.phase))
    .filter(
      ({ spec, status }) => Object.values(spec.equipment).includes(metadata.name) || status.allocations.some((held) => held.unit === metadata.name && held.state !== 'Released'),
    )
    .map((batch) => ({ kind: batch.kind, name: batch.metadata.name }));
}

/** @throws Refusal 409 `unit_active` while work holds it. */
function refuseUnitDelete({ metadata, status }: Resource<UnitSpec, UnitStatus>): void {
  const work = workOn(status);
  if (work === '') return;
  throw conflict('unit_active', `unit ${metadata.name} is allocated to ${work}; end that work before deleting the unit`, { unit: metadata.name });
}

function admitUnit(spec: UnitSpec, { before }: Pick<Admission<UnitSpec, UnitStatus>, 'before'>): UnitSpec {
  const roles = new Set<string>();
  const layout = spec.layout && layoutOf(spec.layout, before?.spec.layout ?? [], spec.connections ?? []);
  together(
    () =>
      forAll(spec.capabilities, (capability, index) => {
        if (!isResourceName(capability)) throw invalid('invalid_name', `capabilities[${index}]`, `capability ${capability} must be lower-case letters, digits and hyphens`);
      }),
    () =>
      forAll(spec.properties ?? [], ({ name }, index) => {
        if (spec.properties?.findIndex((other) => other.name.toLowerCase() === name.toLowerCase()) !== index)
          throw invalid('invalid_field', `properties[${index}].name`, `property ${name} stands twice`);
      }),
    () =>
      forAll(spec.roleBindings, ({ role }, index) => {
        const key = role.toLowerCase();
        if (roles.has(key)) throw invalid('invalid_field', `roleBindings[${index}].role`, `role ${role} is bound twice`);
        roles.add(key);
      }),
    () => forAll(spec.permissives, (_, index) => checkPermissive(spec.permissives, index)),
    () => checkScanInterval(spec.scanInterval),
    () => checkConnections(spec.connections ?? []),
    () => checkLayout(layout ?? [], spec.connections ?? []),
  );
  return layout && layout.length < (spec.layout?.length ?? 0) ? { ...spec, layout } : spec;
}

function checkPermissive(permissives: UnitSpec['permissives'], index: number): void {
  const { name, conditionST } = inside(permissives, index, 'the permissive is one of them');
  if (permissives.findIndex((other) => other.name === name) < index) throw invalid('invalid_field', `permissives[${index}].name`, `permissive ${name} stands twice`);
  const { expression, diagnostics } = parseCondition(conditionST);
  const scope = { names: new Map(), member: () => undefined, tag: () => ({ found: 'unresolved' as const }) };
  const fault = [...diagnostics, ...(expression ? checkCondition(expression, scope) : [])].find(({ severity }) => severity === 'error');
  if (fault) throw invalid('st_invalid', `permissives[${index}].conditionST`, `line ${fault.line}: ${fault.message}`);
}

function checkScanInterval(text: string): void {
  if (text === '') return;
  const ms = parseDuration(text) ?? 0;
  if (ms < UNIT_SCAN_MIN_MS || ms > UNIT_SCAN_MAX_MS) throw invalid('invalid_field', 'scanInterval', `scanInterval ${text} is outside 10ms to 10s`);
}

export const enterpriseRules = ruled(Enterprise, {});
export const siteRules = ruled(Site, { heldByContents: true });
export const areaRules = ruled(Area, {});
export const processCellRules = ruled(ProcessCell, {});
export const unitRules = ruled(Unit, {
  refuses: { write: { 400: ['invalid_name', 'st_invalid'], 409: ['active_batch', 'profile_limit'] }, remove: { 409: ['unit_active'] } },
  admit: admitUnit,
  dependents: openBatchesOn,
  refuseDelete: refuseUnitDelete,
});
