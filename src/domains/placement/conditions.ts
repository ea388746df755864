/**
 * Conditions that the gateway judges itself: transitions of procedural charts and permissives of units. Their text is
 * parsed once.
 */
import { inside } from '../../platform/base/assert.js';
import type { Expression } from '../../../runtime/language/ast.js';
import { type ConditionPart, evaluateCondition, type EvaluationScope, explainCondition } from '../../../runtime/language/evaluate.js';
import { parseCondition } from '../../../runtime/language/parser.js';
import { type Any, anyOf } from '../../../runtime/language/values.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import type { UnitSpec } from '../plant/kind.js';
import { isWithinAge, type UnitLink } from './runtimes.js';

const CONDITIONS = new Map<string, Expression | null>();
const CONDITIONS_MAX = 1000;

/** Null when the text is not a condition. The cache is dropped when it has grown out of proportion. */
export function conditionOf(text: string): Expression | null {
  const known = CONDITIONS.get(text);
  if (known !== undefined) return known;
  if (CONDITIONS.size >= CONDITIONS_MAX) CONDITIONS.clear();
  const { expression } = parseCondition(text);
  CONDITIONS.set(text, expression);
  return expression;
}

/** A condition of a transition as it is now. */
export interface JudgedCondition {
  readonly result: 'TRUE' | 'FALSE' | 'INVALID' | 'ERROR';
  readonly reason?: string;
  readonly parts: readonly ConditionPart[];
}

/** An empty condition is true (decisions 2.2). */
export function judgeCondition(text: string, scope: EvaluationScope): JudgedCondition {
  const trimmed = text.trim();
  if (trimmed === '') return { result: 'TRUE', parts: [] };
  const expression = conditionOf(trimmed);
  if (!expression) return { result: 'ERROR', reason: `${trimmed} is no condition`, parts: [] };
  return { ...evaluateCondition(expression, scope), parts: explainCondition(expression, scope) };
}

/** The first permissive of a unit that is not TRUE now; a value that is bad or was never read does not permit (decisions 1.5, 3.2). */
export function missingPermissive({ permissives }: UnitSpec, link: UnitLink): UnitSpec['permissives'][number] | undefined {
  if (permissives.length === 0) return undefined;
  link.refresh();
  const read = (address: string): Any | undefined => {
    const index = link.tagIndex(address);
    if (index < 0) return undefined;
    const { value, quality, atMs, age } = link.reading(index);
    return atMs === 0 || quality === QUALITY.Bad || !isWithinAge(age) ? undefined : anyOf(inside(link.tags, index, 'an address has the place of its tag').type, value);
  };
  return permissives.find(({ conditionST }) => {
    const expression = conditionOf(conditionST);
    return !expression || evaluateCondition(expression, { name: () => undefined, member: () => undefined, read }).result !== 'TRUE';
  });
}
