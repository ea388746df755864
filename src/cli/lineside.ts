/** The `lineside` command: start, check-config, replay, routes. Exit code 2 means that a setting or the data directory is at fault, 3 that what was stored is missing and `--no-rescue` was given. */
import { readFileSync, writeSync } from 'node:fs';
import { Command, Option } from 'commander';
import { waysOn } from '../platform/http/rescue.js';
import type { ReplayOptions } from './replay.js';
import { describeSettings, SettingsError, readSettings, showSettings, type Settings } from '../settings.js';

const PACKAGE = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { readonly version: string };
const PRODUCT = { version: PACKAGE.version, commit: process.env.LINESIDE_COMMIT ?? '' };
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

/** On the error stream, so that what `check-config` prints stays JSON. */
function tellWithoutEffect({ withoutEffect }: Settings): void {
  for (const note of withoutEffect) console.error(`lineside: ${note}`);
}

async function start(flags: readonly string[]): Promise<void> {
  const settings = settingsOrExit(flags);
  tellWithoutEffect(settings);
  const { RescueNeeded, startAppliance } = await import('../main.js');
  const appliance = await startAppliance(settings, PRODUCT).catch((fault: unknown) => {
    console.error(`lineside: ${fault instanceof Error ? fault.message : String(fault)}`);
    process.exit(fault instanceof RescueNeeded ? 3 : 2);
  });
  if (appliance.rescue.length > 0) {
    console.error(`lineside: in rescue, no unit is driven: ${appliance.rescue.join('; ')}`);
    for (const way of waysOn(settings.dataDir)) console.error(`lineside:   ${way}`);
  }
  console.log(`operator console  http://${settings.listen === '0.0.0.0' ? 'localhost' : settings.listen}:${appliance.port}/hmi`);
  if (appliance.commissioningCode) console.log(`commissioning code  ${appliance.commissioningCode}   (create the first administrator with it)`);
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    appliance.stop().then(
      () => {
        say(`lineside has stopped (${signal})`);
        process.exit(0);
      },
      (fault: unknown) => {
        say(`lineside has stopped (${signal}), not cleanly: ${fault instanceof Error ? fault.message : String(fault)}`);
        process.exit(1);
      },
    );
  };
  // SIGHUP: the session that started it has ended; its terminal may be gone, and what is printed there must not end the stop
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
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
  const flags = [
    ['--data-dir <folder>', `where the appliance keeps its data (default ${DATA_DIR_DEFAULT})`],
    ['--config <file>', 'YAML file with settings (default <dataDir>/config.yaml)'],
    ['--insecure-allow-remote', 'with auth.mode none: listen on other addresses than this machine'],
    ['--accept-loss', 'go on although what was stored is missing or damaged; it stays on record'],
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

const program = new Command('lineside').version(PACKAGE.version);
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
  .action((_, command: Command) => {
    const settings = settingsOrExit(command.args);
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
program.command('routes').description('print method, path, action and tier of every route').action(routes);
await program.parseAsync();
