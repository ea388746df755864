/**
 * Who may do what: every action of the gateway with the roles that hold it, as `auth/policy` tells them, found by the words in which people ask;
 * and of one action the roles and the people (contract 1, Authentication 4 to 6).
 */
import { useEffect, useState } from 'preact/hooks';
import { hasAccounts, readAccounts, readPolicy } from '../../data/access.js';
import { can, config } from '../../data/session.js';
import type { Account, AuthPolicy } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { roleText, sitesText } from '../../common/role-text.js';
import { t, words } from '../../common/strings.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';
import { actionWords } from './action-words.js';

const text = words({
  en: {
    title: 'Roles',
    ask: 'Who can … ?',
    deed: 'What is done',
    tier: 'From',
    may: 'may',
    none: 'No action fits these words.',
    back: 'All actions',
    unknown: 'There is no such action.',
    roles: 'These roles may',
    people: 'These people can',
    nobody: 'Nobody: no account that is enabled has one of these roles.',
    elsewhere: 'The accounts are those of your organisation: who is in these groups stands there.',
    everybody: 'With authentication off, everybody.',
    hidden: 'You may not read the list of accounts.',
    fresh: 'It is signed: the password is asked for again.',
    factor: (roles: string) => `A second factor is required of: ${roles}.`,
    changedBy: 'What a role may is set in auth.roles of the configuration, and read at the start.',
  },
  de: {
    title: 'Rollen',
    ask: 'Wer kann … ?',
    deed: 'Was getan wird',
    tier: 'Ab',
    may: 'darf',
    none: 'Keine Handlung passt zu diesen Worten.',
    back: 'Alle Handlungen',
    unknown: 'Diese Handlung gibt es nicht.',
    roles: 'Diese Rollen dürfen es',
    people: 'Diese Personen können es',
    nobody: 'Niemand: kein freigegebenes Konto hat eine dieser Rollen.',
    elsewhere: 'Die Konten sind die Ihrer Organisation: wer in diesen Gruppen ist, steht dort.',
    everybody: 'Bei abgeschalteter Anmeldung alle.',
    hidden: 'Sie dürfen die Liste der Konten nicht lesen.',
    fresh: 'Es wird unterschrieben: das Kennwort wird noch einmal verlangt.',
    factor: (roles) => `Ein zweiter Faktor wird verlangt von: ${roles}.`,
    changedBy: 'Was eine Rolle darf, steht in auth.roles der Konfiguration und wird beim Start gelesen.',
  },
});

export const rolesView: ViewDefinition = { name: 'roles', action: 'auth:policy', section: administration, title: () => text.title, component: RolesView };

type Action = AuthPolicy['actions'][number];

/** Those that only say who somebody is have no role: everybody has them. */
function hasRoles({ tier }: Action): boolean {
  return tier !== 'self' && tier !== 'none';
}

function deedText({ action, routes }: Action): string {
  return actionWords[action] || routes[0]?.summary || action;
}

/** What people ask about comes first; the gateway tells them in the order of their domains. */
function inOrder(a: Action, b: Action): number {
  return Number(b.action in actionWords) - Number(a.action in actionWords);
}

function RolesView({ id }: { readonly id: string }) {
  const [policy, setPolicy] = useState<AuthPolicy | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    readPolicy().then(setPolicy, (refused: unknown) => setFault(faultText(refused)));
  }, []);
  return (
    <section class="panel page" aria-labelledby="roles-title" data-testid="roles-view">
      <ReadFault text={fault} />
      {policy && (id === '' ? <Matrix policy={policy} /> : <WhoCan key={id} policy={policy} action={id} />)}
    </section>
  );
}

function Matrix({ policy }: { readonly policy: AuthPolicy }) {
  const { q = '' } = view.value.query;
  const wanted = q.toLowerCase().split(/\s+/);
  const found = policy.actions
    .filter(hasRoles)
    .filter((each) => wanted.every((part) => `${deedText(each)} ${each.action}`.toLowerCase().includes(part)))
    .sort(inOrder);
  const rows = useLog(() => Promise.resolve({ items: found, nextCursor: null, total: found.length }), [policy, q]);
  const columns: readonly Column<Action>[] = [
    { key: 'deed', title: text.deed, cell: deedText },
    { key: 'tier', title: text.tier, cell: ({ tier }) => t.tiers[tier] ?? '–' },
    ...policy.roles.map(({ group }) => ({
      key: group,
      title: roleText(group),
      cell: ({ groups }: Action) => (groups.includes(group) ? <span aria-label={text.may}>✓</span> : ''),
    })),
  ];
  return (
    <>
      <header class="page-head">
        <h2 id="roles-title">{text.title}</h2>
        <div class="page-filters">
          <input
            class="select"
            type="search"
            aria-label={text.ask}
            placeholder={text.ask}
            value={q}
            onInput={(event) => narrow({ q: event.currentTarget.value })}
            data-testid="roles-ask"
          />
        </div>
      </header>
      <Table label={text.title} columns={columns} rows={rows} keyOf={({ action }) => action} hrefOf={({ action }) => addressOf('roles', action)} empty={text.none} testid="roles" />
      <p class="hint">{text.changedBy}</p>
    </>
  );
}

function WhoCan({ policy, action }: { readonly policy: AuthPolicy; readonly action: string }) {
  const [people, setPeople] = useState<readonly Account[] | null>(null);
  const [fault, setFault] = useState('');
  const found = policy.actions.find((each) => each.action === action);
  const isKnown = hasAccounts() && can('user:list');
  useEffect(() => {
    if (isKnown) readAccounts().then(setPeople, (refused: unknown) => setFault(faultText(refused)));
  }, [isKnown]);
  const asked = policy.secondFactorRequiredFor.filter((group) => found?.groups.includes(group));
  return (
    <>
      <header class="page-head">
        <a class="button" href={addressOf('roles')}>
          {text.back}
        </a>
        <h2 id="roles-title">{found ? deedText(found) : action}</h2>
      </header>
      <ReadFault text={fault} />
      {found ? (
        <div class="stack" data-testid="who-can">
          <p class="hint mono">{action}</p>
          {policy.freshTokenActions.includes(action) && <p>{text.fresh}</p>}
          {asked.length > 0 && <p>{text.factor(asked.map(roleText).join(', '))}</p>}
          <h3>{text.roles}</h3>
          <ul data-testid="who-can-roles">
            {found.groups.map((group) => (
              <li key={group}>{roleText(group)}</li>
            ))}
          </ul>
          <h3>{text.people}</h3>
          {isKnown ? people && <Holders people={people.filter(({ enabled, groups }) => enabled && groups.some((group) => found.groups.includes(group)))} /> : <p>{whyUnknown()}</p>}
        </div>
      ) : (
        <p class="empty">{text.unknown}</p>
      )}
    </>
  );
}

function whyUnknown(): string {
  if (hasAccounts()) return text.hidden;
  return config.value?.authMode === 'oidc' ? text.elsewhere : text.everybody;
}

function Holders({ people }: { readonly people: readonly Account[] }) {
  if (people.length === 0) return <p>{text.nobody}</p>;
  return (
    <ul class="link-list" data-testid="who-can-people">
      {people.map(({ accountId, username, displayName, groups }) => (
        <li key={accountId}>
          <a class="button" href={addressOf('people', username)}>
            {displayName}
          </a>{' '}
          {groups.length > 0 && <span class="hint">{sitesText(groups)}</span>}
        </li>
      ))}
    </ul>
  );
}
