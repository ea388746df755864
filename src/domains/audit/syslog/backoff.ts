/** How long a receiver is left alone: twice as long after each failure, and no two boxes of a plant come back at the same moment. */
const MIN_MS = 1000;
const MAX_MS = 60_000;

export class Backoff {
  readonly #random: () => number;
  readonly #minMs: number;
  #nextMs: number;

  /** `random` gives 0 to 1. */
  constructor(random: () => number = Math.random, minMs = MIN_MS) {
    this.#random = random;
    this.#minMs = minMs;
    this.#nextMs = minMs;
  }

  /** Between a half and the whole of the pause. */
  next(): number {
    const pauseMs = this.#nextMs * (0.5 + this.#random() / 2);
    this.#nextMs = Math.min(MAX_MS, this.#nextMs * 2);
    return pauseMs;
  }

  reset(): void {
    this.#nextMs = this.#minMs;
  }
}
