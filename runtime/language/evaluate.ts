/**
 * Evaluates one boolean condition by walking its tree: for procedural charts and unit permissives, which the gateway
 * judges a few times a second at most. Charts of phases are compiled (runtime/chart/compile.ts); the rules of value
 * and quality are the same (decisions 2.4, 4.4), and so are the operators (values.ts).
 */
import type { BinaryOperator, Expression } from './ast.js';
import { isComparison, operandsOf, shownComparison } from './operands.js';
import { printExpression } from './print.js';
import { Any, anyAbs, anyBinary, anyNegate, CONNECTIVES, mismatch, normalInt, StError } from './values.js';

export interface EvaluationScope {
  /** Parameter or variable; undefined when there is none of that name or it has no value. */
  name(name: string): Any | undefined;
  /** `<step>.T` (TIME), `<step>.X` (BOOL), `<step>.<output>`; undefined when it has no value. */
  member(object: string, member: string): Any | undefined;
  /** READ(address); undefined when bad, stale or unknown. */
  read(address: string): Any | undefined;
  /** Why it has none, as a sentence such as `level.pv is Bad`; '' where nothing is known of it. */
  why?(address: string): string;
}

export type ConditionResult = { readonly result: 'TRUE' | 'FALSE' } | { readonly result: 'INVALID' | 'ERROR'; readonly reason: string };

/** An operand has no usable value. */
class Unusable extends Error {}

/** A tag has none, and it is known why. */
class Unread extends Unusable {}

/** INVALID when an operand has no usable value, ERROR when an operator does not fit its operands. */
export function evaluateCondition(expression: Expression, scope: EvaluationScope): ConditionResult {
  try {
    return { result: truth(evaluate(expression, scope), expression.at.line) ? 'TRUE' : 'FALSE' };
  } catch (fault) {
    if (fault instanceof Unusable) return { result: 'INVALID', reason: fault.message };
    if (fault instanceof StError) return { result: 'ERROR', reason: fault.message };
    throw fault;
  }
}

/** What an expression comes to; undefined where an operand has no usable value, or an operator does not fit. */
export function valueNow(expression: Expression, scope: EvaluationScope): Any | undefined {
  try {
    return evaluate(expression, scope);
  } catch (fault) {
    if (fault instanceof Unusable || fault instanceof StError) return undefined;
    throw fault;
  }
}

function truth({ type, value }: Any, line: number): boolean {
  return type === 'BOOL' ? value === true : mismatch(line);
}

function evaluate(expression: Expression, scope: EvaluationScope): Any {
  const { line } = expression.at;
  switch (expression.kind) {
    case 'literal': {
      const { type, value } = expression.literal;
      return new Any(type, typeof value === 'bigint' ? normalInt(value) : value);
    }
    case 'name':
      return known(scope.name(expression.name), expression.name);
    case 'member':
      return known(scope.member(expression.object, expression.member), `${expression.object}.${expression.member}`);
    case 'unary': {
      const operand = evaluate(expression.operand, scope);
      return expression.operator === 'NOT' ? new Any('BOOL', !truth(operand, line)) : anyNegate(operand, line);
    }
    case 'binary':
      return CONNECTIVES.has(expression.operator)
        ? new Any('BOOL', connected(expression.operator, expression.left, expression.right, scope))
        : anyBinary(expression.operator, evaluate(expression.left, scope), evaluate(expression.right, scope), line);
    case 'call':
      return call(
        expression.callee,
        expression.args.map((argument) => evaluate(argument.value, scope)),
        line,
        scope,
      );
  }
}

function known(value: Any | undefined, name: string): Any {
  if (value === undefined) throw new Unusable(`${name} has no value`);
  return value;
}

/** AND and OR short-circuit, XOR evaluates both sides (decisions Q-ST-05). */
function connected(operator: BinaryOperator, left: Expression, right: Expression, scope: EvaluationScope): boolean {
  const first = truth(evaluate(left, scope), left.at.line);
  if (operator === 'AND' && !first) return false;
  if (operator === 'OR' && first) return true;
  const second = truth(evaluate(right, scope), right.at.line);
  return operator === 'XOR' ? first !== second : second;
}

function call(callee: string, args: readonly Any[], line: number, scope: EvaluationScope): Any {
  const name = callee.toUpperCase();
  const [first] = args;
  if (name === 'READ' && first?.type === 'STRING') return readTag(String(first.value), scope);
  if (name === 'ABS' && first) return anyAbs(first, line);
  throw new StError('st-runtime-error', `${callee} cannot be used here`);
}

function readTag(address: string, scope: EvaluationScope): Any {
  const value = scope.read(address);
  const why = value === undefined ? (scope.why?.(address) ?? '') : '';
  if (why !== '') throw new Unread(why);
  return known(value, `READ('${address}')`);
}

/** One part of a condition as it is now (decisions 2.4, `subConditions`). */
export interface ConditionPart {
  readonly expression: string;
  readonly met: boolean;
  /** A comparison with its present values; of a tag without a usable one why it has none. */
  readonly now?: string;
}

/** The operands of a condition, each evaluated on its own. */
export function explainCondition(expression: Expression, scope: EvaluationScope): ConditionPart[] {
  return operandsOf(expression).map((part) => {
    const told = { expression: printExpression(part), met: evaluateCondition(part, scope).result === 'TRUE' };
    const now = nowOf(part, scope);
    return now === undefined ? told : { ...told, now };
  });
}

function nowOf(part: Expression, scope: EvaluationScope): string | undefined {
  try {
    if (isComparison(part)) return shownComparison(evaluate(part.left, scope), part.operator, evaluate(part.right, scope));
    evaluate(part, scope);
    return undefined;
  } catch (fault) {
    if (fault instanceof Unread) return fault.message;
    if (fault instanceof Unusable || fault instanceof StError) return undefined;
    throw fault;
  }
}
