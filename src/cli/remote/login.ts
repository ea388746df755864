/** login, logout, boxes: who talks to which box. */
import path from 'node:path';
import type { Answered } from '../../client/typed.js';
import { anonymous, Box } from './box.js';
import { addressOf, checkName } from './boxes.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { type Outcome, table, usage } from './outcome.js';
import { SECOND_FACTOR, withCode } from './second-code.js';
import { firstLine, type Terminal } from './terminal.js';
import { trustFor } from './trust.js';

const LOCAL_ADDRESS = 'http://localhost:8090';

type Session = Answered<'/api/v1/auth/login', 'post'>;

async function login({ args: [given = ''], options, boxes, terminal }: CommandContext): Promise<Outcome> {
  const known = boxes.find(given === '' ? undefined : given);
  const url = given === '' ? (known?.box.url ?? LOCAL_ADDRESS) : addressOf(known?.box.url ?? given);
  const name = textOf(options, 'name') ?? known?.name ?? new URL(url).host;
  checkName(name);
  const site = textOf(options, 'site') ?? known?.box.site ?? '';
  const caFile = textOf(options, 'caFile');
  const wish = {
    caFile: caFile === undefined ? undefined : path.resolve(caFile),
    fingerprint: textOf(options, 'fingerprint'),
    known: known?.box.url === url ? known.box.trust : undefined,
  };
  const trust = await trustFor(url, wish, terminal);
  const api = anonymous(url, trust);
  const config = await api.get('/api/v1/auth/config', {});
  if (config.authMode === 'oidc')
    throw usage(`${url} signs in at ${config.oidc?.issuer ?? 'an identity provider'}, in a browser: open ${url}/login; this command signs in with accounts of a box only`);
  if (config.authMode === 'none') {
    boxes.keep(name, { url, username: '', accessToken: '', refreshToken: '', site, trust }, { current: true });
    return { data: { box: name, url, username: '' }, text: `${url} asks nobody who he is; it is box ${name} from now on` };
  }
  if (new URL(url).protocol === 'http:' && !isThisMachine(url)) terminal.say(`lineside: ${url} speaks plain HTTP: whoever listens on the network can read the password`);
  const code = textOf(options, 'code');
  if (config.firstAdminRequired && code === undefined) throw usage(`${url} has no administrator yet: become it with --code and the commissioning code that the box shows`);
  const username = textOf(options, 'user') ?? (known?.box.username || undefined) ?? (await terminal.ask('user name: '));
  const asked = (): Promise<string> => (code === undefined ? terminal.askSecret(`password of ${username}: `) : askedTwice(terminal, `password of ${username}, to be from now on`));
  const password = options.passwordStdin === true ? await firstLine(terminal) : await asked();
  const session: Session =
    code === undefined
      ? await withCode(terminal, textOf(options, 'secondFactor'), (proof) => api.post('/api/v1/auth/login', { body: { username, password, ...proof } }))
      : await api.post('/api/v1/auth/first-admin', { body: { code, username, password } }).then(() => api.post('/api/v1/auth/login', { body: { username, password } }));
  boxes.keep(name, { url, username, accessToken: session.accessToken, refreshToken: session.refreshToken ?? '', site, trust }, { current: true });
  if (session.user.mustChangePassword) {
    const next = await askedTwice(
      terminal,
      'the password was given to you by somebody else; your own from now on',
      'sign in once at a terminal or on the panel, and choose it there',
    );
    const box = new Box(boxes, { box: name }, terminal);
    await box.typed.post('/api/v1/auth/password', { body: { currentPassword: password, newPassword: next } });
  }
  if (session.user.mustEnrolSecondFactor)
    terminal.say('lineside: your role requires a second factor; nothing else is open to you until you have one: lineside second-factor set-up');
  const { displayName, tiers } = session.user;
  const data = { box: name, url, username, displayName, tiers };
  return { data, text: `signed in to ${url} as ${displayName} (${tiers.join(', ')}); it is box ${name} from now on` };
}

/** What nobody has typed before, and nobody sees. */
async function askedTwice(terminal: Terminal, question: string, way?: string): Promise<string> {
  for (;;) {
    const first = await terminal.askSecret(`${question}: `, way);
    if ((await terminal.askSecret('once more: ')) === first) return first;
    terminal.say('lineside: the two differ; try again');
  }
}

function isThisMachine(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

async function logout({ args: [given = ''], boxes, terminal }: CommandContext): Promise<Outcome> {
  const known = boxes.find(given === '' ? undefined : given);
  if (!known) throw usage(given === '' ? 'you are signed in to no box' : `you are not signed in to ${given}`);
  try {
    if (known.box.accessToken !== '') await new Box(boxes, { box: known.name }, terminal).typed.post('/api/v1/auth/logout', {});
  } catch (fault) {
    terminal.say(`lineside: ${known.box.url} could not be told (${(fault as Error).message}); its session ends by itself`);
  }
  boxes.forget(known.name);
  return { data: { box: known.name }, text: `signed out of ${known.name}` };
}

async function list({ boxes }: CommandContext): Promise<Outcome> {
  const { current, boxes: known } = boxes.all();
  const rows = Object.entries(known).map(([name, { url, username, site }]) => ({ name, url, username, site, current: name === current }));
  const cells = rows.map((row) => [row.current ? `* ${row.name}` : `  ${row.name}`, row.url, row.username, row.site]);
  return { data: rows, text: rows.length === 0 ? 'you are signed in to no box: lineside login ADDRESS' : table(['  name', 'address', 'user', 'site'], cells) };
}

export const LOGIN_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'login [address]',
    about: 'sign in to a box; its token is kept for you alone',
    options: [
      ['--user <name>', 'user name'],
      ['--password-stdin', 'take the password from standard input'],
      SECOND_FACTOR,
      ['--name <name>', 'what you call the box; its address where it is left out'],
      ['--site <site>', 'what later commands are about that name no site'],
      ['--ca-file <file>', 'PEM file of the authority that vouches for the certificate of the box'],
      ['--fingerprint <sha256>', 'SHA-256 of the certificate of the box, as lineside tls show tells it; asked for once at a terminal'],
      ['--code <code>', 'commissioning code, as the box shows it: makes you its first administrator'],
    ],
    examples: [
      'lineside login 192.168.1.20 --user anna',
      'lineside login localhost:8090 --code XXXX-XXXX-XXXX --user anna',
      'lineside login https://192.168.1.20:8090 --user anna',
    ],
    isLocal: true,
    run: login,
  },
  { typed: 'logout [box]', about: 'end the session and forget the box', isLocal: true, run: logout },
  { typed: 'boxes', about: 'the boxes that you have signed in to', isLocal: true, run: list },
];
