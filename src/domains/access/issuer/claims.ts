/** What the identity provider says of a person (decisions D-AUTH-04, D-C-17): read so that what is odd gives no right. */
import type { WallMs } from '../../../platform/base/times.js';
import type { Claims } from '../jws.js';

/** A person as the identity provider knows him. */
export interface IssuerPerson {
  /** `sub`: account id of this box as well. */
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  /** '' where none is told. */
  readonly email: string;
  readonly groups: readonly string[];
}

/** What a token of the identity provider says. */
export interface IssuerIdentity {
  readonly person: IssuerPerson;
  readonly sessionId: string;
  /** Name of what is stored of the session. */
  readonly sessionKey: string;
  readonly issuedAtMs: WallMs;
  readonly expiresAtMs: WallMs;
  readonly authTimeMs: WallMs | null;
}

/** Which claims are read. */
export interface ClaimNames {
  /** `auth.oidc.groupsClaim`; dots go into objects. */
  readonly groups: string;
  readonly username: string;
}

const SUBJECT_LENGTH_MAX = 255; // OpenID Connect Core 2
const NAME_LENGTH_MAX = 128;
const GROUPS_MAX = 1000;
const GROUP_LENGTH_MAX = 256;
const CONTROL = /\p{Cc}|\p{Surrogate}|[\u2028\u2029]/u;

/** Undefined where nobody is named. */
export function personOf(claims: Claims, names: ClaimNames): IssuerPerson | undefined {
  const accountId = plain(claims.sub, SUBJECT_LENGTH_MAX);
  if (accountId === undefined) return undefined;
  const username = plain(claimOf(claims, names.username), NAME_LENGTH_MAX) ?? accountId;
  return {
    accountId,
    username,
    displayName: plain(claims.name, NAME_LENGTH_MAX) ?? username,
    email: plain(claims.email, SUBJECT_LENGTH_MAX) ?? '',
    groups: groupsOf(claimOf(claims, names.groups)),
  };
}

/**
 * Groups fail closed: a list that is not a list of plain texts is none. What cannot be read may be what confines a person to a site, so
 * the rest of such a list is not taken either.
 */
function groupsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > GROUPS_MAX) return [];
  const groups = value.map((group: unknown) => plain(group, GROUP_LENGTH_MAX));
  const read = groups.filter((group) => group !== undefined);
  return read.length === groups.length ? [...new Set(read)].sort() : [];
}

/** A text of one line that is not empty; undefined for anything else. */
export function plain(value: unknown, lengthMax: number): string | undefined {
  return typeof value === 'string' && value.trim() !== '' && value.length <= lengthMax && !CONTROL.test(value) ? value : undefined;
}

/** A claim by its whole name, else by the path that its dots make; own members only. */
export function claimOf(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** In seconds since the epoch, within the years that can be written. */
export function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 253_402_300_799 ? value : undefined;
}
