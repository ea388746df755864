/** A refusal that also has a code with parts, because whoever judges before anybody has asked (preflight) tells it by that. */
import type { Told } from '../../../runtime/vocabulary/told.js';
import { Refusal } from '../../platform/base/refusal.js';

class ToldRefusal extends Refusal {
  readonly told: Told;

  constructor({ kind, message, context, beside }: Refusal, as: Told) {
    super(kind, message, context, beside);
    this.told = as;
  }
}

/** @returns the same with its code. */
export function saidAs(refusal: Refusal, as: Told): Refusal {
  return new ToldRefusal(refusal, as);
}

export function toldOf(refusal: Refusal): Told | undefined {
  return refusal instanceof ToldRefusal ? refusal.told : undefined;
}
