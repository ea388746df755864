/**
 * `lineside doctor`: is this machine fit to run a line? Exit code 0 nothing is wrong, 1 warnings, 2 faults (or a use that cannot be understood).
 * `lineside doctor disk`: the check of the disk around a power cut, in two steps.
 */
import { execFile } from 'node:child_process';
import { existsSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Box } from '../appliance/box.js';
import type { Machine } from '../box/machine.js';
import type { Settings } from '../settings.js';

const ANSWER_MS_MAX = 10_000;
const PROFILES = fileURLToPath(new URL('../../firmware-profiles', import.meta.url));
const SECONDS_DEFAULT = 5;
/** A console of 115,200 bit/s keeps up with so many lines. */
const BLOCKS_PER_SECOND = 200;

interface DoctorOptions {
  readonly json?: true;
  readonly output?: string;
  readonly dataDir: string;
  readonly config?: string;
  readonly seconds: number;
  readonly only?: readonly string[];
  readonly root: string;
}

interface DiskOptions {
  readonly write?: true;
  readonly verify?: true;
  readonly run?: string;
  readonly acknowledged?: number;
  readonly dataDir: string;
  readonly blocks?: number;
}

function number(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isFinite(value) || value < min || value > max) throw new InvalidArgumentError(`must be a number from ${min} to ${max}.`);
    return value;
  };
}

/** Where the package keeps data and settings of the service; whoever asks about the machine means those where they are there. */
const SERVICE = { dataDir: '/var/lib/lineside', config: '/etc/lineside/config.yaml' } as const;

/** `checkout`: where the data is kept beside a checkout. */
export function doctorCommand(program: Command, checkout: string): void {
  const isInstalled = existsSync(SERVICE.config);
  const dataDir = isInstalled ? SERVICE.dataDir : checkout;
  const doctor = program
    .command('doctor')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2)) // 1 is for warnings
    .description('is this machine fit to run a line? Exit code 1 with warnings, 2 with faults')
    .option('--json', 'for a program')
    .addOption(new Option('-o, --output <form>', 'what is printed; json is the same as --json').choices(['text', 'json']))
    .option('--data-dir <folder>', 'of the appliance; its disk is measured', dataDir)
    .option('--config <file>', 'YAML file with settings', isInstalled ? SERVICE.config : undefined)
    .option('--seconds <number>', 'how long timers are watched', number(0.1, 86_400), SECONDS_DEFAULT)
    .option('--only <checks...>', 'names of checks')
    .option('--root <folder>', 'look at the recorded /sys and /proc of another machine; nothing is measured', '/')
    .action(async (options: DoctorOptions) => {
      endInOrder();
      process.exitCode = await runDoctor(options);
    });
  doctor
    .command('disk')
    .description('does the disk keep what it acknowledges? --write, cut the power, --verify')
    .option('--write', 'write blocks and print run and number of each that the disk has acknowledged, until the power goes')
    .option('--verify', 'say whether all blocks of --run up to --acknowledged are there')
    .option('--run <name>', 'the run that was printed with each number')
    .option('--acknowledged <number>', 'the last number that was printed', number(1, Number.MAX_SAFE_INTEGER))
    .option('--blocks <number>', 'write so many at most', number(1, 10_000_000))
    .option('--data-dir <folder>', 'any folder on the disk', dataDir)
    .action(async (options: DiskOptions, command: Command) => {
      // `--data-dir` of the command above it is the same one
      process.exitCode = await runDisk({ ...options, dataDir: command.optsWithGlobals<DiskOptions>().dataDir });
    });
}

/** As a shell tells them. */
const ENDED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A disk is measured without a look at the event loop: who ends the doctor meanwhile waits some seconds, and nothing is left behind. */
function endInOrder(): void {
  // heard until the exit begins: whoever asks twice meanwhile does not end it before its folder is gone
  for (const [signal, exitCode] of Object.entries(ENDED_BY)) process.on(signal, () => process.exit(exitCode));
}

async function runDoctor({ json: isJson, output, dataDir, config, seconds, only, root }: DoctorOptions): Promise<number> {
  const json = isJson === true || output === 'json';
  const [{ CHECKS, examine, exitCodeOf, told }, { Machine }, { chooseBox }, { systemClock }] = await Promise.all([
    import('../doctor/doctor.js'),
    import('../box/machine.js'),
    import('../appliance/box.js'),
    import('../platform/base/clock.js'),
  ]);
  const unknown = only?.filter((name) => !CHECKS.some((check) => check.name === name)) ?? [];
  if (unknown.length > 0) {
    console.error(`lineside: there is no check ${unknown.join(', ')}; there are ${CHECKS.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  const machine = new Machine(root);
  const { settings, fault } = await readableSettings(dataDir, config);
  const arch = machine.isHere ? process.arch : recordedArch(machine);
  const { box, fault: ofBox } = boxOf((wanted) => chooseBox(PROFILES, wanted, machine, arch), settings.boxProfile);
  const ask = machine.isHere ? askProgram : async () => undefined;
  const checks = only ? CHECKS.filter(({ name }) => only.includes(name)) : CHECKS;
  const show = (examination: Parameters<typeof told>[0]): void => {
    if (!json) process.stdout.write(told(examination));
  };
  const ofSettings = [fault, ofBox].flatMap((measured) =>
    measured === undefined
      ? []
      : [
          {
            check: 'settings',
            verdict: 'fault',
            measured,
            limit: 'settings that the appliance starts with',
            meaning: 'the appliance does not start',
            whatToDo: 'correct the setting; the rest was examined with the defaults',
          } as const,
        ],
  );
  for (const each of ofSettings) show(each);
  const examinations = [...ofSettings, ...(await examine({ machine, settings, box, clock: systemClock, seconds, ask }, checks, show))];
  const exitCode = exitCodeOf(examinations);
  if (json) process.stdout.write(`${JSON.stringify({ exitCode, profile: box.profile.name, checks: examinations }, null, 2)}\n`);
  else
    process.stdout.write(
      `\n${['nothing is wrong', 'there are warnings', 'there are faults: do not run a line on it'][exitCode]}${exitCode < 2 && examinations.some(({ verdict }) => verdict === 'unknown') ? '; what is unknown was not examined' : ''}\n`,
    );
  return exitCode;
}

/** Of /proc/sys/kernel/arch, as uname has it, in the words of Node; a kernel before 6.1 does not tell, and of those with a device tree we know arm64 boards only. */
function recordedArch(machine: Machine): string {
  const uname = machine.text('proc/sys/kernel/arch');
  if (uname === undefined) return machine.exists('proc/device-tree/model') ? 'arm64' : 'x64';
  return { x86_64: 'x64', aarch64: 'arm64', armv7l: 'arm' }[uname] ?? uname;
}

/** The box that the setting names, or the one that fits and why it is not that one. */
function boxOf(choose: (wanted: string) => Box, wanted: string): { readonly box: Box; readonly fault?: string } {
  try {
    return { box: choose(wanted) };
  } catch (fault) {
    return { box: choose('auto'), fault: (fault as Error).message };
  }
}

/** The settings of the appliance, or the defaults and why they were not to be had. */
async function readableSettings(dataDir: string, config: string | undefined): Promise<{ readonly settings: Settings; readonly fault?: string }> {
  const [{ readSettings, SettingsError }, { obstacleOf }] = await Promise.all([import('../settings.js'), import('../platform/base/data-file.js')]);
  const flags = ['--data-dir', dataDir, ...(config === undefined ? [] : ['--config', config])];
  try {
    const named = config ?? process.env.LINESIDE_CONFIG;
    const obstacle = named === undefined ? undefined : obstacleOf(named, { to: 'read' });
    if (obstacle) throw new SettingsError(obstacle.file, `the configuration file ${obstacle.file} ${obstacle.is}`);
    return { settings: readSettings(flags, process.env, dataDir) };
  } catch (fault) {
    if (!(fault instanceof SettingsError)) throw fault;
    const { mkdtempSync, rmSync } = await import('node:fs');
    const { tmpdir } = await import('node:os');
    const empty = mkdtempSync(`${tmpdir()}/lineside-doctor-`); // without a configuration file
    try {
      return { settings: { ...readSettings([], {}, empty), dataDir }, fault: fault.message };
    } finally {
      rmSync(empty, { recursive: true });
    }
  }
}

function askProgram(program: string, ...args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_MS_MAX, env: { ...process.env, LC_ALL: 'C' } }, (fault, text) => resolve(fault ? undefined : text));
  });
}

async function runDisk({ write, verify, run, acknowledged, dataDir, blocks }: DiskOptions): Promise<number> {
  const { blockFile, removeBlocks, RUN, verifyBlocks, writeBlocks } = await import('../doctor/power-cut.js');
  if (write === verify) {
    console.error('lineside: say --write before the power cut, or --verify with --run and --acknowledged after it');
    return 2;
  }
  if (write) {
    console.error(`lineside: writes ${blockFile(dataDir)}; keep what is printed on another machine, cut the power when some hundred lines have gone by`);
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const say = (kept: number, of: string): void => {
      writeSync(1, `kept ${of} ${kept}\n`);
      Atomics.wait(pause, 0, 0, 1000 / BLOCKS_PER_SECOND);
    };
    writeBlocks(dataDir, say, () => true, blocks);
    return 0;
  }
  if (run === undefined || !RUN.test(run) || acknowledged === undefined) {
    console.error('lineside: --verify needs --run and --acknowledged, as the last line that was printed before the power went has them: kept RUN NUMBER');
    return 2;
  }
  const kept = verifyBlocks(dataDir, run, acknowledged);
  if (kept === 'unfit') {
    console.log(`FAULT    ${blockFile(dataDir)} is no plain file: the blocks were written elsewhere`);
    return 2;
  }
  if (!kept) {
    console.log(`FAULT    ${blockFile(dataDir)} is not there: the disk has lost all of it, or it was written elsewhere`);
    return 2;
  }
  if (kept.lost.length > 0) {
    if (kept.whole === 0 && kept.otherRun !== undefined) {
      console.log(`FAULT    the blocks are of run ${kept.otherRun}, not of ${run}: the disk has brought back an earlier file in place of the one that it acknowledged`);
      console.log('           do:        look at the last line that was printed once more; if it is of this run, run no line on this disk');
      return 2;
    }
    console.log(
      `FAULT    the disk acknowledged ${acknowledged} blocks and has lost ${kept.lost.length >= 100 ? '100 or more' : kept.lost.length} of them, first ${kept.lost[0]}: it forgets what it has acknowledged`,
    );
    console.log('           do:        run no line on this disk; switch its cache off (hdparm -W0), or take another one, and try again');
    return 2;
  }
  console.log(
    `ok       all ${acknowledged} acknowledged blocks of run ${run} are there, ${kept.whole - acknowledged} more than that; repeat it ten times, a cache is not full every time`,
  );
  removeBlocks(dataDir);
  return 0;
}
