/** Makes commander of the rows of the remote commands, and prints what comes of them. */
import { type Command, type CommanderError, Option } from 'commander';
import { assert } from '../platform/base/assert.js';
import { candidatesOf } from './candidates.js';
import { Box } from './remote/box.js';
import type { CommandContext, CommandRow, Given } from './remote/command.js';
import { COMMANDS } from './remote/commands.js';
import { type CommandError, type Envelope, ENVELOPE_VERSION, envelopeOf, EXIT, failureOf, type Outcome, usage } from './remote/outcome.js';
import { plainJson, plainLine, plainText } from './remote/plain.js';
import { flagNamed } from './remote/flag-named.js';
import type { Host } from './host.js';

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
  io: {
    about: 'signals of devices, raw; loop checks and the acceptance of cables',
    examples: [
      'lineside io list',
      'lineside io show plc --watch',
      'lineside io write plc valve.cmd true',
      'lineside io loop-check plc --reason "loop check of hall 2"',
      'lineside io acceptance begin plc --reason "acceptance of hall 2"',
    ],
  },
  'io acceptance': {
    about: 'acceptance of the cable of a module: a person pulls it, restarts the device and the like, and tells it; the box only looks, and a signed page says what it has shown',
    examples: [
      'lineside io acceptance begin plc --reason "acceptance of hall 2"',
      'lineside io acceptance mark plc cable-pulled --note "at the switch of hall 2"',
      'lineside io acceptance mark plc over',
      'lineside io acceptance finish plc',
      'lineside io acceptance show plc',
    ],
  },
  secret: {
    about: 'secrets of devices: what an I/O module signs in with. Set and removed; no command tells their content',
    examples: ['lineside secret list', 'lineside secret set plc-login --username line-1', 'lineside secret delete plc-login'],
  },
  'second-factor': {
    about: 'codes of an authenticator app, asked for beside your password',
    examples: ['lineside second-factor set-up', 'lineside second-factor show', 'lineside second-factor reset anna'],
  },
  session: { about: 'your sessions on a box', examples: ['lineside session list', 'lineside session end ID'] },
  user: {
    about: 'accounts of the box: made, put into groups, disabled, closed. lineside second-factor reset takes a lost second factor away',
    examples: [
      'lineside user add olga --name "Olga Meier" --group lineside-operator lineside-site-north',
      'lineside user groups olga lineside-lead-operator lineside-site-north',
      'lineside user disable olga',
    ],
  },
  key: {
    about: 'API keys of an MES: made, replaced with an overlap, revoked',
    examples: ['lineside key create mes --expires 365d --out mes.key', 'lineside key rotate mes --overlap 2d --out mes-new.key', 'lineside key revoke mes'],
  },
  hold: {
    about: 'legal holds: what one keeps is removed by nobody until it is lifted',
    examples: [
      'lineside hold set claim-7 --batch B-12 --reason "claim 7 of the customer"',
      'lineside hold list --state Standing',
      'lineside hold lift claim-7 --reason "claim 7 is settled"',
    ],
  },
  review: {
    about: 'periodic reviews of the audit trail and of who has which access, signed',
    examples: ['lineside review due', 'lineside review access', 'lineside review sign audit-trail Accepted --from 90d --remarks "no change without its request"'],
  },
  'review sign': {
    about: 'sign a review',
    examples: [
      'lineside review sign audit-trail Accepted --from 90d --remarks "no change without its request"',
      'lineside review sign user-access Findings --digest DIGEST --remarks "olga has left"',
    ],
  },
  audit: {
    about: 'the audit trail, taken away with its signature',
    examples: ['lineside audit export trail.ndjson', 'lineside audit key box.pem', 'lineside verify trail.ndjson --key box.pem'],
  },
  opcua: {
    about: 'OPC UA servers, asked before they are configured or afterwards. A server is named by its address (opc.tcp://host:4840) or by the I/O module that is configured for it',
    examples: [
      'lineside opcua endpoints opc.tcp://192.168.10.30:4840',
      'lineside opcua browse plc',
      "lineside opcua read plc 'nsu=urn:plant;s=Level'",
      'lineside opcua trust plc',
      'lineside opcua identity',
    ],
  },
  import: {
    about: 'what vendors describe in files of their own, taken into a plant',
    examples: ['lineside import mtp dosing.mtp --name dosing', 'lineside import mtp dosing.mtp --name dosing --apply'],
  },
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
  change: {
    about: 'change requests: ask, look, decide',
    examples: [
      'lineside change request -f heat.yaml --reason "the new raw material melts at 63 degrees"',
      'lineside change show heat-65',
      'lineside change approve heat-65 --reason "agrees with the data sheet"',
    ],
  },
  restored: { about: 'a box that was restored from a backup', examples: ['lineside restored show', 'lineside restored confirm --reason "the old box is off, its fuse is out"'] },
  recovery: { about: 'administrators that were made at the box', examples: ['lineside recovery show', 'lineside recovery acknowledge --reason "Anna had lost her phone"'] },
  snapshot: {
    about: 'what was configured before each apply, and the way back to it',
    examples: ['lineside snapshot list', 'lineside snapshot return latest --dry-run', 'lineside snapshot return latest'],
  },
  tag: { about: 'tags of control modules', examples: ['lineside tag list', 'lineside tag read xv101.state'] },
};

export function addRemoteCommands(program: Command, host: Host): void {
  // commands take it over from here; options behind a command that stands below another one are its own
  program
    .enablePositionalOptions()
    .exitOverride((fault) => endOfUse(fault, host))
    .showHelpAfterError('(--help tells what there is)');
  const parents = new Map<string, Command>();
  const rows = new Map<Command, CommandRow>();
  for (const row of COMMANDS) {
    const words = row.typed.split(' ');
    const first = words.findIndex((word) => /^[<[]/.test(word));
    const names = first < 0 ? words : words.slice(0, first);
    const args = first < 0 ? [] : words.slice(first);
    const name = names.join(' ');
    const command = parentOf(parents, program, names.slice(0, -1)).command([names.at(-1) ?? '', ...args].join(' '));
    parents.set(name, command);
    rows.set(command, row);
    add(command, name, row, host);
  }
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const found = await candidatesOf(program, words, (command, options) => {
        const row = rows.get(command);
        return row && { row, context: contextOf('__complete', row, [], options, {}, host) };
      });
      // a shell would take what was escaped as the name
      await host.write(
        found
          .filter((candidate) => plainLine(candidate) === candidate)
          .map((candidate) => `${candidate}\n`)
          .join(''),
      );
    });
}

/** A command may have others below it: `io loop-check` has `io loop-check show`. */
function parentOf(parents: Map<string, Command>, program: Command, names: readonly string[]): Command {
  if (names.length === 0) return program;
  const name = names.join(' ');
  const known = parents.get(name);
  if (known) return known;
  const group = GROUPS[name];
  assert(group, `the group ${name} of commands says what it is about`);
  const made = parentOf(parents, program, names.slice(0, -1))
    .command(names.at(-1) ?? '')
    .description(group.about)
    .addHelpText('after', examplesText(group.examples));
  parents.set(name, made);
  return made;
}

function add(command: Command, name: string, row: CommandRow, host: Host): void {
  command.description(row.about);
  for (const [flags, about] of row.options ?? []) command.option(flags, about);
  if (row.isLocal !== true) command.option('--box <box>', 'name or address; the box signed in to last').option('--site <site>', 'the only site, or the one chosen at sign-in');
  command.addOption(new Option('-o, --output <form>', 'what is printed').choices(['text', 'json']).default('text'));
  if (row.examples) command.addHelpText('after', examplesText(row.examples));
  command.action(() => run(name, row, command, host));
}

function examplesText(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** What a command has to work with; `made` keeps the box, so that its address can be told. */
function contextOf(name: string, row: CommandRow, args: readonly (string | readonly string[])[], options: Given, made: { box?: Box }, host: Host): CommandContext {
  const asJson = options.output === 'json';
  const { terminal } = host;
  const boxes = host.boxes();
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    boxes,
    terminal,
    args: args.map((arg) => (typeof arg === 'string' ? arg : arg.join(' '))),
    several: args.flatMap((arg) => (typeof arg === 'string' ? [] : arg)),
    options,
    get box() {
      return (made.box ??= new Box(boxes, { box: text(options.box), site: row.isLocal === true ? undefined : text(options.site) }, terminal));
    },
    print: (data, line) => print(host, asJson ? plainJson({ apiVersion: ENVELOPE_VERSION, command: name, data }) : plainText(line)),
  };
}

async function run(name: string, row: CommandRow, command: Command, host: Host): Promise<void> {
  host.ends(EXIT.ok); // also where its reader goes before it is through
  const options: Given = command.opts();
  const asJson = options.output === 'json';
  const goesOn = typeof row.goesOn === 'function' ? row.goesOn(options) : row.goesOn === true;
  const indent = goesOn ? 0 : 2;
  const made: { box?: Box } = {};
  const args = command.processedArgs.map((arg: unknown) => (typeof arg === 'string' ? arg : Array.isArray(arg) ? (arg as readonly string[]) : ''));
  try {
    const outcome = await row.run(contextOf(name, row, args, options, made, host));
    await tell(name, outcome, asJson && !goesOn, host);
  } catch (fault) {
    const [first = ''] = args;
    const failure = flagNamed(
      failureOf(fault, made.box?.url ?? (typeof options.box === 'string' ? options.box : typeof first === 'string' && first !== '' ? first : 'the box')),
      row,
    );
    if (asJson) await print(host, plainJson(envelopeOf(name, failure) satisfies Envelope, indent));
    else tellFailure(failure, host);
    host.ends(failure.exitCode);
  }
}

/** Of a command without an envelope: what it did not foresee, a file above all. */
export function tellFault(fault: unknown, host: Host): void {
  const failure = failureOf(fault, 'the box');
  tellFailure(failure, host);
  host.ends(failure.exitCode);
}

function tellFailure({ message, told }: CommandError, { terminal }: Host): void {
  terminal.say(`lineside: ${message}`);
  if (typeof told.stack === 'string') terminal.say(told.stack);
}

async function tell(name: string, outcome: Outcome, asJson: boolean, host: Host): Promise<void> {
  if (asJson) await print(host, plainJson(envelopeOf(name, outcome), 2));
  // what goes into a file or to a program is the content to the letter
  else if (outcome.text !== '') await print(host, outcome.isContent === true && !host.isTerminal ? outcome.text : plainText(outcome.text));
  host.ends(outcome.exitCode ?? EXIT.ok);
}

/** A command line that cannot be understood; commander has told on the error stream what is wrong with it. */
function endOfUse({ exitCode, message }: CommanderError, host: Host): never {
  if (exitCode === 0) return host.leave(EXIT.ok);
  const given = host.words;
  const end = given.findIndex((word) => word.startsWith('-'));
  const at = given.findIndex((word) => word === '-o' || word === '--output');
  if (given[at + 1] === 'json' || given.includes('--output=json') || given.includes('-ojson')) {
    const words = given.slice(0, Math.min(2, end < 0 ? 2 : end));
    print(host, plainJson(envelopeOf(words.join(' '), usage(message.replace(/^error: /, ''))), 2)).catch(() => undefined); // who does not read it has the exit code
  }
  return host.leave(EXIT.usage);
}

/** Fulfilled when the reader has taken it. */
function print(host: Host, text: string): Promise<void> {
  return host.write(`${text}\n`);
}
