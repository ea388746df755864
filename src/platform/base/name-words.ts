/** Names in sentences: those that there are, and the one that was probably meant. */
import { nearest } from './nearest.js';

const NAMES_MAX = 10;

export function listed(names: readonly string[]): string {
  return names.length <= NAMES_MAX ? names.join(', ') : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`;
}

/** ` (the nearest is reactor)` behind a name that there is not; '' where none is near. */
export function nearWords(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (the nearest is ${near})`;
}

/** Names for which the nearest is looked for: each is compared with all that there are, and nobody reads more. */
const NEAR_MAX = 20;

/** `nearWords` of a list of sentences: of the first of them. */
export function nearing(): typeof nearWords {
  let looked = 0;
  return (word, known) => {
    looked += 1;
    return looked > NEAR_MAX ? '' : nearWords(word, known);
  };
}
