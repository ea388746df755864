/**
 * Whether what is about to run is what was recorded and signed (D-C-10): the digests of a recipe, its revision and a control
 * recipe, made anew over the stored content. Pure. What carries no digest was made before there were any, and is not judged.
 */
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type ControlRecipeSpec, type MasterRecipeSpec, type MasterRecipeStatus, RecipeRevision } from './kind.js';
import { recipeDigest, revisionName } from './revisions.js';

/** One sentence; undefined when the recipe is what its digest and its revision say. */
export function recipeMismatch(read: StoreReader, { metadata, spec, status }: Resource<MasterRecipeSpec, MasterRecipeStatus>): string | undefined {
  const { site, name } = metadata;
  if (status.digest === '') return undefined;
  const digest = recipeDigest(spec);
  if (digest !== status.digest) return `recipe ${name} is not what it was when it was written and signed: its content does not have its digest`;
  const revision = read.get(RecipeRevision, site, revisionName(name, status.revision))?.spec;
  if (revision === undefined) return status.revision === 0 ? undefined : `revision ${status.revision} of recipe ${name} is missing`;
  if (revision.digest !== digest || recipeDigest(revision.spec) !== digest) return `recipe ${name} is not revision ${status.revision} of it`;
  const signed = revision.signatures.map(({ signature }) => signature);
  if (
    !isSuffix(
      signed,
      status.lifecycle.map(({ signature }) => signature),
    )
  )
    return `the signatures of recipe ${name} are not those of its revision ${status.revision}`;
  const changed = revision.released?.find((template) => canonicalDigest(template.spec) !== template.digest);
  return changed && `${changed.kind} ${changed.name} of recipe ${name} is not what was released: its content does not have its digest`;
}

/** One sentence; undefined when the control recipe is what was frozen. */
export function controlRecipeMismatch(name: string, { digest, recipe }: ControlRecipeSpec): string | undefined {
  if (digest === '') return undefined;
  if (canonicalDigest(recipe) !== digest) return `control recipe ${name} is not what was made when its batch started: its content does not have its digest`;
  const changed = recipe.templates.find((template) => canonicalDigest(template.spec) !== template.digest);
  return changed && `${changed.kind} ${changed.name} in control recipe ${name} does not have its digest`;
}

/** The signatures of a revision are the last ones of the recipe. */
function isSuffix(last: readonly string[], all: readonly string[]): boolean {
  return last.length <= all.length && last.every((signature, at) => all[all.length - last.length + at] === signature);
}
