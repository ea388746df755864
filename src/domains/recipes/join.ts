/** Recipes: master recipes, their revisions and lifecycle, and what was made of them for batches. */
import { routeSet } from '../../platform/http/route.js';
import type { SettingValues } from '../../settings.js';
import type { RecipeDeps } from './recipe-route.js';
import { recipeRoutes } from './routes.js';

export interface RecipeParts extends Omit<RecipeDeps, 'approveRequiresValid'> {
  readonly settings: Pick<SettingValues, 'approveRequiresValid'>;
}

export function joinRecipes({ settings, ...deps }: RecipeParts) {
  return { routes: [routeSet(recipeRoutes, { ...deps, approveRequiresValid: settings.approveRequiresValid })] };
}
