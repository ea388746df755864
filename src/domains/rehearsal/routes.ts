/** Rehearsal of a recipe on a copy of its units; an addition to the contract (ADR 0006). */
import { missing } from '../../platform/base/refusal.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { MasterRecipe } from '../recipes/kind.js';
import { RECIPE_PATH } from '../recipes/recipe-route.js';
import { type OrderParts, RehearsalBody, rehearsalOrder } from './order.js';
import type { Rehearsals } from './rehearsals.js';

export interface RehearsalRouteDeps extends Omit<OrderParts, 'startWallMs'> {
  readonly store: Store;
  readonly rehearsals: Rehearsals;
  readonly nowMs: () => number;
}

const route = routesFor<RehearsalRouteDeps>();

function requireRecipe(store: Store, site: string, name: string) {
  const recipe = store.get(MasterRecipe, site, name);
  if (!recipe) throw missing('recipe', name);
  return recipe;
}

export const rehearsalRoutes = [
  route({
    method: 'POST',
    path: `${RECIPE_PATH}/rehearse`,
    action: 'masterrecipe:rehearse',
    tier: 'engineer',
    body: RehearsalBody,
    reply: 'Rehearsal',
    summary: 'Run one batch of the recipe on a simulated copy of its units in accelerated time; nothing of the plant is touched',
    computes: true,
    exists: ({ site, name }, { store }) => void requireRecipe(store, site, name),
    handle: async ({ params: { site, name }, body }, deps) => {
      const recipe = requireRecipe(deps.store, site, name);
      const result = await deps.rehearsals.run(() => rehearsalOrder({ ...deps, startWallMs: deps.nowMs() }, site, recipe, body));
      return { recipe: name, version: recipe.spec.version, ...result };
    },
  }),
];
