/** Who is signed in at the box, from where and since when; an administrator ends a session. */
import { useState } from 'preact/hooks';
import { endSessionOf, SESSIONS } from '../../data/access.js';
import { listPage } from '../../data/listed.js';
import { can } from '../../data/session.js';
import type { OpenSession } from '../../data/types.js';
import { words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { Confirm } from '../../parts/confirm.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

const text = words({
  en: {
    title: 'Sessions',
    who: 'Who',
    client: 'In a',
    clients: { browser: 'browser', program: 'program' },
    from: 'From',
    since: 'Since',
    used: 'Used last',
    ends: 'Ends at the latest',
    streams: 'Open pages',
    end: 'End',
    endText: (who: string, from: string) =>
      `Ends this session of ${who}${from === '' ? '' : `, from ${from}`}: its pages go to the sign-in at once, and what was typed there and not sent is lost. ${who} may sign in again.`,
    own: 'yours',
    ownText: 'This is the session in which you are here: you are signed out at once.',
    nobody: 'Nobody is signed in.',
  },
  de: {
    title: 'Sitzungen',
    who: 'Wer',
    client: 'In einem',
    clients: { browser: 'Browser', program: 'Programm' },
    from: 'Von',
    since: 'Seit',
    used: 'Zuletzt benutzt',
    ends: 'Endet spätestens',
    streams: 'Offene Seiten',
    end: 'Beenden',
    endText: (who, from) =>
      `Beendet diese Sitzung von ${who}${from === '' ? '' : `, von ${from}`}: ihre Seiten gehen sofort zur Anmeldung, und was dort eingegeben und nicht gesendet ist, geht verloren. ${who} kann sich wieder anmelden.`,
    own: 'Ihre',
    ownText: 'Das ist die Sitzung, in der Sie hier sind: Sie werden sofort abgemeldet.',
    nobody: 'Niemand ist angemeldet.',
  },
});

export const allSessionsView: ViewDefinition = {
  name: 'all-sessions',
  action: 'session:list',
  section: administration,
  title: () => text.title,
  component: AllSessionsView,
};

function AllSessionsView() {
  const [ending, setEnding] = useState<OpenSession | null>(null);
  const rows = useLog((cursor) => listPage<OpenSession>(SESSIONS, {}, cursor), []);
  const columns: readonly Column<OpenSession>[] = [
    { key: 'who', title: text.who, cell: ({ displayName, username }) => `${displayName} (${username})` },
    { key: 'client', title: text.client, cell: ({ client, userAgent }) => <span title={userAgent}>{text.clients[client]}</span> },
    { key: 'from', title: text.from, cell: ({ sourceIP }) => (sourceIP === '' ? '–' : sourceIP), isNumber: true },
    { key: 'since', title: text.since, cell: ({ createdAt }) => momentText(createdAt), isNumber: true },
    { key: 'used', title: text.used, cell: ({ lastActivityAt }) => momentText(lastActivityAt), isNumber: true },
    { key: 'ends', title: text.ends, cell: ({ expiresAt }) => momentText(expiresAt), isNumber: true },
    { key: 'streams', title: text.streams, cell: ({ streams }) => String(streams), isNumber: true },
    { key: 'end', title: text.end, cell: (session) => <EndButton session={session} onAsk={setEnding} /> },
  ];
  return (
    <section class="panel page" aria-labelledby="all-sessions-title" data-testid="all-sessions-view">
      <header class="page-head">
        <h2 id="all-sessions-title">{text.title}</h2>
      </header>
      <Table label={text.title} columns={columns} rows={rows} keyOf={({ id }) => id} empty={text.nobody} testid="all-sessions" />
      {ending && (
        <Confirm
          title={`${text.end}: ${ending.displayName}`}
          text={ending.current ? text.ownText : text.endText(ending.displayName, ending.sourceIP)}
          verb={text.end}
          testid="session-end"
          onSend={async () => {
            await endSessionOf(ending);
            rows.again();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </section>
  );
}

function EndButton({ session, onAsk }: { readonly session: OpenSession; readonly onAsk: (session: OpenSession) => void }) {
  if (!can('session:delete')) return session.current ? text.own : '';
  return (
    <>
      <button type="button" class="button" aria-label={`${text.end}: ${session.displayName}`} onClick={() => onAsk(session)} data-testid={`end-${session.username}`}>
        {text.end}
      </button>{' '}
      {session.current && <span class="hint">{text.own}</span>}
    </>
  );
}
