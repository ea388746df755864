/** change: requests to change what is under change control, and their decisions. */
import { ApiError } from '../../client/api.js';
import type { Answered } from '../../client/typed.js';
import { CHANGE_PHASES, RISKS } from '../../domains/change-control/kind.js';
import { KINDS } from '../../domains/index.js';
import type { Kind } from '../../platform/store/kind.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import type { Box } from './box.js';
import { changeLines } from './change-lines.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { familyOf } from './families.js';
import { oneOfWords, PROOF, REASON, signed, signedReason } from './given.js';
import { EXIT, type Outcome, section, table } from './outcome.js';
import { plainLine } from './plain.js';
import { FILES, readGiven } from './plant.js';
import { addressOfOne } from './resources.js';

type Request = Answered<'/api/v1/changerequests/{namespace}/{name}', 'get'>;

async function list({ box, options }: CommandContext): Promise<Outcome> {
  const phase = oneOfWords(options, 'phase', CHANGE_PHASES);
  const site = await box.site();
  const requests = await box.typed.all('/api/v1/changerequests', { query: { site, ...(phase === undefined ? {} : { phase: [phase] }) } });
  const rows = requests.map(({ name, spec, status }) => [
    name,
    status.phase,
    `${spec.operation} ${spec.target.kind} ${spec.target.name}`,
    spec.risk,
    status.author,
    status.createdAt,
  ]);
  return { data: requests, text: rows.length === 0 ? `there is no change request in ${site}` : table(['request', 'state', 'what', 'risk', 'by', 'made'], rows) };
}

const pathOf = async ({ box, args: [name = ''] }: CommandContext) => ({ namespace: `site-${await box.site()}`, name });

async function show(context: CommandContext): Promise<Outcome> {
  const request = await context.box.typed.get('/api/v1/changerequests/{namespace}/{name}', { path: await pathOf(context) });
  return { data: request, text: shown(request).join('\n') };
}

function shown({ name, spec, status, changes, changesTotal, targetChanged, blastRadius }: Request): readonly string[] {
  const { target, operation, reason, description, risk, evidence } = spec;
  const decided =
    status.decidedBy === '' ? `can be approved until ${status.expiresAt}` : `${plainLine(status.decidedBy)} at ${status.decidedAt}: ${plainLine(status.decisionReason)}`;
  return [
    `change request ${name} is ${status.phase}: ${operation} ${target.kind} ${target.name}, risk ${risk}`,
    `  asked for by ${plainLine(status.author)} at ${status.createdAt}: ${plainLine(reason)}`,
    ...(description === '' ? [] : [`  ${plainLine(description)}`]),
    ...(status.phase === 'Expired' ? [] : [`  ${decided}`]),
    ...(status.error === '' ? [] : [`  not applied: ${status.error}`]),
    ...(targetChanged
      ? [`  ${target.kind} ${target.name} is another one than ${status.phase === 'Applied' ? 'it was left' : 'when this was asked for: the approval would fail'}`]
      : []),
    ...section(status.phase === 'Pending' ? 'would change:' : 'changed:', changes.flatMap(changeLines)),
    ...(status.phase === 'Pending' && spec.manifest !== undefined && changes.length === 0 ? ['  would change nothing: it is so already'] : []),
    ...(changesTotal > changes.length ? [`  and ${changesTotal - changes.length} more`] : []),
    ...section(
      'used by:',
      blastRadius.uses.map((use) => `${use.kind} ${use.name}`),
    ),
    ...section(
      'units concerned:',
      blastRadius.units.map(({ name: unit, state, batch }) => `${unit} is ${state}${batch === '' ? '' : `, works for ${batch}`}`),
    ),
    ...section(
      'batches concerned:',
      blastRadius.batches.map(({ name: batch, phase }) => `${batch} is ${phase}`),
    ),
    ...section(
      'evidence:',
      evidence.map(({ kind, name: of, digest }) => `${kind} ${of}, ${digest}`),
    ),
  ];
}

/** Of each file its manifests, of each a request of its own: each is decided by itself. */
async function request(context: CommandContext): Promise<Outcome> {
  const { options } = context;
  const risk = oneOfWords(options, 'risk', RISKS);
  const manifests = await readGiven(context);
  const asked = manifests
    .map(({ value }) => value as Manifest)
    .map(({ apiVersion = '', kind = '', metadata = {}, ...rest }) => ({
      site: metadata.namespace?.replace(/^site-/, ''),
      target: { apiVersion, kind, name: metadata.name ?? '' },
      manifest: { apiVersion, kind, metadata, ...rest },
    }));
  return ask(context, asked, { ...(risk === undefined ? {} : { risk }) });
}

interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

async function requestDelete(context: CommandContext): Promise<Outcome> {
  const [word = '', name = ''] = context.args;
  const { kind } = familyOf(word);
  const risk = oneOfWords(context.options, 'risk', RISKS);
  const apiVersion = apiVersionOf((KINDS as readonly Kind[]).find((each) => each.kind === kind) as Kind);
  return ask(context, [{ site: undefined, target: { apiVersion, kind, name } }], { operation: 'Delete', ...(risk === undefined ? {} : { risk }) });
}

interface Asked {
  readonly site: string | undefined;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly manifest?: Readonly<Record<string, unknown>>;
}

async function ask(context: CommandContext, asked: readonly Asked[], more: { readonly operation?: 'Delete'; readonly risk?: (typeof RISKS)[number] }): Promise<Outcome> {
  const { box, options } = context;
  const reason = await signedReason(context, `the request to change ${asked.map(({ target }) => `${target.kind} ${target.name}`).join(', ')}`);
  const description = textOf(options, 'description');
  const made: Answered<'/api/v1/sites/{site}/changerequests', 'post'>[] = [];
  for (const { site, ...spec } of asked) {
    const path = { site: site ?? (await box.site()) };
    const isNew = spec.manifest !== undefined && !(await isThere(box, path.site, spec.target));
    const body = { ...spec, ...(isNew ? { operation: 'Create' as const } : {}), ...more, reason, ...(description === undefined ? {} : { description }) };
    made.push(await signed(context, () => box.typed.post('/api/v1/sites/{site}/changerequests', { path, body })));
  }
  return {
    data: made,
    text: made
      .map(({ name, spec: { target } }) => `asked for: ${target.kind} ${target.name} is change request ${name}; somebody else decides it: lineside change show ${name}`)
      .join('\n'),
  };
}

async function isThere(box: Box, site: string, { kind, name }: Asked['target']): Promise<boolean> {
  const family = familyOf(kind);
  if (family.path === undefined) return true;
  try {
    await box.api.get(addressOfOne(family, site, name));
    return true;
  } catch (fault) {
    if (fault instanceof ApiError && fault.status === 404) return false;
    throw fault;
  }
}

const STEPS = [
  {
    word: 'approve',
    about: 'what it asks for is right: it is applied at once',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/changerequests/{namespace}/{name}/approve', { path, body }),
  },
  {
    word: 'reject',
    about: 'what it asks for is not right',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/changerequests/{namespace}/{name}/reject', { path, body }),
  },
  {
    word: 'withdraw',
    about: 'its author, or an administrator, asks no more',
    call: (box: Box, path: Path, body: Reason) => box.typed.post('/api/v1/changerequests/{namespace}/{name}/withdraw', { path, body }),
  },
] as const;

type Path = Readonly<Record<'namespace' | 'name', string>>;
type Reason = Readonly<Record<'reason', string>>;

/** Exit code 1 of one that was approved and could not be applied. */
async function decide(step: (typeof STEPS)[number], context: CommandContext): Promise<Outcome> {
  const path = await pathOf(context);
  const reason = await signedReason(context, `${step.word} of ${path.name}`);
  const done = await signed(context, () => step.call(context.box, path, { reason }));
  const { phase, error, decidedBy } = done.status;
  const text = `${done.name} is ${phase}, by ${decidedBy}${error === '' ? '' : `: ${error}`}`;
  return { data: done, text, ...(phase === 'Failed' ? { exitCode: EXIT.no } : {}) };
}

async function verify({ box }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get('/api/v1/change-control/verify', {});
  const { ok, checked, firstInvalid } = found;
  const text = ok ? `${checked} change requests are what was signed, recorded and applied` : `${firstInvalid?.name ?? ''} is not what was recorded: ${firstInvalid?.reason ?? ''}`;
  return { data: found, text, exitCode: ok ? EXIT.ok : EXIT.no };
}

async function namesOf({ box }: CommandContext): Promise<readonly string[]> {
  return (await box.typed.all('/api/v1/changerequests', { query: { site: await box.site() } })).map(({ name }) => name);
}

const ASKING = [['--risk <risk>', RISKS.join(', ')], ['--description <text>', 'what the approver should know beside the reason'], REASON, ...PROOF] as const;

export const CHANGE_COMMANDS: readonly CommandRow[] = [
  { typed: 'change list', about: 'change requests of the site', options: [['--phase <phase>', CHANGE_PHASES.join(', ')]], run: list },
  { typed: 'change show <request>', about: 'what it asks for, value by value, and what uses that', names: { request: namesOf }, run: show },
  {
    typed: 'change request',
    about: 'ask for what files say, a request for each manifest; somebody else approves it',
    options: [FILES, ...ASKING],
    examples: ['lineside change request -f heat.yaml --reason "the new raw material melts at 63 degrees" --risk Medium'],
    run: request,
  },
  { typed: 'change request-delete <kind> <name>', about: 'ask for the removal of a resource', options: ASKING, run: requestDelete },
  ...STEPS.map(
    (step): CommandRow => ({
      typed: `change ${step.word} <request>`,
      about: step.about,
      options: [REASON, ...PROOF],
      names: { request: namesOf },
      run: (context) => decide(step, context),
    }),
  ),
  { typed: 'change verify', about: 'whether every change request is what was signed, recorded and applied; exit code 1 where one is not', run: verify },
];
