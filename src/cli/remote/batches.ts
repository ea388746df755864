/** batch: made, judged before its start, commanded, looked at, removed. */
import { shortText } from '../../platform/base/short-text.js';
import { ApiError } from '../../client/api.js';
import type { Call } from '../../client/typed.js';
import { BATCH_WORDS } from './batch-command.js';
import { showBatch } from './batch-show.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { batchIDs, type BatchItem, findBatch } from './find-batch.js';
import { LIMIT, limitOf, parameterOptions, parametersOf, tellMore } from './given.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';
import { type Check, preflightLines } from './preflight.js';
import { effectiveRecipes } from './recipes.js';

type ListQuery = NonNullable<Call<'/api/v1/sites/{site}/batches', 'get'>['query']>;

async function list(context: CommandContext): Promise<Outcome> {
  const { box, options } = context;
  const limit = limitOf(context);
  const site = await box.site();
  const state = textsOf(options, 'state').flatMap((text) => text.split(','));
  const search = textOf(options, 'search');
  // words that a batch has not are refused by the box, which names those that it has
  const query = { order: 'recent', limit, ...(state.length === 0 ? {} : { state }), ...(search === undefined ? {} : { search }) } as ListQuery;
  const page = await box.typed.page('/api/v1/sites/{site}/batches', { path: { site }, query });
  tellMore(context, page, '--limit, or --state and --search');
  const batches = page.items;
  return { data: batches, text: batches.length === 0 ? `there is no such batch in ${site}` : listed(batches) };
}

function listed(batches: readonly BatchItem[]): string {
  const rows = batches.map(({ batchID, phase, masterRecipeRef, units, startedAt, blockedBecause }) => [
    batchID,
    phase,
    masterRecipeRef,
    units.join(' '),
    startedAt,
    shortText(blockedBecause, WAITS_MAX),
  ]);
  return table(['batch', 'state', 'recipe', 'units', 'started', 'waits'], rows);
}

/** Of a line of a list; `batch show` says all of it. */
const WAITS_MAX = 72;

function specOf(context: CommandContext) {
  const { options } = context;
  const recipe = textOf(options, 'recipe');
  const batchID = textOf(options, 'id');
  if (recipe === undefined) throw usage('name the recipe with --recipe; lineside recipe list tells which there are');
  if (batchID === undefined) throw usage('give the batch an ID with --id; it is given once and never again');
  const formulaName = textOf(options, 'formula');
  const description = textOf(options, 'description');
  return {
    batchID,
    masterRecipeRef: recipe,
    ...(formulaName === undefined ? {} : { formulaName }),
    ...(description === undefined ? {} : { description }),
    ...parametersOf(context),
  };
}

async function create(context: CommandContext): Promise<Outcome> {
  const { box } = context;
  const body = specOf(context);
  const site = await box.site();
  try {
    const batch = await box.typed.post('/api/v1/sites/{site}/batches', { path: { site }, body });
    return { data: batch, text: `made batch ${batch.batchID} (${batch.name}); it waits: lineside batch start ${batch.batchID}` };
  } catch (fault) {
    if (!(fault instanceof ApiError) || (fault.status !== 400 && fault.status !== 409)) throw fault;
    const checks = await judged(context, site, body);
    const lines = preflightLines(checks.filter(({ ok, severity }) => !ok && severity === 'error'));
    const { error: _said, code: _code, status: _status, ...more } = fault.body;
    throw new CommandError(EXIT.refused, fault.code, [fault.message, ...lines.map((line) => `  ${line}`)].join('\n'), { status: fault.status, ...more, checks });
  }
}

/** All that is in the way beside what the box named first; none where it cannot judge what was written either. */
async function judged({ box }: CommandContext, site: string, body: ReturnType<typeof specOf>): Promise<readonly Check[]> {
  try {
    return (await box.typed.post('/api/v1/sites/{site}/batches/preflight', { path: { site }, body })).checks;
  } catch {
    return [];
  }
}

async function preflight(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [id = ''] = args;
  const site = await box.site();
  const body = id === '' ? specOf(context) : { batch: (await findBatch(box, id)).name, command: options.restart === true ? ('Restart' as const) : ('Start' as const) };
  const found = await box.typed.post('/api/v1/sites/{site}/batches/preflight', { path: { site }, body });
  const text = [...preflightLines(found.checks), found.ok ? 'nothing is in the way' : 'it would be refused'].join('\n');
  return { data: found, text, exitCode: found.ok ? EXIT.ok : EXIT.no };
}

async function remove({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const { site, name } = await findBatch(box, id);
  await box.typed.remove('/api/v1/sites/{site}/batches/{name}', { path: { site, name } });
  return { data: { name }, text: `removed batch ${id} (${name})` };
}

const anyBatch = ({ box }: CommandContext) => batchIDs(box, { onlyOpen: false });

const NEW_BATCH = [
  ['--recipe <recipe>', 'name of the master recipe'],
  ['--id <id>', 'batchID; given once'],
  ['--formula <name>', 'formula of the recipe'],
  ...parameterOptions(),
  ['--description <text>', 'what people should know of it'],
] as const;

export const BATCH_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'batch list',
    about: 'batches: open ones first, then those that wait for a start, then those that have ended',
    options: [
      ['--state <state...>', 'only those in these states: Pending, Running, Held, Complete ...'],
      ['--search <text>', 'only those with this text in their ID, recipe, order, lot or description'],
      LIMIT,
    ],
    examples: ['lineside batch list --state Running Held'],
    run: list,
  },
  {
    typed: 'batch show <batch>',
    about: 'one batch: its state, what it waits for, what went wrong, its elements; by batchID, name or work order',
    names: { batch: anyBatch },
    run: showBatch,
  },
  {
    typed: 'batch create',
    about: 'make a batch; it waits until it is started',
    options: NEW_BATCH,
    examples: ['lineside batch create --recipe resin-a --id B-12 --param reactTime=20 --unit reactor=rx101'],
    names: { recipe: effectiveRecipes },
    run: create,
  },
  {
    typed: 'batch preflight [batch]',
    about: 'what is in the way of a start, of a batch or of one that is only thought of; exit code 1 where it would be refused',
    options: [...NEW_BATCH, ['--restart', 'judge the Restart of a batch that is held, not its Start']],
    names: { batch: anyBatch },
    examples: ['lineside batch preflight WO-7', 'lineside batch preflight --recipe resin-a --id B-13 --quantity 50'],
    run: preflight,
  },
  ...BATCH_WORDS,
  {
    typed: 'batch delete <batch>',
    about: 'withdraw a batch that waits for its start; in development mode also remove one that has ended',
    names: { batch: anyBatch },
    run: remove,
  },
];
