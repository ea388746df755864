/**
 * What the parser reads from: tokens with one place of look-ahead, each read when it is asked for, the list of diagnostics, and the depth guard that turns
 * hostile nesting into a diagnostic instead of a stack overflow.
 */
import type { Diagnostic, Position } from './ast.js';
import { DIAGNOSTICS_MAX, Lexer, type Comment, type Token } from './lexer.js';

/** Statements, parentheses, calls and signs inside each other. */
export const NESTING_MAX = 200;
/** Operators of one expression; a chain of them leans to the left as deep as it is long. */
export const OPERATORS_MAX = 1000;

/** Thrown to leave a statement that cannot be read; caught where the next statement begins. Its diagnostic is recorded. */
export class SyntaxFault extends Error {}

export class TokenStream {
  readonly #lexer: Lexer;
  /** What the lexer could not read, so far or (when the text is read again) in all of it. */
  readonly unreadable: Diagnostic[];
  readonly #reports: Diagnostic[] = [];
  readonly #reportsMax: number;
  #token: Token;
  /** Null until somebody asks for it. */
  #following: Token | null = null;
  #index = 0;
  #depth = 0;
  #abandoned: boolean;
  /** Operators of the outermost expression being read. */
  operators = 0;

  /** Comments go into `comments` as they are met; `unreadable` is what an earlier pass over the same text could not read. */
  constructor(source: string, comments: Comment[] | null = null, unreadable: Diagnostic[] | null = null) {
    this.unreadable = unreadable ?? [];
    this.#reportsMax = DIAGNOSTICS_MAX - this.unreadable.length;
    this.#abandoned = this.#reportsMax <= 0;
    this.#lexer = unreadable === null ? new Lexer(source, this.unreadable, comments) : new Lexer(source);
    this.#token = this.#lexer.next();
  }

  get token(): Token {
    return this.#token;
  }

  get following(): Token {
    if (this.done) return this.#token;
    this.#following ??= this.#lexer.next();
    return this.#following;
  }

  /** Tokens taken so far. */
  get index(): number {
    return this.#index;
  }

  get done(): boolean {
    return this.token.kind === 'end';
  }

  advance(): Token {
    const token = this.#token;
    if (token.kind === 'end') return token;
    this.#index += 1;
    this.#token = this.#following ?? this.#lexer.next();
    this.#following = null;
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
    this.#reports.push({ severity: 'error', code: 'parse', message, line: at.line, column: at.column });
    if (this.#reports.length >= this.#reportsMax) this.#abandon();
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
    this.#token = this.#lexer.skim();
  }

  /**
   * What the parser left unread may be unreadable, too.
   * @returns false when there are more diagnostics than a reader looks at: those of the lexer, all of which go before, leave the parser fewer than it took.
   */
  finish(): boolean {
    this.#lexer.skim();
    return this.unreadable.length === 0 || this.unreadable.length + this.#reports.length < DIAGNOSTICS_MAX;
  }

  /** All diagnostics of the pass in the order of the text. */
  get sorted(): Diagnostic[] {
    return [...this.unreadable, ...this.#reports].toSorted((a, b) => a.line - b.line || a.column - b.column);
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
