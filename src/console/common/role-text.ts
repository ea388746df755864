/** What people call roles and the sites that groups confine to. A group that a deployment has named itself is called so. */
import { config } from '../data/session.js';
import { words } from './strings.js';

const text = words({
  en: {
    roles: { viewer: 'Viewer', operator: 'Operator', 'lead-operator': 'Lead operator', engineer: 'Engineer', supervisor: 'Supervisor', admin: 'Administrator' },
    everySite: 'every site',
  },
  de: {
    roles: { viewer: 'Betrachter', operator: 'Bediener', 'lead-operator': 'Schichtführer', engineer: 'Ingenieur', supervisor: 'Betriebsleiter', admin: 'Administrator' },
    everySite: 'jeder Standort',
  },
});

/** Without the prefix of the deployment. */
function plain(group: string): string {
  const prefix = `${config.value?.groupPrefix ?? ''}-`;
  return group.startsWith(prefix) ? group.slice(prefix.length) : group;
}

export function roleText(group: string): string {
  const name = plain(group);
  return (text.roles as Readonly<Record<string, string>>)[name] ?? name;
}

export function siteGroup(site: string): string {
  return `${config.value?.groupPrefix ?? ''}-site-${site}`;
}

const SITE = 'site-';

export function rolesOf(groups: readonly string[]): readonly string[] {
  return groups.filter((group) => !plain(group).startsWith(SITE));
}

export function rolesText(groups: readonly string[]): string {
  return rolesOf(groups).map(roleText).join(', ') || '–';
}

/** Where his groups let him be. An administrator is confined to no site. */
export function sitesText(groups: readonly string[]): string {
  const named = groups.map(plain).filter((name) => name.startsWith(SITE));
  if (named.length === 0 || groups.some((group) => plain(group) === 'admin')) return text.everySite;
  return named.map((name) => name.slice(SITE.length)).join(', ');
}
