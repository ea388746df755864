/**
 * The first starts of unit runtimes, few at a time. Each takes a processor until its unit scans (a thread to load, a plan to prepare), and who
 * asks the gateway meanwhile must not wait behind all the units of a plant that was just applied: one processor stays free for it.
 * Who scanned before does not wait here: a unit of a box that was started again, and a runtime that was lost.
 */
import { availableParallelism } from 'node:os';
import type { Clock } from '../../platform/base/clock.js';

/** One that does not come to scan by then is no longer waited for: it holds up nobody but itself. */
const HOLDS_UP_MS = 2000;

export interface Starting {
  /** It is its turn. */
  host(): void;
}

export class StartQueue {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #max: number;
  readonly #waiting = new Set<Starting>();
  /** Those that start now, and how the look at their time is called off. */
  readonly #under = new Map<Starting, () => void>();

  constructor(clock: Pick<Clock, 'after'>, max = Math.max(1, availableParallelism() - 1)) {
    this.#clock = clock;
    this.#max = max;
  }

  enter(one: Starting): void {
    this.#waiting.add(one);
    this.#next();
  }

  /** It scans, or is gone, or is no longer to be started. */
  leave(one: Starting): void {
    this.#waiting.delete(one);
    const callOff = this.#under.get(one);
    if (!callOff) return;
    this.#under.delete(one);
    callOff();
    this.#next();
  }

  /** Nobody else begins. */
  close(): void {
    this.#waiting.clear();
  }

  #next(): void {
    for (const one of this.#waiting) {
      if (this.#under.size >= this.#max) return;
      this.#waiting.delete(one);
      this.#under.set(
        one,
        this.#clock.after(HOLDS_UP_MS, () => this.leave(one)),
      );
      one.host();
    }
  }
}
