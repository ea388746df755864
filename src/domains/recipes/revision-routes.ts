/** Revisions and their differences (decisions Q-RECIPE-08, D-C-14). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters, required, text, whole } from '../../platform/http/parameters.js';
import type { Query } from '../../platform/http/route.js';
import { absent } from '../../platform/store/absent.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { recipeChanges, type RecipeContent } from './diff-words.js';
import { RevisionBody, revisionBody, RevisionItem, revisionItem } from './dto.js';
import { MasterRecipe, type RecipeRevisionSpec, RecipeRevision } from './kind.js';
import { revisionNumber } from './lifecycle-routes.js';
import { RECIPE_PATH } from './recipe-path.js';
import { recipeExists, route } from './recipe-route.js';
import { diff, DiffEntry, revisionName, revisionsOf } from './revisions.js';
import { parameterUnit } from './used-templates.js';

function requireRevision(store: Store, site: string, name: string, revision: number): Resource<RecipeRevisionSpec> {
  const found = store.get(RecipeRevision, site, revisionName(name, revision));
  if (!found) throw missing('revision', `${revision} of recipe ${name}`);
  return found;
}

/** @throws Refusal 400 when missing or not an integer from 1. */
function revisionQuery(query: Query<'v1' | 'v2'>, name: 'v1' | 'v2'): number {
  const given = query.get(name);
  if (given === undefined || !/^[1-9]\d{0,8}$/.test(given)) throw invalid('invalid_query', name, `query ${name} must be a revision number, for example ?v1=1&v2=2`);
  return Number(given);
}

/** Nothing is said of other sites, which the caller may not be allowed to see. @throws Refusal 400, 404. */
function checkOther(store: Store, site: string, other: string): void {
  if (!isResourceName(other))
    throw invalid('invalid_query', 'otherRecipe', 'query otherRecipe must be the name of a recipe of the same site, for example ?v1=3&v2=1&otherRecipe=resin-a-v2-0-0');
  if (store.get(MasterRecipe, site, other)) return;
  if (store.isQuarantined({ kind: MasterRecipe.kind, site, name: other })) throw absent(store, MasterRecipe, site, other, 'recipe');
  throw new Refusal('missing', `recipe ${other} does not exist in site ${site}; revisions are compared within one site`, { code: 'not_found', field: 'otherRecipe' });
}

function contentOf(store: Store, { metadata, spec }: Resource<RecipeRevisionSpec>): RecipeContent {
  const { templates } = spec;
  return { spec: spec.spec, ...(templates ? { templates } : {}), unitOf: (step, parameter) => parameterUnit(store, metadata.site, step, parameter) };
}

const RevisionDifference = v.strictObject({
  name: v.string(),
  v1: v.number(),
  v2: v.number(),
  otherRecipe: v.optional(v.string()),
  changes: v.array(DiffEntry),
  summary: v.array(v.string()),
});

nameSchemas({ RevisionDifference });

const REVISION = whole(1, 999_999_999, 'number of a revision');

export const revisionRoutes = [
  route({
    method: 'GET',
    path: `${RECIPE_PATH}/revisions`,
    action: 'masterrecipe:list-revisions',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(RevisionItem),
    summary: 'Revisions of a recipe, newest first; query limit, cursor',
    exists: recipeExists,
    handle: (context, { store }) => {
      const { site, name } = context.params;
      return listReply(context, { list: 'revisions', items: revisionsOf(store, site, name), keyOf: ({ spec }) => [-spec.revision], render: revisionItem });
    },
  }),
  route({
    method: 'GET',
    path: `${RECIPE_PATH}/revisions/diff`,
    action: 'masterrecipe:diff-revisions',
    tier: 'read',
    query: parameters({ v1: required(REVISION), v2: required(REVISION), otherRecipe: text('recipe of the same site, of which v2 is a revision; the recipe itself without it') }),
    reply: RevisionDifference,
    summary: 'Differences between two revisions, of one recipe or of two (query otherRecipe), in the document and in words; query v1 and v2',
    exists: recipeExists,
    handle({ params: { site, name }, query }, { store }) {
      const v1 = revisionQuery(query, 'v1');
      const v2 = revisionQuery(query, 'v2');
      const otherRecipe = query.get('otherRecipe');
      if (otherRecipe !== undefined) checkOther(store, site, otherRecipe);
      const of = (recipe: string, revision: number) => contentOf(store, requireRevision(store, site, recipe, revision));
      const [before, after] = [of(name, v1), of(otherRecipe ?? name, v2)];
      return { name, v1, v2, ...(otherRecipe === undefined ? {} : { otherRecipe }), changes: diff(before.spec, after.spec), summary: recipeChanges(before, after) };
    },
  }),
  route({
    method: 'GET',
    path: `${RECIPE_PATH}/revisions/{revision}`,
    action: 'masterrecipe:read-revision',
    tier: 'read',
    reply: RevisionBody,
    summary: 'One revision with its spec and signatures',
    exists: recipeExists,
    handle: ({ params: { site, name, revision } }, { store }) => revisionBody(requireRevision(store, site, name, revisionNumber(revision))),
  }),
];
