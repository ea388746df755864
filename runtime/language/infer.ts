/**
 * Types of expressions without any complaint, and the variables that actions declare by assigning them (decisions D-ST-02):
 * the type of the first assignment in document order counts.
 */
import type { Expression, Statement } from './ast.js';
import { builtin } from './builtins.js';
import type { NameFacts, TextScope } from './scope.js';
import { binaryType, type StType, unaryType } from './types.js';
import { statementsIn } from './walk.js';

type Names = Pick<TextScope, 'names' | 'member'>;

/** Type of an expression; ANY where it cannot be told. */
export function inferType(expression: Expression, scope: Names): StType {
  switch (expression.kind) {
    case 'literal':
      return expression.literal.type;
    case 'name':
      return scope.names.get(expression.name.toLowerCase())?.type ?? 'ANY';
    case 'member':
      return scope.member(expression.object, expression.member) ?? 'ANY';
    case 'unary':
      return unaryType(expression.operator, inferType(expression.operand, scope)) ?? 'ANY';
    case 'binary':
      return binaryType(expression.operator, inferType(expression.left, scope), inferType(expression.right, scope)) ?? 'ANY';
    case 'call': {
      const result = builtin(expression.callee)?.result ?? 'ANY';
      if (result !== 'number') return result;
      const [only, ...more] = expression.args;
      return only && more.length === 0 ? inferType(only.value, scope) : 'ANY';
    }
  }
}

/** One action and the chart members it may use, in document order. */
export interface ActionText {
  readonly statements: readonly Statement[];
  readonly member: TextScope['member'];
}

/** Adds every name that is assigned without declaration; the first assignment gives the type. */
export function declareAssigned(names: Map<string, NameFacts>, actions: readonly ActionText[]): void {
  for (const { statements, member } of actions) {
    for (const statement of statementsIn(statements)) {
      if (statement.kind !== 'assign' && statement.kind !== 'for') continue;
      const name = statement.kind === 'assign' ? statement.target : statement.variable;
      const key = name.toLowerCase();
      if (names.has(key) || builtin(name) !== undefined) continue;
      const type = statement.kind === 'for' ? 'INT' : inferType(statement.value, { names, member });
      names.set(key, { name, type, kind: 'variable' });
    }
  }
}
