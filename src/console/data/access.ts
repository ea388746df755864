/** Accounts, roles, sessions and lock-outs of the box, as its administrators see and change them (contract 1, Authentication; decisions AUTH). */
import { get, getAll, post, put, read, remove } from './api.js';
import { config } from './session.js';
import type { Account, AuthPolicy, LockOut, OpenSession } from './types.js';

const AUTH = '/api/v1/auth';
export const USERS = `${AUTH}/users`;
export const SESSIONS = `${AUTH}/sessions`;
export const LOCK_OUTS = `${AUTH}/lockouts`;

export function userPath(username: string): string {
  return `${USERS}/${encodeURIComponent(username)}`;
}

export function readPolicy(): Promise<AuthPolicy> {
  return get<AuthPolicy>(`${AUTH}/policy`);
}

export const readAccounts = (): Promise<readonly Account[]> => getAll<Account>(`${USERS}?limit=500`);

export interface ShownAccount {
  readonly account: Account;
  readonly etag: string | undefined;
}

export async function readAccount(username: string): Promise<ShownAccount | null> {
  const found = await read<Account>(userPath(username));
  return found ? { account: found.value, etag: found.etag } : null;
}

/** @param shown with its version: what another has changed since is not written over. That he has signed in since changes nothing of it. */
export async function changeAccount({ account, etag }: ShownAccount, changes: Partial<Account>): Promise<void> {
  const now = await readAccount(account.username);
  const members = Object.keys(changes) as (keyof Account)[];
  const isSame = now !== null && members.every((member) => JSON.stringify(now.account[member]) === JSON.stringify(account[member]));
  await put(userPath(account.username), changes, { ifMatch: isSame ? now.etag : etag });
}

export async function setPassword(username: string, newPassword: string, mustChangePassword: boolean): Promise<void> {
  await post(`${userPath(username)}/password`, { newPassword, mustChangePassword });
}

export async function sessionsOf(username: string): Promise<readonly OpenSession[]> {
  return (await getAll<OpenSession>(`${SESSIONS}?limit=500`)).filter((session) => session.username === username);
}

export async function endSessionOf({ id }: Pick<OpenSession, 'id'>): Promise<void> {
  await remove(`${SESSIONS}/${encodeURIComponent(id)}`);
}

export async function lockOutOf(username: string): Promise<LockOut | undefined> {
  return (await getAll<LockOut>(`${LOCK_OUTS}?limit=500`)).find((locked) => locked.username === username.toLowerCase());
}

export async function unlock(username: string): Promise<void> {
  await remove(`${LOCK_OUTS}/${encodeURIComponent(username)}`);
}

/** Where accounts are kept by this box; elsewhere its own routes of them do not exist. */
export function hasAccounts(): boolean {
  return config.value?.authMode === 'local';
}
