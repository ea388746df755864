/** What a person proves himself with, as a body has it, and how it is refused. */
import * as v from 'valibot';

/** `code` of whoever has a second factor: six digits of the app, or a recovery code. */
export const ProofBody = v.strictObject({ password: v.string(), code: v.optional(v.string()) });

/** All of 401. */
export const PROOF_CODES = ['invalid_credentials', 'account_locked', 'second_factor_required', 'second_factor_unreadable'] as const;
