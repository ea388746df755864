/**
 * A Bloom filter: says of a key that it is not there, or that it may be. Twelve bits a key and seven looks give one wrong
 * `may be` in some 300; there is no wrong `not`.
 */
import { hash } from 'node:crypto';

const BITS_PER_KEY = 12;
const LOOKS = 7;

export class KeyFilter {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  static of(keys: ReadonlySet<string>): KeyFilter {
    const filter = new KeyFilter(new Uint8Array(Math.max(1, Math.ceil((keys.size * BITS_PER_KEY) / 8))));
    for (const key of keys) filter.#add(probeOf(key));
    return filter;
  }

  mayHave({ from, step }: Probe): boolean {
    const bits = this.bytes.length * 8;
    for (let look = 0; look < LOOKS; look += 1) {
      const bit = (from + look * step) % bits;
      if (((this.bytes[bit >> 3] as number) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }

  #add({ from, step }: Probe): void {
    const bits = this.bytes.length * 8;
    for (let look = 0; look < LOOKS; look += 1) {
      const bit = (from + look * step) % bits;
      this.bytes[bit >> 3] = (this.bytes[bit >> 3] as number) | (1 << (bit & 7));
    }
  }
}

/** Where a key is looked for: the same in every filter, so it is hashed once. */
export interface Probe {
  readonly from: number;
  readonly step: number;
}

export function probeOf(key: string): Probe {
  const digest = hash('sha1', key, 'buffer');
  return { from: digest.readUInt32LE(0), step: digest.readUInt32LE(4) };
}
