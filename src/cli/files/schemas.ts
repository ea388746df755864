/** JSON Schemas of manifests, made of the shapes by which the product reads them, for completion and errors in an editor. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { APPLIED_KINDS } from '../../domains/index.js';
import { jsonSchema } from '../../platform/http/components.js';
import { apiVersionOf } from '../../platform/store/manifest.js';

const FOLDER = '.lineside';
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

type Schema = Readonly<Record<string, unknown>>;

/** Of one kind; what stands beside the spec is checked by the product. */
function schemaOf(kind: (typeof APPLIED_KINDS.all)[number]): Schema {
  const isOfSite = kind.scope === 'site';
  const { $defs, ...spec } = jsonSchema(kind.spec);
  const keys = { type: 'object', additionalProperties: { type: 'string' } };
  return {
    $schema: DRAFT,
    title: kind.kind,
    type: 'object',
    additionalProperties: false,
    required: ['apiVersion', 'kind', 'metadata'],
    properties: {
      apiVersion: { type: 'string', default: apiVersionOf(kind), pattern: '^[a-z0-9.-]+/v1alpha1$' },
      kind: { enum: [kind.kind, ...(kind.aliases ?? [])] },
      metadata: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'lower case letters, digits and hyphens' },
          ...(isOfSite ? { namespace: { type: 'string', pattern: '^site-', description: 'site-<name of the site>' } } : {}),
          labels: keys,
          annotations: keys,
        },
      },
      spec,
    },
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** Which kind a manifest is of decides the schema of all of it. */
function manifestSchema(): Schema {
  const kinds = APPLIED_KINDS.all.flatMap(({ kind, aliases = [] }) => [kind, ...aliases]);
  return {
    $schema: DRAFT,
    title: 'Lineside manifest',
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata'],
    properties: { kind: { enum: kinds } },
    allOf: APPLIED_KINDS.all.map((kind) => ({
      if: { required: ['kind'], properties: { kind: { enum: [kind.kind, ...(kind.aliases ?? [])] } } },
      then: { $ref: `${kind.kind}.schema.json` },
    })),
  };
}

/** @returns the files, that of any manifest first. Settings of an editor that are there already stay as they are. */
export function writeSchemas(folder: string): { readonly files: readonly string[]; readonly isEditorSet: boolean } {
  const inner = path.join(folder, FOLDER);
  mkdirSync(inner, { recursive: true });
  const write = (name: string, schema: Schema): string => {
    const file = path.join(inner, `${name}.schema.json`);
    writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`);
    return file;
  };
  const files = [write('manifest', manifestSchema()), ...APPLIED_KINDS.all.map((kind) => write(kind.kind, schemaOf(kind)))];
  const settings = path.join(folder, '.vscode', 'settings.json');
  if (existsSync(settings)) return { files, isEditorSet: false };
  mkdirSync(path.dirname(settings), { recursive: true });
  writeFileSync(settings, `${JSON.stringify({ 'yaml.schemas': { [`./${FOLDER}/manifest.schema.json`]: ['**/*.yaml', '**/*.yml'] } }, null, 2)}\n`);
  return { files: [...files, settings], isEditorSet: true };
}
