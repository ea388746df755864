/**
 * Values that an element of a batch could not run with (decisions 3.2, `formula-out-of-range`): the elements that Start would
 * make are made here without being written, and each value is held against what its element declares.
 */
import { sameName } from '../../../../runtime/vocabulary/same-name.js';
import { toldOf } from '../../runs/told-refusal.js';
import { type Told, told, withTold } from '../../../../runtime/vocabulary/told.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { ParameterSpec, ParameterValue } from '../../procedures/kind.js';
import { expandRecipe, templatesOf } from '../../recipes/expand.js';
import type { MasterRecipeSpec } from '../../recipes/kind.js';
import { instantiate } from '../start/instantiation.js';
import { checkValue, isFromOutput } from './parameters.js';
import { storedTemplates } from '../start/stored-templates.js';

export interface UnfitValue {
  /** Step path and name of the parameter, `makeResin/charge/monomer.amount`. */
  readonly at: string;
  readonly message: string;
  readonly told?: Told | undefined;
  readonly formal: ParameterSpec;
  readonly value: ParameterValue;
}

interface Declared {
  readonly stepPath: string;
  readonly parameters: readonly ParameterSpec[];
  readonly parameterValues: readonly ParameterValue[];
}

/** Of the whole recipe; empty while a template of it is missing, which is another fault. */
export function unfitRecipeValues(read: StoreReader, site: string, recipe: MasterRecipeSpec, parameters: readonly ParameterValue[]): UnfitValue[] {
  if (expandRecipe(recipe.procedure.chart, templatesOf(read, site)).notes.length > 0) return [];
  const elements = instantiate({ batch: '', mode: 'Automatic', recipe, parameters, allocation: {}, templates: storedTemplates(read, site) });
  return elements.flatMap(({ spec }) => unfitElementValues(spec));
}

/** What comes from the output of a step is not known yet, and judged when the element starts. */
export function unfitElementValues({ stepPath, parameters, parameterValues }: Declared): UnfitValue[] {
  return parameters.flatMap((formal) => {
    const bound = parameterValues.find(({ name }) => sameName(name, formal.name));
    if (bound && isFromOutput(bound)) return [];
    const value = bound ?? { name: formal.name, value: formal.defaultValue, unit: formal.unit, source: 'default', sourceRef: 'template' };
    const fault = isBlank(formal, value) ? missingValue(formal) : faultOf(formal, value.value);
    return fault === undefined ? [] : [{ at: stepPath === '' ? formal.name : `${stepPath}.${formal.name}`, ...fault, formal, value }];
  });
}

/** A batch that gives no number where there has to be one has not chosen 0. */
function isBlank({ type }: ParameterSpec, { value, source, sourceRef }: ParameterValue): boolean {
  return value === '' && source === 'override' && sourceRef.startsWith('batch') && type !== 'STRING';
}

interface Unfit {
  readonly message: string;
  readonly told?: Told | undefined;
}

function missingValue({ name }: ParameterSpec): Unfit {
  return { message: `parameter ${name} needs a value`, told: told('value-missing', { name }) };
}

/** Undefined for a value that fits. */
export function faultOf(formal: ParameterSpec, value: string): Unfit | undefined {
  if (value === '') return formal.required ? missingValue(formal) : undefined;
  try {
    checkValue(formal, value, formal.name);
    return undefined;
  } catch (fault) {
    if (fault instanceof Refusal) return { message: fault.message, ...withTold(toldOf(fault)) };
    throw fault;
  }
}
