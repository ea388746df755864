/**
 * What a scan measures of itself (Q-UNIT-07, diagnostics): how late it began, how long it took, skipped and overrun
 * periods, memory. The figures everyone reads all the time stand in the tag table; the rest is made on request.
 */
import type { MonoMs } from '../vocabulary/times.js';
import { getHeapStatistics } from 'node:v8';
import { STAT, type TagTable } from '../vocabulary/tag-table.js';
import { type GcReport, gcPausesOfThread } from './gc-pauses.js';
import { Histogram } from './histogram.js';

export class ScanStats {
  readonly #lateness = new Histogram();
  readonly #scan = new Histogram();
  #lastUs = 0;
  #overruns = 0;
  #lastLatenessUs = 0;
  readonly #gc = gcPausesOfThread();
  stateWrites = 0;
  stateWriteMs = 0;

  /** One finished scan. `periodMs` is its wall period; `elapsed` above ten counts as an overrun (decisions 5.1 rule 4). */
  note(latenessMs: number, tookMs: number, periodMs: number, elapsed: number, nowMs: number): void {
    this.#lastLatenessUs = latenessMs * 1000;
    this.#lateness.add(this.#lastLatenessUs);
    this.#lastUs = tookMs * 1000;
    this.#scan.add(this.#lastUs);
    if (tookMs > periodMs || elapsed > 10) this.#overruns += 1;
    this.#gc.lookNowAndThen(nowMs);
  }

  publish(
    table: TagTable,
    part: { readonly nowMs: number; readonly monoMs: MonoMs; readonly missed: number; readonly plantMs: number; readonly timeScale: number; readonly latenessMs: number },
  ): void {
    const { stats } = table;
    stats[STAT.scanCount] = this.#scan.count;
    stats[STAT.heartbeatAtMs] = part.nowMs;
    stats[STAT.heartbeatMonoMs] = part.monoMs;
    stats[STAT.lastScanUs] = this.#lastUs;
    stats[STAT.maxScanUs] = this.#scan.maxUs;
    stats[STAT.latenessUs] = part.latenessMs * 1000;
    stats[STAT.maxLatenessUs] = this.#lateness.maxUs;
    stats[STAT.missed] = part.missed;
    stats[STAT.overruns] = this.#overruns;
    stats[STAT.plantMs] = part.plantMs;
    stats[STAT.timeScale] = part.timeScale;
  }

  get scanCount(): number {
    return this.#scan.count;
  }

  inspect(unit: string, missed: number, drivers: readonly unknown[]): ScanDiagnostics {
    const heap = getHeapStatistics();
    const scan = this.#scan;
    const lateness = this.#lateness;
    this.#gc.look();
    return {
      unit,
      scan: {
        count: scan.count,
        missed,
        overruns: this.#overruns,
        lastMs: this.#lastUs / 1000,
        avgMs: scan.count === 0 ? 0 : scan.sumUs / scan.count / 1000,
        p95Ms: scan.quantileUs(0.95) / 1000,
        p99Ms: scan.quantileUs(0.99) / 1000,
        maxMs: scan.maxUs / 1000,
        durations: scan.coarse(),
        jitter: lateness.coarse(),
      },
      lateness: {
        lastMs: this.#lastLatenessUs / 1000,
        p50Ms: lateness.quantileUs(0.5) / 1000,
        p99Ms: lateness.quantileUs(0.99) / 1000,
        maxMs: lateness.maxUs / 1000,
      },
      heapUsedBytes: heap.used_heap_size,
      heapLimitBytes: heap.heap_size_limit,
      gc: this.#gc.report(),
      drivers,
      stateWrites: { count: this.stateWrites, lastMs: this.stateWriteMs },
    };
  }
}

/** Count up to a bound; the last bound is null. */
interface Step {
  readonly leMs: number | null;
  readonly count: number;
}

export interface ScanDiagnostics {
  readonly unit: string;
  readonly scan: {
    readonly count: number;
    readonly missed: number;
    readonly overruns: number;
    readonly lastMs: number;
    readonly avgMs: number;
    readonly p95Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
    /** How long scans took. */
    readonly durations: readonly Step[];
    /** How late they began; the quantiles stand under `lateness`. */
    readonly jitter: readonly Step[];
  };
  readonly lateness: { readonly lastMs: number; readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  readonly heapUsedBytes: number;
  readonly heapLimitBytes: number;
  readonly gc: GcReport;
  readonly drivers: readonly unknown[];
  readonly stateWrites: { readonly count: number; readonly lastMs: number };
}
