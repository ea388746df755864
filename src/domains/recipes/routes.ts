/** Routes of recipes (contract 3, Recipes and records; decisions RECIPE): CRUD, versions, bindings; the rest is beside this file. */
import * as v from 'valibot';
import { conflict, missing } from '../../platform/base/refusal.js';
import { crudRoutes } from '../../platform/http/crud.js';
import { etagOf } from '../../platform/http/revision.js';
import { created } from '../../platform/http/route.js';
import { companionsOf } from '../../platform/store/companions.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { refOf } from '../../platform/store/resource.js';
import { BindingMatrix } from './binding-matrix.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { ControlRecipeBody, controlRecipeBody, RecipeBody, recipeBody } from './dto.js';
import { formulaRoutes } from './formula-routes.js';
import { MasterRecipe } from './kind.js';
import { requireRecipe } from './lifecycle.js';
import { lifecycleRoutes } from './lifecycle-routes.js';
import { RECIPE_PATH } from './recipe-path.js';
import { recipeExists, route } from './recipe-route.js';
import { revisionRoutes } from './revision-routes.js';
import { revisionsOf } from './revisions.js';
import { bindingMatrix, UnitBindingRow, unitBindings } from './validity.js';
import { BUMPS, nextVersion } from './version.js';
import { Unit } from '../plant/kind.js';
import { masterRecipeRules, controlRecipeRules } from './rules.js';

/** In development a control recipe goes only when its batch has ended (decisions Q-RECIPE-04). */
function refuseActiveBatch(batch: string, site: string, read: StoreReader): void {
  const found = read.get(Batch, site, batch);
  if (found && !isFinalBatch(found.status.phase)) throw conflict('active_batch', `batch ${batch} is ${found.status.phase} and runs this recipe; end it first`, { batch });
}

const derivedFromLabel = 'lineside.io/derived-from';

/** The new Draft starts at revision 1 and remembers what it came from (decisions Q-RECIPE-10). */
const newVersion = route({
  method: 'POST',
  path: `${RECIPE_PATH}/new-version`,
  action: 'masterrecipe:new-version',
  tier: 'engineer',
  reply: { 201: RecipeBody },
  errors: { 400: ['no_product_id', 'invalid_name'], 403: ['change_request_required'], 409: ['already_exists'] },
  summary: 'Copy a recipe into a Draft with the next version of its product family',
  body: v.strictObject({ bump: v.optional(v.picklist(BUMPS), 'major') }),
  audit: { action: 'Create', category: 'masterrecipe' },
  exists: recipeExists,
  async handle(context, { store }) {
    const { site, name } = context.params;
    const recipe = requireRecipe(store, site, name);
    const next = nextVersion(store, site, name, recipe.spec, context.body.bump);
    const companions = companionsOf(masterRecipeRules, { site, name: next.name, spec: next.spec, before: undefined, read: store, by: context.caller.displayName });
    const applied = await store.write({
      puts: [{ kind: MasterRecipe, site, name: next.name, spec: next.spec, status: companions.status, labels: { [derivedFromLabel]: name } }, ...(companions.puts ?? [])],
      audits: [context.audit({ target: { kind: 'MasterRecipe', name: next.name, site }, after: next.spec, details: { derivedFrom: name } })],
    });
    const draft = applied.resources[0] as typeof recipe;
    return created(recipeBody(draft, store), `/api/v1/sites/${site}/recipes/master/${next.name}`, { ETag: etagOf(draft.metadata.resourceVersion) });
  },
});

const recipeBindings = route({
  method: 'GET',
  path: `${RECIPE_PATH}/bindings`,
  action: 'masterrecipe:bindings',
  tier: 'read',
  reply: v.strictObject({ recipe: v.string(), version: v.string(), ...BindingMatrix.entries }),
  summary: 'Which control module each role of each phase gets, and what keeps one from being usable',
  exists: recipeExists,
  handle({ params: { site, name } }, { store }) {
    const { spec } = requireRecipe(store, site, name);
    return { recipe: name, version: spec.version, ...bindingMatrix(store, site, spec) };
  },
});

const bindingsOfUnit = route({
  method: 'GET',
  path: '/api/v1/sites/{site}/units/{name}/bindings',
  action: 'unit:bindings',
  tier: 'read',
  reply: v.strictObject({ unit: v.string(), rows: v.array(UnitBindingRow) }),
  summary: 'The binding rows of all recipes that may run on the unit',
  exists({ site, name }, { store }) {
    if (!store.get(Unit, site, name)) throw missing('unit', name);
  },
  handle: ({ params: { site, name } }, { store }) => ({ unit: name, rows: unitBindings(store, site, name) }),
});

export const recipeRoutes = [
  ...crudRoutes(masterRecipeRules, {
    read: 'read',
    write: 'engineer',
    dto: recipeBody,
    reply: RecipeBody,
    derives: true,
    also: ({ verb, read, site, name }) => (verb === 'delete' ? { removes: revisionsOf(read, site, name).map(refOf) } : {}),
  }),
  ...crudRoutes(controlRecipeRules, {
    read: 'read',
    write: 'engineer',
    dto: controlRecipeBody,
    reply: ControlRecipeBody,
    only: ['list', 'read', 'delete'],
    refuse: ({ before, read, site }) => refuseActiveBatch(before?.spec.batch ?? '', site, read),
  }),
  ...lifecycleRoutes,
  ...revisionRoutes,
  ...formulaRoutes,
  newVersion,
  recipeBindings,
  bindingsOfUnit,
];
