/**
 * The instant that retention counts from. What a clock says that was set forth would forget everything at once, so it is believed
 * only as far as time has elapsed since the newest record of before this start (D-C-07). After a long time off it lags behind
 * by that time, until the next start: more is kept, never less. What is dated for it takes the later of the two.
 */
import type { WallMs } from './times.js';
import type { Clock } from './clock.js';
import { Stopwatch } from './elapsed.js';

export class RetentionTime {
  readonly #clock: Pick<Clock, 'wallMs' | 'monoMs'>;
  readonly #run: Stopwatch;
  readonly #fromMs: WallMs;

  /** `newestMs`: of what was recorded before; null when there is nothing, and nothing to lose. */
  constructor(clock: Pick<Clock, 'wallMs' | 'monoMs'>, newestMs: number | null) {
    this.#clock = clock;
    this.#run = new Stopwatch(clock);
    this.#fromMs = newestMs ?? clock.wallMs();
  }

  get nowMs(): number {
    return Math.min(this.#clock.wallMs(), this.#fromMs + this.#run.elapsedMs);
  }

  /** No sample of this moment has a later time, so what is dated with it is forgotten after the samples, never before. */
  get latestMs(): number {
    return Math.max(this.#clock.wallMs(), this.#fromMs + this.#run.elapsedMs);
  }
}
