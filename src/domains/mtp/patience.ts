/** How long a command may still go out: until its time is over, and as long as whoever asked waits (decisions 4.5). */
import type { Clock } from '../../platform/base/clock.js';
import { Deadline, Stopwatch } from '../../platform/base/elapsed.js';
import type { DurationMs } from '../../platform/base/times.js';
import type { Asked } from '../batches/phases/phase-reports.js';

export class Patience {
  readonly #clock: Clock;
  readonly #deadline: Deadline;
  readonly #asked: Asked;
  /** How long the device took for its last answer. */
  tookMs: DurationMs = 0;
  #ends: Promise<undefined> | undefined;
  #forget: (() => void) | undefined;

  /** @param limitMs from the moment on in which the chart asked. */
  constructor(clock: Clock, limitMs: DurationMs, asked: Asked) {
    this.#clock = clock;
    this.#asked = asked;
    this.#deadline = new Deadline(clock, limitMs - Math.max(0, clock.monoMs() - asked.atMonoMs));
  }

  get hasGivenUp(): boolean {
    return !this.#asked.stillWaits();
  }

  get isOver(): boolean {
    return this.hasGivenUp || this.#deadline.hasPassed;
  }

  get remainingMs(): DurationMs {
    return this.#deadline.remainingMs;
  }

  /** What the device answers; undefined when that comes too late. */
  async within<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
    const took = new Stopwatch(this.#clock);
    const first = await Promise.race([answer.then((value) => ({ value })), this.#end()]);
    this.tookMs = took.elapsedMs;
    return this.isOver ? undefined : first?.value;
  }

  /** A moment, or less where it ends meanwhile. */
  async pause(ms: DurationMs): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => this.#clock.after(ms, resolve)), this.#end()]);
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#forget?.();
  }

  #end(): Promise<undefined> {
    this.#ends ??= new Promise((resolve) => {
      this.#forget = this.#clock.after(this.#deadline.remainingMs, () => resolve(undefined));
      if (this.#asked.gaveUp.aborted) resolve(undefined);
      else this.#asked.gaveUp.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    return this.#ends;
  }
}
