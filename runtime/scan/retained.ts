/**
 * Retained values on their way out: once per interval the networks whose retained values changed go to the gateway as one
 * message (decisions 3.8). Nothing is sent while nothing changes. A written value goes out with the scan it was written in:
 * after a power cut a valve must not come back with the command before the last.
 */
import type { MonoMs } from '../vocabulary/times.js';
import type { NetworkSet } from '../network/network-set.js';
import type { UnitOutbound } from '../port.js';
import type { ScanStats } from './stats.js';

export class RetainedSaver {
  readonly #post: (message: UnitOutbound) => void;
  readonly #stats: ScanStats;
  #savedAtMs = Number.NEGATIVE_INFINITY;
  #savedWrites = 0;

  constructor(post: (message: UnitOutbound) => void, stats: ScanStats) {
    this.#post = post;
    this.#stats = stats;
  }

  /** `monoMs` is the monotonic clock: the interval is wall time whatever the time scale is. */
  run(networks: NetworkSet, monoMs: MonoMs): void {
    const isDue = monoMs - this.#savedAtMs >= networks.plan.settings.retainIntervalMs;
    if (!isDue && networks.writesChanged === this.#savedWrites) return;
    this.#savedAtMs = monoMs;
    this.#savedWrites = networks.writesChanged;
    this.flush(networks);
  }

  /** Sends what changed now: before a stop and before a plan is replaced. */
  flush(networks: NetworkSet): void {
    const began = performance.now();
    const saved = networks.saveRetained();
    if (!saved) return;
    this.#post({ type: 'retained', networks: saved });
    this.#stats.stateWrites += 1;
    this.#stats.stateWriteMs = performance.now() - began;
  }
}
