/**
 * The pattern of `addressPattern` (contract 2, WebSocket, rule 1): `*` any run of characters, slashes included, `?` one
 * character, `[abc]` a class with ranges and with `^` or `!` for negation; there is no escape. It matches a whole address.
 *
 * Invariant: matching costs at most pattern length x address length steps, whatever the pattern. The matcher remembers
 * only the last `*`; an earlier one never needs to be tried again, because `*` takes any run.
 */
import { invalid } from '../base/refusal.js';

const PATTERN_LENGTH_MAX = 1024; // not in the contract: longer than any address, and a bound on the work of one match

interface CharacterClass {
  readonly negated: boolean;
  /** Inclusive code-point ranges, two entries each. */
  readonly ranges: readonly number[];
}

type Token = { readonly is: 'run' } | { readonly is: 'any' } | { readonly is: 'code'; readonly code: number } | ({ readonly is: 'class' } & CharacterClass);

export type Glob = (address: string) => boolean;

/** @throws Refusal `invalid_field` for an unterminated or empty class, or a backwards range. */
export function parseGlob(pattern: string): Glob {
  if (pattern.length > PATTERN_LENGTH_MAX) throw unparsable(`is longer than ${PATTERN_LENGTH_MAX} characters`);
  const codes = Array.from(pattern, (character) => character.codePointAt(0) as number);
  const tokens: Token[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
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
  return (address) => matches(tokens, address);
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
    const low = codes[at];
    if (codes[at + 1] === DASH && at + 2 < closedAt) {
      const high = codes[at + 2];
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

function matches(tokens: readonly Token[], address: string): boolean {
  const codes = Array.from(address, (character) => character.codePointAt(0) as number);
  let token = 0;
  let at = 0;
  let runToken = -1;
  let runAt = 0;
  while (at < codes.length) {
    const next = tokens[token];
    if (next?.is === 'run') {
      runToken = token;
      runAt = at;
      token += 1;
    } else if (next && takes(next, codes[at])) {
      token += 1;
      at += 1;
    } else if (runToken >= 0) {
      runAt += 1;
      at = runAt;
      token = runToken + 1;
    } else {
      return false;
    }
  }
  while (tokens[token]?.is === 'run') token += 1;
  return token === tokens.length;
}

function takes(token: Exclude<Token, { readonly is: 'run' }>, code: number): boolean {
  if (token.is === 'any') return true;
  if (token.is === 'code') return token.code === code;
  for (let at = 0; at < token.ranges.length; at += 2) {
    if (code >= token.ranges[at] && code <= token.ranges[at + 1]) return !token.negated;
  }
  return token.negated;
}
