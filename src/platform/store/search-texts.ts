/**
 * What a search looks at of the entries of one kind and site: the texts of some members of each, in small letters and in UTF-8, one
 * behind the other, so that one look goes over hundreds of entries. Made by the first search, in slices; later ones add what has come.
 *
 * Invariant: it has the texts of every row that was ever given. One that has left since stands in no list that is asked for then.
 */
import { systemClock } from '../base/clock.js';
import { SlicedWalk } from '../base/slices.js';
import type { PackedEntries } from './packed-entries.js';

/** Some hundred entries: what is looked at between two looks at the clock is some megabytes of them. */
const BLOCK_BYTES = 2 ** 14;
/** Stands behind each text: no UTF-8 has it, so that nothing is found across two of them. */
const END = 0xff;
/** Stands in UTF-8 for half a character, too, which a text may have: who asks for it reads the texts. */
const REPLACED = '\ufffd';

class Block {
  readonly bytes: Buffer;
  readonly rows: number[] = [];
  /** Where the texts of each row end. */
  readonly ends: number[] = [];

  constructor(size: number) {
    this.bytes = Buffer.alloc(size, END);
  }

  get end(): number {
    return this.ends.at(-1) ?? 0;
  }
}

/** Rows by a bit of each: two never begin within eight bytes. */
class RowSet {
  readonly #bits: Uint32Array;

  constructor(highest: number) {
    this.#bits = new Uint32Array((highest >>> 8) + 1);
  }

  add(row: number): void {
    this.#bits[row >>> 8] = (this.#bits[row >>> 8] as number) | (1 << ((row >>> 3) & 31));
  }

  has(row: number): boolean {
    return (((this.#bits[row >>> 8] ?? 0) >>> ((row >>> 3) & 31)) & 1) === 1;
  }
}

export class SearchTexts {
  readonly #entries: PackedEntries;
  readonly #members: readonly string[];
  readonly #blocks: Block[] = [];
  #waiting: number[];
  /** Of those that wait. */
  #taken = 0;
  #highest = 0;

  /** `rows`: those that are there, and those that were. */
  constructor(entries: PackedEntries, members: readonly string[], rows: number[]) {
    this.#entries = entries;
    this.#members = members;
    this.#waiting = rows;
  }

  add(row: number): void {
    this.#waiting.push(row);
  }

  /** Whether one of the members holds a text, which is in small letters. */
  async find(wanted: string): Promise<(row: number) => boolean> {
    const bytes = Buffer.from(wanted);
    if (bytes.includes(REPLACED)) return (row) => this.#textsOf(row).some((text) => text.includes(wanted));
    const walk = new SlicedWalk(systemClock);
    while (this.#taken < this.#waiting.length) {
      const pause = walk.pause();
      if (pause) await pause;
      this.#take();
    }
    const found = new RowSet(this.#highest);
    for (const { bytes: texts, rows, ends } of [...this.#blocks]) {
      let n = 0;
      for (let at = texts.indexOf(bytes); at !== -1; at = texts.indexOf(bytes, ends[n])) {
        const pause = walk.pause();
        if (pause) await pause;
        while ((ends[n] as number) <= at) n += 1;
        found.add(rows[n] as number);
      }
      const pause = walk.pause();
      if (pause) await pause;
    }
    return (row) => found.has(row);
  }

  #textsOf(row: number): string[] {
    return this.#entries.textsOf(row, this.#members).map((text) => text.toLowerCase());
  }

  /** The next that waits; another search may have taken it while this one paused. */
  #take(): void {
    const row = this.#waiting[this.#taken];
    if (row === undefined) return;
    const texts = this.#textsOf(row)
      .filter((text) => text !== '')
      .map((text) => Buffer.from(text));
    const size = texts.reduce((sum, { length }) => sum + length + 1, 0);
    let block = this.#blocks.at(-1);
    if (!block || block.end + size > block.bytes.length) this.#blocks.push((block = new Block(Math.max(size, BLOCK_BYTES))));
    let at = block.end;
    for (const text of texts) {
      text.copy(block.bytes, at);
      at += text.length + 1; // behind it is what a block is full of
    }
    block.rows.push(row);
    this.#highest = Math.max(this.#highest, row);
    block.ends.push(at);
    this.#taken += 1;
    if (this.#taken === this.#waiting.length) [this.#waiting, this.#taken] = [[], 0];
  }
}
