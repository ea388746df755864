/**
 * Step 8: signature operations need a token issued within the last 5 minutes (contract 1, Authentication 7; decisions
 * Q-AUTH-09). Exactly 300 s is fresh. Where freshness depends on the body the same check runs after JSON parsing.
 */
import type { WallMs } from '../../base/times.js';
import { Refusal } from '../../base/refusal.js';
import type { Caller } from '../caller.js';
import type { Exchange } from '../exchange.js';
import type { Barrier, Guard } from './barrier.js';

export const FRESH_TOKEN_AGE_MAX_MS = 300_000; // contract 1, Limits

export const freshToken: Barrier = (exchange, guard) => {
  if (exchange.row.bound.row.freshToken === true) requireFreshToken(exchange, guard);
  return undefined;
};

export function requireFreshToken(exchange: Exchange, { authenticator, clock }: Guard): void {
  if (!authenticator.freshTokenRequired || isFresh(exchange.caller, clock.wallMs())) return;
  throw new Refusal('unauthenticated', 'this operation is signed: enter your password again and repeat it', { code: 'reauthentication_required' });
}

export function isFresh(caller: Caller, nowMs: WallMs): boolean {
  if (caller.kind !== 'human' || caller.issuedAtMs === null) return false;
  if (caller.token) return caller.token.issued.elapsedMs <= FRESH_TOKEN_AGE_MAX_MS && caller.token.signedIn.elapsedMs <= FRESH_TOKEN_AGE_MAX_MS;
  return nowMs - caller.issuedAtMs <= FRESH_TOKEN_AGE_MAX_MS && (caller.authTimeMs === null || nowMs - caller.authTimeMs <= FRESH_TOKEN_AGE_MAX_MS);
}
