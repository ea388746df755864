/** recipe: master recipes and their lifecycle. */
import { BUMPS } from '../../domains/recipes/version.js';
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { oneOfWords, pairsOf, parameterOptions, parametersOf, PROOF, recordOf, signed, signedReason } from './given.js';
import { EXIT, type Outcome, section, table, usage } from './outcome.js';
import { until } from './until.js';

type Recipe = Answered<'/api/v1/sites/{site}/recipes/master/{name}', 'get'>;

async function list({ box }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const recipes = await box.typed.all('/api/v1/sites/{site}/recipes/master', { path: { site } });
  const rows = recipes.map(({ name, phase, revision, spec: { productID, version, productName } }) => [name, phase, productID, version, String(revision), productName]);
  return { data: recipes, text: rows.length === 0 ? `there is no recipe in ${site}` : table(['recipe', 'lifecycle', 'product', 'version', 'revision', 'name'], rows) };
}

async function show({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const path = { site: await box.site(), name };
  const recipe = await box.typed.get('/api/v1/sites/{site}/recipes/master/{name}', { path });
  return { data: recipe, text: shown(recipe).join('\n') };
}

function shown({ name, phase, revision, spec, lifecycle, heldBy, notes, conditions, templateChanges }: Recipe): readonly string[] {
  const { nominal, min, max, engineeringUnit } = spec.batchSize;
  return [
    `recipe ${name} is ${phase} (revision ${revision})`,
    `  ${[`product ${spec.productID} ${spec.version}`, spec.productName, nominal === '' ? '' : `${nominal} ${engineeringUnit} (${min} to ${max})`].filter((word) => word.trim() !== '').join(', ')}`,
    ...(heldBy.length === 0 ? [] : [`  used by ${heldBy.join(', ')}`]),
    ...section(
      'needs:',
      spec.equipmentRequirements.map(({ capability, defaultUnit }) => (defaultUnit === '' ? capability : `${capability}, usually ${defaultUnit}`)),
    ),
    ...section(
      'formulas:',
      spec.formulas.map((formula) => formula.name),
    ),
    ...section('to know:', [
      ...notes,
      ...conditions.filter(({ message }) => message !== '').map(({ type, status, message }) => `${type} ${status}: ${message}`),
      ...templateChanges.map((change) => `${changeLine(change)}; batches run what was released until you sign: lineside recipe confirm-templates ${name}`),
    ]),
    ...section(
      'lifecycle:',
      lifecycle.map((entry) =>
        Object.values(entry)
          .filter((value) => typeof value === 'string' && value !== '')
          .join('  '),
      ),
    ),
  ];
}

const STEPS = [
  { word: 'approve', about: 'a draft is good', call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/approve', { path, body }) },
  {
    word: 'reject',
    about: 'a draft is not good',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/reject', { path, body }),
  },
  {
    word: 'release',
    about: 'an approved recipe may be used, with the templates as they are now',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/release', { path, body }),
  },
  {
    word: 'withdraw',
    about: 'a recipe in effect is used no more',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/withdraw', { path, body }),
  },
] as const;

interface Path {
  readonly site: string;
  readonly name: string;
}
interface Reason {
  readonly reason: string;
}

async function move(step: (typeof STEPS)[number], context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const path = { site: await box.site(), name: args[0] ?? '' };
  const reason = await signedReason(context, `${step.word} of ${path.name}`);
  const done = await signed(context, () => step.call(box, path, { reason }));
  return { data: done, text: [`${done.name} is ${done.phase}, signed by ${done.actionBy}`, ...toKnow(done.warnings)].join('\n') };
}

function toKnow(warnings: readonly string[] = []): readonly string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}

const PREVIOUS = ['keep', 'withdraw'] as const;

async function activate(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const given = textOf(options, 'previous');
  const previous = PREVIOUS.find((each) => each === (given ?? 'keep'));
  if (!previous) throw usage(`--previous ${given}: give ${PREVIOUS.join(' or ')}`);
  const path = { site: await box.site(), name: args[0] ?? '' };
  const reason = await signedReason(context, `activate of ${path.name}`);
  const done = await signed(context, () => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/activate', { path, body: { reason, previous } }));
  const lines = [
    `${done.name} is ${done.phase}, signed by ${done.actionBy}`,
    ...toKnow(done.warnings),
    ...done.withdrawn.map(({ name, version }) => `withdrawn: ${name}, version ${version}`),
    ...done.otherEffective.map(({ name, version, heldBy }) => `in effect beside it: ${name}, version ${version}${heldBy.length === 0 ? '' : `, used by ${heldBy.join(', ')}`}`),
  ];
  return { data: done, text: lines.join('\n') };
}

async function confirmTemplates(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const path = { site: await box.site(), name: args[0] ?? '' };
  const { templateChanges } = await box.typed.get('/api/v1/sites/{site}/recipes/master/{name}', { path });
  if (templateChanges.length === 0) return { data: { templateChanges }, text: `the templates of ${path.name} are what was released: there is nothing to confirm` };
  for (const change of templateChanges) context.terminal.say(changeLine(change));
  const reason = await signedReason(context, `these templates run in ${path.name} from now on`);
  const body = { reason, confirm: templateChanges.map(({ present }) => present) };
  const done = await signed(context, () => box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/confirm-templates', { path, body }));
  return { data: done, text: `${done.name} runs the templates as they are now, signed by ${done.actionBy}` };
}

function changeLine({ kind, name, by, at, differences }: Recipe['templateChanges'][number]): string {
  return `${kind} ${name} was changed by ${by} at ${at}: ${differences.join('; ')}`;
}

async function newVersion({ box, args: [name = ''], options }: CommandContext): Promise<Outcome> {
  const bump = oneOfWords(options, 'bump', BUMPS);
  const site = await box.site();
  const made = await box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/new-version', { path: { site, name }, body: bump === undefined ? {} : { bump } });
  return { data: made, text: `made ${made.name}, version ${made.spec.version}: it is ${made.phase}` };
}

async function bindings({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const found = await box.typed.get('/api/v1/sites/{site}/recipes/master/{name}/bindings', { path: { site, name } });
  const rows = found.rows.map(({ step, role, requiredType, unit, boundCM, issue, message = '' }) => [
    step,
    role,
    requiredType,
    unit,
    boundCM,
    issue === undefined ? '' : `${issue} ${message}`.trim(),
  ]);
  const lines = [
    table(['step', 'role', 'type', 'unit', 'module', 'wrong'], rows),
    ...found.notes,
    found.violations === 0 ? 'all roles are bound' : `${found.violations} role${found.violations === 1 ? ' is' : 's are'} not bound`,
  ];
  return { data: found, text: lines.join('\n'), exitCode: found.violations === 0 ? EXIT.ok : EXIT.no };
}

type Rehearsal = Answered<'/api/v1/sites/{site}/recipes/master/{name}/rehearse', 'get'>;
type Ended = Exclude<Rehearsal, { readonly running: true }>;

async function rehearse(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const path = { site: await box.site(), name: args[0] ?? '' };
  const formulaName = textOf(options, 'formula');
  const answers = recordOf(pairsOf(textsOf(options, 'answer'), '--answer', '--answer ph=7.2'));
  const body = { ...parametersOf(context), ...(formulaName === undefined ? {} : { formulaName }), ...(Object.keys(answers).length === 0 ? {} : { answers }) };
  const begun = await box.typed.post('/api/v1/sites/{site}/recipes/master/{name}/rehearse', { path, body });
  const now: Ended = begun.running ? await rehearsedIn(context, path) : begun;
  if (!('outcome' in now)) return { data: now, text: `the rehearsal of ${path.name} is gone: the box has started again meanwhile`, exitCode: EXIT.no };
  return { data: now, text: rehearsed(now).join('\n'), exitCode: now.ok ? EXIT.ok : EXIT.no };
}

function rehearsedIn({ box, terminal }: CommandContext, path: Path): Promise<Ended> {
  return until({
    look: async () => {
      const now = await box.typed.get('/api/v1/sites/{site}/recipes/master/{name}/rehearse', { path, options: { background: true } });
      return now.running ? undefined : now;
    },
    withinMs: undefined,
    late: () => new Error('a rehearsal ends by itself'),
    terminal,
  });
}

function rehearsed(end: Extract<Rehearsal, { readonly outcome: string }>): readonly string[] {
  const { recipe, version, outcome, plantSeconds, wallMs, blockedBecause, checks, prompts, outputs, alarms, unreachedSteps, unfiredTransitions, assumptions } = end;
  return [
    `${recipe} ${version}: ${outcome} after ${Math.round(plantSeconds)} s of plant time (${(wallMs / 1000).toFixed(1)} s)`,
    ...(blockedBecause === '' ? [] : [`  waits: ${blockedBecause}`]),
    ...section(
      'in the way:',
      checks.filter(({ ok }) => !ok).map(({ check, message }) => `${check}: ${message}`),
    ),
    ...section(
      'asked:',
      prompts.map(({ path, text, answer, message }) => `${path}: ${text} -> ${answer}${message === '' ? '' : ` (${message})`}`),
    ),
    ...section(
      'outputs:',
      outputs.map(({ name, value, unit }) => `${name} = ${value} ${unit}`.trimEnd()),
    ),
    ...section(
      'alarms:',
      alarms.map((alarm) =>
        Object.values(alarm)
          .filter((value) => typeof value === 'string' || typeof value === 'number')
          .join('  '),
      ),
    ),
    ...section('never reached:', [
      ...unreachedSteps.map(({ path, step }) => `${path} step ${step}`),
      ...unfiredTransitions.map(({ path, transition, reason }) => `${path} ${transition}: ${reason}`),
    ]),
    ...section('assumed:', assumptions),
  ];
}

/** For the completion of a shell. */
export async function recipeNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/recipes/master', { path: { site } })).map(({ name }) => name);
}

/** Those that a batch is made from. */
export async function effectiveRecipes({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/recipes/master', { path: { site } })).filter(({ phase }) => phase === 'Effective').map(({ name }) => name);
}

const REASON = ['--reason <text>', 'goes on record with the signature; asked for at the terminal where it is left out'] as const;

const names = { recipe: recipeNames };

export const RECIPE_COMMANDS: readonly CommandRow[] = [
  { typed: 'recipe list', about: 'master recipes with their place in the lifecycle', run: list },
  { typed: 'recipe show <recipe>', about: 'one master recipe', names, run: show },
  ...STEPS.map(
    (step): CommandRow => ({
      typed: `recipe ${step.word} <recipe>`,
      about: `sign that ${step.about}`,
      options: [REASON, ...PROOF],
      names,
      examples: [`lineside recipe ${step.word} resin-a --reason "reviewed with production"`],
      run: (context) => move(step, context),
    }),
  ),
  {
    typed: 'recipe activate <recipe>',
    about: 'sign that a released recipe is in effect: batches may be made from it',
    options: [['--previous <what>', 'keep or withdraw the other versions of its product that are in effect; keep'], REASON, ...PROOF],
    names,
    examples: ['lineside recipe activate resin-a --reason "go"', 'lineside recipe activate resin-a-v1-1-0 --previous withdraw --reason "replaces 1.0.0"'],
    run: activate,
  },
  {
    typed: 'recipe confirm-templates <recipe>',
    about: 'sign that templates which were changed after the release of a recipe are run by it from now on',
    options: [REASON, ...PROOF],
    names,
    run: confirmTemplates,
  },
  { typed: 'recipe new-version <recipe>', about: 'make a draft of the next version', options: [['--bump <part>', 'major, minor or patch']], names, run: newVersion },
  { typed: 'recipe bindings <recipe>', about: 'which control module each phase would drive; exit code 1 where one is missing', names, run: bindings },
  {
    typed: 'recipe rehearse <recipe>',
    about: 'run a recipe on a simulated copy of its units, many times as fast; exit code 1 where it does not come to its end',
    options: [
      ['--formula <name>', 'formula of the recipe'],
      ...parameterOptions(),
      [
        '--answer <name=value...>',
        'what a prompt is answered: by its result key, by its place (warm/make/discharge/ask: step path of the phase and the step that asks), or by the step path alone; may be repeated',
      ],
    ],
    names,
    examples: ['lineside recipe rehearse resin-a --answer ph=7.2 --answer viscosity=420'],
    run: rehearse,
  },
];
