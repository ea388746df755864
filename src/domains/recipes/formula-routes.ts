/** Formulas as resources of their recipe (contract 3, Recipes and records; decisions Q-RECIPE-14). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import { mayVisit } from '../../platform/http/caller.js';
import { merge } from '../../platform/http/clearing.js';
import { decode } from '../../platform/http/json-body.js';
import { listReply, sortedBy, type SortKey } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import { created, done, type RequestContext } from '../../platform/http/route.js';
import { companionsOf } from '../../platform/store/companions.js';
import type { Store } from '../../platform/store/store.js';
import { addFormula, formulaOf, removeFormula, replaceFormula } from './formulas.js';
import { Formula, FormulaParameter, MasterRecipe, type MasterRecipeSpec, RECIPE_PHASES } from './kind.js';
import { requireRecipe } from './lifecycle.js';
import { RECIPE_PATH } from './recipe-path.js';
import { recipeExists, type RecipeDeps, route } from './recipe-route.js';
import { checkFormula, EDITABLE, masterRecipeRules, wayToEdit } from './rules.js';

const FORMULAS = `${RECIPE_PATH}/formulas` as const;
const ONE = `${FORMULAS}/{formulaName}` as const;

type OfRecipe = { readonly site: string; readonly name: string };
type OfFormula = OfRecipe & { readonly formulaName: string };
type Context = RequestContext<OfRecipe, unknown>;

function formulaExists({ site, name, formulaName }: OfFormula, { store }: RecipeDeps): void {
  formulaOf(requireRecipe(store, site, name).spec, formulaName);
}

/** A formula write is a write of the recipe: allowed in Draft and Rejected only, and it makes a revision. */
async function writeFormulas(context: Context, store: Store, change: (spec: MasterRecipeSpec) => MasterRecipeSpec): Promise<MasterRecipeSpec> {
  const { site, name } = context.params;
  const recipe = requireRecipe(store, site, name);
  if (!EDITABLE.includes(recipe.status.phase))
    throw conflict('recipe_phase', `recipe ${name} is ${recipe.status.phase}; its formulas can be edited in Draft and Rejected only: ${wayToEdit(recipe.status.phase)}`, {
      phase: recipe.status.phase,
    });
  const spec = change(recipe.spec);
  const companions = companionsOf(masterRecipeRules, { site, name, spec, before: recipe, read: store, by: context.caller.displayName });
  await store.write({
    puts: [{ kind: MasterRecipe, site, name, spec, ...(companions.status ? { status: companions.status } : {}) }, ...(companions.puts ?? [])],
    audits: [context.audit({ target: { kind: 'MasterRecipe', name, site }, before: recipe.spec.formulas, after: spec.formulas })],
  });
  return spec;
}

const audit = {
  action: 'Update',
  category: 'formula',
  target: ({ site, name }: { readonly site: string; readonly name: string }) => ({ kind: 'MasterRecipe', name, site }),
} as const;

/** With the recipe that it belongs to. */
const SiteFormula = v.strictObject({ site: v.string(), recipe: v.string(), version: v.string(), phase: v.picklist(RECIPE_PHASES), ...Formula.entries });

const FormulaChange = v.strictObject({
  name: v.optional(v.string()),
  default: v.optional(v.nullable(v.boolean())),
  description: v.optional(v.nullable(v.string())),
  parameters: v.optional(v.nullable(v.array(FormulaParameter))),
});

nameSchemas({ SiteFormula, FormulaChange });

export const formulaRoutes = [
  route({
    method: 'GET',
    path: FORMULAS,
    action: 'formula:list',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(Formula),
    summary: 'Formulas of a recipe; query limit, cursor',
    exists: recipeExists,
    handle: (context, { store }) => {
      const { site, name } = context.params;
      const keyOf = (formula: Formula): SortKey => [formula.name];
      return listReply(context, { list: 'recipe-formulas', items: sortedBy(requireRecipe(store, site, name).spec.formulas, keyOf), keyOf, render: (formula) => formula });
    },
  }),
  route({
    method: 'POST',
    path: FORMULAS,
    action: 'formula:create',
    tier: 'engineer',
    reply: Formula,
    errors: { 400: ['invalid_name'], 403: ['change_request_required'], 409: ['recipe_phase', 'already_exists'] },
    summary: 'Add a formula; the first one is the default',
    body: Formula,
    audit: { ...audit, action: 'Create' },
    exists: recipeExists,
    async handle(context, { store }) {
      const { site, name } = context.params;
      checkFormula(context.body, 'formula');
      const spec = await writeFormulas(context, store, (before) => addFormula(before, context.body));
      return created(formulaOf(spec, context.body.name), `/api/v1/sites/${site}/recipes/master/${name}/formulas/${encodeURIComponent(context.body.name)}`);
    },
  }),
  route({
    method: 'GET',
    path: ONE,
    action: 'formula:read',
    tier: 'read',
    reply: Formula,
    summary: 'One formula',
    exists: formulaExists,
    handle: ({ params: { site, name, formulaName } }, { store }) => formulaOf(requireRecipe(store, site, name).spec, formulaName),
  }),
  route({
    method: 'PUT',
    path: ONE,
    action: 'formula:update',
    tier: 'engineer',
    reply: Formula,
    errors: { 403: ['change_request_required'], 409: ['recipe_phase'] },
    summary: 'Change a formula; members left out keep their value',
    body: FormulaChange,
    audit,
    exists: formulaExists,
    async handle(context, { store }) {
      const { formulaName } = context.params;
      if (context.body.name !== undefined && context.body.name !== formulaName)
        throw invalid('invalid_field', 'name', `a formula cannot be renamed: name must be ${formulaName}, or left out`);
      const spec = await writeFormulas(context, store, (before) => {
        const formula = decode(Formula, merge(formulaOf(before, formulaName), context.body));
        checkFormula(formula, 'formula');
        return replaceFormula(before, formula);
      });
      return formulaOf(spec, formulaName);
    },
  }),
  route({
    method: 'DELETE',
    path: ONE,
    action: 'formula:delete',
    tier: 'engineer',
    errors: { 403: ['change_request_required'], 409: ['recipe_phase', 'default_formula'] },
    summary: 'Remove a formula',
    audit: { ...audit, action: 'Delete' },
    exists: formulaExists,
    async handle(context, { store }) {
      await writeFormulas(context, store, (before) => removeFormula(before, context.params.formulaName));
      return done();
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/formulas',
    action: 'formula:list',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(SiteFormula),
    summary: 'All formulas of the sites the caller may see; query limit, cursor',
    handle: (context, { store }) => {
      const all = store
        .list(MasterRecipe)
        .filter(({ metadata }) => mayVisit(context.caller, metadata.site))
        .flatMap((recipe) => recipe.spec.formulas.map((formula) => ({ recipe, formula })));
      const keyOf = ({ recipe: { metadata }, formula }: (typeof all)[number]): SortKey => [metadata.site, metadata.name, formula.name];
      return listReply(context, {
        list: 'formulas',
        items: sortedBy(all, keyOf),
        keyOf,
        render: ({ recipe: { metadata, spec, status }, formula }) => ({ site: metadata.site, recipe: metadata.name, version: spec.version, phase: status.phase, ...formula }),
      });
    },
  }),
];
