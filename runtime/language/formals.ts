/** Declared names of a template: parameters, outputs and variables, with the texts of their defaults and bounds (decisions 1.7). */
import type { DataType } from '../vocabulary/data-types.js';
import { builtin } from './builtins.js';
import { type ChartDiagnostic, chartFault } from './chart-structure.js';
import { isIdentifier } from './lexer.js';
import type { NameFacts, NameKind } from './scope.js';
import { parseDecimal, parseValueText } from './value-text.js';

export interface FormalName {
  readonly name: string;
  readonly type?: DataType | undefined;
  readonly defaultValue?: string | undefined;
  readonly initial?: string | undefined;
  readonly required?: boolean | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
}

/** Adds the names of one list to `names` and says what is wrong with them. */
export function checkFormals(list: readonly FormalName[], kind: NameKind, names: Map<string, NameFacts>): ChartDiagnostic[] {
  const found: ChartDiagnostic[] = [];
  for (const formal of list) {
    const { name, type = 'REAL' } = formal;
    const key = name.toLowerCase();
    if (names.has(key)) found.push(chartFault('duplicate-name', `${kind} ${name}: the name is taken by another parameter, output or variable`));
    else if (!isIdentifier(name) || builtin(name))
      found.push(chartFault('duplicate-name', `${kind} ${name}: a keyword, a builtin or a text that is no identifier cannot be a name`));
    else names.set(key, { name, type, kind });
    found.push(...checkTexts(formal, kind, type));
  }
  return found;
}

function checkTexts({ name, defaultValue = '', initial = '', min = '', max = '' }: FormalName, kind: NameKind, type: DataType): ChartDiagnostic[] {
  const found: ChartDiagnostic[] = [];
  for (const text of [defaultValue, initial]) {
    if (text !== '' && parseValueText(type, text.trim()) === null) found.push(chartFault('type', `${kind} ${name}: "${text}" is no value of type ${type}`));
  }
  const low = min === '' ? null : parseDecimal(min);
  const high = max === '' ? null : parseDecimal(max);
  if (low !== null && high !== null && low > high) found.push(chartFault('bounds', `${kind} ${name}: the lower bound ${min} is above the upper bound ${max}`));
  return found;
}
