/** Revisions and their differences (decisions Q-RECIPE-08). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { invalid, missing } from '../../platform/base/refusal.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters, required, whole } from '../../platform/http/parameters.js';
import type { Query } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { recipeChanges, type RecipeContent } from './diff-words.js';
import { RevisionBody, revisionBody, RevisionItem, revisionItem } from './dto.js';
import { type RecipeRevisionSpec, RecipeRevision } from './kind.js';
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
  const text = query.get(name);
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text)) throw invalid('invalid_query', name, `query ${name} must be a revision number, for example ?v1=1&v2=2`);
  return Number(text);
}

function contentOf(store: Store, { metadata, spec }: Resource<RecipeRevisionSpec>): RecipeContent {
  const { templates } = spec;
  return { spec: spec.spec, ...(templates ? { templates } : {}), unitOf: (step, parameter) => parameterUnit(store, metadata.site, step, parameter) };
}

const RevisionDifference = v.strictObject({ name: v.string(), v1: v.number(), v2: v.number(), changes: v.array(DiffEntry), summary: v.array(v.string()) });

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
    query: parameters({ v1: required(REVISION), v2: required(REVISION) }),
    reply: RevisionDifference,
    summary: 'Differences between two revisions, in the document and in words; query v1 and v2',
    exists: recipeExists,
    handle({ params: { site, name }, query }, { store }) {
      const v1 = revisionQuery(query, 'v1');
      const v2 = revisionQuery(query, 'v2');
      const of = (revision: number) => contentOf(store, requireRevision(store, site, name, revision));
      const [before, after] = [of(v1), of(v2)];
      return { name, v1, v2, changes: diff(before.spec, after.spec), summary: recipeChanges(before, after) };
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
