/**
 * What the parser reads from: tokens with one place of look-ahead, the list of diagnostics, and the depth guard that turns
 * hostile nesting into a diagnostic instead of a stack overflow.
 */
import { inside } from '../vocabulary/assert.js';
import type { Diagnostic, Position } from './ast.js';
import { DIAGNOSTICS_MAX, lex, type Comment, type Token } from './lexer.js';

/** Statements, parentheses, calls and signs inside each other. */
export const NESTING_MAX = 200;
/** Operators of one expression; a chain of them leans to the left as deep as it is long. */
export const OPERATORS_MAX = 1000;

const ENDED = 'the end is a token too, and nothing goes on behind it';

/** Thrown to leave a statement that cannot be read; caught where the next statement begins. Its diagnostic is recorded. */
export class SyntaxFault extends Error {}

export class TokenStream {
  readonly comments: readonly Comment[];
  readonly diagnostics: Diagnostic[];
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;
  #abandoned = false;
  /** Operators of the outermost expression being read. */
  operators = 0;

  constructor(source: string) {
    const lexed = lex(source);
    this.#tokens = lexed.tokens;
    this.comments = lexed.comments;
    this.diagnostics = lexed.diagnostics;
    if (this.diagnostics.length >= DIAGNOSTICS_MAX) this.#abandon();
  }

  get token(): Token {
    return inside(this.#tokens, this.#index, ENDED);
  }

  get following(): Token {
    return inside(this.#tokens, Math.min(this.#index + 1, this.#tokens.length - 1), ENDED);
  }

  get index(): number {
    return this.#index;
  }

  get done(): boolean {
    return this.token.kind === 'end';
  }

  advance(): Token {
    const token = this.token;
    if (token.kind !== 'end') this.#index += 1;
    return token;
  }

  is(text: string): boolean {
    const { kind } = this.token;
    return this.token.text === text && (kind === 'symbol' || kind === 'keyword');
  }

  /** Takes the symbol or keyword when it is next. */
  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.advance();
    return true;
  }

  expect(text: string, where: string): Position {
    const { at } = this.token;
    if (!this.accept(text)) throw this.fault(`expected ${text} ${where}, found ${this.#found()}`);
    return at;
  }

  identifier(what: string): { readonly name: string; readonly at: Position } {
    const { kind, text, at } = this.token;
    if (kind !== 'identifier') throw this.fault(`expected ${what}, found ${this.#found()}`);
    this.advance();
    return { name: text, at };
  }

  unexpected(expected: string): SyntaxFault {
    return this.fault(`expected ${expected}, found ${this.#found()}`);
  }

  fault(message: string, at: Position = this.token.at): SyntaxFault {
    this.report(message, at);
    return new SyntaxFault(message);
  }

  report(message: string, at: Position = this.token.at): void {
    if (this.#abandoned) return;
    this.diagnostics.push({ severity: 'error', code: 'parse', message, line: at.line, column: at.column });
    if (this.diagnostics.length >= DIAGNOSTICS_MAX) this.#abandon();
  }

  /** A fault after which nothing more is read. */
  abandon(message: string): SyntaxFault {
    const fault = this.fault(message);
    this.#abandon();
    return fault;
  }

  /** Ends the pass here: what follows would cost time and tell the writer nothing new. */
  #abandon(): void {
    this.#abandoned = true;
    this.#index = this.#tokens.length - 1;
  }

  /** All diagnostics of the pass in the order of the text. */
  get sorted(): Diagnostic[] {
    return this.diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Runs `read` one level deeper. */
  nested<T>(read: () => T): T {
    if (this.#depth >= NESTING_MAX) throw this.abandon(`more than ${NESTING_MAX} levels of nesting`);
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  #found(): string {
    const { kind, text } = this.token;
    return kind === 'end' ? text : text.length > 30 ? `${text.slice(0, 30)}...` : text;
  }
}
