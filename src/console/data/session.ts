/**
 * The session of the HMI (decisions Q-AUTH-01). The refresh token lives in an HttpOnly cookie, the access token only in
 * memory; it is renewed a minute before it ends. When the session is over the page goes to the login page and stops.
 */
import { computed, signal } from '@preact/signals';
import { ApiError, get, post, useCredential } from './api.js';
import { toLogin } from './login-address.js';
import { isPanel, panelSession } from './panel.js';
import { ASKED_FOR, watching } from './watching.js';
import type { AuthConfig, Me, Second, Session } from './types.js';

const RENEW_BEFORE_MS = 60_000;
const RENEW_AGAIN_MS = 5_000;

export const config = signal<AuthConfig | null>(null);
export const me = signal<Me | null>(null);
const token = signal('');
/** Called with each new access token, so that the open stream can outlive the old one (D-STREAM-01). */
const listeners = new Set<(token: string) => void>();
/** This screen goes back to watching when nobody is signed in at it (D-C-18). */
let hasPanel = false;
let renewing: Promise<boolean> | undefined;
let timer = 0;

const actions = computed(() => new Set(me.value?.actions ?? []));

export function can(action: string): boolean {
  return actions.value.has(action) || (watching.value && ASKED_FOR.has(action));
}

export function accessToken(): string {
  return token.peek();
}

export function onNewToken(listener: (token: string) => void): void {
  listeners.add(listener);
}

/** @returns false when the page is on its way to the login page. */
export async function startSession(): Promise<boolean> {
  config.value = await get<AuthConfig>('/api/v1/auth/config');
  if (config.value.authMode === 'none') {
    me.value = await get<Me>('/api/v1/auth/me');
    return true;
  }
  useCredential({ token: () => token.peek(), renew });
  hasPanel = await isPanel();
  if (!(await renew())) return false;
  if (me.value?.mustChangePassword) {
    endSession('password');
    return false;
  }
  return true;
}

/** One renewal at a time; whoever comes meanwhile waits for it. */
export function renew(): Promise<boolean> {
  if (config.peek()?.authMode === 'none') return Promise.resolve(true);
  renewing ??= (watching.peek() ? watch() : renewOnce()).finally(() => {
    renewing = undefined;
  });
  return renewing;
}

async function renewOnce(): Promise<boolean> {
  try {
    const session = await post<Session>('/api/v1/auth/refresh', {}, { background: true, anonymous: true });
    const before = me.peek()?.username;
    if (before !== undefined && before !== session.user.username) {
      endSession('other'); // another tab of this browser: nobody goes on, or signs, under the name of the next person
      return false;
    }
    if (session.user.mustEnrolSecondFactor) {
      endSession('factor');
      return false;
    }
    adopt(session);
    return true;
  } catch (fault) {
    if (fault instanceof ApiError && fault.status === 401) {
      if (me.peek() === null) return watch();
      endSession('session');
      return false;
    }
    if (me.peek() !== null) plan(RENEW_AGAIN_MS);
    throw fault;
  }
}

/** As a panel, where this screen is one. */
async function watch(): Promise<boolean> {
  try {
    const session = await panelSession();
    if (session) {
      watching.value = true;
      adopt(session);
      return true;
    }
  } catch (fault) {
    if (watching.peek()) plan(RENEW_AGAIN_MS);
    throw fault;
  }
  const wasPanel = hasPanel;
  hasPanel = false;
  endSession(wasPanel ? 'panel' : '');
  return false;
}

function adopt(session: Session): void {
  token.value = session.accessToken;
  me.value = session.user;
  plan(Math.max(RENEW_AGAIN_MS, session.expiresIn * 1000 - RENEW_BEFORE_MS));
  for (const listener of listeners) listener(session.accessToken);
}

/** The password once more, and a second factor, for what is signed (contract 1, Authentication 7). */
export async function reauthenticate(password: string, second: Second): Promise<void> {
  adopt(await post<Session>('/api/v1/auth/reauthenticate', { password, ...second }));
}

function plan(delayMs: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => void renew().catch(() => undefined), delayMs);
}

let leaving = false;

/** The first reason counts: a sign-out also closes the stream. @param why shown by the login page; empty when nobody was signed in. */
export function endSession(why: string): void {
  clearTimeout(timer);
  token.value = '';
  if (leaving) return;
  if (!hasPanel || why === 'other' || why === 'password') return toLogin(why);
  if (why === 'logout') history.replaceState(null, '', location.pathname);
  location.reload(); // nothing of the person stays
}

export async function logout(): Promise<void> {
  leaving = true;
  try {
    await post('/api/v1/auth/logout');
  } finally {
    leaving = false;
    endSession('logout');
  }
}
