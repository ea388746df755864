/** What can be said of a rehearsed batch without running it: equipment, bindings, parameters against what their elements declare. */
import { Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { BatchSpec } from '../batches/kind.js';
import { unfitElementValues } from '../batches/creation/unfit-values.js';
import { batchParameters } from '../batches/creation/parameters.js';
import { bindRecipe, isViolation } from '../recipes/binding-matrix.js';
import { templatesOf } from '../recipes/expand.js';
import type { MasterRecipeSpec } from '../recipes/kind.js';
import { siteUnits } from '../recipes/site-units.js';
import type { ElementResource } from './coverage.js';
import type { RehearsalCheck } from './findings.js';

/** Of the recipe on its units. */
export function recipeChecks(read: StoreReader, site: string, recipe: MasterRecipeSpec, batch: BatchSpec): RehearsalCheck[] {
  const { notes, rows } = bindRecipe(recipe, templatesOf(read, site), siteUnits(read, site), chosenUnits(batch));
  const violated = rows.filter(isViolation).map(({ step, role, message = '' }) => `step ${step}, role ${role}: ${message}`);
  return [
    ...verdicts('equipment', notes),
    ...verdicts('bindings', violated),
    ...verdicts(
      'formula',
      refusalOf(() => batchParameters(recipe, batch)),
    ),
  ];
}

/** Capabilities that the request leaves open are resolved as at Start. */
function chosenUnits({ equipment }: BatchSpec): Record<string, string> {
  return Object.fromEntries(Object.entries(equipment).filter(([, unit]) => unit !== ''));
}

/** Of the elements that Start has made: a value that comes from the output of a step is not known yet. */
export function parameterChecks(elements: readonly ElementResource[]): RehearsalCheck[] {
  return verdicts(
    'parameters',
    elements.flatMap(({ spec }) => unfitElementValues(spec).map(({ at, message }) => `${at}: ${message}`)),
  );
}

function refusalOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [fault.message];
  }
}

function verdicts(check: string, problems: readonly string[]): RehearsalCheck[] {
  return problems.length === 0 ? [{ check, ok: true, message: '' }] : problems.map((message) => ({ check, ok: false, message }));
}
