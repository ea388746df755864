/**
 * Which units may serve a capability of a recipe (D-C-12): those that have it, or those that the recipe lists, as far as they are what
 * the recipe asks for and have a control module for every role of its phases. Pure; who is free is not looked at here.
 */
import type { UnitProperty } from '../plant/kind.js';
import { resolveRoles, type SiteUnits } from './bindings.js';
import type { PhaseLeaf } from './expand.js';
import { CANDIDATE_POLICY_DEFAULT, type CandidatePolicy, type EquipmentRequirement } from './kind.js';

/** A unit that may be thought of; `unfit` says why it serves the capability not, '' where it does. */
export interface Candidate {
  readonly unit: string;
  readonly unfit: string;
}

/** What `listed` units are compared with. */
export interface Needed {
  readonly capability: string;
  readonly requirement: EquipmentRequirement | undefined;
  /** Phases of the unit procedures of the capability. */
  readonly leaves: readonly Pick<PhaseLeaf, 'path' | 'template' | 'roleMap'>[];
}

export function neededFor(recipe: { readonly equipmentRequirements?: readonly EquipmentRequirement[] | undefined }, capability: string, phases: readonly PhaseLeaf[]): Needed {
  const requirement = recipe.equipmentRequirements?.find((each) => each.capability === capability);
  return { capability, requirement, leaves: phases.filter((leaf) => leaf.capability === capability) };
}

/** Its default unit is taken and no other (ADR 0046 of an absent `defaultUnitOnly`). */
export function bindsDefaultUnit({ defaultUnit, defaultUnitOnly }: Pick<EquipmentRequirement, 'defaultUnit' | 'defaultUnitOnly'>): boolean {
  return defaultUnit !== '' && defaultUnitOnly !== false;
}

export function policyOf(requirement: EquipmentRequirement | undefined): CandidatePolicy {
  return requirement?.candidatePolicy ?? CANDIDATE_POLICY_DEFAULT;
}

/** In the order of the policy `listed`: as the recipe lists them, else its default unit before the others, which go by name. */
export function candidatesOf(needed: Needed, units: SiteUnits): Candidate[] {
  const { capability, requirement } = needed;
  const { candidates: listed = [], defaultUnit = '' } = requirement ?? {};
  const named = listed.length > 0 ? listed : [defaultUnit, ...units.withCapability(capability)];
  return [...new Set(named)].filter((unit) => unit !== '').map((unit) => ({ unit, unfit: unfitBecause(needed, unit, units) }));
}

/** '' where the unit serves the capability. A default unit is the word of the recipe also where it does not declare it. */
export function unfitBecause({ capability, requirement, leaves }: Needed, name: string, units: SiteUnits): string {
  const unit = units.unit(name);
  if (!unit) return `unit ${name} does not exist`;
  if (requirement?.defaultUnit !== name && !units.withCapability(capability).includes(name)) return `unit ${name} does not have capability ${capability}`;
  const lacking = requirement && propertyLacking(requirement, name, unit.properties ?? []);
  if (lacking) return lacking;
  for (const { path, template, roleMap } of leaves) {
    const fault = template && resolveRoles(unit, template, roleMap, units.modules(name)).find(({ issue }) => issue !== undefined);
    if (fault) return `step ${path}, role ${fault.role}: ${fault.message ?? fault.issue}`;
  }
  return '';
}

/** What of the properties of a unit is not as the recipe asks; '' when all is. Also of a unit that somebody has named. */
export function propertyLacking({ volumeMin = '', properties = [] }: EquipmentRequirement, unit: string, has: readonly UnitProperty[]): string {
  const wanted = [...(volumeMin === '' ? [] : [{ name: 'volume', min: volumeMin }]), ...properties];
  for (const { name, value, min = '', max = '', engineeringUnit = '' } of wanted as NonNullable<EquipmentRequirement['properties']>) {
    const own = has.find((property) => property.name.toLowerCase() === name.toLowerCase());
    const shown = own && `${own.value} ${own.engineeringUnit ?? ''}`.trimEnd();
    if (!own) return `unit ${unit} has no property ${name}`;
    if (engineeringUnit !== '' && (own.engineeringUnit ?? '') !== engineeringUnit) return `${name} of unit ${unit} is ${shown}, and the recipe asks for it in ${engineeringUnit}`;
    if (value !== undefined && own.value !== value) return `${name} of unit ${unit} is ${shown}, not ${value}`;
    const number = Number(own.value);
    if ((min !== '' || max !== '') && Number.isNaN(number)) return `${name} of unit ${unit} is ${shown}, which is no number`;
    if (min !== '' && number < Number(min)) return `${name} of unit ${unit} is ${shown}, less than ${min}`;
    if (max !== '' && number > Number(max)) return `${name} of unit ${unit} is ${shown}, more than ${max}`;
  }
  return '';
}

/**
 * The unit that is known without anybody's being free: the default unit that binds, else the only one that fits, else the only one there
 * is, whose faults are told then. '' of a class.
 */
export function plannedUnit(needed: Needed, units: SiteUnits, candidates: readonly Candidate[] = candidatesOf(needed, units)): string {
  const { requirement } = needed;
  if (requirement && bindsDefaultUnit(requirement)) return requirement.defaultUnit;
  const fitting = candidates.filter(({ unfit }) => unfit === '');
  const [only] = fitting.length === 0 ? candidates : fitting;
  return only && (fitting.length === 1 || candidates.length === 1) ? only.unit : '';
}
