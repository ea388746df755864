/**
 * What is asked of a device beside its polls, by people and by charts (ADR 0106).
 *
 * Invariants: what people ask goes one after the other, so that a poll or a chart that comes behind it waits for one request, not for a queue of theirs;
 * what has waited too long is refused when its time is over, and never begun. No chart waits for what people ask, and none of theirs begins before what
 * charts have asked for by then has ended.
 */
import type { ChannelSample } from '../port.js';
import { Turns } from './turns.js';
import type { Clock } from '../vocabulary/clock.js';
import type { DurationMs } from '../vocabulary/times.js';

const WAITING_MAX = 16;

interface Look {
  readonly names: Set<string>;
  /** By name. */
  readonly samples: Promise<ReadonlyMap<string, ChannelSample>>;
}

/** What charts ask while the device is asked for others is asked for together, next: each of them waits for one request, however many they are. */
export class AskedByCharts {
  readonly #read: (names: readonly string[]) => Promise<readonly ChannelSample[]>;
  readonly #turns = new Turns();
  /** The one that has not begun. */
  #next: Look | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param read answers in the order of the names. */
  constructor(read: (names: readonly string[]) => Promise<readonly ChannelSample[]>) {
    this.#read = read;
  }

  /** Fulfilled when what was asked for until now has ended, well or badly. */
  get ahead(): Promise<unknown> {
    return this.#last;
  }

  /** A sample for each name, of now or later. */
  async take(names: readonly string[]): Promise<readonly ChannelSample[]> {
    const look = (this.#next ??= this.#nextLook());
    for (const name of names) look.names.add(name);
    const samples = await look.samples;
    return names.flatMap((name) => samples.get(name) ?? []);
  }

  #nextLook(): Look {
    const names = new Set<string>();
    const samples = this.#turns.take(async () => {
      this.#next = undefined;
      const asked = [...names];
      const found = await this.#read(asked);
      return new Map(found.map((sample, index) => [asked[index] ?? sample.channel, sample]));
    });
    this.#last = samples.catch(() => undefined);
    return { names, samples };
  }
}

export class AskedByPeople {
  readonly #clock: Clock;
  readonly #charts: Pick<AskedByCharts, 'ahead'>;
  readonly #turns = new Turns();
  #waiting = 0;

  constructor(clock: Clock, charts: Pick<AskedByCharts, 'ahead'>) {
    this.#clock = clock;
    this.#charts = charts;
  }

  /** `refused` says why it is not done: too many wait, or it has waited for `waitMaxMs`. */
  take<T>(waitMaxMs: DurationMs, work: () => Promise<T>, refused: (why: string) => T): Promise<T> {
    if (this.#waiting >= WAITING_MAX) return Promise.resolve(refused(`${WAITING_MAX} others are asking the device; ask again in a moment`));
    this.#waiting += 1;
    let isOver = false;
    let cancel = (): void => {};
    const late = new Promise<T>((resolve) => {
      cancel = this.#clock.after(waitMaxMs, () => {
        isOver = true;
        this.#waiting -= 1;
        resolve(refused('others were asking the device for too long; ask again in a moment'));
      });
    });
    const done = this.#turns.take(async () => {
      await this.#charts.ahead;
      if (isOver) return late;
      cancel();
      this.#waiting -= 1;
      return work();
    });
    return Promise.race([late, done]);
  }
}
