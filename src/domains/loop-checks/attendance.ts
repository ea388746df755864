/** The person at a loop check: each step waits for him, or goes on while he gives a sign; without him the check ends. */
import type { Clock } from '../../platform/base/clock.js';
import type { MonoMs } from '../../platform/base/times.js';

export interface Attended {
  readonly confirmedBy: string;
  readonly note: string;
}

export class Attendance {
  readonly #clock: Clock;
  readonly #isHeld: boolean;
  readonly #timeoutMs: number;
  readonly #unattended: () => void;
  #deadlineMonoMs: MonoMs = 0;
  #cancel: () => void = () => undefined;
  #last: Attended;
  #note = '';
  #proceed: ((attended: Attended | undefined) => void) | undefined;
  #isOver = false;

  /** `begun`: who has begun it; his first sign where the check is held. */
  constructor(clock: Clock, attend: 'confirm' | 'hold', timeoutMs: number, begun: string, unattended: () => void) {
    this.#clock = clock;
    this.#isHeld = attend === 'hold';
    this.#timeoutMs = timeoutMs;
    this.#unattended = unattended;
    this.#last = { confirmedBy: begun, note: '' };
    if (this.#isHeld) this.#wait();
  }

  /** A step waits for a confirmation. */
  get isWaiting(): boolean {
    return this.#proceed !== undefined;
  }

  /** Until then somebody has to give a sign; undefined while nobody is waited for. */
  get leftMs(): number | undefined {
    return this.#isHeld || this.isWaiting ? Math.max(0, Math.round(this.#deadlineMonoMs - this.#clock.monoMs())) : undefined;
  }

  /** Before a step: undefined when the check is over. */
  next(): Promise<Attended | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    if (this.#isHeld) {
      const attended = { ...this.#last, note: this.#note };
      this.#note = '';
      return Promise.resolve(attended);
    }
    return new Promise((resolve) => {
      this.#proceed = resolve;
      this.#wait();
    });
  }

  confirm(by: string, note: string): void {
    this.#last = { confirmedBy: by, note };
    if (note !== '') this.#note = note;
    this.#cancel();
    if (this.#isHeld) this.#wait();
    this.#resolve(this.#last);
  }

  end(): void {
    this.#isOver = true;
    this.#cancel();
    this.#resolve(undefined);
  }

  #resolve(attended: Attended | undefined): void {
    const proceed = this.#proceed;
    this.#proceed = undefined;
    proceed?.(attended);
  }

  #wait(): void {
    this.#cancel();
    this.#deadlineMonoMs = this.#clock.monoMs() + this.#timeoutMs;
    this.#cancel = this.#clock.after(this.#timeoutMs, this.#unattended);
  }
}
