/** What comes of a verdict on a second factor: what the trail shows of it, and how its absence is refused. */
import { Refusal } from '../../../platform/base/refusal.js';
import type { Verdict } from './second-factors.js';

export type RightVerdict = Extract<Verdict, { readonly is: 'right' }>;
export const NO_FACTOR: RightVerdict = { is: 'right', by: 'none', puts: [] };

/** For the audit record: which factor, never the code. */
export function usedFactor({ by, recoveryCodesLeft }: RightVerdict): Readonly<Record<string, unknown>> {
  if (by === 'none') return {};
  return { secondFactor: by, ...(by === 'recovery-code' ? { recoveryCodesLeft } : {}) };
}

export function codeAsked(): Refusal {
  return new Refusal('unauthenticated', 'this account has a second factor: send the code of its app, or a recovery code, as code', { code: 'second_factor_required' });
}

export function unreadableFactor(): Refusal {
  const way = 'an administrator resets it, or lineside recover-admin on the box makes one who can';
  return new Refusal('unauthenticated', `the second factor of this account cannot be opened with the keys of this box: ${way}`, { code: 'second_factor_unreadable' });
}
