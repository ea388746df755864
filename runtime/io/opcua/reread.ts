/**
 * Reads all values of a subscription of which something was missed, again until every one has come: what was marked as Bad meanwhile and does not change comes no
 * more by itself. What the subscription has brought while a read was under way is not overwritten by an older answer.
 */
import type { Clock } from '../../vocabulary/clock.js';

const AGAIN_MS = 1000;
const AGAIN_MS_MAX = 10_000;

/** Whether something newer than what was read is there already; `source`: when the device had it, where it says so. */
export type IsOutdated = (position: number, source: Date | null) => boolean;

export interface RereadParts {
  readonly count: number;
  readonly clock: Clock;
  /** @returns whether every value was answered. */
  read(isOutdated: IsOutdated): Promise<boolean>;
  /** The connection is gone: the next one reads anyway. */
  isLost(): boolean;
}

export class Reread {
  readonly #parts: RereadParts;
  /** Of the last notification of each point: its number, and the source time in ms, NaN where it had none. */
  readonly #heard: Float64Array;
  readonly #sourceMs: Float64Array;
  #sequence = 0;
  #state: 'idle' | 'reading' | 'wanted' = 'idle';
  #isStopped = false;
  #pauseMs = AGAIN_MS;
  #cancel: () => void = () => {};

  constructor(parts: RereadParts) {
    this.#parts = parts;
    this.#heard = new Float64Array(parts.count);
    this.#sourceMs = new Float64Array(parts.count).fill(Number.NaN);
  }

  /** A notification of the subscription. */
  heard(position: number, source: Date | null): void {
    this.#heard[position] = this.#sequence += 1;
    this.#sourceMs[position] = source ? source.getTime() : Number.NaN;
  }

  /** Something was missed. One read at a time, however often. */
  start(): void {
    this.#cancel();
    if (this.#isStopped || this.#parts.isLost()) return;
    if (this.#state !== 'idle') {
      this.#state = 'wanted';
      return;
    }
    this.#state = 'reading';
    const before = this.#sequence;
    const isOutdated: IsOutdated = (position, source) => {
      if ((this.#heard[position] ?? 0) <= before) return false;
      const known = this.#sourceMs[position] ?? Number.NaN;
      return source === null || !(source.getTime() > known); // NaN: it cannot be told, and what was told counts
    };
    this.#parts.read(isOutdated).then(
      (isWhole) => this.#ended(isWhole),
      () => this.#ended(false),
    );
  }

  #ended(isWhole: boolean): void {
    const isWanted = this.#state === 'wanted';
    this.#state = 'idle';
    if (this.#isStopped || this.#parts.isLost()) return;
    if (isWhole) this.#pauseMs = AGAIN_MS;
    else {
      this.#cancel = this.#parts.clock.after(this.#pauseMs, () => this.start());
      this.#pauseMs = Math.min(2 * this.#pauseMs, AGAIN_MS_MAX);
      return;
    }
    if (isWanted) this.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}
