/**
 * What the gateway keeps about identities (decisions AUTH, KEY). Internal kinds: they have no REST family of resources, are
 * never applied and never exported.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { StoredTerm } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';

const INTERNAL = { group: 'system', scope: 'cluster', body: 'flat', apply: { how: 'no', reason: 'identities are managed through the auth routes' } } as const;

export const AccountSpec = v.strictObject({
  accountId: v.string(),
  /** As it was written; the resource name is its lower-case form, so that names are unique without case. */
  username: v.string(),
  displayName: v.string(),
  email: v.string(),
  groups: v.array(v.string()),
  /** PHC string (D-AUTH-03). */
  passwordHash: v.string(),
  enabled: v.boolean(),
  mustChangePassword: v.boolean(),
  passwordChangedAt: v.string(),
  /** Closed for good; kept so that records stay attributable and the name is never used again (D-AUTH-02). */
  retired: v.boolean(),
});
export type AccountSpec = v.InferOutput<typeof AccountSpec>;
export const AccountStatus = v.object({ lastLoginAt: v.nullable(v.string()) });
export type AccountStatus = Readonly<v.InferOutput<typeof AccountStatus>>;
export type AccountResource = Resource<AccountSpec, AccountStatus>;
export const Account: Kind<AccountSpec, AccountStatus> = {
  ...INTERNAL,
  kind: 'Account',
  action: 'user',
  spec: AccountSpec,
  initialStatus: () => ({ lastLoginAt: null }),
  status: AccountStatus.entries,
};

export const SessionSpec = v.strictObject({
  /** Resource name of the account. */
  account: v.string(),
  accountId: v.string(),
  authMode: v.string(),
  sourceIP: v.string(),
  userAgent: v.string(),
  /** SHA-256 (hex) of the refresh token. */
  refreshHash: v.string(),
  createdAtMs: v.number(),
  endsAtMs: v.number(),
  /** Whether it lives in a browser, by cookie, or in a program; absent in data of 0.1.0. */
  client: v.optional(v.picklist(['browser', 'program'])),
  /** The refresh token of the identity provider, sealed; absent where it granted none. */
  issuerGrant: v.optional(v.string()),
});
export type SessionSpec = v.InferOutput<typeof SessionSpec>;
/** As of the last activity that was saved: when that was by the clock of the machine, how long the session had lived. */
const SavedSession = v.pipe(v.object({ bootID: v.string(), bootMs: v.number(), livedMs: v.number(), signedInMs: v.number() }), v.readonly());
export interface SessionStatus {
  readonly authTimeMs: number;
  /** At most a minute behind what the gateway knows in memory. */
  readonly lastActivityAtMs: WallMs;
  /** Absent in data of 0.1.0. */
  readonly saved?: v.InferOutput<typeof SavedSession>;
}
export const Session: Kind<SessionSpec, SessionStatus> = {
  ...INTERNAL,
  kind: 'Session',
  action: 'session',
  spec: SessionSpec,
  initialStatus: (spec) => ({ authTimeMs: spec.createdAtMs, lastActivityAtMs: spec.createdAtMs }),
  status: { authTimeMs: v.number(), lastActivityAtMs: v.number(), saved: v.optional(SavedSession) },
};

export const ApiKeySpec = v.strictObject({
  site: v.string(),
  /** SHA-256 (hex) of the key; the key itself is shown once and kept nowhere. */
  hash: v.string(),
  keyPrefix: v.string(),
  createdBy: v.string(),
  expiresAtMs: v.nullable(v.number()),
  /** What would change something is judged and not done. */
  test: v.optional(v.literal(true)),
  /** The key that was replaced: it opens the same until its term is over. */
  previous: v.optional(v.strictObject({ hash: v.string(), keyPrefix: v.string(), until: v.string(), term: StoredTerm })),
});
export type ApiKeySpec = v.InferOutput<typeof ApiKeySpec>;
export interface ApiKeyStatus {
  readonly lastUsedAtMs: number | null;
  /** Of the key that was replaced. */
  readonly previousUsedAtMs?: number | null;
}
export const ApiKey: Kind<ApiKeySpec, ApiKeyStatus> = {
  ...INTERNAL,
  kind: 'ApiKey',
  action: 'apikey',
  spec: ApiKeySpec,
  initialStatus: () => ({ lastUsedAtMs: null }),
  status: { lastUsedAtMs: v.nullable(v.number()), previousUsedAtMs: v.nullish(v.number()) },
};

export const LockOutSpec = v.strictObject({ username: v.string() });
export type LockOutSpec = v.InferOutput<typeof LockOutSpec>;
/** `addresses` is absent in data of 0.1.0, where a lock held for the name whoever came. */
export const LockOutStatus = v.object({
  /** Failed passwords within the window, oldest first. */
  failuresAtMs: v.array(v.number()),
  sourceIPs: v.array(v.string()),
  /** When it ends as people read it, 0 while nothing is locked; what counts is `lockedForMs`. */
  lockedUntilMs: v.number(),
  /** What is left of the lock of the name, as of the last failure. */
  lockedForMs: v.optional(v.number()),
  addresses: v.optional(
    v.array(v.object({ address: v.string(), sourceIP: v.string(), failures: v.array(v.object({ atMs: v.number(), ageMs: v.number() })), lockedForMs: v.number() })),
  ),
});
export type LockOutStatus = v.InferOutput<typeof LockOutStatus>;
export const LockOut: Kind<LockOutSpec, LockOutStatus> = {
  ...INTERNAL,
  kind: 'LockOut',
  action: 'lockout',
  spec: LockOutSpec,
  initialStatus: () => ({ failuresAtMs: [], sourceIPs: [], lockedUntilMs: 0 }),
  status: LockOutStatus.entries,
};

/** A person as the identity provider told of him last; the name is the SHA-256 (hex) of its account id. */
export const IssuerAccountSpec = v.strictObject({
  accountId: v.string(),
  username: v.string(),
  displayName: v.string(),
  email: v.string(),
  groups: v.array(v.string()),
});
export type IssuerAccountSpec = v.InferOutput<typeof IssuerAccountSpec>;
export const IssuerAccount: Kind<IssuerAccountSpec, AccountStatus> = {
  ...INTERNAL,
  kind: 'IssuerAccount',
  action: 'user',
  spec: IssuerAccountSpec,
  initialStatus: () => ({ lastLoginAt: null }),
  status: AccountStatus.entries,
};

/** Public keys of the identity provider, for a start at which it does not answer. */
export const IssuerKeysSpec = v.strictObject({
  issuer: v.string(),
  /** JSON of the keys. */
  keys: v.string(),
  /** When they were served. */
  at: v.strictObject({ wallMs: v.number(), bootID: v.string(), bootMs: v.number() }),
});
export type IssuerKeysSpec = v.InferOutput<typeof IssuerKeysSpec>;
export const IssuerKeys: Kind<IssuerKeysSpec, Record<string, never>> = { ...INTERNAL, kind: 'IssuerKeys', action: 'session', spec: IssuerKeysSpec, initialStatus: () => ({}) };

/** A session of the identity provider that was ended here; the name is the SHA-256 (hex) of its id. */
export const RevokedSessionSpec = v.strictObject({ sessionId: v.string(), untilMs: v.number() });
export type RevokedSessionSpec = v.InferOutput<typeof RevokedSessionSpec>;
export const RevokedSession: Kind<RevokedSessionSpec, Record<string, never>> = {
  ...INTERNAL,
  kind: 'RevokedSession',
  action: 'session',
  spec: RevokedSessionSpec,
  initialStatus: () => ({}),
};

/** A screen that watches its site while nobody is signed in (D-C-18). */
export const PanelSpec = v.strictObject({
  accountId: v.string(),
  displayName: v.string(),
  site: v.string(),
  /** Thumbprint (RFC 7638) of its device key, by which it names itself. */
  keyID: v.string(),
  publicKey: v.strictObject({ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string() }),
  enrolledBy: v.string(),
  /** Where it showed its code. */
  enrolledFrom: v.string(),
});
export type PanelSpec = v.InferOutput<typeof PanelSpec>;
export interface PanelStatus {
  readonly lastContactAt: string | null;
  readonly lastContactFrom: string;
}
export const Panel: Kind<PanelSpec, PanelStatus> = {
  ...INTERNAL,
  kind: 'Panel',
  action: 'panel',
  spec: PanelSpec,
  initialStatus: () => ({ lastContactAt: null, lastContactFrom: '' }),
  status: { lastContactAt: v.nullable(v.string()), lastContactFrom: v.string() },
};

/** That a person has something beside his password: an app, recovery codes, passkeys (rows of their own). The name is that of his account. */
export const SecondFactorSpec = v.strictObject({
  accountId: v.string(),
  /** Secret of the app, where there is one, and hashes of the recovery codes that are left, sealed for this account. */
  sealed: v.string(),
  enrolledAt: v.string(),
});
export type SecondFactorSpec = v.InferOutput<typeof SecondFactorSpec>;
export const SecondFactorStatus = v.strictObject({
  lastUsedAt: v.nullable(v.string()),
  /** Steps of time whose code was taken, ascending; whatever is not later than `floor` counts as taken too. */
  usedSteps: v.array(v.number()),
  floor: v.number(),
});
export type SecondFactorStatus = v.InferOutput<typeof SecondFactorStatus>;
export const SecondFactor: Kind<SecondFactorSpec, SecondFactorStatus> = {
  ...INTERNAL,
  kind: 'SecondFactor',
  action: 'user',
  spec: SecondFactorSpec,
  initialStatus: () => ({ lastUsedAt: null, usedSteps: [], floor: -1 }),
  status: SecondFactorStatus.entries,
};

/** A key that a browser, a phone or a token keeps for an account; the name is `<account>/<id>`. A public key is no secret: it is stored as it is. */
export const PasskeySpec = v.strictObject({
  /** Resource name of the account. */
  account: v.string(),
  accountId: v.string(),
  /** As its owner calls it. */
  title: v.string(),
  credentialID: v.string(),
  /** COSE key, base64url. */
  publicKey: v.string(),
  /** The host name that it is bound to. */
  rpID: v.string(),
  transports: v.array(v.string()),
  synced: v.boolean(),
});
export type PasskeySpec = v.InferOutput<typeof PasskeySpec>;
export const PasskeyStatus = v.strictObject({ lastUsedAt: v.nullable(v.string()), counter: v.number() });
export type PasskeyStatus = v.InferOutput<typeof PasskeyStatus>;
export const Passkey: Kind<PasskeySpec, PasskeyStatus> = {
  ...INTERNAL,
  kind: 'Passkey',
  action: 'user',
  spec: PasskeySpec,
  initialStatus: () => ({ lastUsedAt: null, counter: 0 }),
  status: PasskeyStatus.entries,
};

/** An administrator that was made at the box (`lineside recover-admin`). */
export const AdminRecoverySpec = v.strictObject({
  username: v.string(),
  accountId: v.string(),
  at: v.string(),
  /** Of the system, who typed the command. */
  systemUser: v.string(),
  /** User names of the enabled administrators that there were. */
  administrators: v.array(v.string()),
});
export type AdminRecoverySpec = v.InferOutput<typeof AdminRecoverySpec>;
export const AdminRecoveryStatus = v.object({
  acknowledged: v.nullable(v.pipe(v.object({ by: v.string(), accountId: v.string(), at: v.string(), reason: v.string() }), v.readonly())),
});
export type AdminRecoveryStatus = Readonly<v.InferOutput<typeof AdminRecoveryStatus>>;
export const AdminRecovery: Kind<AdminRecoverySpec, AdminRecoveryStatus> = {
  ...INTERNAL,
  kind: 'AdminRecovery',
  action: 'recovery',
  spec: AdminRecoverySpec,
  initialStatus: () => ({ acknowledged: null }),
  status: AdminRecoveryStatus.entries,
};

export const ACCESS_KINDS = [Account, Session, ApiKey, LockOut, IssuerAccount, IssuerKeys, RevokedSession, SecondFactor, Passkey, AdminRecovery, Panel] as const;
