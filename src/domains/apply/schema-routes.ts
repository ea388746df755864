/** Routes of the schemas of manifests: those of this box, which may be newer than the program beside the editor. They say nothing of the plant. */
import * as v from 'valibot';
import { nearest } from '../../platform/base/nearest.js';
import { Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { routesFor } from '../../platform/http/route.js';
import { constantJson, serveConstant, type StaticFile } from '../../platform/http/static-files.js';
import type { AppliedKinds } from './kinds.js';
import { manifestSchema, schemaOf } from './schemas.js';

export interface SchemaDeps {
  readonly kinds: AppliedKinds;
}

/** What is told of it here is what a reader of any such document may rely on. */
const JsonSchemaBody = v.looseObject({ $schema: v.string(), title: v.string() });

nameSchemas({ JsonSchemaBody });

/** The kinds do not change after the start: what was asked for once is kept. */
const made = new WeakMap<AppliedKinds, Map<string, StaticFile>>();

function kept(kinds: AppliedKinds, name: string, make: () => unknown): StaticFile {
  const files = made.get(kinds) ?? new Map<string, StaticFile>();
  made.set(kinds, files);
  const file = files.get(name) ?? constantJson(make());
  files.set(name, file);
  return file;
}

const route = routesFor<SchemaDeps>();

export const schemaRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/schemas',
    action: 'schema:list',
    tier: 'none',
    reply: JsonSchemaBody,
    summary: 'JSON Schemas of the manifests of all kinds that apply takes, as one document: by `kind` it knows which',
    handle: ({ header }, { kinds }) =>
      serveConstant(
        kept(kinds, '', () => manifestSchema(kinds)),
        header,
      ),
  }),
  route({
    method: 'GET',
    path: '/api/v1/schemas/{kind}',
    action: 'schema:read',
    tier: 'none',
    reply: JsonSchemaBody,
    summary: 'JSON Schema of the manifests of one kind',
    exists: ({ kind }, { kinds }) => void kindNamed(kind, kinds),
    handle({ params, header }, { kinds }) {
      const kind = kindNamed(params.kind, kinds);
      return serveConstant(
        kept(kinds, kind.kind, () => schemaOf(kind)),
        header,
      );
    },
  }),
];

function kindNamed(name: string, kinds: AppliedKinds) {
  const kind = kinds.named(name);
  if (kind) return kind;
  const known = kinds.all.map((each) => each.kind);
  const near = nearest(name, known);
  const way = near === undefined ? `known: ${known.join(', ')}` : `the nearest known one is ${near}`;
  throw new Refusal('missing', `there is no kind ${name} that apply takes; ${way}`, { code: 'not_found', known, ...(near === undefined ? {} : { nearest: near }) });
}
