/**
 * A version becomes Effective beside the others of its product, or in their place (D-C-14): `previous: withdraw` withdraws them in the
 * same transaction, each with a transition, a signature and an audit record of its own, or nothing of it happens.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { otherEffective } from './family.js';
import { type LifecycleActor, type LifecycleDeps, LifecycleReply, type RecipeResource, requireRecipe, signedStep, warningsOf } from './lifecycle.js';
import { heldBy, nextPhase } from './rules.js';

export const PREVIOUS = ['keep', 'withdraw'] as const;
export type Previous = (typeof PREVIOUS)[number];

const EffectiveVersion = v.strictObject({
  name: v.string(),
  version: v.string(),
  revision: v.number(),
  /** Batches that run it, or will. */
  heldBy: v.array(v.string()),
});
const WithdrawnVersion = v.strictObject({ ...LifecycleReply.entries, version: v.string() });

export const Activated = v.strictObject({
  ...LifecycleReply.entries,
  /** Other versions of the product that are Effective now, the highest first. */
  otherEffective: v.array(EffectiveVersion),
  /** Versions that this request has withdrawn. */
  withdrawn: v.array(WithdrawnVersion),
});
export type Activated = ToldBy<typeof Activated>;

nameSchemas({ EffectiveVersion, WithdrawnVersion, RecipeActivated: Activated });

/**
 * Judged and written in one turn: of two activations at once the second sees the first, and no batch begins between.
 * @throws Refusal 409 `recipe_phase`; with `withdraw` 409 `recipe_in_use` naming the open batch, 400 of a recipe without a product.
 */
export async function activateRecipe(deps: LifecycleDeps, site: string, name: string, previous: Previous, reason: string, actor: LifecycleActor): Promise<Activated> {
  const { store } = deps;
  const recipe = requireRecipe(store, site, name);
  const to = nextPhase(recipe.status.phase, 'activate', name);
  const others = otherEffective(store, recipe);
  if (previous === 'keep') {
    const step = signedStep(deps, recipe, 'activate', to, reason, actor);
    const warnings = warningsOf(store, recipe, 'activate');
    await store.write({ puts: step.puts, audits: [step.audit] });
    return { ...step.answer, ...warnings, otherEffective: others.map((other) => effectiveVersion(store, other)), withdrawn: [] };
  }
  if (recipe.spec.productID === '')
    throw invalid('no_product_id', 'previous', `recipe ${name} has no productID, so there is no version of its product to withdraw; activate it with previous: keep`);
  refuseInUse(store, name, others);
  const replacedBy = { name, version: recipe.spec.version, revision: recipe.status.revision };
  const withdrawals = others.map((other) => signedStep(deps, other, 'withdraw', nextPhase(other.status.phase, 'withdraw', other.metadata.name), reason, actor, { replacedBy }));
  const withdrawn = others.map((other) => ({ name: other.metadata.name, version: other.spec.version, revision: other.status.revision }));
  const step = signedStep(deps, recipe, 'activate', to, reason, actor, { previous, withdrawn });
  const steps = [...withdrawals, step];
  const warnings = warningsOf(store, recipe, 'activate');
  await store.write({ puts: steps.flatMap(({ puts }) => puts), audits: steps.map(({ audit }) => audit) });
  return { ...step.answer, ...warnings, otherEffective: [], withdrawn: withdrawals.map(({ answer }, at) => ({ ...answer, version: withdrawn[at]?.version ?? '' })) };
}

function effectiveVersion(read: StoreReader, { metadata: { name, site }, spec, status }: RecipeResource): ToldBy<typeof EffectiveVersion> {
  return { name, version: spec.version, revision: status.revision, heldBy: heldBy(read, site, name) };
}

function refuseInUse(read: StoreReader, name: string, others: readonly RecipeResource[]): void {
  const inUse = others.map((other) => ({ recipe: other.metadata.name, heldBy: heldBy(read, other.metadata.site, other.metadata.name) })).filter((each) => each.heldBy.length > 0);
  const [first] = inUse;
  if (!first) return;
  const [batch] = first.heldBy;
  throw conflict(
    'recipe_in_use',
    `recipe ${first.recipe} cannot be withdrawn: batch ${batch} uses it and has not ended. Recipe ${name} stays as it is; activate it when the batch has ended, or with previous: keep`,
    { recipe: first.recipe, batch, inUse },
  );
}
