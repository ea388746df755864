/** Step 4: an API key is confined to `/api/v1/mes/sites/{site}/...` (contract 1, Authentication 3; decisions Q-AUTH-16). */
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const fence: Barrier = ({ caller, row }) => {
  if (caller.kind !== 'apiKey' || row.fenced) return undefined;
  throw new Refusal('forbidden', 'an API key is accepted on the MES routes only', { code: 'api_key_fence' });
};
