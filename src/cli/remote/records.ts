/** record: what happened to a batch, as JSON or BatchML. */
import { writeFileSync } from 'node:fs';
import { LONG_ANSWER_BYTES_MAX } from '../../client/answer.js';
import { addressOf } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { batchIDs, findBatch, type NamedBatch } from './find-batch.js';
import { TIMEOUT, timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, usage } from './outcome.js';
import { until } from './until.js';

const FORMATS = ['json', 'xml', 'b2mml', 'b2mml-mesa'] as const;

async function record(context: CommandContext): Promise<Outcome> {
  const { box, args, options, terminal } = context;
  const format = FORMATS.find((each) => each === (textOf(options, 'format') ?? 'json'));
  if (!format) throw usage(`--format ${textOf(options, 'format')}: a record is read as ${FORMATS.join(', ')}`);
  const withinMs = timeoutOf(context);
  const batch = await findBatch(box, args[0] ?? '');
  const isMade = options.wait === true ? await made(context, batch, withinMs) : await hasRecord(box, batch);
  if (!isMade) terminal.say(`lineside: the record of ${args[0]} is provisional: the batch has not ended, or its record is being made (--wait)`);
  const path = { ...batch };
  const content =
    format === 'json' ? await box.typed.get('/api/v1/sites/{site}/batches/{name}/record', { path, options: { bytesMax: LONG_ANSWER_BYTES_MAX } }) : await xml(box, batch, format);
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  const file = textOf(options, 'out');
  if (file === undefined) return { data: { batch: batch.name, format, provisional: !isMade, record: content }, text: text.trimEnd(), isContent: true };
  write(file, `${text.trimEnd()}\n`);
  return { data: { batch: batch.name, format, provisional: !isMade, file }, text: `${file} written${isMade ? '' : ' (provisional)'}` };
}

function xml({ api }: Box, path: NamedBatch, format: string): Promise<string> {
  return api.text(addressOf('/api/v1/sites/{site}/batches/{name}/record', { path, query: { format } }), { accept: 'application/xml', bytesMax: LONG_ANSWER_BYTES_MAX });
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (fault) {
    throw usage(`${file} cannot be written: ${(fault as Error).message}`);
  }
}

async function hasRecord({ typed }: Box, path: NamedBatch): Promise<boolean> {
  const { recordRef, recordPending } = await typed.get('/api/v1/sites/{site}/batches/{name}', { path: { ...path }, options: { background: true } });
  return recordRef !== '' && !recordPending;
}

function made({ box, terminal }: CommandContext, batch: NamedBatch, withinMs: number | undefined): Promise<true> {
  return until({
    look: async () => ((await hasRecord(box, batch)) ? (true as const) : undefined),
    withinMs,
    late: () =>
      new CommandError(EXIT.no, 'timeout', `the record of ${batch.name} is not made within ${(withinMs ?? 0) / 1000} s: lineside batch show ${batch.name}`, { batch: batch.name }),
    terminal,
  });
}

export const RECORD_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'record <batch>',
    about: 'read the record of a batch; it is provisional until the batch has ended',
    options: [
      ['--format <form>', `${FORMATS.join(', ')}: json where it is left out, BatchML for the others (b2mml-mesa: as MESA publishes it)`],
      ['--out <file>', 'write it there'],
      ['--wait', 'until the batch has ended and its record is made'],
      TIMEOUT,
    ],
    names: { batch: ({ box }) => batchIDs(box, { onlyOpen: false }), format: () => Promise.resolve(FORMATS) },
    examples: ['lineside record WO-7 --format xml --out WO-7.xml', 'lineside record WO-7 --wait --timeout 2h'],
    run: record,
  },
];
