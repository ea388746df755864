/**
 * Names of a control-module program while it is lowered (decisions 4.6): which variables and instances there are, and what
 * each variable stands for at the present place. A branch of IF has a layer of its own over the definitions before it.
 */
import type { DataType } from '../vocabulary/data-types.js';
import type { Literal, VariableDeclaration } from './ast.js';
import type { FoundBlock } from './block-catalog.js';
import type { Operand } from './network-builder.js';

export interface ProgramVariable {
  readonly name: string;
  readonly key: string;
  readonly type: DataType;
  readonly section: VariableDeclaration['section'];
  /** Literal initial value, already of the variable's type. */
  readonly initial: Literal | null;
  /** Some statement assigns it. */
  readonly assigned: boolean;
  readonly declaration: VariableDeclaration;
}

export interface Instance {
  readonly name: string;
  readonly block: FoundBlock;
  readonly declaration: VariableDeclaration;
}

/** What variables stand for, in order of their first assignment here. */
export class Definitions {
  readonly own = new Map<string, Operand>();
  readonly #outer: Definitions | null;

  constructor(outer: Definitions | null = null) {
    this.#outer = outer;
  }

  get(key: string): Operand | undefined {
    return this.own.get(key) ?? this.#outer?.get(key);
  }

  set(key: string, operand: Operand): void {
    this.own.set(key, operand);
  }
}

/** Gives a literal the wider type where INT promotes to REAL. */
export function promote(literal: Literal, type: string): Literal {
  return literal.type === 'INT' && type === 'REAL' ? { type: 'REAL', value: Number(literal.value) } : literal;
}
