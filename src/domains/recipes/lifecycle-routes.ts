/** The signed steps of a master recipe (contract 3, Master recipe lifecycle): fresh token, non-empty reason, supervise. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import type { RequestContext, Route } from '../../platform/http/route.js';
import { Activated, activateRecipe, PREVIOUS } from './activation.js';
import { ConfirmedTemplates, confirmTemplates, type LifecycleActor, LifecycleReply, moveRecipe, Reverted, revertRecipe } from './lifecycle.js';
import { RECIPE_PATH } from './recipe-path.js';
import { recipeExists, type RecipeDeps, route } from './recipe-route.js';
import { LIFECYCLE } from './rules.js';

const WITHDRAW = 'masterrecipe:withdraw';
const Reason = v.strictObject({ reason: v.optional(v.string(), '') });

nameSchemas({ LifecycleReason: Reason });

export function actorOfRequest(context: Pick<RequestContext<unknown, unknown>, 'caller' | 'audit'>): LifecycleActor {
  return { signatory: context.caller, audit: (entry) => context.audit(entry) };
}

/** A revision in a path: 1, 2, ...; anything else names none. */
export function revisionNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw missing('revision', text);
  return Number(text);
}

const steps: readonly Route<RecipeDeps>[] = LIFECYCLE.filter(({ by }) => by !== 'activate').map(({ by: action, from, to }) =>
  route({
    method: 'POST',
    path: `${RECIPE_PATH}/${action}`,
    action: `masterrecipe:${action}`,
    tier: 'supervise',
    reply: LifecycleReply,
    errors: { 409: ['recipe_phase', 'recipe_invalid'] },
    summary: `Sign a recipe from ${from} to ${to}`,
    body: Reason,
    reason: 'nonempty',
    freshToken: true,
    audit: { action: 'Lifecycle', category: 'recipe-lifecycle', target: ({ site, name }) => ({ kind: 'MasterRecipe', name, site }) },
    exists: recipeExists,
    handle: (context, deps) =>
      moveRecipe(deps, (context.params as { site: string }).site, (context.params as { name: string }).name, action, context.body.reason, actorOfRequest(context)),
  }),
);

/** Withdraws as the caller could have done by himself: he holds that action too. */
const activate = route({
  method: 'POST',
  path: `${RECIPE_PATH}/activate`,
  action: 'masterrecipe:activate',
  tier: 'supervise',
  reply: Activated,
  errors: { 400: ['no_product_id'], 409: ['recipe_phase', 'recipe_in_use'] },
  summary: 'Sign a recipe from Released to Effective; tells the other Effective versions of its product, which `previous: withdraw` withdraws',
  body: v.strictObject({ ...Reason.entries, previous: v.optional(v.picklist(PREVIOUS), 'keep') }),
  reason: 'nonempty',
  freshToken: true,
  audit: { action: 'Lifecycle', category: 'recipe-lifecycle', target: ({ site, name }) => ({ kind: 'MasterRecipe', name, site }) },
  exists: recipeExists,
  handle({ params: { site, name }, body: { reason, previous }, caller, audit }, deps) {
    if (previous === 'withdraw' && !caller.may(WITHDRAW))
      throw new Refusal('forbidden', `you do not hold the action ${WITHDRAW}, which previous: withdraw needs`, { code: 'action_missing', action: WITHDRAW });
    return activateRecipe(deps, site, name, previous, reason, actorOfRequest({ caller, audit }));
  },
});

const revert = route({
  method: 'POST',
  path: `${RECIPE_PATH}/revisions/{revision}/revert`,
  action: 'masterrecipe:revert',
  tier: 'supervise',
  reply: Reverted,
  errors: { 403: ['change_request_required'], 409: ['recipe_phase', 'recipe_held', 'duplicate_version'] },
  summary: 'Sign a recipe back to Draft with the content of an older revision',
  body: Reason,
  reason: 'nonempty',
  freshToken: true,
  audit: { action: 'Lifecycle', category: 'recipe-lifecycle', target: ({ site, name }) => ({ kind: 'MasterRecipe', name, site }) },
  exists: recipeExists,
  handle: (context, deps) => revertRecipe(deps, context.params.site, context.params.name, revisionNumber(context.params.revision), context.body.reason, actorOfRequest(context)),
});

const confirm = route({
  method: 'POST',
  path: `${RECIPE_PATH}/confirm-templates`,
  action: 'masterrecipe:confirm-templates',
  tier: 'supervise',
  summary: 'Sign that templates which were changed after the release of a recipe are run by it from now on',
  reply: ConfirmedTemplates,
  errors: { 409: ['recipe_phase', 'templates_unchanged'] },
  body: v.strictObject({ reason: v.optional(v.string(), ''), confirm: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1)) }),
  reason: 'nonempty',
  freshToken: true,
  audit: { action: 'Lifecycle', category: 'recipe-lifecycle', target: ({ site, name }) => ({ kind: 'MasterRecipe', name, site }) },
  exists: recipeExists,
  handle: (context, deps) => confirmTemplates(deps, context.params.site, context.params.name, context.body.confirm, context.body.reason, actorOfRequest(context)),
});

export const lifecycleRoutes = [...steps, activate, revert, confirm];
