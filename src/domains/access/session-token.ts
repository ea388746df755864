/** The session token (decisions Q-AUTH-01): a JWT signed with the device key, Ed25519, never shared between devices. */
import { type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import { Refusal } from '../../platform/base/refusal.js';

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
  readonly #issuer: string;
  readonly #header: string;

  constructor(keys: TokenKeys) {
    this.#keys = keys;
    this.#issuer = `lineside:${keys.deviceId}`;
    this.#header = encode({ alg: 'EdDSA', typ: 'JWT', kid: keys.kid });
  }

  issue(subject: TokenSubject, claims: { readonly sid: string; readonly issuedAtMs: number; readonly expiresAtMs: number; readonly authTimeMs: number }): string {
    const payload = encode({
      iss: this.#issuer,
      aud: 'lineside',
      sub: subject.accountId,
      preferred_username: subject.username,
      name: subject.displayName,
      groups: subject.groups,
      sid: claims.sid,
      jti: randomUUID(),
      iat: Math.floor(claims.issuedAtMs / 1000),
      exp: Math.floor(claims.expiresAtMs / 1000),
      auth_time: Math.floor(claims.authTimeMs / 1000),
    });
    const signed = `${this.#header}.${payload}`;
    return `${signed}.${sign(null, Buffer.from(signed), this.#keys.privateKey).toString('base64url')}`;
  }

  /**
   * Signature and form; the caller looks at expiry and session on every request.
   * @throws Refusal 401 `invalid_token`.
   */
  read(token: string, nowMs: number): TokenClaims {
    const parts = token.split('.');
    if (parts.length !== 3) throw invalidToken();
    const header = decode(parts[0]);
    if (header?.alg !== 'EdDSA' || header.kid !== this.#keys.kid) throw invalidToken();
    const signature = Buffer.from(parts[2], 'base64url');
    if (!verify(null, Buffer.from(`${parts[0]}.${parts[1]}`), this.#keys.publicKey, signature)) throw invalidToken();
    const claims = decode(parts[1]);
    if (!claims || claims.iss !== this.#issuer || claims.aud !== 'lineside' || !isClaims(claims)) throw invalidToken();
    const latestMs = nowMs + CLOCK_SKEW_MS;
    if (claims.iat * 1000 > latestMs || claims.auth_time * 1000 > latestMs) throw invalidToken();
    return { sub: claims.sub, sid: claims.sid, iat: claims.iat, exp: claims.exp, auth_time: claims.auth_time };
  }
}

export function invalidToken(): Refusal {
  return new Refusal('unauthenticated', 'the access token is not valid', { code: 'invalid_token' });
}

function isClaims(claims: Record<string, unknown>): claims is Record<string, unknown> & TokenClaims {
  return typeof claims.sub === 'string' && typeof claims.sid === 'string' && Number.isFinite(claims.iat) && Number.isFinite(claims.exp) && Number.isFinite(claims.auth_time);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
