/** prompt: what the process asks people, and their answers. */
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { findBatch } from './find-batch.js';
import { PROOF, signed, signedReason } from './given.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';
import { withCode } from './second-code.js';

export type Prompt = Answered<'/api/v1/sites/{site}/prompts', 'get'>[number];

const addressOfPrompt = ({ phase, id }: Prompt): string => `${phase}/${id}`;

/** What may be answered: `Yes or No`, `a value between 5 and 9 pH`. */
function wanted({ type, choices = [], min = '', max = '', engUnits = '', resultKey = '' }: Prompt): string {
  if (type === 'acknowledge') return 'to be acknowledged';
  if (type === 'choice') return `one of ${choices.join(', ')}`;
  const bounds = min !== '' && max !== '' ? ` between ${min} and ${max}` : min === '' ? (max === '' ? '' : ` up to ${max}`) : ` from ${min}`;
  return `a value${bounds}${engUnits === '' ? '' : ` ${engUnits}`}${resultKey === '' ? '' : ` (${resultKey})`}`;
}

export function promptLine(prompt: Prompt): string {
  return `${addressOfPrompt(prompt)}  ${prompt.text}: ${wanted(prompt)}`;
}

async function list({ box, options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const batch = textOf(options, 'batch');
  const unit = textOf(options, 'unit');
  const query = { ...(batch === undefined ? {} : { batch: (await findBatch(box, batch)).name }), ...(unit === undefined ? {} : { unit }) };
  const prompts = await box.typed.all('/api/v1/sites/{site}/prompts', { path: { site }, query });
  const rows = prompts.map((prompt) => [addressOfPrompt(prompt), prompt.batchID, prompt.unit, `${Math.round(prompt.ageSeconds)} s`, `${prompt.text}: ${wanted(prompt)}`]);
  return { data: prompts, text: rows.length === 0 ? `nobody is asked anything in ${site}` : table(['prompt', 'batch', 'unit', 'waits', 'what'], rows) };
}

async function answer(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const [named = '', value = ''] = args;
  const site = await box.site();
  const prompt = await findPrompt(box, site, named);
  const response = checkedAnswer(prompt, value);
  const reason = await signedReason(context, `the answer to "${prompt.text}"`);
  const body = { promptID: prompt.id, reason, ...(response === undefined ? {} : { response }) };
  const send = (more: Confirmed = {}) => box.typed.post('/api/v1/sites/{site}/phases/{name}/prompt-response', { path: { site, name: prompt.phase }, body: { ...body, ...more } });
  const isForTwo = prompt.secondSigner === true && (await box.typed.get('/api/v1/auth/config', {})).authMode === 'local';
  const done = await (isForTwo ? confirmed(context, prompt, response ?? '', send) : signed(context, () => send()));
  return { data: done, text: `answered ${addressOfPrompt(prompt)}: ${done.response}${done.confirmedBy ? `, confirmed by ${done.confirmedBy.displayName}` : ''}` };
}

interface Confirmed {
  readonly second?: { readonly username: string; readonly password: string; readonly code?: string };
}

/** The second person sees at the same terminal what was answered, and types a password of his own there: a program does not stand for two people. */
async function confirmed<T>(context: CommandContext, prompt: Prompt, response: string, send: (confirmed: Confirmed) => Promise<T>): Promise<T> {
  const { terminal, options, box } = context;
  terminal.say(`lineside: a second person confirms this answer of ${box.username}: "${prompt.text}" ${response}`.trimEnd());
  const username = textOf(options, 'second') ?? (await terminal.ask('user name of the second person (--second): '));
  const password = await terminal.askSecret(`password of ${username}: `, 'the second person types it at a terminal, or confirms the answer at a console');
  return withCode(terminal, undefined, (proof) => signed(context, () => send({ second: { username, password, ...proof } })));
}

/** `PHASE/ID`, or what says enough: the phase, the id, or the batch where it is asked one thing. */
async function findPrompt(box: Box, site: string, named: string): Promise<Prompt> {
  const all = await box.typed.all('/api/v1/sites/{site}/prompts', { path: { site } });
  const found = all.filter((prompt) => named === addressOfPrompt(prompt) || named === prompt.phase || named === prompt.id || named === prompt.batchID);
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only)
    throw new CommandError(EXIT.usage, 'ambiguous', [`${named} asks for ${found.length} things: name one of them`, ...found.map((each) => `  ${promptLine(each)}`)].join('\n'));
  const waiting = all.length === 0 ? 'nothing is asked' : ['asked is', ...all.map((each) => `  ${promptLine(each)}`)].join('\n');
  throw new CommandError(EXIT.refused, 'not_found', `no prompt ${named} waits in ${site}; ${waiting}`, { status: 404 });
}

/** What the box would refuse is said with all that it would take. @returns undefined for what is only acknowledged. */
function checkedAnswer(prompt: Prompt, value: string): string | undefined {
  const { type, choices = [], text } = prompt;
  if (type === 'acknowledge') {
    if (value !== '' && value !== 'Acknowledged') throw usage(`"${text}" is only acknowledged: leave ${value} out`);
    return undefined;
  }
  if (value === '') throw usage(`"${text}" wants ${wanted(prompt)}`);
  if (type === 'choice' && !choices.includes(value)) throw usage(`${value} is no answer to "${text}": it wants ${wanted(prompt)}`);
  return value;
}

async function waiting({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/prompts', { path: { site } })).map(addressOfPrompt);
}

export const PROMPT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'prompt list',
    about: 'what the process waits to be told, and by whom it may be told',
    options: [
      ['--batch <batch>', 'of one batch'],
      ['--unit <unit>', 'of one unit'],
    ],
    run: list,
  },
  {
    typed: 'prompt answer <prompt> [value...]',
    about: 'answer a prompt; it is named PHASE/ID, as prompt list shows it, or by its phase or its batch alone, where that is asked one thing',
    options: [
      ['--reason <text>', 'why, or how it was found; goes on record with the signature'],
      ['--second <user>', 'who confirms it, where the recipe asks for two people; types the password at this terminal'],
      ...PROOF,
    ],
    names: { prompt: waiting },
    examples: ['lineside prompt answer WO-7 7.2 --reason "measured at the bench"', 'lineside prompt answer b-wo-7-check/p-1 7.2 --reason "measured at the bench"'],
    run: answer,
  },
];
