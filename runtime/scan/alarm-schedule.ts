/**
 * When the alarm definitions of a unit are judged (contract 2, Alarms: at most 10 s and the debounce after the condition).
 *
 * A unit that scans at least every 5 s judges them in its scans alone: one scan until it sees the condition and one that it
 * may wait too long for the end of a debounce make at most 10 s. A slower unit also has passes between its scans: every 5 s,
 * and at the moment a debounce is over. A pass reads and compares (`alarm-image.ts`); it runs no network and no chart.
 *
 * There time is that of the monotonic clock, not counted in periods: passes lie where they are due and not on a grid, and
 * a scan that begins late makes no debounce shorter.
 */
import type { MonoMs } from '../vocabulary/times.js';
/** Half of the bound, in plant time. */
export const ALARM_POLL_MS = 5000;
/** Rests of a debounce that rounding has left are not worth a turn each; wall time. */
const PASS_MS_MIN = 1;
/** Scan periods that count at most after a standstill, as for blocks (decisions 5.1 rule 4). */
const ELAPSED_PERIODS_MAX = 10;

export interface AlarmScheduleState {
  readonly judgedMonoMs: MonoMs;
  readonly owedMs: number;
}

export class AlarmSchedule {
  /** When the next pass is due, on the monotonic clock; never, where the scans are enough. */
  dueMs = Number.POSITIVE_INFINITY;
  #isBetween = false;
  #scanIntervalMs = 0;
  #timeScale = 1;
  #judgedMonoMs = 0;
  /** Plant time since the alarms were judged, up to the last change of the pace. */
  #owedMs = 0;

  /** There are passes: the unit scans too seldom. */
  get areNeeded(): boolean {
    return this.#isBetween;
  }

  /** From now on the unit scans so often. */
  setPace(scanIntervalMs: number, timeScale: number, monoMs: MonoMs): void {
    this.#owedMs += (monoMs - this.#judgedMonoMs) * this.#timeScale;
    this.#judgedMonoMs = monoMs;
    this.#usePace(scanIntervalMs, timeScale);
  }

  #usePace(scanIntervalMs: number, timeScale: number): void {
    this.#scanIntervalMs = scanIntervalMs;
    this.#timeScale = timeScale;
    this.#isBetween = scanIntervalMs > ALARM_POLL_MS;
    this.dueMs = Number.POSITIVE_INFINITY;
  }

  /** The alarms are judged now: plant time since the last time. `scanMs`: what a scan counts for itself, and a fast unit takes. */
  judged(monoMs: MonoMs, scanMs: number): number {
    const passedMs = this.#owedMs + (monoMs - this.#judgedMonoMs) * this.#timeScale;
    this.#owedMs = 0;
    this.#judgedMonoMs = monoMs;
    if (!this.#isBetween) return scanMs;
    return Math.max(0, Math.min(passedMs, this.#scanIntervalMs * ELAPSED_PERIODS_MAX));
  }

  /** They were judged; `restMs` of plant time until the first debounce is over. */
  plan(restMs: number): void {
    if (this.#isBetween) this.dueMs = this.#judgedMonoMs + Math.max(PASS_MS_MIN, Math.min(restMs, ALARM_POLL_MS) / this.#timeScale);
  }

  snapshot(): AlarmScheduleState {
    return { judgedMonoMs: this.#judgedMonoMs, owedMs: this.#owedMs };
  }

  restore(saved: AlarmScheduleState, scanIntervalMs: number, timeScale: number): void {
    this.#judgedMonoMs = saved.judgedMonoMs;
    this.#owedMs = saved.owedMs;
    this.#usePace(scanIntervalMs, timeScale);
  }
}
