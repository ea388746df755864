/**
 * Garbage collections of this thread, each with its measured pause (Q-UNIT-07, diagnostics).
 *
 * A performance observer would report them through the event loop, to which a scan thread never returns. V8's own GC
 * profiler notes every collection where it happens, from the start of the pause to its end, and hands the list over when
 * it is asked: nothing is estimated, and nothing is missed but what falls between `stop` and `start` of one look.
 */
import { GCProfiler } from 'node:v8';

export interface GcReport {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
  readonly byType: Readonly<Record<string, number>>;
}

const LOOK_MS = 1000;

export class GcPauses {
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #profiler: GCProfiler;
  #count = 0;
  #totalUs = 0;
  #maxUs = 0;
  readonly #byType = new Map<string, number>();

  constructor() {
    this.#profiler = new GCProfiler();
    this.#profiler.start();
  }

  /** Looks once a second, whoever of the thread asks; belongs into the time between two scans. */
  lookNowAndThen(nowMs: number): void {
    if (nowMs - this.#lookedAtMs < LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    this.look();
  }

  /** Takes over what was collected since the last look; belongs into the time between two scans. */
  look(): void {
    const { statistics } = this.#profiler.stop();
    this.#profiler = new GCProfiler();
    this.#profiler.start();
    for (const { gcType, cost } of statistics) {
      this.#count += 1;
      this.#totalUs += cost;
      this.#maxUs = Math.max(this.#maxUs, cost);
      this.#byType.set(gcType, (this.#byType.get(gcType) ?? 0) + 1);
    }
  }

  report(): GcReport {
    return { count: this.#count, totalMs: this.#totalUs / 1000, maxMs: this.#maxUs / 1000, byType: Object.fromEntries(this.#byType) };
  }
}

let ofThread: GcPauses | undefined;

/** Units that share a thread share its heap, and with it the collections. */
export function gcPausesOfThread(): GcPauses {
  ofThread ??= new GcPauses();
  return ofThread;
}
