/** secret: what I/O modules sign in with. Its content comes from a prompt, standard input or a file, never from the command line, where others see it. */
import { readFileSync } from 'node:fs';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { PASSWORD, PROOF, proofGiven } from './given.js';
import { EXIT, type Outcome, table, usage } from './outcome.js';
import { SECOND_FACTOR } from './second-code.js';
import { typedTwice } from './typed-twice.js';

const SECRETS = '/api/v1/sites/{site}/secrets';
const MEMBERS = ['username', 'password', 'certificate', 'key'] as const;
const STDIN_WAY = 'give it in a line of standard input, with --stdin';
type Change = { -readonly [Member in (typeof MEMBERS)[number]]?: string | null };

async function list({ box }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const secrets = await box.typed.all(SECRETS, { path: { site } });
  const rows = secrets.map(({ name, members, storedIn, isReadable, changedAt, usedBy }) => [
    name,
    members.join(', '),
    storedIn,
    isReadable ? 'yes' : 'no: set it anew',
    changedAt === '' ? '-' : changedAt,
    usedBy.join(', '),
  ]);
  return { data: secrets, text: rows.length === 0 ? `there is no secret in ${site}` : table(['secret', 'members', 'in', 'readable', 'changed', 'used by'], rows) };
}

/** Lines of standard input, each taken once: the password to sign with first, then the one of the device. */
class Lines {
  readonly #context: CommandContext;
  #rest: string[] | undefined;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  async next(what: string): Promise<string> {
    this.#rest ??= (await this.#context.terminal.read()).split(/\r?\n/);
    const line = this.#rest.shift() ?? '';
    if (line === '') throw usage(`${what} is expected on standard input, and there is nothing${this.#context.options.passwordStdin === true ? ' in its line' : ''}`);
    return line;
  }
}

function fileOf({ options }: CommandContext, member: 'certificate' | 'key'): string | undefined {
  const file = textOf(options, member);
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

async function set(context: CommandContext): Promise<Outcome> {
  const { box, args, options, terminal } = context;
  const [name = ''] = args;
  const lines = new Lines(context);
  const signingPassword = options.passwordStdin === true ? await lines.next('the password to sign with') : '';
  const change: Change = {};
  const username = textOf(options, 'username');
  if (username !== undefined) change.username = username;
  for (const member of ['certificate', 'key'] as const) {
    const content = fileOf(context, member);
    if (content !== undefined) change[member] = content;
  }
  for (const word of textsOf(options, 'remove')) {
    const member = MEMBERS.find((each) => each === word);
    if (!member) throw usage(`--remove ${word}: a secret has ${MEMBERS.join(', ')}`);
    if (change[member] !== undefined) throw usage(`--remove ${word}: it is set by the same command`);
    change[member] = null;
  }
  // a person who names other members alone changes these alone
  const wantsPassword = options.stdin === true || options.password === true || Object.entries(change).every(([member, value]) => member === 'username' && value !== null);
  if (wantsPassword && change.password !== null)
    change.password = options.stdin === true ? await lines.next('the password of the device') : await typedTwice(terminal, `password of ${name}`, STDIN_WAY);
  const path = { site: await box.site(), name };
  const done = await box.signed(
    () => box.typed.put(`${SECRETS}/{name}`, { path, body: change }),
    proofGiven(options, () => Promise.resolve(signingPassword)),
  );
  if (done.usedBy.length === 0) terminal.say(`lineside: no I/O module names ${name} yet: security: { secretRef: { name: ${name} } }`);
  const users = done.usedBy.length === 0 ? '' : `; ${done.usedBy.join(', ')} ${done.usedBy.length === 1 ? 'connects' : 'connect'} anew with it`;
  return { data: done, text: `secret ${name} is set: ${done.members.join(', ')}${users}` };
}

async function remove(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [name = ''] = args;
  const path = { site: await box.site(), name };
  const lines = new Lines(context);
  await box.signed(
    () => box.typed.remove(`${SECRETS}/{name}`, { path }),
    proofGiven(options, () => lines.next('the password to sign with')),
  );
  return { data: { secret: name }, text: `secret ${name} is removed`, exitCode: EXIT.ok };
}

async function secretNames({ box }: CommandContext): Promise<readonly string[]> {
  return (await box.typed.all(SECRETS, { path: { site: await box.site() } })).map(({ name }) => name);
}

export const SECRET_COMMANDS: readonly CommandRow[] = [
  { typed: 'secret list', about: 'secrets of the site by name and members, where they are kept, and the I/O modules that name them; no content', run: list },
  {
    typed: 'secret set <name>',
    about: 'set or rotate a secret: its password is asked for without being shown, or taken from standard input; what is not named stays, and the modules that use it connect anew',
    options: [
      ['--username <name>', 'that the device knows'],
      ['--stdin', 'take the password of the device from a line of standard input'],
      ['--password', 'ask for a password also where a certificate, a key or --remove is given'],
      ['--certificate <file>', 'PEM'],
      ['--key <file>', 'PEM, without a passphrase'],
      ['--remove <member...>', `take away ${MEMBERS.join(', ')}`],
      [PASSWORD[0], `${PASSWORD[1]}; with --stdin it is the first line, and the password of the device the second`],
      SECOND_FACTOR,
    ],
    names: { name: secretNames, remove: () => Promise.resolve(MEMBERS) },
    examples: [
      'lineside secret set plc-login --username line-1',
      'pass show plc | lineside secret set plc-login --stdin',
      'lineside secret set ua-client --certificate client.pem --key client.key',
    ],
    run: set,
  },
  { typed: 'secret delete <name>', about: 'remove a secret that no I/O module names', options: PROOF, names: { name: secretNames }, run: remove },
];
