/**
 * Elapsed time. An instant of the wall clock is for people and records; how long something took, and whether it is over,
 * is asked of these two only, so that nothing starts, holds, fails, expires or repeats because somebody set the clock.
 *
 * Both live as long as their thread. What must outlive a restart keeps `elapsedMs` or `remainingMs` and goes on from it:
 * the time in between is unknown, and who reads it back decides which side is the safe one.
 */
import type { Clock } from './clock.js';
import type { DurationMs, MonoMs } from './times.js';

type Monotonic = Pick<Clock, 'monoMs'>;

/** How long ago something was, in ms. */
export class Stopwatch {
  readonly #clock: Monotonic;
  #sinceMonoMs: MonoMs;

  /** `earlierMs`: what had passed before, for one that goes on after a restart. */
  constructor(clock: Monotonic, earlierMs: DurationMs = 0) {
    this.#clock = clock;
    this.#sinceMonoMs = clock.monoMs() - earlierMs;
  }

  get elapsedMs(): DurationMs {
    return this.#clock.monoMs() - this.#sinceMonoMs;
  }

  restart(): void {
    this.#sinceMonoMs = this.#clock.monoMs();
  }
}

/** When something is over. */
export class Deadline {
  readonly #clock: Monotonic;
  readonly #dueMonoMs: MonoMs;

  constructor(clock: Monotonic, afterMs: DurationMs) {
    this.#clock = clock;
    this.#dueMonoMs = clock.monoMs() + afterMs;
  }

  /** What is left in ms, 0 when it has passed. */
  get remainingMs(): DurationMs {
    return Math.max(0, this.#dueMonoMs - this.#clock.monoMs());
  }

  get hasPassed(): boolean {
    return this.#clock.monoMs() >= this.#dueMonoMs;
  }
}
