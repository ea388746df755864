/** Whether a value fits the parameter that takes it (decisions 1.7). Pure. */
import { parseDecimal, parseValueText } from '../../../runtime/language/value-text.js';
import type { ParameterSpec } from './kind.js';

type TakingParameter = Pick<ParameterSpec, 'name' | 'type' | 'min' | 'max' | 'choices' | 'unit'>;

export interface ValueFault {
  /** Which of what is declared it breaks. */
  readonly breaks: 'type' | 'range' | 'choices';
  readonly message: string;
}

/** @param value with its name, `speed 120`. @param min '' where there is none, as is `max`. */
export function outsideWords(value: string, min: string, max: string, unit = ''): string {
  return `${value} is outside ${min || 'any'} to ${max || 'any'} ${unit}`.trim();
}

/** Undefined for a value that fits. */
export function valueFault({ name, type, min, max, choices, unit }: TakingParameter, value: string): ValueFault | undefined {
  if (parseValueText(type, value) === null) return { breaks: 'type', message: `${value} is no ${type} value for ${name}` };
  const number = parseDecimal(value);
  const isLow = min !== '' && number !== null && number < Number(min);
  const isHigh = max !== '' && number !== null && number > Number(max);
  if (isLow || isHigh) return { breaks: 'range', message: outsideWords(`${name} ${value}`, min, max, unit) };
  return choices.length > 0 && !choices.includes(value) ? { breaks: 'choices', message: `${name} must be one of ${choices.join(', ')}` } : undefined;
}
