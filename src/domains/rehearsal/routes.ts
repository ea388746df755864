/** Rehearsal of a recipe on a copy of its units; an addition to the contract (ADR 0006). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { missing } from '../../platform/base/refusal.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { MasterRecipe } from '../recipes/kind.js';
import { RECIPE_PATH } from '../recipes/recipe-path.js';
import { type OrderParts, RehearsalBody, rehearsalOrder } from './order.js';
import { RehearsalResult, type RehearsalRun, type Rehearsals } from './rehearsals.js';

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

const Running = v.strictObject({
  recipe: v.string(),
  version: v.string(),
  running: v.literal(true),
  plantSeconds: v.number(),
  limitSeconds: v.number(),
  wallMs: v.number(),
});
const Ended = v.strictObject({ recipe: v.string(), version: v.string(), running: v.literal(false), ...RehearsalResult.entries });
/** Nobody has rehearsed it since the start of the appliance. */
const None = v.strictObject({ recipe: v.string(), running: v.literal(false) });

nameSchemas({ RehearsalRunning: Running, RehearsalEnded: Ended, RehearsalNone: None });

/** How far it has come, for who waits no longer. */
function soFar(rehearsals: Rehearsals, recipe: string, run: RehearsalRun): ToldBy<typeof Running> {
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
    reply: v.union([Ended, Running]),
    errors: { 400: ['unknown_reference', 'out_of_range'], 409: ['rehearsal_active', 'recipe_not_usable'], 422: ['unprocessable'], 503: ['rehearsal_failed'] },
    summary: 'Run one batch of the recipe on a simulated copy of its units in accelerated time; nothing of the plant is touched',
    computes: true,
    exists,
    handle: async ({ params: { site, name }, body }, deps): Promise<ToldBy<typeof Ended> | ToldBy<typeof Running>> => {
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
    reply: v.union([Ended, Running, None]),
    errors: { 503: ['rehearsal_failed'] },
    summary: 'How far the rehearsal of a recipe has come, and what it found',
    exists,
    handle: ({ params: { site, name } }, { rehearsals }): ToldBy<typeof Ended> | ToldBy<typeof Running> | ToldBy<typeof None> => {
      const run = rehearsals.last(`${site}/${name}`);
      if (!run) return { recipe: name, running: false };
      if (run.refusal) throw run.refusal;
      return run.result ? { recipe: name, version: run.version, running: false, ...run.result } : soFar(rehearsals, name, run);
    },
  }),
];
