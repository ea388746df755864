/** Step 7: the action, the human or key restriction, a pending password change or enrolment (decisions Q-ERR-06, D-AUTH-02). */
import { Refusal } from '../../base/refusal.js';
import { firstDuty } from '../caller.js';
import type { Barrier } from './barrier.js';

export const permission: Barrier = (exchange, { authenticator }) => {
  const { caller, row } = exchange;
  if (row.public || exchange.awaitsToken) return undefined;
  const { action, tier, apiKey, background, duringPasswordChange, duringEnrolment } = row.bound.row;
  // a row of tier `self` that changes something changes it for the person who is signed in
  if (caller.kind === 'panel' && row.mutating && row.bound.row.computes !== true) {
    throw new Refusal('forbidden', 'this panel watches: sign in to change something', { code: 'panel_watches' });
  }
  if (tier !== 'self' && !caller.may(action)) throw new Refusal('forbidden', `you do not hold the action ${action}`, { code: 'action_missing', action });
  if (apiKey === 'only' && caller.kind !== 'apiKey') {
    throw new Refusal('forbidden', 'only an API key may deliver here; a person enters the value through the prompt of the phase', { code: 'human_role' });
  }
  const duty = duringPasswordChange || (duringEnrolment && !caller.mustChangePassword) ? undefined : firstDuty(caller);
  if (duty) throw duty;
  if (!background && exchange.incoming.headers.get('x-lineside-background') !== 'true') authenticator.touch(caller);
  return undefined;
};
