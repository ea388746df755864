/** The cookie form: the refresh token never reaches a script (decisions Q-AUTH-01). */
import { post } from '../data/api.js';
import type { Session } from '../data/types.js';

export function signIn(username: string, password: string): Promise<Session> {
  return post<Session>('/api/v1/auth/login', { username, password, useCookie: true });
}
