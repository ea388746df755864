/**
 * Access tokens of the identity provider that a client presents by itself (decisions D-AUTH-04, Q-AUTH-09). Instants of another issuer
 * are judged by the wall clock, 60 s late or early (D-C-07).
 */
import type { WallMs } from '../../../platform/base/times.js';
import type { Clock } from '../../../platform/base/clock.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { Claims, UnprovenToken } from '../jws.js';
import { invalidToken } from '../session-token.js';
import { hashOf } from '../sessions.js';
import { type ClaimNames, type IssuerIdentity, personOf, plain, secondsOf } from './claims.js';
import type { IssuerKeys } from './issuer-keys.js';
import type { IssuerSessions } from './issuer-sessions.js';

export const LEEWAY_MS = 60_000; // decisions Q-AUTH-09

const SESSION_LENGTH_MAX = 255;

/** RFC 9068 names the first; most issuers write the second. A token for something else (a logout, a proof of possession) names another. */
/** RFC 9068, 2.1. */
const ACCESS_TOKEN = 'at+jwt';
const TYPES = [ACCESS_TOKEN, 'jwt'];

export interface IssuerTokenParts {
  readonly clock: Clock;
  readonly keys: IssuerKeys;
  readonly sessions: IssuerSessions;
  readonly issuer: string;
  readonly audience: string;
  readonly names: ClaimNames;
}

export class IssuerTokens {
  readonly #parts: IssuerTokenParts;

  constructor(parts: IssuerTokenParts) {
    this.#parts = parts;
  }

  /** What was proven under another generation of keys is proven anew. */
  get generation(): number {
    return this.#parts.keys.generation;
  }

  /** Form, claims and signature, the cheap ones first. @throws Refusal 401 `invalid_token` or `token_expired`. */
  async prove(token: UnprovenToken): Promise<IssuerIdentity> {
    const identity = this.#identityOf(token);
    if (!identity) throw invalidToken();
    if (!(await this.#parts.keys.vouchFor(token))) {
      if (this.#parts.keys.isUsable) throw invalidToken();
      throw new Refusal('unauthenticated', 'the access token cannot be checked: the identity provider does not answer, and none of its keys is known', { code: 'invalid_token' });
    }
    this.#parts.sessions.seen(identity);
    return identity;
  }

  touch(sessionId: string): void {
    this.#parts.sessions.touch(sessionId);
  }

  /** At each use. @throws Refusal 401. */
  judge(identity: IssuerIdentity): void {
    if (this.#parts.sessions.isRevoked(identity)) throw new Refusal('unauthenticated', 'the session has ended; sign in again', { code: 'session_ended' });
    if (!isWithin(identity.expiresAtMs, this.#parts.clock.wallMs())) throw new Refusal('unauthenticated', 'the access token has expired', { code: 'token_expired' });
  }

  #identityOf({ header, claims }: UnprovenToken): IssuerIdentity | undefined {
    const { issuer, audience, names, clock } = this.#parts;
    const type = (header.typ ?? '').toLowerCase().replace(/^application\//, '');
    if (!TYPES.includes(type)) return undefined;
    if (claims.iss !== issuer || !isFor(claims.aud, audience) || isForAnotherUse(claims)) return undefined;
    if (type !== ACCESS_TOKEN && claims.typ === undefined && isIDToken(claims)) return undefined; // as long as it does not say what it is
    const person = personOf(claims, names);
    const exp = secondsOf(claims.exp);
    const iat = secondsOf(claims.iat);
    const nbf = claims.nbf === undefined ? 0 : secondsOf(claims.nbf);
    const authTime = claims.auth_time === undefined || claims.auth_time === null ? null : secondsOf(claims.auth_time);
    const sid = sessionOf(claims.sid);
    if (!person || exp === undefined || iat === undefined || nbf === undefined || authTime === undefined || sid === undefined) return undefined;
    const latest = (clock.wallMs() + LEEWAY_MS) / 1000;
    if (iat > latest || nbf > latest || (authTime ?? 0) > latest) return undefined;
    const sessionId = `${issuer}#${sid ?? `${person.accountId}@${authTime ?? iat}`}`;
    return { person, sessionId, sessionKey: hashOf(sessionId), issuedAtMs: iat * 1000, expiresAtMs: exp * 1000, authTimeMs: authTime === null ? null : authTime * 1000 };
  }
}

export function isWithin(expiresAtMs: WallMs, nowMs: WallMs): boolean {
  return nowMs <= expiresAtMs + LEEWAY_MS;
}

function isFor(aud: unknown, audience: string): boolean {
  return aud === audience || (Array.isArray(aud) && aud.every((each) => typeof each === 'string') && aud.includes(audience));
}

/** A token that is bound to a key of its client is worth nothing alone (RFC 7800); a logout token has events; Keycloak tells in a claim what its token is. */
function isForAnotherUse({ cnf, events, typ }: Claims): boolean {
  return cnf !== undefined || events !== undefined || (typ !== undefined && typ !== 'Bearer');
}

/** What an ID token alone has (OpenID Connect Core 1.0, 2 and 3.3.2.11): the nonce of its sign-in, and digests of what was handed out with it. */
function isIDToken({ nonce, at_hash, c_hash }: Claims): boolean {
  return nonce !== undefined || at_hash !== undefined || c_hash !== undefined;
}

/** Null where none is told, undefined where it cannot be one. */
function sessionOf(sid: unknown): string | null | undefined {
  if (sid === undefined || sid === null) return null;
  return plain(sid, SESSION_LENGTH_MAX);
}
