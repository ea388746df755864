/** What pages that are sealed have in common, of loop checks and of cables: how they are named, who has signed, and whether they still are what was signed. */
import type { Answered } from '../../client/typed.js';
import { ioModuleNames } from './channels.js';
import { type CommandContext, textOf } from './command.js';
import { CommandError, EXIT, type Outcome, table, usage } from './outcome.js';

export type Signature = Answered<'/api/v1/signatures/{id}', 'get'>;

interface Sealing {
  readonly phase: string;
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly digest: string;
  readonly sealedAt: string;
}

export const FORMAT = ['--format <form>', 'text, to read and print, where it is left out; or json'] as const;

export function formatOf({ options }: CommandContext): 'json' | 'text' {
  const format = textOf(options, 'format') ?? 'text';
  if (format !== 'json' && format !== 'text') throw usage(`--format ${format}: a sheet is read as text or json`);
  return format;
}

/** Ids are made of the name of the module, the time and some digits. */
const ID = /^(.+)-\d{14}-[0-9a-f]{4}$/;

/** A sheet by its id, or the newest of a module by the name of that. */
export async function placeOf(
  context: CommandContext,
  newest: (name: string) => Promise<string | undefined>,
): Promise<{ readonly site: string; readonly name: string; readonly id: string }> {
  const { box, args } = context;
  const [named = ''] = args;
  const site = await box.site();
  const name = ID.exec(named)?.[1];
  if (name !== undefined) return { site, name, id: named };
  const id = await newest(named);
  if (id === undefined) throw new CommandError(EXIT.refused, 'not_found', `nothing of the kind was made of I/O module ${named} yet`, { status: 404 });
  return { site, name: named, id };
}

/** What a list of them tells of each. */
interface Listed {
  readonly id: string;
  readonly startedAt: string;
}

/** Reads the sheets of one I/O module. */
type SheetsOf<Row extends Listed> = (context: CommandContext, name: string) => Promise<readonly Row[]>;

export function newestFirst<Row extends Listed>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
}

/** Of the named I/O module, or of all of the site where `name` is ''; the newest first. */
async function sheetsOfModules<Row extends Listed>(context: CommandContext, name: string, sheetsOf: SheetsOf<Row>): Promise<readonly Row[]> {
  const modules = name === '' ? await ioModuleNames(context) : [name];
  return newestFirst((await Promise.all(modules.map((each) => sheetsOf(context, each)))).flat());
}

/** @property title the heads of the columns; `none` what there is none of, as in `no loop check was made` */
export interface SheetTable<Row extends Listed> {
  readonly none: string;
  readonly title: readonly string[];
  readonly cells: (row: Row) => readonly string[];
}

export async function listed<Row extends Listed>(context: CommandContext, sheetsOf: SheetsOf<Row>, { none, title, cells }: SheetTable<Row>): Promise<Outcome> {
  const { box, args } = context;
  const [name = ''] = args;
  const rows = await sheetsOfModules(context, name, sheetsOf);
  const text = rows.length === 0 ? `no ${none} was made ${name === '' ? `in ${await box.site()}` : `of ${name}`}` : table(title, rows.map(cells));
  return { data: rows, text };
}

/** Names to complete: of modules, whose newest sheet is meant, and ids. */
export async function sheetNames<Row extends Listed>(context: CommandContext, sheetsOf: SheetsOf<Row>): Promise<readonly string[]> {
  const sheets = await sheetsOfModules(context, '', sheetsOf);
  return [...(await ioModuleNames(context)), ...sheets.map(({ id }) => id)];
}

/** A sheet as it was asked for: to read, or for programs. */
export function shownSheet(context: CommandContext, sheet: unknown, text: () => string): Outcome {
  return { data: sheet, text: formatOf(context) === 'json' ? JSON.stringify(sheet, null, 2) : text(), isContent: true };
}

export type ShownSignature = Pick<Signature, 'meaning' | 'signedAt' | 'reason' | 'id' | 'valid' | 'problems'> & { readonly signedBy: { readonly displayName: string } };

/** Of whoever has conducted it, and of all who have signed it since. */
export function signaturesOf({ signatures }: { readonly signatures: readonly (Omit<ShownSignature, 'signedBy'> & { readonly signedBy: string })[] }): readonly ShownSignature[] {
  return signatures.map((each) => ({ ...each, signedBy: { displayName: each.signedBy } }));
}

export function signatureLine({ meaning, signedBy, signedAt, reason, id, valid, problems }: ShownSignature): string {
  return `${meaning}, ${signedBy.displayName}, ${signedAt}: ${reason} (signature ${id}, ${valid ? 'valid' : `NOT valid: ${problems.join('; ')}`})`;
}

/** Of a sealed page of any kind. */
export function validLine({ phase, valid, problems, digest, sealedAt }: Sealing): string {
  if (phase !== 'Sealed') return 'valid: no, it is not sealed yet';
  return valid ? `valid: yes, it still is what was signed at ${sealedAt} (digest ${digest})` : `valid: NO: ${problems.join('; ')}`;
}
