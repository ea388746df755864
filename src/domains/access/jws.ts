/**
 * Signed tokens (JWS of RFC 7515 in the compact form, JWT of RFC 7519), and the only file that knows the library. What the library would
 * let pass is refused before it sees the token: a second spelling of the same bytes, a member that stands twice, a header that names a key
 * of its own, and extensions that whoever judges a token must understand.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { isWeak } from './weak-keys.js';
import { CompactSign, type CryptoKey, compactVerify, createLocalJWKSet, type CompactJWSHeaderParameters, type JWK } from 'jose';

/** Longer than any token that a request can carry. */
export const TOKEN_LENGTH_MAX = 16 * 1024;
const ENCODED = /^[A-Za-z0-9_-]+$/;
const DEPTH_MAX = 16;

/** RFC 7515 4.1: where else a key may be found (a token does not say who has signed it), and what changes the meaning of the rest. */
const FOREIGN_PARAMETERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc', 'cty', 'epk', 'apu', 'apv'] as const;

export type Claims = Readonly<Record<string, unknown>>;
export interface TokenHeader extends Claims {
  readonly alg: string;
  readonly kid?: string;
  readonly typ?: string;
}

/** A token taken apart; nobody has vouched for any of it yet. */
export interface UnprovenToken {
  readonly token: string;
  readonly header: TokenHeader;
  readonly claims: Claims;
}

/** Undefined for what is no token in the one spelling that is taken. */
export function takeApart(token: string): UnprovenToken | undefined {
  const formed = formOf(token);
  const claims = formed && objectOf(formed.payload);
  return claims ? { token, header: formed.header, claims } : undefined;
}

/** The same, whatever is signed. */
export function formOf(token: string): { readonly header: TokenHeader; readonly payload: string } | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const [head, payload, signature, ...more] = token.split('.');
  if (head === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
  if (![head, payload, signature].every(isSpelledOnce)) return undefined;
  const header = objectOf(head);
  if (!header || !isHeader(header) || FOREIGN_PARAMETERS.some((name) => Object.hasOwn(header, name))) return undefined;
  return { header, payload };
}

function isHeader(header: Claims): header is TokenHeader {
  const { alg, kid = '', typ = '' } = header;
  return typeof alg === 'string' && typeof kid === 'string' && typeof typ === 'string';
}

/** Base64url says the same bytes in several ways: the last digit has bits that nobody looks at. */
function isSpelledOnce(part: string): boolean {
  return ENCODED.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part;
}

function objectOf(part: string): Claims | undefined {
  const bytes = Buffer.from(part, 'base64url');
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return undefined; // no UTF-8
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return standsTwice(text) ? undefined : (value as Claims);
  } catch {
    return undefined;
  }
}

/**
 * Whether an object of valid JSON has two members of one name (RFC 7515 10.12: two readers may take different ones), or is nested deeper than
 * any token.
 */
function standsTwice(json: string): boolean {
  /** The names so far of each object that is open, undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let expectsName = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{' || character === '[') {
      if (open.length >= DEPTH_MAX) return true;
      open.push(character === '{' ? new Set() : undefined);
      expectsName = character === '{';
    } else if (character === '}' || character === ']') {
      open.pop();
      expectsName = false;
    } else if (character === ',') expectsName = open.at(-1) !== undefined;
    else if (character === '"') {
      const from = at;
      for (at += 1; json[at] !== '"'; at += 1) if (json[at] === '\\') at += 1;
      const names = open.at(-1);
      if (!expectsName || !names) continue;
      const name = JSON.parse(json.slice(from, at + 1)) as string;
      if (names.has(name)) return true;
      names.add(name);
      expectsName = false;
    }
  }
  return false;
}

/** The public keys of an issuer (JWK set of RFC 7517). */
export class KeySet {
  /** Names of the keys that have one. */
  readonly kids: ReadonlySet<string>;
  readonly keyOf: (header: CompactJWSHeaderParameters) => Promise<CryptoKey>;

  /** @param keys those that nobody can verify with are left out by `publicKeysOf`. */
  constructor(keys: readonly JWK[]) {
    this.kids = new Set(keys.flatMap(({ kid }) => kid ?? []));
    const set = createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) });
    this.keyOf = (header) => set(header);
  }
}

const PUBLIC_MEMBERS = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const;
const KEYS_MAX = 100;

/** The keys of a JWK set as it was served; undefined where it is none. Secret keys and secret members of keys do not stay, nor do keys that protect nothing. */
export function publicKeysOf(served: unknown): readonly JWK[] | undefined {
  const { keys } = (typeof served === 'object' && served !== null ? served : {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return undefined;
  const found = keys.slice(0, KEYS_MAX).flatMap((key: unknown) => {
    if (typeof key !== 'object' || key === null) return [];
    const given = key as Readonly<Record<string, unknown>>;
    if (!['RSA', 'EC', 'OKP'].includes(String(given.kty)) || given.use === 'enc') return [];
    const kept = PUBLIC_MEMBERS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
    return [Object.fromEntries(kept) as JWK];
  });
  return found.filter((key) => typeof (key.kid ?? '') === 'string' && !isWeak(key));
}

/** Whether the signature holds; the claims are still to be judged. Whatever the library minds about token or key is a no. */
export async function isSigned({ token }: UnprovenToken, algorithms: readonly string[], keyOf: KeySet['keyOf'] | KeyObject): Promise<boolean> {
  const options = { algorithms: [...algorithms] };
  try {
    await (typeof keyOf === 'function' ? compactVerify(token, keyOf, options) : compactVerify(token, keyOf, options));
    return true;
  } catch {
    return false;
  }
}

/** A JWT of ours, with a name of its own (`jti`). */
export function sign(claims: Claims, kid: string, key: KeyObject): Promise<string> {
  const payload = Buffer.from(JSON.stringify({ ...claims, jti: randomUUID() }));
  return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid }).sign(key);
}
