/** apply, diff, export, validate, schemas: a plant as files. */
import { LONG_ANSWER_BYTES_MAX } from '../../client/answer.js';
import { MANIFESTS_MAX } from '../../domains/apply/manifest.js';
import { ApiError } from '../../client/api.js';
import { type ExportedManifest, type Filed, readFolder, writeExport } from '../files/export-files.js';
import { absentSitesOf, assumed, canBeElsewhere } from '../files/absent-sites.js';
import { byPlace } from '../files/by-place.js';
import { type FiledManifest, type FileFault, type ReadFiles, readManifestFiles } from '../files/manifest-files.js';
import { type Judged, type JudgedError, judgeOffline } from '../files/offline.js';
import { faultLine, placed, placedWarning } from '../files/placed.js';
import { placeOfField } from '../files/places.js';
import { ownSchemas, schemasOfBox, writeSchemas } from '../files/schemas.js';
import { twiceIn } from '../files/twice.js';
import { type Applied, type Named, titleOf, toldOf } from './applied.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { changeLines } from './change-lines.js';
import { bring, count } from './bring.js';
import { timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, usage } from './outcome.js';
import { orAsBefore } from './older-box.js';
import { readSelector } from './selector.js';
import type { Terminal } from './terminal.js';

const WAIT_MS_DEFAULT = 60_000;
/** Of what validate finds: as many as a box tells of an apply. */
const FAULTS_SHOWN = 1000;
const WHOLE_PLANT = { bytesMax: LONG_ANSWER_BYTES_MAX } as const;

export async function readGiven({ options, terminal }: CommandContext): Promise<readonly FiledManifest[]> {
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

type ApplyQuery = Readonly<Partial<Record<'dryRun' | 'diff', true>>> & { readonly toPrune?: string };

/** @throws CommandError with every refused manifest at its place. */
async function applied(box: Box, manifests: readonly FiledManifest[], query: ApplyQuery): Promise<readonly Applied[]> {
  const ofSite = box.namedSite === undefined ? {} : { site: box.namedSite };
  try {
    const answer = await box.typed.post('/api/v1/apply', { query: { ...ofSite, ...query }, body: manifests.map(({ value }) => value as Record<string, unknown>) });
    return answer as readonly Applied[];
  } catch (fault) {
    if (fault instanceof ApiError) {
      const errors = errorsOf(fault);
      if (errors.length > 0) throw refusedFiles(fault, errors, manifests);
    }
    throw fault;
  }
}

/** What the manifests would change. A box that has no `diff` yet tells it by a dry run, which is refused while a batch runs. */
function differing(box: Box, manifests: readonly FiledManifest[]): Promise<readonly Applied[]> {
  return orAsBefore(
    ['diff'],
    () => applied(box, manifests, { diff: true }),
    () => applied(box, manifests, { dryRun: true }),
  );
}

interface RefusedBody {
  readonly errors?: readonly JudgedError[];
  readonly errorsTotal?: number;
  readonly index?: number;
  readonly code?: string;
  readonly field?: string;
}

/** What is wrong with manifests; none where the refusal is about the request. A body that cannot be read names the manifest by its place: `[3].metadata.name`. */
function errorsOf({ message, body }: ApiError): readonly JudgedError[] {
  const { errors, index, code = '', field } = body as RefusedBody;
  if (errors) return errors;
  const one = { kind: '', name: '', code, error: message };
  if (index !== undefined) return [{ ...one, index, ...(field === undefined ? {} : { field }) }];
  const [, at, within = ''] = /^\[(\d+)\]\.?(.*)$/s.exec(field ?? '') ?? [];
  return at === undefined ? [] : [{ ...one, index: Number(at), field: within }];
}

function refusedFiles({ status, body }: ApiError, told: readonly JudgedError[], manifests: readonly FiledManifest[]): CommandError {
  const { errorsTotal = told.length, code = 'refused' } = body as RefusedBody;
  const faults = placed(told, manifests);
  const notShown = Math.max(0, errorsTotal - told.length);
  const refused = count(new Set(told.map((each) => each.index)).size, 'manifest');
  const text = [
    `the box refuses ${notShown === 0 ? refused : `${refused} or more`} and has changed nothing:`,
    ...faults.map(faultLine),
    ...(notShown === 0 ? [] : [`${count(notShown, 'more error')} not shown: the box tells the first ${told.length}`]),
  ];
  return new CommandError(status === 403 ? EXIT.forbidden : EXIT.refused, code, text.join('\n'), { status, faults, notShown });
}

/** Of a diff: what the box would refuse now, at its place. Rows stand in the order of the manifests. */
function refusedNow(told: readonly Applied[], manifests: readonly FiledManifest[]): readonly FileFault[] {
  const errors = told.flatMap(({ kind, name, refused = [] }, index) => refused.map(({ code = '', ...each }): JudgedError => ({ index, kind, name, ...each, code })));
  return placed(errors, manifests);
}

async function apply(context: CommandContext): Promise<Outcome> {
  const { options } = context;
  const selector = textOf(options, 'selector');
  if (options.prune === true && selector === undefined) throw usage('--prune removes what carries a label and stands in no file: name the label with -l key=value');
  const chosen = selector === undefined ? undefined : readSelector(selector);
  if (options.prune === true && chosen?.isPositive === false)
    throw usage(`-l ${selector}: --prune would remove what carries no label of yours; name the label of the files with key=value`);
  const withinMs = timeoutOf(context) ?? WAIT_MS_DEFAULT;
  if (options.prune !== true && selector !== undefined) throw usage(`-l ${selector}: it names what --prune removes; all that the files say is applied`);
  const manifests = await readGiven(context);
  const toPrune = options.prune === true && selector !== undefined ? { toPrune: selector } : {};
  return bring(context, {
    ask: ({ dryRun }) => applied(context.box, manifests, { ...toPrune, ...(dryRun && { dryRun }) }),
    chosen: options.prune === true ? chosen : undefined,
    warned: (at, named, warning) => warningLine(named, warning, manifests[at]),
    whyKept: WHY_KEPT,
    withinMs,
  });
}

const WHY_KEPT = {
  first: 'nothing was changed, because --prune would not remove all that carries the label:',
  last: 'mend that or wait for it, or leave out --prune: the files are applied then, and nothing is removed',
};

/** With its place, where a manifest is about it. */
function warningLine(named: Named, warning: string, manifest: FiledManifest | undefined): string {
  if (!manifest) return toldOf(named, warning);
  const { file, line, column } = placedWarning(warning, manifest);
  return `${file}:${line}:${column}: ${toldOf(named, warning)}`;
}

async function diff(context: CommandContext): Promise<Outcome> {
  const manifests = await readGiven(context);
  const answer = await differing(context.box, manifests);
  const told = answer.filter(({ operation, refused }) => operation !== 'unchanged' || refused);
  const parts = answer
    .filter(({ operation }) => operation !== 'unchanged')
    .map((each) => [`${each.operation === 'created' ? 'new' : 'differs'}  ${titleOf(each)}`, ...(each.changes ?? []).flatMap(changeLines)].join('\n'));
  const refused = refusedNow(answer, manifests);
  const text = [...(parts.length === 0 ? ['no differences'] : parts), ...(refused.length === 0 ? [] : [['an apply would be refused now:', ...refused.map(faultLine)].join('\n')])];
  return { data: { manifests: told, refused }, text: text.join('\n\n'), exitCode: parts.length === 0 ? EXIT.ok : EXIT.no };
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
    const told = await differing(box, manifests);
    return new Set(manifests.filter((_, at) => told[at]?.operation === 'unchanged'));
  } catch (fault) {
    // a person who may only look, or a file of which the box takes nothing
    if (fault instanceof CommandError) return new Set();
    if (fault instanceof ApiError && !isOfAsking(fault)) return new Set();
    throw fault;
  }
}

/** Refused for how and when it was asked: it says nothing of the files, and they are not written over because of it. */
function isOfAsking({ status, code }: ApiError): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500 || code === 'unknown_parameter';
}

async function validate({ args: [given = ''], options, terminal }: CommandContext): Promise<Outcome> {
  const { manifests, faults, files } = await readPaths([given === '' ? '.' : given], terminal);
  const absent = options.partial === true ? absentSitesOf(manifests) : [];
  const judged: Judged = await judgeOffline([...manifests.map(({ value }) => value), ...absent.map(assumed)]);
  const isAbsent = (error: JudgedError): boolean => canBeElsewhere(error, manifests[error.index]?.value);
  // what a file that cannot be read holds is not known: nobody is told that it is missing
  const isCut = faults.length > 0;
  const isElsewhere = (error: JudgedError): boolean => options.partial === true && !isCut && isAbsent(error);
  const wrong = byPlace(
    [
      ...faults,
      ...twiceIn(manifests),
      ...placed(
        judged.errors.filter((error) => !isElsewhere(error) && !(isCut && isAbsent(error))),
        manifests,
      ),
    ],
    files,
  );
  const warned = byPlace(
    [
      ...(isCut ? [] : absent).map(
        ({ name, first }): FileFault => ({
          file: first.file,
          ...placeOfField(first, 'metadata.namespace'),
          message: `site ${name} stands in no file: it is taken to be on the box`,
          code: 'not_found',
        }),
      ),
      ...placed(judged.errors.filter(isElsewhere), manifests),
      ...(isCut ? [] : judged.warnings).flatMap(({ index, warning }): FileFault[] => {
        const manifest = manifests[index];
        return manifest ? [placedWarning(warning, manifest)] : [];
      }),
    ],
    files,
  );
  const missing = options.partial === true || isCut ? [] : absentSitesOf(manifests).map(({ name }) => name);
  const text = [
    ...byPlace([...shownOf(wrong, 'error'), ...shownOf(warned, 'warning')], files).map(faultLine),
    ...(missing.length === 0
      ? []
      : [
          `judged is what an empty box would take, and ${missing.map((name) => `site ${name}`).join(', ')} stands in no file: give the folder that has it too, or --partial where it is on the box`,
        ]),
    ...notShownOf(wrong, 'error'),
    ...notShownOf(warned, 'warning'),
    ...(isCut && manifests.length > 0
      ? [`${count(faults.length, 'file')} cannot be read: warnings, and what seems to be missing, are told once ${faults.length === 1 ? 'it' : 'they'} can`]
      : []),
    `${count(manifests.length, 'manifest')} in ${count(files.length, 'file')}: ${wrong.length === 0 ? `all of them would be taken by ${options.partial === true ? 'a box that holds what they name' : 'an empty box'}` : count(wrong.length, 'error')}${warned.length === 0 ? '' : `, ${count(warned.length, 'warning')}`}`,
  ].join('\n');
  return { data: { manifests: manifests.length, files: files.length, errors: wrong, warnings: warned }, text, exitCode: wrong.length === 0 ? EXIT.ok : EXIT.no };
}

function shownOf(faults: readonly FileFault[], word: string): readonly FileFault[] {
  return faults.slice(0, FAULTS_SHOWN).map((fault) => ({ ...fault, message: `${word}: ${fault.message}` }));
}

function notShownOf(faults: readonly FileFault[], word: string): readonly string[] {
  return faults.length <= FAULTS_SHOWN ? [] : [`${count(faults.length - FAULTS_SHOWN, `more ${word}`)} not shown; -o json has them all`];
}

async function schemas(context: CommandContext): Promise<Outcome> {
  const [folder = ''] = context.args;
  const { files, isEditorSet } = writeSchemas(folder, context.options.box === undefined ? ownSchemas() : await schemasOfBox(context.box));
  const editor = isEditorSet ? 'Visual Studio Code with the YAML extension uses them from here on' : `an editor takes ${files[0]} as the schema of the YAML files`;
  return { data: { files }, text: `${count(files.length, 'file')} written; ${editor}` };
}

export const FILES = ['-f, --filename <path...>', 'files and folders of manifests; - is standard input'] as const;

export const PLANT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'apply',
    about: 'bring the box to what files say, in one transaction',
    options: [
      FILES,
      ['--dry-run', 'judge everything and tell what would change; store nothing'],
      ['--prune', 'afterwards remove what carries the label and stands in no file'],
      ['-l, --selector <labels>', 'for --prune: key=value, key==value or key!=value, several with commas between them'],
      ['--wait', 'until the units of the sites concerned run; exit code 1 where an I/O module that was changed is Failed'],
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
