/**
 * `lineside backup` and `lineside restore`: both work on the data directory itself, as the user of the service or as root, and ask no box.
 * Exit codes of restore: 0 everything was verified, 1 restored and something could not be, 2 refused and nothing changed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { BackupMade } from '../platform/backup/make.js';
import type { RestoreReport } from '../platform/backup/restore.js';
import type { SealedFor } from '../platform/backup/sealed-file.js';
import type { Settings } from '../settings.js';

/** Where the package keeps data and settings of the service. */
const SERVICE = { dataDir: '/var/lib/lineside', config: '/etc/lineside/config.yaml' } as const;
const REFUSED_EXIT = 2;

export interface HereProduct {
  readonly version: string;
  readonly commit: string;
}

interface BackupFlags {
  readonly to?: string;
  readonly recipient?: readonly string[];
  readonly passphraseFile?: string;
  readonly keysTo?: string;
  readonly dataDir: string;
  readonly config?: string;
  readonly json?: true;
}

interface RestoreFlags {
  readonly identity?: string;
  readonly passphraseFile?: string;
  readonly keys?: string;
  readonly dataDir: string;
  readonly acceptProblems?: true;
  readonly json?: true;
}

/** `checkout`: where the data is kept beside a checkout. */
export function backupCommands(program: Command, checkout: string, product: HereProduct): void {
  const isInstalled = existsSync(SERVICE.config);
  program
    .command('backup')
    .description('back up the box, running or not, into one encrypted file (format age)')
    .option('--to <file>', 'file that is made (default lineside-<device>-<time>.tar.gz.age here)')
    .option('-r, --recipient <key...>', 'public keys (age1…) of those who can open it (default setting backup.recipient)')
    .addOption(new Option('--passphrase-file <file>', 'encrypt for the passphrase in its first line instead').conflicts('recipient'))
    .option('--keys-to <file>', 'seal the keys of the box into a file of their own: whoever has both can be this box')
    .option('--data-dir <folder>', 'of the box', isInstalled ? SERVICE.dataDir : checkout)
    .option('--config <file>', 'YAML file with its settings', isInstalled ? SERVICE.config : undefined)
    .option('--json', 'for a program')
    .action((flags: BackupFlags) => orRefused(() => backup(flags, product)));
  program
    .command('restore')
    .description('restore a backup into an empty data directory; exit code 1 when something could not be verified, 2 when it was refused')
    .argument('<file>', 'the backup')
    .option('--identity <file>', 'the identity (AGE-SECRET-KEY-1…) that opens it')
    .addOption(new Option('--passphrase-file <file>', 'the passphrase that opens it, in the first line').conflicts('identity'))
    .option('--keys <file>', 'the keys that were sealed apart (backup --keys-to): without them the box gets new ones')
    .requiredOption('--data-dir <folder>', 'empty, or not there yet')
    .option('--accept-problems', 'restore what does not verify, and did not when the backup was made')
    .option('--json', 'for a program')
    .action((file: string, flags: RestoreFlags) => orRefused(() => restore(file, flags)));
}

/** @returns as the exit code says. */
async function orRefused(work: () => Promise<number>): Promise<void> {
  const [{ BackupRefused }, { SettingsError }, { StartRefused }] = await Promise.all([
    import('../platform/backup/refused.js'),
    import('../settings.js'),
    import('../platform/base/start-refused.js'),
  ]);
  process.umask(0o077); // what is made is for whoever makes it
  try {
    process.exitCode = await work();
  } catch (fault) {
    const isTold = fault instanceof BackupRefused || fault instanceof SettingsError || fault instanceof StartRefused || typeof (fault as NodeJS.ErrnoException).code === 'string';
    if (!isTold) throw fault;
    console.error(`lineside: ${(fault as Error).message}`);
    process.exitCode = REFUSED_EXIT;
  }
}

async function backup({ to, recipient, passphraseFile, keysTo, dataDir, config, json }: BackupFlags, product: HereProduct): Promise<number> {
  setPriority(constants.priority.PRIORITY_LOW); // the box that runs beside it goes first
  const [{ makeBackup }, { backupName }, settings] = await Promise.all([import('../platform/backup/make.js'), import('../platform/backup/names.js'), settingsOf(dataDir, config)]);
  const made = await makeBackup({
    dataDir: path.resolve(dataDir),
    configFile: settings.configFile,
    secretsDir: settings.secretsDir,
    to: path.resolve(to ?? backupName(path.resolve(dataDir), new Date())),
    sealedFor: await sealedFor(recipient ?? (settings.backupRecipient === null ? [] : [settings.backupRecipient]), passphraseFile),
    keysTo: keysTo === undefined ? undefined : path.resolve(keysTo),
    product,
  });
  console.log(json ? JSON.stringify(made, null, 2) : backupWords(made));
  return 0;
}

async function settingsOf(dataDir: string, config: string | undefined): Promise<Settings> {
  const { readSettings } = await import('../settings.js');
  return readSettings(['--data-dir', dataDir, ...(config === undefined ? [] : ['--config', config])], process.env, dataDir);
}

async function sealedFor(recipients: readonly string[], passphraseFile: string | undefined): Promise<SealedFor> {
  const [{ passphraseIn }, { BackupRefused }] = await Promise.all([import('../platform/backup/sealed-file.js'), import('../platform/backup/refused.js')]);
  if (passphraseFile !== undefined) return { passphrase: passphraseIn(readFileSync(passphraseFile, 'utf8'), passphraseFile) };
  if (recipients.length === 0)
    throw new BackupRefused(
      'a backup is encrypted for somebody: name a public key with --recipient age1… (age-keygen makes one) or in the setting backup.recipient, or a passphrase with --passphrase-file',
    );
  return { recipients };
}

function backupWords({ file, keysFile, bytes, contentBytes, deviceId, head, counts, files, missing, createdAt }: BackupMade): string {
  const lines = [
    `${file}  ${megabytes(bytes)} MB, of ${megabytes(contentBytes)} MB in ${files} files`,
    `box ${deviceId}, ${createdAt}`,
    `audit trail to record ${head.sequence} (${head.hash.slice(0, 16)}…), ${counts.archivedRecords} of them archived; ${counts.resources} resources, ${counts.facts} facts`,
    keysFile === '' ? 'without the keys of the box: --keys-to seals them into a file of their own' : `${keysFile}  the keys of the box; keep it apart from the backup`,
    ...missing.map((name) => `missing: ${name} was not there`),
  ];
  return lines.join('\n');
}

async function restore(file: string, { identity, passphraseFile, keys, dataDir, acceptProblems, json }: RestoreFlags): Promise<number> {
  const [{ restoreBox }, { identitiesIn, passphraseIn }, { BackupRefused }] = await Promise.all([
    import('../platform/backup/restore.js'),
    import('../platform/backup/sealed-file.js'),
    import('../platform/backup/refused.js'),
  ]);
  if (identity === undefined && passphraseFile === undefined) throw new BackupRefused('name what opens the backup: --identity <file> or --passphrase-file <file>');
  const openedWith =
    passphraseFile === undefined
      ? { identities: identitiesIn(readFileSync(identity ?? '', 'utf8'), identity ?? '') }
      : { passphrase: passphraseIn(readFileSync(passphraseFile, 'utf8'), passphraseFile) };
  const report = await restoreBox({ file, openedWith, keysFile: keys, dataDir, acceptProblems: acceptProblems === true });
  console.log(json ? JSON.stringify(report, null, 2) : restoreWords(report));
  return report.unverified.length + report.problems.length > 0 ? 1 : 0;
}

function restoreWords({ dataDir, deviceId, withKeys, backup: from, verified, unverified, problems, notes }: RestoreReport): string {
  const list = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]);
  return [
    `${dataDir} is box ${from.deviceId} of ${from.createdAt} (lineside ${from.product.version})`,
    `verified: ${verified.files} files with ${megabytes(from.bytes)} MB, ${verified.auditRecords} audit records and ${verified.archivedRecords} archived, ${verified.signedHeads} signed heads` +
      (withKeys ? `, ${verified.resources} resources, ${verified.facts} facts` : ''),
    `audit trail to record ${from.head.sequence}; what the box wrote after it is not here`,
    ...(withKeys ? [] : [`new keys were made: the box is ${deviceId} from now on`]),
    ...list('not verified', unverified),
    ...list('does not verify', problems),
    ...list('to know', notes),
    'next: make sure that the other box is off, start this one, and confirm it (lineside restored confirm): until then it drives no output',
  ].join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
