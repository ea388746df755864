/** Read bodies of recipes (decisions Q-RECIPE-01, Q-RECIPE-04, Q-RECIPE-08, Q-RECIPE-11). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Condition as ConditionBody, type ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Condition, Resource } from '../../platform/store/resource.js';
import {
  type ControlRecipeSpec,
  EquipmentRequirement,
  LifecycleEntry,
  MasterRecipeSpec,
  type MasterRecipeStatus,
  RECIPE_PHASES,
  type RecipeRevisionSpec,
  UsedTemplate,
} from './kind.js';
import { ParameterValue, ProceduralChartField } from '../procedures/kind.js';
import { bindingNotes } from './binding-notes.js';
import { otherEffective } from './family.js';
import { expandRecipe, templatesOf } from './expand.js';
import { wholeRecipeNotes } from './recipe-notes.js';
import { changeWords, TemplateChange, templateChanges } from './released.js';
import { heldBy } from './rules.js';
import { successorsOf, supersedesNotes, SuccessorVersion } from './supersedes.js';
import { deadChoicesOf, withdrawnMembers } from '../procedures/template-notes.js';

const { formula: _input, ...recipeMembers } = MasterRecipeSpec.entries;
/** As it is stored: the short form `formula` is taken and becomes a formula of the list. */
const RecipeSpec = v.strictObject(recipeMembers);

export const RecipeBody = v.strictObject({
  name: v.string(),
  phase: v.picklist(RECIPE_PHASES),
  spec: RecipeSpec,
  revision: v.number(),
  digest: v.string(),
  lifecycle: v.array(LifecycleEntry),
  /** Batches that run it, or will. */
  heldBy: v.array(v.string()),
  /** Versions that were made to take its place. */
  supersededBy: v.array(SuccessorVersion),
  notes: v.array(v.string()),
  conditions: v.array(ConditionBody),
  templateChanges: v.array(TemplateChange),
  ...SITE_METADATA,
});
export type RecipeBody = ToldBy<typeof RecipeBody>;

export const RevisionItem = v.strictObject({
  revision: v.number(),
  createdAt: v.string(),
  createdBy: v.string(),
  phase: v.picklist(RECIPE_PHASES),
  digest: v.string(),
  summary: v.string(),
  revertedTo: v.optional(v.number()),
});
export type RevisionItem = ToldBy<typeof RevisionItem>;

/** A template as it was when somebody wrote it down; its spec is that of its kind. */
const FrozenTemplate = v.strictObject({ kind: v.string(), name: v.string(), digest: v.string(), spec: v.record(v.string(), v.unknown()) });

export const RevisionBody = v.strictObject({
  ...RevisionItem.entries,
  spec: RecipeSpec,
  templates: v.array(UsedTemplate),
  signatures: v.array(LifecycleEntry),
  released: v.array(FrozenTemplate),
});

export const ControlRecipeBody = v.strictObject({
  name: v.string(),
  batch: v.string(),
  batchID: v.string(),
  masterRecipe: v.string(),
  masterRevision: v.number(),
  productID: v.string(),
  version: v.string(),
  formulaName: v.string(),
  digest: v.string(),
  createdAt: v.string(),
  spec: v.strictObject({
    parameters: v.array(ParameterValue),
    chart: ProceduralChartField,
    templates: v.array(FrozenTemplate),
    allocation: v.record(v.string(), v.string()),
    batchSize: v.strictObject({ nominal: v.string(), min: v.string(), max: v.string(), engineeringUnit: v.string() }),
    coordinationRefs: v.array(v.strictObject({ kind: v.string(), name: v.string() })),
    holdPropagation: recipeMembers.holdPropagation,
    onPhaseFailure: recipeMembers.onPhaseFailure,
    allocationPolicy: recipeMembers.allocation,
    equipmentRequirements: v.optional(v.array(EquipmentRequirement)),
  }),
});

nameSchemas({ RecipeShown: RecipeSpec, RecipeBody, RevisionItem, FrozenTemplate, RevisionBody, ControlRecipeBody });

export function recipeBody(resource: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): RecipeBody {
  const { metadata, spec, status } = resource;
  return {
    name: metadata.name,
    phase: status.phase,
    spec,
    revision: status.revision,
    digest: status.digest,
    lifecycle: status.lifecycle,
    heldBy: heldBy(read, metadata.site, metadata.name),
    supersededBy: successorsOf(read, resource),
    notes: [
      ...siblingNotes(resource, read),
      ...supersedesNotes(read, resource),
      ...bindingNotes(read, resource),
      ...phaseNotes(resource, read),
      ...wholeRecipeNotes(read, resource),
    ],
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

/** Several versions may be Effective at once; each is withdrawn by its own signed action (decisions Q-RECIPE-11, D-C-14). */
function siblingNotes(resource: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): string[] {
  const { spec, status } = resource;
  if (status.phase !== 'Effective') return [];
  return otherEffective(read, resource).map((other) => `version ${other.spec.version} of product ${spec.productID} is Effective too: recipe ${other.metadata.name}`);
}

/** Of its phase templates: members that have no effect any more, and answers of prompts that lead nowhere. */
function phaseNotes({ metadata, spec }: Resource<MasterRecipeSpec, MasterRecipeStatus>, read: StoreReader): string[] {
  const { phases } = expandRecipe(spec.procedure.chart, templatesOf(read, metadata.site));
  const templates = new Map(phases.map(({ phaseTemplate, template }) => [phaseTemplate, template]));
  const notes = [...templates].flatMap(([phaseTemplate, template]) => {
    const own = template ? [...withdrawnMembers(template), ...deadChoicesOf(template).map(({ message }) => message)] : [];
    return own.map((note) => `phase template ${phaseTemplate}: ${note}`);
  });
  return [...new Set(notes)];
}

export function revisionItem({ metadata, spec }: Resource<RecipeRevisionSpec>): RevisionItem {
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

export function revisionBody(revision: Resource<RecipeRevisionSpec>) {
  return {
    ...revisionItem(revision),
    spec: revision.spec.spec,
    templates: revision.spec.templates ?? [],
    signatures: revision.spec.signatures,
    released: revision.spec.released ?? [],
  };
}

export function controlRecipeBody({ metadata, spec }: Resource<ControlRecipeSpec>) {
  const { recipe, ...facts } = spec;
  // whole: `digest` is that of `spec`, so that everybody can make it anew (decisions 8.6)
  return { name: metadata.name, ...facts, createdAt: metadata.createdAt, spec: recipe };
}
