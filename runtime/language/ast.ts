/**
 * Syntax tree of structured text (contract 3, Structured-text language; grammar in docs/reference/structured-text.md).
 * Nodes are plain immutable data; every node knows where it began. Positions are 1-based.
 */
import type { DataType } from '../vocabulary/data-types.js';

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic extends Position {
  readonly severity: 'error' | 'warning';
  /** Stable code of docs/reference/structured-text.md, for example `parse`, `type`, `unknown-name`. */
  readonly code: string;
  readonly message: string;
}

export type BinaryOperator = '+' | '-' | '*' | '/' | 'MOD' | '<' | '>' | '<=' | '>=' | '=' | '<>' | 'AND' | 'OR' | 'XOR';

/** INT literals are bigint (64 bit); TIME literals are whole milliseconds. */
export type Literal =
  | { readonly type: 'BOOL'; readonly value: boolean }
  | { readonly type: 'INT'; readonly value: bigint }
  | { readonly type: 'REAL'; readonly value: number }
  | { readonly type: 'STRING'; readonly value: string }
  | { readonly type: 'TIME'; readonly value: number };

export interface LiteralExpression {
  readonly kind: 'literal';
  readonly literal: Literal;
  readonly at: Position;
}
/** A variable, parameter or output. */
export interface NameExpression {
  readonly kind: 'name';
  readonly name: string;
  readonly at: Position;
}
/** `<step>.T`, `<step>.X`, `<step>.<output>`; in PROGRAM text `<instance>.<port>`. */
export interface MemberExpression {
  readonly kind: 'member';
  readonly object: string;
  readonly member: string;
  readonly at: Position;
}
export interface CallExpression {
  readonly kind: 'call';
  /** As written; compare without regard to case. */
  readonly callee: string;
  readonly args: readonly Argument[];
  readonly at: Position;
}
export interface Argument {
  readonly name?: string;
  readonly value: Expression;
}
export interface UnaryExpression {
  readonly kind: 'unary';
  readonly operator: 'NOT' | '-';
  readonly operand: Expression;
  readonly at: Position;
}
export interface BinaryExpression {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly at: Position;
}
export type Expression = LiteralExpression | NameExpression | MemberExpression | CallExpression | UnaryExpression | BinaryExpression;

export type CaseLabel =
  | { readonly kind: 'int'; readonly from: bigint; readonly to: bigint; readonly at: Position }
  | { readonly kind: 'string'; readonly value: string; readonly at: Position };

export type Statement =
  | { readonly kind: 'assign'; readonly target: string; readonly value: Expression; readonly at: Position }
  | { readonly kind: 'call'; readonly call: CallExpression; readonly at: Position }
  | {
      readonly kind: 'if';
      /** IF and each ELSIF, in order. */
      readonly branches: readonly { readonly condition: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[] | null;
      readonly at: Position;
    }
  | {
      readonly kind: 'case';
      readonly selector: Expression;
      readonly cases: readonly { readonly labels: readonly CaseLabel[]; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[] | null;
      readonly at: Position;
    }
  | {
      readonly kind: 'for';
      readonly variable: string;
      readonly from: Expression;
      readonly to: Expression;
      readonly by: Expression | null;
      readonly body: readonly Statement[];
      readonly at: Position;
    }
  | { readonly kind: 'while'; readonly condition: Expression; readonly body: readonly Statement[]; readonly at: Position }
  | { readonly kind: 'repeat'; readonly body: readonly Statement[]; readonly until: Expression; readonly at: Position }
  | { readonly kind: 'exit'; readonly at: Position }
  | { readonly kind: 'return'; readonly at: Position };

export interface VariableDeclaration {
  readonly section: 'VAR' | 'VAR_INPUT' | 'VAR_OUTPUT';
  readonly name: string;
  /** An elementary type, or the name of a block type in upper case. */
  readonly type: DataType | { readonly block: string };
  readonly initial: Expression | null;
  /** Named presets of a block instance: `(PT := T#5s)`. */
  readonly presets: readonly Argument[];
  readonly at: Position;
}

export interface Program {
  readonly name: string;
  readonly variables: readonly VariableDeclaration[];
  readonly body: readonly Statement[];
  /** Comment text before PROGRAM, in order: carries name, description and scanInterval of a printed network. */
  readonly header: readonly string[];
  readonly at: Position;
}
