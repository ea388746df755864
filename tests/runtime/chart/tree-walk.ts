/**
 * A second evaluator of structured text, for comparison only: it walks the tree with every INT as bigint and knows
 * nothing of the compiler. Variables live in a Map; errors are thrown as their code.
 */
import type { Expression, Statement } from '../../../runtime/language/ast.js';
import { at } from '../../support/at.js';

export type WalkValue = { readonly type: 'BOOL'; readonly value: boolean } | { readonly type: 'INT'; readonly value: bigint } | { readonly type: 'REAL'; readonly value: number };

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

export class WalkError extends Error {}
class Exit extends Error {}
class Return extends Error {}

function int(value: bigint): WalkValue {
  if (value < MIN || value > MAX) throw new WalkError('overflow');
  return { type: 'INT', value };
}

function real(value: number): WalkValue {
  if (!Number.isFinite(value)) throw new WalkError('overflow');
  return { type: 'REAL', value };
}

function bool(value: boolean): WalkValue {
  return { type: 'BOOL', value };
}

export class TreeWalk {
  readonly variables: Map<string, WalkValue>;
  readonly loopLimit: number;

  constructor(variables: Map<string, WalkValue>, loopLimit = 10_000) {
    this.variables = variables;
    this.loopLimit = loopLimit;
  }

  run(statements: readonly Statement[]): void {
    try {
      this.list(statements);
    } catch (signal) {
      if (signal instanceof Exit) throw new WalkError('exit-outside-loop');
      if (!(signal instanceof Return)) throw signal;
    }
  }

  list(statements: readonly Statement[]): void {
    for (const statement of statements) this.statement(statement);
  }

  set(name: string, value: WalkValue): void {
    const old = this.variables.get(name.toLowerCase());
    this.variables.set(name.toLowerCase(), old?.type === 'REAL' && value.type === 'INT' ? real(Number(value.value)) : value);
  }

  statement(statement: Statement): void {
    switch (statement.kind) {
      case 'assign':
        // A prompt changes nothing here: what is compared is where the compiled action goes on.
        if (statement.value.kind === 'call' && statement.value.callee === 'PROMPT') return;
        return this.set(statement.target, this.value(statement.value));
      case 'if': {
        for (const branch of statement.branches) if (this.value(branch.condition).value) return this.list(branch.body);
        return this.list(statement.otherwise ?? []);
      }
      case 'case': {
        const selector = this.value(statement.selector).value as bigint;
        const found = statement.cases.find((row) => row.labels.some((label) => label.kind === 'int' && selector >= label.from && selector <= label.to));
        return this.list(found ? found.body : (statement.otherwise ?? []));
      }
      case 'for': {
        const from = this.value(statement.from);
        const to = this.value(statement.to).value as bigint;
        const by = statement.by ? (this.value(statement.by).value as bigint) : 1n;
        if (by === 0n) throw new WalkError('for-step');
        this.set(statement.variable, from);
        const now = () => this.variables.get(statement.variable.toLowerCase())?.value as bigint;
        return this.loop(
          () => (by > 0n ? now() <= to : now() >= to),
          () => {
            this.list(statement.body);
            this.set(statement.variable, int(now() + by));
          },
        );
      }
      case 'while':
        return this.loop(
          () => this.value(statement.condition).value === true,
          () => this.list(statement.body),
        );
      case 'repeat': {
        let done = false;
        return this.loop(
          () => !done,
          () => {
            this.list(statement.body);
            done = this.value(statement.until).value === true;
          },
        );
      }
      case 'exit':
        throw new Exit();
      case 'return':
        throw new Return();
      case 'call':
        this.value(statement.call);
    }
  }

  loop(more: () => boolean, body: () => void): void {
    try {
      for (let count = 1; more(); count += 1) {
        if (count > this.loopLimit) throw new WalkError('loop-limit');
        body();
      }
    } catch (signal) {
      if (!(signal instanceof Exit)) throw signal;
    }
  }

  value(node: Expression): WalkValue {
    switch (node.kind) {
      case 'literal':
        return node.literal as WalkValue;
      case 'name':
        return this.variables.get(node.name.toLowerCase()) as WalkValue;
      case 'unary': {
        const operand = this.value(node.operand);
        if (node.operator === 'NOT') return bool(!operand.value);
        return operand.type === 'INT' ? int(-operand.value) : real(-(operand.value as number));
      }
      case 'binary':
        return this.binary(node);
      case 'call': {
        const operand = this.value(at(node.args, 0).value);
        return operand.type === 'INT' ? int(operand.value < 0n ? -operand.value : operand.value) : real(Math.abs(operand.value as number));
      }
      default:
        throw new Error('not in this subset');
    }
  }

  binary(node: Extract<Expression, { kind: 'binary' }>): WalkValue {
    const a = this.value(node.left);
    if (node.operator === 'AND' && !a.value) return bool(false);
    if (node.operator === 'OR' && a.value) return bool(true);
    const b = this.value(node.right);
    if (a.type === 'BOOL') {
      if (node.operator === 'XOR' || node.operator === '<>') return bool(a.value !== b.value);
      return bool(node.operator === '=' ? a.value === b.value : (b.value as boolean));
    }
    const both = a.type === 'INT' && b.type === 'INT';
    const x = both ? a.value : Number(a.value);
    const y = both ? b.value : Number(b.value);
    const { operator } = node;
    if (operator === '<') return bool(x < y);
    if (operator === '>') return bool(x > y);
    if (operator === '<=') return bool(x <= y);
    if (operator === '>=') return bool(x >= y);
    if (operator === '=') return bool(x === y);
    if (operator === '<>') return bool(x !== y);
    if ((node.operator === '/' || node.operator === 'MOD') && Number(y) === 0) throw new WalkError('division-by-zero');
    if (typeof x === 'bigint' && typeof y === 'bigint') {
      return int(node.operator === '+' ? x + y : node.operator === '-' ? x - y : node.operator === '*' ? x * y : node.operator === '/' ? x / y : x % y);
    }
    const [p, q] = [x as number, y as number];
    return real(node.operator === '+' ? p + q : node.operator === '-' ? p - q : node.operator === '*' ? p * q : p / q);
  }
}
