/** Master recipes, their revisions and control recipes (contract 3, Recipes; decisions 1.7, RECIPE). */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { asWritten, LaterNumberText, NumberText, Required, Text } from '../../platform/store/fields.js';
import { type Kind, named, type Reference, type StatusMembers } from '../../platform/store/kind.js';
import { ProceduralChartField, type ParameterValue, templatesNamed } from '../procedures/kind.js';
import {
  BATCH_SIZE_WORDS,
  COORDINATION_REF_WORDS,
  DOCUMENT_WORDS,
  EQUIPMENT_REQUIREMENT_WORDS,
  FORMULA_PARAMETER_WORDS,
  FORMULA_WORDS,
  MASTER_RECIPE_WORDS,
  OLD_FORMULA_WORDS,
  OTHER_INFORMATION_WORDS,
  PROPERTY_REQUIREMENT_WORDS,
  RECIPE_PROCEDURE_WORDS,
  SUPERSEDES_WORDS,
} from './field-words.js';

export const FormulaParameter = v.strictObject({
  name: Required,
  value: v.string(),
  engineeringUnit: Text,
  description: Text,
  lowValueLimit: NumberText,
  highValueLimit: NumberText,
  lowTolerance: NumberText,
  highTolerance: NumberText,
  /** Scaled with quantity / batchSize.nominal (decisions 1.7). */
  scaled: v.optional(v.boolean(), false),
});
export type FormulaParameter = v.InferOutput<typeof FormulaParameter>;

export const Formula = v.strictObject({
  name: Required,
  default: v.optional(v.boolean(), false),
  description: Text,
  parameters: v.optional(v.array(FormulaParameter), []),
});
export type Formula = v.InferOutput<typeof Formula>;

const DocumentReference = v.strictObject({
  name: Required,
  type: v.picklist(['SDS', 'SOP', 'Specification', 'Diagram']),
  url: v.optional(v.string()),
  id: v.optional(v.string()),
});

/** In which order the units of a class are tried (D-C-12). */
export const CANDIDATE_POLICIES = ['listed', 'least-recently-used', 'least-used'] as const;
export type CandidatePolicy = (typeof CANDIDATE_POLICIES)[number];
export const CANDIDATE_POLICY_DEFAULT: CandidatePolicy = 'least-recently-used';

/** What a unit must say of itself; limits compare numbers. Members that are left out ask for nothing. */
const PropertyRequirement = v.strictObject({
  name: Required,
  value: v.optional(v.string()),
  min: LaterNumberText,
  max: LaterNumberText,
  engineeringUnit: v.optional(v.string()),
});

/** Members that came with the classes are absent where nobody wrote them: what was signed before keeps its digest. */
export const EquipmentRequirement = v.strictObject({
  capability: Required,
  description: Text,
  defaultUnit: Text,
  /** True: no other unit is taken. Absent beside a default unit: as true, written before there were classes (ADR 0046). */
  defaultUnitOnly: v.optional(v.boolean()),
  /** The units that may be taken, in the order of the policy `listed`; absent: all that have the capability. */
  candidates: v.optional(v.array(Required)),
  candidatePolicy: v.optional(v.picklist(CANDIDATE_POLICIES)),
  /** At least this much in the property `volume` of the unit, in the engineering unit that it has there. */
  volumeMin: LaterNumberText,
  properties: v.optional(v.array(PropertyRequirement)),
});
export type EquipmentRequirement = v.InferOutput<typeof EquipmentRequirement>;

export const VERSION_TEXT = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/; // decisions Q-RECIPE-10

const VersionText = v.pipe(v.string(), v.regex(VERSION_TEXT, 'must be major.minor.patch, decimal, without leading zeros'));

/** A version of the same product in whose place another one was made. */
export const SupersededVersion = v.strictObject({ name: Required, version: VersionText });
export type SupersededVersion = v.InferOutput<typeof SupersededVersion>;

const BatchSize = v.strictObject({ nominal: NumberText, min: NumberText, max: NumberText, engineeringUnit: Text });
const OldFormula = v.strictObject({ parameters: v.optional(v.array(FormulaParameter), []) });
const RecipeProcedure = v.strictObject({ chart: v.optional(ProceduralChartField, {}) });
const CoordinationRef = v.strictObject({ kind: v.picklist(['CoordinationBlock', 'SyncBarrier']), name: Required });
const OtherInformation = v.strictObject({
  safetyNotes: Text,
  regulatoryNotes: Text,
  operatorInstructions: Text,
  documentReferences: v.optional(v.array(DocumentReference), []),
});

export const MasterRecipeSpec = v.strictObject({
  productID: Text,
  productName: Text,
  version: v.optional(VersionText, '1.0.0'),
  /** Says where it came from (D-C-14): nothing runs by it, and what it names may be gone, so it is no reference. */
  supersedes: v.optional(SupersededVersion),
  description: Text,
  /** Empty nominal: no scaling. */
  batchSize: v.optional(BatchSize, {}),
  equipmentRequirements: v.optional(v.array(EquipmentRequirement), []),
  formulas: v.optional(v.array(Formula), []),
  /** Accepted on input for `formulas` with one default formula named `standard` (D-RECIPE-01); never stored. */
  formula: v.optional(OldFormula),
  procedure: v.optional(RecipeProcedure, {}),
  coordinationRefs: v.optional(v.array(CoordinationRef), []),
  allocation: v.optional(v.picklist(['AtStart', 'OnDemand']), 'AtStart'),
  /** Where it is silent, the setting `batch.holdPropagation` speaks (decisions 3.4). */
  holdPropagation: v.optional(v.picklist(['batch', 'unitProcedure', 'operation', 'phase'])),
  onPhaseFailure: v.optional(v.picklist(['Hold', 'Fail']), 'Hold'),
  otherInformation: v.optional(OtherInformation),
});
export type MasterRecipeSpec = v.InferOutput<typeof MasterRecipeSpec>;

describeFields(FormulaParameter, FORMULA_PARAMETER_WORDS);
describeFields(Formula, FORMULA_WORDS);
describeFields(DocumentReference, DOCUMENT_WORDS);
describeFields(PropertyRequirement, PROPERTY_REQUIREMENT_WORDS);
describeFields(EquipmentRequirement, EQUIPMENT_REQUIREMENT_WORDS);
describeFields(SupersededVersion, SUPERSEDES_WORDS);
describeFields(BatchSize, BATCH_SIZE_WORDS);
describeFields(OldFormula, OLD_FORMULA_WORDS);
describeFields(RecipeProcedure, RECIPE_PROCEDURE_WORDS);
describeFields(CoordinationRef, COORDINATION_REF_WORDS);
describeFields(OtherInformation, OTHER_INFORMATION_WORDS);
describeFields(MasterRecipeSpec, MASTER_RECIPE_WORDS);

export const RECIPE_PHASES = ['Draft', 'Rejected', 'Approved', 'Released', 'Effective', 'Withdrawn'] as const;
export type RecipePhase = (typeof RECIPE_PHASES)[number];

export const LifecycleEntry = v.strictObject({
  action: v.string(),
  from: v.picklist(RECIPE_PHASES),
  to: v.picklist(RECIPE_PHASES),
  actionBy: v.string(),
  actionAt: v.string(),
  reason: v.string(),
  /** Digest of the signature record (decisions Q-RECIPE-07). */
  signature: v.string(),
});
export type LifecycleEntry = ToldBy<typeof LifecycleEntry>;

export interface MasterRecipeStatus {
  readonly phase: RecipePhase;
  /** 1, 2, ...: +1 per accepted write that changes the spec (decisions Q-RECIPE-08). */
  readonly revision: number;
  /** D(spec) of decisions 8.6. */
  readonly digest: string;
  readonly lifecycle: readonly LifecycleEntry[];
  /** Who changed templates that were released with it, the last one of each. */
  readonly templateEdits?: readonly { readonly kind: string; readonly name: string; readonly by: string }[];
}

/** Signatures are among it: a recipe that has lost one is not repaired, and no batch is made of it. */
const MASTER_RECIPE_STATUS: StatusMembers<MasterRecipeStatus> = {
  phase: v.picklist(RECIPE_PHASES),
  revision: v.number(),
  digest: v.string(),
  lifecycle: v.array(LifecycleEntry),
  templateEdits: v.array(v.object({ kind: v.string(), name: v.string(), by: v.string() })),
};

export const MasterRecipe: Kind<MasterRecipeSpec, MasterRecipeStatus> = {
  kind: 'MasterRecipe',
  group: 'recipe',
  scope: 'site',
  action: 'masterrecipe',
  path: 'recipes/master',
  spec: MasterRecipeSpec,
  body: 'spec',
  apply: { how: 'yes' },
  controlled: true,
  initialStatus: () => ({ phase: 'Draft', revision: 0, digest: '', lifecycle: [] }),
  status: MASTER_RECIPE_STATUS,
  references: ({ procedure, equipmentRequirements, coordinationRefs }, site) => [
    ...templatesNamed(procedure.chart, 'procedure.chart', site).map((reference) => ({ ...reference, holds: true }) as const),
    ...named(
      ...equipmentRequirements.map(({ defaultUnit }, at): Reference => ({ path: `equipmentRequirements[${at}].defaultUnit`, kind: 'Unit', site, name: defaultUnit, when: 'run' })),
      ...equipmentRequirements.flatMap(({ candidates = [] }, at) =>
        candidates.map((name, index): Reference => ({ path: `equipmentRequirements[${at}].candidates[${index}]`, kind: 'Unit', site, name, when: 'run' })),
      ),
    ),
    ...coordinationRefs.map(({ kind, name }, at): Reference => ({ path: `coordinationRefs[${at}]`, kind, site, name, when: 'run' })),
  ],
};

/** A template that a step stands for, with the digest of its content: what a revision rested on. */
export const UsedTemplate = v.strictObject({
  /** Step path, for example `makeResin/charge/monomer`. */
  path: v.string(),
  kind: v.string(),
  name: v.string(),
  digest: v.string(),
});
export type UsedTemplate = ToldBy<typeof UsedTemplate>;

nameSchemas({ SupersededVersion, PropertyRequirement, EquipmentRequirement, FormulaParameter, Formula, DocumentReference, RecipeLifecycleEntry: LifecycleEntry, UsedTemplate });

/** A template as it was released (D-C-11). */
export interface ReleasedTemplate {
  readonly kind: string;
  readonly name: string;
  readonly digest: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** One revision, named `<recipe>.r<revision>`; evidence, written by the gateway only. */
export interface RecipeRevisionSpec {
  readonly recipe: string;
  readonly revision: number;
  readonly createdBy: string;
  readonly phase: RecipePhase;
  readonly digest: string;
  readonly summary: string;
  readonly revertedTo?: number;
  readonly spec: MasterRecipeSpec;
  /** What its steps stood for; absent in revisions of an older version of the product. */
  readonly templates?: readonly UsedTemplate[];
  /** Content of every template that the recipe reached when it was released, or confirmed since: what its batches are made from. */
  readonly released?: readonly ReleasedTemplate[];
  readonly signatures: readonly LifecycleEntry[];
}

export const RecipeRevision: Kind<RecipeRevisionSpec, Readonly<Record<string, never>>> = {
  kind: 'RecipeRevision',
  group: 'recipe',
  scope: 'site',
  besideSite: true, // goes with its recipe
  action: 'reciperevision',
  spec: asWritten<RecipeRevisionSpec>(),
  body: 'document',
  apply: { how: 'no', reason: 'a recipe revision is the evidence of a write to its master recipe; it is made by the gateway' },
  initialStatus: () => ({}),
};

export interface ControlRecipeSpec {
  readonly batch: string;
  readonly batchID: string;
  readonly masterRecipe: string;
  readonly masterRevision: number;
  readonly productID: string;
  readonly version: string;
  readonly formulaName: string;
  readonly digest: string;
  /** A full snapshot: the batch runs what was signed, whatever is edited later (decisions Q-RECIPE-04). */
  readonly recipe: {
    readonly parameters: readonly ParameterValue[];
    readonly chart: ProceduralChart;
    readonly templates: readonly { readonly kind: string; readonly name: string; readonly digest: string; readonly spec: Readonly<Record<string, unknown>> }[];
    readonly allocation: Readonly<Record<string, string>>;
    readonly batchSize: { readonly nominal: string; readonly min: string; readonly max: string; readonly engineeringUnit: string };
    readonly coordinationRefs: readonly { readonly kind: string; readonly name: string }[];
    readonly holdPropagation?: MasterRecipeSpec['holdPropagation'];
    readonly onPhaseFailure: MasterRecipeSpec['onPhaseFailure'];
    readonly allocationPolicy: MasterRecipeSpec['allocation'];
    /** Of what `allocation` leaves open the class is chosen from by these; absent in control recipes of earlier releases. */
    readonly equipmentRequirements?: MasterRecipeSpec['equipmentRequirements'];
  };
}

export const ControlRecipe: Kind<ControlRecipeSpec, Readonly<Record<string, never>>> = {
  kind: 'ControlRecipe',
  group: 'recipe',
  scope: 'site',
  action: 'controlrecipe',
  path: 'recipes/control',
  spec: asWritten<ControlRecipeSpec>(),
  body: 'document',
  apply: { how: 'no', reason: 'a control recipe is made by the batch controller when its batch starts' },
  initialStatus: () => ({}),
  pastWith: { kind: 'Procedure', named: 'alike' },
};
