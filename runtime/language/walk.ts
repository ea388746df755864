/** Visits of syntax trees that more than one pass needs. Depth is bounded by the parser. */
import type { CallExpression, Expression, Statement } from './ast.js';

/** The expression and everything inside it, outermost first. */
export function* expressionsIn(expression: Expression): Generator<Expression> {
  yield expression;
  if (expression.kind === 'unary') yield* expressionsIn(expression.operand);
  if (expression.kind === 'call') for (const { value } of expression.args) yield* expressionsIn(value);
  if (expression.kind === 'binary') {
    yield* expressionsIn(expression.left);
    yield* expressionsIn(expression.right);
  }
}

/** Bodies of a compound statement in the order of the text. */
export function bodiesOf(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.kind) {
    case 'if':
      return [...statement.branches.map(({ body }) => body), ...(statement.otherwise ? [statement.otherwise] : [])];
    case 'case':
      return [...statement.cases.map(({ body }) => body), ...(statement.otherwise ? [statement.otherwise] : [])];
    case 'for':
    case 'while':
    case 'repeat':
      return [statement.body];
    default:
      return [];
  }
}

/** Every statement, outer ones before those inside them. */
export function* statementsIn(statements: readonly Statement[]): Generator<Statement> {
  for (const statement of statements) {
    yield statement;
    for (const body of bodiesOf(statement)) yield* statementsIn(body);
  }
}

/** Expressions that stand directly in a statement; those of its bodies are left out. */
export function ownExpressions(statement: Statement): readonly Expression[] {
  switch (statement.kind) {
    case 'assign':
      return [statement.value];
    case 'call':
      return [statement.call];
    case 'if':
      return statement.branches.map(({ condition }) => condition);
    case 'case':
      return [statement.selector];
    case 'for':
      return [statement.from, statement.to, ...(statement.by ? [statement.by] : [])];
    case 'while':
      return [statement.condition];
    case 'repeat':
      return [statement.until];
    default:
      return [];
  }
}

export function* callsIn(expression: Expression): Generator<CallExpression> {
  for (const part of expressionsIn(expression)) if (part.kind === 'call') yield part;
}

/** Builtins that are answered where they stand; every other one asks somebody, does something, or waits. */
const AT_ONCE = new Set(['READ', 'ABS']);

/** The first call of a text that is tested by itself, with no step whose activation could keep an answer, and that needs one. */
export function callToWaitFor(expression: Expression): CallExpression | undefined {
  for (const call of callsIn(expression)) if (!AT_ONCE.has(call.callee.toUpperCase())) return call;
  return undefined;
}

export function waitsIn({ callee }: CallExpression): string {
  return `${callee.toUpperCase()} cannot be called in the condition of a signal, which may call READ and ABS`;
}
