/** second-factor: what a person signs in with beside the password, and its reset by an administrator. */
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { PROOF } from './given.js';
import { type Outcome, table } from './outcome.js';
import { withCode } from './second-code.js';
import { firstLine } from './terminal.js';

const FACTOR = '/api/v1/auth/second-factor';

async function show({ box }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get(FACTOR, {});
  const { enrolled, required, app, enrolledAt, lastUsedAt, recoveryCodesLeft, passkeys } = found;
  if (!enrolled) return { data: found, text: `you have no second factor${required ? ', and your role requires one' : ''}: lineside second-factor set-up` };
  const rows = [
    ['since', enrolledAt ?? '-'],
    ['authenticator app', app ? 'yes' : 'no'],
    ['code used last', lastUsedAt ?? '-'],
    ...passkeys.map(({ id, name, lastUsedAt: usedAt, usable, rpID }) => [
      `passkey ${name} (${id})`,
      `${usedAt === null ? 'not used yet' : `used last ${usedAt}`}${usable ? '' : `; opens nothing, it was made for the host name ${rpID}`}`,
    ]),
    ['recovery codes left', String(recoveryCodesLeft)],
    ['required by your role', required ? 'yes' : 'no'],
  ];
  return { data: found, text: table(['second factor', ''], rows) };
}

async function setUp(context: CommandContext): Promise<Outcome> {
  const { box, terminal } = context;
  const password = await passwordOf(context);
  const { secret, uri } = await withCode(terminal, given(context), (proof) => box.typed.post(FACTOR, { body: { password, ...proof } }));
  terminal.say(`lineside: give this to your authenticator app, as an account of its own:\n  ${uri}\nor type its secret there: ${grouped(secret)}`);
  const code = await terminal.ask('code that the app shows now: ');
  const { recoveryCodes } = await box.typed.post(`${FACTOR}/confirm`, { body: { code } });
  return told(recoveryCodes, 'the second factor holds from now on; your other sessions have ended');
}

async function renew(context: CommandContext): Promise<Outcome> {
  const { box, terminal } = context;
  const password = await passwordOf(context);
  const { recoveryCodes } = await withCode(terminal, given(context), (proof) => box.typed.post(`${FACTOR}/recovery-codes`, { body: { password, ...proof } }));
  return told(recoveryCodes, 'these are your recovery codes from now on; those before are worth nothing');
}

async function remove(context: CommandContext): Promise<Outcome> {
  const { box, terminal } = context;
  const password = await passwordOf(context);
  await withCode(terminal, given(context), (proof) => box.typed.post(`${FACTOR}/remove`, { body: { password, ...proof } }));
  return { data: {}, text: 'you sign in with your password alone from now on' };
}

async function removePasskey(context: CommandContext): Promise<Outcome> {
  const { box, terminal } = context;
  const [id = ''] = context.args;
  const password = await passwordOf(context);
  await withCode(terminal, given(context), (proof) => box.typed.post(`${FACTOR}/passkeys/{id}/remove`, { path: { id }, body: { password, ...proof } }));
  return { data: { id }, text: `passkey ${id} opens nothing any more; your other sessions have ended` };
}

async function reset({ box, args: [username = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove('/api/v1/auth/users/{username}/second-factor', { path: { username } });
  return { data: { username }, text: `${username} has no second factor any more, and no open session; he signs in with his password and sets up a new one` };
}

function told(recoveryCodes: readonly string[], what: string): Outcome {
  const text = `${what}\nkeep these recovery codes apart from the app; each is good for one sign-in, and they are shown this once:\n${recoveryCodes.map((code) => `  ${code}`).join('\n')}`;
  return { data: { recoveryCodes }, text };
}

function given({ options }: CommandContext): string | undefined {
  return textOf(options, 'secondFactor');
}

async function passwordOf({ box, options, terminal }: CommandContext): Promise<string> {
  return options.passwordStdin === true ? firstLine(terminal) : terminal.askSecret(`password of ${box.username}: `);
}

function grouped(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).join(' ');
}

export const SECOND_FACTOR_COMMANDS: readonly CommandRow[] = [
  { typed: 'second-factor show', about: 'whether you have one, your passkeys, and how many recovery codes are left', run: show },
  { typed: 'second-factor set-up', about: 'set one up, or one for a new phone: a secret for an authenticator app, held from its first code on', options: PROOF, run: setUp },
  { typed: 'second-factor recovery-codes', about: 'new recovery codes in place of those before', options: PROOF, run: renew },
  { typed: 'second-factor remove', about: 'sign in with the password alone from now on', options: PROOF, run: remove },
  {
    typed: 'second-factor remove-passkey <id>',
    about: 'remove a passkey of yours, as show tells its id; one is made on the page of the box, by a browser',
    options: PROOF,
    run: removePasskey,
  },
  { typed: 'second-factor reset <user>', about: 'as an administrator: take it from somebody else who has lost it; his sessions end', run: reset },
];
