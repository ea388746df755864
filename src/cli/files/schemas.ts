/** The schemas of manifests as files, and the settings of an editor that takes them. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { APPLIED_KINDS } from '../../domains/index.js';
import { manifestSchema, schemaOf } from '../../domains/apply/schemas.js';
import type { Box } from '../remote/box.js';
import { CommandError, EXIT } from '../remote/outcome.js';

const FOLDER = '.lineside';

/** By the name of its file, that of any manifest first. */
type Schemas = readonly (readonly [name: string, schema: unknown])[];

/** Those of this program. */
export function ownSchemas(): Schemas {
  return [['manifest', manifestSchema(APPLIED_KINDS)], ...APPLIED_KINDS.all.map((kind) => [kind.kind, schemaOf(kind)] as const)];
}

/** What answers may be no box: of what it tells nothing is taken for granted. */
const Told = v.object({ allOf: v.pipe(v.array(v.object({ then: v.object({ $ref: v.string() }) })), v.minLength(1)) });
const KIND = /^#\/\$defs\/([A-Za-z]+)$/;

/**
 * Those of a box, which may be newer than this program.
 * @throws CommandError where what answers tells no such schema: names become names of files.
 */
export async function schemasOfBox({ api }: Pick<Box, 'api'>): Promise<Schemas> {
  const all = await api.get<unknown>('/api/v1/schemas');
  const told = v.safeParse(Told, all);
  const refs = told.success ? told.output.allOf.map(({ then }) => then.$ref) : [];
  const odd = refs.find((ref) => !KIND.test(ref));
  if (refs.length === 0 || odd !== undefined) throw noSchemas({ ref: odd });
  const kinds = refs.map((ref) => KIND.exec(ref)?.[1] ?? '');
  const of: (readonly [string, unknown])[] = [];
  for (const kind of kinds) {
    const schema = await api.get<unknown>(`/api/v1/schemas/${kind}`);
    if (!v.is(v.record(v.string(), v.unknown()), schema) || Array.isArray(schema)) throw noSchemas({ kind });
    of.push([kind, schema]);
  }
  return [['manifest', all], ...of];
}

function noSchemas(told: Readonly<Record<string, unknown>>): CommandError {
  return new CommandError(EXIT.refused, 'no_schemas', 'what answers there tells no schemas of kinds: nothing was written; is it a box?', told);
}

/** @returns the files. Settings of an editor that are there already stay as they are. */
export function writeSchemas(folder: string, schemas: Schemas): { readonly files: readonly string[]; readonly isEditorSet: boolean } {
  const inner = path.join(folder, FOLDER);
  mkdirSync(inner, { recursive: true });
  const files = schemas.map(([name, schema]) => {
    const file = path.join(inner, `${name}.schema.json`);
    writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`);
    return file;
  });
  const settings = path.join(folder, '.vscode', 'settings.json');
  if (existsSync(settings)) return { files, isEditorSet: false };
  mkdirSync(path.dirname(settings), { recursive: true });
  writeFileSync(settings, `${JSON.stringify({ 'yaml.schemas': { [`./${FOLDER}/manifest.schema.json`]: ['**/*.yaml', '**/*.yml'] } }, null, 2)}\n`);
  return { files: [...files, settings], isEditorSet: true };
}
