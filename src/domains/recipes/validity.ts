/** What keeps a recipe from being run although it may be stored (decisions D-RECIPE-02): dangling references and bindings. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type BindingMatrix, BindingRow, bindRecipe, isViolation } from './binding-matrix.js';
import { templatesOf } from './expand.js';
import { type MasterRecipeSpec, MasterRecipe } from './kind.js';
import { siteUnits } from './site-units.js';

export interface RecipeProblem {
  readonly severity: 'error';
  readonly code: 'reference' | 'binding';
  readonly step: string;
  readonly message: string;
}

export function bindingMatrix(read: StoreReader, site: string, recipe: MasterRecipeSpec): BindingMatrix {
  return bindRecipe(recipe, templatesOf(read, site), siteUnits(read, site));
}

export function recipeProblems(read: StoreReader, site: string, recipe: MasterRecipeSpec): RecipeProblem[] {
  const { rows, notes } = bindingMatrix(read, site, recipe);
  return [
    ...notes.map((message): RecipeProblem => ({ severity: 'error', code: 'reference', step: '', message })),
    ...rows.filter(isViolation).map((row): RecipeProblem => ({ severity: 'error', code: 'binding', step: row.step, message: row.message ?? row.issue ?? '' })),
  ];
}

export const UnitBindingRow = v.strictObject({ ...BindingRow.entries, recipe: v.string() });
type UnitBindingRow = ToldBy<typeof UnitBindingRow>;

nameSchemas({ UnitBindingRow });

/** Rows of the recipes not Rejected or Withdrawn whose steps resolve to the unit (decisions Q-RECIPE-15). */
export function unitBindings(read: StoreReader, site: string, unit: string): UnitBindingRow[] {
  const templates = templatesOf(read, site);
  const units = siteUnits(read, site);
  return read
    .list(MasterRecipe, site)
    .filter(({ status }) => status.phase !== 'Rejected' && status.phase !== 'Withdrawn')
    .flatMap(({ metadata, spec }) =>
      bindRecipe(spec, templates, units)
        .rows.filter((row) => row.unit === unit)
        .map((row) => ({ ...row, recipe: metadata.name })),
    );
}
