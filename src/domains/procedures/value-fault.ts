/** Whether a value fits the parameter that takes it (decisions 1.7). Pure. */
import { type Told, told } from '../../../runtime/vocabulary/told.js';
import { parseDecimal, parseValueText } from '../../../runtime/language/value-text.js';
import type { ParameterSpec } from './kind.js';

type TakingParameter = Pick<ParameterSpec, 'name' | 'type' | 'min' | 'max' | 'choices' | 'unit'>;

export interface ValueFault {
  /** Which of what is declared it breaks. */
  readonly breaks: 'type' | 'range' | 'choices';
  readonly message: string;
  readonly told: Told;
}

/** @param value with its name, `speed 120`. @param min '' where there is none, as is `max`. */
export function outsideWords(value: string, min: string, max: string, unit = ''): string {
  return `${value} is outside ${min || 'any'} to ${max || 'any'} ${unit}`.trim();
}

/** Undefined for a value that fits. */
export function valueFault({ name, type, min, max, choices, unit }: TakingParameter, value: string): ValueFault | undefined {
  if (parseValueText(type, value) === null) return { breaks: 'type', message: `${value} is no ${type} value for ${name}`, told: told('value-type', { name, value, type }) };
  const number = parseDecimal(value);
  const isLow = min !== '' && number !== null && number < Number(min);
  const isHigh = max !== '' && number !== null && number > Number(max);
  if (isLow || isHigh) return { breaks: 'range', message: outsideWords(`${name} ${value}`, min, max, unit), told: told('value-range', { name, value, min, max, engUnits: unit }) };
  if (choices.length === 0 || choices.includes(value)) return undefined;
  return { breaks: 'choices', message: `${name} must be one of ${choices.join(', ')}`, told: told('value-choices', { name, choices: choices.join(', ') }) };
}
