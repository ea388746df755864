/**
 * A member that stands at the wrong level: many an unknown member of a file is a known one that is indented by too little or too much.
 * One level up, two levels down, and beside: further away a name means something else. Pure.
 */
import type { Shape } from './sent-back.js';

/** Of a path through a body: the member, and what it stands in. */
export interface PathItem {
  readonly key: unknown;
  readonly input: unknown;
}

export interface OtherLevel {
  /** Where it is known, `spec.tags[].blockRef`; one at least. */
  readonly paths: readonly string[];
  /** What to do, in the words of whoever writes the file. */
  readonly words: string;
}

/** More places than these say nothing. */
const PLACES_MAX = 2;

interface Level {
  readonly shape: Shape;
  readonly input: unknown;
  /** From the body, '' for itself. */
  readonly path: string;
}

/** @param path ends with the member, which is not known where it stands. @returns undefined where it is not known at a level near it either. */
export function otherLevelOf(shape: Shape, path: readonly PathItem[]): OtherLevel | undefined {
  const member = String(path.at(-1)?.key);
  const levels = levelsOf(shape, path);
  const [here, above] = levels.toReversed();
  if (!here) return undefined;
  const out = above && `${lastWordOf(here, above)}:`;
  const below = (levels: readonly Level[], from?: Level): OtherLevel | undefined => told(member, levels, (under) => `indent it under ${under}`, from);
  const beside = (levels: readonly Level[]): OtherLevel | undefined => told(member, levels, (under) => `take it out of ${out} it belongs under ${under}`);
  const children = childrenOf(here);
  const siblings = above ? childrenOf(above).filter(({ path: of }) => of !== here.path) : [];
  return (
    below(children.filter(isObject)) ??
    (above && knows(above, member) ? { paths: [joined(above.path, member)], words: `take it out of ${out}` } : undefined) ??
    // what a list is made of has names as everything has: an object is meant before
    beside(siblings.filter(isObject)) ??
    below(children) ??
    below(children.flatMap(childrenOf), here) ??
    beside(siblings)
  );
}

function isObject({ path }: Level): boolean {
  return !path.endsWith('[]');
}

function told(member: string, levels: readonly Level[], wordsOf: (under: string) => string, from?: Level): OtherLevel | undefined {
  const found = levels.filter((level) => knows(level, member));
  if (found.length === 0 || found.length > PLACES_MAX) return undefined;
  const names = found.map(({ path }) => {
    const name = from ? path.slice(from.path === '' ? 0 : from.path.length + 1) : path.replace(/^.*\.(?=[^.])/, '');
    return name.endsWith('[]') ? `an entry of ${name.slice(0, -2)}:` : `${name}:`;
  });
  return { paths: found.map(({ path }) => joined(path, member)), words: wordsOf(names.join(' or ')) };
}

/** The objects around the member, the outermost first; none where one of them has alternatives. */
function levelsOf(shape: Shape, path: readonly PathItem[]): readonly Level[] {
  const levels: Level[] = [];
  let [at, text]: [Shape | undefined, string] = [shape, ''];
  for (const { key, input } of path) {
    const level: Shape | undefined = at && unwrapped(at, input);
    if (!level) return [];
    if (typeof key === 'number') [at, text] = [level.item, `${text}[]`];
    else {
      if (!level.entries) return [];
      levels.push({ shape: level, input, path: text });
      [at, text] = [Object.hasOwn(level.entries, String(key)) ? level.entries[String(key)] : undefined, joined(text, String(key))];
    }
  }
  return levels;
}

/** Members that are objects, and lists of objects by their entries. */
function childrenOf({ shape, input, path }: Level): readonly Level[] {
  return Object.entries(shape.entries ?? {}).flatMap(([name, entry]): Level[] => {
    const value = memberOf(input, name);
    const child = unwrapped(entry, value);
    if (child?.entries) return [{ shape: child, input: value, path: joined(path, name) }];
    const first = Array.isArray(value) ? (value as readonly unknown[])[0] : undefined;
    const item = child?.item && unwrapped(child.item, first);
    return item?.entries ? [{ shape: item, input: first, path: `${joined(path, name)}[]` }] : [];
  });
}

function knows({ shape }: Level, member: string): boolean {
  return shape.entries !== undefined && Object.hasOwn(shape.entries, member);
}

function memberOf(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, name) ? (input as Readonly<Record<string, unknown>>)[name] : undefined;
}

function lastWordOf(here: Level, above: Level): string {
  return here.path.slice(above.path === '' ? 0 : above.path.length + 1).replaceAll('[]', '');
}

function joined(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}

/** What a getter says of nothing is not asked. */
function unwrapped(shape: Shape, input: unknown): Shape | undefined {
  let at: Shape | undefined = shape;
  while (at && (at.wrapped || at.type === 'lazy')) at = at.wrapped ?? (input === undefined ? undefined : at.getter?.(input));
  return at;
}
