/** session: where a person is signed in, and the end of it. */
import type { CommandContext, CommandRow } from './command.js';
import { type Outcome, table } from './outcome.js';

const SESSIONS = '/api/v1/auth/me/sessions';

async function list({ box }: CommandContext): Promise<Outcome> {
  const sessions = await box.typed.all(SESSIONS, {});
  const rows = sessions.map(({ id, client, sourceIP, createdAt, lastActivityAt, streams, current }) => [
    current ? `* ${id}` : `  ${id}`,
    client,
    sourceIP === '' ? '-' : sourceIP,
    createdAt,
    lastActivityAt,
    String(streams),
  ]);
  return { data: sessions, text: table(['  session', 'in a', 'from', 'since', 'used last', 'streams'], rows) };
}

async function end({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove(`${SESSIONS}/{id}`, { path: { id } });
  return { data: { id }, text: `session ${id} has ended` };
}

export const SESSION_COMMANDS: readonly CommandRow[] = [
  { typed: 'session list', about: 'your open sessions on this box; * is the one of this command', run: list },
  {
    typed: 'session end <id>',
    about: 'end one of them, and its streams',
    names: { id: async ({ box }) => (await box.typed.all(SESSIONS, {})).map(({ id }) => id) },
    run: end,
  },
];
