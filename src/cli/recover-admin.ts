/**
 * `lineside recover-admin`: makes a new administrator on the box itself, when nobody who is one can sign in any more. It asks the running box by a
 * file in its data directory, so control goes on, and only the user of the service and root can. The network has no way to it.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { RecoveryAnswer } from '../domains/access/recovery/request-file.js';
import type { Settings } from '../settings.js';
import type { Terminal } from './remote/terminal.js';

interface RecoverFlags {
  readonly user: string;
  readonly passwordStdin?: true;
  readonly dataDir: string;
  readonly config?: string;
  readonly json?: true;
}

/** Where the package keeps data and settings of the service. */
const SERVICE = { dataDir: '/var/lib/lineside', config: '/etc/lineside/config.yaml' } as const;
const LOOK_MS = 200;
/** The box looks every second; one that stands still for longer is not waited for. */
const LOOKS_MAX = 75;
const REFUSED_EXIT = 2;
const NAME_MAX = 64;

/** What a person has to put right. */
class RecoveryRefused extends Error {}

/** `checkout`: where the data is kept beside a checkout. */
export function recoverAdminCommand(program: Command, checkout: string): void {
  const isInstalled = existsSync(SERVICE.config);
  program
    .command('recover-admin')
    .description(
      'on the box itself: make a new administrator when nobody who is one can sign in; the running box does it, records it, and tells it until another administrator has acknowledged it',
    )
    .requiredOption('--user <name>', 'user name of the new administrator; no account has or had it')
    .option('--password-stdin', 'take his password from standard input')
    .option('--data-dir <folder>', 'of the box', isInstalled ? SERVICE.dataDir : checkout)
    .addOption(new Option('--config <file>', 'YAML file with its settings').default(isInstalled ? SERVICE.config : undefined))
    .option('--json', 'for a program')
    .action(async (flags: RecoverFlags) => {
      process.exitCode = await inWords(flags);
    });
}

async function inWords(flags: RecoverFlags): Promise<number> {
  const [{ StartRefused }, { CommandError }, { Refusal }] = await Promise.all([
    import('../platform/base/start-refused.js'),
    import('./remote/outcome.js'),
    import('../platform/base/refusal.js'),
  ]);
  try {
    const { message } = await recover(flags);
    const next = 'sign in, help the others (set a password, reset a second factor), and let another administrator acknowledge the alarm';
    console.log(flags.json ? JSON.stringify({ username: flags.user, message }, null, 2) : `${message}; it is in the audit trail\nnext: ${next}`);
    return 0;
  } catch (fault) {
    const isTold = [StartRefused, CommandError, Refusal, RecoveryRefused].some((known) => fault instanceof known) || (fault as NodeJS.ErrnoException).syscall !== undefined;
    if (!isTold) throw fault;
    console.error(`lineside: ${wordsOf(fault as NodeJS.ErrnoException, flags.dataDir)}`);
    return REFUSED_EXIT;
  }
}

function wordsOf({ code, syscall, message }: NodeJS.ErrnoException, dataDir: string): string {
  if (syscall === undefined) return message;
  if (code === 'EACCES' || code === 'EPERM') return `${dataDir} belongs to somebody else: run this as the user of the service, or as root`;
  if (code === 'EEXIST') return `somebody else is recovering an administrator of ${dataDir} right now: wait for it, or remove recover-admin.json there`;
  return code === 'ENOENT' ? `there is no data directory ${dataDir}: name it with --data-dir` : message;
}

async function recover({ user, passwordStdin, dataDir: given, config }: RecoverFlags): Promise<RecoveryAnswer> {
  const [{ readSettings }, requests, { TERMINAL, firstLine }] = await Promise.all([
    import('../settings.js'),
    import('../domains/access/recovery/request-file.js'),
    import('./remote/terminal.js'),
  ]);
  const dataDir = path.resolve(given);
  const settings = readSettings(['--data-dir', dataDir, ...(config === undefined ? [] : ['--config', config])], process.env, dataDir);
  const password = passwordStdin ? await firstLine(TERMINAL) : await askedTwice(TERMINAL, user);
  const id = randomUUID();
  const request = { id, username: user, passwordHash: await hashed(password, user, settings), systemUser: systemUser() };
  requests.removeAnswer(dataDir);
  requests.putRequest(dataDir, request);
  const ended = (): void => {
    requests.withdrawRequest(dataDir);
    process.exit(REFUSED_EXIT);
  };
  process.once('SIGINT', ended);
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    await pause(LOOK_MS);
    const answer = requests.readAnswer(dataDir, id);
    if (!answer) continue;
    requests.removeAnswer(dataDir);
    if (!answer.done) throw new RecoveryRefused(answer.message);
    return answer;
  }
  const untaken = requests.withdrawRequest(dataDir);
  throw new RecoveryRefused(
    untaken
      ? `no box runs with ${dataDir}: start it (lineside start --data-dir ${dataDir}) and repeat; one in rescue says on its page what to do`
      : `the box has taken the request and not answered it: look into its audit trail whether ${user} is there`,
  );
}

/** Who runs it; behind sudo that is root for everybody, so what sudo has told the command of him is said as such: whoever is root may say otherwise. */
function systemUser(): string {
  const user = userInfo().username.slice(0, NAME_MAX);
  const by = process.env.SUDO_USER?.replace(/[^\p{L}\p{N}._@\\-]/gu, '?').slice(0, NAME_MAX);
  return by && by !== user ? `${user} (sudo of ${by})` : user;
}

async function hashed(password: string, username: string, { passwordLengthMin, passwordWork }: Settings): Promise<string> {
  const { checkPassword, HASH_COST, PasswordHasher } = await import('../domains/access/passwords.js');
  checkPassword(password, username, passwordLengthMin);
  return new PasswordHasher({ ...HASH_COST, ln: passwordWork }).hash(password);
}

async function askedTwice(terminal: Terminal, username: string): Promise<string> {
  for (;;) {
    const first = await terminal.askSecret(`password of ${username}, to be from now on: `);
    if ((await terminal.askSecret('once more: ')) === first) return first;
    terminal.say('lineside: the two differ; try again');
  }
}
