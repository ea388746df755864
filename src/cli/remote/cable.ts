/** io acceptance: a person pulls the cable of a device and tells it; the page says what the box has shown meanwhile. */
import type { Answered } from '../../client/typed.js';
import { ioModuleNames } from './channels.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { PROOF, REASON, signed, signedReason } from './given.js';
import { CommandError, EXIT, type Outcome, section, table, usage } from './outcome.js';
import { plainLine } from './plain.js';
import { FORMAT, listed, newestFirst, placeOf, sheetNames, type SheetTable, shownSheet, signatureLine, signaturesOf, validLine } from './sheets.js';

const MODULE = '/api/v1/sites/{site}/iomodules/{name}';
const PAGES = `${MODULE}/cable-acceptances` as const;
type Page = Answered<'/api/v1/sites/{site}/iomodules/{name}/cable-acceptances/{id}', 'get'>;
type Trial = Page['trials'][number];
type TrialName = Trial['trial'];

const TRIALS: Readonly<Record<TrialName, string>> = {
  'cable-pulled': 'the cable is pulled',
  'half-open': 'the device is gone, and the connection stays open',
  'device-restarted': 'the device is switched off and on',
  delayed: 'the network delays what is sent',
  duplicated: 'the network sends things twice',
  'clock-jumped': 'the clock of the box is set',
  other: 'something else',
};
const OVER = 'over';

async function begin(context: CommandContext): Promise<Outcome> {
  const { box, options } = context;
  const [name = ''] = context.args;
  const site = await box.site();
  const reason = await signedReason(context, `the acceptance of the cable of ${name}`);
  const duration = textOf(options, 'duration');
  const body = { reason, ...(duration === undefined ? {} : { duration }) };
  const page = await signed(context, () => box.typed.post(`${MODULE}/cable-acceptance`, { path: { site, name }, body }));
  return {
    data: page,
    text: `acceptance ${page.id} is under way. Say what you do when you do it: lineside io acceptance mark ${name} cable-pulled, and when you undo it: lineside io acceptance mark ${name} ${OVER}`,
  };
}

async function pagesOf({ box }: CommandContext, name: string): Promise<readonly Page[]> {
  return newestFirst(await box.typed.all(PAGES, { path: { site: await box.site(), name } }));
}

/** The one that is under way. */
async function runningOf(context: CommandContext): Promise<{ readonly site: string; readonly name: string; readonly id: string }> {
  const [name = ''] = context.args;
  const running = (await pagesOf(context, name)).find(({ phase }) => phase === 'Running');
  if (!running) throw new CommandError(EXIT.refused, 'not_found', `no acceptance of ${name} is under way: lineside io acceptance begin ${name}`, { status: 404 });
  return { site: await context.box.site(), name, id: running.id };
}

async function mark(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [name = '', trial = ''] = args;
  const known = (Object.keys(TRIALS) as TrialName[]).find((each) => each === trial);
  if (!known && trial !== OVER) throw usage(`${trial} is no trial: give ${Object.keys(TRIALS).join(', ')}, or ${OVER} when you undo it`);
  const path = await runningOf(context);
  const note = textOf(options, 'note') ?? '';
  const page = await box.typed.post(`${PAGES}/{id}/mark`, { path, body: known ? { mark: 'begin', trial: known, note } : { mark: 'end', note } });
  if (known)
    return {
      data: page,
      text: `${known}: ${TRIALS[known]}; watched are the channels that were Good. At the moment when you undo it, not later: lineside io acceptance mark ${name} ${OVER}`,
    };
  return { data: page, text: `the trial is over; it is judged when its channels are Good again: lineside io acceptance show ${name}` };
}

async function finish(context: CommandContext): Promise<Outcome> {
  const path = await runningOf(context);
  const page = await context.box.typed.post(`${PAGES}/{id}/mark`, { path, body: { mark: 'finish' } });
  return { data: page, text: pageText(page, signaturesOf(page)), ...(page.outcome === 'pass' ? {} : { exitCode: EXIT.no }) };
}

async function show(context: CommandContext): Promise<Outcome> {
  const path = await placeOf(context, async (name) => (await pagesOf(context, name))[0]?.id);
  const page = await context.box.typed.get(`${PAGES}/{id}`, { path });
  return shownSheet(context, page, () => pageText(page, signaturesOf(page)));
}

const LISTED: SheetTable<Page> = {
  none: 'acceptance of a cable',
  title: ['acceptance', 'phase', 'outcome', 'by', 'begun', 'trials'],
  cells: ({ id, phase, outcome, operator, startedAt, trials }) => [
    id,
    phase,
    phase === 'Sealed' ? outcome : '-',
    operator.displayName,
    startedAt,
    trials.map(({ trial }) => trial).join(', '),
  ],
};

const ms = (value: number | null): string => (value === null ? 'never' : `${Math.round(value)} ms`);

/** One that shows nothing of what it was for is no pass. */
function outcomeOf({ problems, incomplete = [] }: Trial): string {
  if (problems.length > 0) return 'FAULT';
  return incomplete.length > 0 ? 'incomplete' : 'pass';
}

function pageText(page: Page, signatures: ReturnType<typeof signaturesOf>): string {
  const { id, site, module, protocol, address, moduleGeneration, operator, reason, startedAt, end, outcome, phase, trials, open } = page;
  const rows = trials.map((trial) => [
    trial.trial,
    trial.begunAt,
    String(trial.watched),
    ms(trial.firstBadMs),
    ms(trial.allBadMs),
    ms(trial.oldestGoodMs),
    ms(trial.goodAgainMs),
    trial.failSafeTaken ? 'yes' : 'no',
    outcomeOf(trial),
  ]);
  const outputs = trials.flatMap((trial) =>
    trial.outputs.filter(({ isSame }) => !isSame).map(({ channel, before, after }) => `${trial.trial}: ${channel} had ${before}, and has ${after}`),
  );
  return [
    `acceptance ${id} of the cable`,
    '',
    `module     ${module} of site ${site}: ${protocol} ${address}, generation ${moduleGeneration}`,
    `reason     ${plainLine(reason)}`,
    `conducted  by ${operator.displayName} from ${startedAt}${end === null ? '' : ` to ${end.at}`}`,
    `outcome    ${phase === 'Sealed' ? outcome.toUpperCase() : `none yet: it is ${phase}`}${end === null || end.reason === 'finished' ? '' : `; ended by ${end.reason}`}`,
    ...(open === null ? [] : [`now        ${open.trial}${open.isOver ? ': undone, its channels are not Good again yet' : ': under way'}`]),
    ...section('trials:', table(['trial', 'begun', 'channels', 'first bad', 'all bad', 'oldest good', 'good again', 'fail-safe', 'outcome'], rows).split('\n')),
    ...section(
      'notes:',
      trials.flatMap(({ trial, note }) => (note === '' ? [] : [`${trial}: ${note}`])),
    ),
    ...section(
      'not as promised:',
      trials.flatMap(({ trial, problems }) => problems.map((problem) => `${trial}: ${problem}`)),
    ),
    ...section(
      'shows nothing:',
      trials.flatMap(({ trial, incomplete = [] }) => incomplete.map((why) => `${trial}: ${why}`)),
    ),
    ...section('outputs that are others afterwards:', outputs),
    ...section('signatures:', signatures.map(signatureLine)),
    '',
    validLine(page),
  ].join('\n');
}

export const CABLE_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'io acceptance begin <module>',
    about: 'begin the acceptance of a cable: what the box shows is observed while a person does things to cable and device; nothing is driven',
    options: [REASON, ['--duration <time>', 'after which it ends by itself, 1h where it is left out'], ...PROOF],
    names: { module: ioModuleNames },
    examples: ['lineside io acceptance begin plc --reason "acceptance of hall 2"'],
    run: begin,
  },
  {
    typed: 'io acceptance mark <module> <trial>',
    about: `say at the moment of it what is done: ${Object.keys(TRIALS).join(', ')}; and ${OVER} at the moment when it is undone: what is Good before that counts as a fault`,
    options: [['--note <text>', 'where, and how']],
    words: { trial: [...Object.keys(TRIALS), OVER] },
    names: { module: ioModuleNames },
    examples: ['lineside io acceptance mark plc cable-pulled --note "at the switch"', `lineside io acceptance mark plc ${OVER}`],
    run: mark,
  },
  {
    typed: 'io acceptance finish <module>',
    about: 'the page is whole: it is judged and signed; exit code 1 where something is not as promised',
    names: { module: ioModuleNames },
    run: finish,
  },
  {
    typed: 'io acceptance show <page>',
    about: 'one page, or the newest of a module: trials, when quality turned Bad and Good again, and whether it still is what was signed',
    options: [FORMAT],
    names: { page: (context) => sheetNames(context, pagesOf) },
    run: show,
  },
  {
    typed: 'io acceptance list [module]',
    about: 'pages of the site, or of a module, the newest first',
    names: { module: ioModuleNames },
    run: (context) => listed(context, pagesOf, LISTED),
  },
];
