/**
 * Sign-ins that were sent to the identity provider and have not come back. Each is of one browser, by a cookie that no script reads: an answer that
 * somebody else obtained cannot be redeemed there. It is taken once, and is over after ten minutes by the monotonic clock.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../platform/base/clock.js';
import { Deadline, Stopwatch } from '../../../platform/base/elapsed.js';
import { sourceKey } from '../../../platform/base/ip-address.js';

export const LOGIN_WITHIN_MS = 600_000;
const LOGINS_MAX = 2000;
/** A panel that is clicked in vain, and a few of them behind one address. */
const PER_SOURCE_MAX = 40;
const SECRET_BYTES = 32;

export interface PendingLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Value of the cookie that binds it. */
  readonly browser: string;
  readonly redirectUri: string;
  /** Where the browser goes afterwards: an address of this box. */
  readonly target: string;
  /** A session that is to be proven again; null for a sign-in. */
  readonly renews: string | null;
  readonly reauthenticates: boolean;
  readonly begun: Stopwatch;
}

interface Kept {
  readonly login: PendingLogin;
  readonly source: string;
  readonly until: Deadline;
}

export class Logins {
  readonly #clock: Clock;
  /** By state, oldest first. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** @param presented cookie of the browser, which stays the same while a sign-in of it is on its way: two tabs may sign in. */
  begin(given: Pick<PendingLogin, 'redirectUri' | 'target' | 'renews' | 'reauthenticates' | 'verifier'>, sourceIP: string, presented: string | undefined): PendingLogin {
    this.#forgetOver();
    const source = sourceKey(sourceIP);
    this.#makeRoom(source);
    const known = presented !== undefined && [...this.#kept.values()].some(({ login }) => isSame(login.browser, presented));
    const login = { ...given, state: secret(), nonce: secret(), browser: known ? presented : secret(), begun: new Stopwatch(this.#clock) };
    this.#kept.set(login.state, { login, source, until: new Deadline(this.#clock, LOGIN_WITHIN_MS) });
    return login;
  }

  /** Undefined where it was not begun in this browser, is over, or was taken before. */
  take(state: string | undefined, browser: string | undefined): PendingLogin | undefined {
    this.#forgetOver();
    const kept = state === undefined ? undefined : this.#kept.get(state);
    if (!kept || browser === undefined || !isSame(kept.login.browser, browser)) return undefined;
    this.#kept.delete(kept.login.state);
    return kept.login;
  }

  #makeRoom(source: string): void {
    const own = [...this.#kept].filter(([, kept]) => kept.source === source);
    const [oldest] = own.length >= PER_SOURCE_MAX ? own : this.#kept.size >= LOGINS_MAX ? this.#kept : [];
    if (oldest) this.#kept.delete(oldest[0]);
  }

  #forgetOver(): void {
    for (const [state, { until }] of this.#kept) {
      if (!until.hasPassed) return; // they were begun in this order
      this.#kept.delete(state);
    }
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isSame(known: string, given: string): boolean {
  return known.length === given.length && timingSafeEqual(Buffer.from(known), Buffer.from(given.replace(/[^\x20-\x7e]/g, '?')));
}

/**
 * @returns the path that is asked for after a sign-in; undefined for one that leads away from this box. Judged as a browser would read it: `//host`
 * and `/\host` are other hosts, and what `.` and `..` resolve to may be.
 */
export function localTarget(asked: string): string | undefined {
  if (!asked.startsWith('/') || asked.length > 2048 || /[\p{Cc}\\]/u.test(asked)) return undefined;
  try {
    const target = new URL(asked, 'http://box.invalid');
    if (target.host !== 'box.invalid' || target.pathname.startsWith('//')) return undefined;
    return target.pathname + target.search + target.hash;
  } catch {
    return undefined;
  }
}
