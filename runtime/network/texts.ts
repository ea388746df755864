/**
 * Texts in a network are numbers: the id of an entry of this table. Equal texts have equal ids, so a scan compares and
 * copies numbers only.
 *
 * Invariant: an id never changes its text while the worker lives, also when the text is forgotten because nothing uses it;
 * the words of the block library have the same ids in
 * every table, because generated code contains them as literals.
 */
import { BLOCK_TYPES } from '../blocks/index.js';
import { parseDecimal, parseInteger } from '../language/value-text.js';
import { compareText } from '../language/values.js';

export interface TextsState {
  readonly texts: readonly (readonly [number, string])[];
  readonly next: number;
  readonly since: number;
}

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

/** So many new texts make it worth while to look which of them are used; a look costs about as much as a scan. */
const SWEEP_AFTER = 10_000;
/** Most texts that can be in use. A plant uses a few dozen. */
const TEXTS_MAX = 100_000;

/** What is not kept: it reads as the empty text here, and as no value of quality Bad wherever it is shown. */
export const NO_TEXT = -1;

export interface TextListener {
  /** Called for every text before its id can appear in a published value. */
  readonly announce: (id: number, text: string) => void;
  /** Nothing has these ids any more, nor ever will again. */
  readonly release?: (ids: readonly number[]) => void;
}

export class TextTable {
  readonly #texts = new Map<number, string>(FIXED_TEXTS.map((text, id) => [id, text]));
  readonly #ids = new Map(FIXED_IDS);
  readonly #listener: TextListener;
  #next = FIXED_COUNT;
  /** New texts, and those there was no room for, since the last look. */
  #since = 0;

  constructor(listener: TextListener = { announce: () => {} }) {
    this.#listener = listener;
    FIXED_TEXTS.forEach((text, id) => {
      listener.announce(id, text);
    });
  }

  /** `NO_TEXT` when too many are in use. */
  intern(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    this.#since += 1;
    if (this.#texts.size >= TEXTS_MAX) return NO_TEXT;
    const id = this.#next;
    this.#next += 1;
    this.#texts.set(id, text);
    this.#ids.set(text, id);
    this.#listener.announce(id, text);
    return id;
  }

  /** Id of a text that is in the table. */
  idOf(text: string): number {
    return this.#ids.get(text) ?? NO_TEXT;
  }

  /** It is time to look which texts are used. */
  get isSweepDue(): boolean {
    return this.#since >= SWEEP_AFTER;
  }

  /**
   * Forgets every text whose id stands in none of the arrays, which hold all there is between two scans. Any number that
   * could be an id keeps its text: a few too many are kept, none too few.
   */
  sweep(arrays: readonly Float64Array[]): void {
    this.#since = 0;
    const used = new Set<number>();
    for (const array of arrays) {
      for (const id of array) if (id >= FIXED_COUNT && id < this.#next) used.add(id);
    }
    const released: number[] = [];
    for (const [id, text] of this.#texts) {
      if (id < FIXED_COUNT || used.has(id)) continue;
      this.#texts.delete(id);
      this.#ids.delete(text);
      released.push(id);
    }
    if (released.length > 0) this.#listener.release?.(released);
  }

  /** The id of the next new text. */
  get count(): number {
    return this.#next;
  }

  /** Texts in the order of their ids, from one on, as far as they are kept. */
  from(id: number): string[] {
    const texts: string[] = [];
    for (let n = id; n < this.#next; n += 1) {
      const text = this.#texts.get(n);
      if (text !== undefined) texts.push(text);
    }
    return texts;
  }

  /** For a replay that goes on from here; those before `FIXED_COUNT` are the same in every table. */
  snapshot(): TextsState {
    return { texts: [...this.#texts].filter(([id]) => id >= FIXED_COUNT), next: this.#next, since: this.#since };
  }

  restore({ texts, next, since }: TextsState): void {
    for (const [id, text] of texts) {
      this.#texts.set(id, text);
      this.#ids.set(text, id);
      this.#listener.announce(id, text);
    }
    this.#next = next;
    this.#since = since;
  }

  text(id: number): string {
    return this.#texts.get(id) ?? '';
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
