/** Admission of master recipes (contract 3, Recipes; decisions Q-RECIPE-01..03, Q-RECIPE-13, Q-RECIPE-14, D-RECIPE-02). */
import { isDeepStrictEqual } from 'node:util';
import { conflict, forAll, invalid, Refusal, together } from '../../platform/base/refusal.js';
import { isNumberText } from '../../platform/store/fields.js';
import { type Admission, type Dependent, type StoreReader, ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { dependentsIn } from '../plant/rules.js';
import { checkRecipeChart, refuseInvalid } from '../procedures/charts.js';
import { type Formula, type MasterRecipeSpec, type MasterRecipeStatus, type RecipePhase, MasterRecipe, ControlRecipe } from './kind.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { recipeCompanions } from './revisions.js';
import { checkSupersedes } from './supersedes.js';

/** Contract 3, Master recipe lifecycle. A pair that is not listed is a conflict. */
export const LIFECYCLE = [
  { from: 'Draft', by: 'approve', to: 'Approved' },
  { from: 'Draft', by: 'reject', to: 'Rejected' },
  { from: 'Approved', by: 'release', to: 'Released' },
  { from: 'Released', by: 'activate', to: 'Effective' },
  { from: 'Effective', by: 'withdraw', to: 'Withdrawn' },
] as const;
export type LifecycleAction = (typeof LIFECYCLE)[number]['by'];

export const REVERTIBLE: readonly RecipePhase[] = ['Draft', 'Rejected', 'Approved', 'Withdrawn'];
export const EDITABLE: readonly RecipePhase[] = ['Draft', 'Rejected'];
export const DELETABLE: readonly RecipePhase[] = ['Draft', 'Rejected', 'Withdrawn'];

const NEW_VERSION = 'make a new version of it (new-version)';
const REVERT = 'revert it to one of its revisions, which makes it a Draft again';

/** What there is to do where a recipe cannot be edited. */
export function wayToEdit(phase: RecipePhase): string {
  return REVERTIBLE.includes(phase) ? `${REVERT}, or ${NEW_VERSION} and edit that` : `${NEW_VERSION} and edit that`;
}

/** To have it withdrawn, which it must be before it is reverted or deleted. */
export function wayToWithdraw(phase: RecipePhase): string {
  return phase === 'Released' ? 'activate it and withdraw it' : 'withdraw it';
}

/** It has come further, or has been rejected. */
function pastIt(phase: RecipePhase): string {
  const next = LIFECYCLE.find(({ from, by }) => from === phase && by !== 'reject')?.by;
  return next === undefined ? `${REVERT}, or ${NEW_VERSION}` : `it is past that, and ${next} comes next; ${NEW_VERSION} where something is to be changed`;
}

/** The actions that lead to where this one starts; what has none is behind it. */
function wayTo(phase: RecipePhase, action: LifecycleAction): string {
  const ahead: string[] = [];
  let at: string = phase;
  while (at !== LIFECYCLE.find(({ by }) => by === action)?.from) {
    const step = LIFECYCLE.find(({ from, by }) => from === at && by !== 'reject');
    if (!step) return pastIt(phase);
    ahead.push(step.by);
    at = step.to;
  }
  return `${ahead.join(' it, then ')} it first`;
}

/** @throws Refusal 409 when the action does not start from this phase. */
export function nextPhase(phase: RecipePhase, action: LifecycleAction, name: string): RecipePhase {
  const row = LIFECYCLE.find((candidate) => candidate.from === phase && candidate.by === action);
  if (row) return row.to;
  const from = LIFECYCLE.filter((candidate) => candidate.by === action).map((candidate) => candidate.from);
  throw conflict('recipe_phase', `recipe ${name} is ${phase}; ${action} is possible from ${from.join(' or ')} only: ${wayTo(phase, action)}`, { phase });
}

/** Normal form of a spec: formulas instead of `formula`, exactly one default (decisions Q-RECIPE-14, D-RECIPE-01). */
export function admitRecipe(input: MasterRecipeSpec, context: Admission<MasterRecipeSpec, MasterRecipeStatus>): MasterRecipeSpec {
  const spec = withDefaultUnits(normalise(input), context.before?.spec);
  const { before } = context;
  together(
    () => checkSizes(spec),
    () => checkFormulas(spec.formulas),
    () => checkSupersedes(spec, context),
    () => refuseInvalid(checkRecipeChart(spec.procedure.chart, spec.formulas, context.read, context.site)),
  );
  const changed = !before || !isDeepStrictEqual(spec, before.spec);
  if (changed && before && context.via !== 'system' && !EDITABLE.includes(before.status.phase)) {
    throw conflict('recipe_phase', `recipe ${context.name} is ${before.status.phase}; it can be edited in Draft and Rejected only: ${wayToEdit(before.status.phase)}`, {
      phase: before.status.phase,
    });
  }
  if (changed) refuseDuplicate(spec, context);
  return spec;
}

function normalise({ formula, ...spec }: MasterRecipeSpec): MasterRecipeSpec {
  if (formula && spec.formulas.length > 0) throw invalid('invalid_field', 'spec.formula', 'send either formula or formulas, not both');
  const formulas: Formula[] = formula ? [{ name: 'standard', default: true, description: '', parameters: formula.parameters }] : spec.formulas;
  const marked = formulas.some((candidate) => candidate.default);
  return { ...spec, formulas: marked ? formulas : formulas.map((candidate, index) => ({ ...candidate, default: index === 0 })) };
}

/**
 * A default unit that is written now binds where it says so only (D-C-12). One that was stored before the member existed binds, and goes on
 * doing so through edits that do not name the member: a recipe must not come to another unit by a change of its description (ADR 0046).
 */
function withDefaultUnits(spec: MasterRecipeSpec, before: MasterRecipeSpec | undefined): MasterRecipeSpec {
  const bound = (capability: string): boolean =>
    before?.equipmentRequirements.some((known) => known.capability === capability && known.defaultUnit !== '' && known.defaultUnitOnly === undefined) ?? false;
  const equipmentRequirements = spec.equipmentRequirements.map((requirement) => {
    const { capability, defaultUnit, defaultUnitOnly } = requirement;
    return defaultUnit === '' || defaultUnitOnly !== undefined || bound(capability) ? requirement : { ...requirement, defaultUnitOnly: false };
  });
  return { ...spec, equipmentRequirements };
}

/** A size that nothing can be scaled by, or that no batch can have, is no size. */
function checkSizes({ batchSize: { nominal, min, max }, equipmentRequirements }: MasterRecipeSpec): void {
  together(
    () => mustBePositive('nominal', nominal),
    () => mustBePositive('max', max),
    () => {
      if (min !== '' && max !== '' && Number(min) > Number(max)) throw invalid('invalid_field', 'spec.batchSize.min', `batchSize.min ${min} is larger than batchSize.max ${max}`);
    },
    () => checkRequirements(equipmentRequirements),
  );
}

function mustBePositive(member: 'nominal' | 'max', text: string): void {
  if (text !== '' && !(Number(text) > 0)) throw invalid('invalid_field', `spec.batchSize.${member}`, `batchSize.${member} must be greater than 0`);
}

function checkRequirements(equipmentRequirements: MasterRecipeSpec['equipmentRequirements']): void {
  forAll(equipmentRequirements, ({ capability, defaultUnit, defaultUnitOnly, candidates = [], properties = [] }, index) => {
    const at = `spec.equipmentRequirements[${index}]`;
    if (defaultUnitOnly && defaultUnit === '')
      throw invalid('invalid_field', `${at}.defaultUnitOnly`, `capability ${capability} has no defaultUnit: name one, or leave defaultUnitOnly out`);
    if (new Set(candidates).size < candidates.length) throw invalid('invalid_field', `${at}.candidates`, `capability ${capability} names a candidate twice`);
    if (candidates.length > 0 && defaultUnit !== '' && !candidates.includes(defaultUnit))
      throw invalid('invalid_field', `${at}.candidates`, `the default unit ${defaultUnit} of capability ${capability} is none of its candidates: name it among them`);
    properties.forEach(({ name, min = '', max = '' }, number) => {
      if (min !== '' && max !== '' && Number(min) > Number(max))
        throw invalid('invalid_field', `${at}.properties[${number}].min`, `min ${min} of ${name} is larger than max ${max}`);
    });
    if (equipmentRequirements.findIndex((other) => other.capability === capability) < index)
      throw invalid('invalid_field', `spec.equipmentRequirements[${index}].capability`, `capability ${capability} is named twice`);
  });
}

function checkFormulas(formulas: readonly Formula[]): void {
  const names = new Set<string>();
  forAll(formulas, (formula, index) => {
    const field = `spec.formulas[${index}]`;
    if (names.has(formula.name)) throw invalid('invalid_field', `${field}.name`, `formula ${formula.name} exists twice`);
    names.add(formula.name);
    checkFormula(formula, field);
  });
  if (formulas.filter((formula) => formula.default).length > 1) throw invalid('invalid_field', 'spec.formulas', 'exactly one formula is the default');
}

export function checkFormula({ parameters }: Pick<Formula, 'parameters'>, field: string): void {
  const names = new Set<string>();
  forAll(parameters, (parameter, index) => {
    const key = parameter.name.toLowerCase();
    if (names.has(key)) throw invalid('invalid_field', `${field}.parameters[${index}].name`, `parameter ${parameter.name} exists twice in the formula`);
    names.add(key);
    checkNumbers(parameter, `${field}.parameters[${index}]`);
  });
}

/** What is scaled or limited is a number, and its limits leave room for one. */
function checkNumbers({ name, value, scaled, lowValueLimit: low, highValueLimit: high }: Formula['parameters'][number], field: string): void {
  if ((scaled || low !== '' || high !== '') && !isNumberText(value))
    throw invalid('invalid_field', `${field}.value`, `parameter ${name} is ${scaled ? 'scaled' : 'limited'}: its value must be a number`);
  if (low !== '' && high !== '' && Number(low) > Number(high))
    throw invalid('invalid_field', `${field}.lowValueLimit`, `lowValueLimit ${low} of ${name} is larger than highValueLimit ${high}`);
}

/** @throws Refusal 409 when (productID, version) is taken in the site (contract 3, Recipes). */
export function refuseDuplicate(spec: MasterRecipeSpec, { read, site, name }: { readonly read: StoreReader; readonly site: string; readonly name: string }): void {
  if (spec.productID === '') return;
  const other = read.list(MasterRecipe, site).find((recipe) => recipe.metadata.name !== name && recipe.spec.productID === spec.productID && recipe.spec.version === spec.version);
  if (!other) return;
  throw conflict('duplicate_version', `product ${spec.productID} already has version ${spec.version}: recipe ${other.metadata.name}`, {
    productID: spec.productID,
    version: spec.version,
    recipe: other.metadata.name,
  });
}

/** Batches that name it and are not final, Pending included (decisions Q-RECIPE-12). */
export function heldBy(read: StoreReader, site: string, recipe: string): string[] {
  return read
    .list(Batch, site)
    .filter((batch) => batch.spec.masterRecipeRef === recipe && !isFinalBatch(batch.status.phase))
    .map((batch) => batch.metadata.name);
}

export function recipeDependents(read: StoreReader, site: string, recipe: string): Dependent[] {
  return dependentsIn(read, Batch, site, (batch) => batch.spec.masterRecipeRef === recipe && !isFinalBatch(batch.status.phase));
}

/** Draft, Rejected and Withdrawn recipes may be deleted (decisions Q-RECIPE-02). */
export function refuseRecipeDelete({ metadata, status }: Resource<MasterRecipeSpec, MasterRecipeStatus>): void {
  if (DELETABLE.includes(status.phase)) return;
  const way = status.phase === 'Approved' ? REVERT : wayToWithdraw(status.phase);
  throw conflict('recipe_phase', `recipe ${metadata.name} is ${status.phase}; only a Draft, Rejected or Withdrawn recipe can be deleted: ${way}, then delete it`, {
    phase: status.phase,
  });
}

export const masterRecipeRules = ruled(MasterRecipe, {
  refuses: { write: { 400: ['st_invalid'], 409: ['recipe_phase', 'duplicate_version'] }, remove: { 409: ['recipe_phase'] } },
  admit: admitRecipe,
  judgedAgainst: ['PhaseTemplate', 'OperationTemplate', 'UnitProcedureTemplate', 'ProcedureTemplate'],
  companions: recipeCompanions,
  dependents: ({ metadata }, read) => recipeDependents(read, metadata.site, metadata.name),
  refuseDelete: refuseRecipeDelete,
});
export const controlRecipeRules = ruled(ControlRecipe, {
  refuses: { remove: { 403: ['production_mode'], 409: ['active_batch'] } },
  keptInProduction: () => new Refusal('forbidden', 'control recipes are production records and cannot be deleted in production mode', { code: 'production_mode' }),
});
