/**
 * What people ask of a device, one thing after the other: a poll of control that comes behind it waits for one request, not for a queue of theirs.
 *
 * Invariant: what has waited too long is refused and never begun; no more than `WAITING_MAX` wait.
 */
import { Turns } from './turns.js';
import type { Clock } from '../vocabulary/clock.js';
import type { DurationMs } from '../vocabulary/times.js';

const WAITING_MAX = 16;

export class AskedInTurn {
  readonly #clock: Clock;
  readonly #turns = new Turns();
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `refused` says why it is not done: too many wait, or it has waited longer than `waitMaxMs`. */
  take<T>(waitMaxMs: DurationMs, work: () => Promise<T>, refused: (why: string) => T): Promise<T> {
    if (this.#waiting >= WAITING_MAX) return Promise.resolve(refused(`${WAITING_MAX} others are asking the device; ask again in a moment`));
    this.#waiting += 1;
    const askedMs = this.#clock.monoMs();
    return this.#turns.take(async () => {
      this.#waiting -= 1;
      if (this.#clock.monoMs() - askedMs > waitMaxMs) return refused('others were asking the device for too long; ask again in a moment');
      return work();
    });
  }
}
