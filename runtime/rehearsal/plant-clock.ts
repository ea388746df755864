/** The time of a rehearsed plant: it stands still until it is stepped, and then jumps to the next timer. */
import type { Clock } from '../vocabulary/clock.js';
import type { WallMs } from '../vocabulary/times.js';

interface Timer {
  readonly atMs: number;
  /** Timers of the same instant fire in the order in which they were set. */
  readonly order: number;
  readonly call: () => void;
}

export class PlantClock implements Clock {
  readonly #startWallMs: WallMs;
  #nowMs = 0;
  #order = 0;
  /** Few: one per unit and one for the simulation. */
  readonly #timers: Timer[] = [];

  constructor(startWallMs: WallMs) {
    this.#startWallMs = startWallMs;
  }

  wallMs(): number {
    return this.#startWallMs + this.#nowMs;
  }

  monoMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, call };
    this.#timers.push(timer);
    return () => this.#remove(timer);
  }

  /** Timers of the present instant have not fired yet. */
  get isInstantOpen(): boolean {
    return this.#timers.some(({ atMs }) => atMs <= this.#nowMs);
  }

  /** Fires the next timer that is due by then; false, and then it is that time, when there is none. */
  step(untilMs: number): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order)) next = timer;
    }
    if (!next || next.atMs > untilMs) {
      this.#nowMs = Math.max(this.#nowMs, untilMs);
      return false;
    }
    this.#remove(next);
    this.#nowMs = next.atMs;
    next.call();
    return true;
  }

  #remove(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }
}
