/** Passwords as PHC strings, scrypt N=2^15 r=8 p=3 (D-AUTH-03). A few hashes run at a time; the rest wait in a `HashQueue`. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { invalid, type Refusal } from '../../platform/base/refusal.js';
import { type HashPlace, HashQueue } from './hash-queue.js';

export interface HashCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export const HASH_COST: HashCost = { ln: 15, r: 8, p: 3 };
const HASH_BYTES = 32;
/** RFC 7914 has N blocks of 128 r bytes and p more; OpenSSL counts two beside them. */
const MEMORY_OF_BLOCK = 128;
const PASSWORD_LENGTH_MAX = 128;
const OWN_PLACE: HashPlace = { source: '', rank: 0 };

const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** @throws Refusal 400 field `password`. */
export function checkPassword(password: string, username: string, lengthMin: number, field = 'password'): void {
  const bad = badPassword(password, username, lengthMin, field);
  if (bad) throw bad;
}

export function badPassword(password: string, username: string, lengthMin: number, field = 'password'): Refusal | undefined {
  const length = [...password].length;
  if (length < lengthMin || length > PASSWORD_LENGTH_MAX) return invalid('invalid_field', field, `${field} must have ${lengthMin} to ${PASSWORD_LENGTH_MAX} characters`);
  if (password.toLowerCase() === username.toLowerCase()) return invalid('invalid_field', field, `${field} must not be the user name`);
  return undefined;
}

export class PasswordHasher {
  readonly #cost: HashCost;
  readonly #queue = new HashQueue();
  /** What an unknown user is checked against, so that both take the same time. */
  readonly #nobody: string;

  constructor(cost: HashCost = HASH_COST) {
    this.#cost = cost;
    this.#nobody = phc(cost, randomBytes(16), randomBytes(HASH_BYTES));
  }

  /** @throws Refusal 429 when the waiting places are taken. */
  async hash(password: string, place = OWN_PLACE): Promise<string> {
    const salt = randomBytes(16);
    return phc(this.#cost, salt, await this.#derive(password, salt, this.#cost, place));
  }

  /**
   * `stored` undefined: takes the time of a check and says no.
   * @throws Refusal 429 when the waiting places are taken.
   */
  async verify(password: string, stored: string | undefined, place = OWN_PLACE): Promise<boolean> {
    const [, ln, r, p, salt, hash] = PHC.exec(stored ?? this.#nobody) ?? [];
    if (salt === undefined || hash === undefined) return false;
    const expected = Buffer.from(hash, 'base64');
    const derived = await this.#derive(password, Buffer.from(salt, 'base64'), { ln: Number(ln), r: Number(r), p: Number(p) }, place);
    return stored !== undefined && expected.length === derived.length && timingSafeEqual(expected, derived);
  }

  /** Whether a hash was made with other parameters than those of today. */
  isOutdated(stored: string): boolean {
    return !stored.startsWith(`$scrypt$ln=${this.#cost.ln},r=${this.#cost.r},p=${this.#cost.p}$`);
  }

  #derive(password: string, salt: Buffer, { ln, r, p }: HashCost, place: HashPlace): Promise<Buffer> {
    return this.#queue.run(
      place,
      () =>
        new Promise<Buffer>((resolve, reject) => {
          const N = 2 ** ln;
          scrypt(password.normalize('NFC'), salt, HASH_BYTES, { N, r, p, maxmem: MEMORY_OF_BLOCK * r * (N + p + 2) }, (fault, key) => (fault ? reject(fault) : resolve(key)));
        }),
    );
  }
}

function phc({ ln, r, p }: HashCost, salt: Buffer, hash: Buffer): string {
  const bare = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=${r},p=${p}$${bare(salt)}$${bare(hash)}`;
}
