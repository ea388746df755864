/**
 * Evaluates one boolean condition by walking its tree: for procedural charts and unit permissives, which the gateway
 * judges a few times a second at most. Charts of phases are compiled (runtime/chart/compile.ts); the rules of value
 * and quality are the same (decisions 2.4, 4.4).
 */
import type { Value } from '../vocabulary/data-types.js';
import type { BinaryOperator, Expression } from './ast.js';

export interface EvaluationScope {
  /** Parameter or variable; undefined when there is none of that name. */
  name(name: string): Value | undefined;
  /** `<step>.T` (ms), `<step>.X`, `<step>.<output>`; undefined when it has no value. */
  member(object: string, member: string): Value | undefined;
  /** READ(address); undefined when bad, stale or unknown. */
  read(address: string): Value | undefined;
}

export type ConditionResult = { readonly result: 'TRUE' | 'FALSE' } | { readonly result: 'INVALID' | 'ERROR'; readonly reason: string };

class Unusable extends Error {
  readonly result: 'INVALID' | 'ERROR';
  constructor(result: 'INVALID' | 'ERROR', reason: string) {
    super(reason);
    this.result = result;
  }
}

/** INVALID when an operand has no usable value, ERROR when an operator does not fit its operands. */
export function evaluateCondition(expression: Expression, scope: EvaluationScope): ConditionResult {
  try {
    const value = evaluate(expression, scope);
    if (typeof value !== 'boolean') throw new Unusable('ERROR', 'the condition is not BOOL');
    return { result: value ? 'TRUE' : 'FALSE' };
  } catch (fault) {
    if (fault instanceof Unusable) return { result: fault.result, reason: fault.message };
    throw fault;
  }
}

function evaluate(expression: Expression, scope: EvaluationScope): number | boolean | string {
  switch (expression.kind) {
    case 'literal':
      return expression.literal.type === 'INT' ? Number(expression.literal.value) : expression.literal.value;
    case 'name':
      return known(scope.name(expression.name), expression.name);
    case 'member':
      return known(scope.member(expression.object, expression.member), `${expression.object}.${expression.member}`);
    case 'unary':
      return unary(expression.operator, evaluate(expression.operand, scope));
    case 'binary':
      return binary(expression.operator, expression.left, expression.right, scope);
    case 'call':
      return call(
        expression.callee.toUpperCase(),
        expression.args.map((argument) => evaluate(argument.value, scope)),
        scope,
      );
  }
}

function known(value: Value | undefined, name: string): number | boolean | string {
  if (value === undefined || value === null) throw new Unusable('INVALID', `${name} has no value`);
  return value;
}

function unary(operator: 'NOT' | '-', operand: number | boolean | string): number | boolean {
  if (operator === 'NOT' && typeof operand === 'boolean') return !operand;
  if (operator === '-' && typeof operand === 'number') return -operand;
  throw new Unusable('ERROR', `type-mismatch: ${operator} does not fit its operand`);
}

function binary(operator: BinaryOperator, left: Expression, right: Expression, scope: EvaluationScope): number | boolean | string {
  const a = evaluate(left, scope);
  if (operator === 'AND' || operator === 'OR' || operator === 'XOR') {
    if (typeof a !== 'boolean') throw new Unusable('ERROR', `type-mismatch: ${operator} needs BOOL`);
    if (operator === 'AND' && !a) return false;
    if (operator === 'OR' && a) return true;
    const b = evaluate(right, scope);
    if (typeof b !== 'boolean') throw new Unusable('ERROR', `type-mismatch: ${operator} needs BOOL`);
    return operator === 'XOR' ? a !== b : b;
  }
  const b = evaluate(right, scope);
  if (operator === '+' && (typeof a === 'string' || typeof b === 'string')) return `${a}${b}`;
  if (typeof a !== typeof b) throw new Unusable('ERROR', `type-mismatch: ${operator} on different types`);
  switch (operator) {
    case '=':
      return a === b;
    case '<>':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
    default:
      return arithmetic(operator, a, b);
  }
}

function arithmetic(operator: '+' | '-' | '*' | '/' | 'MOD', a: number | boolean | string, b: number | boolean | string): number {
  if (typeof a !== 'number' || typeof b !== 'number') throw new Unusable('ERROR', `type-mismatch: ${operator} needs numbers`);
  if ((operator === '/' || operator === 'MOD') && b === 0) throw new Unusable('ERROR', 'division-by-zero');
  const result = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : operator === '/' ? a / b : a % b;
  if (!Number.isFinite(result)) throw new Unusable('ERROR', 'overflow');
  return result;
}

function call(callee: string, args: readonly (number | boolean | string)[], scope: EvaluationScope): number | boolean | string {
  if (callee === 'READ' && typeof args[0] === 'string') return known(scope.read(args[0]), `READ('${args[0]}')`);
  if (callee === 'ABS' && typeof args[0] === 'number') return Math.abs(args[0]);
  throw new Unusable('ERROR', `${callee} cannot be used here`);
}
