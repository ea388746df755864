/**
 * Passwords as PHC strings, scrypt N=2^15 r=8 p=3 (D-AUTH-03). At most two hashes run at a time: a hash takes 32 MiB and
 * one core for a tenth of a second, and a flood of logins must not starve the appliance.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { invalid, Refusal } from '../../platform/base/refusal.js';

export interface HashCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export const HASH_COST: HashCost = { ln: 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const PASSWORD_LENGTH_MAX = 128;
const AT_A_TIME = 2;
const WAITING_MAX = 64; // the 65th waiting login is told to come back

const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** @throws Refusal 400 field `password`. */
export function checkPassword(password: string, username: string, lengthMin: number, field = 'password'): void {
  const length = [...password].length;
  if (length < lengthMin || length > PASSWORD_LENGTH_MAX) throw invalid('invalid_field', field, `${field} must have ${lengthMin} to ${PASSWORD_LENGTH_MAX} characters`);
  if (password.toLowerCase() === username.toLowerCase()) throw invalid('invalid_field', field, `${field} must not be the user name`);
}

export class PasswordHasher {
  readonly #cost: HashCost;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** What an unknown user is checked against, so that both take the same time. */
  readonly #nobody: string;

  constructor(cost: HashCost = HASH_COST) {
    this.#cost = cost;
    this.#nobody = phc(cost, randomBytes(16), randomBytes(HASH_BYTES));
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    return phc(this.#cost, salt, await this.#derive(password, salt, this.#cost));
  }

  /** `stored` undefined: takes the time of a check and says no. */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const parts = PHC.exec(stored ?? this.#nobody);
    if (!parts) return false;
    const expected = Buffer.from(parts[5], 'base64');
    const derived = await this.#derive(password, Buffer.from(parts[4], 'base64'), { ln: Number(parts[1]), r: Number(parts[2]), p: Number(parts[3]) });
    return stored !== undefined && expected.length === derived.length && timingSafeEqual(expected, derived);
  }

  /** Whether a hash was made with other parameters than those of today. */
  isOutdated(stored: string): boolean {
    return !stored.startsWith(`$scrypt$ln=${this.#cost.ln},r=${this.#cost.r},p=${this.#cost.p}$`);
  }

  async #derive(password: string, salt: Buffer, { ln, r, p }: HashCost): Promise<Buffer> {
    if (this.#running >= AT_A_TIME) {
      if (this.#waiting.length >= WAITING_MAX) throw new Refusal('limited', 'too many logins at once; try again', { code: 'rate_limited', retryAfterSeconds: 2 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const N = 2 ** ln;
        scrypt(password.normalize('NFC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (fault, key) => (fault ? reject(fault) : resolve(key)));
      });
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}

function phc({ ln, r, p }: HashCost, salt: Buffer, hash: Buffer): string {
  const bare = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=${r},p=${p}$${bare(salt)}$${bare(hash)}`;
}
