/**
 * Ids of steps and prompts: random to everybody outside, and yet the same again in a replay, because they follow from a
 * secret seed and a count (version 4, RFC 9562).
 */
import { createHash, randomBytes } from 'node:crypto';

export interface UuidState {
  readonly seed: Uint8Array;
  readonly count: number;
}

export class Uuids {
  #seed: Uint8Array = randomBytes(32);
  #count = 0;

  next(): string {
    this.#count += 1;
    const bytes = createHash('sha256').update(this.#seed).update(String(this.#count)).digest().subarray(0, 16);
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  snapshot(): UuidState {
    return { seed: Uint8Array.from(this.#seed), count: this.#count };
  }

  restore({ seed, count }: UuidState): void {
    this.#seed = seed;
    this.#count = count;
  }
}
