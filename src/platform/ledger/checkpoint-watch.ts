/**
 * Whether the WAL is copied into the database. What is acknowledged is safe in the WAL, so a copy that fails takes nothing from
 * anybody; but while none succeeds the WAL grows with every write until the disk is full, and somebody must be told before that.
 */
import type { Clock } from '../base/clock.js';
import { Stopwatch } from '../base/elapsed.js';

/** A disk that refuses it for so long is no accident. */
const REFUSED_MS = 30_000;
/** A reader may hold it for minutes: a backup, an export of the trail. */
const HELD_MS = 300_000;

export class CheckpointWatch {
  readonly #clock: Pick<Clock, 'monoMs'>;
  #since: Stopwatch | undefined;
  #why = '';
  #isRefused = false;

  constructor(clock: Pick<Clock, 'monoMs'>) {
    this.#clock = clock;
  }

  whole(): void {
    this.#since = undefined;
  }

  refused(fault: string): void {
    this.#failed(fault, true);
  }

  /** A reader still needs what is in the WAL. */
  held(): void {
    this.#failed('a reader has held the database open all the time', false);
  }

  #failed(why: string, isRefused: boolean): void {
    this.#since ??= new Stopwatch(this.#clock);
    this.#why = why;
    this.#isRefused = isRefused;
  }

  get isDue(): boolean {
    return this.#since !== undefined;
  }

  /** Why none succeeds; null as long as that is nobody's concern. */
  get trouble(): string | null {
    if (!this.#since || this.#since.elapsedMs < (this.#isRefused ? REFUSED_MS : HELD_MS)) return null;
    return this.#why;
  }
}
