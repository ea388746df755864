/**
 * The scan clock: absolute deadlines on the monotonic clock, so that no error adds up. A period that was missed is skipped
 * and counted, never run twice; the blocks learn of it through the elapsed periods (decisions 5.1 rule 4).
 */

export interface ClockParts {
  readonly monoMs: () => number;
  /** When the first scan of a new period is due; without it one period from now. */
  readonly firstDueMs?: (periodMs: number) => number;
}

/** How often a unit without a plan looks for one. */
const IDLE_PERIOD_MS = 5;

export class ScanClock {
  readonly #parts: ClockParts;
  #periodMs = IDLE_PERIOD_MS;
  #isIdle = true;
  #dueMs: number;
  /** How late the last scan began. */
  latenessMs = 0;
  /** Periods skipped since there is something to scan. */
  missed = 0;

  constructor(parts: ClockParts) {
    this.#parts = parts;
    this.#dueMs = parts.monoMs() + IDLE_PERIOD_MS;
  }

  /** Wall period of a scan: the interval divided by the time scale (decisions 6.7). */
  setPeriod(intervalMs: number, timeScale: number): void {
    const periodMs = intervalMs / timeScale;
    if (!this.#isIdle && periodMs === this.#periodMs) return;
    this.#isIdle = false;
    this.#periodMs = periodMs;
    this.#dueMs = this.#parts.firstDueMs?.(periodMs) ?? this.#parts.monoMs() + periodMs;
  }

  get periodMs(): number {
    return this.#periodMs;
  }

  /** When the next scan is due, on the monotonic clock. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** A scan begins now, at its time or later: tells how many periods have passed since the last one, at least 1. */
  begin(): number {
    const lateMs = this.#parts.monoMs() - this.#dueMs;
    const skipped = Math.max(0, Math.floor(lateMs / this.#periodMs));
    this.latenessMs = lateMs - skipped * this.#periodMs;
    this.#dueMs += (1 + skipped) * this.#periodMs;
    if (!this.#isIdle) this.missed += skipped;
    return 1 + skipped;
  }
}
