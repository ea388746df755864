/**
 * Codes that panels show while they wait for an administrator (D-C-18). They are in memory: a restart, like ten minutes, ends them, and the panel
 * shows another one. Each source has places of its own, so that a flood takes only its own codes away.
 */
import type { Clock } from '../../../platform/base/clock.js';
import { Deadline } from '../../../platform/base/elapsed.js';
import { groupBy } from '../../../platform/base/group-by.js';
import { sourceKey } from '../../../platform/base/ip-address.js';
import { codeText, newCode, normalisedCode } from '../code-text.js';
import type { DeviceKey } from './device-key.js';

export const CODE_WITHIN_MS = 600_000;
const CODE_LENGTH = 8; // 40 bits, five guesses in a window
const CODES_MAX = 500;
const CODES_OF_SOURCE_MAX = 20;

export interface Enrolment {
  readonly code: string;
  readonly keyID: string;
  readonly publicKey: DeviceKey;
  readonly sourceIP: string;
  readonly until: Deadline;
}

export class Enrolments {
  readonly #clock: Clock;
  /** By code, oldest first. */
  readonly #kept = new Map<string, Enrolment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A key has one code: a page that is loaded again shows another one. */
  begin(keyID: string, publicKey: DeviceKey, sourceIP: string): string {
    for (const [code, kept] of this.#kept) if (kept.until.hasPassed || kept.keyID === keyID) this.#kept.delete(code);
    this.#makeRoom(sourceKey(sourceIP));
    let code = newCode(CODE_LENGTH);
    while (this.#kept.has(code)) code = newCode(CODE_LENGTH);
    this.#kept.set(code, { code, keyID, publicKey, sourceIP, until: new Deadline(this.#clock, CODE_WITHIN_MS) });
    return codeText(code);
  }

  /** Undefined where no panel shows it; it is gone for everybody else. */
  take(given: string): Enrolment | undefined {
    const kept = this.#kept.get(normalisedCode(given));
    if (!kept) return undefined;
    this.#kept.delete(kept.code);
    return kept.until.hasPassed ? undefined : kept;
  }

  /** Nothing came of it. */
  giveBack(enrolment: Enrolment): void {
    this.#kept.set(enrolment.code, enrolment);
  }

  /** The oldest code of the source that shows most. */
  #makeRoom(source: string): void {
    const bySource = groupBy([...this.#kept.values()], ({ sourceIP }) => sourceKey(sourceIP));
    const own = bySource.get(source) ?? [];
    const most = [...bySource.values()].sort((a, b) => b.length - a.length)[0] ?? [];
    const [oldest] = own.length >= CODES_OF_SOURCE_MAX ? own : this.#kept.size >= CODES_MAX ? most : [];
    if (oldest) this.#kept.delete(oldest.code);
  }
}
