/**
 * Whether a public key proves anything. No authenticator that works makes another one: but with no attestation nothing is signed when a key is
 * registered, so that a bad one would be found out when somebody else has signed with it, or when its owner stands before the door.
 */
import { createPublicKey } from 'node:crypto';
import { isWeak } from '../weak-keys.js';

/** Labels and values of RFC 9052 7, RFC 9053 7 and RFC 8230 4. */
const KEY_TYPE = 1;
const ALGORITHM = 3;
const CURVE_OR_MODULUS = -1;
const X_OR_EXPONENT = -2;
const Y = -3;
const [OKP, EC2, RSA] = [1, 2, 3];
const [P256, ED25519] = [1, 6];

const MODULUS_BITS_MIN = 2048;

/** Multiples of them are few, so that one signature fits every text (RFC 8032 8.2 leaves them to the verifier); hexadecimal, without the sign of x. */
const SMALL_ORDER = new Set([
  `00${'00'.repeat(30)}00`,
  `01${'00'.repeat(30)}00`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);
const SIGN_BYTE = 31;

type CoseKey = ReadonlyMap<number, unknown>;
type Jwk = Readonly<Record<string, string>> & { readonly kty: string };

/** `algorithm`: it is of another kind than its algorithm signs with (Web Authentication 5.8.5); `key`: it is none, or anybody signs with it. */
export function flawOf(key: CoseKey): 'algorithm' | 'key' | undefined {
  const jwk = jwkOf(key);
  if (!jwk) return 'algorithm';
  return isSound(jwk) ? undefined : 'key';
}

function jwkOf(key: CoseKey): Jwk | undefined {
  const kind = key.get(KEY_TYPE);
  const curve = key.get(CURVE_OR_MODULUS);
  const x = textOf(key.get(X_OR_EXPONENT));
  switch (key.get(ALGORITHM)) {
    case -8:
      return kind === OKP && curve === ED25519 ? { kty: 'OKP', crv: 'Ed25519', x } : undefined;
    case -7:
      return kind === EC2 && curve === P256 ? { kty: 'EC', crv: 'P-256', x, y: textOf(key.get(Y)) } : undefined;
    case -257:
      return kind === RSA ? { kty: 'RSA', n: textOf(curve), e: x } : undefined;
    default:
      return undefined;
  }
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : '';
}

function isSound(jwk: Jwk): boolean {
  let bits: number | undefined;
  try {
    bits = createPublicKey({ key: { ...jwk }, format: 'jwk' }).asymmetricKeyDetails?.modulusLength;
  } catch {
    return false; // of no point of the curve, or too short
  }
  if (jwk.kty === 'RSA') return (bits ?? 0) >= MODULUS_BITS_MIN && !isWeak(jwk);
  return jwk.kty !== 'OKP' || !isOfSmallOrder(Buffer.from(jwk.x ?? '', 'base64url'));
}

function isOfSmallOrder(point: Buffer): boolean {
  point.writeUInt8(point.readUInt8(SIGN_BYTE) & 0x7f, SIGN_BYTE);
  return SMALL_ORDER.has(point.toString('hex'));
}
