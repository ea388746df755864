/** What has changed between two documents, place by place, in words that a person and a record can keep, or whole. Pure. */
import { isDeepStrictEqual } from 'node:util';

export interface Difference {
  /** `blocks[pid].params.kp`: members by name, items by what they are called, else by their number from 0. */
  readonly place: string;
  /** '' where there was nothing. */
  readonly from: string;
  /** '' where there is nothing any more. */
  readonly to: string;
}

const TEXT_LENGTH_MAX = 200;

/** In the order of the old document, then what has come new. */
export function differences(from: unknown, to: unknown): Difference[] {
  return wholeDifferences(from, to).flatMap(({ place, from: was, to: is }) => {
    const [before, after] = [wordOf(was), wordOf(is)];
    return before === after ? [] : [{ place, ...apart(before, after) }];
  });
}

/** An empty list says nothing. */
function wordOf(leaf: Leaf | null): string {
  return leaf === null || typeof leaf === 'object' ? '' : String(leaf);
}

/** As a program takes it: values as they are, whole; null where there was or is nothing. */
export interface WholeDifference {
  readonly place: string;
  readonly from: Leaf | null;
  readonly to: Leaf | null;
}

/** A value that holds no other; an empty list or object is one. */
export type Leaf = string | number | boolean | readonly [] | Readonly<Record<string, never>>;

export function wholeDifferences(from: unknown, to: unknown): WholeDifference[] {
  const [before, after] = [new Map<string, Leaf>(), new Map<string, Leaf>()];
  flatten(from, '', before);
  flatten(to, '', after);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((place) => {
    const [was, is] = [before.get(place) ?? null, after.get(place) ?? null];
    return isDeepStrictEqual(was, is) ? [] : [{ place, from: was, to: is }];
  });
}

function flatten(value: unknown, place: string, places: Map<string, Leaf>): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object') {
    places.set(place, value as Leaf);
    return;
  }
  if (Object.keys(value).length === 0) {
    if (place !== '') places.set(place, value as Leaf);
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => {
      const own = `${place}[${labelOf(item) ?? index}]`;
      flatten(item, places.has(own) ? `${place}[${index}]` : own, places);
    });
    return;
  }
  for (const [key, member] of Object.entries(value)) flatten(member, place === '' ? key : `${place}.${key}`, places);
}

/** Names of what engineering lists: a block, a parameter of one, a connection by where it ends, a variable. */
function labelOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { name, blockRef, param, portRef, destBlock, destPort, variable } = item as Readonly<Record<string, unknown>>;
  const words = [[name], [blockRef, param], [variable, blockRef, portRef], [destBlock, destPort]].find((parts) => parts.every((part) => typeof part === 'string' && part !== ''));
  return words?.join('.');
}

/** Of long texts what differs, so that the two do not read alike. */
function apart(from: string, to: string): Pick<Difference, 'from' | 'to'> {
  if (from.length <= TEXT_LENGTH_MAX && to.length <= TEXT_LENGTH_MAX) return { from, to };
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same += 1;
  const cut = (text: string): string => {
    const rest = text.slice(same, same + TEXT_LENGTH_MAX).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
    return `${same > 0 ? '...' : ''}${rest}${same + TEXT_LENGTH_MAX < text.length ? '...' : ''}`;
  };
  return { from: from === '' ? '' : cut(from), to: to === '' ? '' : cut(to) };
}
