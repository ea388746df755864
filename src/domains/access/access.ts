/**
 * Accounts, sessions, keys and roles in one place (decisions AUTH, KEY): what the auth routes do, and the authenticator that
 * pipeline and streams ask. Every change goes to the store together with its audit record (D-AUTH-06).
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { Sealing } from '../../platform/base/sealing.js';
import { cutText } from '../../platform/base/short-text.js';
import type { Log } from '../../platform/base/log.js';
import type { Caller } from '../../platform/http/caller.js';
import { TIERS } from '../../platform/http/tiers.js';
import type { AuditEntry, RequestContext, RouteColumns } from '../../platform/http/route.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import { component } from '../../platform/store/audit-record.js';
import type { Change, Store } from '../../platform/store/store.js';
import { ApiKeys } from './api-keys.js';
import { AccessAuthenticator } from './authenticator.js';
import type { Me, SessionBody } from './bodies.js';
import { CommissioningCode } from './commissioning-code.js';
import { type Identity, identityOf } from './identities.js';
import type { Issuer } from './issuer/issuer.js';
import { type OidcSettings, openIssuer } from './issuer/open-issuer.js';
import { IssuerLogin } from './issuer-login.js';
import { Account, type AccountResource, type AccountSpec } from './kind.js';
import { type Attempt, LockOuts } from './lockouts.js';
import { Panels } from './panels/panels.js';
import { type PartySettings, partyOf, type Served } from './passkeys/party.js';
import { Passkeys } from './passkeys/passkeys.js';
import { type BesideProof, type Proof, secondElsewhere } from './proof.js';
import { badPassword, checkPassword, HASH_COST, type HashCost, PasswordHasher } from './passwords.js';
import { type RoleEntry, Roles, type SiteRules } from './roles.js';
import { AdminRecoveries } from './recovery/recoveries.js';
import type { RecoveryRequest } from './recovery/request-file.js';
import { SecondFactors } from './second-factor/second-factors.js';
import { SecondStep } from './second-factor/second-step.js';
import { NO_FACTOR, usedFactor } from './second-factor/verdicts.js';
import { SessionTokens, type TokenKeys } from './session-token.js';
import { END_REASONS, type LiveSession, Sessions, type TimeWitness } from './sessions.js';
import { userTarget } from './user-target.js';

export interface AccessSettings extends OidcSettings, PartySettings {
  readonly dataDir: string;
  readonly authMode: 'local' | 'oidc' | 'none';
  readonly operatingMode: string;
  readonly groupPrefix: string;
  readonly roles: readonly RoleEntry[];
  readonly rolesMode: 'merge' | 'replace';
  readonly requireSiteGroup: boolean;
  readonly accessTokenLifetimeMs: number;
  readonly inactivityTimeoutMs: number;
  readonly lockoutThreshold: number;
  readonly lockoutWindowMs: number;
  readonly lockoutDurationMs: number;
  readonly passwordLengthMin: number;
  readonly passwordWork: number;
  readonly reasonLengthMin: number;
  readonly antiReplayEnabled: boolean;
  readonly antiReplayWindowMs: number;
  readonly oidcRedirectUri: string | null;
  readonly secondFactorRequiredFor: readonly string[];
  readonly secondFactorToSign: boolean;
}

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: TimeWitness;
  readonly keys: TokenKeys;
  readonly settings: AccessSettings;
  readonly siteExists: (site: string) => boolean;
  readonly siteNames: () => readonly string[];
  /** False where accounts were lost: then a code makes an administrator only when whoever starts the appliance asks for it (D-C-09). */
  readonly firstAdminByCode?: boolean;
  readonly hashCost?: HashCost;
  readonly served: Served;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Every row that is served, once all parts have joined: the table of actions. */
  readonly rows: () => readonly RouteColumns[];
}

export type { AccountResource };
type Context = RequestContext<unknown, unknown>;

/** Counts, records and refuses what was wrong: the password, where nothing else is said. */
type Fail = (reason?: string, details?: Readonly<Record<string, unknown>>) => Promise<never>;
interface Failed {
  readonly method: string;
  readonly attempt: Attempt;
  readonly proof?: Proof;
  readonly reason?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Who has proven it once more, and what is to be stored with what he does. */
export interface Proven {
  readonly session: LiveSession;
  readonly account: AccountResource;
  readonly also: Pick<Change, 'puts' | 'removes'>;
}

/** What a second person does, and where. */
interface Asked {
  readonly action: string;
  readonly site: string;
}

/** Who has proven it beside the caller, and what is to be stored with what both do. */
export interface SecondPerson {
  readonly signatory: Pick<Caller, 'accountId' | 'displayName' | 'groups' | 'issuedAtMs'>;
  readonly actor: Actor;
  readonly used: Readonly<Record<string, unknown>>;
  readonly also: Pick<Change, 'puts' | 'removes'>;
}

export interface UserChange {
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly mustChangePassword?: boolean | undefined;
}

/** D-AUTH-02; dots alone are steps of an address, and a browser can never ask for such an account. */
const USERNAME = /^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/;
const USERNAME_KEPT_MAX = 64;

export class Access {
  readonly settings: AccessSettings;
  readonly sessions: Sessions;
  readonly lockOuts: LockOuts;
  readonly keys: ApiKeys;
  readonly panels: Panels;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly second: SecondStep;
  readonly recoveries: AdminRecoveries;
  readonly authenticator: AccessAuthenticator;
  readonly store: Store;
  readonly clock: Clock;
  #shownCode = '';
  /** The identity provider, and sign-ins there; absent in other modes than `oidc`. */
  readonly issuer: Issuer | undefined;
  readonly issuerLogin: IssuerLogin | undefined;
  readonly #tokens: SessionTokens;
  readonly #hasher: PasswordHasher;
  readonly #code: CommissioningCode;
  readonly #firstAdminByCode: boolean;
  readonly #rows: () => readonly RouteColumns[];
  #roles: Roles | undefined;
  readonly #sites: SiteRules;

  /** The store must be open: sessions and keys are read from it. */
  constructor(options: AccessOptions) {
    const { store, clock, settings } = options;
    this.store = store;
    this.clock = clock;
    this.settings = settings;
    this.sessions = new Sessions(store, clock, settings, options.time);
    this.lockOuts = new LockOuts(store, clock, settings);
    this.keys = new ApiKeys(store, clock);
    const title = `Lineside ${options.keys.deviceId.slice(0, 6)}`;
    this.secondFactors = new SecondFactors(store, clock, new Sealing(options.keys.privateKey, 'second factors'), title);
    this.passkeys = new Passkeys({ store, clock, title, party: () => partyOf(settings, options.served) });
    this.second = new SecondStep({ store, settings, secondFactors: this.secondFactors, passkeys: this.passkeys });
    this.recoveries = new AdminRecoveries({
      store,
      clock,
      dataDir: settings.dataDir,
      log: options.log,
      accountOf: (request) => this.#recoveredAccount(request),
      administrators: () => this.#admins().map(({ spec }) => spec.username),
      made: () => this.#code.spend(),
    });
    this.#tokens = new SessionTokens(options.keys, clock);
    this.panels = new Panels({ store, clock, settings, lockOuts: this.lockOuts, tokens: this.#tokens, siteExists: options.siteExists });
    this.#hasher = new PasswordHasher(options.hashCost ?? { ...HASH_COST, ln: settings.passwordWork });
    this.#code = new CommissioningCode(settings.dataDir, clock);
    this.#firstAdminByCode = options.firstAdminByCode ?? true;
    this.#sites = { exists: options.siteExists, names: options.siteNames, groupRequired: settings.requireSiteGroup };
    this.#rows = options.rows;
    const sitesChanged = (): void => {
      this.#roles?.forgetRights();
      this.authenticator.forgetCallers();
    };
    store.watch({ kind: 'Site' }, ({ type, before }) => (type === 'remove' || !before) && sitesChanged());
    store.watchReload(sitesChanged);
    const issuer = (this.issuer = openIssuer(settings, options));
    this.authenticator = new AccessAuthenticator({
      authMode: settings.authMode,
      clock,
      store,
      sessions: this.sessions,
      keys: this.keys,
      tokens: this.#tokens,
      roles: () => this.roles,
      mustEnrol: (account, groups) => this.second.mustEnrol(account, groups),
      external: issuer?.tokens,
      panels: this.panels,
    });
    this.panels.onEnded((id) => this.authenticator.endedElsewhere(id, END_REASONS.administrator));
    if (issuer) {
      const { sessions } = this;
      this.issuerLogin = new IssuerLogin({ issuer, store, clock, sessions, sealing: new Sealing(options.keys.privateKey, 'grants of the identity provider'), settings });
      issuer.sessions.onEnded((id, why) => this.authenticator.endedElsewhere(id, END_REASONS[why]));
    }
    for (const { spec } of this.sessions.resources()) this.lockOuts.prove(spec.sourceIP);
    this.#publishCode();
  }

  /** As it was shown last, for the console of the appliance; empty where it had an administrator. */
  get commissioningCode(): string {
    return this.#shownCode;
  }

  /** What somebody should know of signing in, in sentences. */
  get notes(): readonly string[] {
    return [...(this.issuer?.trouble ? [this.issuer.trouble] : []), ...this.second.notes];
  }

  start(): void {
    this.issuer?.start();
    this.recoveries.start();
  }

  stop(): void {
    this.issuer?.stop();
    this.recoveries.stop();
    this.sessions.stop();
    this.lockOuts.stop();
  }

  /**
   * Made of the whole route table when it is first asked for, which is before the first request: at the start.
   * @throws RoleTableError naming an unknown action or tier of `auth.roles` (exit code 2).
   */
  get roles(): Roles {
    return (this.#roles ??= new Roles(this.settings.groupPrefix, this.settings.roles, this.settings.rolesMode, this.#rows(), this.#sites));
  }

  /** @throws RoleTableError: a bad role table stops the start. */
  checkRoles(): void {
    this.roles.checkRequiring(this.settings.secondFactorRequiredFor);
  }

  // -------------------------------------------------------------- signing in

  async login(context: Context, username: string, proof: Proof, useCookie: boolean): Promise<{ body: SessionBody; refreshToken: string }> {
    const name = username.toLowerCase();
    return this.#attempt(name, await this.panels.sourceOf(context, this.authenticator), async (attempt) => {
      const account = this.#usable(name);
      const right = await this.#hasher.verify(proof.password, account?.spec.passwordHash, attempt.place);
      const fail: Fail = (reason, details) => this.#failLogin(context, username, { method: 'login', attempt, proof, reason, details });
      if (!account || !right) return fail();
      const renewedHash = this.#hasher.isOutdated(account.spec.passwordHash) ? await this.#hasher.hash(proof.password, attempt.place) : undefined;
      const seen = await this.second.look(account, proof, 'login');
      const present = this.#unchanged(account);
      if (!present) return fail();
      const second = await this.second.require(context, present, seen, { method: 'login', purpose: 'login', fail });
      const { puts, removes } = attempt.succeed();
      const spec = renewedHash === undefined ? present.spec : { ...present.spec, passwordHash: renewedHash };
      const audit = this.#draft(
        context,
        { action: 'Login', target: { kind: 'Account', name: spec.username, site: '' }, details: { method: 'password', ...usedFactor(second) } },
        actorOfAccount(spec, context.sourceIP),
      );
      const who = { account: present.metadata.name, accountId: spec.accountId, client: useCookie ? ('browser' as const) : ('program' as const) };
      const { session, refreshToken } = await this.sessions.open(who, context.sourceIP, context.header('user-agent') ?? '', audit, {
        puts: [{ kind: Account, site: '', name, spec, status: { lastLoginAt: timestamp(this.clock.wallMs()) } }, ...second.puts, ...puts],
        removes,
      });
      return { body: await this.#sessionBody(session, spec, useCookie ? undefined : refreshToken), refreshToken };
    });
  }

  /** `auth_time` is unchanged, so a refreshed token is not fresh (decisions Q-AUTH-09). */
  async refresh(context: Context, refreshToken: string): Promise<SessionBody> {
    const found = this.sessions.findByRefreshToken(refreshToken);
    if (!found) throw new Refusal('unauthenticated', 'the session has ended; sign in again', { code: 'session_ended' });
    await this.issuerLogin?.renew(this.sessions.require(found.id), (entry) => this.#draft(context, entry, component('access')));
    const session = this.sessions.require(found.id); // it may have ended meanwhile
    const identity = identityOf(this.store, this.settings.authMode, session.account);
    if (!identity) throw new Refusal('unauthenticated', 'the account is closed or disabled', { code: 'session_ended' });
    const body = await this.#sessionBody(session, identity, undefined);
    await this.store.writeOrKeep({ audits: [context.audit({})] }, { as: 'session', key: `refresh/${session.id}` });
    return body;
  }

  /** For a fresh token of the same session; `auth.secondFactor.toSign` says whether a second factor is asked for here. */
  async reauthenticate(context: Context, proof: Proof): Promise<SessionBody> {
    return this.proven(context, proof, 'reauthenticate', this.settings.secondFactorToSign, async ({ session, account, also }, used) => {
      const target = { kind: 'Account', name: account.spec.username, site: '' };
      await this.sessions.renew(session, context.audit({ action: 'Login', category: 'auth', target, details: { method: 'reauthenticate', ...used } }), also);
      return this.#sessionBody(session, account.spec, undefined);
    });
  }

  /**
   * Who is signed in proves once more who he is. It counts as an attempt of his name (D-C-21), and fails as a login does.
   * @throws Refusal 401.
   */
  async proven<Result>(
    context: Context,
    proof: Proof,
    method: string,
    withSecond: boolean,
    work: (proven: Proven, used: Readonly<Record<string, unknown>>) => Promise<Result>,
  ): Promise<Result> {
    const { account: before, session: own } = this.own(context.caller);
    const { username, passwordHash } = before.spec;
    const purpose = `${method}/${own.id}`;
    return this.#attempt(before.metadata.name, context.sourceIP, async (attempt) => {
      const fail: Fail = (reason, details) => this.#failLogin(context, username, { method, attempt, proof, reason, details });
      const right = await this.#hasher.verify(proof.password, passwordHash, attempt.place);
      if (!right) return fail();
      const seen = withSecond ? await this.second.look(before, proof, purpose) : undefined;
      const { session } = this.own(context.caller); // it may have ended meanwhile
      const account = this.#unchanged(before);
      if (!account) return fail();
      const second = seen ? await this.second.require(context, account, seen, { method, purpose, fail }) : NO_FACTOR;
      const { puts = [], removes = [] } = attempt.succeed();
      return work({ session, account, also: { puts: [...second.puts, ...puts], removes } }, usedFactor(second));
    });
  }

  /**
   * Somebody else than the caller proves who he is beside him, for the one thing that `work` does (ADR 0144): no session begins. It counts as an attempt
   * of his name (D-C-21), and fails as a login does.
   * @throws Refusal 401; 403 `second_signer_may_not`; 409 `second_signer_same`, or `second_signer_unavailable` where people sign in elsewhere.
   */
  async beside<Result>(context: Context, { username, ...proof }: BesideProof, { action, site }: Asked, work: (second: SecondPerson) => Promise<Result>): Promise<Result> {
    const { caller, sourceIP } = context;
    if (this.settings.authMode !== 'local') throw secondElsewhere();
    if (username.toLowerCase() === caller.username.toLowerCase()) throw samePerson(caller);
    const name = username.toLowerCase();
    const purpose = `beside/${caller.accountId}`;
    return this.#attempt(name, await this.panels.sourceOf(context, this.authenticator), async (attempt) => {
      const account = this.#usable(name);
      const right = await this.#hasher.verify(proof.password, account?.spec.passwordHash, attempt.place);
      const fail: Fail = (reason, details) => this.#failLogin(context, username, { method: 'beside', attempt, proof, reason, details });
      if (!account || !right) return fail();
      const seen = await this.second.look(account, proof, purpose);
      const present = this.#unchanged(account);
      if (!present) return fail();
      const factor = await this.second.require(context, present, seen, { method: 'beside', purpose, fail });
      const { spec } = present;
      if (spec.accountId === caller.accountId) throw samePerson(caller);
      const { actions, sites } = this.roles.rightsOf(spec.groups);
      if (!actions.has(action) || (sites !== null && !sites.includes(site)) || spec.mustChangePassword || this.second.mustEnrol(name, spec.groups)) throw mayNot(spec, action);
      const { puts = [], removes = [] } = attempt.succeed();
      return work({
        signatory: { accountId: spec.accountId, displayName: spec.displayName, groups: spec.groups, issuedAtMs: this.clock.wallMs() },
        actor: actorOfAccount(spec, sourceIP),
        used: usedFactor(factor),
        also: { puts: [...factor.puts, ...puts], removes },
      });
    });
  }

  async logout(context: Context): Promise<void> {
    const { sessionId } = context.caller;
    const audit = context.audit({ action: 'Logout', category: 'auth', target: { kind: 'Session', name: sessionId ?? '', site: '' } });
    if (sessionId === null) throw conflict('no_session', 'this credential has no session of this gateway');
    const session = this.sessions.get(sessionId);
    if (!session && this.issuer) return this.issuer.sessions.revoke(sessionId, 'logout', context.caller.expiresAtMs ?? 0, audit);
    await this.sessions.leave(sessionId, audit);
    if (session) this.issuerLogin?.giveBack(session);
  }

  /** @throws Refusal 404. */
  requireOpen(sessionId: string): void {
    if (!this.sessions.get(sessionId) && !this.issuer?.sessions.get(sessionId)) throw missing('session', sessionId);
  }

  /** By whose it is. */
  async leaveSession(sessionId: string, audit: AuditDraft): Promise<void> {
    const session = this.sessions.get(sessionId);
    if (!session && this.issuer) return this.issuer.sessions.revoke(sessionId, 'logout', 0, audit);
    await this.sessions.leave(sessionId, audit);
    if (session) this.issuerLogin?.giveBack(session);
  }

  /** By an administrator. */
  async endSession(sessionId: string, audit: AuditDraft): Promise<void> {
    const session = this.sessions.get(sessionId);
    if (!session && this.issuer) return this.issuer.sessions.revoke(sessionId, 'administrator', 0, audit);
    await this.sessions.end([sessionId], 'administrator', [audit]);
    if (session) this.issuerLogin?.giveBack(session);
  }

  async changePassword(context: Context, currentPassword: string, newPassword: string): Promise<void> {
    const { account } = this.own(context.caller);
    const { username } = account.spec;
    checkPassword(newPassword, username, this.settings.passwordLengthMin, 'newPassword');
    if (newPassword === currentPassword) throw invalid('invalid_field', 'newPassword', 'newPassword must be another one than currentPassword');
    await this.#attempt(account.metadata.name, context.sourceIP, async (attempt) => {
      const right = await this.#hasher.verify(currentPassword, account.spec.passwordHash, attempt.place);
      if (!right) return this.#failLogin(context, username, { method: 'password', attempt });
      const passwordHash = await this.#hasher.hash(newPassword, attempt.place);
      const { session } = this.own(context.caller); // whoever changed the password first has ended it
      const present = this.#unchanged(account);
      if (!present) throw conflict('password_changed', 'the password was changed meanwhile by another request; nothing was changed by this one');
      await this.#putPassword(context, present, passwordHash, false, session.id, attempt.succeed());
    });
  }

  // -------------------------------------------------------------- first administrator

  get firstAdminRequired(): boolean {
    // an account that cannot be read may be that of the administrator: a damaged row gives the appliance to nobody
    const unreadable = this.store.faults.some(({ kind, kept }) => kind === Account.kind && !kept);
    return this.settings.authMode === 'local' && this.#firstAdminByCode && this.#admins().length === 0 && !unreadable;
  }

  async createFirstAdmin(context: Context, body: { code: string; username: string; password: string; displayName?: string | undefined }): Promise<AccountResource> {
    this.#refuseSecondAdmin();
    this.#code.take(body.code, context.sourceIP, this.#badUser(body.username, body.password));
    try {
      const created = await this.#create(
        context,
        {
          username: body.username,
          password: body.password,
          displayName: body.displayName ?? body.username,
          email: '',
          groups: [this.roles.adminGroup],
          enabled: true,
          mustChangePassword: false,
        },
        { judgeAgain: () => this.#refuseSecondAdmin(), actor: component('commissioning') },
      );
      this.#code.spend();
      return created;
    } catch (fault) {
      this.#code.giveBack();
      throw fault;
    }
  }

  /** Asked for at the box: whoever is there has the data, too. */
  #recoveredAccount({ username, passwordHash }: RecoveryRequest): AccountSpec {
    if (this.settings.authMode !== 'local')
      throw conflict('not_in_auth_mode', `accounts of the box sign in in mode local only, and auth.mode is ${this.settings.authMode}: start it with auth.mode local`);
    const bad = badUsername(username);
    if (bad) throw bad;
    this.#refuseTaken(username.toLowerCase(), username);
    const groups = [this.roles.adminGroup];
    const passwordChangedAt = timestamp(this.clock.wallMs());
    const accountId = randomUUID();
    return { accountId, username, displayName: username, email: '', groups, passwordHash, enabled: true, mustChangePassword: false, passwordChangedAt, retired: false };
  }

  #refuseSecondAdmin(): void {
    if (!this.firstAdminRequired) throw conflict('admin_exists', 'there is an administrator already; ask him for an account');
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
    this.roles.checkGroups(groups, []);
    const judgeAgain = (): void => {
      this.#stillMay(context.caller, 'user:create');
      this.roles.checkGroups(groups, []); // its site may have gone meanwhile
    };
    return this.#create(context, { username, password, displayName, email, groups, enabled, mustChangePassword }, { judgeAgain });
  }

  async updateUser(context: Context, username: string, change: UserChange): Promise<AccountResource> {
    const before = this.user(username);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<AccountSpec>;
    const spec: AccountSpec = { ...before.spec, ...given, groups: given.groups ? sorted(given.groups) : before.spec.groups };
    this.roles.checkGroups(spec.groups, before.spec.groups);
    this.#keepLastAdmin(before, spec);
    const audit = context.audit({ target: userTarget(spec), before: shown(before.spec), after: shown(spec) });
    const { name } = before.metadata;
    const ended = spec.enabled ? [] : this.sessions.idsOf(name);
    await this.sessions.end(ended, 'administrator', [audit], { puts: [{ kind: Account, site: '', name, spec }] });
    this.#publishCode();
    return this.user(username);
  }

  async setUserPassword(context: Context, username: string, newPassword: string, mustChangePassword: boolean): Promise<void> {
    const { spec } = this.user(username);
    checkPassword(newPassword, spec.username, this.settings.passwordLengthMin, 'newPassword');
    const passwordHash = await this.#hasher.hash(newPassword, this.lockOuts.placeOf(context.sourceIP));
    this.#stillMay(context.caller, 'user:set-password');
    await this.#putPassword(context, this.user(username), passwordHash, mustChangePassword, null, {});
  }

  async deleteUser(context: Context, username: string): Promise<void> {
    const account = this.user(username);
    const spec: AccountSpec = { ...account.spec, enabled: false, retired: true, groups: [], passwordHash: '' };
    this.#keepLastAdmin(account, spec);
    const name = account.metadata.name;
    const audit = context.audit({ target: userTarget(account.spec), before: shown(account.spec) });
    const removes = this.second.refsOf(name);
    await this.sessions.end(this.sessions.idsOf(name), 'administrator', [audit], { puts: [{ kind: Account, site: '', name, spec }], removes });
  }

  // -------------------------------------------------------------- inside

  async #create(
    context: Context,
    user: { username: string; password: string; displayName: string; email: string; groups: readonly string[]; enabled: boolean; mustChangePassword: boolean },
    { judgeAgain, actor }: { readonly judgeAgain: () => void; readonly actor?: Actor },
  ): Promise<AccountResource> {
    const { password, ...rest } = user;
    const bad = this.#badUser(user.username, password);
    if (bad) throw bad;
    const name = user.username.toLowerCase();
    this.#refuseTaken(name, user.username);
    const passwordHash = await this.#hasher.hash(password, this.lockOuts.placeOf(context.sourceIP));
    judgeAgain();
    this.#refuseTaken(name, user.username); // another request may have taken the name while this one hashed
    const spec: AccountSpec = { ...rest, groups: sorted(user.groups), accountId: randomUUID(), passwordHash, passwordChangedAt: timestamp(this.clock.wallMs()), retired: false };
    const entry: AuditEntry = { action: 'Create', category: 'auth', target: userTarget(spec), after: shown(spec) };
    const audit = actor ? this.#draft(context, entry, actor) : context.audit(entry);
    const applied = await this.store.write({ puts: [{ kind: Account, site: '', name, spec }], audits: [audit] });
    return applied.resources[0] as AccountResource;
  }

  #badUser(username: string, password: string): Refusal | undefined {
    return badUsername(username) ?? badPassword(password, username, this.settings.passwordLengthMin);
  }

  #refuseTaken(name: string, username: string): void {
    const existing = this.store.get(Account, '', name);
    if (!existing) return;
    if (existing.spec.retired) throw conflict('username_retired', `the name ${username} belonged to a closed account and is not used again`);
    throw conflict('already_exists', `user ${username} exists already`, { kind: 'User', name: existing.spec.username });
  }

  /** The sessions it ends are those of the turn in which the hash changes. */
  async #putPassword(
    context: Context,
    account: AccountResource,
    passwordHash: string,
    mustChangePassword: boolean,
    except: string | null,
    { puts = [], removes = [] }: Pick<Change, 'puts' | 'removes'>,
  ): Promise<void> {
    const { name } = account.metadata;
    const spec: AccountSpec = { ...account.spec, passwordHash, mustChangePassword, passwordChangedAt: timestamp(this.clock.wallMs()) };
    const audit = context.audit({ action: 'Update', category: 'auth', target: userTarget(spec), details: { changed: 'password', mustChangePassword } });
    await this.sessions.end(this.sessions.idsOf(name, except), 'administrator', [audit], { puts: [{ kind: Account, site: '', name, spec }, ...puts], removes });
  }

  /** Counts the attempt before `judge` looks at it; what `judge` neither fails nor lets succeed was none. */
  async #attempt<Result>(name: string, sourceIP: string, judge: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    const attempt = await this.lockOuts.begin(cutText(name, USERNAME_KEPT_MAX), sourceIP);
    try {
      return await judge(attempt);
    } finally {
      attempt.cancel();
    }
  }

  /** The account as it is now, if its password is still the one that was looked at. */
  #unchanged(seen: AccountResource): AccountResource | undefined {
    const present = this.#usable(seen.metadata.name);
    return present?.spec.passwordHash === seen.spec.passwordHash && present.spec.accountId === seen.spec.accountId ? present : undefined;
  }

  /** Whoever waited may have lost session or right meanwhile. */
  #stillMay(caller: Caller, action: string): void {
    if (!this.authenticator.refresh(caller).may(action)) throw new Refusal('forbidden', `you do not hold the action ${action}`, { code: 'action_missing', action });
  }

  #usable(name: string): AccountResource | undefined {
    const account = this.store.get(Account, '', name);
    return account && account.spec.enabled && !account.spec.retired ? account : undefined;
  }

  /** The session and local account behind a caller. @throws Refusal 401. */
  own(caller: Caller): { session: LiveSession; account: AccountResource } {
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
    if (this.firstAdminRequired) this.#shownCode = this.#code.publish();
  }

  /** Counts the failure, records it and refuses: one text whether the name is known or not, and whichever of password and code was wrong. */
  async #failLogin(context: Context, username: string, { method, attempt, proof, reason = 'InvalidCredentials', details }: Failed): Promise<never> {
    const target = { kind: 'Account', name: cutText(username, USERNAME_KEPT_MAX), site: '' };
    const { change, locks } = attempt.fail();
    const lockOut: AuditEntry = {
      action: 'Update',
      category: 'auth',
      target: { ...target, kind: 'LockOut' },
      details: { locked: true, durationSeconds: this.settings.lockoutDurationMs / 1000, address: context.sourceIP, everywhere: locks === 'everywhere' },
    };
    const lockOuts = locks ? [this.#draft(context, lockOut, component('access'))] : [];
    // last, so that the request counts as one whose refusal is recorded
    const failure = context.audit({ action: 'Login', category: 'auth', target, result: 'Rejected', reason, details: { method, ...details } });
    await this.store.writeOrKeep({ ...change, audits: [failure, ...lockOuts] }, { as: 'refusal' });
    const beside = proof?.passkey ? 'passkey' : proof?.code === undefined ? undefined : 'code';
    throw new Refusal('unauthenticated', beside ? `wrong user name, password or ${beside}` : 'wrong user name or password', { code: 'invalid_credentials' });
  }

  /** A draft by somebody else than the caller of the request: who signs in is not yet the caller. */
  #draft(context: Context, entry: AuditEntry, actor: Actor): AuditDraft {
    return { ...context.audit({ category: 'auth', ...entry }), actor };
  }

  async #sessionBody(session: LiveSession, account: Identity, refreshToken: string | undefined): Promise<SessionBody> {
    const lifeMs = Math.min(this.settings.accessTokenLifetimeMs, session.life.remainingMs);
    const { signedIn, authTimeMs } = session;
    const { token: accessToken, claims } = await this.#tokens.issue(account, { sid: session.id, lifeMs, signedIn, authTimeMs });
    const caller = this.authenticator.issued(accessToken, claims);
    return {
      accessToken,
      tokenType: 'Bearer',
      expiresIn: Math.floor(lifeMs / 1000),
      expiresAt: timestamp(claims.exp * 1000),
      ...(refreshToken === undefined ? {} : { refreshToken }),
      sessionId: session.id,
      user: this.me(caller),
    };
  }

  me(caller: Caller): Me {
    const session = caller.sessionId === null ? undefined : this.sessions.get(caller.sessionId);
    const email = session && identityOf(this.store, this.settings.authMode, session.account)?.email;
    const everything = this.settings.authMode === 'none' && caller.accountId === 'none:developer';
    const rights = caller.kind === 'panel' ? { tiers: ['read'] as const, actions: this.roles.watchActions } : this.roles.rightsOf(caller.groups);
    return {
      accountId: caller.accountId,
      username: caller.username,
      displayName: caller.displayName,
      ...(email ? { email } : {}),
      groups: caller.groups,
      tiers: everything ? TIERS : rights.tiers,
      actions: everything ? this.roles.actions.map(({ action }) => action) : [...rights.actions].sort(),
      sites: caller.sites,
      authMode: this.settings.authMode,
      sessionId: caller.sessionId,
      authTime: caller.authTimeMs === null ? null : timestamp(caller.authTimeMs),
      expiresAt: caller.expiresAtMs === null ? null : timestamp(caller.expiresAtMs),
      mustChangePassword: caller.mustChangePassword,
      secondFactor: session !== undefined && this.secondFactors.has(session.account),
      mustEnrolSecondFactor: caller.mustEnrol === true,
    };
  }
}

function samePerson({ displayName }: Caller): Refusal {
  return conflict('second_signer_same', `${displayName} has given the answer and does not confirm it too: somebody else does, with an account of his own`);
}

function mayNot({ displayName, mustChangePassword }: AccountSpec, action: string): Refusal {
  const why = mustChangePassword ? 'must change the password first' : `may not do this here (${action}), or has no second factor and needs one`;
  return new Refusal('forbidden', `${displayName} ${why}: somebody else confirms it`, { code: 'second_signer_may_not', action });
}

function badUsername(username: string): Refusal | undefined {
  if (USERNAME.test(username)) return undefined;
  return invalid('invalid_name', 'username', 'username must have 1 to 64 letters, digits or . _ @ - and be more than one or two dots');
}

function actorOfAccount(spec: AccountSpec, sourceIP: string): Actor {
  return { accountId: spec.accountId, displayName: spec.displayName, actorType: 'human', sourceIP };
}

/** What an audit record shows of an account: never the hash. */
function shown({ displayName, email, groups, enabled, mustChangePassword }: AccountSpec): Record<string, unknown> {
  return { displayName, email, groups, enabled, mustChangePassword };
}

function sorted(groups: readonly string[]): string[] {
  return [...new Set(groups)].sort();
}
