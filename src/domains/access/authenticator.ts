/**
 * Who is calling (contract 1, Authentication; decisions Q-AUTH-09, Q-AUTH-10, D-AUTH-05). The signature of a token is looked at once, which
 * takes a wait (`prove`), and then found by its whole header; expiry, session, revocation and groups are judged at each request, so a demotion acts at once.
 */
import type { Clock } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Authenticator, Proven } from '../../platform/http/authenticator.js';
import { type Caller, hasExpired } from '../../platform/http/caller.js';
import type { SessionState, SessionWatch } from '../../platform/http/stream-port.js';
import type { Store } from '../../platform/store/store.js';
import type { ApiKeyResource, ApiKeys } from './api-keys.js';
import { type Identity, identityOf, nameOfSubject } from './identities.js';
import type { IssuerIdentity } from './issuer/claims.js';
import { LEEWAY_MS } from './issuer/issuer-tokens.js';
import { takeApart, type UnprovenToken } from './jws.js';
import { Account, ApiKey, IssuerAccount, Panel, SecondFactor } from './kind.js';
import type { PanelIdentity } from './panels/panels.js';
import type { Roles } from './roles.js';
import { invalidToken, type SessionTokens, type TokenClaims } from './session-token.js';
import type { LiveSession, Sessions } from './sessions.js';

const TOKENS_KEPT_MAX = 10_000;
const CACHE_KEY_LENGTH = 43; // half of an Ed25519 signature
const NOTHING: ReadonlySet<string> = new Set();

/** Tokens of the identity provider itself (mode `oidc`). */
export interface ExternalTokens {
  /** Another one once what was proven is to be proven anew. */
  readonly generation: number;
  /** Form, claims and signature. @throws Refusal 401. */
  prove(token: UnprovenToken): Promise<IssuerIdentity>;
  /** At each use. @throws Refusal 401 for one that has expired or was ended here. */
  judge(identity: IssuerIdentity): void;
  touch(sessionId: string): void;
}

/** Panels have no sessions of persons: their tokens are judged by the panel itself. */
export interface KnownPanels {
  /** Undefined for a session id that is none of a panel. @throws Refusal 401 for a panel that is revoked. */
  identityOf(sessionId: string): PanelIdentity | undefined;
}

/** A token of this gateway. */
interface OwnToken extends Proven {
  readonly claims: TokenClaims;
  /** Caller as of `session` and `identity`; a changed one makes a new caller. */
  made: { readonly session: LiveSession | undefined; readonly identity: Identity | PanelIdentity; readonly caller: Caller } | undefined;
}

/** A token of the identity provider. */
interface IssuerToken extends Proven {
  readonly identity: IssuerIdentity;
  readonly generation: number;
  made: Caller | undefined;
}

type KnownToken = OwnToken | IssuerToken;

export interface AuthenticatorOptions {
  readonly authMode: 'local' | 'oidc' | 'none';
  readonly clock: Clock;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly keys: ApiKeys;
  readonly tokens: SessionTokens;
  readonly roles: () => Roles;
  /** Whether the account must get a second factor before anything else. */
  readonly mustEnrol: (account: string, groups: readonly string[]) => boolean;
  readonly external?: ExternalTokens | undefined;
  readonly panels: KnownPanels;
}

export class AccessAuthenticator implements Authenticator, SessionWatch {
  readonly anonymous: Caller = callerOf({ kind: 'human', accountId: 'anonymous', username: '', displayName: 'anonymous' }, NOTHING);
  readonly freshTokenRequired: boolean;
  readonly #options: AuthenticatorOptions;
  readonly #known = new Map<string, KnownToken>();
  /** By header: a page that asks for twenty things at once has its token looked at once. */
  readonly #proving = new Map<string, Promise<KnownToken>>();
  /** Sessions that the identity provider keeps are not in the table of sessions (D-AUTH-04). */
  readonly #externals = new WeakMap<Caller, IssuerIdentity>();
  readonly #listeners: ((sessionId: string, reason: string) => void)[] = [];
  #developer: Caller | undefined;
  #changes = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.freshTokenRequired = options.authMode !== 'none'; // decisions Q-AUTH-08
    const changed = (): void => void (this.#changes += 1);
    options.sessions.onEnded(changed);
    for (const kind of [Account, IssuerAccount, ApiKey, Panel]) options.store.watch(kind, ({ type, configuration }) => (configuration || type === 'remove') && changed());
    options.store.watchReload(changed);
    options.store.watch(SecondFactor, ({ type, before }) => (type === 'remove' || !before) && this.forgetCallers());
  }

  get changes(): number {
    return this.#changes;
  }

  prove(authorization: string | undefined): Promise<Proven> | undefined {
    if (authorization === undefined || this.#options.authMode === 'none' || this.#knownOf(authorization)) return undefined;
    const [scheme, token] = splitHeader(authorization);
    if (scheme !== 'bearer' || token.startsWith('lsk_')) return undefined; // a key has no signature
    const proving = this.#proving.get(authorization) ?? this.#prove(token, authorization).finally(() => this.#proving.delete(authorization));
    this.#proving.set(authorization, proving);
    return proving;
  }

  proveToken(token: string): Promise<Proven> | undefined {
    return this.prove(`Bearer ${token}`);
  }

  authenticate(authorization: string | undefined, proven?: Proven): Caller {
    if (authorization !== undefined && this.#options.authMode !== 'none') {
      const known = proven?.header === authorization ? (proven as KnownToken) : this.#knownOf(authorization);
      if (known) return this.#admit(known);
    }
    const [scheme, credential] = splitHeader(authorization);
    if (scheme === 'apikey') return this.#keyCaller(this.#options.keys.require(credential));
    if (this.#options.authMode === 'none') return this.#developerCaller();
    if (scheme === undefined) throw new Refusal('unauthenticated', 'sign in first: this route needs an access token', { code: 'unauthenticated' });
    if (scheme !== 'bearer') throw new Refusal('unauthenticated', 'the Authorization header must be a Bearer token or an ApiKey', { code: 'invalid_token' });
    throw invalidToken(); // nobody has proven it
  }

  authenticateQuery(token: string, proven?: Proven): Caller {
    if (token.startsWith('lsk_')) return this.#keyCaller(this.#options.keys.require(token)); // decisions Q-STREAM-14: the fence refuses it
    return this.authenticate(`Bearer ${token}`, proven);
  }

  authenticateToken(token: string, proven?: Proven): Caller {
    if (token.startsWith('lsk_')) throw invalidToken();
    return this.authenticate(`Bearer ${token}`, proven);
  }

  /** A token that was issued just now needs no proof. */
  issued(token: string, claims: TokenClaims): Caller {
    return this.#admit(this.#keep({ header: `Bearer ${token}`, claims, made: undefined }));
  }

  touch(caller: Caller): void {
    if (caller.sessionId === null) return;
    if (this.#externals.has(caller)) return this.#options.external?.touch(caller.sessionId);
    const session = this.#options.sessions.get(caller.sessionId);
    if (session) this.#options.sessions.touch(session);
  }

  stateOf(caller: Caller): SessionState {
    if (hasExpired(caller, this.#options.clock.wallMs())) return 'expired';
    if (caller.sessionId === null) return 'active';
    const external = this.#externals.get(caller);
    if (external) return this.#stateOfExternal(external);
    if (caller.kind === 'panel') return this.#stateOfPanel(caller.sessionId);
    const reason = this.#options.sessions.judge(caller.sessionId);
    if (reason === undefined) return 'active';
    return reason === 'inactive' || reason === 'expired' ? reason : 'ended';
  }

  onEnded(listener: (sessionId: string, reason: string) => void): void {
    this.#listeners.push(listener);
    this.#options.sessions.onEnded(listener);
  }

  /** A session that the identity provider keeps was ended here. */
  endedElsewhere(sessionId: string, reason: string): void {
    this.#changes += 1;
    for (const listener of this.#listeners) guarded('listener of ended sessions', () => listener(sessionId, reason));
  }

  refresh(caller: Caller): Caller {
    if (caller.sessionId === null) return caller;
    const external = this.#externals.get(caller);
    if (external) {
      this.#options.external?.judge(external);
      return this.#issuerCaller(external);
    }
    const panel = this.#options.panels.identityOf(caller.sessionId);
    if (panel) return this.#panelCaller(panel, caller.sessionId, caller);
    const session = this.#options.sessions.require(caller.sessionId);
    const account = this.#identityOf(session.account);
    const { issuedAtMs, authTimeMs, expiresAtMs, token } = caller;
    return this.#humanCaller(account, session, { issuedAtMs, authTimeMs, expiresAtMs, token });
  }

  /**
   * Why somebody who could do an action when he asked may not do it now, as a sentence; '' while he may. It is his account that is judged: he may have
   * signed out and in again. Of whom another issuer knows, and of keys, nothing but their token tells.
   */
  lapsed(caller: Caller, action: string, site: string): string {
    if (caller.sessionId === null || caller.kind === 'panel' || this.#externals.has(caller)) return '';
    const { authMode, store } = this.#options;
    const account = identityOf(store, authMode, authMode === 'oidc' ? nameOfSubject(caller.accountId) : caller.username.toLowerCase());
    if (account?.accountId !== caller.accountId) return `the account of ${caller.displayName} is closed or disabled`;
    const { actions, sites } = this.#options.roles().rightsOf(account.groups);
    if (!actions.has(action)) return `${caller.displayName} may not do this any more (${action})`;
    return sites !== null && !sites.includes(site) ? `site ${site} is outside the scope of ${caller.displayName} now` : '';
  }

  /** What a caller may is looked up anew at his next request. */
  forgetCallers(): void {
    for (const known of this.#known.values()) known.made = undefined;
    this.#changes += 1;
  }

  /** The whole header is compared; a token of the identity provider only while its keys are those that vouched for it. */
  #knownOf(authorization: string): KnownToken | undefined {
    const known = this.#known.get(cacheKey(authorization));
    if (known?.header !== authorization) return undefined;
    return 'claims' in known || known.generation === this.#options.external?.generation ? known : undefined;
  }

  async #prove(token: string, header: string): Promise<KnownToken> {
    const { tokens, external } = this.#options;
    const apart = takeApart(token);
    if (!apart) throw invalidToken();
    if (tokens.isOwn(apart)) return this.#keep({ header, claims: await tokens.read(apart), made: undefined });
    if (!external) throw invalidToken();
    const { generation } = external;
    return this.#keep({ header, identity: await external.prove(apart), generation, made: undefined });
  }

  #keep(known: KnownToken): KnownToken {
    if (this.#known.size >= TOKENS_KEPT_MAX) this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(cacheKey(known.header), known);
    return known;
  }

  /** The hot path: expiry, session and account of a token that was proven before. */
  #admit(known: KnownToken): Caller {
    try {
      return 'claims' in known ? this.#admitOwn(known) : this.#admitIssued(known);
    } catch (refusal) {
      const key = cacheKey(known.header);
      if (this.#known.get(key) === known) this.#known.delete(key);
      throw refusal;
    }
  }

  #admitOwn(known: OwnToken): Caller {
    const panel = this.#options.panels.identityOf(known.claims.sid);
    if (panel) return this.#admitPanel(known, panel);
    const session = this.#requireSession(known.claims);
    const identity = this.#identityOf(session.account);
    const { made } = known;
    if (made?.session === session && made.identity === identity) return made.caller;
    const caller = this.#humanCaller(identity, session, timesOf(known.claims));
    known.made = { session, identity, caller };
    return caller;
  }

  #admitPanel(known: OwnToken, identity: PanelIdentity): Caller {
    const { claims, made } = known;
    if (claims.life.expires.hasPassed) throw expired();
    if (identity.accountId !== claims.sub) throw invalidToken();
    if (made?.identity === identity) return made.caller;
    const caller = this.#panelCaller(identity, claims.sid, timesOf(claims));
    known.made = { session: undefined, identity, caller };
    return caller;
  }

  #panelCaller({ accountId, username, displayName, site }: PanelIdentity, sessionId: string, { issuedAtMs, authTimeMs, expiresAtMs, token }: Times): Caller {
    const caller = callerOf({ kind: 'panel', accountId, username, displayName }, this.#options.roles().watchActions);
    return { ...caller, sites: [site], sessionId, issuedAtMs, authTimeMs, expiresAtMs, token };
  }

  #stateOfPanel(sessionId: string): SessionState {
    try {
      return this.#options.panels.identityOf(sessionId) ? 'active' : 'ended';
    } catch {
      return 'ended'; // revoked
    }
  }

  #admitIssued(known: IssuerToken): Caller {
    this.#options.external?.judge(known.identity);
    known.made ??= this.#issuerCaller(known.identity);
    return known.made;
  }

  /** Groups are those of the token: nobody else knows them. */
  #issuerCaller(identity: IssuerIdentity): Caller {
    const { person, sessionId, issuedAtMs, authTimeMs, expiresAtMs } = identity;
    const { accountId, username, displayName, groups } = person;
    const rights = this.#options.roles().rightsOf(groups);
    const caller: Caller = {
      ...callerOf({ kind: 'human', accountId, username, displayName }, rights.actions),
      groups,
      sites: rights.sites,
      sessionId,
      issuedAtMs,
      authTimeMs,
      expiresAtMs,
      expiresLateMs: LEEWAY_MS,
    };
    this.#externals.set(caller, identity);
    return caller;
  }

  #stateOfExternal(identity: IssuerIdentity): SessionState {
    try {
      this.#options.external?.judge(identity);
      return 'active';
    } catch (refusal) {
      return refusal instanceof Refusal && refusal.context.code === 'token_expired' ? 'expired' : 'ended';
    }
  }

  #requireSession(claims: TokenClaims): LiveSession {
    if (claims.life.expires.hasPassed) throw expired();
    const session = this.#options.sessions.require(claims.sid);
    if (session.accountId !== claims.sub) throw invalidToken();
    return session;
  }

  #identityOf(name: string): Identity {
    const account = identityOf(this.#options.store, this.#options.authMode, name);
    if (!account) throw new Refusal('unauthenticated', 'the account is closed or disabled', { code: 'session_ended' });
    return account;
  }

  #humanCaller(account: Identity, session: LiveSession, times: Times): Caller {
    const rights = this.#options.roles().rightsOf(account.groups);
    return {
      ...callerOf({ kind: 'human', accountId: account.accountId, username: account.username, displayName: account.displayName }, rights.actions),
      groups: account.groups,
      sites: rights.sites,
      sessionId: session.id,
      ...times,
      mustChangePassword: account.mustChangePassword === true,
      mustEnrol: this.#options.mustEnrol(session.account, account.groups),
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
