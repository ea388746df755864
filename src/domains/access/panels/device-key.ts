/**
 * The device key of a panel (D-C-18): P-256, since WebCrypto of every browser has it and keeps it so that no script can read it out. What is
 * signed says what it is for, so that a signature serves nothing else.
 */
import { createPublicKey, verify } from 'node:crypto';
import * as v from 'valibot';
import { invalid } from '../../../platform/base/refusal.js';
import { hashOf } from '../sessions.js';

/** 32 bytes in base64url. */
const Coordinate = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url'));
/** JWK of RFC 7518 6.2, the public members alone. */
export const DeviceKey = v.strictObject({ kty: v.literal('EC'), crv: v.literal('P-256'), x: Coordinate, y: Coordinate });
export type DeviceKey = v.InferOutput<typeof DeviceKey>;

const PURPOSE = 'lineside panel 1 ';
const SIGNATURE_BYTES = 64;

/** Of its members in the order and spelling of RFC 7638, in hexadecimal digits. */
export function keyIdOf({ crv, kty, x, y }: DeviceKey): string {
  return hashOf(JSON.stringify({ crv, kty, x, y }));
}

/** @throws Refusal 400 for a point that is not on the curve, and for one in another spelling: each key has one id. */
export function checkDeviceKey(key: DeviceKey): void {
  if (!isOnCurve(key) || ![key.x, key.y].every(isCanonical)) throw invalid('invalid_field', 'publicKey', 'publicKey must be a public key of the curve P-256 as a JWK');
}

function isOnCurve(key: DeviceKey): boolean {
  try {
    return createPublicKey({ key: { ...key }, format: 'jwk' }).type === 'public';
  } catch {
    return false;
  }
}

/** The last character has two bits that no decoder reads. */
function isCanonical(coordinate: string): boolean {
  return Buffer.from(coordinate, 'base64url').toString('base64url') === coordinate;
}

/** ECDSA with SHA-256, in the form that WebCrypto makes (r and s, 32 bytes each). */
export function isSignedBy(key: DeviceKey, challenge: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== SIGNATURE_BYTES) return false;
  return verify('sha256', Buffer.from(PURPOSE + challenge), { key: createPublicKey({ key: { ...key }, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }, bytes);
}
