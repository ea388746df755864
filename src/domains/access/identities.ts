/** Who is behind a session: an account of this box (mode `local`), or a person as the identity provider told of him last (mode `oidc`). */
import type { Store } from '../../platform/store/store.js';
import { Account, IssuerAccount } from './kind.js';
import { hashOf } from './sessions.js';

export interface Identity {
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly mustChangePassword?: boolean;
}

/** Name of what is stored of a person whom the identity provider calls `subject`, whatever characters that has. */
export function nameOfSubject(subject: string): string {
  return hashOf(subject);
}

/** @returns undefined for an account that is closed or disabled, and for one of another mode. The same object while nothing has changed. */
export function identityOf(store: Pick<Store, 'get'>, authMode: string, name: string): Identity | undefined {
  if (authMode === 'oidc') return store.get(IssuerAccount, '', name)?.spec;
  const account = store.get(Account, '', name)?.spec;
  return account && account.enabled && !account.retired ? account : undefined;
}
