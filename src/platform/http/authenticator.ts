/** What the pipeline and the streams ask of `domains/access`. */
import type { Caller } from './caller.js';

/** A bearer token or an API key as it came in: `Authorization` header, or the query form of the stream routes. */
export interface Authenticator {
  /**
   * @param authorization the whole header, undefined when absent.
   * @throws Refusal 401.
   */
  authenticate(authorization: string | undefined): Caller;
  /** The query form `token=` of the stream routes: a session or issuer token; a valid API key gives its identity, so that the fence refuses it. */
  authenticateQuery(token: string): Caller;
  /** Rises whenever somebody may have lost a right: a session ended, an account, a key or a site changed. */
  readonly changes?: number;
  /** Who calls a public route; may nothing. */
  readonly anonymous: Caller;
  /** The request is activity of its session (decisions Q-AUTH-21). */
  touch(caller: Caller): void;
  /** The fresh-token rule does not hold in mode `none` (decisions Q-AUTH-08). */
  readonly freshTokenRequired: boolean;
}
