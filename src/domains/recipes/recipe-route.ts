/** What every row about one master recipe shares. */
import { routesFor } from '../../platform/http/route.js';
import { type LifecycleDeps, requireRecipe } from './lifecycle.js';

export interface RecipeDeps extends LifecycleDeps {
  /** Setting `gateway.operatingMode` is `production`. */
  readonly production: boolean;
}

export const route = routesFor<RecipeDeps>();

/** Step 9 of the order of evaluation. */
export function recipeExists({ site, name }: { readonly site: string; readonly name: string }, { store }: RecipeDeps): void {
  requireRecipe(store, site, name);
}
