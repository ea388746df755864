/** Words of a language that is one file, laid over the English ones: what is missing in it, or is another kind of thing there, stays English. */

/** Words by member, as they stand in the English of the file that says them; a single text by itself. */
export interface Words {
  readonly [name: string]: unknown;
}

/** What a file of `languages/` exports. */
export interface LanguageFile {
  /** By the file that says them, as `views/prompts/prompts-view`. */
  readonly words: Readonly<Record<string, Words>>;
  /** What a refusal means, by its code. */
  readonly refusals?: Readonly<Record<string, string>>;
}

/** @param own words of the file in which the English ones stand. */
export function translated<T>(english: T, own: Words = {}): T {
  if (typeof english === 'string') return put(english, own[english]);
  return laidOver(english, own);
}

/** A word that English leaves as it comes from the box has no member there, and may have one here. */
function laidOver<T>(english: T, own: Words): T {
  const said = english as Words;
  return { ...english, ...Object.fromEntries(Object.entries(own).map(([name, told]) => [name, Object.hasOwn(said, name) ? put(said[name], told) : told])) };
}

function put<T>(english: T, own: unknown): T {
  if (kindOf(own) !== kindOf(english)) return english;
  return kindOf(english) === 'members' ? laidOver(english, own as Words) : (own as T);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'members' : typeof value;
}
