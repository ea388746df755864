/**
 * What the seams of this process have contained (guarded.ts): written to the log, counted by seam for `system/health`, and
 * too many of late when there were more than FAULTS_MAX in WINDOW_MS, which is an alarm.
 */
import type { Clock } from './clock.js';
import { timestamp } from './clock.js';
import { Deadline } from './elapsed.js';
import { guarded, onContained } from './guarded.js';
import type { Log } from './log.js';

/** One bug that is met now and then is for the log; more than this in a minute is a part that does not work. */
export const FAULTS_MAX = 10;
const WINDOW_MS = 60_000;
/** Of one seam and window; the others are counted only. */
const LOGGED_MAX = 5;
/** Long enough for what met the fault to be over, short enough for an operator. */
const AGAIN_MS = 1000;
/** Seams are places in the source; what lies over this is counted under OTHERS. */
const SEAMS_MAX = 200;
const OTHERS = 'others';

interface SeamCount {
  count: number;
  inWindow: number;
  lastAt: string;
  message: string;
}

export interface ContainedView {
  readonly total: number;
  /** In the last minute. */
  readonly recent: number;
  readonly seams: readonly { readonly seam: string; readonly count: number; readonly lastAt: string; readonly message: string }[];
}

export class ContainedFaults {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #seams = new Map<string, SeamCount>();
  readonly #listeners: (() => void)[] = [];
  readonly #stop: () => void;
  #cancelAgain: (() => void) | undefined;
  #total = 0;
  /** When each of the last FAULTS_MAX + 1 faults leaves the window, oldest first. */
  #recent: Deadline[] = [];
  #window: Deadline;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#window = new Deadline(clock, WINDOW_MS);
    this.#stop = onContained((seam, fault) => this.#note(seam, fault));
  }

  /** Called AGAIN_MS after a fault: whoever was not told of a change finds it by looking. */
  watch(listener: () => void): void {
    this.#listeners.push(listener);
  }

  stop(): void {
    this.#stop();
    this.#cancelAgain?.();
  }

  get tooMany(): boolean {
    return this.#inLastMinute() > FAULTS_MAX;
  }

  /** The seam that was met last, in words; empty while there was none. */
  get last(): string {
    let last = '';
    let at = '';
    for (const [seam, { lastAt, message }] of this.#seams) if (lastAt >= at) [last, at] = [`${seam}: ${message}`, lastAt];
    return last;
  }

  view(): ContainedView {
    const seams = [...this.#seams].map(([seam, { count, lastAt, message }]) => ({ seam, count, lastAt, message }));
    return { total: this.#total, recent: this.#inLastMinute(), seams };
  }

  #note(seam: string, fault: unknown): void {
    const known = this.#seams.has(seam) || this.#seams.size < SEAMS_MAX ? seam : OTHERS;
    let seen = this.#seams.get(known);
    if (!seen) this.#seams.set(known, (seen = { count: 0, inWindow: 0, lastAt: '', message: '' }));
    if (this.#window.hasPassed) {
      this.#window = new Deadline(this.#clock, WINDOW_MS);
      for (const each of this.#seams.values()) each.inWindow = 0;
    }
    this.#total += 1;
    seen.count += 1;
    seen.inWindow += 1;
    seen.lastAt = timestamp(this.#clock.wallMs());
    seen.message = fault instanceof Error ? fault.message : String(fault);
    this.#recent.push(new Deadline(this.#clock, WINDOW_MS));
    if (this.#recent.length > FAULTS_MAX + 1) this.#recent.shift();
    if (seen.inWindow <= LOGGED_MAX) {
      this.#log.error(
        { seam, count: seen.count, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) },
        'a fault of ours was contained; the others went on',
      );
    }
    // once for all that come together: a seam that throws at every change must not keep everybody looking
    this.#cancelAgain ??= this.#clock.after(AGAIN_MS, () => {
      this.#cancelAgain = undefined;
      for (const listener of this.#listeners) guarded('look after a fault', listener);
    });
  }

  /** At most FAULTS_MAX + 1: whether it were more is of no use to anybody. */
  #inLastMinute(): number {
    this.#recent = this.#recent.filter((deadline) => !deadline.hasPassed);
    return this.#recent.length;
  }
}
