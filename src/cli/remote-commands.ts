/** Makes commander of the rows of the remote commands, and prints what comes of them. */
import { Command, Option } from 'commander';
import { guarded } from '../platform/base/guarded.js';
import { Box } from './remote/box.js';
import { KnownBoxes } from './remote/boxes.js';
import type { CommandContext, CommandRow, Given } from './remote/command.js';
import { COMMANDS } from './remote/commands.js';
import { type Envelope, ENVELOPE_VERSION, envelopeOf, EXIT, failureOf, type Outcome } from './remote/outcome.js';
import { TERMINAL } from './remote/terminal.js';

const GROUPS: Readonly<Record<string, string>> = {
  batch: 'batches: make, start, hold, restart, stop, abort, look',
  order: 'work orders',
  prompt: 'what the process asks people',
  alarm: 'alarms',
  recipe: 'master recipes and their lifecycle',
};

export function addRemoteCommands(program: Command): void {
  const groups = new Map<string, Command>();
  for (const row of COMMANDS) {
    const words = row.typed.split(' ');
    const first = words.findIndex((word) => /^[<[]/.test(word));
    const names = first < 0 ? words : words.slice(0, first);
    const args = first < 0 ? [] : words.slice(first);
    const [outer = '', inner] = names;
    const parent = inner === undefined ? program : groupOf(groups, program, outer);
    add(parent.command([inner ?? outer, ...args].join(' ')), names.join(' '), row);
  }
}

function groupOf(groups: Map<string, Command>, program: Command, name: string): Command {
  const known = groups.get(name) ?? program.command(name).description(GROUPS[name] ?? '');
  groups.set(name, known);
  return known;
}

function add(command: Command, name: string, row: CommandRow): void {
  command.description(row.about);
  for (const [flags, about] of row.options ?? []) command.option(flags, about);
  if (row.isLocal !== true) command.option('--box <box>', 'name or address; the box signed in to last').option('--site <site>', 'the only site, or the one chosen at sign-in');
  command.addOption(new Option('-o, --output <form>', 'what is printed').choices(['text', 'json']).default('text'));
  if (row.examples) command.addHelpText('after', `\nExamples:\n${row.examples.map((line) => `  ${line}`).join('\n')}`);
  command.action(() => run(name, row, command));
}

async function run(name: string, row: CommandRow, command: Command): Promise<void> {
  const options: Given = command.opts();
  const asJson = options.output === 'json';
  const given: { box?: Box } = {};
  const boxes = new KnownBoxes();
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const context: CommandContext = {
    boxes,
    terminal: TERMINAL,
    args: command.processedArgs.map((arg: unknown) => (typeof arg === 'string' ? arg : Array.isArray(arg) ? arg.join(' ') : '')),
    options,
    get box() {
      return (given.box ??= new Box(boxes, { box: text(options.box), site: text(options.site) }, TERMINAL));
    },
    print: (data, line) => print(asJson ? JSON.stringify({ apiVersion: ENVELOPE_VERSION, command: name, data }) : line),
  };
  try {
    tell(name, await row.run(context), asJson);
  } catch (fault) {
    const failure = failureOf(fault, given.box?.url ?? text(options.box) ?? context.args[0] ?? 'the box');
    if (asJson) print(JSON.stringify(envelopeOf(name, failure) satisfies Envelope, null, 2));
    else console.error(`lineside: ${failure.message}`);
    process.exitCode = failure.exitCode;
  }
}

function tell(name: string, outcome: Outcome, asJson: boolean): void {
  if (asJson) print(JSON.stringify(envelopeOf(name, outcome), null, 2));
  else if (outcome.text !== '') print(outcome.text);
  process.exitCode = outcome.exitCode ?? EXIT.ok;
}

/** Whoever reads may have gone: `lineside watch | head`. */
function print(text: string): void {
  guarded('output of a command', () => process.stdout.write(`${text}\n`));
}
