/** Where the person himself is signed in, and the end of what he does not use or does not know. Opened from the menu. */
import { useEffect, useState } from 'preact/hooks';
import { getAll, remove } from '../../data/api.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

interface OwnSession {
  readonly id: string;
  readonly client: 'browser' | 'program';
  readonly sourceIP: string;
  readonly userAgent: string;
  readonly createdAt: string;
  readonly lastActivityAt: string;
  readonly current: boolean;
}

const PATH = '/api/v1/auth/me/sessions';
const say = () =>
  words({
    en: {
      title: 'My sessions',
      text: 'Where you are signed in on this box. End what you do not know or do not use any more, and have an administrator set another password where somebody else has used yours.',
      client: 'In a',
      clients: { browser: 'browser', program: 'program' },
      from: 'From',
      since: 'Since',
      used: 'Used last',
      end: 'End',
      current: 'this one',
    },
    de: {
      title: 'Meine Sitzungen',
      text: 'Wo Sie an dieser Box angemeldet sind. Beenden Sie, was Sie nicht kennen oder nicht mehr brauchen, und lassen Sie einen Administrator ein anderes Kennwort setzen, wenn jemand anders Ihres benutzt hat.',
      client: 'In einem',
      clients: { browser: 'Browser', program: 'Programm' },
      from: 'Von',
      since: 'Seit',
      used: 'Zuletzt benutzt',
      end: 'Beenden',
      current: 'diese',
    },
  });

export const sessionsView: ViewDefinition = { name: 'sessions', title: () => say().title, component: SessionsView };

function SessionsView() {
  const [sessions, setSessions] = useState<readonly OwnSession[]>([]);
  const [fault, setFault] = useState('');
  const sending = useSend();
  const read = async (): Promise<void> => {
    try {
      setSessions(await getAll<OwnSession>(`${PATH}?limit=100`));
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => void read(), []);
  const end = (id: string): void =>
    void sending.run(async () => {
      await remove(`${PATH}/${encodeURIComponent(id)}`);
      await read();
    });
  const text = say();
  return (
    <section class="panel page" aria-labelledby="sessions-title" data-testid="sessions-view">
      <header class="page-head">
        <h2 id="sessions-title">{text.title}</h2>
      </header>
      <p class="hint">{text.text}</p>
      <Fault text={fault || sending.fault} code={sending.code} />
      <table class="table" data-testid="sessions">
        <thead>
          <tr>
            <th scope="col">{text.client}</th>
            <th scope="col">{text.from}</th>
            <th scope="col">{text.since}</th>
            <th scope="col">{text.used}</th>
            <th scope="col">{text.end}</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ id, client, sourceIP, userAgent, createdAt, lastActivityAt, current }) => (
            <tr key={id} data-testid="session" data-current={String(current)}>
              <td title={userAgent}>{text.clients[client]}</td>
              <td class="number">{sourceIP === '' ? '–' : sourceIP}</td>
              <td class="number">{momentText(createdAt)}</td>
              <td class="number">{momentText(lastActivityAt)}</td>
              <td>
                {current ? (
                  text.current
                ) : (
                  <button type="button" class="button" disabled={sending.busy} onClick={() => end(id)} data-testid="session-end">
                    {text.end}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
