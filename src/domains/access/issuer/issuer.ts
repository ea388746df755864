/**
 * The identity provider of mode `oidc` (decisions D-AUTH-04; OpenID Connect Core, Discovery): where it is, its keys, what it says of who signs in. The box
 * starts without it, and finds it as soon as it answers; a refusal of it is final, its silence is not.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
  randomPKCECodeVerifier,
  refreshTokenGrant,
  ResponseBodyError,
  type ServerMetadata,
  type TokenEndpointResponse,
  tokenRevocation,
} from 'openid-client';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { Stopwatch } from '../../../platform/base/elapsed.js';
import { guardedPromise } from '../../../platform/base/guarded.js';
import type { Log } from '../../../platform/base/log.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { Store } from '../../../platform/store/store.js';
import { type Claims, takeApart } from '../jws.js';
import type { TimeWitness } from '../sessions.js';
import { type ClaimNames, claimOf, type IssuerPerson, personOf, secondsOf } from './claims.js';
import { IssuerFault, type IssuerFetch, issuerFetch, ISSUER_TIMEOUT_MS } from './issuer-fetch.js';
import { IssuerKeys } from './issuer-keys.js';
import { IssuerSessions } from './issuer-sessions.js';
import { IssuerTokens, LEEWAY_MS } from './issuer-tokens.js';
import type { PendingLogin } from './logins.js';

const LOOK_AGAIN_MS = 300_000;
const RETRY_MIN_MS = 5000;
const RETRY_MAX_MS = 60_000;

export interface IssuerSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly audience: string;
  readonly scopes: string;
  readonly names: ClaimNames;
  readonly jwksUrl: string | null;
  /** Certificate authorities in PEM. */
  readonly ca: string | undefined;
  readonly sessionLifetimeMs: number;
}

export interface IssuerParts {
  readonly settings: IssuerSettings;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly store: Store;
  readonly time: TimeWitness;
}

/** What a sign-in at the identity provider has shown. */
export interface Shown {
  readonly person: IssuerPerson;
  /** How long ago he has proven who he is; undefined where the provider does not say. */
  readonly signedInMs: number | undefined;
  readonly refreshToken: string | undefined;
}

/** The identity provider has said no. */
export class IssuerRefusal extends Error {
  override readonly name = 'IssuerRefusal';
}

export class Issuer {
  readonly keys: IssuerKeys;
  readonly sessions: IssuerSessions;
  readonly tokens: IssuerTokens;
  readonly #parts: IssuerParts;
  readonly #fetch: IssuerFetch;
  #metadata: ServerMetadata | undefined;
  #looking: Promise<void> | undefined;
  #discovering: Promise<ServerMetadata> | undefined;
  #looked: Stopwatch | undefined;
  #trouble: { readonly sinceMs: number; readonly why: string } | undefined;
  #retryMs = RETRY_MIN_MS;
  #cancel: () => void = () => undefined;

  constructor(parts: IssuerParts) {
    const { settings, clock, store, time } = parts;
    const { issuer, audience, names } = settings;
    this.#parts = parts;
    this.#fetch = issuerFetch(settings.ca);
    this.keys = new IssuerKeys({ store, clock, time, issuer, fetch: () => this.#keysOrTrouble() });
    this.sessions = new IssuerSessions(store, clock);
    this.tokens = new IssuerTokens({ clock, keys: this.keys, sessions: this.sessions, issuer, audience, names });
  }

  /** Nobody waits for it: the box is there without the identity provider. */
  start(): void {
    guardedPromise('look for the identity provider', () => this.#look());
  }

  stop(): void {
    this.#cancel();
    this.sessions.stop();
  }

  /** A sentence while the identity provider does not answer, else ''. */
  get trouble(): string {
    if (!this.#trouble) return '';
    const { sinceMs, why } = this.#trouble;
    return `the identity provider ${this.#parts.settings.issuer} is not there since ${timestamp(sinceMs)} (${why}): nobody can sign in, who is signed in goes on`;
  }

  // ------------------------------------------------------------ signing in

  /** Where the browser is sent. @throws Refusal 503. */
  async addressFor(login: PendingLogin): Promise<string> {
    const { scopes, sessionLifetimeMs } = this.#parts.settings;
    const config = await this.#client();
    // max_age makes the provider say when he has signed in
    const again = login.reauthenticates ? { prompt: 'login', max_age: '0' } : { max_age: String(Math.floor(sessionLifetimeMs / 1000)) };
    const { state, nonce, redirectUri, verifier } = login;
    const challenge = await calculatePKCECodeChallenge(verifier);
    return buildAuthorizationUrl(config, { redirect_uri: redirectUri, scope: scopes, state, nonce, code_challenge: challenge, code_challenge_method: 'S256', ...again }).href;
  }

  /**
   * What has come back with the browser, redeemed.
   * @throws Refusal 503 where the provider does not answer, IssuerRefusal where it refuses, or says what does not hold.
   */
  redeem(login: PendingLogin, answer: URLSearchParams): Promise<Shown> {
    return this.#asked(async (config) => {
      const { redirectUri, state, nonce, verifier, begun, reauthenticates } = login;
      const url = new URL(redirectUri);
      url.search = answer.toString();
      const tokens = await authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true });
      const shown = await this.#shown(config, tokens, undefined);
      if (reauthenticates && (shown.signedInMs === undefined || shown.signedInMs > begun.elapsedMs + LEEWAY_MS)) {
        throw new IssuerRefusal(
          shown.signedInMs === undefined
            ? 'it does not say when you have signed in (auth_time), which a signature needs'
            : 'it has not asked you to sign in again, which a signature needs',
        );
      }
      return shown;
    });
  }

  /** What the provider says of him now. @throws as `redeem`. */
  refresh(refreshToken: string, known: IssuerPerson): Promise<Shown> {
    return this.#asked(async (config) => this.#shown(config, await refreshTokenGrant(config, refreshToken), known));
  }

  /** Best effort: whoever signs out here need not wait for it. */
  async giveBack(refreshToken: string): Promise<void> {
    if (this.#metadata?.revocation_endpoint === undefined) return;
    await this.#asked((config) => tokenRevocation(config, refreshToken)).catch(() => undefined);
  }

  /** @param known for a refresh: who it must still be, and what stays where nothing is said. */
  async #shown(config: Configuration, tokens: TokenEndpointResponse, known: IssuerPerson | undefined): Promise<Shown> {
    const { names, clientId } = this.#parts.settings;
    const refreshToken = tokens.refresh_token;
    const idToken = tokens.id_token === undefined ? undefined : await this.#idTokenOf(tokens.id_token, clientId);
    const subject = typeof idToken?.sub === 'string' ? idToken.sub : known?.accountId;
    if (subject === undefined) throw new IssuerRefusal('it does not say who you are');
    if (known && subject !== known.accountId) throw new IssuerRefusal('it names somebody else');
    let claims: Claims = idToken ?? {};
    const isSilent = claimOf(claims, names.groups) === undefined || claimOf(claims, names.username) === undefined;
    const asks = isSilent && config.serverMetadata().userinfo_endpoint !== undefined;
    if (asks) claims = { ...(await fetchUserInfo(config, tokens.access_token, subject)), ...claims };
    if (known && !idToken && !asks) return { person: known, signedInMs: undefined, refreshToken };
    const person = personOf({ ...claims, sub: subject }, names);
    if (!person) throw new IssuerRefusal('it does not say who you are');
    return { person, signedInMs: this.#signedInMs(idToken?.auth_time), refreshToken };
  }

  /** Beside what the library looks at: the signature, by the keys and the algorithms that hold for every token of the provider. */
  async #idTokenOf(token: string, clientId: string): Promise<Claims> {
    const apart = takeApart(token);
    const { aud } = apart?.claims ?? {};
    const isOurs = aud === clientId || (Array.isArray(aud) && aud.includes(clientId));
    if (!apart || apart.claims.iss !== this.#parts.settings.issuer || !isOurs) throw new IssuerRefusal('its ID token is not for this box');
    if (await this.keys.vouchFor(apart)) return apart.claims;
    if (!this.keys.isUsable) throw new IssuerFault('none of its keys is known');
    throw new IssuerRefusal('none of its keys has signed its ID token');
  }

  /** By the wall clock, as the instants of another issuer are (D-C-07). */
  #signedInMs(authTime: unknown): number | undefined {
    const seconds = secondsOf(authTime);
    if (seconds === undefined) return undefined;
    const agoMs = this.#parts.clock.wallMs() - seconds * 1000;
    if (agoMs < -LEEWAY_MS) throw new IssuerRefusal('it says that you have signed in in the future: its clock or that of the box is wrong');
    return Math.max(0, agoMs);
  }

  // ------------------------------------------------------------ asking it

  async #asked<Answer>(ask: (config: Configuration) => Promise<Answer>): Promise<Answer> {
    const config = await this.#client();
    try {
      const answer = await ask(config);
      this.#isThere();
      return answer;
    } catch (fault) {
      const silence = silenceOf(fault);
      if (silence !== undefined) throw this.#unavailable(silence);
      throw fault instanceof IssuerRefusal ? fault : new IssuerRefusal(wordsOf(fault));
    }
  }

  /** Made for each request: the clock that tokens are judged by is that of the box. */
  async #client(): Promise<Configuration> {
    if (!this.#metadata) await this.#lookNow();
    if (!this.#metadata) throw this.#unavailable(undefined);
    return this.#configured(this.#metadata);
  }

  #configured(metadata: ServerMetadata): Configuration {
    const { clientId, clientSecret } = this.#parts.settings;
    const skew = Math.round((this.#parts.clock.wallMs() - Date.now()) / 1000);
    const client = { [clockSkew]: skew, [clockTolerance]: LEEWAY_MS / 1000 };
    const config = new Configuration(metadata, clientId, client, authOf(metadata, clientSecret));
    config[customFetch] = (url, options) => this.#fetch(url, options);
    config.timeout = ISSUER_TIMEOUT_MS / 1000;
    if (this.#isPlain) allowInsecureRequests(config);
    return config;
  }

  /** On this machine only (settings.ts). */
  get #isPlain(): boolean {
    return this.#parts.settings.issuer.startsWith('http:');
  }

  async #keysOrTrouble(): Promise<unknown> {
    try {
      return await this.#fetchKeys();
    } catch (fault) {
      this.#isAway(silenceOf(fault) ?? wordsOf(fault));
      throw fault;
    }
  }

  async #fetchKeys(): Promise<unknown> {
    const address = this.#parts.settings.jwksUrl ?? (await this.#found()).jwks_uri;
    if (address === undefined) throw new IssuerFault('it does not say where its keys are');
    if (!address.startsWith('https:') && !this.#isPlain) throw new IssuerFault('its keys are not served over TLS');
    const answer = await this.#fetch(address, { headers: { accept: 'application/json' } });
    if (answer.status !== 200) throw new IssuerFault(`its keys answer HTTP ${answer.status}`);
    return answer.json().catch(() => {
      throw new IssuerFault('its keys are not JSON');
    });
  }

  // ------------------------------------------------------------ finding it

  /** For who wants to sign in now; one who just looked in vain has seen what there is. */
  async #lookNow(): Promise<void> {
    if (!this.#looking && this.#looked && this.#looked.elapsedMs < RETRY_MIN_MS) return;
    await this.#look();
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    this.#cancel();
    this.#looked = new Stopwatch(this.#parts.clock);
    try {
      this.#metadata = await this.#discover();
      await this.keys.refetch();
      this.#isThere();
      this.#retryMs = RETRY_MIN_MS;
      this.#again(LOOK_AGAIN_MS);
    } catch (fault) {
      this.#isAway(silenceOf(fault) ?? wordsOf(fault));
      this.#again(this.#retryMs);
      this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
    }
  }

  #again(afterMs: number): void {
    this.#cancel = this.#parts.clock.after(afterMs, () => guardedPromise('look for the identity provider', () => this.#look()));
  }

  async #found(): Promise<ServerMetadata> {
    return (this.#metadata ??= await this.#discover());
  }

  /** One request at a time: a token that comes while the box starts waits for the same as the start. */
  #discover(): Promise<ServerMetadata> {
    this.#discovering ??= this.#discovered().finally(() => {
      this.#discovering = undefined;
    });
    return this.#discovering;
  }

  async #discovered(): Promise<ServerMetadata> {
    const { issuer, clientId } = this.#parts.settings;
    const config = await discovery(new URL(issuer), clientId, undefined, None(), {
      execute: this.#isPlain ? [allowInsecureRequests] : [],
      [customFetch]: (url, options) => this.#fetch(url, options),
      timeout: ISSUER_TIMEOUT_MS / 1000,
    });
    const found = config.serverMetadata();
    if (found.issuer !== issuer) throw new IssuerFault(`it calls itself ${found.issuer.slice(0, 200)}: auth.oidc.issuer must be exactly that`);
    return found;
  }

  #isThere(): void {
    if (this.#trouble) this.#parts.log.info({ issuer: this.#parts.settings.issuer }, 'the identity provider answers again');
    this.#trouble = undefined;
  }

  #isAway(why: string): void {
    if (!this.#trouble) this.#parts.log.warn({ issuer: this.#parts.settings.issuer, why }, 'the identity provider does not answer');
    this.#trouble = { sinceMs: this.#trouble?.sinceMs ?? this.#parts.clock.wallMs(), why };
  }

  #unavailable(why: string | undefined): Refusal {
    if (why !== undefined) this.#isAway(why);
    const reason = this.#trouble ? ` (${this.#trouble.why})` : '';
    return new Refusal('unavailable', `nobody can sign in now: the identity provider does not answer${reason}; try again in a moment`, {
      code: 'issuer_unavailable',
      retryAfterSeconds: RETRY_MIN_MS / 1000,
    });
  }
}

/** RFC 6749 4.1.2.1: no answer to what was asked. */
const PASSING = ['temporarily_unavailable', 'server_error', 'slow_down'];

/** A PKCE verifier (RFC 7636). */
export function newVerifier(): string {
  return randomPKCECodeVerifier();
}

/** RFC 6749 2.3.1: the basic form unless the provider takes the other one only. */
function authOf(metadata: ServerMetadata, clientSecret: string | undefined): ClientAuth {
  if (clientSecret === undefined) return None();
  const taken = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return taken.includes('client_secret_basic') || !taken.includes('client_secret_post') ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

/** Why there was no answer; undefined where there was one. The library wraps what a request throws. */
function silenceOf(fault: unknown): string | undefined {
  for (let at: unknown = fault, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if (at instanceof IssuerFault) return at.message;
    if (at.name === 'TimeoutError') return 'it did not answer in time';
    if (at instanceof ResponseBodyError && PASSING.includes(at.error)) return `it says ${at.error}`;
  }
  return undefined;
}

/** Never what was sent or received: only the word that OAuth has for the reason. */
function wordsOf(fault: unknown): string {
  if (fault instanceof ResponseBodyError || fault instanceof AuthorizationResponseError) return `it says ${/^[a-z_]{1,40}$/.exec(fault.error)?.[0] ?? 'no'}`;
  const { code } = fault as { readonly code?: unknown };
  return typeof code === 'string' && /^[A-Z_]{1,60}$/.test(code)
    ? `its answer does not hold: ${code
        .replace(/^OAUTH_/, '')
        .toLowerCase()
        .replaceAll('_', ' ')}`
    : 'its answer does not hold';
}
