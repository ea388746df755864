/**
 * When a device that is away is tried again (decisions D-IO-02, ADR 0091): after `reconnectMinMs`, doubling up to `reconnectMaxMs`, 20 % jitter.
 *
 * Invariant: the steps are given back by a connection that has been good for a while, never by one that has merely been made.
 */
import type { Clock } from '../vocabulary/clock.js';
import type { DurationMs, MonoMs, WallMs } from '../vocabulary/times.js';
import { backoffMs } from './backoff.js';

/** Good for so many times `reconnectMinMs` (10 s where nobody says otherwise): what comes then is not the next of one trouble. */
const STEADY_TIMES = 20;

interface Waiting {
  readonly sinceMs: MonoMs;
  readonly untilMs: MonoMs;
  readonly resolve: () => void;
  cancel: () => void;
}

export interface ReconnectionHost {
  readonly clock: Clock;
  /** In [0, 1): jitter. */
  random(): number;
  settings(): { readonly reconnectMinMs: DurationMs; readonly reconnectMaxMs: DurationMs };
}

export class Reconnection {
  readonly #host: ReconnectionHost;
  /** Told of the next attempt when one is waited for, and of 0 when that is over. */
  readonly #told: (nextAttemptMs: WallMs) => void;
  #failures = 0;
  #goodSinceMs: MonoMs | undefined;
  #waiting: Waiting | undefined;
  #isEnded = false;

  constructor(host: ReconnectionHost, told: (nextAttemptMs: WallMs) => void) {
    this.#host = host;
    this.#told = told;
  }

  /** This connection has brought a good sample; the first one counts. */
  good(): void {
    this.#goodSinceMs ??= this.#host.clock.monoMs();
  }

  /** The attempt has failed, or the connection is gone. `lastAnswerMs`: until then it was good, if it ever was. */
  failed(lastAnswerMs: MonoMs): void {
    const { reconnectMinMs } = this.#host.settings();
    const goodForMs = this.#goodSinceMs === undefined ? -1 : lastAnswerMs - this.#goodSinceMs;
    this.#goodSinceMs = undefined;
    this.#failures = goodForMs >= STEADY_TIMES * reconnectMinMs ? 1 : this.#failures + 1;
  }

  /** Until the next attempt is due, somebody asks for it, or there is none any more. */
  wait(): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    const { clock } = this.#host;
    const { reconnectMinMs, reconnectMaxMs } = this.#host.settings();
    const delayMs = backoffMs(this.#failures, reconnectMinMs, reconnectMaxMs, this.#host.random());
    const sinceMs = clock.monoMs();
    return new Promise<void>((resolve) => {
      this.#waiting = { sinceMs, untilMs: sinceMs + delayMs, resolve, cancel: clock.after(delayMs, () => this.#over()) };
      this.#told(clock.wallMs() + delayMs);
    });
  }

  /** At once, but never sooner than `reconnectMinMs` after the last attempt, however often it is asked for. */
  now(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const { clock } = this.#host;
    const earliestMs = Math.min(waiting.sinceMs + this.#host.settings().reconnectMinMs, waiting.untilMs);
    waiting.cancel();
    if (clock.monoMs() >= earliestMs) this.#over();
    else waiting.cancel = clock.after(earliestMs - clock.monoMs(), () => this.#over());
  }

  end(): void {
    this.#isEnded = true;
    this.#over();
  }

  #over(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    waiting.cancel();
    this.#told(0);
    waiting.resolve();
  }
}
