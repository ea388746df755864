/** Served shapes of accounts, sessions, lock-outs and keys (decisions AUTH, KEY). No secret ever stands in one. */
import { timestamp } from '../../platform/base/clock.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Access, AccountResource } from './access.js';
import type { ApiKeyResource, ApiKeys } from './api-keys.js';
import type { KeyBody, LockOutBody, OpenSession, UserBody } from './bodies.js';
import { identityOf } from './identities.js';
import type { SeenSession } from './issuer/issuer-sessions.js';
import type { SessionSpec, SessionStatus } from './kind.js';
import type { LockedName } from './lockouts.js';

export function userDto({ metadata, spec, status }: AccountResource, access: Access): UserBody {
  return {
    username: spec.username,
    accountId: spec.accountId,
    displayName: spec.displayName,
    ...(spec.email === '' ? {} : { email: spec.email }),
    groups: spec.groups,
    enabled: spec.enabled,
    mustChangePassword: spec.mustChangePassword,
    secondFactor: access.secondFactors.has(metadata.name),
    createdAt: metadata.createdAt,
    lastLoginAt: status.lastLoginAt,
    passwordChangedAt: spec.passwordChangedAt,
  };
}

export function sessionDto({ metadata, spec, status }: Resource<SessionSpec, SessionStatus>, access: Access, streams: number, ownId: string | null): OpenSession {
  const account = identityOf(access.store, spec.authMode, spec.account);
  const live = access.sessions.get(metadata.name);
  return {
    id: metadata.name,
    accountId: spec.accountId,
    username: account?.username ?? spec.account,
    displayName: account?.displayName ?? spec.account,
    authMode: spec.authMode,
    sourceIP: spec.sourceIP,
    userAgent: spec.userAgent,
    client: spec.client ?? (spec.userAgent.startsWith('Mozilla/') ? 'browser' : 'program'),
    createdAt: timestamp(spec.createdAtMs),
    authTime: timestamp(live?.authTimeMs ?? status.authTimeMs),
    lastActivityAt: timestamp(live?.lastActivityAtMs ?? status.lastActivityAtMs),
    expiresAt: timestamp(spec.endsAtMs),
    streams,
    current: metadata.name === ownId,
  };
}

/** A session of the identity provider: where its tokens come from is not known of it. */
export function issuerSessionDto({ id, identity, firstSeenAtMs, lastActivityAtMs, latestExpiryMs }: SeenSession, streams: number, ownId: string | null): OpenSession {
  const { accountId, username, displayName } = identity.person;
  return {
    id,
    accountId,
    username,
    displayName,
    authMode: 'oidc',
    sourceIP: '',
    userAgent: '',
    client: 'program',
    createdAt: timestamp(firstSeenAtMs),
    authTime: timestamp(identity.authTimeMs ?? identity.issuedAtMs),
    lastActivityAt: timestamp(lastActivityAtMs),
    expiresAt: timestamp(latestExpiryMs),
    streams,
    current: id === ownId,
  };
}

export function lockOutDto({ username, failuresAtMs, lockedUntilMs, sourceIPs, everywhere }: LockedName): LockOutBody {
  return {
    username,
    failedAttempts: failuresAtMs.length,
    firstFailedAt: timestamp(failuresAtMs[0] ?? lockedUntilMs),
    lastFailedAt: timestamp(failuresAtMs.at(-1) ?? lockedUntilMs),
    lockedUntil: timestamp(lockedUntilMs),
    sourceIPs,
    everywhere,
  };
}

export function keyDto(key: ApiKeyResource, keys: ApiKeys): KeyBody {
  const { metadata, spec } = key;
  const { lastUsedAtMs, previousUsedAtMs } = keys.lastUsedAtMs(key);
  const { previous } = spec;
  return {
    name: metadata.name,
    site: spec.site,
    keyPrefix: spec.keyPrefix,
    createdAt: metadata.createdAt,
    createdBy: spec.createdBy,
    expiresAt: instantOf(spec.expiresAtMs),
    test: spec.test ?? false,
    lastUsedAt: instantOf(lastUsedAtMs),
    previous: previous && keys.isAccepted(previous) ? { keyPrefix: previous.keyPrefix, validUntil: previous.until, lastUsedAt: instantOf(previousUsedAtMs) } : null,
  };
}

function instantOf(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
