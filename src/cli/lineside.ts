/** The `lineside` command: start, check-config, doctor, tls, backup, restore, recover-admin, replay, verify, routes, note-end, and the commands to a box (remote-commands.ts). Exit code 2 means that somebody has to put something right before a start can be (start-refused.ts), 3 that it would be in rescue and `--no-rescue` was given, 70 a fault of this program. */
import { writeSync } from 'node:fs';
import { Command, Option } from 'commander';
import { systemClock } from '../platform/base/clock.js';
import { openFatalFaults } from '../platform/base/fatal-faults.js';
import { guardedPromise } from '../platform/base/guarded.js';
import { StartRefused } from '../platform/base/start-refused.js';
import { UnloadableLibrary } from '../platform/base/unloadable-library.js';
import type { Appliance } from '../appliance/appliance.js';
import { backupCommands } from './backup.js';
import { consoleAddress } from './console-address.js';
import { doctorCommand } from './doctor.js';
import { endProcess } from './end-process.js';
import { recoverAdminCommand } from './recover-admin.js';
import { tlsCommand } from './tls.js';
import { openNotifySocket } from '../platform/service/notify-socket.js';
import { ServiceManager, watchdogOf } from '../platform/service/service-manager.js';
import { startMark } from '../platform/service/start-mark.js';
import { productOf } from './product.js';
import { noteEnd } from './note-end.js';
import type { ReplayOptions } from './replay.js';
import type { VerifyOptions } from './verify.js';
import { describeSettings, SettingsError, readSettings, showSettings, type Settings } from '../settings.js';

const PRODUCT = productOf(new URL('../../../', import.meta.url));
const BUILD = `lineside ${PRODUCT.version} ${PRODUCT.commit}`;
const FAULT_EXIT = 70;
/** Whatever hangs: a process that is not to be trusted is gone by then. */
const FAULT_END_MS = 4000;
/** Commands that ask no box. */
const HERE: ReadonlySet<string> = new Set(['start', 'check-config', 'replay', 'verify', 'doctor', 'note-end', 'routes', 'backup', 'restore', 'tls', 'recover-admin']);
const DATA_DIR_DEFAULT = '.lineside';

function settingsOrExit(flags: readonly string[]): Settings {
  try {
    const at = flags.indexOf('--data-dir');
    const dataDir = at >= 0 ? (flags[at + 1] ?? DATA_DIR_DEFAULT) : (process.env.LINESIDE_DATA_DIR ?? DATA_DIR_DEFAULT);
    return readSettings(flags, process.env, dataDir);
  } catch (fault) {
    if (!(fault instanceof SettingsError)) throw fault;
    console.error(`lineside: ${fault.message}`);
    process.exit(2);
  }
}

/** No stack helps whoever has to choose another Node or another system. */
function endUnloadable(fault: unknown): never {
  if (!(fault instanceof UnloadableLibrary)) throw fault;
  console.error(`lineside: ${fault.message}`);
  process.exit(2);
}

/** On the error stream, so that what `check-config` prints stays JSON. */
function tellWithoutEffect({ withoutEffect }: Settings): void {
  for (const note of withoutEffect) console.error(`lineside: ${note}`);
}

async function start(flags: readonly string[]): Promise<void> {
  const settings = settingsOrExit(flags);
  tellWithoutEffect(settings);
  const running: { appliance?: Pick<Appliance, 'fail'> | undefined } = {};
  const endByFault = endOnUncaught(settings.dataDir, running);
  const { startAppliance } = await import('../main.js').catch(endUnloadable);
  const { RescueNeeded } = await import('../appliance/rescue.js');
  const manager = new ServiceManager({
    socket: openNotifySocket(process.env, (problem) => console.error(`lineside: ${problem}`)),
    clock: systemClock,
    watchdogMs: watchdogOf(process.env, process.pid),
    hung: (why) => endByFault(new Error(why)),
  });
  const mark = startMark(process.env, systemClock);
  mark.begin();
  manager.starting();
  const stops = stopOnSignals((why) => manager.stopping(why));
  const appliance = await startAppliance(settings, PRODUCT, systemClock, (made) => {
    running.appliance = made;
  }).catch((fault: unknown) => {
    if (fault instanceof RescueNeeded || fault instanceof StartRefused) {
      console.error(`lineside: ${fault.message}`);
      process.exit(fault instanceof RescueNeeded ? 3 : 2);
    }
    console.error('lineside: the start has failed:', fault);
    running.appliance = undefined; // all its parts have stopped
    endByFault(fault);
    return new Promise<never>(() => undefined);
  });
  if (appliance.rescue.length > 0) {
    console.error(`lineside: in rescue, no unit is driven: ${appliance.rescue.join('; ')}`);
    for (const way of appliance.waysOn) console.error(`lineside:   ${way}`);
  }
  console.log(`operator console  ${consoleAddress(settings, appliance)}`);
  if (appliance.fingerprint !== '') console.log(`certificate       SHA-256 ${appliance.fingerprint}`);
  if (appliance.commissioningCode) console.log(`commissioning code  ${appliance.commissioningCode}   (create the first administrator with it)`);
  mark.end();
  manager.ready(appliance);
  stops.reach(appliance);
}

/** A start that hangs is not waited for longer; a supervisor would wait three times as long before it kills. */
const START_END_MS = 30_000;

/**
 * Obeys the signals from the beginning of the start: whoever asks for the end meanwhile has it in order when all parts are up, since
 * units may be scanned and devices driven already. One signal is enough; further ones change nothing.
 */
function stopOnSignals(tell: (why: string) => void): { reach(appliance: Appliance): void } {
  let asked: NodeJS.Signals | undefined;
  let reached: Appliance | undefined;
  let hanging: NodeJS.Timeout | undefined;
  /** A service has no terminal that could go: its manager says with SIGHUP that files have changed. */
  const isService = process.env.NOTIFY_SOCKET !== undefined;
  const stop = (appliance: Appliance, signal: NodeJS.Signals): void => {
    appliance.stop().then(
      () => {
        say(`lineside has stopped (${signal})`);
        endProcess(0, say);
      },
      (fault: unknown) => {
        say(`lineside has stopped (${signal}), not cleanly: ${fault instanceof Error ? fault.message : String(fault)}`);
        endProcess(1, say);
      },
    );
  };
  const hear = (signal: NodeJS.Signals): void => {
    if (asked) return;
    if (signal === 'SIGHUP' && isService) return guardedPromise('SIGHUP', () => reached?.reload() ?? Promise.resolve());
    asked = signal;
    tell(`stops (${signal})`);
    if (reached) return stop(reached, signal);
    say(`lineside stops when its start is through (${signal})`);
    hanging = setTimeout(() => process.exit(1), START_END_MS);
  };
  // SIGHUP: the session that started it has ended; its terminal may be gone, and what is printed there must not end the stop
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear);
  return {
    reach(appliance) {
      reached = appliance;
      clearTimeout(hanging);
      if (asked) stop(appliance, asked);
    },
  };
}

/**
 * An exception or a rejection that nobody caught: nobody knows what has been left half done, so the process goes no further
 * than to put the outputs of the plant to their fail-safe values and what was acknowledged on the disk. A supervisor starts it
 * again; after too many of them it finds itself in rescue. Exit code 70 is EX_SOFTWARE of sysexits.h.
 * @returns the same for a fault that was caught and that the process cannot go on with.
 */
function endOnUncaught(dataDir: string, running: { readonly appliance?: Pick<Appliance, 'fail'> | undefined }): (fault: unknown) => void {
  let ending = false;
  const end = (): void => {
    say('lineside has ended by a fault of its own; the log tells which');
    endProcess(FAULT_EXIT, say);
  };
  const endBy = (fault: unknown): void => {
    if (ending) return;
    ending = true;
    setTimeout(end, FAULT_END_MS);
    openFatalFaults(dataDir, BUILD, systemClock).note(fault);
    if (running.appliance) running.appliance.fail(fault).then(end, end);
    else end();
  };
  process.on('uncaughtException', (fault) => {
    console.error('lineside: a fault that nobody caught:', fault);
    endBy(fault);
  });
  return endBy;
}

/** At the very end the process must not leave before the line is out. */
function say(text: string): void {
  try {
    writeSync(1, `${text}\n`);
  } catch {
    // nobody reads it any more
  }
}

/** Every flag and setting, for `start --help`. */
function helpOnSettings(): string {
  const flags: [flag: string, meaning: string][] = [
    ['--data-dir <folder>', `where the appliance keeps its data (default ${DATA_DIR_DEFAULT})`],
    ['--config <file>', 'YAML file with settings (default <dataDir>/config.yaml)'],
    ['--insecure-allow-remote', 'with auth.mode none: listen on other addresses than this machine'],
    ['--accept-loss', 'go on although what was stored is missing or damaged; it stays on record'],
    ['--accept-faults', 'drive the plant again although the program has failed too often in a row'],
    ['--new-admin-code', 'after --accept-loss: show a code for a first administrator'],
    ['--no-rescue', 'end with exit code 3 where the appliance would start in rescue'],
  ];
  const rows = describeSettings();
  for (const { flag, key, meaning } of rows) if (flag !== '') flags.push([`${flag} <value>`, `${key}: ${meaning}`]);
  const settings = rows.map(({ key, environment, default: value, meaning }) => `  ${key}${value === '' ? '' : ` (${value})`}\n      ${meaning}\n      ${environment.join(', ')}`);
  return `
Flags:
${flags.map(([flag, meaning]) => `  ${flag.padEnd(32)}${meaning}`).join('\n')}

Settings, from the configuration file or the environment (docs/reference/settings.md):
${settings.join('\n')}`;
}

async function routes(): Promise<void> {
  const { routesText } = await import('./reference.js');
  process.stdout.write(routesText());
}

const program = new Command('lineside').version(PRODUCT.version);
program
  .command('start')
  .description('start the appliance')
  .usage('[flags]')
  .addHelpText('after', helpOnSettings)
  .allowUnknownOption()
  .allowExcessArguments()
  .action((_, command: Command) => start(command.args));
program
  .command('check-config')
  .description('report settings without starting')
  .allowUnknownOption()
  .allowExcessArguments()
  .action(async (_, command: Command) => {
    const { checkRoles } = await import('./check-roles.js');
    const settings = settingsOrExit(command.args);
    try {
      checkRoles(settings);
    } catch (fault) {
      if (!(fault instanceof StartRefused)) throw fault;
      console.error(`lineside: ${fault.message}`);
      process.exit(2);
    }
    tellWithoutEffect(settings);
    console.log(JSON.stringify(showSettings(settings), null, 2));
  });
program
  .command('replay')
  .description('execute a recording of a unit again; exit code 1 when it went another way, with the scan')
  .argument('<file>', 'recording, as the API hands it out')
  .option('-p, --port <name...>', 'ports to print: network.block.port, or the address of a tag')
  .option('--from <when>', 'first scan: a number, or a time such as 2026-11-21T08:30:00Z')
  .option('--to <when>', 'last scan')
  .addOption(new Option('--format <form>', 'of what is printed').choices(['table', 'csv']).default('table'))
  .option('--every-scan', 'print every scan, not only those with a change')
  .option('--list', 'print the ports there are')
  .action(async (file: string, options: ReplayOptions) => {
    const [{ replay }, { madeBy }] = await Promise.all([import('./replay.js'), import('../domains/units/recording-file.js')]);
    process.exitCode = await replay(file, options, madeBy(PRODUCT), { out: (text) => void process.stdout.write(text), say: (text) => console.error(text) });
  });
program
  .command('verify')
  .description('whether an exported audit trail is what a box signed, on any machine and without the box; exit code 1 when it is not')
  .argument('<file>', 'export of the trail (GET /api/v1/backup/audit), also packed by gzip')
  .option('--key <file>', 'public key of the box, member publicKey of GET /api/v1/audit/key: kept elsewhere than the export')
  .option('--anchors <file>', 'anchors that were kept outside the box, one a line')
  .option('--json', 'print the verdict as JSON')
  .action(async (file: string, options: VerifyOptions) => {
    const { verify } = await import('./verify.js');
    process.exitCode = await verify(file, options, { out: (text) => void process.stdout.write(text), say: (text) => console.error(text) });
  });
doctorCommand(program, process.env.LINESIDE_DATA_DIR ?? DATA_DIR_DEFAULT);
backupCommands(program, process.env.LINESIDE_DATA_DIR ?? DATA_DIR_DEFAULT, PRODUCT);
tlsCommand(program, process.env.LINESIDE_DATA_DIR ?? DATA_DIR_DEFAULT);
recoverAdminCommand(program, process.env.LINESIDE_DATA_DIR ?? DATA_DIR_DEFAULT);
program
  .command('note-end')
  .description('after an end that the program could not tell of itself (ExecStopPost= of systemd/lineside.service): counts it as a fault of the program where it is one')
  .requiredOption('--data-dir <folder>', 'of the appliance that has ended')
  .action(({ dataDir }: { readonly dataDir: string }) =>
    noteEnd(process.env, startMark(process.env, systemClock), (fault, hungMs) => openFatalFaults(dataDir, BUILD, systemClock).note(fault, hungMs)),
  );
program.command('routes').description('print method, path, action and tier of every route').action(routes);
if (process.argv[2] === 'start') await program.parseAsync();
else {
  const { endIfUnread, endWithReader } = await import('./end-with-reader.js');
  endWithReader();
  // the appliance carries none of it, nor what looks after it
  if (!HERE.has(process.argv[2] ?? '')) {
    const [{ addRemoteCommands }, { PROCESS }] = await Promise.all([import('./remote-commands.js'), import('./host.js')]);
    addRemoteCommands(program, PROCESS);
  }
  await program.parseAsync().catch(async (fault: unknown) => {
    endIfUnread(fault);
    const [{ tellFault }, { PROCESS }] = await Promise.all([import('./remote-commands.js'), import('./host.js')]);
    tellFault(fault, PROCESS);
  });
}
