/**
 * What a module tells of itself: each change at once, and of one that never comes to rest no more than can be kept (ADR 0091).
 *
 * Invariant: the last word is told, sooner or later; what was over by then is not.
 */
import type { Clock } from '../vocabulary/clock.js';
import type { DurationMs, MonoMs } from '../vocabulary/times.js';
import type { ModuleState, OutputFacts } from './module-runner.js';

/** Changes that are told at once; afterwards one each `everyMs`. */
const AT_ONCE_MAX = 10;

interface Word {
  readonly state: ModuleState;
  readonly message: string;
  readonly outputs: OutputFacts;
}

export class StateReports {
  readonly #clock: Clock;
  readonly #tell: (word: Word) => void;
  readonly #everyMs: () => DurationMs;
  #told = '';
  #left = AT_ONCE_MAX;
  #countedMs: MonoMs;
  #waiting: Word | undefined;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, everyMs: () => DurationMs, tell: (word: Word) => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#tell = tell;
    this.#countedMs = clock.monoMs();
  }

  take(state: ModuleState, message: string, outputs: OutputFacts): void {
    this.#waiting = { state, message, outputs };
    if (!this.#cancel) this.#next();
  }

  end(): void {
    this.#waiting = undefined;
    this.#cancel?.();
  }

  #next(): void {
    const word = this.#waiting;
    if (!word) return;
    const key = JSON.stringify(word);
    if (key === this.#told) return;
    const waitMs = this.#untilNextMs();
    if (waitMs > 0) {
      this.#cancel = this.#clock.after(waitMs, () => {
        this.#cancel = undefined;
        this.#next();
      });
      return;
    }
    this.#left -= 1;
    this.#told = key;
    this.#tell(word);
  }

  /** 0: one may be told now. */
  #untilNextMs(): DurationMs {
    const everyMs = this.#everyMs();
    const nowMs = this.#clock.monoMs();
    const earned = Math.floor((nowMs - this.#countedMs) / everyMs);
    this.#left = Math.min(this.#left + earned, AT_ONCE_MAX);
    this.#countedMs = this.#left === AT_ONCE_MAX ? nowMs : this.#countedMs + earned * everyMs;
    return this.#left > 0 ? 0 : this.#countedMs + everyMs - nowMs;
  }
}
