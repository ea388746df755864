/**
 * The latched inputs of a scan as bytes: of all cells only those whose bits differ from the scan before.
 *
 * Per changed cell: a varint with the number of unchanged cells before it (plus one) and, in its lowest bit, whether its
 * bits are those of the number written last; then 8 bytes of a number, or 1 byte of a code. Zero ends the list. The numbers
 * begin with the monotonic time of the scan, because live signs bear it; samples mostly bear the time of their module.
 */
import type { MonoMs } from '../vocabulary/times.js';
import { assert } from '../vocabulary/assert.js';
import type { IoLink } from '../network/io-link.js';

/** Worst case of one cell: a varint of 5 bytes and a number. */
const CELL_BYTES_MAX = 13;

/** Writes into a buffer that the caller keeps large enough. */
export class ByteWriter {
  bytes = new Uint8Array(0);
  at = 0;
  readonly #number = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#number.buffer);

  byte(value: number): void {
    this.bytes[this.at] = value;
    this.at += 1;
  }

  varint(value: number): void {
    let left = value;
    while (left > 0x7f) {
      this.byte((left & 0x7f) | 0x80);
      left >>>= 7;
    }
    this.byte(left);
  }

  word(value: number): void {
    this.byte(value & 0xff);
    this.byte((value >>> 8) & 0xff);
    this.byte((value >>> 16) & 0xff);
    this.byte(value >>> 24);
  }

  number(value: number): void {
    this.#number[0] = value;
    for (const half of this.#halves) this.word(half);
  }
}

export class ByteReader {
  readonly bytes: Uint8Array;
  at = 0;
  readonly #halves = new Uint32Array(2);
  readonly #number = new Float64Array(this.#halves.buffer);

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const next = this.bytes[this.at];
    if (next === undefined) throw new Error('the recorded inputs end within a scan');
    this.at += 1;
    return next;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const next = this.byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value >>> 0;
    }
  }

  word(): number {
    return (this.byte() | (this.byte() << 8) | (this.byte() << 16) | (this.byte() << 24)) >>> 0;
  }

  number(): number {
    this.#halves[0] = this.word();
    this.#halves[1] = this.word();
    return this.#number[0] as number; // has one
  }
}

interface Cells<Words> {
  /** As the scan sees them. */
  readonly now: Words;
  /** As the scan before has seen them. */
  readonly before: Words;
}

/** All cells of the channels of one plan; zero before its first scan. */
export class InputCells {
  readonly #numbers: readonly Cells<Uint32Array>[];
  readonly #codes: readonly Cells<Uint8Array>[];
  readonly #halves = new Uint32Array(2);
  readonly #number = new Float64Array(this.#halves.buffer);
  /** Bytes that a scan needs at most. */
  readonly bytesMax: number;

  constructor(io: IoLink) {
    const words = (values: Float64Array, count: number): Cells<Uint32Array> => ({
      now: new Uint32Array(values.buffer, values.byteOffset, 2 * count),
      before: new Uint32Array(2 * count),
    });
    const codes = (values: Uint8Array, count: number): Cells<Uint8Array> => ({ now: values.subarray(0, count), before: new Uint8Array(count) });
    const { none, images } = io;
    this.#numbers = [words(io.aliveMonoMs, images.length), words(io.sampledAtMs, none), words(io.value, none), words(io.readback, none), words(io.ack, none)];
    this.#codes = [codes(io.quality, none), codes(io.answered, none), codes(io.stale, none), codes(io.reach, images.length)];
    for (const { now, before } of [...this.#numbers, ...this.#codes]) assert(now.length === before.length, 'each cell has its value of the scan before');
    this.bytesMax = 1 + CELL_BYTES_MAX * (images.length + 4 * none) + 6 * (3 * none + images.length);
  }

  write(out: ByteWriter, monoMs: MonoMs): void {
    this.#number[0] = monoMs;
    let low = this.#halves[0] as number; // has two
    let high = this.#halves[1] as number;
    let skipped = 0;
    for (const { now, before } of this.#numbers) {
      for (let at = 0; at < now.length; at += 2) {
        const a = now[at] as number;
        const b = now[at + 1] as number;
        if (a === before[at] && b === before[at + 1]) {
          skipped += 1;
          continue;
        }
        before[at] = a;
        before[at + 1] = b;
        const same = a === low && b === high;
        out.varint(((skipped + 1) << 1) | (same ? 1 : 0));
        skipped = 0;
        if (same) continue;
        out.word(a);
        out.word(b);
        low = a;
        high = b;
      }
    }
    for (const { now, before } of this.#codes) {
      for (let at = 0; at < now.length; at += 1) {
        const code = now[at] as number;
        if (code === before[at]) {
          skipped += 1;
          continue;
        }
        before[at] = code;
        out.varint((skipped + 1) << 1);
        out.byte(code);
        skipped = 0;
      }
    }
    out.varint(0);
  }

  /** Gives the cells what the scan saw then. */
  read(from: ByteReader, monoMs: MonoMs): void {
    this.#number[0] = monoMs;
    let cell = -1;
    for (let key = from.varint(); key !== 0; key = from.varint()) {
      cell += key >>> 1;
      this.#readCell(from, cell, (key & 1) === 1);
    }
    for (const { now, before } of this.#numbers) now.set(before);
    for (const { now, before } of this.#codes) now.set(before);
  }

  #readCell(from: ByteReader, cell: number, same: boolean): void {
    let at = cell;
    for (const { before } of this.#numbers) {
      const count = before.length / 2;
      if (at >= count) {
        at -= count;
        continue;
      }
      if (!same) {
        this.#halves[0] = from.word();
        this.#halves[1] = from.word();
      }
      before.set(this.#halves, 2 * at);
      return;
    }
    for (const { before } of this.#codes) {
      if (at < before.length) {
        before[at] = from.byte();
        return;
      }
      at -= before.length;
    }
    throw new Error(`the recorded inputs name cell ${cell}, which the plan does not have`);
  }
}
