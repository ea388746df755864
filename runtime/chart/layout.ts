/**
 * Names of one phase as slots: parameters, outputs, variables and the variables that an action declares by assigning
 * them (decisions D-ST-02). Names are compared without regard to case and kept in a Map, so a variable called
 * `constructor` is an ordinary name.
 */
import type { BinaryOperator, CallExpression, Expression, Statement } from '../language/ast.js';
import { binaryType as checkedType, type StType } from '../language/types.js';
import { bodiesOf, callsIn, ownExpressions, statementsIn } from '../language/walk.js';
import { COMPARISONS, CONNECTIVES } from './value.js';

export type { StType };

export interface Variable {
  readonly slot: number;
  readonly name: string;
  readonly type: StType;
  readonly kind: 'parameter' | 'output' | 'variable';
  /** Receives a suspending builtin in some step, so it may be unset (decisions D-ST-03). */
  unsettable: boolean;
}

/** Builtins whose call ends the scan of an action (decisions 4.5 column S, and the requests that only the gateway can answer). */
export const SUSPENDING: ReadonlyMap<string, StType> = new Map<string, StType>([
  ['PROMPT', 'STRING'],
  ['PROMPT_CHOICE', 'STRING'],
  ['PROMPT_VALUE', 'REAL'],
  ['AWAIT_RESULT', 'REAL'],
  ['CALL_SERVICE', 'ANY'],
  ['MTP_COMMAND', 'BOOL'],
  ['WAIT', 'BOOL'],
  ['WAITSECONDS', 'BOOL'],
  ['COMMAND', 'BOOL'],
  ['MODE', 'BOOL'],
  ['MTP_STATE', 'STRING'],
  ['MTP_COMMAND_ENABLED', 'BOOL'],
]);

/** Suspending by the contract: a variable that receives one of these is unset until the answer arrives. */
const UNSETTING = new Set(['PROMPT', 'PROMPT_CHOICE', 'PROMPT_VALUE', 'AWAIT_RESULT', 'CALL_SERVICE', 'MTP_COMMAND', 'WAIT', 'WAITSECONDS']);

/** Calls with an effect outside the phase; an action without one can be repeated after a crash without harm. */
const EFFECTS = new Set(['WRITE', 'MESSAGE', ...SUSPENDING.keys()]);

function someCall(expression: Expression, test: (call: CallExpression) => boolean): boolean {
  for (const call of callsIn(expression)) if (test(call)) return true;
  return false;
}

export function suspends(expression: Expression): boolean {
  return someCall(expression, (call) => SUSPENDING.has(call.callee.toUpperCase()));
}

/**
 * Whether a statement or one inside it satisfies the test. It is asked of a statement at each level around it, so what was
 * found of one with others inside is kept: a program of many levels would take as many passes over what is innermost.
 */
export function anywhere(test: (statement: Statement) => boolean): (statement: Statement) => boolean {
  const known = new WeakMap<Statement, boolean>();
  const judge = (statement: Statement): boolean => {
    const bodies = bodiesOf(statement);
    if (bodies.length === 0) return test(statement);
    const found = known.get(statement) ?? (test(statement) || bodies.some((body) => body.some(judge)));
    known.set(statement, found);
    return found;
  };
  return judge;
}

export const statementSuspends = anywhere((statement) => ownExpressions(statement).some(suspends));
const statementHasEffect = anywhere((statement) => ownExpressions(statement).some((own) => someCall(own, ({ callee }) => EFFECTS.has(callee.toUpperCase()))));

export function hasEffect(statements: readonly Statement[]): boolean {
  return statements.some(statementHasEffect);
}

export class Layout {
  readonly variables: Variable[] = [];
  readonly #byName = new Map<string, Variable>();

  declare(name: string, type: StType, kind: Variable['kind']): Variable {
    const variable: Variable = { slot: this.variables.length, name, type, kind, unsettable: false };
    this.variables.push(variable);
    this.#byName.set(name.toLowerCase(), variable);
    return variable;
  }

  find(name: string): Variable | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** Declares what the statements assign without declaration, with the type of the first assignment (D-ST-02). */
  declareImplicit(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (statement.kind === 'assign' && !this.find(statement.target)) this.declare(statement.target, this.typeOf(statement.value), 'variable');
      if (statement.kind === 'for' && !this.find(statement.variable)) this.declare(statement.variable, 'INT', 'variable');
      for (const body of bodiesOf(statement)) this.declareImplicit(body);
    }
  }

  /** Slots that a step's action sets from a suspending builtin: unset when the step is activated (D-ST-03). */
  receivers(statements: readonly Statement[]): number[] {
    const slots = new Set<number>();
    for (const statement of statementsIn(statements)) {
      if (statement.kind !== 'assign' || statement.value.kind !== 'call' || !UNSETTING.has(statement.value.callee.toUpperCase())) continue;
      const variable = this.find(statement.target);
      if (!variable) continue;
      variable.unsettable = true;
      slots.add(variable.slot);
    }
    return [...slots];
  }

  /** Static type by decisions 4.4; a pair that does not fit is ANY and fails when it is executed. */
  typeOf(expression: Expression): StType {
    switch (expression.kind) {
      case 'literal':
        return expression.literal.type;
      case 'name':
        return this.find(expression.name)?.type ?? 'ANY';
      case 'member':
        return expression.member.toUpperCase() === 'X' ? 'BOOL' : 'TIME';
      case 'unary':
        return expression.operator === 'NOT' ? 'BOOL' : this.typeOf(expression.operand);
      case 'binary':
        return binaryType(expression.operator, this.typeOf(expression.left), this.typeOf(expression.right));
      case 'call':
        return this.#callType(expression);
    }
  }

  #callType(call: CallExpression): StType {
    const callee = call.callee.toUpperCase();
    const [first] = call.args;
    if (callee === 'ABS') return first ? this.typeOf(first.value) : 'ANY';
    if (callee === 'WRITE' || callee === 'MESSAGE') return 'BOOL';
    return SUSPENDING.get(callee) ?? 'ANY';
  }
}

/** As the checker sees it; a pair that does not fit is ANY and fails when it is executed. */
export function binaryType(operator: BinaryOperator, left: StType, right: StType): StType {
  return checkedType(operator, left, right) ?? (COMPARISONS.has(operator) || CONNECTIVES.has(operator) ? 'BOOL' : 'ANY');
}
