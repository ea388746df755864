/**
 * The ring through which samples reach the historian thread: a SharedArrayBuffer with one writer (the gateway) and one
 * reader, so that a stalled historian never holds anybody up. When it is full samples are dropped and counted.
 *
 * Layout: 64-byte Int32 header, then slots of 24 bytes (uint32 tag, uint32 code, float64 wall ms, float64 value).
 */
import type { WallMs } from '../base/times.js';
import { assert } from '../base/assert.js';

export const SLOT_BYTES = 24;
const HEADER_BYTES = 64;
const HEADER = { written: 0, read: 1, fault: 2 } as const;

/** Why the reader does not read at the moment. */
export const RING_FAULT = { none: 0, storage: 1 } as const;

export class SampleRing {
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
  readonly #header: Int32Array;
  readonly #words: Uint32Array;
  readonly #floats: Float64Array;
  /** Turns a counter into the number of a slot. */
  readonly #mask: number;
  /** What the writer last saw of the reader's counter, which only rises: looked at anew when the ring seems full. */
  #readSeen: number;

  constructor(capacity: number, buffer: SharedArrayBuffer = new SharedArrayBuffer(HEADER_BYTES + capacity * SLOT_BYTES)) {
    assert((capacity & (capacity - 1)) === 0, 'the counters of a ring wrap around, so its capacity is a power of two');
    this.buffer = buffer;
    this.capacity = capacity;
    this.#header = new Int32Array(buffer, 0, 16);
    this.#words = new Uint32Array(buffer, HEADER_BYTES, capacity * 6);
    this.#floats = new Float64Array(buffer, HEADER_BYTES, capacity * 3);
    this.#mask = capacity - 1;
    this.#readSeen = Atomics.load(this.#header, HEADER.read);
  }

  /** Samples that wait for the reader. */
  get depth(): number {
    return (Atomics.load(this.#header, HEADER.written) - Atomics.load(this.#header, HEADER.read)) >>> 0;
  }

  get fault(): number {
    return Atomics.load(this.#header, HEADER.fault);
  }

  set fault(fault: number) {
    Atomics.store(this.#header, HEADER.fault, fault);
  }

  /** False when the ring is full: the sample is lost. */
  push(tag: number, code: number, atMs: WallMs, value: number): boolean {
    const written = this.#header[HEADER.written] as number;
    if ((written - this.#readSeen) >>> 0 >= this.capacity) {
      this.#readSeen = Atomics.load(this.#header, HEADER.read);
      if ((written - this.#readSeen) >>> 0 >= this.capacity) return false;
    }
    const slot = written & this.#mask;
    this.#words[slot * 6] = tag;
    this.#words[slot * 6 + 1] = code;
    this.#floats[slot * 3 + 1] = atMs;
    this.#floats[slot * 3 + 2] = value;
    Atomics.store(this.#header, HEADER.written, (written + 1) | 0);
    return true;
  }

  /** Wall time of the oldest sample that waits; null when none does. */
  get oldestMs(): number | null {
    if (this.depth === 0) return null;
    return this.#floats[((this.#header[HEADER.read] as number) & this.#mask) * 3 + 1] as number;
  }

  /** The waiting slots in at most two pieces, as raw bytes in the shared buffer; `advance` gives them back. */
  pieces(): readonly Uint8Array[] {
    const count = this.depth;
    const first = (this.#header[HEADER.read] as number) & this.#mask;
    const head = Math.min(count, this.capacity - first);
    const piece = (from: number, slots: number): Uint8Array => new Uint8Array(this.buffer, HEADER_BYTES + from * SLOT_BYTES, slots * SLOT_BYTES);
    if (count === 0) return [];
    return head === count ? [piece(first, head)] : [piece(first, head), piece(0, count - head)];
  }

  advance(slots: number): void {
    Atomics.store(this.#header, HEADER.read, ((this.#header[HEADER.read] as number) + slots) | 0);
  }
}
