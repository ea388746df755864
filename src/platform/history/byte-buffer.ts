/** A growing byte buffer with the integers that sample blocks are made of (LEB128 varints, zigzag for signed). */
const TWO_31 = 2 ** 31;

export class ByteWriter {
  #bytes: Uint8Array;
  length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  reset(): void {
    this.length = 0;
  }

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    let rest = value;
    while (rest >= TWO_31) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.byte((rest & 127) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** A whole number between plus and minus 2^52. */
  signed(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  float(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#grow(8);
    new DataView(this.#bytes.buffer).setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** The bytes themselves, with room for so many more behind `length`, for a loop that writes there and sets `length` after it. */
  room(more: number): Uint8Array {
    if (this.length + more > this.#bytes.length) this.#grow(more);
    return this.#bytes;
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of what was written, in the form that SQLite binds. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.length);
    taken.set(this.#bytes.subarray(0, this.length));
    return taken;
  }

  #grow(atLeast: number): void {
    const bytes = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + atLeast));
    bytes.set(this.#bytes.subarray(0, this.length));
    this.#bytes = bytes;
  }
}

/** A block that was damaged on the disk is read no further. */
export class DamagedBlock extends Error {
  constructor(what: string) {
    super(`the block of samples ${what}: it is damaged`);
  }
}

export class ByteReader {
  /** For a loop that reads there itself, from `position` on, and sets it after. */
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  byte(): number {
    return this.#read();
  }

  varint(): number {
    let value = 0;
    let weight = 1;
    for (;;) {
      const byte = this.#read();
      if (byte < 128) return value + byte * weight;
      value += (byte - 128) * weight;
      weight *= 128;
    }
  }

  /** @throws DamagedBlock where the bytes end before what they hold. */
  #read(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw new DamagedBlock('ends before its last sample');
    this.position += 1;
    return byte;
  }

  signed(): number {
    const first = this.bytes[this.position];
    if (first !== undefined && first < 128) {
      this.position += 1; // most differences of process values
      return (first & 1) === 0 ? first >> 1 : -((first + 1) >> 1);
    }
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** How often what was read comes, where `room` places are left for it. @throws DamagedBlock where there are fewer. */
  run(room: number): number {
    const run = this.varint();
    if (run > room) throw new DamagedBlock('holds more than its samples');
    return run;
  }

  float(): number {
    const value = new DataView(this.bytes.buffer, this.bytes.byteOffset).getFloat64(this.position, true);
    this.position += 8;
    return value;
  }

  /** The rest of the bytes, or the next `length`. */
  rest(length = this.bytes.length - this.position): Uint8Array {
    const bytes = this.bytes.subarray(this.position, this.position + length);
    this.position += length;
    return bytes;
  }
}
