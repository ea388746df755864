/**
 * The session token (decisions Q-AUTH-01): a JWT signed with the device key, Ed25519, never shared between devices. Beside the
 * instants of JWT it carries when it was issued by the monotonic clock of this start, so that setting the clock neither ends
 * nor prolongs it (D-C-07); in a later start it is judged by its instants.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { Deadline, Stopwatch } from '../../platform/base/elapsed.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { TokenLife } from '../../platform/http/caller.js';
import { type Claims, isSigned, sign, type UnprovenToken } from './jws.js';

export interface TokenKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly deviceId: string;
  readonly kid: string;
}

export interface TokenClaims {
  readonly sub: string;
  readonly sid: string;
  /** Seconds since the epoch, as JWT has it. */
  readonly iat: number;
  readonly exp: number;
  readonly auth_time: number;
  readonly life: TokenLife;
}

export interface TokenSubject {
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  readonly groups: readonly string[];
}

const CLOCK_SKEW_MS = 60_000; // decisions Q-AUTH-09

export class SessionTokens {
  readonly #keys: TokenKeys;
  readonly #clock: Clock;
  readonly #issuer: string;
  /** Names this start: monotonic times of another one mean nothing here. */
  readonly #start = randomUUID();

  constructor(keys: TokenKeys, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
    this.#issuer = `lineside:${keys.deviceId}`;
  }

  async issue(
    subject: TokenSubject,
    claims: { readonly sid: string; readonly lifeMs: number; readonly signedIn: Stopwatch; readonly authTimeMs: number },
  ): Promise<{ readonly token: string; readonly claims: TokenClaims }> {
    const iat = Math.floor(this.#clock.wallMs() / 1000);
    const exp = iat + Math.floor(claims.lifeMs / 1000);
    const monoMs = this.#clock.monoMs();
    const payload = {
      iss: this.#issuer,
      aud: 'lineside',
      sub: subject.accountId,
      preferred_username: subject.username,
      name: subject.displayName,
      groups: subject.groups,
      sid: claims.sid,
      iat,
      exp,
      auth_time: Math.floor(claims.authTimeMs / 1000),
      mono: { start: this.#start, issuedMs: monoMs, expiresMs: monoMs + claims.lifeMs, signedInMs: monoMs - claims.signedIn.elapsedMs },
    };
    const token = await sign(payload, this.#keys.kid, this.#keys.privateKey);
    const { sub, sid, auth_time } = payload;
    return { token, claims: { sub, sid, iat, exp, auth_time, life: this.#lifeOf(payload) } };
  }

  /** Whether it says of itself that it is one of ours. */
  isOwn({ claims }: UnprovenToken): boolean {
    return claims.iss === this.#issuer;
  }

  /**
   * Signature and form; the caller looks at expiry and session on every request.
   * @throws Refusal 401 `invalid_token`.
   */
  async read(token: UnprovenToken): Promise<TokenClaims> {
    const { header, claims } = token;
    if (header.alg !== 'EdDSA' || header.kid !== this.#keys.kid) throw invalidToken();
    if (claims.iss !== this.#issuer || claims.aud !== 'lineside' || !isClaims(claims)) throw invalidToken();
    if (!(await isSigned(token, ['EdDSA'], this.#keys.publicKey))) throw invalidToken();
    return { sub: claims.sub, sid: claims.sid, iat: claims.iat, exp: claims.exp, auth_time: claims.auth_time, life: this.#lifeOf(claims) };
  }

  #lifeOf(claims: SignedClaims): TokenLife {
    const { mono } = claims;
    if (isMono(mono) && mono.start === this.#start) {
      const nowMs = this.#clock.monoMs();
      return {
        issued: new Stopwatch(this.#clock, nowMs - mono.issuedMs),
        signedIn: new Stopwatch(this.#clock, nowMs - mono.signedInMs),
        expires: new Deadline(this.#clock, mono.expiresMs - nowMs),
      };
    }
    const nowMs = this.#clock.wallMs();
    const latestMs = nowMs + CLOCK_SKEW_MS;
    if (claims.iat * 1000 > latestMs || claims.auth_time * 1000 > latestMs || (claims.nbf ?? 0) * 1000 > latestMs) throw invalidToken();
    return {
      issued: new Stopwatch(this.#clock, nowMs - claims.iat * 1000),
      signedIn: new Stopwatch(this.#clock, nowMs - claims.auth_time * 1000),
      expires: new Deadline(this.#clock, claims.exp * 1000 - nowMs),
    };
  }
}

export function invalidToken(): Refusal {
  return new Refusal('unauthenticated', 'the access token is not valid', { code: 'invalid_token' });
}

interface SignedClaims {
  readonly sub: string;
  readonly sid: string;
  readonly iat: number;
  readonly exp: number;
  readonly auth_time: number;
  readonly nbf?: number;
  readonly mono?: unknown;
}

function isClaims(claims: Claims): claims is Claims & SignedClaims {
  const { sub, sid, iat, exp, auth_time, nbf = 0 } = claims;
  return typeof sub === 'string' && typeof sid === 'string' && [iat, exp, auth_time, nbf].every(Number.isFinite);
}

function isMono(mono: unknown): mono is { readonly start: string; readonly issuedMs: number; readonly expiresMs: number; readonly signedInMs: number } {
  if (typeof mono !== 'object' || mono === null) return false;
  const { issuedMs, expiresMs, signedInMs } = mono as Record<string, unknown>;
  return [issuedMs, expiresMs, signedInMs].every(Number.isFinite);
}
