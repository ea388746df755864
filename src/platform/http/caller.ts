/** The identity behind a request or a stream (contract 1, Authentication; decisions AUTH). */
import type { WallMs } from '../base/times.js';
import { Refusal } from '../base/refusal.js';
import type { Deadline, Stopwatch } from '../base/elapsed.js';
import { type Actor, component } from '../store/audit-record.js';

export interface Caller {
  /** `panel`: a screen that watches while nobody is signed in (D-C-18). */
  readonly kind: 'human' | 'apiKey' | 'panel';
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  readonly groups: readonly string[];
  /** Sites the caller is confined to; null when unrestricted. */
  readonly sites: readonly string[] | null;
  readonly sessionId: string | null;
  /** Wall ms, for people and records; null for API keys and in mode `none`. */
  readonly issuedAtMs: number | null;
  readonly authTimeMs: number | null;
  readonly expiresAtMs: number | null;
  /** So late the expiry of a token of another issuer is accepted (decisions Q-AUTH-09). */
  readonly expiresLateMs?: number;
  /** What the life of a token of this gateway is judged by (D-C-07); the claims of another issuer are judged by their instants. */
  readonly token?: TokenLife | undefined;
  readonly mustChangePassword: boolean;
  /** His role requires a second factor, and he has none: until then he may do nothing else. */
  readonly mustEnrol?: boolean | undefined;
  /** Of an API key with which somebody tries whether his program works: what would change something is judged and not done. */
  readonly isTest?: true | undefined;
  /** Whether the caller holds an action, for example `batch:create`. */
  may(action: string): boolean;
}

export interface TokenLife {
  readonly issued: Stopwatch;
  readonly signedIn: Stopwatch;
  readonly expires: Deadline;
}

export function hasExpired(caller: Caller, nowMs: WallMs): boolean {
  return caller.token ? caller.token.expires.hasPassed : caller.expiresAtMs !== null && nowMs >= caller.expiresAtMs + (caller.expiresLateMs ?? 0);
}

/** What somebody has to do before anything else; undefined for who has not. */
export function firstDuty({ mustChangePassword, mustEnrol }: Caller): Refusal | undefined {
  if (mustChangePassword) return new Refusal('forbidden', 'change your password first', { code: 'password_change_required' });
  if (!mustEnrol) return undefined;
  return new Refusal('forbidden', 'your role requires a second factor: enrol one first, at the login page or with lineside second-factor set-up (POST auth/second-factor)', {
    code: 'second_factor_enrolment_required',
  });
}

export function mayVisit(caller: Caller, site: string): boolean {
  return caller.sites === null || caller.sites.includes(site);
}

export function actorOf(caller: Caller, sourceIP: string): Actor {
  if (caller.kind === 'panel') return panelActor(caller, sourceIP);
  return { accountId: caller.accountId, displayName: caller.displayName, actorType: caller.kind, sourceIP };
}

/** A panel is a part of the plant, no person: records name it as a component. */
export function panelActor({ accountId, username, displayName }: Pick<Caller, 'accountId' | 'username' | 'displayName'>, sourceIP: string): Actor {
  return { ...component(`panel/${username}`), accountId, displayName, sourceIP };
}
