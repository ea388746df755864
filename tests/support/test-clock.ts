/** A clock that stands until the test moves it. Timers fire in order while it moves. */
import type { Clock } from '../../src/platform/base/clock.js';
import type { DurationMs, MonoMs, WallMs } from '../../src/platform/base/times.js';

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

  /** Wall and monotonic time pass together. */
  advance(ms: number): void {
    const endMs = this.#monoMs + ms;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#move(Math.max(0, next.atMs - this.#monoMs));
      next.call();
    }
    this.#move(endMs - this.#monoMs);
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
