/**
 * Tokens of structured text (decisions 4.1), each made when it is asked for: all those of a hostile megabyte are 100 MB. One
 * pass by character, no regular expressions, so the time is linear in the source; an unreadable place gives a diagnostic and
 * the pass goes on behind it.
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

/** `symbol` is an operator or punctuation mark; `end` stands behind every text. */
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

const PAIRS: ReadonlySet<string> = new Set([':=', '<=', '>=', '<>', '..']);
const SINGLES = '+-*/<>=(),;:.';

/** What a character can be part of, as bits. */
const DIGIT = 1;
const LETTER = 2;
const UNDERSCORE = 4;
const SYMBOL = 8;
/** The second character of a pair. */
const PAIRED = 16;
const BLANK = 32;
const NAME = DIGIT | LETTER | UNDERSCORE;
/** The bits of each ASCII character; the others are part of nothing. */
const PARTS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return (
    (isDigit(character) ? DIGIT : 0) |
    (isLetter(character) ? LETTER : 0) |
    (character === '_' ? UNDERSCORE : 0) |
    (SINGLES.includes(character) ? SYMBOL : 0) |
    ([...PAIRS].some((pair) => pair.endsWith(character)) ? PAIRED : 0) |
    (' \t\r'.includes(character) ? BLANK : 0)
  );
});
const ESCAPES = new Map([
  ['$', '$'],
  ["'", "'"],
  ['L', '\n'],
  ['N', '\n'],
  ['R', '\r'],
  ['T', '\t'],
  ['P', '\f'],
]);
const BASES = new Map([
  ['2', '0b'],
  ['8', '0o'],
  ['16', '0x'],
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

type Kind = Token['kind'] | 'word';

export class Lexer {
  readonly #source: string;
  readonly #diagnostics: Diagnostic[] | null;
  readonly #comments: Comment[] | null;
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #lineHasToken = false;
  /** The token that was gone over last, all on one line: where it begins, the end of its text, and the value of a literal. */
  #kind: Kind = 'end';
  #from = 0;
  #to = 0;
  #value: bigint | number | string = 0;

  /** What is wrong with the text goes into `diagnostics` and its comments into `comments`, as they are met; null: nobody asks. */
  constructor(source: string, diagnostics: Diagnostic[] | null = null, comments: Comment[] | null = null) {
    this.#source = source.length <= SOURCE_BYTES_MAX ? source : '';
    this.#diagnostics = diagnostics;
    this.#comments = comments;
    if (this.#source !== source) this.#fail(0, `the text is longer than ${SOURCE_BYTES_MAX} characters`);
    if (this.#source.startsWith('\uFEFF')) this.#at = 1;
  }

  /** The end comes where nobody looks at more diagnostics, too, and from then on again and again. */
  next(): Token {
    return this.#skip() ? this.#made() : this.#end();
  }

  /** Goes to the end without making tokens. */
  skim(): Token {
    while (this.#skip());
    return this.#end();
  }

  #end(): Token {
    return { kind: 'end', text: 'the end of the text', at: this.#position() };
  }

  #made(): Token {
    const kind = this.#kind;
    const at = this.#position(this.#from);
    const text = this.#source.slice(this.#from, this.#to);
    if (kind === 'word') {
      const upper = text.toUpperCase();
      return KEYWORDS.has(upper) ? { kind: 'keyword', text: upper, at } : { kind: 'identifier', text, at };
    }
    return kind === 'symbol' ? { kind, text, at } : ({ kind, text, value: this.#value, at } as Token);
  }

  #position(offset = this.#at): Position {
    return { line: this.#line, column: offset - this.#lineStart + 1 };
  }

  get #full(): boolean {
    return this.#diagnostics !== null && this.#diagnostics.length >= DIAGNOSTICS_MAX;
  }

  #fail(offset: number, message: string): void {
    if (this.#diagnostics === null || this.#full) return;
    this.#diagnostics.push({ severity: 'error', code: 'parse', message, ...this.#position(offset) });
  }

  /** What the character at `index` can be part of; 0 behind the end. */
  #partsAt(index: number): number {
    return index < this.#source.length ? (PARTS[this.#source.charCodeAt(index)] ?? 0) : 0;
  }

  /** Index behind the run of characters from `from` on that can be part of one of `parts`. */
  #behind(from: number, parts: number): number {
    const source = this.#source;
    let at = from;
    while (at < source.length && ((PARTS[source.charCodeAt(at)] ?? 0) & parts) !== 0) at += 1;
    return at;
  }

  /** Goes over the next token; false when there is none. */
  #skip(): boolean {
    while (this.#at < this.#source.length && !this.#full) {
      const parts = this.#partsAt(this.#at);
      if ((parts & BLANK) !== 0) this.#at = this.#behind(this.#at + 1, BLANK);
      else if ((parts & (LETTER | UNDERSCORE)) !== 0) return this.#word();
      else if ((parts & DIGIT) !== 0) return this.#number();
      else if ((parts & SYMBOL) !== 0) {
        if (!this.#comment()) return this.#symbol();
      } else if (this.#source[this.#at] === '\n') this.#newLine();
      else if (this.#source[this.#at] === "'") return this.#string();
      else this.#unreadable();
    }
    return false;
  }

  /** Goes on at `at`, behind a token whose text is that between `from` and `to`. */
  #found(kind: Kind, from: number, to: number, at = to): true {
    this.#kind = kind;
    this.#from = from;
    this.#to = to;
    this.#at = at;
    this.#lineHasToken = true;
    return true;
  }

  #newLine(): void {
    this.#at += 1;
    this.#line += 1;
    this.#lineStart = this.#at;
    this.#lineHasToken = false;
  }

  /** Goes over the comment that begins here, if one does. */
  #comment(): boolean {
    if (this.#source.startsWith('//', this.#at)) this.#lineComment();
    else if (this.#source.startsWith('(*', this.#at)) this.#bracketComment();
    else return false;
    return true;
  }

  #lineComment(): void {
    const lineEnd = this.#source.indexOf('\n', this.#at);
    const end = lineEnd < 0 ? this.#source.length : lineEnd;
    if (this.#comments !== null) {
      const text = this.#source.slice(this.#at + 2, end);
      this.#comments.push({ text: text.endsWith('\r') ? text.slice(0, -1) : text, form: '//', ownLine: !this.#lineHasToken, at: this.#position() });
    }
    this.#at = end;
  }

  #bracketComment(): void {
    const close = this.#source.indexOf('*)', this.#at + 2);
    if (close < 0) this.#fail(this.#at, 'the comment that begins here is not closed with *)');
    const end = close < 0 ? this.#source.length : close;
    this.#comments?.push({ text: this.#source.slice(this.#at + 2, end), form: '(*', ownLine: !this.#lineHasToken, at: this.#position() });
    while (this.#at < end) {
      if (this.#source[this.#at] === '\n') this.#newLine();
      else this.#at += 1;
    }
    this.#at = Math.min(end + 2, this.#source.length);
  }

  #word(): true {
    const from = this.#at;
    const end = this.#behind(from, NAME);
    if (this.#source[end] === '#' && ['T', 'TIME'].includes(this.#source.slice(from, end).toUpperCase())) return this.#time(from, end + 1);
    if (end - from > IDENTIFIER_MAX) this.#fail(from, `the name ${this.#source.slice(from, from + 20)}... has more than ${IDENTIFIER_MAX} characters`);
    return this.#found('word', from, end);
  }

  /** `behindHash` is the index behind the `#`. */
  #time(from: number, behindHash: number): true {
    const first = this.#source[behindHash] === '-' ? behindHash + 1 : behindHash;
    const end = skipWhile(this.#source, first, (c) => isDigit(c) || isLetter(c) || c === '.');
    const text = this.#source.slice(from, end);
    const value = parseTimeText(text);
    if (value === null) this.#fail(from, `${text.slice(0, 40)} is not a time; write the parts in falling order, for example T#1m30s`);
    this.#value = value ?? 0;
    return this.#found('time', from, end);
  }

  #number(): true {
    const from = this.#at;
    const whole = this.#behind(from, DIGIT | UNDERSCORE);
    if (this.#source[whole] === '#') return this.#basedInteger(from, whole);
    const fraction = this.#source[whole] === '.' ? this.#behind(whole + 1, DIGIT) : whole;
    const end = this.#exponentEnd(fraction === whole + 1 ? whole : fraction);
    const text = this.#source.slice(from, end);
    if (end === whole) this.#integer(text, from, text.includes('_') ? text.replaceAll('_', '') : text);
    else this.#real(text, from);
    const tail = this.#behind(end, NAME);
    // `12abc` is a mistake of the writer, not a number followed by a name
    if (tail > end) this.#fail(from, `a name cannot begin with a digit`);
    return this.#found(end === whole ? 'int' : 'real', from, end, tail);
  }

  /** Index behind an exponent that begins at `from`, else `from`. */
  #exponentEnd(from: number): number {
    const mark = this.#source[from];
    if (mark !== 'e' && mark !== 'E') return from;
    const sign = this.#source[from + 1];
    const digits = sign === '+' || sign === '-' ? from + 2 : from + 1;
    const end = this.#behind(digits, DIGIT);
    return end === digits ? from : end;
  }

  #basedInteger(from: number, hash: number): true {
    const base = this.#source.slice(from, hash);
    const end = this.#behind(hash + 1, NAME);
    const text = this.#source.slice(from, end);
    const digits = this.#source.slice(hash + 1, end).replaceAll('_', '');
    const prefix = BASES.get(base);
    const highest = base === '2' ? '1' : base === '8' ? '7' : 'f';
    const readable = isHex(digits) && ![...digits.toLowerCase().slice(0, INT_TEXT_MAX)].some((digit) => digit > highest);
    if (prefix !== undefined && readable) this.#integer(text, from, prefix + digits);
    else {
      this.#fail(from, `${text.slice(0, 40)} is not a number; bases are 2#, 8# and 16#`);
      this.#value = 0n;
    }
    return this.#found('int', from, end);
  }

  #integer(text: string, from: number, digits: string): void {
    const value = digits.length > INT_TEXT_MAX ? INT_LITERAL_MAX + 1n : BigInt(digits);
    if (value > INT_LITERAL_MAX) this.#fail(from, `${text.slice(0, 40)} does not fit into 64 bits`);
    this.#value = value > INT_LITERAL_MAX ? 0n : value;
  }

  #real(text: string, from: number): void {
    const value = text.includes('_') ? Number.NaN : Number(text);
    const fits = Number.isFinite(value);
    if (!fits) this.#fail(from, `${text.slice(0, 40)} is not a number of type REAL`);
    this.#value = fits ? value : 0;
  }

  #string(): true {
    const from = this.#at;
    let value = '';
    this.#at += 1;
    for (;;) {
      const character = this.#source[this.#at];
      if (character === undefined || character === '\n' || character === '\r') {
        this.#fail(from, 'the text that begins here is not closed on its line');
        break;
      }
      if (character === "'") {
        this.#at += 1;
        break;
      }
      value += character === '$' ? this.#escape() : character;
      if (character !== '$') this.#at += 1;
    }
    this.#value = value;
    return this.#found('string', from, this.#at);
  }

  #escape(): string {
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
    this.#fail(this.#at, "after $ comes one of $ ' L N R T P or four hexadecimal digits");
    this.#at += 1;
    return '';
  }

  #symbol(): true {
    const from = this.#at;
    const pair = (this.#partsAt(from + 1) & PAIRED) !== 0 && PAIRS.has(this.#source.slice(from, from + 2));
    return this.#found('symbol', from, from + (pair ? 2 : 1));
  }

  #unreadable(): void {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#fail(this.#at, `the character ${JSON.stringify(character)} has no meaning here`);
    this.#at += character.length;
  }
}

/** First token is PROGRAM: control-module text; else a step action (decisions Q-ST-03). */
export function isProgramText(source: string): boolean {
  return new Lexer(source).next().text === 'PROGRAM';
}
