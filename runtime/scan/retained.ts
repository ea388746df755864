/**
 * Retained values on their way out: once per interval the networks whose retained values changed go to the gateway as one
 * message (decisions 3.8). Nothing is sent while nothing changes.
 */
import type { NetworkSet } from '../network/network-set.js';
import type { UnitOutbound } from '../port.js';
import type { ScanStats } from './stats.js';

export class RetainedSaver {
  readonly #post: (message: UnitOutbound) => void;
  readonly #stats: ScanStats;
  #savedAtMs = Number.NEGATIVE_INFINITY;

  constructor(post: (message: UnitOutbound) => void, stats: ScanStats) {
    this.#post = post;
    this.#stats = stats;
  }

  /** `monoMs` is the monotonic clock: the interval is wall time whatever the time scale is. */
  run(networks: NetworkSet, monoMs: number): void {
    if (monoMs - this.#savedAtMs < networks.plan.settings.retainIntervalMs) return;
    this.#savedAtMs = monoMs;
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
