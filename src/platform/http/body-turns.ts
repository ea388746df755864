/**
 * Turns for the bodies of a route that costs much for each: a request that finds no turn is refused before its body is read, so that a hundred
 * of them at once hold no more memory than the few that have one.
 */
import { Refusal } from '../base/refusal.js';

/** Of a route; no caller has more than one. */
export interface BodyTurnLimits {
  readonly max: number;
  readonly code: string;
  readonly message: string;
}

export class BodyTurns {
  readonly #taken = new Map<BodyTurnLimits, Set<string>>();

  /**
   * @returns gives the turn back.
   * @throws Refusal 503 with the code of the route.
   */
  take(limits: BodyTurnLimits, caller: string): () => void {
    const callers = this.#taken.get(limits) ?? new Set<string>();
    this.#taken.set(limits, callers);
    if (callers.has(caller) || callers.size >= limits.max) throw new Refusal('unavailable', limits.message, { code: limits.code, retryAfterSeconds: 1 });
    callers.add(caller);
    let isGiven = false;
    return () => {
      if (!isGiven) callers.delete(caller);
      isGiven = true;
    };
  }
}
