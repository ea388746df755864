/** Makes commander of the rows of the remote commands, and prints what comes of them. */
import { type Command, type CommanderError, Option } from 'commander';
import { once } from 'node:events';
import { assert } from '../platform/base/assert.js';
import { candidatesOf } from './candidates.js';
import { Box } from './remote/box.js';
import { KnownBoxes } from './remote/boxes.js';
import type { CommandContext, CommandRow, Given } from './remote/command.js';
import { COMMANDS } from './remote/commands.js';
import { type CommandError, type Envelope, ENVELOPE_VERSION, envelopeOf, EXIT, failureOf, type Outcome, usage } from './remote/outcome.js';
import { plainLine, plainText } from './remote/plain.js';
import { TERMINAL } from './remote/terminal.js';

interface Group {
  readonly about: string;
  /** Lines below the help: how its commands go together. */
  readonly examples: readonly string[];
}

const GROUPS: Readonly<Record<string, Group>> = {
  batch: {
    about: 'batches: make, start, hold, restart, stop, abort, look. A batch is named by its batchID, the name of its resource, or its work order',
    examples: [
      'lineside batch create --recipe resin-a --id B-12 --quantity 20',
      'lineside batch preflight B-12',
      'lineside batch start B-12 --wait',
      'lineside batch show B-12',
      'lineside batch hold B-12 --reason "sample looks cloudy"',
      'lineside batch restart B-12',
      'lineside batch wait B-12 --timeout 2h && lineside record B-12 --wait --format xml',
    ],
  },
  order: { about: 'work orders, as the MES sends them', examples: ['lineside order create WO-7 --product resin-a', 'lineside batch start WO-7', 'lineside order show WO-7'] },
  prompt: {
    about: 'what the process asks people, and their answers',
    examples: ['lineside prompt list', 'lineside prompt answer PHASE/ID 7.2 --reason "measured at the bench"'],
  },
  alarm: {
    about: 'alarms: look, acknowledge, shelve',
    examples: ['lineside alarm list', 'lineside alarm ack NAME --comment "valve is stuck"', 'lineside alarm shelve NAME 30m', 'lineside alarm history --since 8h'],
  },
  recipe: {
    about: 'master recipes and their lifecycle: Draft, Approved, Released, Effective, Withdrawn',
    examples: [
      'lineside recipe rehearse pilsner',
      'lineside recipe approve pilsner --reason "reviewed"',
      'lineside recipe release pilsner --reason "tried"',
      'lineside recipe activate pilsner --reason "go"',
    ],
  },
  io: { about: 'signals of devices, raw', examples: ['lineside io list', 'lineside io show plc --watch', 'lineside io write plc valve.cmd true'] },
  fault: {
    about: 'devices in latched fault: look, and reset when the cause is mended',
    examples: ['lineside fault list', 'lineside fault reset xv105 --reason "limit switch was dirty"'],
  },
  phase: {
    about: 'phases, operations and unit procedures run by hand on a unit that is Idle, without a batch',
    examples: [
      'lineside phase start heat --unit rx101 --param target=80 --wait',
      'lineside phase list',
      'lineside phase stop RUN --reason "trial is over" --wait',
      'lineside phase reset RUN --reason "unit is free again"',
    ],
  },
  records: {
    about: 'the status of batch records: Open, Reviewed, Finalized. lineside record BATCH reads one',
    examples: [
      'lineside records list --status Open',
      'lineside records review WO-7 Accepted --comment "yield as planned"',
      'lineside records finalize WO-7 --reason "reviewed and released"',
    ],
  },
  tag: { about: 'tags of control modules', examples: ['lineside tag list', 'lineside tag read xv101.state'] },
};

export function addRemoteCommands(program: Command): void {
  // commands take it over from here
  program.exitOverride(endOfUse).showHelpAfterError('(--help tells what there is)');
  const groups = new Map<string, Command>();
  const rows = new Map<Command, CommandRow>();
  for (const row of COMMANDS) {
    const words = row.typed.split(' ');
    const first = words.findIndex((word) => /^[<[]/.test(word));
    const names = first < 0 ? words : words.slice(0, first);
    const args = first < 0 ? [] : words.slice(first);
    const [outer = '', inner] = names;
    const parent = inner === undefined ? program : groupOf(groups, program, outer);
    const command = parent.command([inner ?? outer, ...args].join(' '));
    rows.set(command, row);
    add(command, names.join(' '), row);
  }
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const found = await candidatesOf(program, words, (command, options) => {
        const row = rows.get(command);
        return row && { row, context: contextOf('__complete', row, [], options, {}) };
      });
      // a shell would take what was escaped as the name
      process.stdout.write(
        found
          .filter((candidate) => plainLine(candidate) === candidate)
          .map((candidate) => `${candidate}\n`)
          .join(''),
      );
    });
}

function groupOf(groups: Map<string, Command>, program: Command, name: string): Command {
  const group = GROUPS[name];
  assert(group, `the group ${name} of commands says what it is about`);
  const { about, examples } = group;
  const known = groups.get(name) ?? program.command(name).description(about).addHelpText('after', examplesText(examples));
  groups.set(name, known);
  return known;
}

function add(command: Command, name: string, row: CommandRow): void {
  command.description(row.about);
  for (const [flags, about] of row.options ?? []) command.option(flags, about);
  if (row.isLocal !== true) command.option('--box <box>', 'name or address; the box signed in to last').option('--site <site>', 'the only site, or the one chosen at sign-in');
  command.addOption(new Option('-o, --output <form>', 'what is printed').choices(['text', 'json']).default('text'));
  if (row.examples) command.addHelpText('after', examplesText(row.examples));
  command.action(() => run(name, row, command));
}

function examplesText(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** What a command has to work with; `made` keeps the box, so that its address can be told. */
function contextOf(name: string, row: CommandRow, args: readonly string[], options: Given, made: { box?: Box }): CommandContext {
  const asJson = options.output === 'json';
  const boxes = new KnownBoxes(undefined, (text) => TERMINAL.say(text));
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    boxes,
    terminal: TERMINAL,
    args,
    options,
    get box() {
      return (made.box ??= new Box(boxes, { box: text(options.box), site: row.isLocal === true ? undefined : text(options.site) }, TERMINAL));
    },
    async print(data, line) {
      print(asJson ? JSON.stringify({ apiVersion: ENVELOPE_VERSION, command: name, data }) : plainText(line));
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
    },
  };
}

async function run(name: string, row: CommandRow, command: Command): Promise<void> {
  process.exitCode = EXIT.ok; // also where its reader goes before it is through
  const options: Given = command.opts();
  const asJson = options.output === 'json';
  const goesOn = typeof row.goesOn === 'function' ? row.goesOn(options) : row.goesOn === true;
  const indent = goesOn ? 0 : 2;
  const made: { box?: Box } = {};
  const args = command.processedArgs.map((arg: unknown) => (typeof arg === 'string' ? arg : Array.isArray(arg) ? arg.join(' ') : ''));
  try {
    const outcome = await row.run(contextOf(name, row, args, options, made));
    tell(name, outcome, asJson && !goesOn);
  } catch (fault) {
    const failure = failureOf(fault, made.box?.url ?? (typeof options.box === 'string' ? options.box : (args[0] ?? 'the box')));
    if (asJson) print(JSON.stringify(envelopeOf(name, failure) satisfies Envelope, null, indent));
    else tellFailure(failure);
    process.exitCode = failure.exitCode;
  }
}

/** Of a command without an envelope: what it did not foresee, a file above all. */
export function tellFault(fault: unknown): void {
  const failure = failureOf(fault, 'the box');
  tellFailure(failure);
  process.exitCode = failure.exitCode;
}

function tellFailure({ message, told }: CommandError): void {
  TERMINAL.say(`lineside: ${message}`);
  if (typeof told.stack === 'string') TERMINAL.say(told.stack);
}

function tell(name: string, outcome: Outcome, asJson: boolean): void {
  if (asJson) print(JSON.stringify(envelopeOf(name, outcome), null, 2));
  // what goes into a file or to a program is the content to the letter
  else if (outcome.text !== '') print(outcome.isContent === true && process.stdout.isTTY !== true ? outcome.text : plainText(outcome.text));
  process.exitCode = outcome.exitCode ?? EXIT.ok;
}

/** A command line that cannot be understood; commander has told on the error stream what is wrong with it. */
function endOfUse({ exitCode, message }: CommanderError): never {
  if (exitCode === 0) process.exit(EXIT.ok);
  const given = process.argv.slice(2);
  const end = given.findIndex((word) => word.startsWith('-'));
  const at = given.findIndex((word) => word === '-o' || word === '--output');
  if (given[at + 1] === 'json' || given.includes('--output=json') || given.includes('-ojson')) {
    const words = given.slice(0, Math.min(2, end < 0 ? 2 : end));
    print(JSON.stringify(envelopeOf(words.join(' '), usage(message.replace(/^error: /, ''))), null, 2));
  }
  process.exit(EXIT.usage);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
