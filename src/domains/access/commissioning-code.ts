/**
 * The commissioning code (D-AUTH-01): while there is no administrator it stands in a file on the appliance and on its
 * console, so that only who stands before the box can make the first one. There is no default password anywhere.
 */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford base32
const LENGTH = 12;
const WRONG_MAX = 5;
const WRONG_PAUSE_MS = 5 * 60_000;

export class CommissioningCode {
  readonly #file: string;
  readonly #clock: Clock;
  #code: string | undefined;
  #wrong = 0;
  #closedUntilMonoMs = 0;

  constructor(dataDir: string, clock: Clock) {
    this.#file = path.join(dataDir, 'commissioning-code');
    this.#clock = clock;
  }

  /** Makes the code, or takes the one of an earlier start. `announce` puts it on the console. */
  publish(announce: (code: string) => void): void {
    const kept = existsSync(this.#file) ? normalise(readFileSync(this.#file, 'utf8')) : '';
    this.#code = isCode(kept) ? kept : Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    const shown = (this.#code.match(/.{4}/g) as string[]).join('-');
    writeFileSync(this.#file, `${shown}\n`, { mode: 0o600 });
    announce(shown);
  }

  /** @throws Refusal 401 `invalid_commissioning_code`, 429 after 5 wrong codes. */
  check(given: string): void {
    const nowMs = this.#clock.monoMs();
    if (nowMs < this.#closedUntilMonoMs) {
      throw new Refusal('limited', 'too many wrong commissioning codes; wait a few minutes', {
        code: 'rate_limited',
        retryAfterSeconds: Math.ceil((this.#closedUntilMonoMs - nowMs) / 1000),
      });
    }
    const code = normalise(given);
    if (this.#code !== undefined && code.length === LENGTH && timingSafeEqual(Buffer.from(code), Buffer.from(this.#code))) return;
    this.#wrong += 1;
    if (this.#wrong >= WRONG_MAX) {
      this.#wrong = 0;
      this.#closedUntilMonoMs = nowMs + WRONG_PAUSE_MS;
    }
    throw new Refusal('unauthenticated', 'the commissioning code is wrong; it stands on the console of the appliance', { code: 'invalid_commissioning_code' });
  }

  remove(): void {
    this.#code = undefined;
    rmSync(this.#file, { force: true });
  }
}

/** Without case and hyphens; the letters that Crockford reads as digits. Non-ASCII never equals a code. */
function normalise(text: string): string {
  return text
    .replace(/[-\s]/g, '')
    .toUpperCase()
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')
    .replace(/[^\x20-\x7e]/g, '?');
}

function isCode(text: string): boolean {
  return text.length === LENGTH && [...text].every((letter) => ALPHABET.includes(letter));
}
