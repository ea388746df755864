/**
 * How long the batch controller has not been heard (decisions Q-ST-02): since the last plan or `alive`. Other messages do not
 * count, because a recording leaves some of them out.
 */
import type { MonoMs } from '../vocabulary/times.js';
export interface SilenceState {
  readonly heardMs: number;
  readonly lost: boolean;
}

export class ControllerSilence {
  #heardMs = Number.NaN;
  #lost = false;

  heard(monoMs: MonoMs): void {
    this.#heardMs = monoMs;
    this.#lost = false;
  }

  /** True once in each silence, when it has lasted longer than the time-out; a time-out of 0 never ends. */
  becomesLost(monoMs: MonoMs, timeoutMs: number): boolean {
    if (this.#lost || timeoutMs === 0 || !(monoMs - this.#heardMs > timeoutMs)) return false;
    this.#lost = true;
    return true;
  }

  snapshot(): SilenceState {
    return { heardMs: this.#heardMs, lost: this.#lost };
  }

  restore({ heardMs, lost }: SilenceState): void {
    this.#heardMs = heardMs;
    this.#lost = lost;
  }
}
