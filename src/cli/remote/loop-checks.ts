/** io loop-check: outputs gone through one after the other, and the sheets of it. */
import type { Answered } from '../../client/typed.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import { ioModuleNames } from './channels.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { pairsOf, PROOF, REASON, reasonFor, signed, signedReason } from './given.js';
import { untilInterrupted } from './interrupt.js';
import { type Attending, LiveCheck } from './loop-live.js';
import { type LoopSheet, returnedLines, sheetText } from './loop-sheet.js';
import { EXIT, type Outcome, usage } from './outcome.js';
import { FORMAT, listed, newestFirst, placeOf, sheetNames, type SheetTable, shownSheet, signatureLine, signaturesOf } from './sheets.js';

const LIST = '/api/v1/sites/{site}/iomodules/{name}/loop-checks';

async function begin(context: CommandContext): Promise<Outcome> {
  const { box, args, options, terminal } = context;
  const [name = ''] = args;
  const attending = attendingOf(context);
  const request = requestOf(context);
  const site = await box.site();
  const reason = await signedReason(context, `the loop check of ${name}`);
  const body = { ...request, reason, attend: attending === 'confirm' ? ('confirm' as const) : ('hold' as const) };
  const begun = await signed(context, () => box.typed.post('/api/v1/sites/{site}/iomodules/{name}/loop-check', { path: { site, name }, body }));
  if (options.output !== 'json')
    await context.print(begun, `loop check ${begun.id} of ${begun.channels.map(({ channel }) => channel).join(', ')}; Ctrl-C aborts it, and its outputs go back`);
  let sheet: LoopSheet = begun;
  await untilInterrupted(async (interrupted) => {
    sheet = await new LiveCheck(context, { site, name, id: begun.id }, attending).conduct(interrupted);
  });
  for (const line of returnedLines(sheet)) terminal.say(line);
  if (sheet.phase !== 'Sealed') terminal.say(`the outputs go back when the device is there again: lineside io loop-check show ${begun.id}`);
  return { data: sheet, text: `\n${sheetText(sheet, signaturesOf(sheet))}`, ...(sheet.outcome === 'pass' ? {} : { exitCode: EXIT.no }) };
}

/** Whether there is somebody to attend it is known before anything is set. */
function attendingOf({ options, terminal }: CommandContext): Attending {
  const attend = textOf(options, 'attend') ?? 'confirm';
  if (attend !== 'confirm' && attend !== 'hold')
    throw usage(`--attend ${attend}: give confirm, where each step waits for a person, or hold, where it goes on while one gives signs`);
  const isYes = options.yes === true;
  if (isYes && attend === 'confirm') throw usage('--yes goes with --attend hold: a step that is confirmed is confirmed by a person');
  if (!isYes && !terminal.isAttended) throw usage('nobody sits at this terminal to confirm the steps: with --attend hold --yes the check goes on for as long as this command runs');
  return isYes ? 'yes' : attend;
}

function numberOf({ options }: CommandContext, option: string): number | undefined {
  const given = textOf(options, option);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value)) throw usage(`--${option} ${given}: give a number`);
  return value;
}

function durationOf({ options }: CommandContext, member: string, flag: string): string | undefined {
  const given = textOf(options, member);
  if (given !== undefined && parseDuration(given) === null) throw usage(`${flag} ${given}: give a duration such as 500ms or 2s`);
  return given;
}

const wordsOf = (text: string): string[] => text.split(',').map((word) => word.trim());

function requestOf(context: CommandContext) {
  const { several, options } = context;
  const inputs = pairsOf(textsOf(options, 'input'), '--input', '--input pump=pump.runs');
  const ends = given({ low: numberOf(context, 'low'), high: numberOf(context, 'high'), gain: numberOf(context, 'gain'), offset: numberOf(context, 'offset') });
  const names = several.length > 0 ? several : inputs.map(({ name }) => name);
  if (Object.keys(ends).length > 0 && names.length === 0) throw usage(`--${Object.keys(ends)[0]} is for outputs that are named: lineside io loop-check MODULE OUTPUT`);
  for (const { name } of inputs) if (!names.includes(name)) throw usage(`--input ${name}=...: ${name} is not among the outputs that are named`);
  const steps = textOf(options, 'steps');
  const neighbours = textOf(options, 'neighbours');
  const channels = names.map((channel) => ({ channel, ...ends, ...given({ input: inputs.find(({ name }) => name === channel)?.value }) }));
  return {
    ...(channels.length === 0 ? {} : { channels }),
    ...given({
      steps: steps === undefined ? undefined : wordsOf(steps).map((word) => percentOf(word)),
      settle: durationOf(context, 'settle', '--settle'),
      tolerance: numberOf(context, 'tolerance'),
      attendTimeout: durationOf(context, 'attendTimeout', '--attend-timeout'),
      neighbours: neighbours === undefined ? undefined : neighbours === '' ? [] : wordsOf(neighbours),
    }),
  };
}

function percentOf(word: string): number {
  const value = Number(word);
  if (word === '' || !Number.isFinite(value)) throw usage(`--steps ${word}: give per cent of the range, such as 0,50,100`);
  return value;
}

/** Members that were given. */
function given<Members extends object>(members: Members): { [Member in keyof Members]?: Exclude<Members[Member], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [Member in keyof Members]?: Exclude<Members[Member], undefined> };
}

// -------------------------------------------------------------- sheets

type Row = Answered<typeof LIST, 'get'>[number];

async function checksOf({ box }: CommandContext, name: string): Promise<readonly Row[]> {
  return newestFirst(await box.typed.all(LIST, { path: { site: await box.site(), name } }));
}

async function sheetOf(context: CommandContext): Promise<{ readonly sheet: LoopSheet; readonly site: string }> {
  const path = await placeOf(context, async (name) => (await checksOf(context, name))[0]?.id);
  return { sheet: await context.box.typed.get(`${LIST}/{id}`, { path }), site: path.site };
}

async function show(context: CommandContext): Promise<Outcome> {
  const { sheet } = await sheetOf(context);
  return shownSheet(context, sheet, () => sheetText(sheet, signaturesOf(sheet)));
}

const LISTED: SheetTable<Row> = {
  none: 'loop check',
  title: ['loop check', 'phase', 'outcome', 'end', 'by', 'begun', 'outputs'],
  cells: ({ id, phase, outcome, end, operator, startedAt, channels }) => [
    id,
    phase,
    phase === 'Sealed' ? outcome : '-',
    end,
    operator,
    startedAt,
    channels.map((row) => `${row.channel} ${row.outcome}`).join(', '),
  ],
};

/** By whoever operates, from another terminal than the one that conducts it. */
async function abort(context: CommandContext): Promise<Outcome> {
  const { box } = context;
  const path = await placeOf(context, async (name) => (await checksOf(context, name))[0]?.id);
  const reason = (await reasonFor(context, `the end of loop check ${path.id}`)) ?? '';
  const ended = await box.typed.post(`${LIST}/{id}/abort`, { path, body: { reason } });
  return { data: ended, text: `loop check ${path.id} is aborted; its outputs go back to what they had: lineside io loop-check show ${path.id}` };
}

async function witness(context: CommandContext): Promise<Outcome> {
  const { box } = context;
  const { sheet, site } = await sheetOf(context);
  const reason = await signedReason(context, `witnessing loop check ${sheet.id}`);
  const target = { kind: 'LoopCheck', name: sheet.id, site };
  const done = await signed(context, () => box.typed.post('/api/v1/signatures', { body: { target, meaning: 'Witnessed', reason } }));
  const read = await box.typed.get('/api/v1/signatures/{id}', { path: { id: done.id } });
  return { data: done, text: `loop check ${sheet.id}: ${signatureLine(read)}` };
}

const checkNames = (context: CommandContext): Promise<readonly string[]> => sheetNames(context, checksOf);

export const LOOP_CHECK_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'io loop-check <module> [output...]',
    about:
      'go through the outputs of a module, each step confirmed at the terminal, and look at what comes back; exit code 1 where it did not pass. Ctrl-C aborts it: the outputs go back to what they had',
    options: [
      REASON,
      ['--low <raw>', 'lower end of the range of the outputs that are named, where no control module tells it'],
      ['--high <raw>', 'upper end'],
      ['--input <output=input...>', 'the input that is wired to an output: channel, or module:channel; may be repeated'],
      ['--gain <factor>', 'that input shows gain · output + offset'],
      ['--offset <number>', 'see --gain'],
      ['--steps <percents>', 'of the range of a number, 0,25,50,75,100 where it is left out'],
      ['--settle <time>', 'within which a reading has to agree, 2s where it is left out'],
      ['--tolerance <percent>', 'of the range within which it agrees, 0.5 where it is left out'],
      ['--attend <how>', 'confirm: each step waits for a person; hold: it goes on while a person gives signs (Enter)'],
      ['--yes', 'with --attend hold: this command gives the signs, for as long as it runs'],
      ['--attend-timeout <time>', 'without a sign for so long the check ends: 60s, of hold 5s'],
      ['--neighbours <modules>', 'other modules that are watched, with commas; those of the same controller where it is left out'],
      ...PROOF,
    ],
    names: { module: ioModuleNames, attend: () => Promise.resolve(['confirm', 'hold']) },
    examples: [
      'lineside io loop-check plc --reason "loop check of hall 2"',
      'lineside io loop-check plc pump valve --input pump=pump.runs --reason "loop check of hall 2"',
      'lineside io loop-check plc valve --low 0 --high 27648 --settle 5s --reason "new positioner"',
      'lineside io loop-check plc pump --attend hold --yes --reason "loop check of hall 2"',
    ],
    run: begin,
  },
  {
    typed: 'io loop-check list [module]',
    about: 'loop checks of the site, or of a module, the newest first',
    names: { module: ioModuleNames },
    run: (context) => listed(context, checksOf, LISTED),
  },
  {
    typed: 'io loop-check show <check>',
    about: 'the sheet of a loop check, or the newest of a module: what was set, what was seen, what became of the outputs, who has signed, and whether it still is what was signed',
    options: [FORMAT],
    names: { check: checkNames },
    examples: ['lineside io loop-check show plc', 'lineside io loop-check show plc-20261128203558-4df6 > sheet.txt'],
    run: show,
  },
  {
    typed: 'io loop-check abort <check>',
    about: 'end a loop check, or the newest of a module, whoever conducts it: its outputs go back to what they had',
    options: [REASON],
    names: { check: checkNames },
    examples: ['lineside io loop-check abort plc --reason "the batch cannot wait"'],
    run: abort,
  },
  {
    typed: 'io loop-check witness <check>',
    about: 'sign a sheet as the person who stood by; another one than has conducted it',
    options: [['--reason <text>', 'where you stood, and what you saw; goes on record with the signature'], ...PROOF],
    names: { check: checkNames },
    examples: ['lineside io loop-check witness plc-20261128203558-4df6 --reason "stood at the pump"'],
    run: witness,
  },
];
