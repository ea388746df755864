/**
 * What somebody signs to show that a key is his: a panel (D-C-18), a passkey. A challenge says by its own code for whom, for what and how long it
 * is, so that asking for challenges takes no memory and a flood of questions costs nobody anything; only those that were used are remembered,
 * until they would be over anyway. The key of the codes is of this start: after a restart no earlier challenge serves, used or not.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { Deadline } from '../../platform/base/elapsed.js';
import { Refusal } from '../../platform/base/refusal.js';

const NONCE_BYTES = 16;
const DUE_BYTES = 8;
const CODE_BYTES = 32;
/** Of one account within the time of a challenge: a panel renews every few minutes, a person signs a few things. */
const USED_MAX = 30;

export interface ChallengeTerms {
  readonly withinMs: number;
  /** Told to an account that uses them without end. */
  readonly tooMany: string;
}

interface Used {
  readonly challenge: string;
  readonly until: Deadline;
}

export class Challenges {
  readonly #clock: Clock;
  readonly #terms: ChallengeTerms;
  readonly #key = randomBytes(CODE_BYTES);
  /** By account id, oldest first. */
  readonly #used = new Map<string, readonly Used[]>();

  constructor(clock: Clock, terms: ChallengeTerms) {
    this.#clock = clock;
    this.#terms = terms;
  }

  /** @param purpose what the answer opens; it opens nothing else. */
  issue(accountId: string, purpose: string): string {
    const due = Buffer.alloc(DUE_BYTES);
    due.writeDoubleBE(this.#clock.monoMs() + this.#terms.withinMs);
    const said = Buffer.concat([randomBytes(NONCE_BYTES), due]);
    return Buffer.concat([said, this.#codeOf(accountId, purpose, said)]).toString('base64url');
  }

  /** Whether it was given to this account for this purpose, is not over and was not used: in the one spelling in which it was given. */
  holds(challenge: string, accountId: string, purpose: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== NONCE_BYTES + DUE_BYTES + CODE_BYTES || bytes.toString('base64url') !== challenge) return false;
    const said = bytes.subarray(0, NONCE_BYTES + DUE_BYTES);
    if (!timingSafeEqual(bytes.subarray(said.length), this.#codeOf(accountId, purpose, said))) return false;
    if (this.#clock.monoMs() >= said.readDoubleBE(NONCE_BYTES)) return false;
    return !this.#usedOf(accountId).some((used) => used.challenge === challenge);
  }

  /** It was answered: it serves nobody again. @throws Refusal 429 for an account that uses them without end. */
  use(challenge: string, accountId: string): void {
    const used = this.#usedOf(accountId);
    const { withinMs, tooMany } = this.#terms;
    if (used.length >= USED_MAX) throw new Refusal('limited', tooMany, { code: 'rate_limited', retryAfterSeconds: Math.ceil(withinMs / 1000) });
    this.#used.set(accountId, [...used, { challenge, until: new Deadline(this.#clock, withinMs) }]);
  }

  /** The account is gone. */
  forget(accountId: string): void {
    this.#used.delete(accountId);
  }

  #usedOf(accountId: string): readonly Used[] {
    return (this.#used.get(accountId) ?? []).filter(({ until }) => !until.hasPassed);
  }

  #codeOf(accountId: string, purpose: string, said: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(accountId).update('\0').update(purpose).update('\0').update(said).digest();
  }
}
