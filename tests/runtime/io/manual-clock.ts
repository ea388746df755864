import type { Clock } from '../../../runtime/vocabulary/clock.js';

/** A clock that stands still until a test moves it; due calls run in order of time. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #calls: { readonly atMs: number; readonly call: () => void }[] = [];
  readonly #startMs: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  wallMs(): number {
    return this.#startMs + this.#nowMs;
  }

  monoMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const entry = { atMs: this.#nowMs + Math.max(delayMs, 0), call };
    this.#calls.push(entry);
    return () => {
      this.#calls = this.#calls.filter((row) => row !== entry);
    };
  }

  /** Moves on by `ms`, letting promises settle after every call. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#calls = this.#calls.filter((row) => row !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
      await settle();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): { readonly atMs: number; readonly call: () => void } | undefined {
    return this.#calls.filter((row) => row.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}

/** Lets everything run that waits for no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
