/** What a person proves himself with, as a body has it, and how it is refused. */
import * as v from 'valibot';
import { conflict, type Refusal } from '../../platform/base/refusal.js';
import { Assertion } from './passkeys/bodies.js';

/** Of whoever has a second factor: `code`, six digits of the app or a recovery code, or `passkey`, which counts where both are given. */
export const SECOND = { code: v.optional(v.string()), passkey: v.optional(Assertion) } as const;

export const ProofBody = v.strictObject({ password: v.string(), ...SECOND });

/** Of somebody who is not signed in, beside somebody who is (ADR 0144). */
export const BesideProof = v.strictObject({ username: v.string(), ...ProofBody.entries });
export type BesideProof = v.InferOutput<typeof BesideProof>;

/** How somebody proves who he is. */
export type Proof = v.InferOutput<typeof ProofBody>;

/** All of 401. */
export const PROOF_CODES = ['invalid_credentials', 'account_locked', 'second_factor_required', 'second_factor_unreadable'] as const;

/** An identity provider proves one person to a browser: the session that it keeps there is his. */
export function secondElsewhere(): Refusal {
  return conflict(
    'second_signer_unavailable',
    'a second person proves himself beside the first with an account of this box, and here people sign in at the identity provider: a lead operator takes the phase past the step in Manual, or a next version of the recipe asks one person',
  );
}
