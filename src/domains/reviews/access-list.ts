/** Who and what has which access, as it is reviewed: accounts, API keys, panels. Pure but for reading; sorted, so that one list has one digest. */
import { timestamp } from '../../platform/base/clock.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Account, ApiKey, IssuerAccount, Panel } from '../access/kind.js';
import type { AccessEntry, AccessList, KeyAccess, PanelAccess } from './kind.js';

/** What a set of groups may do. */
export type RightsOf = (groups: readonly string[]) => { readonly tiers: readonly string[]; readonly sites: readonly string[] | null };

/** Accounts that are closed for good have no access, and are left out. */
export function accessList(read: StoreReader, rightsOf: RightsOf): { readonly list: AccessList; readonly digest: string } {
  const entry = (origin: AccessEntry['origin'], enabled: boolean, of: Pick<AccessEntry, 'accountId' | 'username' | 'displayName' | 'groups'>): AccessEntry => {
    const groups = [...of.groups].sort();
    const { tiers, sites } = rightsOf(of.groups);
    return { accountId: of.accountId, username: of.username, displayName: of.displayName, origin, enabled, groups, tiers: [...tiers], sites: sites && [...sites].sort() };
  };
  const local = read.list(Account, '').flatMap(({ spec }) => (spec.retired ? [] : [entry('local', spec.enabled, spec)]));
  const issued = read.list(IssuerAccount, '').map(({ spec }) => entry('oidc', true, spec));
  const users = [...local, ...issued].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  const list = { users, apiKeys: keysOf(read), panels: panelsOf(read) };
  return { list, digest: canonicalDigest(list) };
}

/** When each key and panel was used last, by its name; null: never. */
export function lastUses(read: StoreReader): { readonly apiKeys: ReadonlyMap<string, string | null>; readonly panels: ReadonlyMap<string, string | null> } {
  const instant = (atMs: number | null): string | null => (atMs === null ? null : timestamp(atMs));
  return {
    apiKeys: new Map(read.list(ApiKey, '').map(({ metadata, status }) => [metadata.name, instant(status.lastUsedAtMs)])),
    panels: new Map(read.list(Panel, '').map(({ metadata, status }) => [metadata.name, status.lastContactAt])),
  };
}

function keysOf(read: StoreReader): KeyAccess[] {
  const keys = read.list(ApiKey, '').map(({ metadata: { name }, spec: { site, keyPrefix, createdBy, expiresAtMs, test } }) => {
    return { name, site, keyPrefix, createdBy, expiresAt: expiresAtMs === null ? null : timestamp(expiresAtMs), test: test === true };
  });
  return keys.sort(byName);
}

function panelsOf(read: StoreReader): PanelAccess[] {
  const panels = read.list(Panel, '').map(({ metadata: { name }, spec: { displayName, site, enrolledBy } }) => ({ name, displayName, site, enrolledBy }));
  return panels.sort(byName);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
