/** Visits of syntax trees that more than one pass needs. Depth is bounded by the parser. */
import type { CallExpression, Expression, Statement } from './ast.js';

/** The expression and everything inside it, outermost first. */
export function* expressionsIn(expression: Expression): Generator<Expression> {
  // a generator in a generator hands on what it yields level by level
  const coming = [expression];
  for (let part = coming.pop(); part; part = coming.pop()) {
    yield part;
    if (part.kind === 'unary') coming.push(part.operand);
    if (part.kind === 'call') for (const { value } of part.args.toReversed()) coming.push(value);
    if (part.kind === 'binary') coming.push(part.right, part.left);
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
  const lists = [statements.values()];
  for (let list = lists.at(-1); list; list = lists.at(-1)) {
    const { value, done } = list.next();
    if (done === true) lists.pop();
    else {
      yield value;
      for (const body of bodiesOf(value).toReversed()) lists.push(body.values());
    }
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
