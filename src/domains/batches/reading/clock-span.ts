/**
 * What the wall clock showed while a batch ran. The historian keeps samples, gaps and alarms by the wall clock, so what it holds of
 * a batch is asked for by two instants; where the clock was set back in between, `startedAt` and `endedAt` are not the outermost
 * ones. The batch then keeps the earliest and the latest, and its record with it.
 */
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { guarded } from '../../../platform/base/guarded.js';
import type { Store } from '../../../platform/store/store.js';
import type { BatchReconciliation } from '../tree/batch-reconciliation.js';
import { Batch, type ClockSpan, isFinalBatch } from '../kind.js';

/** What a time server does to a clock that is right is less; what adds up to it is told as one step. */
const STEP_MS = 100;

export function widened(known: ClockSpan | undefined, { from, to }: ClockSpan): ClockSpan {
  return { from: earlier(known?.from ?? from, from), to: later(known?.to ?? to, to) };
}

/** `from` is '' before the batch has started, `to` while it runs. */
export function wallSpan({ startedAt, endedAt, clockSpan }: { readonly startedAt: string; readonly endedAt: string; readonly clockSpan?: ClockSpan | undefined }): ClockSpan {
  if (startedAt === '') return { from: '', to: '' };
  const whole = widened(clockSpan, { from: startedAt, to: startedAt });
  if (endedAt === '') return { from: whole.from, to: '' };
  return widened(whole, { from: endedAt, to: endedAt });
}

/** Times are RFC 3339 in UTC with milliseconds, so text compares as time does. */
function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

const LOOK_MS = 1000;

/** `look` answers whether the clock was set back, `wake` lets every batch be looked at. The result stops it. */
export function watchClock(clock: Clock, look: () => boolean, wake: () => void): () => void {
  let cancel = (): void => undefined;
  const again = (): void => {
    guarded('look at the clock for the batches', () => {
      if (look()) wake();
    });
    cancel = clock.after(LOOK_MS, again);
  };
  cancel = clock.after(LOOK_MS, again);
  return () => cancel();
}

/** Notes on every batch under way that the clock was set back. */
export class ClockSteps {
  readonly #store: Store;
  readonly #clock: Clock;
  /** By `site/batch`: what was seen and is not on disk. */
  readonly #owed = new Map<string, ClockSpan>();
  /** By how much the wall clock is ahead of the monotonic one. */
  #aheadMs: number;
  /** Monotonic time of the last look. */
  #lookedMs: number;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#lookedMs = clock.monoMs();
    this.#aheadMs = clock.wallMs() - this.#lookedMs;
  }

  /** @returns whether the clock was set back since the last look. */
  look(): boolean {
    const [wallMs, monoMs] = [this.#clock.wallMs(), this.#clock.monoMs()];
    const wasAheadMs = this.#aheadMs;
    const sinceMs = monoMs - this.#lookedMs;
    this.#lookedMs = monoMs;
    const stepMs = wallMs - monoMs - wasAheadMs;
    if (Math.abs(stepMs) < STEP_MS) return false;
    this.#aheadMs = wallMs - monoMs;
    if (stepMs > 0) return false;
    // it may have been set right after the last look, or just now: both are within
    const span = { from: timestamp(wallMs - sinceMs), to: timestamp(wasAheadMs + monoMs) };
    for (const { metadata, status } of this.#store.list(Batch)) {
      if (status.phase === 'Pending' || isFinalBatch(status.phase)) continue;
      const key = `${metadata.site}/${metadata.name}`;
      this.#owed.set(key, widened(this.#owed.get(key), span));
    }
    return true;
  }

  /** @returns what forgets it, to be called when it is on disk. */
  take(reconciliation: BatchReconciliation): () => void {
    const key = `${reconciliation.site}/${reconciliation.scope}`;
    const owed = this.#owed.get(key);
    if (!owed) return () => undefined;
    reconciliation.status = { ...reconciliation.status, clockSpan: widened(reconciliation.status.clockSpan, owed) };
    return () => {
      if (this.#owed.get(key) === owed) this.#owed.delete(key);
    };
  }
}
