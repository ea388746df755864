/**
 * Long bodies: an array of a thousand manifests is some megabytes of JSON, and reading it in one turn holds up everybody else. Its members
 * are read one after the other in slices instead, each no longer than a body elsewhere. What is no longer than that, and not plainly such
 * an array, is read at once, and refused as a short body is.
 */
import type { Clock } from '../base/clock.js';
import { invalid, Refusal } from '../base/refusal.js';
import { DEPTH_MAX } from '../base/nesting.js';
import { Turns } from '../base/slices.js';
import { parseJson } from './json-body.js';

/** Of an array that is read member by member. */
export interface MemberLimits {
  /** The schema of the row refuses more than these, in its own words. */
  readonly max: number;
  readonly bytesMax: number;
  /** Names that a member may have which is an object. */
  readonly namesMax: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BYTES_PER_LOOK = 16 * 1024;

/** @throws Refusal as `parseJson` does, and `payload_too_large` of what is too long to be read in one turn. */
export async function parseLongJson(bytes: Uint8Array, clock: Clock, { max, bytesMax, namesMax }: MemberLimits): Promise<unknown> {
  const turns = new Turns(clock);
  const text = trimmed(bytes);
  const isShort = bytes.length <= bytesMax;
  const ends = await endsOf(text, max, turns);
  if (!ends) {
    if (isShort) return parseJson(bytes);
    throw tooLong('what is no array of several, or cannot be read,', bytesMax);
  }
  const values: unknown[] = [];
  let from = 1;
  for (const to of ends) {
    if (turns.isOver) await turns.next();
    if (to - from > bytesMax) throw tooLong(`member ${values.length} of the array`, bytesMax, `[${values.length}]`);
    try {
      values.push(parseJson(text.subarray(from, to)));
    } catch (fault) {
      if (isShort) return parseJson(bytes); // tells where in the whole
      if (!(fault instanceof Refusal)) throw fault;
      const { field = 'body' } = fault.context;
      throw new Refusal(fault.kind, `member ${values.length} of the array: ${fault.message}`, {
        ...fault.context,
        field: `[${values.length}]${field === 'body' ? '' : `.${field}`}`,
      });
    }
    refuseManyNames(values.at(-1), values.length - 1, namesMax);
    from = to + 1;
  }
  return values;
}

function refuseManyNames(value: unknown, at: number, namesMax: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const count = Object.keys(value).length;
  if (count > namesMax) throw invalid('invalid_field', `[${at}]`, `it has ${count} fields, and at most ${namesMax} are read`);
}

function tooLong(what: string, limitBytes: number, field?: string): Refusal {
  return new Refusal('too-large', `${what} has at most ${limitBytes} bytes`, { code: 'payload_too_large', limitBytes, ...(field === undefined ? {} : { field }) });
}

function trimmed(bytes: Uint8Array): Uint8Array {
  let from = 0;
  let to = bytes.length;
  while (from < to && BLANKS.has(bytes[from])) from += 1;
  while (to > from && BLANKS.has(bytes[to - 1])) to -= 1;
  return bytes.subarray(from, to);
}

/** Where the members of the array end, those of one too many at most; undefined for what is no array of at least two, or no JSON. */
async function endsOf(bytes: Uint8Array, max: number, turns: Turns): Promise<readonly number[] | undefined> {
  if (bytes[0] !== 0x5b || bytes.at(-1) !== 0x5d) return undefined;
  const ends: number[] = [];
  let depth = 0;
  let from = 1;
  let lookAt = BYTES_PER_LOOK;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (CLOSING.has(byte)) depth -= 1;
    else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > DEPTH_MAX) return undefined;
    } else if (byte === COMMA && depth === 1) {
      if (at === from) return undefined;
      ends.push(at);
      if (ends.length > max) return ends;
      from = at + 1;
    }
    if (at < lookAt) continue;
    lookAt = at + BYTES_PER_LOOK;
    if (turns.isOver) await turns.next();
  }
  if (depth !== 0 || ends.length === 0 || bytes.length - 1 === from) return undefined;
  ends.push(bytes.length - 1);
  return ends;
}

/** Of its closing quote; behind the last byte where it has none. */
function endOfText(bytes: Uint8Array, opening: number): number {
  let at = opening + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
