/** What comes of a verdict on a second factor: what the trail shows of it, and how its absence is refused. */
import { Refusal } from '../../../platform/base/refusal.js';
import type { PasskeyRequest } from '../passkeys/bodies.js';
import type { PasskeyVerdict } from '../passkeys/passkeys.js';
import type { Verdict } from './second-factors.js';

type Right<Of> = Extract<Of, { readonly is: 'right' }>;
export type RightVerdict = Right<Verdict> | Right<PasskeyVerdict>;
export const NO_FACTOR: RightVerdict = { is: 'right', by: 'none', puts: [] };

/** For the audit record: which factor, never the code. */
export function usedFactor(right: RightVerdict): Readonly<Record<string, unknown>> {
  if (right.by === 'none') return {};
  if (right.by === 'passkey') return { secondFactor: right.by, passkey: right.name };
  return { secondFactor: right.by, ...(right.by === 'recovery-code' ? { recoveryCodesLeft: right.recoveryCodesLeft } : {}) };
}

/** What an account can answer with. */
export interface Ways {
  readonly app: boolean;
  /** What a browser makes its answer of. */
  readonly passkey: PasskeyRequest | undefined;
  /** Host names of passkeys that open nothing here. */
  readonly strandedNames: readonly string[];
}

export function factorAsked({ app, passkey, strandedNames }: Ways): Refusal {
  const secondFactors = [...(app ? ['app'] : []), ...(passkey ? ['passkey'] : []), 'recovery-code'];
  const codes = app ? 'the code of its app, or a recovery code, as code' : 'a recovery code, as code';
  const stranded = strandedNames.length > 0 ? `; its passkeys of the host name ${strandedNames.join(', ')} serve no more, since the box has another name or none` : '';
  const text = `this account has a second factor: send ${passkey ? 'the answer of a passkey, as passkey, or ' : ''}${codes}${stranded}`;
  return new Refusal('unauthenticated', text, { code: 'second_factor_required', secondFactors, ...(passkey ? { passkey } : {}) });
}

export function unreadableFactor(): Refusal {
  const way = 'an administrator resets it, or lineside recover-admin on the box makes one who can';
  return new Refusal('unauthenticated', `the second factor of this account cannot be opened with the keys of this box: ${way}`, { code: 'second_factor_unreadable' });
}
