/** What pages that are sealed have in common, of loop checks and of cables: how they are named, who has signed, and whether they still are what was signed. */
import type { Answered } from '../../client/typed.js';
import { type CommandContext, textOf } from './command.js';
import { CommandError, EXIT, usage } from './outcome.js';

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
