/** Which control module each role of a phase gets on a unit, and why not (contract 3, Recipes; decisions 2.3). Pure. */
import type { RoleSpec } from '../procedures/kind.js';
import type { UnitProperty } from '../plant/kind.js';

export const BINDING_ISSUES = ['Unmapped', 'CMNotFound', 'TypeMismatch'] as const;
export type BindingIssue = (typeof BINDING_ISSUES)[number];

/** A control module of the unit, as far as binding needs it. */
export interface BoundModule {
  readonly name: string;
  readonly moduleType: string;
}

export interface UnitRoles {
  readonly roleBindings: readonly { readonly role: string; readonly controlModule: string }[];
  readonly properties?: readonly UnitProperty[] | undefined;
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

/** The units of a site, as far as binding needs them. */
export interface SiteUnits {
  unit(name: string): UnitRoles | undefined;
  withCapability(capability: string): readonly string[];
  modules(unit: string): readonly BoundModule[];
}
