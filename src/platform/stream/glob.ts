/**
 * The pattern of `addressPattern` (contract 2, WebSocket, rule 1): `*` any run of characters, slashes included, `?` one
 * character, `[abc]` a class with ranges and with `^` or `!` for negation; there is no escape. It matches a whole address.
 *
 * Invariant: matching an address costs its length times pattern length / 32, whatever the pattern: all ways in which the
 * pattern could have come this far are the bits of one set, moved on together by each character, so nothing is tried twice.
 */
import { invalid } from '../base/refusal.js';

const PATTERN_LENGTH_MAX = 1024; // not in the contract: longer than any address, and a bound on the work of one match
const CHARACTERS_KEPT_MAX = 512; // what a matcher remembers of characters; addresses use some forty

interface CharacterClass {
  readonly negated: boolean;
  /** Inclusive code-point ranges, two entries each. */
  readonly ranges: readonly number[];
}

type Token = { readonly is: 'run' } | { readonly is: 'any' } | { readonly is: 'code'; readonly code: number } | ({ readonly is: 'class' } & CharacterClass);

type TakingToken = Exclude<Token, { readonly is: 'run' }>;

export type Glob = (address: string) => boolean;

/** @throws Refusal `invalid_field` for an unterminated or empty class, or a backwards range. */
export function parseGlob(pattern: string): Glob {
  if (pattern.length > PATTERN_LENGTH_MAX) throw unparsable(`is longer than ${PATTERN_LENGTH_MAX} characters`);
  const codes = Array.from(pattern, (character) => character.codePointAt(0) as number);
  const tokens: Token[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] as number;
    if (code === STAR) {
      if (tokens.at(-1)?.is !== 'run') tokens.push({ is: 'run' });
    } else if (code === QUESTION) {
      tokens.push({ is: 'any' });
    } else if (code === OPEN) {
      const parsed = parseClass(codes, at);
      tokens.push({ is: 'class', ...parsed.class });
      at = parsed.closedAt;
    } else {
      tokens.push({ is: 'code', code });
    }
  }
  const matcher = new Matcher(tokens);
  return (address) => matcher.matches(address);
}

const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const CARET = 0x5e;
const BANG = 0x21;
const DASH = 0x2d;

/** A `]` always closes: there is no escape, and so no way to name it in a class. A `-` at either end is itself. */
function parseClass(codes: readonly number[], openAt: number): { class: CharacterClass; closedAt: number } {
  let at = openAt + 1;
  const negated = codes[at] === CARET || codes[at] === BANG;
  if (negated) at += 1;
  const closedAt = codes.indexOf(CLOSE, at);
  if (closedAt < 0) throw unparsable('has a character class that is not closed by ]');
  if (closedAt === at) throw unparsable('has an empty character class');
  const ranges: number[] = [];
  while (at < closedAt) {
    const low = codes[at] as number;
    if (codes[at + 1] === DASH && at + 2 < closedAt) {
      const high = codes[at + 2] as number;
      if (high < low) throw unparsable(`has the backwards range ${String.fromCodePoint(low)}-${String.fromCodePoint(high)}`);
      ranges.push(low, high);
      at += 3;
    } else {
      ranges.push(low, low);
      at += 1;
    }
  }
  return { class: { negated, ranges }, closedAt };
}

function unparsable(why: string): Error {
  return invalid('invalid_field', 'filter.addressPattern', `addressPattern ${why}`);
}

/** A pattern as a set of places: bit i says that the first i tokens that take a character have taken one each. */
class Matcher {
  readonly #tokens: readonly TakingToken[];
  readonly #words: number;
  /** Places in front of which a `*` stands: any character may come and the place stays. */
  readonly #stays: Int32Array;
  /** By character: the places whose token takes it. Made at first sight, because addresses use few characters. */
  readonly #takenAt = new Map<number, Int32Array>();
  readonly #places: Int32Array;

  constructor(tokens: readonly Token[]) {
    const taking = tokens.filter((token): token is TakingToken => token.is !== 'run');
    this.#tokens = taking;
    this.#words = (taking.length >> 5) + 1;
    this.#stays = new Int32Array(this.#words);
    this.#places = new Int32Array(this.#words);
    let place = 0;
    for (const token of tokens) {
      if (token.is === 'run') set(this.#stays, place);
      else place += 1;
    }
  }

  matches(address: string): boolean {
    const places = this.#places;
    places.fill(0);
    places[0] = 1;
    for (let at = 0; at < address.length; ) {
      const code = address.codePointAt(at) as number;
      at += code > 0xffff ? 2 : 1;
      if (!this.#advance(code)) return false;
    }
    const last = this.#tokens.length;
    return ((places[last >> 5] as number) & (1 << (last & 31))) !== 0;
  }

  /** False when no place is left. */
  #advance(code: number): boolean {
    const places = this.#places;
    const stays = this.#stays;
    const takenAt = this.#takenAt.get(code) ?? this.#learn(code);
    let carry = 0;
    let any = 0;
    for (let word = 0; word < this.#words; word += 1) {
      const now = places[word] as number;
      const taken = now & (takenAt[word] as number);
      places[word] = (taken << 1) | carry | (now & (stays[word] as number));
      carry = taken >>> 31;
      any |= places[word] as number;
    }
    return any !== 0;
  }

  #learn(code: number): Int32Array {
    const takenAt = new Int32Array(this.#words);
    for (const [place, token] of this.#tokens.entries()) if (takes(token, code)) set(takenAt, place);
    if (this.#takenAt.size >= CHARACTERS_KEPT_MAX) this.#takenAt.clear();
    this.#takenAt.set(code, takenAt);
    return takenAt;
  }
}

/** Every place has its bit: there is one word more than whole words of tokens. */
function set(places: Int32Array, place: number): void {
  places[place >> 5] = (places[place >> 5] as number) | (1 << (place & 31));
}

function takes(token: TakingToken, code: number): boolean {
  if (token.is === 'any') return true;
  if (token.is === 'code') return token.code === code;
  for (let at = 0; at < token.ranges.length; at += 2) {
    if (code >= (token.ranges[at] as number) && code <= (token.ranges[at + 1] as number)) return !token.negated;
  }
  return token.negated;
}
