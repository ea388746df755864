/**
 * Work that comes in bursts is done in slices: a thousand alarms within one scan must not keep a reader waiting until the
 * last of them is stored. Between two slices the event loop turns once and serves everybody else.
 */
import type { Clock } from './clock.js';
import { contain } from './guarded.js';

/** How long one burst may hold the event loop at a time; a request that meets three of them still answers within 20 ms. */
const SLICE_MS = 4;
/** Of work that one waits for who has time, a second or more: everybody else hardly notices it. */
const SHORT_SLICE_MS = 1.5;

export class Slice {
  readonly #clock: Clock;
  readonly #endsMs: number;

  constructor(clock: Clock, forMs = SLICE_MS) {
    this.#clock = clock;
    this.#endsMs = clock.monoMs() + forMs;
  }

  get isOver(): boolean {
    return this.#clock.monoMs() >= this.#endsMs;
  }
}

/**
 * Works of one clock that wait for who has time share a slice in each turn of the loop: ten of them hold it no longer together than one
 * would. For whom there was no time left there is some in one of the next turns, in the order in which they came.
 */
export class SharedTurns {
  static readonly #known = new WeakMap<Clock, SharedTurns>();
  readonly #clock: Clock;
  readonly #waiting: ((slice: Slice) => void)[] = [];
  #slice: Slice | undefined;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  static of(clock: Clock): SharedTurns {
    let turns = SharedTurns.#known.get(clock);
    if (!turns) SharedTurns.#known.set(clock, (turns = new SharedTurns(clock)));
    return turns;
  }

  /** @returns the slice to work in, at once where there is time; whoever has used it up enters again. */
  enter(): Slice | Promise<Slice> {
    if (this.#waiting.length === 0) {
      const slice = (this.#slice ??= this.#begin());
      if (!slice.isOver) return slice;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #begin(): Slice {
    setImmediate(() => this.#turn());
    return new Slice(this.#clock, SHORT_SLICE_MS);
  }

  #turn(): void {
    this.#slice = undefined;
    const next = this.#waiting.shift();
    if (next) next((this.#slice = this.#begin()));
  }
}

/** Of work that goes on for longer: asks whether its slice is over, and gives the loop back. */
export class Turns {
  readonly #clock: Clock;
  #slice: Slice;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#slice = new Slice(clock, SHORT_SLICE_MS);
  }

  get isOver(): boolean {
    return this.#slice.isOver;
  }

  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#slice = new Slice(this.#clock, SHORT_SLICE_MS);
  }
}

/** Of a walk: so many are looked at between two looks at the clock. */
const ITEMS_PER_LOOK = 256;

/** A walk over more than anybody shall wait for: it gives the loop back when its slice is over. */
export class SlicedWalk {
  readonly #turns: Turns;
  #count = 0;

  constructor(clock: Clock) {
    this.#turns = new Turns(clock);
  }

  /** Before each item: what is to be waited for; undefined while the slice lasts. */
  pause(): Promise<void> | undefined {
    this.#count += 1;
    return this.#count % ITEMS_PER_LOOK === 0 && this.#turns.isOver ? this.#turns.next() : undefined;
  }
}

/**
 * Items in the order they were given: at once while the slice lasts, the rest in the turns that follow. What an item throws at once
 * is for whoever gives it; of one that waited nobody is there to hear it, and it keeps none behind it.
 */
export class SlicedWork<Item> {
  readonly #clock: Clock;
  readonly #work: (item: Item) => void;
  #waiting: Item[] = [];
  #done = 0; // of those that wait
  #slice: Slice | undefined;

  constructor(clock: Clock, work: (item: Item) => void) {
    this.#clock = clock;
    this.#work = work;
  }

  give(item: Item): void {
    const slice = (this.#slice ??= this.#begin());
    if (this.#waiting.length > 0 || slice.isOver) this.#waiting.push(item);
    else this.#work(item);
  }

  /** Does now whatever waits, however long it takes: for what has to come after it. */
  flush(): void {
    while (this.#done < this.#waiting.length) this.#workNext();
    this.#clear();
  }

  #begin(): Slice {
    setImmediate(() => this.#turn());
    return new Slice(this.#clock);
  }

  #turn(): void {
    this.#slice = undefined;
    if (this.#waiting.length === 0) return;
    const slice = (this.#slice = this.#begin());
    while (this.#done < this.#waiting.length && !slice.isOver) this.#workNext();
    if (this.#done === this.#waiting.length) this.#clear();
  }

  #workNext(): void {
    const item = this.#waiting[this.#done] as Item;
    this.#done += 1; // before the work: an item that throws is not tried for ever
    try {
      this.#work(item);
    } catch (fault) {
      contain('work in slices', fault);
    }
  }

  #clear(): void {
    this.#waiting = [];
    this.#done = 0;
  }
}
