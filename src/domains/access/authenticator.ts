/**
 * Who is calling (contract 1, Authentication; decisions Q-AUTH-09, Q-AUTH-10, D-AUTH-05). A token is verified once and then
 * found by its whole header; groups come from the account at each request, so a demotion acts at once.
 */
import type { Clock } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Authenticator } from '../../platform/http/authenticator.js';
import { type Caller, hasExpired } from '../../platform/http/caller.js';
import type { SessionState, SessionWatch } from '../../platform/http/stream-port.js';
import type { Store } from '../../platform/store/store.js';
import type { ApiKeyResource, ApiKeys } from './api-keys.js';
import { Account, type AccountSpec, ApiKey } from './kind.js';
import type { Roles } from './roles.js';
import { invalidToken, type SessionTokens, type TokenClaims } from './session-token.js';
import type { LiveSession, Sessions } from './sessions.js';

const TOKENS_KEPT_MAX = 10_000;
const CACHE_KEY_LENGTH = 43; // half of an Ed25519 signature
const NOTHING: ReadonlySet<string> = new Set();

/** An access token of the identity provider (mode `oidc`): gives its caller, or throws 401. */
export type ExternalTokens = (token: string) => Caller;

interface KnownToken {
  readonly header: string;
  readonly claims: TokenClaims;
  readonly session: LiveSession;
  /** Caller as of `account`; a changed account makes a new one. */
  account: AccountSpec;
  caller: Caller;
}

export interface AuthenticatorOptions {
  readonly authMode: 'local' | 'oidc' | 'none';
  readonly clock: Clock;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly keys: ApiKeys;
  readonly tokens: SessionTokens;
  readonly roles: () => Roles;
  readonly external?: ExternalTokens | undefined;
}

export class AccessAuthenticator implements Authenticator, SessionWatch {
  readonly anonymous: Caller = callerOf({ kind: 'human', accountId: 'anonymous', username: '', displayName: 'anonymous' }, NOTHING);
  readonly freshTokenRequired: boolean;
  readonly #options: AuthenticatorOptions;
  readonly #known = new Map<string, KnownToken>();
  #developer: Caller | undefined;
  #changes = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.freshTokenRequired = options.authMode !== 'none'; // decisions Q-AUTH-08
    const changed = (): void => void (this.#changes += 1);
    options.sessions.onEnded(changed);
    for (const kind of [Account, ApiKey]) options.store.watch(kind, ({ type, configuration }) => (configuration || type === 'remove') && changed());
    options.store.watchReload(changed);
  }

  get changes(): number {
    return this.#changes;
  }

  authenticate(authorization: string | undefined): Caller {
    if (authorization !== undefined) {
      const known = this.#known.get(cacheKey(authorization));
      if (known?.header === authorization) return this.#admit(known, authorization);
    }
    const [scheme, credential] = splitHeader(authorization);
    if (scheme === 'apikey') return this.#keyCaller(this.#options.keys.require(credential));
    if (this.#options.authMode === 'none') return this.#developerCaller();
    if (scheme === undefined) throw new Refusal('unauthenticated', 'sign in first: this route needs an access token', { code: 'unauthenticated' });
    if (scheme !== 'bearer') throw new Refusal('unauthenticated', 'the Authorization header must be a Bearer token or an ApiKey', { code: 'invalid_token' });
    return this.#bearer(credential, authorization as string);
  }

  authenticateQuery(token: string): Caller {
    if (token.startsWith('lsk_')) return this.#keyCaller(this.#options.keys.require(token)); // decisions Q-STREAM-14: the fence refuses it
    return this.authenticate(`Bearer ${token}`);
  }

  authenticateToken(token: string): Caller {
    if (token.startsWith('lsk_')) throw invalidToken();
    return this.authenticate(`Bearer ${token}`);
  }

  touch(caller: Caller): void {
    const session = caller.sessionId === null ? undefined : this.#options.sessions.get(caller.sessionId);
    if (session) this.#options.sessions.touch(session);
  }

  stateOf(caller: Caller): SessionState {
    if (hasExpired(caller, this.#options.clock.wallMs())) return 'expired';
    if (caller.sessionId === null || this.#isExternal(caller)) return 'active';
    const reason = this.#options.sessions.judge(caller.sessionId);
    if (reason === undefined) return 'active';
    return reason === 'inactive' || reason === 'expired' ? reason : 'ended';
  }

  onEnded(listener: (sessionId: string, reason: string) => void): void {
    this.#options.sessions.onEnded(listener);
  }

  refresh(caller: Caller): Caller {
    if (caller.sessionId === null || this.#isExternal(caller)) return caller;
    const session = this.#options.sessions.require(caller.sessionId);
    const account = this.#accountOf(session.account);
    const { issuedAtMs, authTimeMs, expiresAtMs, token } = caller;
    return this.#humanCaller(account, session, { issuedAtMs, authTimeMs, expiresAtMs, token });
  }

  /**
   * Why somebody who could do an action when he asked may not do it now, as a sentence; '' while he may. It is his account that is judged: he may have
   * signed out and in again. Of whom another issuer knows, and of keys, nothing but their token tells.
   */
  lapsed(caller: Caller, action: string, site: string): string {
    if (caller.sessionId === null || this.#isExternal(caller)) return '';
    const account = this.#options.store.get(Account, '', caller.username.toLowerCase())?.spec;
    if (account?.accountId !== caller.accountId || account.retired || !account.enabled) return `the account of ${caller.displayName} is closed or disabled`;
    const { actions, sites } = this.#options.roles().rightsOf(account.groups);
    if (!actions.has(action)) return `${caller.displayName} may not do this any more (${action})`;
    return sites !== null && !sites.includes(site) ? `site ${site} is outside the scope of ${caller.displayName} now` : '';
  }

  /** What a caller may is looked up anew at his next request. */
  forgetCallers(): void {
    this.#known.clear();
    this.#changes += 1;
  }

  /** A session of the issuer itself is not in the session table (D-AUTH-04). */
  #isExternal(caller: Caller): boolean {
    return this.#options.authMode === 'oidc' && caller.sessionId !== null && !UUID.test(caller.sessionId);
  }

  #bearer(token: string, header: string): Caller {
    let claims: TokenClaims;
    try {
      claims = this.#options.tokens.read(token);
    } catch (refusal) {
      if (this.#options.external) return this.#options.external(token);
      throw refusal;
    }
    const session = this.#requireSession(claims);
    const account = this.#accountOf(session.account);
    const caller = this.#humanCaller(account, session, timesOf(claims));
    if (this.#known.size >= TOKENS_KEPT_MAX) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(cacheKey(header), { header, claims, session, account, caller });
    return caller;
  }

  /** The hot path: expiry, session and account of a token that was verified before. */
  #admit(known: KnownToken, header: string): Caller {
    try {
      if (known.claims.life.expires.hasPassed) throw expired();
      this.#options.sessions.require(known.session.id);
      const account = this.#accountOf(known.session.account);
      if (account !== known.account) {
        known.account = account;
        known.caller = this.#humanCaller(account, known.session, timesOf(known.claims));
      }
      return known.caller;
    } catch (refusal) {
      this.#known.delete(cacheKey(header));
      throw refusal;
    }
  }

  #requireSession(claims: TokenClaims): LiveSession {
    if (claims.life.expires.hasPassed) throw expired();
    const session = this.#options.sessions.require(claims.sid);
    if (session.accountId !== claims.sub) throw invalidToken();
    return session;
  }

  #accountOf(name: string): AccountSpec {
    const account = this.#options.store.get(Account, '', name)?.spec;
    if (!account || account.retired || !account.enabled) throw new Refusal('unauthenticated', 'the account is closed or disabled', { code: 'session_ended' });
    return account;
  }

  #humanCaller(account: AccountSpec, session: LiveSession, times: Times): Caller {
    const rights = this.#options.roles().rightsOf(account.groups);
    return {
      ...callerOf({ kind: 'human', accountId: account.accountId, username: account.username, displayName: account.displayName }, rights.actions),
      groups: account.groups,
      sites: rights.sites,
      sessionId: session.id,
      ...times,
      mustChangePassword: account.mustChangePassword,
    };
  }

  #keyCaller({ metadata, spec }: ApiKeyResource): Caller {
    const { name } = metadata;
    return {
      ...callerOf({ kind: 'apiKey', accountId: `apikey:${name}`, username: name, displayName: name }, this.#options.roles().keyActions),
      sites: [spec.site],
      isTest: spec.test,
    };
  }

  /** Decisions Q-AUTH-10. */
  #developerCaller(): Caller {
    this.#developer ??= {
      ...callerOf({ kind: 'human', accountId: 'none:developer', username: 'developer', displayName: 'Developer (authentication off)' }, NOTHING),
      groups: [this.#options.roles().adminGroup],
      may: () => true,
    };
    return this.#developer;
  }
}

type Times = Pick<Caller, 'issuedAtMs' | 'authTimeMs' | 'expiresAtMs' | 'token'>;

function timesOf({ iat, auth_time, exp, life }: TokenClaims): Times {
  return { issuedAtMs: iat * 1000, authTimeMs: auth_time * 1000, expiresAtMs: exp * 1000, token: life };
}

/** The end of the signature: enough to find a token, cheap to hash; the whole header is compared afterwards. */
function cacheKey(header: string): string {
  return header.slice(-CACHE_KEY_LENGTH);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A caller without session, groups and confinement, who may what the set says. */
function callerOf(identity: Pick<Caller, 'kind' | 'accountId' | 'username' | 'displayName'>, actions: ReadonlySet<string>): Caller {
  return {
    ...identity,
    groups: [],
    sites: null,
    sessionId: null,
    issuedAtMs: null,
    authTimeMs: null,
    expiresAtMs: null,
    mustChangePassword: false,
    may: (action) => actions.has(action),
  };
}

function expired(): Refusal {
  return new Refusal('unauthenticated', 'the access token has expired', { code: 'token_expired' });
}

function splitHeader(authorization: string | undefined): [string | undefined, string] {
  if (authorization === undefined || authorization === '') return [undefined, ''];
  const at = authorization.indexOf(' ');
  return at < 0 ? [authorization.toLowerCase(), ''] : [authorization.slice(0, at).toLowerCase(), authorization.slice(at + 1)];
}
