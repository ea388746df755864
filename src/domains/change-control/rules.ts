/** The life of a change request (decisions Q-CHANGE-02), and what is judged when one is written. */
import { conflict, invalid, Refusal } from '../../platform/base/refusal.js';
import type { Terms } from '../../platform/base/term.js';
import { ruled } from '../../platform/store/kind.js';
import { type ChangePhase, ChangeRequest, type ChangeRequestResource, type PastRequest } from './kind.js';

/** Decisions Q-CHANGE-02. A pair that is not listed is a conflict; `apply` and `fail` come with the approval, in its transaction. */
export const MOVES = [
  { from: 'Pending', by: 'approve', to: ['Approved', 'Applied', 'Failed'] },
  { from: 'Pending', by: 'reject', to: ['Rejected'] },
  { from: 'Pending', by: 'withdraw', to: ['Withdrawn'] },
  { from: 'Pending', by: 'expire', to: ['Expired'] },
] as const satisfies readonly { from: ChangePhase; by: string; to: readonly ChangePhase[] }[];

export type MoveAction = (typeof MOVES)[number]['by'];

/**
 * @param left what is left of its time, in ms.
 * @throws Refusal 409 `change_request_state`.
 */
export function refuseMove({ metadata: { name }, status }: ChangeRequestResource, by: Exclude<MoveAction, 'expire'>, leftMs: number): void {
  const { phase, until } = status;
  if (!MOVES.some((move) => move.from === phase && move.by === by))
    throw conflict('change_request_state', `change request ${name} is ${phase}, and ${by} is for one that is Pending; make another one for another change`, { phase });
  if (leftMs <= 0)
    throw conflict('change_request_state', `the time of change request ${name} is over (${until}); make another one for the same change`, {
      phase: 'Expired' satisfies ChangePhase,
    });
}

/** 0 of one that does not say how long it lasts. */
export function leftMsOf({ status: { until, term } }: Pick<ChangeRequestResource, 'status'>, terms: Terms): number {
  return term ? terms.remainingMs({ until, term }) : 0;
}

/** Its author by what he has signed: the status beside it is for people. */
export function authorOf({ spec }: Pick<ChangeRequestResource, 'spec'>): string | undefined {
  return spec.signatures.find(({ meaning }) => meaning === 'change-create')?.signer.accountId;
}

/** @throws Refusal 403 `self_approval` (decisions Q-CHANGE-03). */
export function refuseSelf(request: ChangeRequestResource, accountId: string, isAllowed: boolean): void {
  if (isAllowed || authorOf(request) !== accountId) return;
  const message = `change request ${request.metadata.name} is your own: somebody else decides it, or you withdraw it`;
  throw new Refusal('forbidden', message, { code: 'self_approval' });
}

export const changeRequestRules = ruled(ChangeRequest, {
  admit(spec, { name, site, before, read }) {
    if (spec.signatures.length > 0) throw invalid('invalid_field', 'spec.signatures', 'spec.signatures must be empty: the gateway signs for who sends the request');
    if (before || read.pastIndex<PastRequest>(ChangeRequest, site, ['name', name]).length > 0)
      throw conflict('already_exists', `change request ${name} exists already, and is never written again; take another name`, { kind: ChangeRequest.kind, name });
    return spec;
  },
});
