/** One trial of a cable acceptance, from what the process image shows look by look. Pure but for the state of one trial. */
import type { MonoMs } from '../../platform/base/times.js';
import type { CableTrial, TrialName } from './cable-kind.js';

/** A silent device is Bad within 3 s (decisions 7). */
export const SILENCE_MS_MAX = 3000;
/** What one look may be late. */
const LOOK_MS = 100;
/** A clock that was set by less was not set for a trial. */
const CLOCK_STEP_MS_MIN = 1000;
/** How long the channels have to be Good again once the end was told. */
export const RETURN_MS_MAX = 60_000;
/** The device is gone for as long as these last. */
const GONE: readonly TrialName[] = ['cable-pulled', 'half-open', 'device-restarted'];

/** What is shown of a channel at one moment. */
export interface Shown {
  readonly channel: string;
  readonly isGood: boolean;
  readonly sampledMonoMs: MonoMs;
  /** How often it is asked for. */
  readonly pollMs: number;
}

export type TrialFigures = Pick<CableTrial, 'watched' | 'firstBadMs' | 'allBadMs' | 'goodWhileGone' | 'oldestGoodMs' | 'goodAgainMs' | 'problems' | 'incomplete'>;

export class TrialObserver {
  readonly #trial: TrialName;
  readonly #begunMonoMs: MonoMs;
  readonly #watched: ReadonlyMap<string, number>;
  /** By channel: when it was Good no more. */
  readonly #badMs = new Map<string, number>();
  readonly #goodWhileGone = new Set<string>();
  #oldestGoodMs = 0;
  #tooOld = '';
  #overMonoMs: MonoMs | undefined;
  #goodAgainMs: number | null = null;

  constructor(trial: TrialName, shown: readonly Shown[], nowMonoMs: MonoMs) {
    this.#trial = trial;
    this.#begunMonoMs = nowMonoMs;
    this.#watched = new Map(shown.flatMap(({ channel, isGood, pollMs }) => (isGood ? [[channel, pollMs]] : [])));
  }

  /** The fault is over: the cable is plugged in again. */
  over(nowMonoMs: MonoMs): void {
    this.#overMonoMs ??= nowMonoMs;
  }

  /** It is over, and everything is Good again. */
  get isSettled(): boolean {
    return this.#goodAgainMs !== null;
  }

  look(shown: readonly Shown[], nowMonoMs: MonoMs): void {
    let good = 0;
    const wasAllBad = this.#badMs.size === this.#watched.size;
    for (const { channel, isGood, sampledMonoMs } of shown) {
      const pollMs = this.#watched.get(channel);
      if (pollMs === undefined) continue;
      if (!isGood) {
        if (!this.#badMs.has(channel)) this.#badMs.set(channel, nowMonoMs - this.#begunMonoMs);
        continue;
      }
      good += 1;
      this.#age(channel, nowMonoMs - sampledMonoMs, pollMs);
      if (this.#overMonoMs === undefined && wasAllBad) this.#goodWhileGone.add(channel);
    }
    if (this.#overMonoMs !== undefined && this.#goodAgainMs === null && good === this.#watched.size) this.#goodAgainMs = Math.round(nowMonoMs - this.#overMonoMs);
  }

  #age(channel: string, ageMs: number, pollMs: number): void {
    this.#oldestGoodMs = Math.max(this.#oldestGoodMs, Math.round(ageMs));
    if (ageMs > SILENCE_MS_MAX + pollMs + LOOK_MS) this.#tooOld = channel;
  }

  /** `clockStepMs`: how far the wall clock was set meanwhile. What is not shown by the trial is no fault, and no pass either. */
  figures(nowMonoMs: MonoMs, clockStepMs: number): TrialFigures {
    const lastedMs = (this.#overMonoMs ?? nowMonoMs) - this.#begunMonoMs;
    const isShort = lastedMs < SILENCE_MS_MAX + LOOK_MS;
    const isReturnAwaited = this.#overMonoMs === undefined || nowMonoMs - this.#overMonoMs < RETURN_MS_MAX;
    const bad = [...this.#badMs.values()].map(Math.round);
    const allBadMs = bad.length > 0 && bad.length === this.#watched.size ? Math.max(...bad) : null;
    const isGone = GONE.includes(this.#trial);
    const stayed = [...this.#watched.keys()].filter((channel) => !this.#badMs.has(channel));
    const problems = [
      ...(this.#watched.size === 0 ? ['no channel was Good when it began: nothing could be watched'] : []),
      ...(isGone && stayed.length > 0 && !isShort ? [`${stayed.join(', ')} stayed Good while the device was gone`] : []),
      ...(isGone && allBadMs !== null && allBadMs > SILENCE_MS_MAX + LOOK_MS ? [`the last channel was Good no more after ${allBadMs} ms; ${SILENCE_MS_MAX} ms are promised`] : []),
      ...(isGone && this.#goodWhileGone.size > 0 ? [`${[...this.#goodWhileGone].join(', ')} became Good while the device was gone`] : []),
      ...(this.#tooOld === '' ? [] : [`${this.#tooOld} was shown as Good with a sample of ${this.#oldestGoodMs} ms`]),
      ...(this.#goodAgainMs === null && !isReturnAwaited ? ['not every channel was Good again'] : []),
    ];
    const incomplete = [
      ...(isGone && stayed.length > 0 && isShort
        ? [`it lasted ${Math.round(lastedMs)} ms: a device that is gone is told within ${SILENCE_MS_MAX} ms, and nothing is shown of ${stayed.join(', ')}`]
        : []),
      ...(this.#trial === 'clock-jumped' && Math.abs(clockStepMs) < CLOCK_STEP_MS_MIN ? ['the clock was not set while it lasted'] : []),
      ...(this.#goodAgainMs === null && isReturnAwaited ? ['it ended before every channel was Good again'] : []),
    ];
    return {
      watched: this.#watched.size,
      firstBadMs: bad.length > 0 ? Math.min(...bad) : null,
      allBadMs,
      goodWhileGone: isGone ? [...this.#goodWhileGone] : [],
      oldestGoodMs: this.#oldestGoodMs,
      goodAgainMs: this.#goodAgainMs,
      problems,
      incomplete,
    };
  }
}
