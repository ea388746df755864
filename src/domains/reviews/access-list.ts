/** Who has which access, as it is reviewed: every account with its groups and what they may do. Pure but for reading; sorted, so that one list has one digest. */
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Account, IssuerAccount } from '../access/kind.js';
import type { AccessEntry } from './kind.js';

/** What a set of groups may do. */
export type RightsOf = (groups: readonly string[]) => { readonly tiers: readonly string[]; readonly sites: readonly string[] | null };

export interface AccessList {
  readonly users: readonly AccessEntry[];
  readonly digest: string;
}

/** Accounts that are closed for good have no access, and are left out. */
export function accessList(read: StoreReader, rightsOf: RightsOf): AccessList {
  const entry = (origin: AccessEntry['origin'], enabled: boolean, of: Pick<AccessEntry, 'accountId' | 'username' | 'displayName' | 'groups'>): AccessEntry => {
    const groups = [...of.groups].sort();
    const { tiers, sites } = rightsOf(of.groups);
    return { accountId: of.accountId, username: of.username, displayName: of.displayName, origin, enabled, groups, tiers: [...tiers], sites: sites && [...sites].sort() };
  };
  const local = read.list(Account, '').flatMap(({ spec }) => (spec.retired ? [] : [entry('local', spec.enabled, spec)]));
  const issued = read.list(IssuerAccount, '').map(({ spec }) => entry('oidc', true, spec));
  const users = [...local, ...issued].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  return { users, digest: canonicalDigest(users) };
}
