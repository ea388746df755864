/**
 * How long procedural elements above the phase have run (D-C-07, D-SFC-02): plant time in Running, Pausing and Restarting for
 * `<step>.T`, and time of every state for a budget. Monotonic; what is kept with the element is gone on from after a restart,
 * when the time in between counts as none.
 */
import type { State } from '../../../../runtime/vocabulary/states.js';
import { isActive } from '../../../../runtime/vocabulary/transitions.js';
import type { Clock } from '../../../platform/base/clock.js';
import { Deadline, Stopwatch } from '../../../platform/base/elapsed.js';
import { onePerStore } from '../../../platform/store/one-per-store.js';

export interface RunTimes {
  /** Plant time in the states that count, since the run began. */
  readonly ranMs: number;
  /** Of the budget; null while none is spent. */
  readonly spentMs: number | null;
}

const COUNTS: readonly State[] = ['Running', 'Pausing', 'Restarting'];

interface Running {
  readonly times: RunTimes;
  /** How fast the run time of its state passes; 0 in a state that does not count. */
  readonly rate: number;
  readonly since: Stopwatch;
}

export class RunClocks {
  readonly #running = new Map<string, Running>();
  readonly #settling = new Map<string, { readonly by: string; readonly deadline: Deadline }>();
  readonly #active = new Map<string, { readonly since: string; readonly watch: Stopwatch }>();

  /** Now; `kept` is what the element has on record. */
  read(key: string, kept: RunTimes): RunTimes {
    const running = this.#running.get(key);
    if (!running) return kept;
    const { times, rate, since } = running;
    const ranMs = times.ranMs + since.elapsedMs * rate;
    return { ranMs, spentMs: times.spentMs === null ? null : times.spentMs + since.elapsedMs };
  }

  /** Goes on from here; an element that is not at work is forgotten. */
  note(key: string, { ranMs, spentMs }: RunTimes, state: State, timeScale: number, clock: Clock): void {
    if (isActive(state)) this.#running.set(key, { times: { ranMs, spentMs }, rate: COUNTS.includes(state) ? timeScale : 0, since: new Stopwatch(clock) });
    else this.#running.delete(key);
  }

  /** Until a Stop or Abort has to have settled, told as `by`; it runs anew after a restart, as the charts do. */
  settling(key: string, by: string, forMs: number, clock: Clock): Deadline {
    const known = this.#settling.get(key);
    if (known?.by === by) return known.deadline;
    const deadline = new Deadline(clock, forMs);
    this.#settling.set(key, { by, deadline });
    return deadline;
  }

  settled(key: string): void {
    this.#settling.delete(key);
  }

  /** How long a signal or barrier has been Active, told as `since`; `keptMs` is what it has on record of it. */
  activeMs(key: string, since: string, keptMs: number, clock: Clock): number {
    if (since === '') {
      this.inactive(key);
      return 0;
    }
    let known = this.#active.get(key);
    if (known?.since !== since) this.#active.set(key, (known = { since, watch: new Stopwatch(clock, keptMs) }));
    return known.watch.elapsedMs;
  }

  inactive(key: string): void {
    this.#active.delete(key);
  }
}

export const runClocks = onePerStore(() => new RunClocks());
