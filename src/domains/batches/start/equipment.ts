/** Which unit does what a recipe asks for (decisions 1.7, D-C-12). */
import type { StoreReader } from '../../../platform/store/kind.js';
import { plannedUnits } from '../../recipes/binding-matrix.js';
import { expandRecipe, templatesOf } from '../../recipes/expand.js';
import type { MasterRecipeSpec } from '../../recipes/kind.js';
import { siteUnits } from '../../recipes/site-units.js';

/**
 * Unit per capability, as far as it is known before anybody looks who is free: the batch's choice, else the recipe's default unit that
 * binds, else the only unit that fits. A class, and a capability that no unit has, map to ''.
 */
export function resolveEquipment(read: StoreReader, site: string, recipe: MasterRecipeSpec, chosen: Readonly<Record<string, string>>): Record<string, string> {
  return plannedUnits(recipe, expandRecipe(recipe.procedure.chart, templatesOf(read, site)), siteUnits(read, site), chosen);
}
