/** Sentences by the index of the manifest, or the removal, that they are told of. */
import { firstTold } from '../../platform/base/name-words.js';

/** Of one manifest; who reads them all has corrected none. */
export const TOLD_MAX = 10;

export type ToldByIndex = ReadonlyMap<number, readonly string[]>;

export class Telling {
  readonly #told = new Map<number, { readonly sentences: string[]; count: number }>();
  readonly #max: number;

  /** @param max kept of each; how many there are beside them is told as a number. */
  constructor(max = TOLD_MAX) {
    this.#max = max;
  }

  tell(index: number, sentences: readonly string[], count = sentences.length): void {
    if (count === 0) return;
    const own = this.#told.get(index) ?? { sentences: [], count: 0 };
    this.#told.set(index, own);
    own.count += count;
    for (const sentence of sentences) if (own.sentences.length < this.#max) own.sentences.push(sentence);
  }

  all(): ToldByIndex {
    return new Map([...this.#told].map(([index, { sentences, count }]) => [index, firstTold(sentences, sentences.length, count)]));
  }
}
