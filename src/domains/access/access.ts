/**
 * Accounts, sessions, keys and roles in one place (decisions AUTH, KEY): what the auth routes do, and the authenticator that
 * pipeline and streams ask. Every change goes to the store together with its audit record (D-AUTH-06).
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, TIERS } from '../../platform/http/caller.js';
import type { AuditEntry, RequestContext, Route } from '../../platform/http/route.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import { component } from '../../platform/store/audit-record.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { ApiKeys } from './api-keys.js';
import { AccessAuthenticator, type ExternalTokens } from './authenticator.js';
import { CommissioningCode } from './commissioning-code.js';
import { Account, type AccountSpec, type AccountStatus } from './kind.js';
import { LockOuts } from './lockouts.js';
import { checkPassword, type HashCost, PasswordHasher } from './passwords.js';
import { type RoleEntry, Roles } from './roles.js';
import { SessionTokens, type TokenKeys } from './session-token.js';
import { type LiveSession, Sessions } from './sessions.js';

export interface AccessSettings {
  readonly dataDir: string;
  readonly authMode: 'local' | 'oidc' | 'none';
  readonly operatingMode: string;
  readonly groupPrefix: string;
  readonly roles: readonly RoleEntry[];
  readonly rolesMode: 'merge' | 'replace';
  readonly accessTokenLifetimeMs: number;
  readonly inactivityTimeoutMs: number;
  readonly sessionLifetimeMs: number;
  readonly lockoutThreshold: number;
  readonly lockoutWindowMs: number;
  readonly lockoutDurationMs: number;
  readonly passwordLengthMin: number;
  readonly reasonLengthMin: number;
  readonly antiReplayEnabled: boolean;
  readonly antiReplayWindowMs: number;
  readonly oidcIssuer: string | null;
  readonly oidcClientId: string | null;
}

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: TokenKeys;
  readonly settings: AccessSettings;
  /** Puts the commissioning code on the console of the appliance. */
  readonly announceCode: (code: string) => void;
  readonly hashCost?: HashCost;
  readonly external?: ExternalTokens;
  /** Open streams of a session, for the session list. */
  readonly streamsOf?: (sessionId: string) => number;
}

export type AccountResource = Resource<AccountSpec, AccountStatus>;
type Context = RequestContext<unknown, unknown>;

export interface SessionBody {
  readonly accessToken: string;
  readonly tokenType: 'Bearer';
  readonly expiresIn: number;
  readonly expiresAt: string;
  readonly refreshToken?: string;
  readonly sessionId: string;
  readonly user: unknown;
}

export interface UserChange {
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly mustChangePassword?: boolean | undefined;
}

const USERNAME = /^[A-Za-z0-9._@-]{1,64}$/; // D-AUTH-02

export class Access {
  readonly settings: AccessSettings;
  readonly sessions: Sessions;
  readonly lockOuts: LockOuts;
  readonly keys: ApiKeys;
  readonly authenticator: AccessAuthenticator;
  readonly store: Store;
  readonly clock: Clock;
  readonly streamsOf: (sessionId: string) => number;
  readonly #tokens: SessionTokens;
  readonly #hasher: PasswordHasher;
  readonly #code: CommissioningCode;
  readonly #announceCode: (code: string) => void;
  #roles: Roles;

  /** The store must be open: sessions and keys are read from it. */
  constructor(options: AccessOptions) {
    const { store, clock, settings } = options;
    this.store = store;
    this.clock = clock;
    this.settings = settings;
    this.sessions = new Sessions(store, clock, settings);
    this.lockOuts = new LockOuts(store, clock, settings);
    this.keys = new ApiKeys(store, clock);
    this.streamsOf = options.streamsOf ?? (() => 0);
    this.#tokens = new SessionTokens(options.keys);
    this.#hasher = new PasswordHasher(options.hashCost);
    this.#code = new CommissioningCode(settings.dataDir, clock);
    this.#announceCode = options.announceCode;
    this.#roles = new Roles(settings.groupPrefix, [], 'merge', []);
    this.authenticator = new AccessAuthenticator({
      authMode: settings.authMode,
      clock,
      store,
      sessions: this.sessions,
      keys: this.keys,
      tokens: this.#tokens,
      roles: () => this.#roles,
      external: options.external,
    });
    this.#publishCode();
  }

  stop(): void {
    this.sessions.stop();
  }

  get roles(): Roles {
    return this.#roles;
  }

  /**
   * The action table is the whole route table: called once it is complete, before the first request.
   * @throws RoleTableError naming an unknown action or tier of `auth.roles` (exit code 2).
   */
  useRoutes(rows: readonly Route[]): void {
    this.#roles = new Roles(this.settings.groupPrefix, this.settings.roles, this.settings.rolesMode, rows);
  }

  // -------------------------------------------------------------- signing in

  async login(context: Context, username: string, password: string, useCookie: boolean): Promise<{ body: SessionBody; refreshToken: string }> {
    const name = username.toLowerCase();
    this.lockOuts.refuseSource(context.sourceIP);
    this.lockOuts.refuseLocked(name);
    const account = this.#usable(name);
    const right = await this.#hasher.verify(password, account?.spec.passwordHash);
    if (!account || !right) return this.#failLogin(context, username, 'login');
    this.lockOuts.refuseLocked(name); // several attempts may have waited for their hash together
    const renewed = this.#hasher.isOutdated(account.spec.passwordHash) ? { ...account.spec, passwordHash: await this.#hasher.hash(password) } : account.spec;
    const puts: Put<AccountSpec, AccountStatus>[] = [{ kind: Account, site: '', name, spec: renewed, status: { lastLoginAt: timestamp(this.clock.wallMs()) } }];
    const audit = this.#draft(
      context,
      { action: 'Login', target: { kind: 'Account', name: account.spec.username, site: '' }, details: { method: 'password' } },
      actorOfAccount(account.spec, context.sourceIP),
    );
    const { session, refreshToken } = await this.sessions.open(account, this.settings.authMode, context.sourceIP, context.header('user-agent') ?? '', audit, puts);
    await this.#clearFailures(name);
    return { body: this.#sessionBody(session, account.spec, useCookie ? undefined : refreshToken), refreshToken };
  }

  /** `auth_time` is unchanged, so a refreshed token is not fresh (decisions Q-AUTH-09). */
  refresh(refreshToken: string): SessionBody {
    const found = this.sessions.findByRefreshToken(refreshToken);
    if (!found) throw new Refusal('unauthenticated', 'the session has ended; sign in again', { code: 'session_ended' });
    const session = this.sessions.require(found.id);
    const account = this.#usable(session.account);
    if (!account) throw new Refusal('unauthenticated', 'the account is closed or disabled', { code: 'session_ended' });
    return this.#sessionBody(session, account.spec, undefined);
  }

  async reauthenticate(context: Context, password: string): Promise<SessionBody> {
    const { session, account } = this.#own(context.caller);
    const name = account.metadata.name;
    this.lockOuts.refuseSource(context.sourceIP);
    this.lockOuts.refuseLocked(name);
    if (!(await this.#hasher.verify(password, account.spec.passwordHash))) return this.#failLogin(context, account.spec.username, 'reauthenticate');
    await this.sessions.renew(
      session,
      context.audit({ action: 'Login', category: 'auth', target: { kind: 'Account', name: account.spec.username, site: '' }, details: { method: 'reauthenticate' } }),
    );
    await this.#clearFailures(name);
    return this.#sessionBody(session, account.spec, undefined);
  }

  async logout(context: Context): Promise<void> {
    const { sessionId } = context.caller;
    const audit = context.audit({ action: 'Logout', category: 'auth', target: { kind: 'Session', name: sessionId ?? '', site: '' } });
    if (sessionId === null) throw conflict('no_session', 'this credential has no session of this gateway');
    await this.sessions.end([sessionId], 'logout', [audit]);
  }

  async changePassword(context: Context, currentPassword: string, newPassword: string): Promise<void> {
    const { account } = this.#own(context.caller);
    const name = account.metadata.name;
    this.lockOuts.refuseLocked(name);
    if (!(await this.#hasher.verify(currentPassword, account.spec.passwordHash))) return this.#failLogin(context, account.spec.username, 'password');
    await this.#setPassword(context, account, newPassword, false, this.sessions.idsOf(name, context.caller.sessionId), 'newPassword');
  }

  // -------------------------------------------------------------- first administrator

  get firstAdminRequired(): boolean {
    return this.settings.authMode === 'local' && this.#admins().length === 0;
  }

  async createFirstAdmin(context: Context, body: { code: string; username: string; password: string; displayName?: string | undefined }): Promise<AccountResource> {
    if (!this.firstAdminRequired) throw conflict('admin_exists', 'there is an administrator already; ask him for an account');
    this.#code.check(body.code);
    const created = await this.#create(
      context,
      {
        username: body.username,
        password: body.password,
        displayName: body.displayName ?? body.username,
        email: '',
        groups: [this.#roles.adminGroup],
        enabled: true,
        mustChangePassword: false,
      },
      component('commissioning'),
    );
    this.#code.remove();
    return created;
  }

  // -------------------------------------------------------------- users

  users(): readonly AccountResource[] {
    return this.store.list(Account, '').filter(({ spec }) => !spec.retired);
  }

  /** @throws Refusal 404. */
  user(username: string): AccountResource {
    const found = this.store.get(Account, '', username.toLowerCase());
    if (!found || found.spec.retired) throw missing('user', username);
    return found;
  }

  createUser(
    context: Context,
    body: {
      username: string;
      password: string;
      displayName: string;
      email?: string | undefined;
      groups?: readonly string[] | undefined;
      enabled?: boolean | undefined;
      mustChangePassword?: boolean | undefined;
    },
  ): Promise<AccountResource> {
    const { username, password, displayName, email = '', groups = [], enabled = true, mustChangePassword = true } = body;
    return this.#create(context, { username, password, displayName, email, groups, enabled, mustChangePassword });
  }

  async updateUser(context: Context, username: string, change: UserChange): Promise<AccountResource> {
    const before = this.user(username);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<AccountSpec>;
    const spec: AccountSpec = { ...before.spec, ...given, groups: given.groups ? sorted(given.groups) : before.spec.groups };
    this.#keepLastAdmin(before, spec);
    const audit = context.audit({ target: userTarget(spec), before: shown(before.spec), after: shown(spec) });
    const applied = this.store.apply({ puts: [{ kind: Account, site: '', name: before.metadata.name, spec }], audits: [audit] });
    await applied.durable;
    if (!spec.enabled) await this.sessions.end(this.sessions.idsOf(before.metadata.name), 'administrator');
    this.#publishCode();
    return applied.resources[0] as AccountResource;
  }

  async setUserPassword(context: Context, username: string, newPassword: string, mustChangePassword: boolean): Promise<void> {
    const account = this.user(username);
    await this.#setPassword(context, account, newPassword, mustChangePassword, this.sessions.idsOf(account.metadata.name), 'newPassword');
  }

  async deleteUser(context: Context, username: string): Promise<void> {
    const account = this.user(username);
    const spec: AccountSpec = { ...account.spec, enabled: false, retired: true, groups: [], passwordHash: '' };
    this.#keepLastAdmin(account, spec);
    const name = account.metadata.name;
    const audit = context.audit({ target: userTarget(account.spec), before: shown(account.spec) });
    await this.sessions.end(this.sessions.idsOf(name), 'administrator', [audit], { puts: [{ kind: Account, site: '', name, spec }] });
  }

  // -------------------------------------------------------------- inside

  async #create(
    context: Context,
    user: { username: string; password: string; displayName: string; email: string; groups: readonly string[]; enabled: boolean; mustChangePassword: boolean },
    actor?: Actor,
  ): Promise<AccountResource> {
    const { password, ...rest } = user;
    if (!USERNAME.test(user.username)) throw invalid('invalid_name', 'username', 'username must have 1 to 64 letters, digits or . _ @ -');
    checkPassword(password, user.username, this.settings.passwordLengthMin);
    const name = user.username.toLowerCase();
    this.#refuseTaken(name, user.username);
    const passwordHash = await this.#hasher.hash(password);
    this.#refuseTaken(name, user.username); // another request may have taken the name while this one hashed
    const spec: AccountSpec = { ...rest, groups: sorted(user.groups), accountId: randomUUID(), passwordHash, passwordChangedAt: timestamp(this.clock.wallMs()), retired: false };
    const entry: AuditEntry = { action: 'Create', category: 'auth', target: userTarget(spec), after: shown(spec) };
    const audit = actor ? this.#draft(context, entry, actor) : context.audit(entry);
    const applied = await this.store.write({ puts: [{ kind: Account, site: '', name, spec }], audits: [audit] });
    return applied.resources[0] as AccountResource;
  }

  #refuseTaken(name: string, username: string): void {
    const existing = this.store.get(Account, '', name);
    if (!existing) return;
    if (existing.spec.retired) throw conflict('username_retired', `the name ${username} belonged to a closed account and is not used again`);
    throw conflict('already_exists', `user ${username} exists already`, { kind: 'User', name: existing.spec.username });
  }

  async #setPassword(context: Context, account: AccountResource, password: string, mustChangePassword: boolean, endSessions: readonly string[], field: string): Promise<void> {
    checkPassword(password, account.spec.username, this.settings.passwordLengthMin, field);
    const passwordHash = await this.#hasher.hash(password);
    const present = this.store.get(Account, '', account.metadata.name);
    if (!present || present.spec.retired) throw missing('user', account.spec.username);
    const spec: AccountSpec = { ...present.spec, passwordHash, mustChangePassword, passwordChangedAt: timestamp(this.clock.wallMs()) };
    const audit = context.audit({ action: 'Update', category: 'auth', target: userTarget(spec), details: { changed: 'password', mustChangePassword } });
    await this.sessions.end(endSessions, 'administrator', [audit], { puts: [{ kind: Account, site: '', name: account.metadata.name, spec }] });
  }

  #usable(name: string): AccountResource | undefined {
    const account = this.store.get(Account, '', name);
    return account && account.spec.enabled && !account.spec.retired ? account : undefined;
  }

  /** The session and local account behind a caller. */
  #own(caller: Caller): { session: LiveSession; account: AccountResource } {
    const session = caller.sessionId === null ? undefined : this.sessions.get(caller.sessionId);
    const account = session && this.#usable(session.account);
    if (!session || !account) throw new Refusal('unauthenticated', 'the session has ended; sign in again', { code: 'session_ended' });
    return { session, account };
  }

  #admins(): AccountResource[] {
    return this.users().filter(({ spec }) => this.#isAdmin(spec));
  }

  #isAdmin(spec: AccountSpec): boolean {
    return spec.enabled && !spec.retired && spec.groups.includes(`${this.settings.groupPrefix}-admin`);
  }

  #keepLastAdmin(before: AccountResource, after: AccountSpec): void {
    if (!this.#isAdmin(before.spec) || this.#isAdmin(after) || this.#admins().length > 1) return;
    throw conflict('last_admin', `${before.spec.username} is the last enabled administrator; make another one first`);
  }

  #publishCode(): void {
    if (this.firstAdminRequired) this.#code.publish(this.#announceCode);
  }

  /** Counts the failure, records it and refuses: one text whether the name is known or not. */
  async #failLogin(context: Context, username: string, method: string): Promise<never> {
    const target = { kind: 'Account', name: username.slice(0, 64), site: '' };
    const lockOut = this.#draft(
      context,
      { action: 'Update', category: 'auth', target: { ...target, kind: 'LockOut' }, details: { locked: true, durationSeconds: this.settings.lockoutDurationMs / 1000 } },
      component('access'),
    );
    // last, so that the request counts as one whose refusal is recorded
    const failure = context.audit({ action: 'Login', category: 'auth', target, result: 'Rejected', reason: 'InvalidCredentials', details: { method } });
    await this.lockOuts.fail(username.toLowerCase().slice(0, 64), context.sourceIP, failure, lockOut);
    throw new Refusal('unauthenticated', 'wrong user name or password', { code: 'invalid_credentials' });
  }

  async #clearFailures(name: string): Promise<void> {
    const removes = this.lockOuts.refsOf(name);
    if (removes.length > 0) await this.store.write({ removes });
  }

  /** A draft by somebody else than the caller of the request: who signs in is not yet the caller. */
  #draft(context: Context, entry: AuditEntry, actor: Actor): AuditDraft {
    return { ...context.audit({ category: 'auth', ...entry }), actor };
  }

  #sessionBody(session: LiveSession, account: AccountSpec, refreshToken: string | undefined): SessionBody {
    const nowMs = this.clock.wallMs();
    const issuedAtMs = Math.floor(nowMs / 1000) * 1000;
    const expiresAtMs = Math.min(issuedAtMs + this.settings.accessTokenLifetimeMs, session.endsAtMs);
    const accessToken = this.#tokens.issue(account, { sid: session.id, issuedAtMs, expiresAtMs, authTimeMs: session.authTimeMs });
    const caller = this.authenticator.authenticate(`Bearer ${accessToken}`);
    return {
      accessToken,
      tokenType: 'Bearer',
      expiresIn: Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000)),
      expiresAt: timestamp(Math.floor(expiresAtMs / 1000) * 1000),
      ...(refreshToken === undefined ? {} : { refreshToken }),
      sessionId: session.id,
      user: this.me(caller),
    };
  }

  /** `Me` of decisions Q-AUTH-01. */
  me(caller: Caller): Record<string, unknown> {
    const session = caller.sessionId === null ? undefined : this.sessions.get(caller.sessionId);
    const email = session && this.store.get(Account, '', session.account)?.spec.email;
    const everything = this.settings.authMode === 'none' && caller.accountId === 'none:developer';
    const rights = this.#roles.rightsOf(caller.groups);
    return {
      accountId: caller.accountId,
      username: caller.username,
      displayName: caller.displayName,
      ...(email ? { email } : {}),
      groups: caller.groups,
      tiers: everything ? TIERS : rights.tiers,
      actions: everything ? this.#roles.actions.map(({ action }) => action) : [...rights.actions].sort(),
      sites: caller.sites,
      authMode: this.settings.authMode,
      sessionId: caller.sessionId,
      authTime: caller.authTimeMs === null ? null : timestamp(caller.authTimeMs),
      expiresAt: caller.expiresAtMs === null ? null : timestamp(caller.expiresAtMs),
      mustChangePassword: caller.mustChangePassword,
    };
  }
}

function actorOfAccount(spec: AccountSpec, sourceIP: string): Actor {
  return { accountId: spec.accountId, displayName: spec.displayName, actorType: 'human', sourceIP };
}

function userTarget(spec: AccountSpec): { kind: string; name: string; site: string } {
  return { kind: 'User', name: spec.username, site: '' };
}

/** What an audit record shows of an account: never the hash. */
function shown({ displayName, email, groups, enabled, mustChangePassword }: AccountSpec): Record<string, unknown> {
  return { displayName, email, groups, enabled, mustChangePassword };
}

function sorted(groups: readonly string[]): string[] {
  return [...new Set(groups)].sort();
}
