/**
 * Long bodies: an array of a thousand manifests is some megabytes of JSON, and reading it in one turn holds up everybody else. Its members
 * are read one after the other in slices instead; whatever is not plainly such an array is read at once, and refused as a short one is.
 */
import type { Clock } from '../base/clock.js';
import { Turns } from '../base/slices.js';
import { DEPTH_MAX, parseJson } from './json-body.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const BYTES_PER_LOOK = 16 * 1024;

/** @throws Refusal as `parseJson` does. */
export async function parseLongJson(bytes: Uint8Array, clock: Clock): Promise<unknown> {
  const turns = new Turns(clock);
  const members = await membersOf(bytes, turns);
  if (!members) return parseJson(bytes);
  const values: unknown[] = [];
  for (const [from, to] of members) {
    if (turns.isOver) await turns.next();
    try {
      values.push(parseJson(bytes.subarray(from, to)));
    } catch {
      return parseJson(bytes); // tells where in the whole
    }
  }
  return values;
}

/** Where the members of the array begin and end; undefined for what is no array of at least two, or no JSON. */
async function membersOf(bytes: Uint8Array, turns: Turns): Promise<readonly (readonly [from: number, to: number])[] | undefined> {
  if (bytes[0] !== 0x5b || bytes.at(-1) !== 0x5d) return undefined;
  const members: [number, number][] = [];
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
      members.push([from, at]);
      from = at + 1;
    }
    if (at < lookAt) continue;
    lookAt = at + BYTES_PER_LOOK;
    if (turns.isOver) await turns.next();
  }
  if (depth !== 0 || members.length === 0) return undefined;
  members.push([from, bytes.length - 1]);
  return members.every(([begin, end]) => end > begin) ? members : undefined;
}

/** Of its closing quote; behind the last byte where it has none. */
function endOfText(bytes: Uint8Array, opening: number): number {
  let at = opening + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
