/** The samples of one tag that are not yet a block in the database. They are in the journal, too. */
import { assert } from '../base/assert.js';
import type { Samples } from './block-codec.js';

export const BLOCK_SAMPLES = 600; // measured: longer blocks gain under 5 %
export const BLOCK_MS = 600_000;
const FIRST_CAPACITY = 32;

export class OpenBlock implements Samples {
  times = new Float64Array(FIRST_CAPACITY);
  values = new Float64Array(FIRST_CAPACITY);
  codes = new Uint16Array(FIRST_CAPACITY);
  count = 0;
  /** Journal number of the first and of the last sample. */
  firstNumber = 0;
  lastNumber = 0;

  get t0(): number {
    return this.times[0] as number;
  }

  get t1(): number {
    return this.times[this.count - 1] as number;
  }

  /** Whether a sample at that time belongs to another block: this one is full, too old, or the clock went back. */
  isComplete(atMs: number): boolean {
    return this.count > 0 && (this.count >= BLOCK_SAMPLES || atMs - (this.times[0] as number) >= BLOCK_MS || atMs < (this.times[this.count - 1] as number));
  }

  push(number: number, code: number, atMs: number, value: number): void {
    const { count } = this;
    if (count === this.times.length) this.#grow();
    if (count === 0) this.firstNumber = number;
    this.lastNumber = number;
    this.times[count] = atMs;
    this.values[count] = code & 1 ? (count > 0 ? (this.values[count - 1] as number) : 0) : value; // no value: what compresses best
    this.codes[count] = code;
    this.count = count + 1;
  }

  clear(): void {
    this.count = 0;
  }

  #grow(): void {
    const capacity = Math.min(BLOCK_SAMPLES, this.times.length * 2);
    this.times = enlarged(this.times, capacity);
    this.values = enlarged(this.values, capacity);
    const codes = new Uint16Array(capacity);
    codes.set(this.codes);
    this.codes = codes;
  }
}

function enlarged(values: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity);
  larger.set(values);
  return larger;
}

/** The columns beside the bytes of a block; only Good samples with a value count. */
export interface Summary {
  readonly good: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly sum: number;
  readonly first: number | null;
  readonly last: number | null;
}

/** Of the samples from index `from` to before `to`. */
export function summarise(samples: Samples, from = 0, to = samples.count): Summary {
  const { values, codes } = samples;
  assert(to <= values.length && to <= codes.length, 'a summary is of samples that are there');
  let good = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let first: number | null = null;
  let last = 0;
  for (let index = from; index < to; index += 1) {
    if (codes[index] !== 0) continue;
    const value = values[index] as number;
    good += 1;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
    first ??= value;
    last = value;
  }
  return good === 0 ? { good, min: null, max: null, sum: 0, first: null, last: null } : { good, min, max, sum, first, last };
}
