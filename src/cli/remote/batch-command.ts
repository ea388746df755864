/** Commands to a batch: sent, judged by the box, and waited for. */
import { ApiError } from '../../client/api.js';
import type { BatchBody } from './batch-show.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { batchIDs, findBatch, type NamedBatch } from './find-batch.js';
import { reasonFor, REASON, TIMEOUT, timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, usage } from './outcome.js';
import { preflightLines } from './preflight.js';
import type { Terminal } from './terminal.js';
import { until } from './until.js';
import { verdict } from './verdict.js';

type State = BatchBody['phase'];

interface CommandWord {
  readonly command: string;
  readonly about: string;
  /** Where it brings the batch; '' where the batch itself stays as it is. */
  readonly to: State | '';
  /** The box wants to know why. */
  readonly isExplained?: true;
}

const WORDS: Readonly<Record<string, CommandWord>> = {
  start: { command: 'Start', about: 'start a batch that waits', to: 'Running' },
  hold: { command: 'Hold', about: 'hold a batch: its phases go to their safe wait', to: 'Held', isExplained: true },
  restart: { command: 'Restart', about: 'go on with a batch that is held', to: 'Running' },
  pause: { command: 'Pause', about: 'stop a batch at the next place that was made for it', to: 'Paused' },
  resume: { command: 'Resume', about: 'go on with a batch that is paused', to: 'Running' },
  stop: { command: 'Stop', about: 'end a batch in order', to: 'Stopped', isExplained: true },
  abort: { command: 'Abort', about: 'end a batch at once', to: 'Aborted', isExplained: true },
  reset: { command: 'Reset', about: 'make the equipment of a batch that has ended ready again', to: '', isExplained: true },
};

const STATES: readonly State[] = ['Pending', 'Running', 'Pausing', 'Paused', 'Holding', 'Held', 'Restarting', 'Complete', 'Stopping', 'Stopped', 'Aborting', 'Aborted', 'Failed'];
const FINAL: readonly State[] = ['Complete', 'Stopped', 'Aborted', 'Failed'];
/** From which nothing but these is reached. */
const ENDING: Readonly<Partial<Record<State, readonly State[]>>> = {
  Stopping: ['Stopping', 'Stopped', 'Aborting', 'Aborted', 'Failed'],
  Aborting: ['Aborting', 'Aborted', 'Failed'],
};

function readBatch(box: Box, path: NamedBatch): Promise<BatchBody> {
  // asked by a timer: it must not keep a session alive
  return box.typed.get('/api/v1/sites/{site}/batches/{name}', { path: { ...path }, options: { background: true } });
}

async function send(word: CommandWord, context: CommandContext): Promise<Outcome> {
  const { box, args, terminal } = context;
  const wanted = wantedState(context, word.to);
  const withinMs = timeoutOf(context);
  const batch = await findBatch(box, args[0] ?? '');
  const before = await readBatch(box, batch);
  const reason = word.isExplained ? await reasonFor(context, `${word.command} of ${before.batchID}`) : textOf(context.options, 'reason');
  if (word.command === 'Restart') for (const line of await againInTheWay(box, batch)) terminal.say(line);
  await commanded(box, batch, word.command, reason);
  const judged = await judgedBatch(box, batch, word, before);
  if (!judged) terminal.say(`${word.command} of ${before.batchID} is on record, and not judged yet: lineside batch show ${before.batchID} tells what comes of it`);
  const after = wanted === undefined || !judged ? (judged ?? before) : await waitFor(box, batch, wanted, { from: judged, withinMs, terminal });
  return { data: { command: word.command, judged: judged !== undefined, batch: after }, text: `${word.command} of ${after.batchID}: it is ${after.phase}${waits(after)}` };
}

function waits({ blockedBecause }: BatchBody): string {
  return blockedBecause === '' ? '' : ` and waits: ${blockedBecause}`;
}

function wantedState({ options }: CommandContext, to: State | ''): State | undefined {
  const until = textOf(options, 'until');
  if (until === undefined) return options.wait === true && to !== '' ? to : undefined;
  const state = STATES.find((each) => each.toLowerCase() === until.toLowerCase());
  if (!state) throw usage(`--until ${until}: a batch is ${STATES.join(', ')}`);
  return state;
}

/** A start that the box refuses at once is told with all that is in the way. */
async function commanded(box: Box, { site, name }: NamedBatch, command: string, reason: string | undefined): Promise<void> {
  try {
    await box.typed.post('/api/v1/sites/{site}/command', { path: { site }, body: { kind: 'Batch', name, command, ...(reason === undefined ? {} : { reason }) } });
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.status !== 409 || (command !== 'Start' && command !== 'Restart')) throw fault;
    throw await inTheWay(box, { site, name }, command, fault.message, fault.code);
  }
}

function judgedBatch(box: Box, batch: NamedBatch, { command, to }: CommandWord, before: BatchBody): Promise<BatchBody | undefined> {
  return verdict({
    command,
    before,
    read: () => readBatch(box, batch),
    isDone: ({ phase }) => phase !== before.phase || to === '',
    refusal: (now, { rule, message }) => {
      if (isAnswerable(command, now)) return inTheWay(box, batch, command, message, rule);
      return new CommandError(EXIT.refused, rule, `${now.batchID} is ${now.phase} and takes no ${command}: ${message}`, { batch: now.name, state: now.phase });
    },
  });
}

/** Preflight says what is in the way of one that could be started, or could go on. */
function isAnswerable(command: string, { phase }: BatchBody): command is 'Start' | 'Restart' {
  return (command === 'Start' && phase === 'Pending') || (command === 'Restart' && phase === 'Held');
}

/** What Restart is not refused for and what holds the batch again, as the panel warns of it; a Restart that is refused tells it by itself. */
async function againInTheWay(box: Box, { site, name }: NamedBatch): Promise<readonly string[]> {
  const asked = await box.typed.post('/api/v1/sites/{site}/batches/preflight', { path: { site }, body: { batch: name, command: 'Restart' } }).catch((fault: unknown) => {
    if (fault instanceof ApiError) return undefined; // it is judged by the command
    throw fault;
  });
  const wrong = (asked?.checks ?? []).filter(({ ok }) => !ok);
  if (wrong.length === 0 || wrong.some(({ check }) => check === 'command')) return [];
  return preflightLines(wrong.map((check) => ({ ...check, severity: 'warning' as const })));
}

async function inTheWay(box: Box, { site, name }: NamedBatch, command: 'Start' | 'Restart', message: string, code: string): Promise<CommandError> {
  const { checks } = await box.typed.post('/api/v1/sites/{site}/batches/preflight', { path: { site }, body: { batch: name, command } });
  const lines = preflightLines(checks.filter(({ ok, severity }) => !ok && severity === 'error'));
  const text = [`${command} of ${name} is refused: ${message}`, ...lines.map((line) => `  ${line}`)];
  return new CommandError(EXIT.refused, code, text.join('\n'), { batch: name, checks });
}

interface Wait {
  readonly from: BatchBody;
  readonly withinMs: number | undefined;
  readonly terminal: Terminal;
}

/** @throws CommandError where the batch cannot come into the state any more, or has not in time. */
async function waitFor(box: Box, batch: NamedBatch, wanted: State, { from, withinMs, terminal }: Wait): Promise<BatchBody> {
  let now = from;
  if (isReached(now, wanted)) return now;
  return until({
    look: async () => {
      now = await readBatch(box, batch);
      return isReached(now, wanted) ? now : undefined;
    },
    withinMs,
    late: () =>
      new CommandError(EXIT.no, 'timeout', `${now.batchID} is not ${wanted} within ${(withinMs ?? 0) / 1000} s: it is ${now.phase}${waits(now)}`, {
        batch: now.name,
        state: now.phase,
      }),
    terminal,
  });
}

/** @throws CommandError where it will not be any more. */
function isReached({ phase, batchID, name, failure }: BatchBody, wanted: State): boolean {
  // one that is Complete runs no more, and has run: what was asked for has been
  if (phase === wanted || (wanted === 'Running' && phase === 'Complete')) return true;
  if (!FINAL.includes(phase) && ENDING[phase]?.includes(wanted) !== false) return false;
  const why = failure ? `: ${failure.message}` : '';
  throw new CommandError(EXIT.no, 'not_reached', `${batchID} is ${phase} and will not be ${wanted} any more${why}`, { batch: name, state: phase });
}

async function wait(context: CommandContext): Promise<Outcome> {
  const { box, args, terminal } = context;
  const wanted = wantedState(context, '') ?? 'Complete';
  const withinMs = timeoutOf(context);
  const batch = await findBatch(box, args[0] ?? '');
  const after = await waitFor(box, batch, wanted, { from: await readBatch(box, batch), withinMs, terminal });
  return { data: { batch: after }, text: `${after.batchID} is ${after.phase}` };
}

const openBatches = ({ box }: CommandContext) => batchIDs(box, { onlyOpen: true });
const UNTIL = ['--until <state>', 'wait until the batch is in this state, for example Complete; exit code 1 where it cannot come there any more'] as const;

function rowOf([typed, word]: readonly [string, CommandWord]): CommandRow {
  const waiting = word.to === '' ? [] : [['--wait', `until the batch is ${word.to}; exit code 1 where it cannot come there any more`] as const, UNTIL, TIMEOUT];
  return {
    typed: `batch ${typed} <batch>`,
    about: word.about,
    options: [REASON, ...waiting],
    names: { batch: openBatches },
    examples: [`lineside batch ${typed} WO-7${word.isExplained ? ' --reason "sample looks cloudy"' : ''}${word.to === '' ? '' : ' --wait --timeout 5m'}`],
    run: (context) => send(word, context),
  };
}

export const BATCH_WORDS: readonly CommandRow[] = [
  ...Object.entries(WORDS).map(rowOf),
  {
    typed: 'batch wait <batch>',
    about: 'wait until a batch is Complete, or in another state; exit code 1 where it cannot come there any more',
    options: [
      ['--until <state>', 'Complete where it is left out'],
      ['--timeout <time>', 'seconds, or a duration such as 5m; without it there is no end'],
    ],
    names: { batch: openBatches },
    examples: ['lineside batch wait WO-7 --until Complete --timeout 2h && lineside record WO-7 --wait --format xml --out WO-7.xml'],
    run: wait,
  },
];
