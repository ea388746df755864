/**
 * The binding matrix (contract 3, Recipes; decisions 2.3, Q-RECIPE-15, D-C-12): which control module each role of each phase gets on
 * the unit its unit procedure will run on, or on each unit that it may run on, and why not. Pure.
 */
import * as v from 'valibot';
import { ownOf } from '../../platform/base/own-of.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { BINDING_ISSUES, resolveRoles, type SiteUnits } from './bindings.js';
import { bindsDefaultUnit, type Candidate, candidatesOf, neededFor, plannedUnit, policyOf } from './candidates.js';
import { type Expansion, expandRecipe, type PhaseLeaf, type Templates } from './expand.js';
import { CANDIDATE_POLICIES, type MasterRecipeSpec } from './kind.js';

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
  /** Of a unit of a class that is not taken, because others fit and it does not: its issues are no violations. */
  passedOver: v.optional(v.literal(true)),
});
export type BindingRow = ToldBy<typeof BindingRow>;

/** A capability that several units might serve and for which none is named (D-C-12), in the order of the policy `listed`. */
const BindingClass = v.strictObject({
  capability: v.string(),
  policy: v.picklist(CANDIDATE_POLICIES),
  candidates: v.array(v.strictObject({ unit: v.string(), fits: v.boolean(), reason: v.string() })),
});
export type BindingClass = ToldBy<typeof BindingClass>;

nameSchemas({ BindingRow, BindingClass });

export const BindingMatrix = v.strictObject({
  rows: v.array(BindingRow),
  notes: v.array(v.string()),
  violations: v.number(),
  classes: v.array(BindingClass),
});
export type BindingMatrix = ToldBy<typeof BindingMatrix>;

/** Unit per capability: that of `chosen`, else the one that is known beforehand (`plannedUnit`); '' of a class, and where there is none. */
export function plannedUnits(
  recipe: Pick<MasterRecipeSpec, 'equipmentRequirements'>,
  { capabilities, phases }: Pick<Expansion, 'capabilities' | 'phases'>,
  units: SiteUnits,
  chosen: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(capabilities.map((capability) => [capability, ownOf(chosen, capability) || plannedUnit(neededFor(recipe, capability, phases), units)]));
}

/** The matrix of a recipe; `allocation` replaces the choice of units, for a batch that has named its equipment. Of a class it shows each candidate. */
export function bindRecipe(recipe: MasterRecipeSpec, templates: Templates, units: SiteUnits, allocation: Readonly<Record<string, string>> = {}): BindingMatrix {
  const expansion = expandRecipe(recipe.procedure.chart, templates);
  const notes = [...expansion.notes];
  const classes: BindingClass[] = [];
  const taken = new Map<string, readonly Candidate[]>();
  for (const capability of expansion.capabilities) {
    const needed = neededFor(recipe, capability, expansion.phases);
    const candidates = candidatesOf(needed, units);
    const named = ownOf(allocation, capability) ?? '';
    const unit = named || plannedUnit(needed, units, candidates);
    const isNamed = named !== '' || (needed.requirement !== undefined && bindsDefaultUnit(needed.requirement));
    if (candidates.length > 1 && !isNamed)
      classes.push({
        capability,
        policy: policyOf(needed.requirement),
        candidates: candidates.map(({ unit: name, unfit }) => ({ unit: name, fits: unfit === '', reason: unfit })),
      });
    taken.set(capability, unit === '' ? candidates : [{ unit, unfit: '' }]);
    if (unit !== '' && !units.unit(unit)) notes.push(`capability ${capability} names unit ${unit}, which does not exist`);
    else if (unit !== '' && !units.withCapability(capability).includes(unit)) notes.push(`unit ${unit} does not declare capability ${capability}`);
    else if (candidates.length === 0 && unit === '') notes.push(`no unit of the site has capability ${capability}`);
    else if (unit === '' && candidates.every(({ unfit }) => unfit !== '')) notes.push(noneFits(capability, candidates));
  }
  const rows = expansion.phases.flatMap((leaf) => classRows(leaf, taken.get(leaf.capability) ?? [], units));
  return { rows, notes, violations: rows.filter(isViolation).length, classes };
}

export function isViolation({ issue, passedOver }: BindingRow): boolean {
  return issue !== undefined && passedOver !== true;
}

export function noneFits(capability: string, candidates: readonly Candidate[]): string {
  return `no unit fits for capability ${capability}: ${candidates.map(({ unfit }) => unfit).join('; ')}`;
}

function classRows(leaf: PhaseLeaf, candidates: readonly Candidate[], units: SiteUnits): BindingRow[] {
  if (candidates.length === 0) return rowsOf(leaf, '', units);
  const isAnyFit = candidates.some(({ unfit }) => unfit === '');
  return candidates.flatMap(({ unit, unfit }) => {
    const rows = rowsOf(leaf, unit, units);
    return unfit !== '' && isAnyFit ? rows.map((row) => ({ ...row, passedOver: true as const })) : rows;
  });
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
