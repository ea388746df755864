/** A clock that stands until the test moves it. Timers fire in order while it moves. */
import type { Clock } from '../../src/platform/base/clock.js';
import type { DurationMs, MonoMs, WallMs } from '../../src/platform/base/times.js';

const HOUR_MS = 3_600_000;

export class TestClock implements Clock {
  #wallMs: number;
  #monoMs = 1_000_000;
  #timers: { readonly atMs: number; readonly call: () => void }[] = [];

  constructor(wallMs = Date.UTC(2026, 0, 31, 9, 0, 0)) {
    this.#wallMs = wallMs;
  }

  wallMs(): WallMs {
    return this.#wallMs;
  }

  monoMs(): MonoMs {
    return this.#monoMs;
  }

  after(delayMs: DurationMs, call: () => void): () => void {
    const timer = { atMs: this.#monoMs + delayMs, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Wall and monotonic time pass together. Meanwhile somebody sets the wall clock an hour forward, and back: no suite on this clock
   * may see a difference, because nothing starts, expires or repeats by it (D-C-07).
   */
  advance(ms: number): void {
    this.jump(HOUR_MS);
    const endMs = this.#monoMs + ms;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#move(Math.max(0, next.atMs - this.#monoMs));
      next.call();
    }
    this.#move(endMs - this.#monoMs);
    this.jump(-HOUR_MS);
  }

  /** The wall clock is set by somebody; elapsed time does not notice. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  #move(ms: number): void {
    this.#monoMs += ms;
    this.#wallMs += ms;
  }
}
