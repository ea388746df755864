/** The auth routes (decisions Q-AUTH-01 to Q-AUTH-03, D-AUTH-01, D-AUTH-02). */
import * as v from 'valibot';
import { assert } from '../../platform/base/assert.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import { FRESH_TOKEN_AGE_MAX_MS } from '../../platform/http/barriers/fresh-token.js';
import { readFlag } from '../../platform/http/log-query.js';
import { cleared } from '../../platform/http/clearing.js';
import { REASON_LENGTH_MAX } from '../../platform/http/reason.js';
import { listReply, sortedBy, type SortKey } from '../../platform/http/paged-list.js';
import { flag, LIST, parameters, text } from '../../platform/http/parameters.js';
import { checkIfMatch, etagOf } from '../../platform/http/revision.js';
import { created, done, ok, Reply, type Route, routesFor } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Access } from './access.js';
import { AuthConfig, AuthPolicy, LockOutBody, Me, OpenSession, SessionBody, UserBody } from './bodies.js';
import { issuerSessionDto, lockOutDto, sessionDto, userDto } from './dto.js';
import { CALLBACK_PATH, type IssuerLogin } from './issuer-login.js';
import { LOGIN_WITHIN_MS } from './issuer/logins.js';
import type { SeenSession } from './issuer/issuer-sessions.js';
import { KEY_ROUTES } from './key-routes.js';
import { DisplayName } from './display-name.js';
import { localOnly, only, withSessions } from './modes.js';
import { OWN_SESSION_ROUTES } from './own-session-routes.js';
import { PANEL_ROUTES } from './panels/routes.js';
import { PASSKEY_ROUTES } from './passkeys/routes.js';
import { PROOF_CODES, ProofBody, SECOND } from './proof.js';
import { RECOVERY_ROUTES } from './recovery/routes.js';
import { SECOND_FACTOR_ROUTES } from './second-factor/routes.js';
import type { SessionSpec, SessionStatus } from './kind.js';
import type { LockedName } from './lockouts.js';

type SessionResource = Resource<SessionSpec, SessionStatus>;

const COOKIE = 'lineside_session';
const COOKIE_PATH = '/api/v1/auth';
/** Binds a sign-in at the identity provider to the browser that began it. */
const LOGIN_COOKIE = 'lineside_login';
const LOGIN_COOKIE_PATH = '/api/v1/auth/oidc';
/** The page on which people sign in. */
const LOGIN_PATH = '/login';
/** What comes back from the identity provider; more may (RFC 6749 4.1.2). */
const ANSWER = { code: text(), state: text(), iss: text(), error: text(), error_description: text() };

export interface AccessDeps {
  readonly access: Access;
  readonly siteExists: (site: string) => boolean;
  /** Open streams of a session. */
  readonly streamsOf: (sessionId: string) => number;
}

const route = routesFor<AccessDeps>();
const Text = v.string();
const Groups = v.array(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(128, 'must have at most 128 characters')));
const AUDIT = { action: 'Request', category: 'auth' } as const;

export const ACCESS_ROUTES: readonly Route<AccessDeps>[] = [
  route({
    method: 'GET',
    path: '/api/v1/auth/config',
    action: 'auth:config',
    tier: 'none',
    summary: 'What a client must know before it signs in',
    reply: AuthConfig,
    handle: (_, { access }) => authConfig(access),
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/login',
    whileStorageRefuses: true,
    action: 'auth:login',
    tier: 'none',
    summary: 'Sign in with user name and password, and the second factor where the account has one: a code, or the answer of a passkey',
    reply: SessionBody,
    errors: { 401: [...PROOF_CODES, 'session_ended'], 404: ['not_in_auth_mode'] },
    body: v.strictObject({ username: Text, password: Text, ...SECOND, useCookie: v.optional(v.boolean(), false) }),
    audit: AUDIT,
    exists: localOnly,
    async handle(context, { access }) {
      const { username, useCookie } = context.body;
      const { body, refreshToken } = await access.login(context, username, context.body, useCookie);
      return withCookie(body, context.secure, useCookie ? refreshToken : undefined);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    whileStorageRefuses: true,
    action: 'auth:refresh',
    tier: 'none',
    summary: 'A new access token of the same session; auth_time is unchanged',
    reply: SessionBody,
    errors: { 401: ['unauthenticated', 'session_ended'], 404: ['not_in_auth_mode'] },
    body: v.strictObject({ refreshToken: v.optional(Text) }),
    audit: AUDIT,
    ownPagesOnly: true,
    background: true,
    duringPasswordChange: true,
    exists: withSessions,
    async handle(context, { access }) {
      const refreshToken = context.body.refreshToken ?? readCookie(context.header('cookie'));
      if (refreshToken === undefined || refreshToken === '') throw new Refusal('unauthenticated', 'no refresh token was given', { code: 'unauthenticated' });
      return ok(await access.refresh(context, refreshToken));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/logout',
    whileStorageRefuses: true,
    action: 'auth:logout',
    tier: 'self',
    summary: 'End the session of the presented token',
    reply: { 204: 'Signed out' },
    errors: { 404: ['not_in_auth_mode'], 409: ['no_session'] },
    audit: { action: 'Logout', category: 'auth' },
    duringPasswordChange: true,
    exists: withSessions,
    async handle(context, { access }) {
      await access.logout(context);
      return done({ 'Set-Cookie': cookie('', context.secure, 0) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/oidc/login',
    action: 'auth:oidc-login',
    tier: 'none',
    summary: 'Send the browser to the identity provider; redirect is where it goes afterwards, reauthenticate asks for a new proof of who it is',
    query: parameters({ redirect: text('path of this box'), reauthenticate: flag('sign in again, also where the provider knows the browser') }),
    reply: { 302: 'To the identity provider; to the login page, which says why, where that does not answer and a browser asks' },
    errors: { 400: ['off_site_redirect'], 404: ['not_in_auth_mode'], 503: ['issuer_unavailable'] },
    exists: only('oidc'),
    async handle(context, { access }) {
      const { query } = context;
      const cookies = context.header('cookie');
      const begun = issuerLoginOf(access).begin(context, {
        redirect: query.get('redirect'),
        reauthenticate: readFlag(query, 'reauthenticate') === true,
        browser: readCookie(cookies, LOGIN_COOKIE),
        sessionCookie: readCookie(cookies),
      });
      const way = await begun.catch((fault: unknown) => onPage(context, fault));
      if (way instanceof Reply) return way;
      const { address, browser, secure } = way;
      return redirected(address, loginCookie(browser, secure, LOGIN_WITHIN_MS / 1000));
    },
  }),
  route({
    method: 'GET',
    path: CALLBACK_PATH,
    whileStorageRefuses: true,
    action: 'auth:oidc-callback',
    tier: 'none',
    summary: 'The browser comes back from the identity provider: a session begins, by cookie',
    reply: { 302: 'To the page that was asked for; to the login page, which says why, where a browser asks and nobody was signed in' },
    errors: { 400: ['unknown_login'], 401: ['login_refused'], 404: ['not_in_auth_mode'], 503: ['issuer_unavailable'] },
    audit: { action: 'Login', category: 'auth' },
    exists: only('oidc'),
    query: parameters(ANSWER),
    async handle(context, { access }) {
      const { query } = context;
      const names = Object.keys(ANSWER) as (keyof typeof ANSWER)[];
      const answer = new URLSearchParams(names.flatMap((name) => query.all(name).map((value) => [name, value] as [string, string])));
      const completed = issuerLoginOf(access).complete(context, answer, readCookie(context.header('cookie'), LOGIN_COOKIE));
      const signedIn = await completed.catch((fault: unknown) => onPage(context, fault));
      if (signedIn instanceof Reply) return signedIn;
      const { target, refreshToken, secure } = signedIn;
      return redirected(target, refreshToken === undefined ? loginCookie('', secure, 0) : cookie(refreshToken, secure || context.secure));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/reauthenticate',
    whileStorageRefuses: true,
    action: 'auth:reauthenticate',
    tier: 'self',
    summary: 'Enter the password again, and the second factor where there is one, for a fresh token of the same session',
    reply: SessionBody,
    errors: { 401: [...PROOF_CODES, 'session_ended'], 404: ['not_in_auth_mode'] },
    body: ProofBody,
    audit: AUDIT,
    exists: localOnly,
    handle: async (context, { access }) => ok(await access.reauthenticate(context, context.body)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/me',
    action: 'auth:me',
    tier: 'self',
    summary: 'Who I am and what I may do',
    reply: Me,
    background: true,
    duringPasswordChange: true,
    handle: ({ caller }, { access }) => access.me(caller),
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/password',
    action: 'auth:change-password',
    tier: 'self',
    summary: 'Change my password; my other sessions end',
    reply: { 204: 'Changed' },
    errors: { 401: ['invalid_credentials', 'account_locked', 'session_ended'], 404: ['not_in_auth_mode'], 409: ['password_changed'] },
    body: v.strictObject({ currentPassword: Text, newPassword: Text }),
    audit: { action: 'Update', category: 'auth' },
    duringPasswordChange: true,
    exists: localOnly,
    async handle(context, { access }) {
      await access.changePassword(context, context.body.currentPassword, context.body.newPassword);
      return done();
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/first-admin',
    action: 'auth:first-admin',
    tier: 'none',
    summary: 'Make the first administrator with the commissioning code',
    reply: { 201: UserBody },
    errors: { 400: ['invalid_name'], 401: ['invalid_commissioning_code'], 404: ['not_in_auth_mode'], 409: ['admin_exists', 'commissioning_code_taken'] },
    body: v.strictObject({ code: Text, username: Text, password: Text, displayName: v.optional(DisplayName) }),
    audit: { action: 'Create', category: 'auth' },
    exists: localOnly,
    async handle(context, { access }) {
      const user = await access.createFirstAdmin(context, context.body);
      return created(userDto(user, access), userPath(user.spec.username));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/policy',
    action: 'auth:policy',
    tier: 'supervise',
    summary: 'The effective role and action table, and which role groups hold each action',
    reply: AuthPolicy,
    handle: (_, { access }) => authPolicy(access),
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/sessions',
    action: 'session:list',
    tier: 'admin',
    summary: 'Open sessions, newest first; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(OpenSession),
    handle: (context, { access, streamsOf }) => {
      // those that the identity provider keeps are known by the tokens that were presented
      const keyOf = (session: SessionResource | SeenSession): SortKey =>
        'metadata' in session ? [-session.spec.createdAtMs, session.metadata.name] : [-session.firstSeenAtMs, session.id];
      return listReply(context, {
        list: 'sessions',
        items: sortedBy<SessionResource | SeenSession>([...access.sessions.resources(), ...(access.issuer?.sessions.open ?? [])], keyOf),
        keyOf,
        render: (session) =>
          'metadata' in session
            ? sessionDto(session, access, streamsOf(session.metadata.name), context.caller.sessionId)
            : issuerSessionDto(session, streamsOf(session.id), context.caller.sessionId),
      });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/auth/sessions/{id}',
    action: 'session:delete',
    tier: 'admin',
    summary: 'End a session and its streams',
    audit: { action: 'Delete', category: 'auth', target: ({ id }) => ({ kind: 'Session', name: id, site: '' }) },
    exists({ id }, { access }) {
      access.requireOpen(id);
    },
    async handle(context, { access }) {
      await access.endSession(context.params.id, context.audit({}));
      return done();
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/lockouts',
    action: 'lockout:list',
    tier: 'admin',
    summary: 'Locked user names; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(LockOutBody),
    handle: (context, { access }) => {
      const keyOf = ({ username }: LockedName): SortKey => [username];
      const locked = access.settings.authMode === 'local' ? access.lockOuts.locked() : [];
      return listReply(context, { list: 'lockouts', items: sortedBy(locked, keyOf), keyOf, render: lockOutDto });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/auth/lockouts/{username}',
    action: 'lockout:delete',
    tier: 'admin',
    summary: 'Unlock a user name',
    audit: { action: 'Delete', category: 'auth', target: ({ username }) => ({ kind: 'LockOut', name: username, site: '' }) },
    exists({ username }, { access }) {
      if (!access.lockOuts.locked().some((locked) => locked.username === username.toLowerCase())) throw missing('lock-out of', username);
    },
    async handle(context, { access }) {
      await access.lockOuts.unlock(context.params.username.toLowerCase(), (removes) => access.store.write({ removes, audits: [context.audit({})] }));
      return done();
    },
  }),
  ...userRoutes(),
  ...SECOND_FACTOR_ROUTES,
  ...PASSKEY_ROUTES,
  ...OWN_SESSION_ROUTES,
  ...RECOVERY_ROUTES,
  ...KEY_ROUTES,
  ...PANEL_ROUTES,
];

function userRoutes(): Route<AccessDeps>[] {
  const exists = (params: { readonly username: string }, deps: AccessDeps): void => {
    localOnly(params, deps);
    deps.access.user(params.username);
  };
  const target = ({ username }: { readonly username: string }) => ({ kind: 'User', name: username, site: '' });
  return [
    route({
      method: 'GET',
      path: '/api/v1/auth/users',
      action: 'user:list',
      tier: 'admin',
      summary: 'Local accounts; query limit, cursor',
      query: parameters(LIST),
      reply: v.array(UserBody),
      errors: { 404: ['not_in_auth_mode'] },
      exists: localOnly,
      handle: (context, { access }) =>
        listReply(context, { list: 'users', items: access.users(), keyOf: ({ metadata }) => [metadata.name], render: (user) => userDto(user, access) }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/users',
      action: 'user:create',
      tier: 'admin',
      summary: 'Create a local account',
      reply: UserBody,
      errors: { 400: ['invalid_name', 'unknown_group'], 404: ['not_in_auth_mode'], 409: ['already_exists', 'username_retired'] },
      body: v.strictObject({
        username: Text,
        password: Text,
        displayName: DisplayName,
        email: v.optional(Text),
        groups: v.optional(Groups),
        enabled: v.optional(v.boolean()),
        mustChangePassword: v.optional(v.boolean()),
      }),
      audit: { action: 'Create', category: 'auth' },
      exists: localOnly,
      async handle(context, { access }) {
        const user = await access.createUser(context, context.body);
        return created(userDto(user, access), userPath(user.spec.username), { ETag: etagOf(user.metadata.resourceVersion) });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/auth/users/{username}',
      action: 'user:read',
      tier: 'admin',
      summary: 'One local account',
      reply: UserBody,
      errors: { 404: ['not_in_auth_mode'] },
      exists,
      handle: ({ params }, { access }) => servedUser(access, params.username),
    }),
    route({
      method: 'PUT',
      path: '/api/v1/auth/users/{username}',
      action: 'user:update',
      tier: 'admin',
      summary: 'Change a local account; members left out keep their value',
      reply: UserBody,
      errors: { 400: ['unknown_group'], 404: ['not_in_auth_mode'], 409: ['last_admin'] },
      body: v.strictObject({
        displayName: v.optional(DisplayName),
        email: cleared(Text, ''),
        groups: cleared(Groups, []),
        enabled: v.optional(v.boolean()),
        mustChangePassword: v.optional(v.boolean()),
      }),
      audit: { action: 'Update', category: 'auth', target },
      exists,
      served: ({ username }, { access }) => {
        const user = access.user(username);
        return { body: userDto(user, access), checkRead: (ifMatch) => checkIfMatch(ifMatch, user.metadata.resourceVersion) };
      },
      async handle(context, { access }) {
        checkIfMatch(context.header('if-match'), access.user(context.params.username).metadata.resourceVersion);
        await access.updateUser(context, context.params.username, context.body);
        return servedUser(access, context.params.username);
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/auth/users/{username}',
      action: 'user:delete',
      tier: 'admin',
      summary: 'Close an account for good',
      errors: { 404: ['not_in_auth_mode'], 409: ['last_admin'] },
      audit: { action: 'Delete', category: 'auth', target },
      exists,
      async handle(context, { access }) {
        await access.deleteUser(context, context.params.username);
        return done();
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/users/{username}/password',
      action: 'user:set-password',
      tier: 'admin',
      summary: 'Set the password of an account; all its sessions end',
      reply: { 204: 'Set' },
      errors: { 404: ['not_in_auth_mode'] },
      body: v.strictObject({ newPassword: Text, mustChangePassword: v.optional(v.boolean(), true) }),
      audit: { action: 'Update', category: 'auth', target },
      exists,
      async handle(context, { access }) {
        await access.setUserPassword(context, context.params.username, context.body.newPassword, context.body.mustChangePassword);
        return done();
      },
    }),
  ];
}

function servedUser(access: Access, username: string): Reply<UserBody> {
  const user = access.user(username);
  return ok(userDto(user, access), { ETag: etagOf(user.metadata.resourceVersion) });
}

function authConfig({ settings, firstAdminRequired, passkeys }: Access): AuthConfig {
  return {
    authMode: settings.authMode,
    operatingMode: settings.operatingMode, // decisions Q-RECIPE-05
    reasonMinLength: settings.reasonLengthMin,
    reasonMaxLength: REASON_LENGTH_MAX,
    groupPrefix: settings.groupPrefix,
    firstAdminRequired,
    loginPath: LOGIN_PATH,
    publicName: settings.publicName,
    oidc: settings.authMode === 'oidc' ? { issuer: settings.oidcIssuer, clientId: settings.oidcClientId, loginPath: '/api/v1/auth/oidc/login' } : null,
    accessTokenLifetimeSeconds: Math.round(settings.accessTokenLifetimeMs / 1000),
    inactivityTimeoutSeconds: Math.round(settings.inactivityTimeoutMs / 1000),
    freshTokenMaxAgeSeconds: FRESH_TOKEN_AGE_MAX_MS / 1000,
    passwordMinLength: settings.passwordLengthMin,
    passkeys: settings.authMode === 'local' ? passkeys.offered : null,
    antiReplay: { enabled: settings.antiReplayEnabled, header: 'X-DCS-Nonce', windowSeconds: Math.round(settings.antiReplayWindowMs / 1000) },
  };
}

function authPolicy({ settings, roles }: Access): AuthPolicy {
  return {
    groupPrefix: settings.groupPrefix,
    sitePattern: roles.sitePattern,
    roles: roles.roles,
    actions: roles.actions.map((action) => ({ ...action, groups: roles.holdersOf(action.action) })),
    freshTokenActions: roles.freshTokenActions,
    secondFactorRequiredFor: settings.authMode === 'local' ? settings.secondFactorRequiredFor.map((group) => group.replaceAll('{prefix}', settings.groupPrefix)) : [],
    reasonMinLength: settings.reasonLengthMin,
  };
}

/** Absent in other modes, where these routes do not exist. */
function issuerLoginOf({ issuerLogin }: Access): IssuerLogin {
  assert(issuerLogin !== undefined, 'mode oidc has an identity provider');
  return issuerLogin;
}

/** What the login page has words for. */
const TOLD_ON_PAGE: readonly unknown[] = ['login_refused', 'unknown_login', 'issuer_unavailable'];

/** A person whose browser is on its way reads no JSON. @throws what it was given, where a program asks or the page has no words for it. */
function onPage({ header }: { header(name: string): string | undefined }, fault: unknown): Reply<never> {
  const code = fault instanceof Refusal ? fault.context.code : undefined;
  if (!TOLD_ON_PAGE.includes(code) || !/\btext\/html\b/i.test(header('accept') ?? '')) throw fault;
  return new Reply<never>('redirect', undefined, { Location: `${LOGIN_PATH}?ended=${String(code)}` });
}

function redirected(address: string, setCookie: string): Reply<never> {
  return new Reply<never>('redirect', undefined, { Location: address, 'Set-Cookie': setCookie });
}

function withCookie(body: SessionBody, secure: boolean, refreshToken: string | undefined): Reply<SessionBody> {
  return ok(body, refreshToken === undefined ? {} : { 'Set-Cookie': cookie(refreshToken, secure) });
}

function cookie(value: string, secure: boolean, maxAgeSeconds?: number): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${COOKIE}=${value}; Path=${COOKIE_PATH}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${age}`;
}

/** Sent along when the browser comes back from the identity provider, which a cookie of the strict kind is not. */
function loginCookie(value: string, secure: boolean, maxAgeSeconds: number): string {
  return `${LOGIN_COOKIE}=${value}; Path=${LOGIN_COOKIE_PATH}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}; Max-Age=${maxAgeSeconds}`;
}

function readCookie(header: string | undefined, name = COOKIE): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

function userPath(username: string): string {
  return `/api/v1/auth/users/${encodeURIComponent(username)}`;
}
