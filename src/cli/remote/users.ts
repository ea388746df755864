/** user: accounts of the box, as an administrator keeps them. A password is typed, or comes by standard input. */
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { type Outcome, table, usage } from './outcome.js';
import { firstLine } from './terminal.js';
import { typedTwice } from './typed-twice.js';

const USERS = '/api/v1/auth/users';
const SESSIONS = '/api/v1/auth/sessions';
const LOCKOUTS = '/api/v1/auth/lockouts';

type User = Answered<'/api/v1/auth/users/{username}', 'get'>;

async function list({ box }: CommandContext): Promise<Outcome> {
  const users = await box.typed.all(USERS, {});
  const locked = await lockedOf(box);
  const rows = users.map((user) => [
    user.username,
    user.displayName,
    stateOf(user, locked.get(user.username)),
    user.secondFactor ? 'yes' : 'no',
    user.lastLoginAt ?? 'never',
    user.groups.join(', '),
  ]);
  return { data: users, text: rows.length === 0 ? 'there is no account' : table(['user', 'name', 'state', 'second factor', 'signed in last', 'groups'], rows) };
}

async function lockedOf({ typed }: CommandContext['box']): Promise<ReadonlyMap<string, string>> {
  return new Map((await typed.all(LOCKOUTS, {})).map(({ username, lockedUntil }) => [username, lockedUntil]));
}

function stateOf({ enabled, mustChangePassword }: User, lockedUntil: string | undefined): string {
  if (!enabled) return 'disabled';
  if (lockedUntil !== undefined) return `locked until ${lockedUntil}`;
  return mustChangePassword ? 'enabled, new password first' : 'enabled';
}

async function show({ box, args: [username = ''] }: CommandContext): Promise<Outcome> {
  const user = await box.typed.get(`${USERS}/{username}`, { path: { username } });
  const rows = [
    ['name', user.displayName],
    ['email', user.email ?? '-'],
    ['state', stateOf(user, (await lockedOf(box)).get(user.username))],
    ['groups', user.groups.join(', ')],
    ['second factor', user.secondFactor ? 'yes' : 'no'],
    ['made', user.createdAt],
    ['signed in last', user.lastLoginAt ?? 'never'],
    ['password changed', user.passwordChangedAt],
  ];
  return { data: user, text: table([username, ''], rows) };
}

function passwordOf(context: CommandContext, username: string): Promise<string> {
  const { options, terminal } = context;
  return options.passwordStdin === true ? firstLine(terminal) : typedTwice(terminal, `password of ${username}`, PASSWORD_WAY);
}

async function add(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [username = ''] = args;
  const email = textOf(options, 'email');
  const password = await passwordOf(context, username);
  const body = {
    username,
    password,
    displayName: textOf(options, 'name') ?? username,
    groups: [...textsOf(options, 'group')],
    mustChangePassword: options.keepPassword !== true,
    ...(email === undefined ? {} : { email }),
  };
  const user = await box.typed.post(USERS, { body });
  const may = user.groups.length === 0 ? 'is in no group and may nothing yet: lineside user groups' : `is in ${user.groups.join(', ')}`;
  return { data: user, text: `${username} ${may}${user.mustChangePassword ? '; the password is changed at the first sign-in' : ''}` };
}

async function groups({ box, args: [username = ''], several }: CommandContext): Promise<Outcome> {
  const user = await box.typed.put(`${USERS}/{username}`, { path: { username }, body: { groups: [...several] } });
  return { data: user, text: `${username} is in ${user.groups.join(', ')}, and in no other group` };
}

async function setEnabled({ box, args: [username = ''] }: CommandContext, enabled: boolean): Promise<Outcome> {
  const user = await box.typed.put(`${USERS}/{username}`, { path: { username }, body: { enabled } });
  return { data: user, text: enabled ? `${username} can sign in` : `${username} cannot sign in any more, and has no open session` };
}

async function setPassword(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [username = ''] = args;
  const newPassword = await passwordOf(context, username);
  const mustChangePassword = options.keepPassword !== true;
  await box.typed.post(`${USERS}/{username}/password`, { path: { username }, body: { newPassword, mustChangePassword } });
  return { data: { username }, text: `${username} has a new password and no open session${mustChangePassword ? '; it is changed at the next sign-in' : ''}` };
}

async function unlock({ box, args: [username = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove(`${LOCKOUTS}/{username}`, { path: { username } });
  return { data: { username }, text: `${username} is locked no longer` };
}

async function remove({ box, args: [username = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove(`${USERS}/{username}`, { path: { username } });
  return { data: { username }, text: `the account ${username} is closed for good; its name is not given again, and what it signed stays` };
}

async function sessions({ box, args: [username = ''] }: CommandContext): Promise<Outcome> {
  const open = (await box.typed.all(SESSIONS, {})).filter((each) => username === '' || each.username === username);
  const rows = open.map(({ id, username: of, client, sourceIP, createdAt, lastActivityAt }) => [id, of, client, sourceIP === '' ? '-' : sourceIP, createdAt, lastActivityAt]);
  return { data: open, text: rows.length === 0 ? 'there is no open session' : table(['session', 'user', 'in a', 'from', 'since', 'used last'], rows) };
}

async function endSession({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  if (id === '') throw usage('name a session: lineside user sessions');
  await box.typed.remove(`${SESSIONS}/{id}`, { path: { id } });
  return { data: { id }, text: `session ${id} has ended` };
}

const namesOf = async ({ box }: CommandContext): Promise<readonly string[]> => (await box.typed.all(USERS, {})).map(({ username }) => username);
const groupsOf = async ({ box }: CommandContext): Promise<readonly string[]> => (await box.typed.get('/api/v1/auth/policy', {})).roles.map(({ group }) => group);

const PASSWORD_WAY = 'give it on standard input, with --password-stdin';
const NEW_PASSWORD = ['--password-stdin', 'take the password of the account from standard input'] as const;
const KEEP = ['--keep-password', 'it need not be changed at the next sign-in: for accounts of programs'] as const;
const named = { user: namesOf };

export const USER_COMMANDS: readonly CommandRow[] = [
  { typed: 'user list', about: 'accounts of the box, with their groups and what keeps them from signing in', run: list },
  { typed: 'user show <user>', about: 'one of them', names: named, run: show },
  {
    typed: 'user add <user>',
    about: 'make an account; its password is typed without being shown, and changed at the first sign-in',
    options: [['--name <name>', 'of the person'], ['--email <address>', 'of the person'], ['--group <group...>', 'may be repeated'], NEW_PASSWORD, KEEP],
    names: { group: groupsOf },
    examples: ['lineside user add olga --name "Olga Meier" --group lineside-operator lineside-site-north'],
    run: add,
  },
  { typed: 'user groups <user> <group...>', about: 'put it into these groups, and no others', names: { ...named, group: groupsOf }, run: groups },
  { typed: 'user disable <user>', about: 'it cannot sign in any more; its sessions end', names: named, run: (context) => setEnabled(context, false) },
  { typed: 'user enable <user>', about: 'it can sign in again', names: named, run: (context) => setEnabled(context, true) },
  { typed: 'user password <user>', about: 'set its password; its sessions end', options: [NEW_PASSWORD, KEEP], names: named, run: setPassword },
  { typed: 'user unlock <user>', about: 'let somebody in again who has mistyped too often', names: named, run: unlock },
  { typed: 'user delete <user>', about: 'close an account for good', names: named, run: remove },
  { typed: 'user sessions [user]', about: 'open sessions of everybody, or of one account', names: named, run: sessions },
  { typed: 'user end-session <session>', about: 'end a session of somebody, and its streams', run: endSession },
];
