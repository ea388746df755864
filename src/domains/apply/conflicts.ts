/**
 * What apply refuses by 409, and whether it speaks of what the plant does now: of that a diff tells the changes all the same (ADR 0058). A code
 * that does not stand here is not of now.
 */
import { eachOf, type Refusal } from '../../platform/base/refusal.js';

interface Conflict {
  /** Whether the same manifest is taken when the work has ended, with nothing else done about it. */
  readonly isOfNow: boolean;
  /** Why it is so. */
  readonly because: string;
}

const ofNow = (because: string): Conflict => ({ isOfNow: true, because });
const forGood = (because: string): Conflict => ({ isOfNow: false, because });

export const CONFLICTS = {
  active_batch: ofNow('a unit concerned works for a batch or an ad-hoc run, which ends'),
  element_active: ofNow('the element is at work, and can be edited when it is Idle again'),
  already_exists: forGood('the name is taken until somebody gives one of the two another'),
  too_many_sets: forGood('saved sets of curves stay until somebody deletes one'),
  too_many_open: ofNow('change requests that are decided, withdrawn or expired make room'),
  batch_id_in_use: forGood('a batch or a record keeps its batchID'),
  batch_phase: forGood('a batch that has begun is never Pending again'),
  chart_invalid: forGood('a recipe of more steps than a batch has is never run'),
  duplicate_version: forGood('two recipes of one product keep their versions'),
  element_owned: forGood('an element of a run is written by its batch controller as long as it is there'),
  legal_hold: forGood('what a legal hold keeps stays until an administrator lifts it'),
  managed_by_control_module: forGood('the program is that of a control module'),
  output_claimed: forGood('the output has one that writes it until somebody takes it from there'),
  profile_limit: forGood('the box carries no more, whatever the plant does'),
  recipe_not_effective: forGood('batches are made of the recipe when somebody has released and activated it'),
  recipe_phase: forGood('a recipe goes on or back in its lifecycle when somebody decides it, and one that was Effective is never a Draft again'),
  run_ended: forGood('what has ended is never written again'),
} as const satisfies Readonly<Record<string, Conflict>>;

export const CONFLICT_CODES = Object.keys(CONFLICTS) as readonly (keyof typeof CONFLICTS)[];

/** Refused for nothing but what the plant does now. */
export function isOfNow(refusal: Refusal): boolean {
  return eachOf(refusal).every(({ kind, context: { code = '' } }) => kind === 'conflict' && Object.hasOwn(CONFLICTS, code) && CONFLICTS[code as keyof typeof CONFLICTS].isOfNow);
}
