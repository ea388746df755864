/** records: the status of batch records, `RecordStatus` of BatchML: Open, Reviewed, Finalized; and what raises it. */
import { ApiError } from '../../client/api.js';
import type { Answered, Call } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { findBatch, type NamedBatch } from './find-batch.js';
import { LIMIT, limitOf, PROOF, signed, signedReason } from './given.js';
import { CommandError, type Outcome, section, table, usage } from './outcome.js';
import { plainLine } from './plain.js';

type RecordBody = Answered<'/api/v1/sites/{site}/batchrecords/{name}', 'get'>;
type RecordItem = Answered<'/api/v1/sites/{site}/batchrecords', 'get'>['items'][number];
type ListQuery = NonNullable<Call<'/api/v1/sites/{site}/batchrecords', 'get'>['query']>;

const OUTCOMES = ['Accepted', 'Rejected'] as const;
const STATUSES = ['Open', 'Reviewed', 'Finalized'] as const;

/** A record is called as its batch is, and stays when that is removed: then it is found by its own name alone. */
export async function findRecord(box: Box, id: string): Promise<NamedBatch> {
  try {
    return await findBatch(box, id);
  } catch (fault) {
    if (!(fault instanceof CommandError) || fault.told.code !== 'not_found' || id === '') throw fault;
    const path = { site: await box.site(), name: id };
    await box.typed.get('/api/v1/sites/{site}/batchrecords/{name}', { path }).catch((none: unknown) => {
      throw none instanceof ApiError && none.status === 404 ? fault : none;
    });
    return path;
  }
}

async function list(context: CommandContext): Promise<Outcome> {
  const { box, options, terminal } = context;
  const limit = limitOf(context);
  const given = textOf(options, 'status');
  const phase = STATUSES.find((each) => each.toLowerCase() === given?.toLowerCase());
  if (given !== undefined && !phase) throw usage(`--status ${given}: give ${STATUSES.join(', ')}`);
  const site = await box.site();
  const query: ListQuery = { limit, ...(phase === undefined ? {} : { phase }) };
  const { items, nextCursor } = await box.typed.get('/api/v1/sites/{site}/batchrecords', { path: { site }, query });
  if (nextCursor !== null) terminal.say(`lineside: the first ${items.length} are shown, there are more: --limit, or --status`);
  return { data: items, text: items.length === 0 ? `there is no such record in ${site}` : listed(items) };
}

function listed(items: readonly RecordItem[]): string {
  const rows = items.map(({ batchID, name, phase, outcome, settled, recipe, version, endedAt }) => [
    batchID,
    name,
    settled ? phase : `${phase}, not settled`,
    outcome,
    `${recipe} ${version}`,
    endedAt,
  ]);
  return table(['batch', 'record', 'status', 'outcome', 'recipe', 'ended'], rows);
}

async function show({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const path = await findRecord(box, id);
  const record = await box.typed.get('/api/v1/sites/{site}/batchrecords/{name}', { path: { ...path } });
  return { data: record, text: shown(record).join('\n') };
}

function shown({ name, phase, outcome, spec, conditions, review, comments, finalized, seal, signatures, legalHolds }: RecordBody): readonly string[] {
  return [
    `record of batch ${spec.batch.batchID} (${name}) is ${phase}; the batch ended ${outcome}`,
    ...(review ? [`reviewed by ${review.by} at ${review.at}: ${review.outcome}${review.comment === '' ? '' : `, ${plainLine(review.comment)}`}`] : []),
    ...(finalized ? [`sealed by ${finalized.by} at ${finalized.at}: ${plainLine(finalized.reason)}`] : []),
    ...(seal ? [seal.ok ? 'it still is what was signed' : `it is not what was signed: ${seal.problems.join('; ')}`] : []),
    ...(legalHolds.length === 0 ? [] : [`kept by legal hold ${legalHolds.join(', ')}`]),
    ...section(
      'signatures:',
      signatures.map(({ state, words }) => `${state}: ${words}`),
    ),
    ...section(
      'conditions:',
      conditions.map(({ type, status, message = '' }) => `${type} is ${status}${message === '' ? '' : `: ${message}`}`),
    ),
    ...section(
      'comments:',
      comments.map(({ text, by, at, reference }) => `${at}  ${by}: ${text}${reference === '' ? '' : ` (${reference})`}`),
    ),
  ];
}

async function review(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [id = '', word = ''] = args;
  const outcome = OUTCOMES.find((each) => each.toLowerCase() === word.toLowerCase());
  if (!outcome) throw usage(`${word} is no outcome of a review: give ${OUTCOMES.join(' or ')}`);
  const comment = textOf(options, 'comment');
  const path = { ...(await findRecord(box, id)) };
  const body = { outcome, ...(comment === undefined ? {} : { comment }) };
  const done = await signed(context, () => box.typed.post('/api/v1/sites/{site}/batchrecords/{name}/review', { path, body }));
  return { data: done, text: `the record of ${id} is ${done.phase}: ${done.review.outcome} by ${done.review.by}` };
}

async function comment({ box, args: [id = '', text = ''], options }: CommandContext): Promise<Outcome> {
  const reference = textOf(options, 'reference');
  const path = { ...(await findRecord(box, id)) };
  const done = await box.typed.post('/api/v1/sites/{site}/batchrecords/{name}/comments', { path, body: { text, ...(reference === undefined ? {} : { reference }) } });
  return { data: done, text: `the comment of ${done.by} is in the record of ${id}` };
}

async function finalize(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const [id = ''] = args;
  const path = { ...(await findRecord(box, id)) };
  const reason = await signedReason(context, `the record of ${id} is sealed: nothing of it can be changed afterwards`);
  const done = await signed(context, () => box.typed.post('/api/v1/sites/{site}/batchrecords/{name}/finalize', { path, body: { reason } }));
  return { data: done, text: `the record of ${id} is ${done.phase}, signed by ${done.actionBy}` };
}

/** For the completion of a shell. */
function batchesWithRecord(...statuses: readonly (typeof STATUSES)[number][]): (context: CommandContext) => Promise<readonly string[]> {
  return async ({ box }) => {
    const site = await box.site();
    const { items } = await box.typed.get('/api/v1/sites/{site}/batchrecords', { path: { site }, query: {} });
    return items.filter(({ phase }) => statuses.includes(phase)).map(({ batchID }) => batchID);
  };
}

const notSealed = { batch: batchesWithRecord('Open', 'Reviewed') };

export const RECORD_STATUS_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'records list',
    about: 'batch records with their status, the latest ended first',
    options: [['--status <status>', STATUSES.join(', ')], LIMIT],
    examples: ['lineside records list --status Open'],
    run: list,
  },
  {
    typed: 'records show <batch>',
    about: 'the status of the record of a batch: its review, comments, signature, and whether it still is what was signed',
    names: { batch: batchesWithRecord(...STATUSES) },
    examples: ['lineside records show WO-7'],
    run: show,
  },
  {
    typed: 'records review <batch> <outcome>',
    about: 'accept or reject the record of a batch before it is sealed: it is Reviewed then',
    options: [['--comment <text>', 'goes into the record'], ...PROOF],
    words: { outcome: OUTCOMES },
    names: notSealed,
    examples: ['lineside records review WO-7 Accepted --comment "yield as planned"'],
    run: review,
  },
  {
    typed: 'records comment <batch> <text>',
    about: 'comment on the record of a batch',
    options: [['--reference <text>', 'what it is about, such as an element or an event']],
    names: notSealed,
    examples: ['lineside records comment WO-7 "the deviation is explained in DEV-12"'],
    run: comment,
  },
  {
    typed: 'records finalize <batch>',
    about: 'sign and seal the record of a batch: nothing of it can be changed afterwards',
    options: [['--reason <text>', 'goes on record with the signature; asked for at the terminal where it is left out'], ...PROOF],
    names: notSealed,
    examples: ['lineside records finalize WO-7 --reason "reviewed and released"'],
    run: finalize,
  },
];
