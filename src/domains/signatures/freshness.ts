/**
 * What proves at the moment of signing that it is the signer (21 CFR 11.200): the one place that says so, for the rows that are signed and for
 * what their signatures record of it. Today that is a token of the last five minutes, so a password or a sign-in at the identity provider;
 * a second factor is another way, and changes this file alone.
 */
import type { RouteColumns } from '../../platform/http/route.js';
import type { Caller } from '../../platform/http/caller.js';

export const PROOFS = ['fresh-token', 'none'] as const;
export type Proof = (typeof PROOFS)[number];

/** Columns of a row that is signed. */
export const freshness = { freshToken: true } as const satisfies Pick<RouteColumns, 'freshToken'>;

/** What was proven when the row was let through; `none` where nobody signs in. */
export function proofOf({ issuedAtMs }: Pick<Caller, 'issuedAtMs'>): Proof {
  return issuedAtMs === null ? 'none' : 'fresh-token';
}
