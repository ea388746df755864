/** Read bodies of recipes (decisions Q-RECIPE-01, Q-RECIPE-04, Q-RECIPE-08, Q-RECIPE-11). */
import type { StoreReader } from '../../platform/store/kind.js';
import { metadataBody } from '../../platform/store/read-body.js';
import type { Condition, Resource } from '../../platform/store/resource.js';
import { type ControlRecipeSpec, type MasterRecipeSpec, type MasterRecipeStatus, type RecipeRevisionSpec, MasterRecipe } from './kind.js';
import { expandRecipe, templatesOf } from './expand.js';
import { changeWords, templateChanges } from './released.js';
import { heldBy } from './rules.js';
import { bindingMatrix } from './validity.js';
import { withdrawnMembers } from '../procedures/template-notes.js';

export function recipeBody(resource: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): unknown {
  const { metadata, spec, status } = resource;
  return {
    name: metadata.name,
    phase: status.phase,
    spec,
    revision: status.revision,
    digest: status.digest,
    lifecycle: status.lifecycle,
    heldBy: heldBy(read, metadata.site, metadata.name),
    notes: [...siblingNotes(resource, read), ...bindingMatrix(read, metadata.site, spec).notes, ...withdrawnNotes(resource, read)],
    conditions: templateConditions(resource, read),
    templateChanges: templateChanges(read, resource),
    ...metadataBody(resource),
  };
}

/** A template that was edited after the release runs in no batch of the recipe until somebody confirms it (D-C-11). */
function templateConditions(resource: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): Condition[] {
  const changes = templateChanges(read, resource);
  if (changes.length === 0) return [];
  return [{ type: 'TemplateChanged', status: 'True', reason: 'ChangedAfterRelease', message: changes.map(changeWords).join('\n') }];
}

/** Several versions may be Effective at once; each is withdrawn by its own signed action (decisions Q-RECIPE-11). */
function siblingNotes({ metadata, spec, status }: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): string[] {
  if (status.phase !== 'Effective' || spec.productID === '') return [];
  const others = read
    .list(MasterRecipe, metadata.site)
    .filter((other) => other.metadata.name !== metadata.name && other.spec.productID === spec.productID && other.status.phase === 'Effective');
  return others.map((other) => `version ${other.spec.version} of product ${spec.productID} is Effective too: recipe ${other.metadata.name}`);
}

/** Members of its phase templates that have no effect any more. */
function withdrawnNotes({ metadata, spec }: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): string[] {
  const { phases } = expandRecipe(spec.procedure.chart, templatesOf(read, metadata.site));
  return [...new Set(phases.flatMap(({ phaseTemplate, template }) => (template ? withdrawnMembers(template).map((note) => `phase template ${phaseTemplate}: ${note}`) : [])))];
}

export function revisionItem({ metadata, spec }: Resource<RecipeRevisionSpec>): Record<string, unknown> {
  return {
    revision: spec.revision,
    createdAt: metadata.createdAt,
    createdBy: spec.createdBy,
    phase: spec.phase,
    digest: spec.digest,
    summary: spec.summary,
    ...(spec.revertedTo === undefined ? {} : { revertedTo: spec.revertedTo }),
  };
}

export function revisionBody(revision: Resource<RecipeRevisionSpec>): unknown {
  return {
    ...revisionItem(revision),
    spec: revision.spec.spec,
    templates: revision.spec.templates ?? [],
    signatures: revision.spec.signatures,
    released: revision.spec.released ?? [],
  };
}

export function controlRecipeBody({ metadata, spec }: Resource<ControlRecipeSpec>): unknown {
  const { recipe, ...facts } = spec;
  // whole: `digest` is that of `spec`, so that everybody can make it anew (decisions 8.6)
  return { name: metadata.name, ...facts, createdAt: metadata.createdAt, spec: recipe };
}
