/** The samples of one tag that are not yet a block in the database. They are in the journal, too. */
import type { MonoMs, WallMs } from '../base/times.js';
import { assert } from '../base/assert.js';
import type { Samples } from './block-codec.js';

export const BLOCK_SAMPLES = 600; // measured: longer blocks gain under 5 %
export const BLOCK_MS = 600_000;
const FIRST_CAPACITY = 32;
/** Places of the marks of a block; a sample at or after `endMs` is too late for it, one before `lastMs` too early. */
const MARK = { firstNumber: 0, lastNumber: 1, endMs: 2, lastMs: 3, touchedMonoMs: 4 } as const;

export class OpenBlock implements Samples {
  times = new Float64Array(FIRST_CAPACITY);
  values = new Float64Array(FIRST_CAPACITY);
  codes = new Uint16Array(FIRST_CAPACITY);
  count = 0;
  /** Numbers of which each sample changes some: in an array, because a field would hold each in an object of its own. */
  readonly #marks = Float64Array.of(0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0);

  /** Journal number of the first sample. */
  get firstNumber(): number {
    return this.#marks[MARK.firstNumber] as number;
  }

  /** Journal number of the last sample. */
  get lastNumber(): number {
    return this.#marks[MARK.lastNumber] as number;
  }

  /** Monotonic time at which the last sample came. */
  get touchedMonoMs(): number {
    return this.#marks[MARK.touchedMonoMs] as number;
  }

  get t0(): number {
    return this.times[0] as number;
  }

  get t1(): number {
    return this.times[this.count - 1] as number;
  }

  /** Whether a sample at that time belongs to another block: this one is full, too old, or the clock went back. */
  isComplete(atMs: WallMs): boolean {
    return atMs >= (this.#marks[MARK.endMs] as number) || atMs < (this.#marks[MARK.lastMs] as number) || this.count === BLOCK_SAMPLES;
  }

  push(number: number, code: number, atMs: WallMs, value: number, monoMs: MonoMs): void {
    const { count } = this;
    const marks = this.#marks;
    if (count === this.times.length) this.#grow();
    if (count === 0) {
      marks[MARK.firstNumber] = number;
      marks[MARK.endMs] = atMs + BLOCK_MS;
    }
    marks[MARK.lastNumber] = number;
    marks[MARK.lastMs] = atMs;
    marks[MARK.touchedMonoMs] = monoMs;
    this.times[count] = atMs;
    this.values[count] = code & 1 ? (count > 0 ? (this.values[count - 1] as number) : 0) : value; // no value: what compresses best
    this.codes[count] = code;
    this.count = count + 1;
  }

  clear(): void {
    this.count = 0;
    this.#marks[MARK.endMs] = Number.POSITIVE_INFINITY;
    this.#marks[MARK.lastMs] = Number.NEGATIVE_INFINITY;
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
  let index = from;
  while (index < to && codes[index] !== 0) index += 1;
  if (index === to) return { good: 0, min: null, max: null, sum: 0, first: null, last: null };
  const first = values[index] as number;
  let good = 0;
  let min = first;
  let max = first;
  let sum = 0;
  let last = first;
  for (; index < to; index += 1) {
    if (codes[index] !== 0) continue;
    last = values[index] as number;
    good += 1;
    sum += last;
    if (last < min) min = last;
    if (last > max) max = last;
  }
  return { good, min, max, sum, first, last };
}
