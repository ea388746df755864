/**
 * Reads all values of a subscription of which something was missed, again until every one has come: what was marked as Bad meanwhile and does not change comes no
 * more by itself. What the subscription has brought while a read was under way is not overwritten by an older answer. However often something is missed, the
 * server is read once at a time, and has rest between two reads.
 */
import type { Clock } from '../../vocabulary/clock.js';

/** Between the end of a read and the next one. */
const REST_MS = 1000;
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
  #restsUntilMonoMs = Number.NEGATIVE_INFINITY;
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

  /** Something was missed. */
  start(): void {
    this.#cancel();
    if (this.#isStopped || this.#parts.isLost()) return;
    if (this.#state !== 'idle') {
      this.#state = 'wanted';
      return;
    }
    const { clock } = this.#parts;
    const restMs = this.#restsUntilMonoMs - clock.monoMs();
    if (restMs > 0) this.#cancel = clock.after(restMs, () => this.start());
    else this.#read();
  }

  #read(): void {
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
    const { clock } = this.#parts;
    this.#restsUntilMonoMs = clock.monoMs() + REST_MS;
    if (isWhole) {
      this.#pauseMs = AGAIN_MS;
      if (isWanted) this.start();
    } else {
      this.#cancel = clock.after(this.#pauseMs, () => this.start());
      this.#pauseMs = Math.min(2 * this.#pauseMs, AGAIN_MS_MAX);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}
