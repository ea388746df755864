/** phase: a phase, an operation or a unit procedure run by hand on a unit, without a batch; then held, gone on with, ended. */
import { ApiError } from '../../client/api.js';
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { pairsOf, PROOF, reasonFor, REASON, signed, TIMEOUT, timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';
import { until } from './until.js';
import { verdict } from './verdict.js';

type Body = Answered<'/api/v1/sites/{site}/phases/{name}', 'get'>;
type Item = Answered<'/api/v1/sites/{site}/phases', 'get'>[number];
type State = Body['state'];

/** What may be run by hand, with the paths of its routes; all of them answer alike. */
const KINDS = {
  Phase: { list: '/api/v1/sites/{site}/phases', one: '/api/v1/sites/{site}/phases/{name}', templates: '/api/v1/sites/{site}/phasetemplates' },
  Operation: { list: '/api/v1/sites/{site}/operations', one: '/api/v1/sites/{site}/operations/{name}', templates: '/api/v1/sites/{site}/operationtemplates' },
  UnitProcedure: {
    list: '/api/v1/sites/{site}/unitprocedures',
    one: '/api/v1/sites/{site}/unitprocedures/{name}',
    templates: '/api/v1/sites/{site}/unitproceduretemplates',
  },
} as const;
type KindName = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as readonly KindName[];

const STATES: readonly State[] = [
  ...(['Idle', 'Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting'] as const),
  ...(['Complete', 'Stopping', 'Stopped', 'Aborting', 'Aborted', 'Resetting'] as const),
];
const FINAL: readonly State[] = ['Complete', 'Stopped', 'Aborted'];

/** Of one run: the root, which takes the commands. */
interface Run {
  readonly site: string;
  readonly kind: KindName;
  readonly name: string;
}

interface RunWord {
  readonly command: string;
  readonly about: string;
  readonly to: State;
  /** The box wants to know why. */
  readonly isExplained?: true;
}

const WORDS: Readonly<Record<string, RunWord>> = {
  hold: { command: 'Hold', about: 'hold a run: it goes to its safe wait', to: 'Held', isExplained: true },
  restart: { command: 'Restart', about: 'go on with a run that is held', to: 'Running' },
  pause: { command: 'Pause', about: 'stop a run at the next place that was made for it', to: 'Paused' },
  resume: { command: 'Resume', about: 'go on with a run that is paused', to: 'Running' },
  stop: { command: 'Stop', about: 'end a run in order', to: 'Stopped', isExplained: true },
  abort: { command: 'Abort', about: 'end a run at once', to: 'Aborted', isExplained: true },
  reset: { command: 'Reset', about: 'make the unit of a run that has ended ready again', to: 'Idle', isExplained: true },
};

function kindOf({ options }: CommandContext): KindName {
  const given = textOf(options, 'kind');
  const kind = given === undefined ? 'Phase' : KIND_NAMES.find((each) => each.toLowerCase() === given.toLowerCase());
  if (!kind) throw usage(`--kind ${given}: give ${KIND_NAMES.join(', ')}`);
  return kind;
}

// ---------------------------------------------------------------- start

async function start(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [template = ''] = args;
  const unit = textOf(options, 'unit');
  if (unit === undefined) throw usage(`say on which unit ${template} is run: --unit rx101`);
  const kind = kindOf(context);
  const wanted = wantedState(context, 'Running');
  const site = await box.site();
  const made = await launched(context, { site, unit, kind, template });
  const run: Run = { site, kind, name: made.name };
  const text = `${kind} ${template} runs on ${unit}: ${made.name}`;
  if (wanted === undefined) return { data: made, text };
  const after = await waitFor(context, run, wanted);
  return { data: { ...made, state: after.state, element: after }, text: `${text}\n${stateLine(after)}` };
}

interface Launch {
  readonly site: string;
  readonly unit: string;
  readonly kind: KindName;
  readonly template: string;
}

async function launched(context: CommandContext, { site, unit, kind, template }: Launch) {
  const { box, options } = context;
  const parameterValues = [...pairsOf(textsOf(options, 'param'), '--param', '--param target=80')];
  const path = { site, unit };
  if (kind === 'Phase') return box.typed.post('/api/v1/sites/{site}/units/{unit}/execute-phase', { path, body: { phaseTemplateRef: template, parameterValues } });
  if (kind === 'Operation') return box.typed.post('/api/v1/sites/{site}/units/{unit}/execute-operation', { path, body: { operationTemplateRef: template, parameterValues } });
  // signed in production mode, for a stated reason
  const reason = textOf(options, 'reason') ?? '';
  return signed(context, () =>
    box.typed.post('/api/v1/sites/{site}/units/{unit}/execute-unitprocedure', { path, body: { unitProcedureTemplateRef: template, parameterValues, reason } }),
  );
}

// ---------------------------------------------------------------- look

function read(box: Box, { site, kind, name }: Run): Promise<Body> {
  // asked by a timer: it must not keep a session alive
  return box.typed.get(KINDS[kind].one as typeof KINDS.Phase.one, { path: { site, name }, options: { background: true } });
}

/** `atWork`: those that are neither Idle nor ended, or the others; where it is left out all of all years, which may be many. */
async function roots(box: Box, site: string, atWork?: boolean): Promise<readonly (Item & { readonly kind: KindName })[]> {
  const query = { adhoc: true, ...(atWork === undefined ? {} : { atWork }) };
  const found = await Promise.all(
    KIND_NAMES.map(async (kind) => (await box.typed.all(KINDS[kind].list as typeof KINDS.Phase.list, { path: { site }, query })).map((item) => ({ ...item, kind }))),
  );
  return found.flat().filter(({ parent }) => parent === null);
}

const isOver = ({ state }: Pick<Item, 'state'>): boolean => state === 'Idle' || FINAL.includes(state);

/** @throws CommandError naming the runs that there are. */
async function findRun(box: Box, name: string): Promise<Run> {
  const site = await box.site();
  for (const kind of KIND_NAMES) {
    const found = await read(box, { site, kind, name }).catch((fault: unknown) => {
      if (fault instanceof ApiError && fault.status === 404) return undefined;
      throw fault;
    });
    if (!found) continue;
    if (found.adhoc && found.parent === null) return { site, kind, name };
    const owner = found.batch === '' ? `${found.parent?.kind} ${found.parent?.name}: command that` : `batch ${found.batch}: lineside batch`;
    throw new CommandError(EXIT.refused, 'element_owned', `${kind} ${name} belongs to ${owner}${found.batch === '' ? '' : ' commands it'}`, { status: 409 });
  }
  const there = (await roots(box, site, true)).map((each) => each.name);
  const hint = there.length === 0 ? 'nothing is run by hand now' : `there are ${there.join(', ')}`;
  throw new CommandError(EXIT.refused, 'not_found', `no run by hand is called ${name} in ${site}; ${hint}`, { status: 404 });
}

async function list({ box, options }: CommandContext): Promise<Outcome> {
  const runs = await roots(box, await box.site(), options.all === true ? undefined : true);
  const rows = runs.map((each) => [each.name, each.kind, each.templateRef, each.unit, each.state, each.startedAt]);
  const none = options.all === true ? 'nothing was run by hand' : 'nothing is run by hand now; --all tells what was';
  return { data: runs, text: runs.length === 0 ? none : table(['run', 'kind', 'template', 'unit', 'state', 'started'], rows) };
}

async function show({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const run = await findRun(box, name);
  const body = await read(box, run);
  const { sfcStatus, failure, outputs, validCommands, mode } = body;
  const lines = [
    stateLine(body),
    `  ${run.kind} ${body.templateRef} on ${body.unit}${mode === 'Automatic' ? '' : `, in ${mode}`}`,
    ...(sfcStatus && !isOver(body) && sfcStatus.activeSteps.length > 0 ? [`  step ${sfcStatus.activeSteps.join(' and ')}`] : []),
    ...(failure ? [`  ${failure.rule}: ${failure.message}`] : []),
    ...(body.commandRejection ? [`  refused: ${body.commandRejection.command}: ${body.commandRejection.message}`] : []),
    ...(validCommands.length === 0 ? [] : [`  takes ${validCommands.join(', ')}`]),
    ...outputs.map(({ name: output, value, unit }) => `  ${output} = ${value} ${unit}`.trimEnd()),
  ];
  return { data: { kind: run.kind, ...body }, text: lines.join('\n') };
}

function stateLine({ name, state, blockedBecause }: Body): string {
  return `${name} is ${state}${blockedBecause === '' ? '' : ` and waits: ${blockedBecause}`}`;
}

// ---------------------------------------------------------------- commands

async function send(word: RunWord, context: CommandContext): Promise<Outcome> {
  const { box, args, terminal } = context;
  const wanted = wantedState(context, word.to);
  const run = await findRun(box, args[0] ?? '');
  const before = await read(box, run);
  const reason = word.isExplained ? await reasonFor(context, `${word.command} of ${run.name}`) : textOf(context.options, 'reason');
  const { site, kind, name } = run;
  await box.typed.post('/api/v1/sites/{site}/command', { path: { site }, body: { kind, name, command: word.command, ...(reason === undefined ? {} : { reason }) } });
  const judged = await judgedRun(box, run, word, before);
  if (!judged) terminal.say(`${word.command} of ${name} is on record, and not judged yet: lineside phase show ${name} tells what comes of it`);
  const after = wanted === undefined || !judged || judged.state === wanted ? (judged ?? before) : await waitFor(context, run, wanted);
  return { data: { command: word.command, judged: judged !== undefined, element: after }, text: `${word.command} of ${stateLine(after)}` };
}

function judgedRun(box: Box, run: Run, { command }: RunWord, before: Body): Promise<Body | undefined> {
  return verdict({
    command,
    before,
    read: () => read(box, run),
    isDone: ({ state }) => state !== before.state,
    refusal: ({ name, state }, { rule, message }) => new CommandError(EXIT.refused, rule, `${name} is ${state} and takes no ${command}: ${message}`, { run: name, state }),
  });
}

function wantedState({ options }: CommandContext, to: State): State | undefined {
  const given = textOf(options, 'until');
  if (given === undefined) return options.wait === true ? to : undefined;
  const state = STATES.find((each) => each.toLowerCase() === given.toLowerCase());
  if (!state) throw usage(`--until ${given}: a run is ${STATES.join(', ')}`);
  return state;
}

/** @throws CommandError where the run has ended otherwise, or has not come there in time. */
async function waitFor(context: CommandContext, run: Run, wanted: State): Promise<Body> {
  const { box, terminal } = context;
  const withinMs = timeoutOf(context);
  let now = await read(box, run);
  return until({
    look: async () => {
      now = await read(box, run);
      // one that is Complete runs no more, and has run: what was asked for has been
      if (now.state === wanted || (wanted === 'Running' && now.state === 'Complete')) return now;
      if (!FINAL.includes(now.state) || wanted === 'Idle') return undefined;
      const why = now.failure ? `: ${now.failure.message}` : '';
      throw new CommandError(EXIT.no, 'not_reached', `${now.name} is ${now.state} and will not be ${wanted} any more${why}`, { run: now.name, state: now.state });
    },
    withinMs,
    late: () => new CommandError(EXIT.no, 'timeout', `within ${(withinMs ?? 0) / 1000} s it has not come to ${wanted}: ${stateLine(now)}`, { run: now.name, state: now.state }),
    terminal,
  });
}

// ---------------------------------------------------------------- rows

/** Of phases: those of other kinds are named by whoever wants one. */
async function templateNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all(KINDS.Phase.templates, { path: { site } })).map(({ name }) => name);
}

async function runNames({ box }: CommandContext): Promise<readonly string[]> {
  return (await roots(box, await box.site(), true)).map(({ name }) => name);
}

/** What has ended waits for its Reset. */
async function endedNames({ box }: CommandContext): Promise<readonly string[]> {
  return (await roots(box, await box.site(), false)).filter(({ state }) => FINAL.includes(state)).map(({ name }) => name);
}

const UNTIL = ['--until <state>', 'wait until the run is in this state, for example Complete; exit code 1 where it cannot come there any more'] as const;

function rowOf([typed, word]: readonly [string, RunWord]): CommandRow {
  return {
    typed: `phase ${typed} <run>`,
    about: word.about,
    options: [REASON, ['--wait', `until the run is ${word.to}; exit code 1 where it cannot come there any more`], UNTIL, TIMEOUT],
    names: { run: typed === 'reset' ? endedNames : runNames },
    examples: [`lineside phase ${typed} adhoc-heat-rx101-1f2e3d4c${word.isExplained ? ' --reason "the jacket is too warm"' : ''} --wait --timeout 5m`],
    run: (context) => send(word, context),
  };
}

export const PHASE_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'phase start <template>',
    about: 'run a phase by hand on a unit that is Idle, without a batch',
    options: [
      ['--unit <unit>', 'the unit; its control modules take the roles of the template'],
      ['--param <name=value...>', 'parameter of the template, in place of its default; may be repeated'],
      ['--kind <kind>', 'Operation or UnitProcedure, of category equipment; Phase where it is left out'],
      ['--reason <text>', 'why; of a unit procedure the box wants one in production mode, and has it signed'],
      ...PROOF,
      ['--wait', 'until the run is Running; exit code 1 where it cannot come there any more'],
      UNTIL,
      TIMEOUT,
    ],
    names: { template: templateNames },
    examples: ['lineside phase start heat --unit rx101 --param target=80 --until Complete --timeout 1h', 'lineside phase start rinse --kind Operation --unit rx101'],
    run: start,
  },
  {
    typed: 'phase list',
    about: 'what is run by hand now',
    options: [['--all', 'and what was']],
    examples: ['lineside phase list'],
    run: list,
  },
  {
    typed: 'phase show <run>',
    about: 'where a run by hand stands, and what it waits for',
    names: { run: runNames },
    examples: ['lineside phase show adhoc-heat-rx101-1f2e3d4c'],
    run: show,
  },
  ...Object.entries(WORDS).map(rowOf),
];
