/** Names in sentences: those that there are, and the one that was probably meant; and how a list of sentences ends. */
import { nearest, type NearestWork } from './nearest.js';

const NAMES_MAX = 10;

export function listed(names: readonly string[]): string {
  return names.length <= NAMES_MAX ? names.join(', ') : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`;
}

/** The first sentences of a list, and how many there are beside them. */
export function firstTold(sentences: readonly string[], max: number, all = sentences.length): readonly string[] {
  return all <= max ? sentences : [...sentences.slice(0, max), `and ${all - max} more of this kind`];
}

/** Names for which the nearest is looked for: each is compared with all that there are, and nobody reads more. */
const NEAR_MAX = 20;
/** Letters compared for all of them, some ten milliseconds of work. */
const LETTERS_MAX = 1_000_000;

/** The names that were probably meant in one document with all that it is made of: looked for as long as the work is little. */
export class Nearing {
  readonly #work: NearestWork = { left: LETTERS_MAX };
  #looked = 0;

  /** Undefined where none is near, and where enough was looked for. */
  find(word: string, known: readonly string[]): string | undefined {
    this.#looked += 1;
    return this.#looked > NEAR_MAX ? undefined : nearest(word, known, this.#work);
  }

  /** ` (the nearest is reactor)` behind a name that there is not; '' where none is near. */
  words(word: string, known: readonly string[]): string {
    const near = this.find(word, known);
    return near === undefined ? '' : ` (the nearest is ${near})`;
  }
}
