/** apply, diff, export, validate, schemas: a plant as files. */
import { isDeepStrictEqual } from 'node:util';
import { LONG_ANSWER_BYTES_MAX } from '../../client/answer.js';
import { MANIFESTS_MAX } from '../../domains/apply/manifest.js';
import { ApiError } from '../../client/api.js';
import type { Answered } from '../../client/typed.js';
import { type ExportedManifest, type Filed, readFolder, writeExport } from '../files/export-files.js';
import { absentSitesOf, assumed } from '../files/absent-sites.js';
import { byPlace } from '../files/by-place.js';
import { type FiledManifest, type FileFault, type ReadFiles, readManifestFiles } from '../files/manifest-files.js';
import { type Judged, type JudgedError, judgeOffline } from '../files/offline.js';
import { placeOfDiagnostic, placeOfField, placeOfRefused, type TextDiagnostic } from '../files/places.js';
import { ownSchemas, schemasOfBox, writeSchemas } from '../files/schemas.js';
import { twiceIn } from '../files/twice.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { familyOf } from './families.js';
import { lineDifferences } from './line-diff.js';
import { timeoutOf } from './given.js';
import { CommandError, EXIT, failureOf, type Outcome, usage } from './outcome.js';
import { addressOfOne } from './resources.js';
import { readSelector, type Selector } from './selector.js';
import type { Terminal } from './terminal.js';
import { until } from './until.js';

const WAIT_MS_DEFAULT = 60_000;
const WARNINGS_SHOWN = 10;
/** Of what validate finds: as many as a box tells of an apply. */
const FAULTS_SHOWN = 1000;
const WHOLE_PLANT = { bytesMax: LONG_ANSWER_BYTES_MAX } as const;

type Applied = Extract<Answered<'/api/v1/apply', 'post'>, readonly unknown[]>[number];

async function readGiven({ options, terminal }: CommandContext): Promise<readonly FiledManifest[]> {
  const paths = textsOf(options, 'filename');
  if (paths.length === 0) throw usage('name files or folders with -f; - is standard input');
  const { manifests, faults, files } = await readPaths(paths, terminal);
  const wrong = byPlace([...faults, ...twiceIn(manifests)], files);
  if (wrong.length > 0) throw wrongFiles(wrong);
  if (manifests.length > MANIFESTS_MAX) throw usage(`${manifests.length} manifests are more than one request takes (${MANIFESTS_MAX}): apply folders of it one after the other`);
  return manifests;
}

/** @throws CommandError where there is nothing to judge: a name that is mistyped must not pass. */
async function readPaths(paths: readonly string[], terminal: Terminal): Promise<ReadFiles> {
  const read = readManifestFiles(paths, paths.includes('-') ? await terminal.read() : undefined);
  if (read.manifests.length > 0 || read.faults.length > 0) return read;
  throw usage(`there is no manifest in ${paths.join(', ')} (${count(read.files.length, 'file')}): manifests stand in .yaml, .yml and .json files`);
}

function wrongFiles(faults: readonly FileFault[]): CommandError {
  return new CommandError(EXIT.no, 'files_wrong', [`${count(faults.length, 'thing')} wrong:`, ...faults.map(faultLine)].join('\n'), { faults });
}

function faultLine({ file, line, column, message, code }: FileFault): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** What is wrong with manifests, by the place where it stands; of a text that does not compile every line. */
function placed(errors: readonly JudgedError[], manifests: readonly FiledManifest[]): readonly FileFault[] {
  return errors
    .flatMap((error) => placesOf(error, manifests[error.index]).map((fault) => ({ fault, at: error.index })))
    .toSorted((a, b) => a.at - b.at || a.fault.line - b.fault.line || a.fault.column - b.fault.column)
    .map(({ fault }) => fault);
}

function placesOf({ kind, name, code, error, field, diagnostics = [] }: JudgedError, manifest: FiledManifest | undefined): readonly FileFault[] {
  if (!manifest) return [];
  const words = [kind, name].filter((word) => word !== '').join(' ');
  const title = words === '' ? '' : `${words}: `;
  const wrong = (diagnostics as readonly TextDiagnostic[]).filter(({ severity }) => severity !== 'warning');
  if (wrong.length > 0) return wrong.map((each) => ({ file: manifest.file, ...placeOfDiagnostic(manifest, each), code, message: `${title}${placeWords(each)}${each.message}` }));
  return [{ file: manifest.file, ...placeOfRefused(manifest, field), code, message: `${title}${error}` }];
}

function placeWords({ chart, step, transition }: TextDiagnostic): string {
  const words = [
    chart !== undefined && chart !== 'running' ? `chart ${chart}` : '',
    step === undefined ? '' : `step ${step}`,
    transition === undefined ? '' : `transition ${transition}`,
  ];
  const said = words.filter((word) => word !== '').join(', ');
  return said === '' ? '' : `${said}: `;
}

/** @throws CommandError with every refused manifest at its place. */
async function applied(box: Box, manifests: readonly FiledManifest[], dryRun: boolean): Promise<readonly Applied[]> {
  const query = { ...(box.namedSite === undefined ? {} : { site: box.namedSite }), ...(dryRun ? { dryRun: true } : {}) };
  try {
    const answer = await box.typed.post('/api/v1/apply', { query, body: manifests.map(({ value }) => value as Record<string, unknown>) });
    return answer as readonly Applied[];
  } catch (fault) {
    if (!(fault instanceof ApiError) || (fault.body.errors === undefined && fault.body.index === undefined)) throw fault;
    const { errors, errorsTotal, index, code, field, diagnostics } = fault.body as {
      errors?: readonly JudgedError[];
      errorsTotal?: number;
      index?: number;
      code?: string;
      field?: string;
      diagnostics?: readonly unknown[];
    };
    const one = {
      index: index ?? 0,
      kind: '',
      name: '',
      code: code ?? '',
      error: fault.message,
      ...(field === undefined ? {} : { field }),
      ...(diagnostics === undefined ? {} : { diagnostics }),
    };
    const faults = placed(errors ?? [one], manifests);
    const exitCode = fault.status === 403 ? EXIT.forbidden : EXIT.refused;
    const told = errors ?? [one];
    const notShown = Math.max(0, (errorsTotal ?? told.length) - told.length);
    const refused = count(new Set(told.map((each) => each.index)).size, 'manifest');
    const text = [
      `the box refuses ${notShown === 0 ? refused : `${refused} or more`} and has changed nothing:`,
      ...faults.map(faultLine),
      ...(notShown === 0 ? [] : [`${count(notShown, 'more error')} not shown: the box tells the first ${told.length}`]),
    ];
    throw new CommandError(exitCode, code ?? 'refused', text.join('\n'), { status: fault.status, faults, notShown });
  }
}

function titleOf({ kind, namespace, name }: Pick<Applied, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${name}${namespace === '' ? '' : ` (${namespace.replace(/^site-/, '')})`}`;
}

async function apply(context: CommandContext): Promise<Outcome> {
  const { options, terminal } = context;
  const dryRun = options.dryRun === true;
  const selector = textOf(options, 'selector');
  if (options.prune === true && selector === undefined) throw usage('--prune removes what carries a label and stands in no file: name the label with -l key=value');
  const chosen = selector === undefined ? undefined : readSelector(selector);
  if (options.prune === true && chosen?.isPositive === false)
    throw usage(`-l ${selector}: --prune would remove what carries no label of yours; name the label of the files with key=value`);
  const withinMs = timeoutOf(context) ?? WAIT_MS_DEFAULT;
  if (options.prune !== true && selector !== undefined) throw usage(`-l ${selector}: it names what --prune removes; all that the files say is applied`);
  const manifests = await readGiven(context);
  const { box } = context;
  // what is removed is known, and can be, before anything is changed
  const found = options.prune === true && chosen ? await staleOnes(box, chosen, await applied(box, manifests, true)) : [];
  const stale = dryRun || !chosen ? found : await asRead(box, chosen, found);
  const done = await applied(box, manifests, dryRun);
  const warnings = done.flatMap((each) => each.warnings.map((warning) => `${titleOf(each)}: ${warning}`));
  for (const warning of warnings.slice(0, WARNINGS_SHOWN)) terminal.say(warning);
  if (warnings.length > WARNINGS_SHOWN) terminal.say(`${warnings.length - WARNINGS_SHOWN} more warnings; -o json has them all`);
  const removed = dryRun ? stale : await removeAll(box, stale, done);
  if (options.wait === true && !dryRun) await waitForUnits(context, done, withinMs);
  const changed = done.filter(({ operation }) => operation !== 'unchanged');
  const lines = [
    ...changed.map((each) => `${dryRun ? 'would be ' : ''}${each.operation}  ${titleOf(each)}`),
    ...removed.map((each) => `${dryRun ? 'would be ' : ''}removed  ${titleOf(each)}`),
    `${count(changed.length, 'change')}, ${done.length - changed.length} unchanged${options.prune === true ? `, ${removed.length} removed` : ''}${dryRun ? ' (dry run: nothing was stored)' : ''}`,
  ];
  return { data: { dryRun, manifests: done, removed: removed.map(namedOf) }, text: lines.join('\n') };
}

type Named = Pick<Applied, 'kind' | 'namespace' | 'name'>;
/** With the address that removes it. */
interface Stale extends Named {
  readonly address: string;
  /** As it was when the labels were judged; undefined where nothing is read there. */
  readonly read?: ReadOne | undefined;
}

interface ReadOne {
  readonly etag: string | undefined;
  /** What people have written of it: what a unit does by itself raises the ETag too. */
  readonly written: { readonly generation: unknown; readonly labels: Readonly<Record<string, string>> | undefined };
}

/** Some say their labels within `metadata`. */
interface ReadBody {
  readonly generation?: unknown;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: ReadBody;
}

async function readOne(box: Box, address: string): Promise<ReadOne | undefined> {
  const found = await box.api.read<ReadBody>(address);
  if (!found) return undefined;
  const { generation, labels } = found.value.metadata ?? found.value;
  return { etag: found.etag, written: { generation, labels } };
}

/** Those that carry the label still, each as it is now. */
async function asRead(box: Box, chosen: Selector, stale: readonly Stale[]): Promise<readonly Stale[]> {
  const read: Stale[] = [];
  for (const each of stale) read.push({ ...each, read: await readOne(box, each.address) });
  return read.filter((each) => each.read?.written.labels === undefined || chosen.matches(each.read.written.labels));
}

/** More often than a device that connects and fails changes between a read and its removal. */
const REMOVE_TRIES = 5;

/** Only as it was read. @throws ApiError 412 where somebody has written it since. */
async function removeAsRead(box: Box, { address, read }: Stale): Promise<void> {
  let ifMatch = read?.etag;
  for (let tries = 1; ; tries += 1) {
    try {
      return await box.api.remove(address, undefined, { ifMatch });
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.status !== 412 || tries === REMOVE_TRIES) throw fault;
      const now = await readOne(box, address);
      if (!now || !isDeepStrictEqual(now.written, read?.written) || now.written.generation === undefined) throw fault;
      ifMatch = now.etag;
    }
  }
}

/** On the box with the label, and in none of the files; what others name comes last. @throws CommandError for a kind that no route removes. */
async function staleOnes(box: Box, chosen: Selector, done: readonly Applied[]): Promise<readonly Stale[]> {
  const kept = new Set(done.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`));
  const there = await box.api.get<readonly (ExportedManifest & { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } })[]>(exportAddress(box), WHOLE_PLANT);
  return there
    .filter(({ metadata: { labels } }) => chosen.matches(labels))
    .map(({ kind, metadata: { name, namespace = '' } }) => ({ kind, namespace, name }))
    .filter(({ kind, namespace, name }) => !kept.has(`${kind}/${namespace}/${name}`))
    .map((named) => ({ ...named, address: addressOfOne(familyOf(named.kind), named.namespace.replace(/^site-/, ''), named.name) }))
    .reverse();
}

/** One after the other, and again while one went that another may have waited for. @throws CommandError that tells what was applied, what is gone and what is left, each with why. */
async function removeAll(box: Box, stale: readonly Stale[], done: readonly Applied[]): Promise<readonly Named[]> {
  const removed: Named[] = [];
  let left = stale.map((one) => ({ one, fault: undefined as unknown }));
  for (let before = stale.length + 1; left.length > 0 && left.length < before; ) {
    before = left.length;
    const again: typeof left = [];
    for (const { one } of left) {
      const fault = await faultOf(() => removeAsRead(box, one));
      if (fault === undefined) removed.push(namedOf(one));
      else again.push({ one, fault });
      if (fault !== undefined && (!(fault instanceof ApiError) || fault.status === 0))
        throw notRemoved(box, [...again, ...left.slice(left.findIndex((each) => each.one === one) + 1)], removed, done);
    }
    left = again;
  }
  if (left.length > 0) throw notRemoved(box, left, removed, done);
  return removed;
}

async function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (fault) {
    return fault;
  }
}

function notRemoved(box: Box, left: readonly { readonly one: Stale; readonly fault: unknown }[], removed: readonly Named[], done: readonly Applied[]): CommandError {
  const failures = left.map(({ one, fault }) => ({ title: titleOf(one), failure: fault === undefined ? undefined : failureOf(fault, box.url) }));
  const [first] = failures;
  const { exitCode = EXIT.no, told } = first?.failure ?? {};
  const { message: _message, code = '', ...more } = told ?? {};
  const text = [
    `applied, and then ${first?.title ?? ''} is not removed: ${first?.failure?.message ?? ''}`,
    ...removed.map((each) => `  removed  ${titleOf(each)}`),
    ...failures.map(({ title, failure }, at) => `  not removed  ${title}${at === 0 || failure === undefined ? '' : `: ${failure.message}`}`),
  ];
  return new CommandError(exitCode, code, text.join('\n'), { ...more, manifests: done, removed, left: left.map(({ one }) => namedOf(one)) });
}

const namedOf = ({ kind, namespace, name }: Named): Named => ({ kind, namespace, name });

async function waitForUnits({ box, terminal }: CommandContext, done: readonly Applied[], withinMs: number): Promise<void> {
  const sites = [...new Set(done.map(({ kind, namespace, name }) => (kind === 'Site' ? name : namespace.replace(/^site-/, ''))))].filter((site) => site !== '');
  const begun = performance.now();
  for (const site of sites) {
    let waiting: readonly string[] = [];
    await until({
      look: async () => {
        const units = await box.typed.all('/api/v1/sites/{site}/units', { path: { site }, options: { background: true } });
        waiting = units.filter(({ runtimeReady }) => !runtimeReady).map(({ name }) => name);
        return waiting.length === 0 ? true : undefined;
      },
      withinMs: withinMs - (performance.now() - begun),
      late: () => {
        const message = `applied, but ${waiting.join(', ')} of ${site} ${waiting.length === 1 ? 'does' : 'do'} not run within ${withinMs / 1000} s: lineside describe unit ${waiting[0]}`;
        return new CommandError(EXIT.no, 'not_ready', message, { site, units: waiting });
      },
      terminal,
    });
  }
}

async function diff(context: CommandContext): Promise<Outcome> {
  const manifests = await readGiven(context);
  const told = (await applied(context.box, manifests, true)).filter(({ operation }) => operation !== 'unchanged');
  const parts = told.map((each) => [`${each.operation === 'created' ? 'new' : 'differs'}  ${titleOf(each)}`, ...(each.changes ?? []).flatMap(changeLines)].join('\n'));
  return { data: { manifests: told }, text: parts.length === 0 ? 'no differences' : parts.join('\n\n'), exitCode: parts.length === 0 ? EXIT.ok : EXIT.no };
}

type Change = NonNullable<Applied['changes']>[number];

/** A text of several lines is compared line by line. */
function changeLines({ path, from, to }: Change): readonly string[] {
  if (typeof from === 'string' && typeof to === 'string' && (from.includes('\n') || to.includes('\n')))
    return [`    ${path}:`, ...lineDifferences(from, to).map((line) => `      ${line}`)];
  if (from === null) return typeof to === 'string' && to.includes('\n') ? [`  + ${path}:`, ...to.split('\n').map((line) => `      ${line}`)] : [`  + ${path}: ${wordOf(to)}`];
  return to === null ? [`  - ${path}: ${wordOf(from)}`] : [`  ~ ${path}: ${wordOf(from)} -> ${wordOf(to)}`];
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? (value === '' ? '""' : value) : JSON.stringify(value);
}

function exportAddress({ namedSite }: Box, kinds?: string): string {
  const query = new URLSearchParams({ ...(namedSite === undefined ? {} : { site: namedSite }), ...(kinds === undefined ? {} : { kinds }) });
  return `/api/v1/export?${query.toString()}`;
}

async function exportTo({ box, args: [folder = ''], options }: CommandContext): Promise<Outcome> {
  const manifests = await box.api.get<readonly ExportedManifest[]>(exportAddress(box, textOf(options, 'kinds')), WHOLE_PLANT);
  const filed = readFolder(folder);
  const result = writeExport(folder, manifests, filed, await saidByFiles(box, filed));
  const lines = [
    `${count(result.written.length, 'file')} written, ${count(result.unchanged, 'resource')} unchanged`,
    ...(options.kinds === undefined && box.namedSite === undefined ? result.notOnBox.map((file) => `not on the box: ${file}`) : []),
  ];
  return { data: result, text: lines.join('\n') };
}

/** Manifests that say what the box has, though in other words: what a person wrote in ten lines, or as structured text, is not replaced by what it means. None where the box cannot judge them. */
async function saidByFiles(box: Box, { manifests, faults }: Filed): Promise<ReadonlySet<FiledManifest>> {
  if (manifests.length === 0 || manifests.length > MANIFESTS_MAX || faults.length > 0) return new Set();
  try {
    const told = await applied(box, manifests, true);
    return new Set(manifests.filter((_, at) => told[at]?.operation === 'unchanged'));
  } catch (fault) {
    // a person who may only look, or a file of which the box takes nothing
    if (fault instanceof CommandError) return new Set();
    if (fault instanceof ApiError && fault.status !== 0 && fault.status !== 401) return new Set();
    throw fault;
  }
}

async function validate({ args: [given = ''], options, terminal }: CommandContext): Promise<Outcome> {
  const { manifests, faults, files } = await readPaths([given === '' ? '.' : given], terminal);
  const absent = options.partial === true ? absentSitesOf(manifests) : [];
  const judged: Judged = await judgeOffline([...manifests.map(({ value }) => value), ...absent.map(assumed)]);
  const isElsewhere = ({ code }: { readonly code: string }): boolean => options.partial === true && (code === 'unknown_reference' || code === 'not_found');
  const all = placed(judged.errors, manifests);
  const wrong = byPlace([...faults, ...twiceIn(manifests), ...all.filter((fault) => !isElsewhere(fault))], files);
  const warned = byPlace(
    [
      ...absent.map(
        ({ name, first }): FileFault => ({
          file: first.file,
          ...placeOfField(first, 'metadata.namespace'),
          message: `site ${name} stands in no file: it is taken to be on the box`,
          code: 'not_found',
        }),
      ),
      ...all.filter(isElsewhere),
      ...judged.warnings.flatMap(({ index, warning }): FileFault[] => {
        const manifest = manifests[index];
        return manifest ? [{ file: manifest.file, ...placeOfField(manifest, memberOf(warning)), message: warning, code: 'warning' }] : [];
      }),
    ],
    files,
  );
  const text = [
    ...byPlace([...shownOf(wrong, 'error'), ...shownOf(warned, 'warning')], files).map(faultLine),
    ...notShownOf(wrong, 'error'),
    ...notShownOf(warned, 'warning'),
    `${count(manifests.length, 'manifest')} in ${count(files.length, 'file')}: ${wrong.length === 0 ? 'all of them would be taken by an empty box' : count(wrong.length, 'error')}${warned.length === 0 ? '' : `, ${count(warned.length, 'warning')}`}`,
  ].join('\n');
  return { data: { manifests: manifests.length, files: files.length, errors: wrong, warnings: warned }, text, exitCode: wrong.length === 0 ? EXIT.ok : EXIT.no };
}

function shownOf(faults: readonly FileFault[], word: string): readonly FileFault[] {
  return faults.slice(0, FAULTS_SHOWN).map((fault) => ({ ...fault, message: `${word}: ${fault.message}` }));
}

function notShownOf(faults: readonly FileFault[], word: string): readonly string[] {
  return faults.length <= FAULTS_SHOWN ? [] : [`${count(faults.length - FAULTS_SHOWN, `more ${word}`)} not shown; -o json has them all`];
}

/** A warning that is about one member begins with it. */
function memberOf(warning: string): string {
  return /^(spec\.[^\s:]+): /.exec(warning)?.[1] ?? 'spec';
}

async function schemas(context: CommandContext): Promise<Outcome> {
  const [folder = ''] = context.args;
  const { files, isEditorSet } = writeSchemas(folder, context.options.box === undefined ? ownSchemas() : await schemasOfBox(context.box));
  const editor = isEditorSet ? 'Visual Studio Code with the YAML extension uses them from here on' : `an editor takes ${files[0]} as the schema of the YAML files`;
  return { data: { files }, text: `${count(files.length, 'file')} written; ${editor}` };
}

const FILES = ['-f, --filename <path...>', 'files and folders of manifests; - is standard input'] as const;

export const PLANT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'apply',
    about: 'bring the box to what files say, in one transaction',
    options: [
      FILES,
      ['--dry-run', 'judge everything and tell what would change; store nothing'],
      ['--prune', 'afterwards remove what carries the label and stands in no file'],
      ['-l, --selector <labels>', 'for --prune: key=value, key==value or key!=value, several with commas between them'],
      ['--wait', 'until the units of the sites concerned run'],
      ['--timeout <time>', `of --wait: seconds, or a duration such as 5m; ${WAIT_MS_DEFAULT / 1000} where it is left out`],
    ],
    examples: ['lineside apply -f plant/ --dry-run', 'lineside apply -f plant/ --wait', 'lineside apply -f plant/ --prune -l plant=brewery'],
    run: apply,
  },
  { typed: 'diff', about: 'what apply would change; exit code 1 where there is a difference', options: [FILES], examples: ['lineside diff -f plant/'], run: diff },
  {
    typed: 'export <folder>',
    about: 'write the configuration of the box as files; comments and order of files that are there stay',
    options: [['--kinds <kinds>', 'only these, with commas between them']],
    examples: ['lineside export plant/'],
    run: exportTo,
  },
  {
    typed: 'validate [path]',
    about: 'judge files without a box, - is standard input; errors with line and column, exit code 1',
    options: [['--partial', 'what the files name and do not hold is on the box: a warning']],
    isLocal: true,
    examples: ['lineside validate plant/'],
    run: validate,
  },
  {
    typed: 'schemas <folder>',
    about: 'write JSON Schemas of all kinds, for completion, words and errors in an editor',
    options: [['--box <box>', 'those of this box, by name or address, which may be newer than this program']],
    isLocal: true,
    examples: ['lineside schemas plant/', 'lineside schemas plant/ --box press-hall'],
    run: schemas,
  },
];
