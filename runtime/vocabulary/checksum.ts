import { assert } from './assert.js';

/**
 * A 64-bit checksum over numbers and words, made in place: what a recording notes of a scan, and what its replay must meet.
 *
 * It compares bits, so that 0 and -0 differ; every NaN counts as the same one, because the processor and the compiler
 * choose its bits differently for the same operation.
 */
export class Checksum {
  #low = 0;
  #high = 0;
  readonly #number = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#number.buffer);

  reset(): this {
    this.#low = 0x9e3779b9 | 0;
    this.#high = 0x85ebca6b | 0;
    return this;
  }

  /** Two unsigned halves. */
  get low(): number {
    return this.#low >>> 0;
  }

  get high(): number {
    return this.#high >>> 0;
  }

  /** `words` is a view of an array of Float64, low half first. */
  floats(words: Uint32Array): void {
    assert(words.length % 2 === 0, 'a Float64 has two words');
    let low = this.#low;
    let high = this.#high;
    for (let at = 0; at < words.length; at += 2) {
      let a = words[at] as number;
      let b = words[at + 1] as number;
      if ((b & 0x7ff00000) === 0x7ff00000 && ((b & 0xfffff) | a) !== 0) {
        a = 0;
        b = 0x7ff80000;
      }
      low = Math.imul(low ^ a, 0xcc9e2d51);
      low = (low << 15) | (low >>> 17);
      high = Math.imul(high ^ b ^ low, 0x1b873593);
      high = (high << 13) | (high >>> 19);
    }
    this.#low = low;
    this.#high = high;
  }

  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.integer(byte);
  }

  integer(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0xcc9e2d51);
    this.#low = (this.#low << 15) | (this.#low >>> 17);
    this.#high = Math.imul(this.#high ^ this.#low, 0x1b873593);
  }

  number(value: number): void {
    this.#number[0] = value;
    this.floats(this.#halves);
  }

  text(text: string): void {
    this.integer(text.length);
    for (let at = 0; at < text.length; at += 1) this.integer(text.charCodeAt(at));
  }
}
