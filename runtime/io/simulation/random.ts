/** Pseudo-random streams of the simulation (decisions 6.6): equal configuration and tick count give equal values. */

/** FNV-1a, 32 bit, over the UTF-8 bytes. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** mulberry32; one stream per behaviour. */
export class RandomStream {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** r in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** u in [-1, 1). */
  uniform(): number {
    return 2 * this.next() - 1;
  }

  /** g, standard normal, Box-Muller from two draws; the first is taken as 1 - r, which is never 0. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}

export function streamOf(seed: number, module: string, address: string): RandomStream {
  return new RandomStream(fnv1a32(`${seed}/${module}/${address}`));
}
