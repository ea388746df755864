/** What is told of accounts, sessions, lock-outs and keys, as schemas (decisions AUTH, KEY). No secret ever stands in one. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { TIERS } from '../../platform/http/tiers.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { PasskeyBody, PasskeysOffered } from './passkeys/bodies.js';

export const AUTH_MODES = ['local', 'oidc', 'none'] as const;

const CLIENTS = ['browser', 'program'] as const;

export const UserBody = v.strictObject({
  username: v.string(),
  accountId: v.string(),
  displayName: v.string(),
  /** Absent where none is known. */
  email: v.optional(v.string()),
  groups: v.array(v.string()),
  enabled: v.boolean(),
  mustChangePassword: v.boolean(),
  /** Whether he has one. */
  secondFactor: v.boolean(),
  createdAt: v.string(),
  lastLoginAt: v.nullable(v.string()),
  passwordChangedAt: v.string(),
});
export type UserBody = ToldBy<typeof UserBody>;

/** `Me` of decisions Q-AUTH-01. */
export const Me = v.strictObject({
  accountId: v.string(),
  username: v.string(),
  displayName: v.string(),
  /** Absent where none is known. */
  email: v.optional(v.string()),
  groups: v.array(v.string()),
  tiers: v.array(v.picklist(TIERS)),
  actions: v.array(v.string()),
  /** Null for who is confined to none. */
  sites: v.nullable(v.array(v.string())),
  authMode: v.picklist(AUTH_MODES),
  sessionId: v.nullable(v.string()),
  authTime: v.nullable(v.string()),
  expiresAt: v.nullable(v.string()),
  mustChangePassword: v.boolean(),
  /** Whether I have one. */
  secondFactor: v.boolean(),
  /** My role requires one, and I have none: nothing else is open to me until I have enrolled. */
  mustEnrolSecondFactor: v.boolean(),
});
export type Me = ToldBy<typeof Me>;

export const SessionBody = v.strictObject({
  accessToken: v.string(),
  tokenType: v.literal('Bearer'),
  expiresIn: v.number(),
  expiresAt: v.string(),
  /** Of a login that asked for no cookie. */
  refreshToken: v.optional(v.string()),
  sessionId: v.string(),
  user: Me,
});
export type SessionBody = ToldBy<typeof SessionBody>;

export const OpenSession = v.strictObject({
  id: v.string(),
  accountId: v.string(),
  username: v.string(),
  displayName: v.string(),
  authMode: v.string(),
  sourceIP: v.string(),
  userAgent: v.string(),
  /** Where its tokens are kept. */
  client: v.picklist(CLIENTS),
  createdAt: v.string(),
  authTime: v.string(),
  lastActivityAt: v.string(),
  expiresAt: v.string(),
  streams: v.number(),
  current: v.boolean(),
});
export type OpenSession = ToldBy<typeof OpenSession>;

export const SecondFactorBody = v.strictObject({
  enrolled: v.boolean(),
  /** By my role. */
  required: v.boolean(),
  /** Whether an authenticator app is part of it. */
  app: v.boolean(),
  enrolledAt: v.nullable(v.string()),
  /** Of a code. */
  lastUsedAt: v.nullable(v.string()),
  recoveryCodesLeft: v.number(),
  /** Oldest first. */
  passkeys: v.array(PasskeyBody),
  passkeysOffered: PasskeysOffered,
});
export type SecondFactorBody = ToldBy<typeof SecondFactorBody>;

/** The only answer that has the secret. */
export const EnrolmentBody = v.strictObject({ secret: v.string(), uri: v.string(), expiresInSeconds: v.number() });
/** The only answers that have the recovery codes. */
export const RecoveryCodesBody = v.strictObject({ recoveryCodes: v.array(v.string()) });

export const LockOutBody = v.strictObject({
  username: v.string(),
  failedAttempts: v.number(),
  firstFailedAt: v.string(),
  lastFailedAt: v.string(),
  lockedUntil: v.string(),
  sourceIPs: v.array(v.string()),
  everywhere: v.boolean(),
});
export type LockOutBody = ToldBy<typeof LockOutBody>;

const KEY = {
  name: v.string(),
  site: v.string(),
  keyPrefix: v.string(),
  createdAt: v.string(),
  createdBy: v.string(),
  expiresAt: v.nullable(v.string()),
  /** A test key starts nothing: what would change something is judged and refused. */
  test: v.boolean(),
};
/** The key that a rotation replaced, as long as it is still accepted. */
const PreviousKey = v.strictObject({ keyPrefix: v.string(), validUntil: v.string(), lastUsedAt: v.nullable(v.string()) });
const KNOWN_KEY = { ...KEY, lastUsedAt: v.nullable(v.string()), previous: v.nullable(PreviousKey) };
export const KeyBody = v.strictObject(KNOWN_KEY);
export type KeyBody = ToldBy<typeof KeyBody>;
/** The only answers that have the key itself. */
export const NewKey = v.strictObject({ ...KEY, key: v.string() });
export const RotatedKey = v.strictObject({ ...KNOWN_KEY, key: v.string() });

/** Decisions Q-AUTH-02; it names no software version. */
export const AuthConfig = v.strictObject({
  authMode: v.picklist(AUTH_MODES),
  operatingMode: v.string(),
  reasonMinLength: v.number(),
  reasonMaxLength: v.number(),
  groupPrefix: v.string(),
  firstAdminRequired: v.boolean(),
  loginPath: v.string(),
  /** Setting `gateway.publicName`: the host name under which people reach the box. */
  publicName: v.nullable(v.string()),
  /** In mode `oidc` only. */
  oidc: v.nullable(v.strictObject({ issuer: v.nullable(v.string()), clientId: v.nullable(v.string()), loginPath: v.string() })),
  accessTokenLifetimeSeconds: v.number(),
  inactivityTimeoutSeconds: v.number(),
  freshTokenMaxAgeSeconds: v.number(),
  passwordMinLength: v.number(),
  /** In mode `local` only. */
  passkeys: v.nullable(PasskeysOffered),
  antiReplay: v.strictObject({ enabled: v.boolean(), header: v.string(), windowSeconds: v.number() }),
});
export type AuthConfig = ToldBy<typeof AuthConfig>;

/** Decisions Q-AUTH-03. */
export const AuthPolicy = v.strictObject({
  groupPrefix: v.string(),
  sitePattern: v.string(),
  roles: v.array(v.strictObject({ group: v.string(), tier: v.nullable(v.picklist(TIERS)), grant: v.array(v.string()), deny: v.array(v.string()), shipped: v.boolean() })),
  actions: v.array(
    v.strictObject({
      action: v.string(),
      tier: v.string(),
      routes: v.array(v.strictObject({ method: v.string(), path: v.string(), summary: v.string() })),
      /** Role groups whose members may do it: those of its tier and grants, without denials. */
      groups: v.array(v.string()),
    }),
  ),
  freshTokenActions: v.array(v.string()),
  /** Role groups. */
  secondFactorRequiredFor: v.array(v.string()),
  reasonMinLength: v.number(),
});
export type AuthPolicy = ToldBy<typeof AuthPolicy>;

nameSchemas({
  UserBody,
  CurrentUser: Me,
  SessionBody,
  OpenSession,
  SecondFactorBody,
  SecondFactorEnrolment: EnrolmentBody,
  RecoveryCodes: RecoveryCodesBody,
  LockOutBody,
  ApiKeyBody: KeyBody,
  NewApiKey: NewKey,
  RotatedApiKey: RotatedKey,
  PreviousApiKey: PreviousKey,
  AuthConfig,
  AuthPolicy,
});
