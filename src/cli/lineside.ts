/** The `lineside` command: start, check-config, replay, routes. Exit code 2 means that a setting or the data directory is at fault. */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { ReplayOptions } from './replay.js';
import { SettingsError, readSettings, showSettings, type Settings } from '../settings.js';

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
  const { startAppliance } = await import('../main.js');
  const appliance = await startAppliance(settings, PRODUCT).catch((fault: unknown) => {
    console.error(`lineside: ${fault instanceof Error ? fault.message : String(fault)}`);
    process.exit(2);
  });
  console.log(`operator console  http://${settings.listen === '0.0.0.0' ? 'localhost' : settings.listen}:${appliance.port}/hmi`);
  if (appliance.commissioningCode) console.log(`commissioning code  ${appliance.commissioningCode}   (create the first administrator with it)`);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    void appliance.stop().then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

async function routes(): Promise<void> {
  const { routesText } = await import('./reference.js');
  process.stdout.write(routesText());
}

const program = new Command('lineside').version(PACKAGE.version);
program
  .command('start')
  .description('start the appliance')
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
