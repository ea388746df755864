/**
 * The scan clock: absolute deadlines on the monotonic clock, so that no error adds up. A period that was missed is skipped
 * and counted, never run twice; the blocks learn of it through the elapsed periods (decisions 5.1 rule 4).
 */

/** Sleeps for at most the given milliseconds; may return early. */
export type Sleep = (ms: number) => void;

export interface ClockParts {
  readonly monoMs: () => number;
  readonly sleep: Sleep;
}

/** Blocks the thread in `Atomics.wait` on a cell that nobody notifies: the finest wait a worker has. */
export function atomicsSleep(): Sleep {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  return (ms) => {
    Atomics.wait(cell, 0, 0, ms);
  };
}

/** How often a worker without a plan looks for one. */
const IDLE_PERIOD_MS = 5;

export class ScanClock {
  readonly #parts: ClockParts;
  #periodMs = IDLE_PERIOD_MS;
  #nextMs: number;
  /** How late the last scan began. */
  latenessMs = 0;
  /** Periods skipped since the start. */
  missed = 0;

  constructor(parts: ClockParts) {
    this.#parts = parts;
    this.#nextMs = parts.monoMs();
  }

  /** Wall period of a scan: the interval divided by the time scale (decisions 6.7). The next scan is due one period from now. */
  setPeriod(intervalMs: number, timeScale: number): void {
    const periodMs = intervalMs / timeScale;
    if (periodMs === this.#periodMs) return;
    this.#periodMs = periodMs;
    this.#nextMs = this.#parts.monoMs();
  }

  get periodMs(): number {
    return this.#periodMs;
  }

  /** Time until the next scan is due; negative when it is late already. */
  get restMs(): number {
    return this.#nextMs + this.#periodMs - this.#parts.monoMs();
  }

  /** Waits for the next deadline and tells how many periods have passed since the last one, at least 1. */
  wait(): number {
    this.#nextMs += this.#periodMs;
    let now = this.#parts.monoMs();
    while (now < this.#nextMs) {
      this.#parts.sleep(this.#nextMs - now);
      now = this.#parts.monoMs();
    }
    const skipped = Math.floor((now - this.#nextMs) / this.#periodMs);
    this.#nextMs += skipped * this.#periodMs;
    this.missed += skipped;
    this.latenessMs = now - this.#nextMs;
    return 1 + skipped;
  }
}
