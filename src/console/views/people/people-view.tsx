/** The accounts of the box: who there is, with which roles, and what an administrator does to them (contract 1, Authentication). */
import { useState } from 'preact/hooks';
import { hasAccounts, USERS } from '../../data/access.js';
import { listPage } from '../../data/listed.js';
import { can, config } from '../../data/session.js';
import type { Account } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { rolesText, sitesText } from '../../common/role-text.js';
import { t } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';
import { NewPerson } from './new-person.js';
import { text } from './people-words.js';
import { Person } from './person.js';
import { stateText } from './state-text.js';

export const peopleView: ViewDefinition = { name: 'people', action: 'user:list', section: administration, title: () => text.title, component: PeopleView };

const COLUMNS: readonly Column<Account>[] = [
  { key: 'name', title: text.name, cell: ({ displayName }) => displayName },
  { key: 'username', title: t.username, cell: ({ username }) => username },
  { key: 'roles', title: text.roles, cell: ({ groups }) => rolesText(groups) },
  { key: 'sites', title: text.sites, cell: ({ groups }) => sitesText(groups) },
  { key: 'state', title: text.state, cell: stateText },
  { key: 'factor', title: text.factor, cell: ({ secondFactor }) => (secondFactor ? text.yes : text.no) },
  { key: 'last', title: text.lastLogin, cell: ({ lastLoginAt }) => (lastLoginAt === null ? text.never : fullMomentText(lastLoginAt)), isNumber: true },
];

function PeopleView({ id }: { readonly id: string }) {
  if (!hasAccounts()) return <NoAccounts />;
  return id === '' ? <Everybody /> : <Person key={id} username={id} />;
}

function NoAccounts() {
  return (
    <section class="panel page" aria-labelledby="people-title" data-testid="people-view">
      <h2 id="people-title">{text.title}</h2>
      <p class="note" data-testid="no-accounts">
        {config.value?.authMode === 'oidc' ? text.noAccounts.oidc : text.noAccounts.none}
      </p>
    </section>
  );
}

function Everybody() {
  const [isNew, setNew] = useState(false);
  const rows = useLog((cursor) => listPage<Account>(USERS, {}, cursor), []);
  return (
    <section class="panel page" aria-labelledby="people-title" data-testid="people-view">
      <header class="page-head">
        <h2 id="people-title">{text.title}</h2>
        <div class="page-filters">
          {can('user:create') && (
            <button type="button" class="button primary" onClick={() => setNew(true)} data-testid="person-new">
              {text.create}
            </button>
          )}
        </div>
      </header>
      <Table
        label={text.title}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ accountId }) => accountId}
        hrefOf={({ username }) => addressOf('people', username)}
        empty={text.nobody}
        testid="people"
      />
      {isNew && <NewPerson onClose={() => setNew(false)} onMade={rows.again} />}
    </section>
  );
}
