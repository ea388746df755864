/**
 * The commissioning code (D-AUTH-01): while there is no administrator it stands in a file on the appliance and on its
 * console, so that only who stands before the box can make the first one. There is no default password anywhere.
 */
import { timingSafeEqual } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../platform/base/clock.js';
import { obstacleOf, readDataFileIfUsable } from '../../platform/base/data-file.js';
import { Deadline } from '../../platform/base/elapsed.js';
import { sourceKey } from '../../platform/base/ip-address.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { CODE_LENGTH, codeText, isCode, newCode, normalisedCode } from './code-text.js';

const WRONG_MAX = 5;
const WRONG_PAUSE_MS = 5 * 60_000;
const SOURCES_MAX = 10_000;

interface Wrong {
  count: number;
  closed: Deadline | undefined;
}

export class CommissioningCode {
  readonly #file: string;
  readonly #clock: Clock;
  #code: string | undefined;
  /** Somebody makes the first administrator with it: it serves nobody else. */
  #taken = false;
  /** By source, so that nobody shuts out who stands at the console (D-C-19). */
  readonly #wrong = new Map<string, Wrong>();

  constructor(dataDir: string, clock: Clock) {
    this.#file = path.join(dataDir, 'commissioning-code');
    this.#clock = clock;
  }

  /** Makes the code, or takes the one of an earlier start: as it is shown on the console. */
  publish(): string {
    const kept = normalisedCode(readDataFileIfUsable(this.#file)?.toString('utf8') ?? '');
    this.#code = isCode(kept) ? kept : newCode();
    const shown = codeText(this.#code);
    // where it cannot be kept it is shown on the console all the same, and the next start makes another
    if (!obstacleOf(this.#file, { to: 'write' })) writeFileSync(this.#file, `${shown}\n`, { mode: 0o600 });
    return shown;
  }

  /**
   * Checks and takes the code in one step; it is `spend`ed or given back.
   * @param alsoWrong what else the caller must mend, told together with a wrong code.
   * @throws Refusal 401 `invalid_commissioning_code`, 429 after 5 wrong codes of the source, 409 while it is taken.
   */
  take(given: string, sourceIP: string, alsoWrong: Refusal | undefined): void {
    const source = sourceKey(sourceIP);
    const closed = this.#wrong.get(source)?.closed;
    if (closed && !closed.hasPassed) {
      throw new Refusal('limited', 'too many wrong commissioning codes; wait a few minutes', { code: 'rate_limited', retryAfterSeconds: Math.ceil(closed.remainingMs / 1000) });
    }
    if (!this.#is(normalisedCode(given))) {
      this.#countWrong(source);
      throw wrongCode(alsoWrong);
    }
    if (alsoWrong) throw alsoWrong;
    if (this.#taken) throw conflict('commissioning_code_taken', 'somebody is making the first administrator with this code right now');
    this.#taken = true;
  }

  /** No administrator was made. */
  giveBack(): void {
    this.#taken = false;
  }

  spend(): void {
    this.#taken = false;
    this.#code = undefined;
    if (!obstacleOf(this.#file, { to: 'write' })) rmSync(this.#file, { force: true });
  }

  #is(code: string): boolean {
    return this.#code !== undefined && code.length === CODE_LENGTH && timingSafeEqual(Buffer.from(code), Buffer.from(this.#code));
  }

  #countWrong(source: string): void {
    const before = this.#wrong.get(source);
    const wrong: Wrong = before && !before.closed ? before : { count: 0, closed: undefined };
    this.#wrong.delete(source);
    if (this.#wrong.size >= SOURCES_MAX) this.#wrong.delete(this.#wrong.keys().next().value as string);
    this.#wrong.set(source, wrong);
    wrong.count += 1;
    if (wrong.count >= WRONG_MAX) wrong.closed = new Deadline(this.#clock, WRONG_PAUSE_MS);
  }
}

function wrongCode(also: Refusal | undefined): Refusal {
  const error = 'the commissioning code is wrong; it stands on the console of the appliance';
  if (!also) return new Refusal('unauthenticated', error, { code: 'invalid_commissioning_code' });
  const errors = [
    { field: 'code', code: 'invalid_commissioning_code', error },
    { field: also.context.field, code: also.context.code, error: also.message },
  ];
  return new Refusal('unauthenticated', `${error}; and ${also.message}`, { code: 'invalid_commissioning_code', errors });
}
