/**
 * Lets a few through at a time, the others in their order, with a turn of the event loop before each: work that comes by the
 * thousand keeps nobody else waiting. Who could not be let in soon is refused at once instead of later.
 *
 * Invariant: in one turn of the loop no more than `atOnce` are let in, however fast they leave.
 */
import { type Clock, systemClock } from './clock.js';
import type { DurationMs } from './times.js';
import { Refusal } from './refusal.js';

export interface TurnstileLimits {
  /** What it is for, as a refused caller reads it: `reads of what is past`. */
  readonly what: string;
  readonly atOnce: number;
  /** More than these do not wait; those who are patient are not counted out. */
  readonly waitingMax: number;
  readonly waitMaxMs: DurationMs;
  readonly clock?: Clock;
}

interface Waiting {
  enter(): void;
}

const RETRY_AFTER_S = 2;

export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #inside = 0;

  constructor(limits: TurnstileLimits) {
    this.#limits = limits;
    this.#clock = limits.clock ?? systemClock;
  }

  /**
   * `isPatient`: of work that has begun, and cannot be refused any more; its owner has one such wait at a time.
   * @throws Refusal 503 `past_busy` when too many wait already, or it takes too long.
   */
  async through<T>(work: () => Promise<T>, isPatient = false): Promise<T> {
    if (this.#inside >= this.#limits.atOnce) await this.#wait(isPatient);
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      setImmediate(() => this.#leave());
    }
  }

  /**
   * As `through`, for work that goes on after its beginning was answered: inside until the result is called.
   * @throws Refusal 503 `past_busy` when too many wait already, or it takes too long.
   */
  async enter(): Promise<() => void> {
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    await new Promise<void>((resolve, reject) => {
      this.through(() => {
        resolve();
        return left;
      }).catch(reject);
    });
    return leave;
  }

  #wait(isPatient: boolean): Promise<void> {
    const { waitingMax, waitMaxMs } = this.#limits;
    if (!isPatient && this.#waiting.size >= waitingMax) return Promise.reject(this.#busy());
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        reject(this.#busy());
      };
      const cancel = isPatient ? undefined : this.#clock.after(waitMaxMs, giveUp);
      const waiting: Waiting = {
        enter: () => {
          cancel?.();
          resolve();
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** The place goes on to who has waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#inside -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.enter();
  }

  #busy(): Refusal {
    return new Refusal('unavailable', `too many ${this.#limits.what} at once; try again in ${RETRY_AFTER_S} s`, { code: 'past_busy', retryAfterSeconds: RETRY_AFTER_S });
  }
}
