/**
 * Signing in at the identity provider (decisions D-AUTH-04, D-AUTH-06): the browser goes there and comes back, and a session of this box begins, as
 * after a sign-in with a password. What the provider says of the person is read again at each refresh of the session.
 */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { Sealing } from '../../platform/base/sealing.js';
import { FRESH_TOKEN_AGE_MAX_MS } from '../../platform/http/barriers/fresh-token.js';
import { RateLimiter } from '../../platform/http/rate-limit.js';
import type { AuditEntry, RequestContext } from '../../platform/http/route.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Change, Store } from '../../platform/store/store.js';
import { identityOf, nameOfSubject } from './identities.js';
import type { IssuerPerson } from './issuer/claims.js';
import { type Issuer, IssuerRefusal, newVerifier, type Shown } from './issuer/issuer.js';
import { localTarget, Logins, type PendingLogin } from './issuer/logins.js';
import { IssuerAccount } from './kind.js';
import type { LiveSession, Sessions } from './sessions.js';

export const CALLBACK_PATH = '/api/v1/auth/oidc/callback';
const DEFAULT_TARGET = '/hmi';
/** Failures of one address that are recorded: five minutes of them as with passwords; whoever goes on is only refused. */
const FAILURES_MAX = 20;
const FAILURES_WITHIN_S = 300;
/** Of a name as a client calls this box. */
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;

type Context = RequestContext<unknown, unknown>;

export interface IssuerLoginParts {
  readonly issuer: Issuer;
  readonly store: Store;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly sealing: Sealing;
  readonly settings: { readonly oidcRedirectUri: string | null };
}

export interface SignedIn {
  readonly target: string;
  /** Of a new session; a session that was proven again keeps the one it has. */
  readonly refreshToken: string | undefined;
  readonly secure: boolean;
}

export class IssuerLogin {
  readonly #parts: IssuerLoginParts;
  readonly #logins: Logins;
  readonly #failures: RateLimiter;
  /** By session: two tabs that refresh at once ask once, since a refresh token may be good for one use only. */
  readonly #renewing = new Map<string, Promise<void>>();

  constructor(parts: IssuerLoginParts) {
    this.#parts = parts;
    this.#logins = new Logins(parts.clock);
    this.#failures = new RateLimiter({ enabled: true, requestsPerSecond: FAILURES_MAX / FAILURES_WITHIN_S, burst: FAILURES_MAX }, parts.clock);
  }

  /**
   * @param asked.sessionCookie of the session that is proven again, where there is one.
   * @throws Refusal 400 for an address that leads away, 503 while the identity provider does not answer.
   */
  async begin(
    context: Context,
    asked: { readonly redirect: string | undefined; readonly reauthenticate: boolean; readonly browser: string | undefined; readonly sessionCookie: string | undefined },
  ): Promise<{ readonly address: string; readonly browser: string; readonly secure: boolean }> {
    const target = asked.redirect === undefined || asked.redirect === '' ? DEFAULT_TARGET : localTarget(asked.redirect);
    if (target === undefined) throw invalid('off_site_redirect', 'redirect', 'redirect must be a path of this box, such as /hmi');
    const redirectUri = this.#redirectUri(context);
    const session = asked.reauthenticate && asked.sessionCookie !== undefined ? this.#parts.sessions.findByRefreshToken(asked.sessionCookie) : undefined;
    const login = this.#logins.begin(
      { redirectUri, target, reauthenticates: asked.reauthenticate, renews: session?.id ?? null, verifier: newVerifier() },
      context.sourceIP,
      asked.browser,
    );
    return { address: await this.#parts.issuer.addressFor(login), browser: login.browser, secure: isSecure(redirectUri) };
  }

  /** @throws Refusal 400 for an answer that was not asked for here, 401 where the identity provider says no, 503 where it says nothing. */
  async complete(context: Context, answer: URLSearchParams, browser: string | undefined): Promise<SignedIn> {
    const login = this.#logins.take(answer.get('state') ?? undefined, browser);
    if (!login) throw invalid('unknown_login', 'state', 'this sign-in was not begun in this browser, was used already or took too long: sign in again');
    const shown = await this.#parts.issuer.redeem(login, answer).catch((fault: unknown) => this.#fail(context, fault));
    const { target, redirectUri } = login;
    return { target, refreshToken: await this.#signIn(context, login, shown), secure: isSecure(redirectUri) };
  }

  /** @returns the refresh token of a new session; undefined where the one there is was proven again. */
  async #signIn(context: Context, login: PendingLogin, { person, signedInMs = FRESH_TOKEN_AGE_MAX_MS + 1000, refreshToken: grant }: Shown): Promise<string | undefined> {
    const { sessions, clock } = this.#parts;
    const account = nameOfSubject(person.accountId);
    const put = { kind: IssuerAccount, site: '', name: account, spec: person, status: { lastLoginAt: timestamp(clock.wallMs()) } };
    const renewed = login.renews === null ? undefined : sessions.get(login.renews);
    const method = login.reauthenticates ? 'oidc reauthenticate' : 'oidc';
    const entry: AuditEntry = { action: 'Login', category: 'auth', target: { kind: 'Account', name: person.username, site: '' }, details: { method } };
    const actor = { accountId: person.accountId, displayName: person.displayName, actorType: 'human' as const, sourceIP: context.sourceIP };
    const audit = { ...context.audit(entry), actor };
    if (renewed?.account === account && sessions.judge(renewed.id) === undefined) {
      const granted = grant === undefined ? [] : sessions.grantOf(renewed, this.#sealed(grant, renewed.id));
      await sessions.renew(renewed, audit, { puts: [put, ...granted] }, signedInMs);
      return undefined;
    }
    const who = { account, accountId: person.accountId, signedInMs, issuerGrant: (id: string) => (grant === undefined ? undefined : this.#sealed(grant, id)) };
    const { refreshToken } = await sessions.open(who, context.sourceIP, context.header('user-agent') ?? '', audit, { puts: [put] });
    return refreshToken;
  }

  /**
   * Name and groups as the identity provider has them now; as they were where it does not answer. Its refusal ends the session.
   * @throws Refusal 401 `session_ended`.
   */
  renew(session: LiveSession, draft: (entry: AuditEntry) => AuditDraft): Promise<void> {
    const renewing =
      this.#renewing.get(session.id) ??
      this.#renew(session, draft).finally(() => {
        this.#renewing.delete(session.id);
      });
    this.#renewing.set(session.id, renewing);
    return renewing;
  }

  async #renew(session: LiveSession, draft: (entry: AuditEntry) => AuditDraft): Promise<void> {
    const { issuer, store, sessions } = this.#parts;
    const person = identityOf(store, 'oidc', session.account);
    const grant = this.#opened(session);
    if (grant === undefined || !person) return;
    let shown: Shown;
    try {
      shown = await issuer.refresh(grant, person);
    } catch (fault) {
      if (!(fault instanceof IssuerRefusal)) {
        if (fault instanceof Refusal) return; // it does not answer: who works goes on until his session is over
        throw fault;
      }
      if (sessions.judge(session.id) === undefined) {
        const target = { kind: 'Session', name: session.id, site: '' };
        await sessions.end([session.id], 'issuer', [draft({ action: 'Delete', category: 'auth', target, details: { method: 'oidc', because: fault.message } })]);
      }
      throw new Refusal('unauthenticated', `the identity provider does not renew this session (${fault.message}): sign in again`, { code: 'session_ended' });
    }
    if (sessions.judge(session.id) !== undefined) return; // who asked is told so
    const granted = shown.refreshToken === undefined || shown.refreshToken === grant ? [] : sessions.grantOf(session, this.#sealed(shown.refreshToken, session.id));
    const changed = isSame(person, shown.person) ? [] : [{ kind: IssuerAccount, site: '', name: session.account, spec: shown.person }];
    const puts: NonNullable<Change['puts']> = [...granted, ...changed];
    if (puts.length === 0) return;
    const target = { kind: 'Account', name: shown.person.username, site: '' };
    const audits =
      changed.length === 0 ? [] : [draft({ action: 'Update', category: 'auth', target, before: told(person), after: told(shown.person), details: { method: 'oidc' } })];
    await store.writeOrKeep({ puts, audits }, { as: 'session', key: `grant/${session.id}` });
  }

  /** The session is over here; the identity provider is told that nobody will use what it granted. */
  giveBack(session: LiveSession): void {
    const grant = this.#opened(session);
    if (grant !== undefined) guardedPromise('grant that is given back', () => this.#parts.issuer.giveBack(grant));
  }

  async #fail(context: Context, fault: unknown): Promise<never> {
    if (fault instanceof Refusal) throw fault;
    const because = fault instanceof IssuerRefusal ? fault.message : 'its answer does not hold';
    if (this.#failures.take(context.sourceIP) === 0) {
      const entry: AuditEntry = {
        action: 'Login',
        category: 'auth',
        target: { kind: 'Account', name: '', site: '' },
        result: 'Rejected',
        reason: 'IssuerRefused',
        details: { method: 'oidc', because },
      };
      await this.#parts.store.writeOrKeep({ audits: [context.audit(entry)] }, { as: 'refusal' });
    }
    throw new Refusal('unauthenticated', `the identity provider did not sign you in: ${because}`, { code: 'login_refused' });
  }

  #redirectUri({ secure, host = '' }: Context): string {
    const { oidcRedirectUri } = this.#parts.settings;
    if (oidcRedirectUri !== null) return oidcRedirectUri;
    if (!HOST.test(host)) throw invalid('malformed_request', 'Host', 'the request must say in its Host header by which name this box is called');
    return `${secure ? 'https' : 'http'}://${host}${CALLBACK_PATH}`;
  }

  #sealed(grant: string, sessionId: string): string {
    return this.#parts.sealing.seal(grant, `Session/${sessionId}`);
  }

  /** Undefined where none was granted, and where the device key is another one now. */
  #opened({ id, issuerGrant }: LiveSession): string | undefined {
    return issuerGrant === undefined ? undefined : this.#parts.sealing.open(issuerGrant, `Session/${id}`);
  }
}

function isSecure(redirectUri: string): boolean {
  return redirectUri.startsWith('https:');
}

function isSame(before: IssuerPerson, after: IssuerPerson): boolean {
  return JSON.stringify(told(before)) === JSON.stringify(told(after)) && before.username === after.username;
}

/** What an audit record shows of a person. */
function told({ displayName, email, groups }: IssuerPerson): Record<string, unknown> {
  return { displayName, email, groups };
}
