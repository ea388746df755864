/**
 * Time-based one-time codes (RFC 6238: HMAC-SHA-1, 30 s, six digits from 1970 on), as every authenticator app makes them. They follow the wall
 * clock and nothing else: a code says which step of time it is of, and a box whose clock is wrong takes codes of another time.
 */
import { timingSafeEqual } from 'node:crypto';
import { generateSecret, generateSync, generateURI } from 'otplib';
import type { WallMs } from '../../../platform/base/times.js';

export const STEP_MS = 30_000;
const DIGITS = 6;
/** RFC 6238 5.2: one step to either side, for slow fingers and clocks that are seconds apart. */
const TOLERANCE_STEPS = 1;
/** RFC 4226 R6 recommends 160 bits. */
const SECRET_BYTES = 20;

/** Base32, as it is typed into an app. */
export function newSecret(): string {
  return generateSecret({ length: SECRET_BYTES });
}

/** As an app reads it from a link or a QR code. */
export function uriOf(secret: string, username: string, issuer: string): string {
  return generateURI({ issuer, label: username, secret });
}

export function stepOf(wallMs: WallMs): number {
  return Math.floor(wallMs / STEP_MS);
}

export function codeOf(secret: string, step: number): string {
  return generateSync({ secret, epoch: (step * STEP_MS) / 1000, digits: DIGITS });
}

/** Six digits, however they were grouped. */
export function readCode(given: string): string | undefined {
  const digits = given.replace(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** Steps near `step` of which the code is, the nearest first: each is looked at, so that nobody learns from the time it takes which one it was. */
export function stepsOfCode(secret: string, code: string, step: number, toleranceSteps = TOLERANCE_STEPS): number[] {
  const found: number[] = [];
  for (let away = 0; away <= toleranceSteps; away += 1)
    for (const near of away === 0 ? [step] : [step - away, step + away]) if (near >= 0 && isSame(codeOf(secret, near), code)) found.push(near);
  return found;
}

function isSame(expected: string, given: string): boolean {
  return expected.length === given.length && timingSafeEqual(Buffer.from(expected), Buffer.from(given));
}
