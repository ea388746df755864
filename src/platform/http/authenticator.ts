/** What the pipeline and the streams ask of `domains/access`. */
import type { Caller } from './caller.js';

/** A bearer token or an API key as it came in: `Authorization` header, or the query form of the stream routes. */
/** A token whose signature holds. What else it needs (its expiry, its session, the account) is judged whenever it is used. */
export interface Proven {
  readonly header: string;
}

export interface Authenticator {
  /**
   * The signature of a token that was not seen before, which takes a wait; undefined where nothing is left to prove. Whoever has waited hands
   * what came of it to `authenticate`. Absent where no credential takes a wait.
   * @throws Refusal 401, at once or later.
   */
  prove?(authorization: string | undefined): Promise<Proven> | undefined;
  /**
   * @param authorization the whole header, undefined when absent.
   * @param proven what `prove` has said of it.
   * @throws Refusal 401.
   */
  authenticate(authorization: string | undefined, proven?: Proven): Caller;
  /** The query form `token=` of the stream routes: a session or issuer token; a valid API key gives its identity, so that the fence refuses it. */
  authenticateQuery(token: string, proven?: Proven): Caller;
  /** Rises whenever somebody may have lost a right: a session ended, an account, a key or a site changed. */
  readonly changes?: number;
  /** Who calls a public route; may nothing. */
  readonly anonymous: Caller;
  /** The request is activity of its session (decisions Q-AUTH-21). */
  touch(caller: Caller): void;
  /** The fresh-token rule does not hold in mode `none` (decisions Q-AUTH-08). */
  readonly freshTokenRequired: boolean;
}
