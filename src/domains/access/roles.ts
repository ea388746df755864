/**
 * Groups, tiers and actions (contract 1, Authentication 4 to 6; decisions Q-AUTH-12 to Q-AUTH-14). The action table is the
 * route table; a role is (the actions of its tier plus grant) minus deny, a caller holds the union over its groups.
 */
import { invalid } from '../../platform/base/refusal.js';
import { nearest } from '../../platform/base/nearest.js';
import { StartRefused } from '../../platform/base/start-refused.js';
import { TIERS, type Tier } from '../../platform/http/tiers.js';
import type { RouteColumns } from '../../platform/http/route.js';
import { isFenced } from '../../platform/http/route-table.js';

export interface RoleEntry {
  readonly group: string;
  readonly tier?: string;
  readonly grant: readonly string[];
  readonly deny: readonly string[];
}

export interface Role {
  readonly group: string;
  readonly tier: Tier | null;
  readonly grant: readonly string[];
  readonly deny: readonly string[];
  readonly shipped: boolean;
}

export interface Action {
  readonly action: string;
  readonly tier: string;
  readonly routes: readonly { readonly method: string; readonly path: string; readonly summary: string }[];
}

/** An unknown action or tier of the role table stops the start (decisions Q-AUTH-12). */
export class RoleTableError extends StartRefused {}

/** What groups say about sites. */
export interface SiteRules {
  exists(site: string): boolean;
  names(): readonly string[];
  /** `auth.requireSiteGroup`. */
  readonly groupRequired: boolean;
}

/** What a set of groups may do; the same object for the same groups. */
export interface Rights {
  readonly groups: readonly string[];
  readonly sites: readonly string[] | null;
  /** Held tiers, low to high. */
  readonly tiers: readonly Tier[];
  readonly actions: ReadonlySet<string>;
}

const SHIPPED: readonly { readonly name: string; readonly tier: Tier; readonly grant: readonly string[] }[] = [
  { name: 'viewer', tier: 'read', grant: [] },
  { name: 'operator', tier: 'operate', grant: [] },
  { name: 'lead-operator', tier: 'operate-lead', grant: [] },
  { name: 'engineer', tier: 'engineer', grant: [] },
  { name: 'supervisor', tier: 'supervise', grant: ['interlock:bypass'] }, // decisions Q-TIER-12
  { name: 'admin', tier: 'admin', grant: ['*'] }, // contract 1: holds every permission
];

export class Roles {
  readonly prefix: string;
  readonly roles: readonly Role[];
  readonly actions: readonly Action[];
  readonly keyActions: ReadonlySet<string>;
  /** What a panel may: it reads. */
  readonly watchActions: ReadonlySet<string>;
  readonly freshTokenActions: readonly string[];
  readonly #setOfGroup = new Map<string, ReadonlySet<string>>();
  readonly #rights = new Map<string, Rights>();

  readonly #sites: SiteRules;

  /** @throws RoleTableError naming an unknown action or tier. */
  constructor(prefix: string, entries: readonly RoleEntry[], mode: 'merge' | 'replace', rows: readonly RouteColumns[], sites: SiteRules) {
    this.prefix = prefix;
    this.#sites = sites;
    this.actions = actionsOf(rows);
    this.keyActions = new Set(rows.filter(isFenced).map((row) => row.action));
    this.freshTokenActions = [...new Set(rows.filter((row) => row.freshToken !== undefined).map((row) => row.action))].sort();
    this.roles = this.#compose(entries, mode);
    for (const role of this.roles) this.#setOfGroup.set(role.group, this.#setOf(role));
    this.watchActions = this.#watchActionsOf(rows);
  }

  get adminGroup(): string {
    return `${this.prefix}-admin`;
  }

  get sitePattern(): string {
    return `${this.prefix}-site-{name}`;
  }

  rightsOf(groups: readonly string[]): Rights {
    const key = groups.join('\n');
    let rights = this.#rights.get(key);
    if (!rights) {
      if (this.#rights.size >= 10_000) this.#rights.clear();
      this.#rights.set(key, (rights = this.#derive(groups)));
    }
    return rights;
  }

  /** Role groups whose members may do it, in the order of the table. */
  holdersOf(action: string): string[] {
    return [...this.#setOfGroup].filter(([, held]) => held.has(action)).map(([group]) => group);
  }

  /** A site was made or has gone: groups may name another set of sites now. */
  forgetRights(): void {
    this.#rights.clear();
  }

  /**
   * Groups fail closed (D-C-17): who mistypes a site group must not get every site.
   * @throws Refusal 400 for a group that is neither in the role table nor that of an existing site.
   */
  checkGroups(groups: readonly string[], held: readonly string[]): void {
    groups.forEach((group, i) => {
      if (held.includes(group) || this.#setOfGroup.has(group)) return;
      if (group.startsWith(this.#siteStart) && this.#sites.exists(group.slice(this.#siteStart.length))) return;
      const known = [...this.#setOfGroup.keys(), ...this.#sites.names().map((site) => this.#siteStart + site)];
      // who leaves out the prefix means the group that has it
      const near = nearest(group, known) ?? nearest(`${this.prefix}-${group}`, known);
      const roles = [...this.#setOfGroup.keys()].sort();
      throw invalid(
        'unknown_group',
        `groups[${i}]`,
        `group ${group} is neither a role nor the group of a site that exists${near === undefined ? '' : `; the nearest known one is ${near}`}; roles are ${roles.join(', ')}, sites ${this.sitePattern}`,
        {
          ...(near === undefined ? {} : { nearest: near }),
          known: roles,
        },
      );
    });
  }

  /** Tier `read` and nothing that changes anything, whatever a deployment grants to groups; what it denies to viewers is denied to panels too (AUTH-36). */
  #watchActionsOf(rows: readonly RouteColumns[]): ReadonlySet<string> {
    const denied = this.roles.find(({ group }) => group === `${this.prefix}-viewer`)?.deny ?? [];
    const changing = new Set(rows.filter(({ method, computes }) => method !== 'GET' && computes !== true).map(({ action }) => action));
    const readable = this.actions.filter(({ action, tier }) => (tier === 'read' || action === 'auth:me') && !changing.has(action));
    return new Set(readable.map(({ action }) => action).filter((action) => !denied.some((pattern) => matches(pattern, action))));
  }

  /** @param groups of `auth.secondFactor.requiredFor`. @throws RoleTableError for one that is in no row of the table: who meant another one would be less protected. */
  checkRequiring(groups: readonly string[]): void {
    for (const group of groups) {
      const named = group.replaceAll('{prefix}', this.prefix);
      if (!this.#setOfGroup.has(named))
        throw new RoleTableError(`auth.secondFactor.requiredFor: ${group} is no role group; they are ${[...this.#setOfGroup.keys()].sort().join(', ')}`);
    }
  }

  get #siteStart(): string {
    return `${this.prefix}-site-`;
  }

  #derive(groups: readonly string[]): Rights {
    const actions = new Set<string>();
    let highest = -1;
    for (const group of groups) {
      for (const action of this.#setOfGroup.get(group) ?? []) actions.add(action);
      const tier = this.roles.find((role) => role.group === group)?.tier;
      if (tier) highest = Math.max(highest, TIERS.indexOf(tier));
    }
    return { groups, sites: this.#sitesOf(groups), tiers: TIERS.slice(0, highest + 1), actions };
  }

  /** Confined to the union of the named sites, to none at all when none of them exists; an administrator is not confined (decisions Q-AUTH-13, D-C-17). */
  #sitesOf(groups: readonly string[]): readonly string[] | null {
    if (groups.includes(this.adminGroup)) return null;
    const named = groups.filter((group) => group.startsWith(this.#siteStart)).map((group) => group.slice(this.#siteStart.length));
    if (named.length === 0) return this.#sites.groupRequired ? [] : null;
    return named.some((site) => this.#sites.exists(site)) ? named.filter((site) => site !== '').sort() : [];
  }

  #compose(entries: readonly RoleEntry[], mode: 'merge' | 'replace'): Role[] {
    const table = new Map<string, Role>();
    if (mode === 'merge') {
      for (const { name, tier, grant } of SHIPPED) {
        const group = `${this.prefix}-${name}`;
        table.set(group, { group, tier, grant: grant.filter((action) => action === '*' || this.#known(action)), deny: [], shipped: true });
      }
    }
    for (const entry of entries) {
      const group = entry.group.replaceAll('{prefix}', this.prefix);
      for (const action of [...entry.grant, ...entry.deny]) {
        if (!this.#known(action)) throw new RoleTableError(`auth.roles: unknown action ${action} in the entry of ${group}`);
      }
      table.set(group, { group, tier: this.#tierOf(entry, table.get(group)), grant: entry.grant, deny: entry.deny, shipped: false });
    }
    return [...table.values()];
  }

  /** An omitted tier keeps the shipped one. */
  #tierOf(entry: RoleEntry, shipped: Role | undefined): Tier | null {
    if (entry.tier === undefined) return shipped?.tier ?? null;
    if (entry.tier === 'none') return null;
    const tier = TIERS.find((known) => known === entry.tier);
    if (!tier) throw new RoleTableError(`auth.roles: unknown tier ${entry.tier} in the entry of ${entry.group}`);
    return tier;
  }

  #known(action: string): boolean {
    return this.actions.some((known) => matches(action, known.action));
  }

  #setOf(role: Role): ReadonlySet<string> {
    const height = role.tier === null ? -1 : TIERS.indexOf(role.tier);
    const held = new Set<string>();
    for (const { action, tier } of this.actions) {
      const byTier = height >= 0 && TIERS.indexOf(tier as Tier) >= 0 && TIERS.indexOf(tier as Tier) <= height;
      // contract 1: the administrators hold every permission, less what the deployment denies them
      const granted = role.group === this.adminGroup || role.grant.some((pattern) => matches(pattern, action));
      if ((byTier || granted) && !role.deny.some((pattern) => matches(pattern, action))) held.add(action);
    }
    return held;
  }
}

/** `unit:*` names every action of a domain. */
function matches(pattern: string, action: string): boolean {
  return pattern === '*' || pattern === action || (pattern.endsWith(':*') && action.startsWith(pattern.slice(0, -1)));
}

function actionsOf(rows: readonly RouteColumns[]): Action[] {
  const table = new Map<string, { action: string; tier: string; routes: { method: string; path: string; summary: string }[] }>();
  for (const row of rows) {
    if (row.action === '-') continue;
    let entry = table.get(row.action);
    if (!entry) table.set(row.action, (entry = { action: row.action, tier: row.tier, routes: [] }));
    entry.routes.push({ method: row.method, path: row.path, summary: row.summary ?? '' });
  }
  return [...table.values()].sort((a, b) => (a.action < b.action ? -1 : 1));
}
