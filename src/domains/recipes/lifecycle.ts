/**
 * The signed life of a master recipe (contract 3, Master recipe lifecycle; decisions Q-RECIPE-06..13): approve, reject,
 * release, activate, withdraw, revert. Every step is one transaction: status, revision and signed audit record.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { timestamp, type Clock } from '../../platform/base/clock.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import {
  type LifecycleEntry,
  type MasterRecipeSpec,
  type MasterRecipeStatus,
  RECIPE_PHASES,
  type RecipePhase,
  MasterRecipe,
  RecipeRevision,
  type ReleasedTemplate,
} from './kind.js';
import { expandRecipe, templatesOf } from './expand.js';
import { TOO_LARGE } from './expansion-limit.js';
import { heldBy, type LifecycleAction, nextPhase, refuseDuplicate, REVERTIBLE, wayToWithdraw } from './rules.js';
import { bindingNotes } from './binding-notes.js';
import { recipeDigest, revise, revisionName, signRevision } from './revisions.js';
import { wholeRecipeNotes } from './recipe-notes.js';
import { presentTemplates, releasedTemplates, releasedView, templateChanges } from './released.js';
import { type Signatory, type SigningKeys, sign } from '../signatures/signature.js';
import { recipeProblems, type RecipeProblem } from './validity.js';

export interface LifecycleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  /** Setting `recipe.approveRequiresValid` (D-RECIPE-02). */
  readonly approveRequiresValid?: boolean;
}

/** Who acts and how the audit record of the step begins; the pipeline or the demo gives it. */
export interface LifecycleActor {
  readonly signatory: Signatory;
  audit(entry: Partial<AuditDraft>): AuditDraft;
}

export const LifecycleReply = v.strictObject({
  name: v.string(),
  phase: v.picklist(RECIPE_PHASES),
  actionBy: v.string(),
  actionAt: v.string(),
  reason: v.string(),
  signature: v.string(),
  /** What the recipe and its templates say that will hurt when it runs; absent where there is nothing. */
  warnings: v.optional(v.array(v.string())),
});
export type LifecycleReply = ToldBy<typeof LifecycleReply>;

export type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

export function requireRecipe(store: Store, site: string, name: string): RecipeResource {
  const recipe = store.get(MasterRecipe, site, name);
  if (!recipe) throw missing('recipe', name);
  return recipe;
}

export const ConfirmedTemplates = v.strictObject({
  ...LifecycleReply.entries,
  templates: v.array(v.strictObject({ kind: v.string(), name: v.string(), digest: v.string() })),
});
export const Reverted = v.strictObject({ ...LifecycleReply.entries, revision: v.number(), revertedTo: v.number() });

nameSchemas({ RecipeLifecycle: LifecycleReply, ConfirmedTemplates, RecipeReverted: Reverted });

export async function moveRecipe(deps: LifecycleDeps, site: string, name: string, action: LifecycleAction, reason: string, actor: LifecycleActor): Promise<LifecycleReply> {
  const recipe = requireRecipe(deps.store, site, name);
  const to = nextPhase(recipe.status.phase, action, name);
  if (action === 'approve' && deps.approveRequiresValid) refuseInvalid(deps.store, recipe);
  if (action === 'approve' || action === 'release') refuseTooLarge(deps.store, recipe, to);
  const released = action === 'release' ? presentTemplates(deps.store, site, recipe.spec) : undefined;
  const { answer, puts, audit } = signedStep(deps, recipe, action, to, reason, actor, released ? { templates: released.map(named) } : {}, released);
  const warnings = warningsOf(deps.store, recipe, action);
  await deps.store.write({ puts, audits: [audit] });
  return { ...answer, ...warnings };
}

/** Of a recipe that goes on towards its batches. */
export function warningsOf(read: StoreReader, recipe: RecipeResource, action: LifecycleAction): Pick<LifecycleReply, 'warnings'> {
  if (action === 'reject' || action === 'withdraw') return {};
  return toldAs([...bindingNotes(read, recipe), ...wholeRecipeNotes(read, recipe)]);
}

function toldAs(warnings: readonly string[]): Pick<LifecycleReply, 'warnings'> {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

/** A step as it is written, by itself or with others in one transaction. */
export interface SignedStep {
  readonly puts: readonly Put[];
  readonly audit: AuditDraft;
  readonly answer: LifecycleReply;
}

/** `more` is signed and stands in the audit record. */
export function signedStep(
  deps: LifecycleDeps,
  recipe: RecipeResource,
  action: LifecycleAction,
  to: RecipePhase,
  reason: string,
  actor: LifecycleActor,
  more: Readonly<Record<string, unknown>> = {},
  released?: readonly ReleasedTemplate[],
): SignedStep {
  const { name, site } = recipe.metadata;
  const { entry, audit } = signed(deps, recipe, action, to, reason, actor, recipe.status.revision, recipe.spec, more);
  const change = signRevision(deps.store, recipe, entry, released);
  return { puts: [{ kind: MasterRecipe, site, name, status: change.status } as Put, ...change.puts], audit, answer: reply(name, entry) };
}

/**
 * What was edited after the release runs from now on (D-C-11): each content that is confirmed is named by its digest.
 * @throws Refusal 409 when the recipe is not released, or nothing was changed, 400 for a digest that is no present content.
 */
export async function confirmTemplates(
  deps: LifecycleDeps,
  site: string,
  name: string,
  confirm: readonly string[],
  reason: string,
  actor: LifecycleActor,
): Promise<ToldBy<typeof ConfirmedTemplates>> {
  const { store } = deps;
  const recipe = requireRecipe(store, site, name);
  const { phase, revision } = recipe.status;
  const released = releasedTemplates(store, recipe);
  if (!released)
    throw conflict(
      'recipe_phase',
      `recipe ${name} is ${phase} and has no released templates; edits of templates are confirmed of a Released or Effective recipe only: before that its templates are taken as they stand when it is released`,
      { phase },
    );
  const changes = templateChanges(store, recipe);
  if (changes.length === 0) throw conflict('templates_unchanged', `the templates of recipe ${name} are what was released`);
  const unknown = confirm.find((digest) => !changes.some(({ present }) => present === digest && digest !== ''));
  if (unknown !== undefined)
    throw invalid(
      'invalid_field',
      'confirm',
      `confirm names ${unknown}, which is not the content of a changed template; it is ${changes.map(({ present, name: each }) => `${present || 'nothing'} (${each})`).join(', ')}`,
    );
  const present = presentTemplates(store, site, recipe.spec);
  const kept = released.map((template) => {
    const taken = changes.find((change) => change.kind === template.kind && change.name === template.name && confirm.includes(change.present));
    return (taken && present.find((each) => each.kind === taken.kind && each.name === taken.name)) ?? template;
  });
  // a template that is confirmed may reach others than before
  const view = releasedView(store, recipe, kept);
  const reached = presentTemplates(view, site, recipe.spec);
  const { entry, audit } = signed(deps, recipe, 'confirm-templates', phase, reason, actor, revision, recipe.spec, { templates: reached.map(named) });
  const change = signRevision(store, recipe, entry, reached);
  const edits = recipe.status.templateEdits?.filter((edit) => !changes.some((each) => each.kind === edit.kind && each.name === edit.name && confirm.includes(each.present)));
  const warnings = toldAs(wholeRecipeNotes(view, recipe, view));
  await store.write({ puts: [{ kind: MasterRecipe, site, name, status: { ...change.status, ...(edits ? { templateEdits: edits } : {}) } }, ...change.puts], audits: [audit] });
  return { ...reply(name, entry), templates: reached.map(named), ...warnings };
}

function named({ kind, name, digest }: ReleasedTemplate): Omit<ReleasedTemplate, 'spec'> {
  return { kind, name, digest };
}

function refuseInvalid(store: Store, recipe: RecipeResource): void {
  const diagnostics = recipeProblems(store, recipe.metadata.site, recipe.spec);
  const [first] = diagnostics;
  if (!first) return;
  throw conflict('recipe_invalid', `recipe ${recipe.metadata.name} cannot be approved: ${first.message}`, { diagnostics });
}

/** Signed, it would only be refused where a batch is made of it. */
function refuseTooLarge(store: Store, { metadata: { name, site }, spec }: RecipeResource, to: RecipePhase): void {
  if (expandRecipe(spec.procedure.chart, templatesOf(store, site)).isWhole) return;
  const diagnostics: readonly RecipeProblem[] = [{ severity: 'error', code: 'reference', step: '', message: TOO_LARGE }];
  throw conflict('recipe_invalid', `recipe ${name} cannot become ${to}: ${TOO_LARGE}`, { diagnostics });
}

/** Back to Draft with the content of an older revision, which becomes a new one (decisions Q-RECIPE-03, Q-RECIPE-09). */
export async function revertRecipe(deps: LifecycleDeps, site: string, name: string, revision: number, reason: string, actor: LifecycleActor): Promise<ToldBy<typeof Reverted>> {
  const recipe = requireRecipe(deps.store, site, name);
  const wanted = deps.store.get(RecipeRevision, site, revisionName(name, revision));
  if (!wanted) throw missing('revision', `${revision} of recipe ${name}`);
  if (!REVERTIBLE.includes(recipe.status.phase)) {
    throw conflict('recipe_phase', `recipe ${name} is ${recipe.status.phase}; ${wayToWithdraw(recipe.status.phase)} before reverting, or make a new version of it (new-version)`, {
      phase: recipe.status.phase,
    });
  }
  const batches = heldBy(deps.store, site, name);
  if (batches.length > 0) throw conflict('recipe_held', `recipe ${name} is held by batch ${batches[0]}; it can be reverted when that batch has ended`, { heldBy: batches });
  refuseDuplicate(wanted.spec.spec, { read: deps.store, site, name });
  const next = recipe.status.revision + 1;
  const { entry, audit } = signed(deps, recipe, 'revert', 'Draft', reason, actor, next, wanted.spec.spec, { revertedTo: revision });
  const { status, puts } = revise({ name, site, spec: wanted.spec.spec, before: recipe, read: deps.store, by: entry.actionBy }, 'Draft', `reverted to revision ${revision}`, {
    revertedTo: revision,
    entry,
  });
  await deps.store.write({ puts: [{ kind: MasterRecipe, site, name, spec: wanted.spec.spec, status }, ...(puts ?? [])], audits: [audit] });
  return { ...reply(name, entry), revision: next, revertedTo: revision };
}

function signed(
  { clock, keys }: LifecycleDeps,
  { metadata, status }: RecipeResource,
  action: LifecycleAction | 'revert' | 'confirm-templates',
  to: RecipePhase,
  reason: string,
  actor: LifecycleActor,
  revision: number,
  spec: MasterRecipeSpec,
  more: Readonly<Record<string, unknown>> = {},
): { readonly entry: LifecycleEntry; readonly audit: AuditDraft } {
  const at = timestamp(clock.wallMs());
  const from = status.phase;
  const digest = recipeDigest(spec);
  const signature = sign(
    {
      meaning: `recipe-${action}`,
      signatory: actor.signatory,
      reason,
      signedAt: at,
      subject: { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'MasterRecipe', namespace: `site-${metadata.site}`, name: metadata.name, revision, digest },
      content: { action, from, to, ...more },
    },
    keys,
  );
  const entry: LifecycleEntry = { action, from, to, actionBy: actor.signatory.displayName, actionAt: at, reason, signature: signature.digest };
  const audit = actor.audit({
    site: metadata.site,
    action: 'Lifecycle',
    category: 'recipe-lifecycle',
    target: { kind: 'MasterRecipe', name: metadata.name, site: metadata.site },
    result: 'Success',
    operatorReason: reason,
    before: { phase: from },
    after: { phase: to, revision, digest },
    details: { action, ...more },
    signature: { ...signature.record, digest: signature.digest },
  });
  return { entry, audit };
}

function reply(name: string, { to, actionBy, actionAt, reason, signature }: LifecycleEntry): LifecycleReply {
  return { name, phase: to, actionBy, actionAt, reason, signature };
}
