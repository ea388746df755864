/** Waits for what the box comes to, through times in which it does not answer: a wait of hours outlives a restart of the box. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiError } from '../../client/api.js';
import { isPassing } from '../../client/passing.js';
import type { Terminal } from './terminal.js';

/** What comes soon is seen soon; whoever waits for hours asks seldom. */
const LOOK_AGAIN_MS_MIN = 200;
const LOOK_AGAIN_MS_MAX = 2000;
const SLOWER = 1.1;

export interface Patience<T> {
  /** Undefined where it is not there yet. */
  readonly look: () => Promise<T | undefined>;
  /** Without it there is no end. */
  readonly withinMs: number | undefined;
  /** Thrown when time is up. */
  readonly late: () => Error;
  readonly terminal: Pick<Terminal, 'say'>;
  /** Ends it with undefined. */
  readonly signal?: AbortSignal;
}

/** @throws what `look` throws and another try does not mend; where time is up while the box does not answer, its ApiError. */
export async function until<T>(patience: Patience<T> & { readonly signal: AbortSignal }): Promise<T | undefined>;
export async function until<T>(patience: Patience<T>): Promise<T>;
export async function until<T>({ look, withinMs = Number.POSITIVE_INFINITY, late, terminal, signal }: Patience<T>): Promise<T | undefined> {
  const begun = performance.now();
  let away: ApiError | undefined;
  for (let pauseMs = LOOK_AGAIN_MS_MIN; ; pauseMs = Math.min(LOOK_AGAIN_MS_MAX, pauseMs * SLOWER)) {
    try {
      const seen = await look();
      if (away) terminal.say('lineside: the box answers again');
      away = undefined;
      if (seen !== undefined) return seen;
    } catch (fault) {
      if (!isPassing(fault)) throw fault;
      if (!away) terminal.say(`lineside: the box cannot be asked now (${fault.message}); waiting goes on`);
      away = fault;
    }
    const leftMs = withinMs - (performance.now() - begun);
    if (leftMs <= 0) throw away ?? late();
    await pause(Math.min(pauseMs, leftMs), undefined, signal && { signal }).catch(() => undefined);
    if (signal?.aborted === true) return undefined;
  }
}
