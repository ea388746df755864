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
    return KeyFilter.ofProbes([...keys].map(probeOf));
  }

  /** @param probes each of another key. */
  static ofProbes(probes: readonly Probe[]): KeyFilter {
    const filter = new KeyFilter(new Uint8Array(Math.max(1, Math.ceil((probes.length * BITS_PER_KEY) / 8))));
    for (const probe of probes) filter.#add(probe);
    return filter;
  }

  equals(bytes: Uint8Array): boolean {
    return Buffer.compare(this.bytes, bytes) === 0;
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
