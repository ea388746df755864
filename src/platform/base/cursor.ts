/**
 * Opaque cursors of paged lists (decisions Q-ERR-15): a tag for the list and the numbers of the last row given. They are not sealed: whoever makes
 * one up moves where he reads on in what he may read anyway. What is no cursor of the list is 400.
 */
import { invalid } from './refusal.js';

export function encodeCursor(list: string, ...numbers: readonly number[]): string {
  return Buffer.from(`${list}:${numbers.join(':')}`, 'utf8').toString('base64url');
}

/** As many as were asked for. */
type Numbers<Count extends number> = Count extends 1 ? readonly [number] : Count extends 2 ? readonly [number, number] : readonly number[];

/** @throws Refusal `invalid_query` for anything that this list could not have handed out: it gives whole numbers, as they are written. */
export function decodeCursor<const Count extends number>(list: string, cursor: string, count: Count): Numbers<Count>;
export function decodeCursor(list: string, cursor: string, count: number): readonly number[] {
  const [tag, ...parts] = Buffer.from(cursor, 'base64url').toString('utf8').split(':');
  const numbers = parts.map(Number);
  if (tag !== list || numbers.length !== count || numbers.some((number, n) => !Number.isSafeInteger(number) || String(number) !== parts[n])) {
    throw invalid('invalid_query', 'cursor', 'cursor must be the nextCursor of an earlier page of this list');
  }
  return numbers;
}
