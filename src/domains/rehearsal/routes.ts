/** Rehearsal of a recipe on a copy of its units; an addition to the contract (ADR 0006). */
import { missing } from '../../platform/base/refusal.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { MasterRecipe } from '../recipes/kind.js';
import { RECIPE_PATH } from '../recipes/recipe-route.js';
import { type OrderParts, RehearsalBody, rehearsalOrder } from './order.js';
import type { RehearsalRun, Rehearsals } from './rehearsals.js';

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

const PATH = `${RECIPE_PATH}/rehearse`;
const exists = ({ site, name }: { readonly site: string; readonly name: string }, { store }: RehearsalRouteDeps): void => void requireRecipe(store, site, name);

/** How far it has come, for who waits no longer. */
function soFar(rehearsals: Rehearsals, recipe: string, run: RehearsalRun) {
  const { version, plantSeconds, limitSeconds } = run;
  return { recipe, version, running: true, plantSeconds, limitSeconds, wallMs: rehearsals.wallMsOf(run) };
}

export const rehearsalRoutes = [
  route({
    method: 'POST',
    path: PATH,
    action: 'masterrecipe:rehearse',
    tier: 'engineer',
    body: RehearsalBody,
    reply: 'Rehearsal; with running true and how far it has come when it takes longer than waitSeconds',
    summary: 'Run one batch of the recipe on a simulated copy of its units in accelerated time; nothing of the plant is touched',
    computes: true,
    exists,
    handle: async ({ params: { site, name }, body }, deps) => {
      const recipe = requireRecipe(deps.store, site, name);
      const { version } = recipe.spec;
      const run = deps.rehearsals.begin(`${site}/${name}`, version, () => rehearsalOrder({ ...deps, startWallMs: deps.nowMs() }, site, recipe, body));
      const result = await deps.rehearsals.within(run, body.waitSeconds * 1000);
      return result ? { recipe: name, version, running: false, ...result } : soFar(deps.rehearsals, name, run);
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'masterrecipe:rehearse',
    tier: 'engineer',
    reply: 'the last Rehearsal of the recipe since the start of the appliance, while it runs and afterwards; running false and no outcome when there is none',
    summary: 'How far the rehearsal of a recipe has come, and what it found',
    exists,
    handle: ({ params: { site, name } }, { rehearsals }) => {
      const run = rehearsals.last(`${site}/${name}`);
      if (!run) return { recipe: name, running: false };
      if (run.refusal) throw run.refusal;
      return run.result ? { recipe: name, version: run.version, running: false, ...run.result } : soFar(rehearsals, name, run);
    },
  }),
];
