/**
 * Texts in a network are numbers: the id of an entry of this table. Equal texts have equal ids, so a scan compares and
 * copies numbers only.
 *
 * Invariant: an id never changes its text while the worker lives; the words of the block library have the same ids in
 * every table, because generated code contains them as literals.
 */
import { BLOCK_TYPES } from '../blocks/index.js';
import { parseDecimal, parseInteger } from '../language/value-text.js';
import { compareText } from '../language/values.js';

/** Id 0 is the empty text, the start value of every STRING port. */
const FIXED_TEXTS: readonly string[] = [...new Set(['', ...BLOCK_TYPES.flatMap((type) => [...(type.stateWords ?? []), ...type.fixedTexts])])];
const FIXED_IDS = new Map(FIXED_TEXTS.map((text, id) => [text, id]));

/** Number of texts that every table has under the same ids. */
export const FIXED_COUNT = FIXED_TEXTS.length;

/** Id of a word of the block library. */
export function fixedText(word: string): number {
  const id = FIXED_IDS.get(word);
  if (id === undefined) throw new Error(`"${word}" is no text of the block library`);
  return id;
}

/** Most texts kept; beyond it every new text reads as the last entry. A plant writes a few dozen. */
const TEXTS_MAX = 1_000_000;

export class TextTable {
  readonly #texts: string[] = [...FIXED_TEXTS];
  readonly #ids = new Map(FIXED_IDS);
  readonly #announce: (id: number, text: string) => void;

  /** `announce` is called for every text before its id can appear in a published value. */
  constructor(announce: (id: number, text: string) => void = () => {}) {
    this.#announce = announce;
    FIXED_TEXTS.forEach((text, id) => {
      announce(id, text);
    });
  }

  intern(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.#texts.length;
    if (id >= TEXTS_MAX) return id - 1;
    this.#texts.push(text);
    this.#ids.set(text, id);
    this.#announce(id, text);
    return id;
  }

  /** Number of texts, which is the id of the next new one. */
  get count(): number {
    return this.#texts.length;
  }

  /** Texts in the order of their ids, from one on; those before `FIXED_COUNT` are the same in every table. */
  from(id: number): string[] {
    return this.#texts.slice(id);
  }

  text(id: number): string {
    return this.#texts[id] ?? '';
  }

  /** Order by Unicode code point (decisions 4.4). */
  compare(left: number, right: number): number {
    return left === right ? 0 : compareText(this.text(left), this.text(right));
  }

  /** TO_REAL of a text; NaN, which becomes a block error, when it is no number. */
  real(id: number): number {
    return parseDecimal(this.text(id)) ?? Number.NaN;
  }

  integer(id: number): number {
    const value = parseInteger(this.text(id));
    return value === null ? Number.NaN : Number(value);
  }

  truth(id: number): number {
    const word = this.text(id).toUpperCase();
    if (word === 'TRUE') return 1;
    return word === 'FALSE' ? 0 : Number.NaN;
  }
}
