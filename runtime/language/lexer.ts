/**
 * Tokens of structured text (decisions 4.1). One pass by character, no regular expressions, so the time is linear in the
 * source; an unreadable place gives a diagnostic and the pass goes on behind it.
 */
import type { Diagnostic, Position } from './ast.js';
import { isDigit, isLetter, parseTimeText, skipWhile } from './time-text.js';

export const SOURCE_BYTES_MAX = 1024 * 1024;
export const IDENTIFIER_MAX = 63;
/** More diagnostics than a reader looks at in one pass; the rest is dropped. */
export const DIAGNOSTICS_MAX = 100;

const KEYWORD_TEXT =
  'IF THEN ELSIF ELSE END_IF CASE OF END_CASE FOR TO BY DO END_FOR WHILE END_WHILE REPEAT UNTIL END_REPEAT EXIT RETURN ' +
  'AND OR XOR NOT MOD TRUE FALSE PROGRAM END_PROGRAM VAR VAR_INPUT VAR_OUTPUT END_VAR BOOL INT REAL STRING TIME';
export const KEYWORDS: ReadonlySet<string> = new Set(KEYWORD_TEXT.split(' '));

/** `symbol` is an operator or punctuation mark; `end` closes every token list. */
export type Token =
  | { readonly kind: 'identifier' | 'keyword' | 'symbol' | 'end'; readonly text: string; readonly at: Position }
  | { readonly kind: 'int'; readonly text: string; readonly value: bigint; readonly at: Position }
  | { readonly kind: 'real' | 'time'; readonly text: string; readonly value: number; readonly at: Position }
  | { readonly kind: 'string'; readonly text: string; readonly value: string; readonly at: Position };

/** `form` tells a line comment from a bracketed one; `ownLine` that nothing but white space stands before it. */
export interface Comment {
  readonly text: string;
  readonly form: '//' | '(*';
  readonly ownLine: boolean;
  readonly at: Position;
}

export interface Lexed {
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  readonly diagnostics: Diagnostic[];
}

const PAIRS: ReadonlySet<string> = new Set([':=', '<=', '>=', '<>', '..']);
const SINGLES: ReadonlySet<string> = new Set('+-*/<>=(),;:.');
const ESCAPES = new Map([
  ['$', '$'],
  ["'", "'"],
  ['L', '\n'],
  ['N', '\n'],
  ['R', '\r'],
  ['T', '\t'],
  ['P', '\f'],
]);
const INT_LITERAL_MAX = 2n ** 63n;
/** Digits and separators a readable INT literal may have; 64 binary digits with a separator after each are 128. */
const INT_TEXT_MAX = 130;

function isIdentifierPart(character: string): boolean {
  return isLetter(character) || isDigit(character) || character === '_';
}

/** A name that can be written in structured text: right characters, at most 63 of them, no keyword. */
export function isIdentifier(text: string): boolean {
  if (text.length === 0 || text.length > IDENTIFIER_MAX || isDigit(text.charAt(0))) return false;
  return skipWhile(text, 0, isIdentifierPart) === text.length && !KEYWORDS.has(text.toUpperCase());
}

function isHex(text: string): boolean {
  return text.length > 0 && skipWhile(text, 0, (c) => isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) === text.length;
}

class Lexer {
  readonly #source: string;
  readonly tokens: Token[] = [];
  readonly comments: Comment[] = [];
  readonly diagnostics: Diagnostic[] = [];
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #lineHasToken = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): Lexed {
    if (this.#source.startsWith('\uFEFF')) this.#at = 1;
    while (this.#at < this.#source.length) this.#next();
    this.tokens.push({ kind: 'end', text: 'the end of the text', at: this.#position() });
    return this;
  }

  #position(offset = this.#at): Position {
    return { line: this.#line, column: offset - this.#lineStart + 1 };
  }

  #fail(at: Position, message: string): void {
    if (this.diagnostics.length >= DIAGNOSTICS_MAX) return;
    this.diagnostics.push({ severity: 'error', code: 'parse', message, ...at });
  }

  #push(token: Token): void {
    this.tokens.push(token);
    this.#lineHasToken = true;
  }

  #next(): void {
    const character = this.#source.charAt(this.#at);
    if (character === '\n') this.#newLine();
    else if (character === ' ' || character === '\t' || character === '\r') this.#at += 1;
    else if (this.#source.startsWith('//', this.#at)) this.#lineComment();
    else if (this.#source.startsWith('(*', this.#at)) this.#bracketComment();
    else if (isDigit(character)) this.#number();
    else if (isLetter(character) || character === '_') this.#word();
    else if (character === "'") this.#string();
    else this.#symbol();
  }

  #newLine(): void {
    this.#at += 1;
    this.#line += 1;
    this.#lineStart = this.#at;
    this.#lineHasToken = false;
  }

  #lineComment(): void {
    const at = this.#position();
    const lineEnd = this.#source.indexOf('\n', this.#at);
    const end = lineEnd < 0 ? this.#source.length : lineEnd;
    const text = this.#source.slice(this.#at + 2, end);
    this.comments.push({ text: text.endsWith('\r') ? text.slice(0, -1) : text, form: '//', ownLine: !this.#lineHasToken, at });
    this.#at = end;
  }

  #bracketComment(): void {
    const at = this.#position();
    const ownLine = !this.#lineHasToken;
    const close = this.#source.indexOf('*)', this.#at + 2);
    if (close < 0) this.#fail(at, 'the comment that begins here is not closed with *)');
    const end = close < 0 ? this.#source.length : close;
    this.comments.push({ text: this.#source.slice(this.#at + 2, end), form: '(*', ownLine, at });
    while (this.#at < end) {
      if (this.#source[this.#at] === '\n') this.#newLine();
      else this.#at += 1;
    }
    this.#at = Math.min(end + 2, this.#source.length);
  }

  #word(): void {
    const at = this.#position();
    const end = skipWhile(this.#source, this.#at, isIdentifierPart);
    const text = this.#source.slice(this.#at, end);
    const upper = text.toUpperCase();
    if (this.#source[end] === '#' && (upper === 'T' || upper === 'TIME')) {
      this.#time(end + 1, at);
      return;
    }
    this.#at = end;
    if (text.length > IDENTIFIER_MAX) this.#fail(at, `the name ${text.slice(0, 20)}... has more than ${IDENTIFIER_MAX} characters`);
    const keyword = KEYWORDS.has(upper);
    this.#push({ kind: keyword ? 'keyword' : 'identifier', text: keyword ? upper : text, at });
  }

  /** `from` is the index behind the `#`. */
  #time(from: number, at: Position): void {
    const first = this.#source[from] === '-' ? from + 1 : from;
    const end = skipWhile(this.#source, first, (c) => isDigit(c) || isLetter(c) || c === '.');
    const text = this.#source.slice(this.#at, end);
    const value = parseTimeText(text);
    if (value === null) this.#fail(at, `${text.slice(0, 40)} is not a time; write the parts in falling order, for example T#1m30s`);
    this.#at = end;
    this.#push({ kind: 'time', text, value: value ?? 0, at });
  }

  #number(): void {
    const at = this.#position();
    const start = this.#at;
    const whole = skipWhile(this.#source, start, (c) => isDigit(c) || c === '_');
    if (this.#source[whole] === '#') {
      this.#basedInteger(whole, at);
      return;
    }
    const fraction = this.#source[whole] === '.' && isDigit(this.#source[whole + 1] ?? '') ? skipWhile(this.#source, whole + 1, isDigit) : whole;
    const end = this.#exponentEnd(fraction);
    const text = this.#source.slice(start, end);
    this.#at = end;
    if (end === whole) this.#pushInteger(text, text.split('_').join(''), at);
    else this.#pushReal(text, at);
    this.#refuseTail(at);
  }

  /** Index behind an exponent that begins at `from`, else `from`. */
  #exponentEnd(from: number): number {
    const mark = this.#source[from];
    if (mark !== 'e' && mark !== 'E') return from;
    const sign = this.#source[from + 1];
    const digits = sign === '+' || sign === '-' ? from + 2 : from + 1;
    const end = skipWhile(this.#source, digits, isDigit);
    return end === digits ? from : end;
  }

  #basedInteger(hash: number, at: Position): void {
    const base = this.#source.slice(this.#at, hash);
    const end = skipWhile(this.#source, hash + 1, isIdentifierPart);
    const text = this.#source.slice(this.#at, end);
    const digits = this.#source
      .slice(hash + 1, end)
      .split('_')
      .join('');
    const prefix = new Map([
      ['2', '0b'],
      ['8', '0o'],
      ['16', '0x'],
    ]).get(base);
    const highest = base === '2' ? '1' : base === '8' ? '7' : 'f';
    const readable = isHex(digits) && ![...digits.toLowerCase().slice(0, INT_TEXT_MAX)].some((digit) => digit > highest);
    this.#at = end;
    if (prefix !== undefined && readable) {
      this.#pushInteger(text, prefix + digits, at);
      return;
    }
    this.#fail(at, `${text.slice(0, 40)} is not a number; bases are 2#, 8# and 16#`);
    this.#push({ kind: 'int', text, value: 0n, at });
  }

  #pushInteger(text: string, digits: string, at: Position): void {
    const value = digits.length > INT_TEXT_MAX ? INT_LITERAL_MAX + 1n : BigInt(digits);
    if (value > INT_LITERAL_MAX) this.#fail(at, `${text.slice(0, 40)} does not fit into 64 bits`);
    this.#push({ kind: 'int', text, value: value > INT_LITERAL_MAX ? 0n : value, at });
  }

  #pushReal(text: string, at: Position): void {
    const value = text.includes('_') ? Number.NaN : Number(text);
    const fits = Number.isFinite(value);
    if (!fits) this.#fail(at, `${text.slice(0, 40)} is not a number of type REAL`);
    this.#push({ kind: 'real', text, value: fits ? value : 0, at });
  }

  /** `12abc` is a mistake of the writer, not a number followed by a name. */
  #refuseTail(at: Position): void {
    const end = skipWhile(this.#source, this.#at, isIdentifierPart);
    if (end === this.#at) return;
    this.#fail(at, `a name cannot begin with a digit`);
    this.#at = end;
  }

  #string(): void {
    const at = this.#position();
    const start = this.#at;
    let value = '';
    this.#at += 1;
    for (;;) {
      const character = this.#source[this.#at];
      if (character === undefined || character === '\n' || character === '\r') {
        this.#fail(at, 'the text that begins here is not closed on its line');
        break;
      }
      if (character === "'") {
        this.#at += 1;
        break;
      }
      value += character === '$' ? this.#escape() : character;
      if (character !== '$') this.#at += 1;
    }
    this.#push({ kind: 'string', text: this.#source.slice(start, this.#at), value, at });
  }

  #escape(): string {
    const at = this.#position();
    const mark = this.#source[this.#at + 1] ?? '';
    const plain = ESCAPES.get(mark.toUpperCase());
    if (plain !== undefined) {
      this.#at += 2;
      return plain;
    }
    const hex = this.#source.slice(this.#at + 1, this.#at + 5);
    if (hex.length === 4 && isHex(hex)) {
      this.#at += 5;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    this.#fail(at, "after $ comes one of $ ' L N R T P or four hexadecimal digits");
    this.#at += 1;
    return '';
  }

  #symbol(): void {
    const at = this.#position();
    const pair = this.#source.slice(this.#at, this.#at + 2);
    const symbol = PAIRS.has(pair) ? pair : pair.charAt(0);
    if (symbol.length === 2 || SINGLES.has(symbol)) {
      this.#at += symbol.length;
      this.#push({ kind: 'symbol', text: symbol, at });
      return;
    }
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#fail(at, `the character ${JSON.stringify(character)} has no meaning here`);
    this.#at += character.length;
  }
}

export function lex(source: string): Lexed {
  if (source.length <= SOURCE_BYTES_MAX) return new Lexer(source).run();
  const at: Position = { line: 1, column: 1 };
  const message = `the text is longer than ${SOURCE_BYTES_MAX} characters`;
  return { tokens: [{ kind: 'end', text: 'the end of the text', at }], comments: [], diagnostics: [{ severity: 'error', code: 'parse', message, ...at }] };
}

/** First token is PROGRAM: control-module text; else a step action (decisions Q-ST-03). */
export function isProgramText(source: string): boolean {
  return lex(source).tokens[0]?.text === 'PROGRAM';
}
