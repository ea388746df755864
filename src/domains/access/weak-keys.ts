/**
 * RSA keys with which anybody signs who has the public half: what an identity provider serves by mistake is no key. An exponent outside of
 * FIPS 186-5 A.1.1 (with 1 every text is its own signature), and moduli of the library that made primes one can compute (ROCA, CVE-2017-15361).
 */
import type { JWK } from 'jose';

const EXPONENT_MIN = 1n << 16n;
const EXPONENT_MAX = 1n << 256n;

/** Of "The Return of Coppersmith's Attack" (Nemec and others, 2017): modulo each of them its moduli are powers of 65537, those of others now and then. */
const PRIMES = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157];
const GENERATOR = 65537;
const POWERS: readonly (readonly [prime: bigint, powers: ReadonlySet<number>])[] = PRIMES.map((prime) => [BigInt(prime), powersOf(prime)]);

function powersOf(prime: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * GENERATOR) % prime) powers.add(power);
  return powers;
}

/** Of no RSA key. */
export function isWeak({ kty, n, e }: JWK): boolean {
  if (kty !== 'RSA') return false;
  const [modulus, exponent] = [numberIn(n), numberIn(e)];
  if (exponent <= EXPONENT_MIN || exponent >= EXPONENT_MAX || exponent % 2n === 0n) return true;
  return POWERS.every(([prime, powers]) => powers.has(Number(modulus % prime)));
}

function numberIn(text: unknown): bigint {
  return typeof text === 'string' ? BigInt(`0x0${Buffer.from(text, 'base64url').toString('hex')}`) : 0n;
}
