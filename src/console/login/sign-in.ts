/** The cookie form: the refresh token never reaches a script (decisions Q-AUTH-01). */
import { ApiError, post, useCredential } from '../data/api.js';
import type { Second, Session } from '../data/types.js';

/** @param second nothing while nobody has asked for it. */
export function signIn(username: string, password: string, second: Second = {}): Promise<Session> {
  return post<Session>('/api/v1/auth/login', { username, password, ...second, useCookie: true });
}

/** Keeps a session over a form that may stay open for longer than its access token lives. @param ended told why, when the session is over. */
export function keepSignedIn(session: Session, ended: (why: string) => void): void {
  let held = session;
  useCredential({
    token: () => held.accessToken,
    renew: async () => {
      try {
        const renewed = await post<Session>('/api/v1/auth/refresh', {}, { anonymous: true });
        if (renewed.user.username !== session.user.username)
          ended('other'); // another tab of this browser
        else held = renewed;
        return held === renewed;
      } catch (fault) {
        if (fault instanceof ApiError && fault.status === 401) ended('session');
        else throw fault;
        return false;
      }
    },
  });
}
