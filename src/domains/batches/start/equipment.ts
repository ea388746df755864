/** Which unit does what a recipe asks for (decisions 1.7). */
import type { StoreReader } from '../../../platform/store/kind.js';
import { unitForCapability } from '../../recipes/bindings.js';
import { type Expansion, expandRecipe, templatesOf } from '../../recipes/expand.js';
import type { MasterRecipeSpec } from '../../recipes/kind.js';
import { siteUnits } from '../../recipes/site-units.js';

/**
 * Unit per capability: the batch's choice, else the recipe's default unit, else the only unit of the site that has the
 * capability (decisions 1.7). Capabilities that resolve to nothing map to ''.
 */
export function resolveEquipment(read: StoreReader, site: string, recipe: MasterRecipeSpec, chosen: Readonly<Record<string, string>>): Record<string, string> {
  return equipmentOf(read, site, recipe, chosen, expandRecipe(recipe.procedure.chart, templatesOf(read, site)));
}

/** Of a recipe that is expanded already. */
export function equipmentOf(
  read: StoreReader,
  site: string,
  recipe: MasterRecipeSpec,
  chosen: Readonly<Record<string, string>>,
  { capabilities }: Expansion,
): Record<string, string> {
  const units = siteUnits(read, site);
  return Object.fromEntries(capabilities.map((capability) => [capability, chosen[capability] || unitForCapability(recipe, capability, units)]));
}

/** Why a capability has got no unit: none has it, or several have and nobody chose. */
export function noUnitText(read: StoreReader, site: string, capability: string): string {
  const able = siteUnits(read, site).withCapability(capability);
  return able.length === 0
    ? `no unit for capability ${capability}`
    : `no unit for capability ${capability}: ${able.join(', ')} have it, and the batch names none of them in equipment`;
}
