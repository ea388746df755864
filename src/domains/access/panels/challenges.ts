/**
 * What a panel signs to show that it is itself (D-C-18). A challenge says by its own code for whom and how long it is, so that asking for
 * challenges takes no memory and a flood of questions costs nobody anything; only those that were used are remembered, until they would be over anyway.
 * The key of the codes is of this start: after a restart no earlier challenge serves, used or not.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../platform/base/clock.js';
import { Deadline } from '../../../platform/base/elapsed.js';
import { Refusal } from '../../../platform/base/refusal.js';

export const CHALLENGE_WITHIN_MS = 60_000;
const NONCE_BYTES = 16;
const DUE_BYTES = 8;
const CODE_BYTES = 32;
/** A panel renews every few minutes. */
const USED_OF_PANEL_MAX = 30;

interface Used {
  readonly challenge: string;
  readonly until: Deadline;
}

export class Challenges {
  readonly #clock: Clock;
  readonly #key = randomBytes(CODE_BYTES);
  /** By account id of the panel, oldest first. */
  readonly #used = new Map<string, readonly Used[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(accountId: string): string {
    const due = Buffer.alloc(DUE_BYTES);
    due.writeDoubleBE(this.#clock.monoMs() + CHALLENGE_WITHIN_MS);
    const said = Buffer.concat([randomBytes(NONCE_BYTES), due]);
    return Buffer.concat([said, this.#codeOf(accountId, said)]).toString('base64url');
  }

  /** Whether it was given to this panel, is not over and was not used: in the one spelling in which it was given. */
  holds(challenge: string, accountId: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== NONCE_BYTES + DUE_BYTES + CODE_BYTES || bytes.toString('base64url') !== challenge) return false;
    const said = bytes.subarray(0, NONCE_BYTES + DUE_BYTES);
    if (!timingSafeEqual(bytes.subarray(said.length), this.#codeOf(accountId, said))) return false;
    if (this.#clock.monoMs() >= said.readDoubleBE(NONCE_BYTES)) return false;
    return !this.#usedOf(accountId).some((used) => used.challenge === challenge);
  }

  /** It was answered rightly: it serves nobody again. @throws Refusal 429 for a panel that renews without end. */
  use(challenge: string, accountId: string): void {
    const used = this.#usedOf(accountId);
    if (used.length >= USED_OF_PANEL_MAX) throw new Refusal('limited', 'this panel renews its token too often', { code: 'rate_limited', retryAfterSeconds: 60 });
    this.#used.set(accountId, [...used, { challenge, until: new Deadline(this.#clock, CHALLENGE_WITHIN_MS) }]);
  }

  /** The panel is revoked. */
  forget(accountId: string): void {
    this.#used.delete(accountId);
  }

  #usedOf(accountId: string): readonly Used[] {
    return (this.#used.get(accountId) ?? []).filter(({ until }) => !until.hasPassed);
  }

  #codeOf(accountId: string, said: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(accountId).update('\0').update(said).digest();
  }
}
