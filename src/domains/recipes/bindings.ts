/**
 * The binding matrix (contract 3, Recipes; decisions 2.3, Q-RECIPE-15): which control module each role of each phase
 * gets on the unit its unit procedure will run on, and why not. Pure.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { RoleSpec } from '../procedures/kind.js';
import { expandRecipe, type PhaseLeaf, type Templates } from './expand.js';
import type { MasterRecipeSpec } from './kind.js';

export const BINDING_ISSUES = ['Unmapped', 'CMNotFound', 'TypeMismatch'] as const;
export type BindingIssue = (typeof BINDING_ISSUES)[number];

/** A control module of the unit, as far as binding needs it. */
export interface BoundModule {
  readonly name: string;
  readonly moduleType: string;
}

export interface UnitRoles {
  readonly roleBindings: readonly { readonly role: string; readonly controlModule: string }[];
}

export interface RoleBinding {
  readonly role: string;
  readonly requiredType: string;
  readonly required: boolean;
  /** Empty when unbound. */
  readonly boundCM: string;
  readonly cmModuleType: string;
  readonly issue?: BindingIssue;
  readonly message?: string;
}

/**
 * Binds the roles of one phase template on one unit: the step's role map, then the unit's entry, then the one module of
 * the required type (decisions 2.3). An optional role may stay unmapped without an issue.
 */
export function resolveRoles(
  unit: UnitRoles & { readonly name?: string },
  template: { readonly roles: readonly RoleSpec[] },
  roleMap: Readonly<Record<string, string>>,
  modules: readonly BoundModule[],
): RoleBinding[] {
  const entries = new Map(unit.roleBindings.map((binding) => [binding.role.toLowerCase(), binding.controlModule]));
  const mapped = new Map(Object.entries(roleMap).map(([from, to]) => [from.toLowerCase(), to]));
  return template.roles.map((role) => bindRole(role, mapped.get(role.name.toLowerCase()) ?? role.name, entries, modules));
}

function bindRole(role: RoleSpec, unitRole: string, entries: ReadonlyMap<string, string>, modules: readonly BoundModule[]): RoleBinding {
  const base = { role: role.name, requiredType: role.requiredType, required: role.required } as const;
  const entry = entries.get(unitRole.toLowerCase());
  if (entry !== undefined) {
    const module = modules.find((candidate) => candidate.name === entry);
    if (!module)
      return { ...base, boundCM: entry, cmModuleType: '', issue: 'CMNotFound', message: `role ${unitRole} is bound to ${entry}, which is no control module of the unit` };
    const bound = { ...base, boundCM: module.name, cmModuleType: module.moduleType };
    if (module.moduleType === role.requiredType) return bound;
    return { ...bound, issue: 'TypeMismatch', message: `role ${role.name} needs a ${role.requiredType}, but ${module.name} is a ${module.moduleType || 'module without type'}` };
  }
  const matching = modules.filter((candidate) => candidate.moduleType === role.requiredType);
  const [only] = matching;
  if (only && matching.length === 1) return { ...base, boundCM: only.name, cmModuleType: only.moduleType };
  const unbound = { ...base, boundCM: '', cmModuleType: '' };
  if (!role.required) return unbound;
  const why = matching.length === 0 ? `the unit has no ${role.requiredType}` : `the unit has ${matching.length} modules of type ${role.requiredType}, so one must be named`;
  return { ...unbound, issue: 'Unmapped', message: `role ${unitRole} has no entry in roleBindings and ${why}` };
}

export const BindingRow = v.strictObject({
  step: v.string(),
  phaseTemplate: v.string(),
  role: v.string(),
  requiredType: v.string(),
  unit: v.string(),
  boundCM: v.string(),
  cmModuleType: v.string(),
  issue: v.optional(v.picklist(BINDING_ISSUES)),
  message: v.optional(v.string()),
});
export type BindingRow = ToldBy<typeof BindingRow>;

nameSchemas({ BindingRow });

export const BindingMatrix = v.strictObject({
  rows: v.array(BindingRow),
  notes: v.array(v.string()),
  violations: v.number(),
});
export type BindingMatrix = ToldBy<typeof BindingMatrix>;

/** The units of a site, as far as binding needs them. */
export interface SiteUnits {
  unit(name: string): UnitRoles | undefined;
  withCapability(capability: string): readonly string[];
  modules(unit: string): readonly BoundModule[];
}

/** Unit of a capability: the recipe's default unit, else the only unit of the site that has it; '' otherwise. */
export function unitForCapability(recipe: Pick<MasterRecipeSpec, 'equipmentRequirements'>, capability: string, units: SiteUnits): string {
  const named = recipe.equipmentRequirements.find((requirement) => requirement.capability === capability)?.defaultUnit;
  if (named) return named;
  const able = units.withCapability(capability);
  const [only = ''] = able;
  return able.length === 1 ? only : '';
}

/** The matrix of a recipe; `allocation` replaces the choice of units, for a batch that has named its equipment. */
export function bindRecipe(recipe: MasterRecipeSpec, templates: Templates, units: SiteUnits, allocation: Readonly<Record<string, string>> = {}): BindingMatrix {
  const expansion = expandRecipe(recipe.procedure.chart, templates);
  const notes = [...expansion.notes];
  const chosen = new Map<string, string>();
  for (const capability of expansion.capabilities) {
    const unit = allocation[capability] ?? unitForCapability(recipe, capability, units);
    chosen.set(capability, unit);
    if (unit === '') notes.push(capabilityNote(capability, units));
    else if (!units.unit(unit)) notes.push(`capability ${capability} names unit ${unit}, which does not exist`);
    else if (!units.withCapability(capability).includes(unit)) notes.push(`unit ${unit} does not declare capability ${capability}`);
  }
  const rows = expansion.phases.flatMap((leaf) => rowsOf(leaf, chosen.get(leaf.capability) ?? '', units));
  return { rows, notes, violations: rows.filter((row) => row.issue !== undefined).length };
}

function capabilityNote(capability: string, units: SiteUnits): string {
  const able = units.withCapability(capability);
  return able.length === 0 ? `no unit of the site has capability ${capability}` : `capability ${capability} is offered by ${able.join(', ')}; name a default unit`;
}

function rowsOf({ path, phaseTemplate, template, roleMap }: PhaseLeaf, unit: string, units: SiteUnits): BindingRow[] {
  if (!template) return [];
  const spec = units.unit(unit);
  if (!spec) {
    return template.roles.map((role) => ({
      step: path,
      phaseTemplate,
      role: role.name,
      requiredType: role.requiredType,
      unit: '',
      boundCM: '',
      cmModuleType: '',
      issue: 'Unmapped',
      message: 'no unit is known for this step',
    }));
  }
  return resolveRoles(spec, template, roleMap, units.modules(unit)).map(({ required: _required, ...binding }) => ({ step: path, phaseTemplate, unit, ...binding }));
}
