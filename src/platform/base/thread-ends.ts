/** Threads that ended by themselves and were started again: told for a while, so that somebody looks into it. */
import type { Clock } from './clock.js';
import { Deadline } from './elapsed.js';

const TOLD_MS = 10 * 60_000;

export class ThreadEnds {
  readonly #clock: Clock;
  #last: { readonly text: string; readonly told: Deadline } | undefined;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(name: string, fault: string): void {
    this.#count += 1;
    this.#last = { text: `the ${name} thread ended by itself (${fault}) and is started again when it is needed`, told: new Deadline(this.#clock, TOLD_MS) };
  }

  /** The last one, as long as it is told. */
  get words(): string | undefined {
    if (!this.#last || this.#last.told.hasPassed) return undefined;
    return this.#count > 1 ? `${this.#last.text}; ${this.#count} times since the start` : this.#last.text;
  }
}
