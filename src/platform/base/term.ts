/**
 * A permission that ends by itself: a shelf, a bypass, an override (D-C-07). While the process runs it lasts its time whatever
 * is done to the wall clock. Across a restart it goes on when the interruption is known and shorter than what was left of it,
 * and is over otherwise. The instant beside it is for people.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from './clock.js';
import type { MonoMs, WallMs } from './times.js';
import { elapsedSince, type Moment } from './moment.js';

/** As it is kept. */
export interface Term {
  readonly from: Moment;
  readonly durationMs: number;
}

/** `term` is absent in data of 0.1.0: it is judged by its instant when it is loaded, and by elapsed time from then on. */
export interface Ending {
  readonly until: string;
  readonly term?: Term | undefined;
}

export class Terms {
  readonly #clock: Clock;
  readonly #start: Moment;
  readonly #startMonoMs: MonoMs;
  readonly #synchronised: boolean;

  /** `start`: where time stands now, `synchronised`: whether its wall clock can be believed. */
  constructor(clock: Clock, start: Moment, synchronised: boolean) {
    this.#clock = clock;
    // a boot without an id is like no other
    this.#start = start.bootID === '' ? { ...start, bootID: randomUUID() } : start;
    this.#startMonoMs = clock.monoMs();
    this.#synchronised = synchronised;
  }

  begin(durationMs: number): Ending & { readonly term: Term } {
    const from = this.now();
    return { until: timestamp(from.wallMs + durationMs), term: { from, durationMs } };
  }

  now(): Moment {
    return this.at(this.#clock.wallMs(), this.#clock.monoMs());
  }

  /** Where time stood when both clocks said so. */
  at(wallMs: WallMs, monoMs: MonoMs): Moment {
    return { ...this.#start, wallMs, bootMs: Math.floor(this.#start.bootMs + monoMs - this.#startMonoMs) };
  }

  /** 0 when it is over, or was never begun. */
  remainingMs({ until, term }: Ending): number {
    if (!term) return until === '' ? 0 : Math.max(0, Date.parse(until) - this.#start.wallMs - this.#sinceStartMs);
    const elapsedMs = this.elapsedMs(term.from);
    return elapsedMs === undefined ? 0 : Math.max(0, term.durationMs - elapsedMs);
  }

  /** Until now; undefined when it is unknown. Of another boot the wall clock tells what was before the start, and is not asked again. */
  elapsedMs(from: Moment): number | undefined {
    const sinceStartMs = this.#sinceStartMs;
    const nowMs = this.#start.bootMs + sinceStartMs;
    if (from.bootID === this.#start.bootID && from.bootMs <= nowMs) return nowMs - from.bootMs;
    const beforeMs = elapsedSince(from, this.#start, this.#synchronised);
    return beforeMs === undefined ? undefined : beforeMs + sinceStartMs;
  }

  get #sinceStartMs(): number {
    return this.#clock.monoMs() - this.#startMonoMs;
  }
}

/** As it is served and audited: where a clock stood tells people nothing. */
export function shown<Kept extends Ending>({ term: _term, ...rest }: Kept): Omit<Kept, 'term'> {
  return rest;
}
