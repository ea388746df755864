/**
 * JSON Schemas of manifests, made of the shapes by which the product reads them, for completion, words and errors in an editor. Each is
 * one document that refers to nothing outside it. What a kind's rules judge beyond its shape is not in them.
 */
import { sayingOf, type ShapeWords } from '../../platform/base/field-words.js';
import { schemaName } from '../../platform/base/schema-names.js';
import { type JsonObject, jsonSchemaDefs } from '../../platform/http/components.js';
import { METADATA_WORDS } from '../../platform/store/field-words.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import type { AnyKind, AppliedKinds } from './kinds.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

const MANIFEST_WORDS = {
  apiVersion: 'Group and version of the interface. Any of the groups is taken.',
  kind: 'Kind of the resource. It decides what stands in spec.',
  metadata: 'What the resource is called, and where it belongs.',
  spec: 'What the resource shall be.',
  status: 'What the resource was when it was exported. apply ignores it.',
} as const satisfies ShapeWords;

/** A manifest of one kind. */
export function schemaOf(kind: AnyKind): JsonObject {
  return { $schema: DRAFT, title: kind.kind, ...manifestOfKind(kind), $defs: partsOf([kind]) };
}

/** A manifest of any of them: which kind it is of decides the schema of all of it. */
export function manifestSchema({ all }: AppliedKinds): JsonObject {
  const kinds = Object.fromEntries(all.map((kind) => [kind.kind, { title: kind.kind, ...manifestOfKind(kind) }]));
  const parts = partsOf(all);
  const twice = Object.keys(kinds).find((name) => Object.hasOwn(parts, name));
  if (twice !== undefined) throw new Error(`a part of a spec has the name of the kind ${twice}`);
  return {
    $schema: DRAFT,
    title: 'Lineside manifest',
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata'],
    properties: {
      apiVersion: { type: 'string', examples: [...new Set(all.map(apiVersionOf))], description: MANIFEST_WORDS.apiVersion },
      kind: { enum: all.flatMap(namesOf), ...sayingOf(MANIFEST_WORDS.kind) },
      metadata: { type: 'object', ...sayingOf(MANIFEST_WORDS.metadata) },
      spec: { type: 'object', ...sayingOf(MANIFEST_WORDS.spec) },
    },
    // a pattern and no enum: editors take the beginning of a word for the word while they complete, and offer to a Unit what a UnitProcedure has
    allOf: all.map((kind) => ({
      if: { required: ['kind'], properties: { kind: { type: 'string', pattern: `^(${namesOf(kind).join('|')})$` } } },
      then: { $ref: `#/$defs/${kind.kind}` },
    })),
    $defs: { ...kinds, ...parts },
  };
}

function namesOf({ kind, aliases = [] }: AnyKind): readonly string[] {
  return [kind, ...aliases];
}

/** Two kinds may have one spec. */
function specNameOf({ kind, spec }: AnyKind): string {
  return schemaName(spec) ?? `${kind}Spec`;
}

function partsOf(kinds: readonly AnyKind[]): JsonObject {
  return jsonSchemaDefs(Object.fromEntries(kinds.map((kind) => [specNameOf(kind), kind.spec])));
}

function manifestOfKind(kind: AnyKind): JsonObject {
  const keys = { type: 'object', additionalProperties: { type: 'string' } };
  const isOfSite = kind.scope === 'site';
  return {
    type: 'object',
    additionalProperties: false,
    required: ['apiVersion', 'kind', 'metadata'],
    properties: {
      apiVersion: { type: 'string', pattern: '^[a-z0-9.-]+/v1alpha1$', default: apiVersionOf(kind), ...sayingOf(MANIFEST_WORDS.apiVersion) },
      kind: { enum: namesOf(kind), ...sayingOf(MANIFEST_WORDS.kind) },
      metadata: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 63, ...sayingOf(METADATA_WORDS.name) },
          ...(isOfSite ? { namespace: { type: 'string', pattern: '^site-', ...sayingOf(METADATA_WORDS.namespace) } } : {}),
          labels: { ...keys, ...sayingOf(METADATA_WORDS.labels) },
          annotations: { ...keys, ...sayingOf(METADATA_WORDS.annotations) },
        },
        ...sayingOf(MANIFEST_WORDS.metadata),
      },
      spec: { $ref: `#/$defs/${specNameOf(kind)}`, ...sayingOf(MANIFEST_WORDS.spec) },
    },
  };
}
