/** When a batch or an ad-hoc run is looked at although nobody reports anything. */
import type { Outcome } from '../../../platform/reconcile/loop.js';

/** A deadline that has just passed is looked at once more in a moment, not in the same turn. */
export const LOOK_AGAIN_MIN_MS = 10;

/** When the first of the times is over; without any it waits until it is woken. */
export function lookAgain(leftMs: readonly number[]): Outcome {
  return leftMs.length === 0 ? 'settled' : { lookAgainMs: Math.max(LOOK_AGAIN_MIN_MS, Math.min(...leftMs)) };
}
