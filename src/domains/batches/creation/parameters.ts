/**
 * The parameter cascade (contract 3, Procedural resources; decisions 1.7, 2.2): recipe formula, then unit procedure,
 * operation and phase, each value with where it came from. Pure.
 */
import type { ParameterBinding } from '../../../../runtime/vocabulary/chart.js';
import { told } from '../../../../runtime/vocabulary/told.js';
import { sameName } from '../../../../runtime/vocabulary/same-name.js';
import { invalid, type Refusal } from '../../../platform/base/refusal.js';
import { saidAs } from '../../runs/told-refusal.js';
import { isNumberText } from '../../../platform/store/fields.js';
import type { ParameterSpec, ParameterValue } from '../../procedures/kind.js';
import { areOtherUnits } from '../../procedures/units-of-measure.js';
import { outsideWords, valueFault } from '../../procedures/value-fault.js';
import type { Formula, MasterRecipeSpec } from '../../recipes/kind.js';
import type { BatchSpec } from '../kind.js';

/** What a REAL holds of a decimal number whatever its value. */
const DIGITS_MAX = 15;

export function chosenFormula(recipe: MasterRecipeSpec, formulaName: string): Formula | undefined {
  if (formulaName !== '') return recipe.formulas.find((formula) => formula.name === formulaName);
  return recipe.formulas.find((formula) => formula.default) ?? recipe.formulas[0];
}

/**
 * Batch-level values: formula values, scaled with quantity / nominal batch size where declared, replaced by the batch's
 * own. In the order of the formula.
 *
 * @throws Refusal `unknown_reference` for a parameter the formula does not declare, `out_of_range` outside its limits.
 */
export function batchParameters(recipe: MasterRecipeSpec, batch: Pick<BatchSpec, 'formulaName' | 'quantity' | 'parameters'>, field = 'parameters'): ParameterValue[] {
  const formula = chosenFormula(recipe, batch.formulaName);
  if (batch.formulaName !== '' && !formula)
    throw saidAs(invalid('unknown_reference', 'formulaName', `the recipe has no formula ${batch.formulaName}`), told('no-formula', { formula: batch.formulaName }));
  const declared = formula?.parameters ?? [];
  batch.parameters.forEach(({ name }, at) => {
    if (!declared.some((parameter) => sameName(parameter.name, name))) throw undeclared(name, declared, `${field}[${at}].name`);
    if (batch.parameters.findIndex((other) => sameName(other.name, name)) < at)
      throw saidAs(invalid('invalid_field', `${field}[${at}].name`, `parameter ${name} is given twice`), told('parameter-twice', { name }));
  });
  const quantity = scalingQuantity(recipe, batch.quantity);
  return declared.map((parameter) => {
    const at = batch.parameters.findIndex((override) => sameName(override.name, parameter.name));
    const override = batch.parameters[at]?.value;
    const scaled = parameter.scaled && override === undefined && quantity !== undefined;
    const value = override ?? (scaled ? scaledText(parameter.value, quantity, recipe.batchSize.nominal) : parameter.value);
    checkLimits(parameter.name, value, parameter.lowValueLimit, parameter.highValueLimit, at < 0 ? parameter.name : `${field}[${at}].value`);
    return {
      name: parameter.name,
      value,
      unit: parameter.engineeringUnit,
      source: override !== undefined ? 'override' : parameter.scaled ? 'formula-scaled' : 'default',
      sourceRef: override !== undefined ? 'batch' : `formula/${formula?.name ?? ''}`,
    };
  });
}

/** Undefined when there is nothing to scale by. */
function scalingQuantity(recipe: MasterRecipeSpec, quantity: string): string | undefined {
  const { nominal } = recipe.batchSize;
  return quantity === '' || !(Number(nominal) > 0) || Number(quantity) === Number(nominal) ? undefined : quantity;
}

/** The product before the quotient, and 15 digits (decisions 1.7, 8.6): 20 * 35.7 / 28 is 25.5, a factor of 1.275 makes it 25.500000000000004. */
function scaledText(value: string, quantity: string, nominal: string): string {
  return String(Number(((Number(value) * Number(quantity)) / Number(nominal)).toPrecision(DIGITS_MAX)));
}

function checkLimits(name: string, value: string, low: string, high: string, field: string): void {
  if (low === '' && high === '') return;
  if (!isNumberText(value)) throw saidAs(invalid('invalid_field', field, `parameter ${name} must be a number`), told('value-no-number', { name }));
  if ((low !== '' && Number(value) < Number(low)) || (high !== '' && Number(value) > Number(high))) {
    throw saidAs(
      invalid('out_of_range', field, outsideWords(`${name} ${value}`, low, high), { min: low, max: high }),
      told('value-range', { name, value, min: low, max: high, engUnits: '' }),
    );
  }
}

function undeclared(name: string, declared: MasterRecipeSpec['formulas'][number]['parameters'], field: string): Refusal {
  const known = declared.map((parameter) => parameter.name);
  const message = `the recipe declares no parameter ${name}; it declares ${known.length === 0 ? 'none' : known.join(', ')}`;
  return saidAs(invalid('unknown_reference', field, message, { allowed: known }), told('parameter-unknown', { name, known: known.join(', ') }));
}

/** @throws Refusal `out_of_range` for a quantity outside the batch size limits of the recipe. */
export function checkQuantity(recipe: MasterRecipeSpec, quantity: string): void {
  if (quantity === '') return;
  if (!isNumberText(quantity) || !(Number(quantity) > 0))
    throw saidAs(invalid('invalid_field', 'quantity', 'quantity must be a decimal number greater than 0'), told('quantity-no-number', {}));
  const { min, max } = recipe.batchSize;
  if ((min !== '' && Number(quantity) < Number(min)) || (max !== '' && Number(quantity) > Number(max))) {
    const { engineeringUnit: engUnits } = recipe.batchSize;
    throw saidAs(
      invalid('out_of_range', 'quantity', outsideWords(`quantity ${quantity}`, min, max, engUnits), { min, max }),
      told('quantity-range', { quantity, min, max, engUnits }),
    );
  }
}

/**
 * Quantities are scaled as they are: 28 of another unit would be another batch. L is written for l by others.
 * @throws Refusal `invalid_field` for a unit that is not that of the recipe.
 */
export function checkUnitOfQuantity({ batchSize }: MasterRecipeSpec, engUnit: string): void {
  if (!areOtherUnits(engUnit, batchSize.engineeringUnit)) return;
  throw saidAs(
    invalid('invalid_field', 'engineeringUnit', `the batch size of the recipe is in ${batchSize.engineeringUnit}; a quantity in ${engUnit} cannot be scaled`, {
      expected: batchSize.engineeringUnit,
    }),
    told('quantity-unit', { engUnits: engUnit, expected: batchSize.engineeringUnit }),
  );
}

/** What is bound needs of a formal parameter. */
type Formal = Pick<ParameterSpec, 'name' | 'unit' | 'defaultValue'>;

/**
 * Values of an element's formal parameters: its binding, else the parameter of the same name of the enclosing element,
 * else its default. What is bound to `<step>.<output>` has its default until the element starts (`outputParameters`).
 */
export function bindParameters(formals: readonly Formal[], bindings: readonly ParameterBinding[], enclosing: readonly ParameterValue[]): ParameterValue[] {
  return formals.map((formal) => {
    const bound = bindings.find((binding) => sameName(binding.name, formal.name));
    const from = bound?.from ?? '';
    if (outputOf(from)) return { name: formal.name, value: formal.defaultValue, unit: formal.unit, source: 'default', sourceRef: from };
    if (bound?.value !== undefined) return { name: formal.name, value: bound.value, unit: formal.unit, source: 'override', sourceRef: 'binding' };
    const outer = enclosing.find((value) => sameName(value.name, from || formal.name));
    if (outer) return { name: formal.name, value: outer.value, unit: formal.unit || outer.unit, source: outer.source, sourceRef: outer.sourceRef };
    return { name: formal.name, value: formal.defaultValue, unit: formal.unit, source: 'default', sourceRef: 'template' };
  });
}

/** An element without template has the parameters of the element around it, and those that its step binds (decisions 2.2). */
export function passedOn(bindings: readonly ParameterBinding[], enclosing: readonly ParameterValue[]): ParameterValue[] {
  const own = bindings.filter(({ name }) => !enclosing.some((value) => sameName(value.name, name)));
  const formals = [...enclosing, ...own].map(({ name }): Formal => ({ name, unit: '', defaultValue: '' }));
  return bindParameters(formals, bindings, enclosing);
}

/**
 * The values with which an element starts: what is bound to an output of another step is known now (decisions 2.2), for the
 * element itself and for what it hands down. An output without value leaves what was there. The same array when all stay.
 */
export function outputParameters(
  values: readonly ParameterValue[],
  bindings: readonly ParameterBinding[],
  enclosing: readonly ParameterValue[],
  valueOf: (step: string, output: string) => string | undefined,
): readonly ParameterValue[] {
  const taken = values.map((own): ParameterValue => {
    const bound = bindings.find((binding) => sameName(binding.name, own.name));
    const output = outputOf(bound?.from ?? '');
    if (output) {
      const value = valueOf(...output);
      return value === undefined || value === own.value ? own : { ...own, value, source: 'override', sourceRef: `${output[0]}.${output[1]}` };
    }
    const outer = bound?.value === undefined ? enclosing.find((value) => sameName(value.name, bound?.from || own.name)) : undefined;
    return outer && isFromOutput(outer) && outer.value !== own.value ? { ...own, value: outer.value, source: outer.source, sourceRef: outer.sourceRef } : own;
  });
  return taken.every((value, at) => value === values[at]) ? values : taken;
}

/** Its value comes from the output of a step, which is known when the element starts. */
export function isFromOutput({ sourceRef }: ParameterValue): boolean {
  return outputOf(sourceRef) !== undefined;
}

/** Step and output of `<step>.<output>`; a formula may have a point in its name. */
function outputOf(from: string): readonly [string, string] | undefined {
  const dot = from.indexOf('.');
  return dot > 0 && !from.includes('/') ? [from.slice(0, dot), from.slice(dot + 1)] : undefined;
}

/** @throws Refusal `invalid_field` or `out_of_range` for a value that its declaration does not allow. */
export function checkValue(formal: ParameterSpec, value: string, field: string): void {
  const fault = valueFault(formal, value);
  if (!fault) return;
  const { min, max, choices } = formal;
  if (fault.breaks === 'type') throw saidAs(invalid('invalid_field', field, fault.message), fault.told);
  throw saidAs(invalid('out_of_range', field, fault.message, fault.breaks === 'range' ? { min, max } : { choices }), fault.told);
}

/** What names are looked up and counted by. */
export function identifierKey(name: string): string {
  return name.toLowerCase();
}
