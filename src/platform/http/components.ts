/**
 * The schemas of openapi.json. Each that has a name stands once, in `components/schemas`, and is referred to from wherever it
 * occurs; what is served and what is sent differ where a member has a default, so a schema that occurs as both and differs stands
 * there a second time as `...Input`.
 */
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { sayingOf, wordsOfFields } from '../base/field-words.js';
import { schemaName } from '../base/schema-names.js';
import { alternativesOf } from './alternatives.js';

export interface JsonObject {
  readonly [member: string]: unknown;
}

/** `input`: what is sent, `output`: what is served. */
type Mode = 'input' | 'output';

interface Place {
  readonly schema: v.GenericSchema;
  readonly mode: Mode;
  /** What the document holds there; empty until all are converted. */
  readonly json: Record<string, unknown>;
}

interface Converted {
  /** By their names within the conversion. */
  readonly parts: ReadonlyMap<string, unknown>;
  /** In the order of the places. */
  readonly places: readonly JsonObject[];
}

const OPTIONS = { errorMode: 'ignore', target: 'draft-2020-12', overrideSchema: said } as const;
/** No schema can have this name: a name is an identifier. */
const PLACES = '/places';
const LOCAL = '#/$defs/';
const REFERENCE = '#/components/schemas/';

/** A schema that stands in one place and has no named parts. */
export function jsonSchema(schema: v.GenericSchema): JsonObject {
  const { $schema: _, ...json } = toJsonSchema(schema, { ...OPTIONS, typeMode: 'input' }) as JsonObject;
  return json;
}

/** The fields of a shape that has words for them tell what they mean. */
function said({ valibotSchema, jsonSchema }: { readonly valibotSchema: object; readonly jsonSchema: object }): JsonObject | undefined {
  const words = wordsOfFields(valibotSchema);
  const { properties } = jsonSchema as { readonly properties?: Readonly<Record<string, JsonObject>> };
  if (!words || !properties) return undefined;
  const told = Object.entries(properties).map(([name, property]): [string, JsonObject] => {
    const ofField = Object.hasOwn(words, name) ? words[name] : undefined;
    return [name, ofField === undefined ? property : { ...property, ...sayingOf(ofField) }];
  });
  return { ...jsonSchema, properties: Object.fromEntries(told) };
}

/** Schemas by their names and whatever has a name in them, as the `$defs` of one document. */
export function jsonSchemaDefs(schemas: Readonly<Record<string, v.GenericSchema>>): Readonly<Record<string, JsonObject>> {
  return toJsonSchemaDefs({ ...namedIn(Object.values(schemas)), ...schemas }, { ...OPTIONS, typeMode: 'input' }) as Record<string, JsonObject>;
}

export class Components {
  readonly #places: Place[] = [];

  /** @returns what stands in the document for the schema; filled in by `settle`. */
  of(schema: v.GenericSchema, mode: Mode): JsonObject {
    const forms = alternativesOf(schema);
    if (forms) return { anyOf: forms.map((form) => this.of(form, mode)) };
    const json = {};
    this.#places.push({ schema, mode, json });
    return json;
  }

  /** Fills in all places. @returns what they refer to, by name. */
  settle(): Readonly<Record<string, unknown>> {
    const served = this.#convert('output');
    const sent = this.#convert('input');
    const differing = differingOf(served.parts, sent.parts);
    const inputName = (name: string): string => (differing.has(name) ? `${name}Input` : name);
    this.#fill('output', served, (name) => name);
    this.#fill('input', sent, inputName);
    const all = new Map([...served.parts].map(([name, json]) => [name, referring(json, (part) => part)]));
    for (const [name, json] of sent.parts) all.set(inputName(name), referring(json, inputName));
    return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #convert(mode: Mode): Converted {
    const schemas = this.#places.filter((place) => place.mode === mode).map(({ schema }) => schema);
    const places = v.strictObject(Object.fromEntries(schemas.entries()));
    const made = toJsonSchemaDefs({ ...namedIn(schemas), [PLACES]: places }, { ...OPTIONS, typeMode: mode });
    const parts = new Map(Object.entries(made).map(([name, json]): [string, unknown] => [/^\d/.test(name) ? `Part${name}` : name, mode === 'output' ? alwaysThere(json) : json]));
    const { properties } = parts.get(PLACES) as { readonly properties: Readonly<Record<string, JsonObject>> };
    parts.delete(PLACES);
    return { parts, places: Object.values(properties) };
  }

  #fill(mode: Mode, { places }: Converted, nameOf: (name: string) => string): void {
    const empty = this.#places.filter((place) => place.mode === mode);
    for (const [at, { json }] of empty.entries()) Object.assign(json, referring(places[at], nameOf));
  }
}

/** @returns the schemas with a name that these are or hold. */
function namedIn(schemas: readonly v.GenericSchema[]): Record<string, v.GenericSchema> {
  const named: Record<string, v.GenericSchema> = {};
  const seen = new Set<v.GenericSchema>();
  const left = [...schemas];
  for (let schema = left.pop(); schema !== undefined; schema = left.pop()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    const name = schemaName(schema);
    if (name !== undefined) {
      if (named[name] !== undefined) throw new Error(`two schemas of the interface have the name ${name}`);
      named[name] = schema;
    }
    left.push(...innerOf(schema));
  }
  return named;
}

/** What is read of a schema to find those that it is made of. */
interface Composite {
  readonly type: string;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly items?: readonly v.GenericSchema[];
  readonly options?: readonly unknown[];
  readonly pipe?: readonly v.GenericSchema[];
  readonly item?: v.GenericSchema;
  readonly key?: unknown;
  readonly rest?: v.GenericSchema;
  readonly value?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
  getter?(input: unknown): v.GenericSchema;
}

function innerOf(schema: v.GenericSchema): v.GenericSchema[] {
  const { type, entries = {}, items = [], options = [], pipe = [], item, key, rest, value, wrapped, getter }: Composite = schema;
  const lazy = type === 'lazy' ? getter?.(undefined) : undefined;
  return [...Object.values(entries), ...items, ...options, ...pipe, item, key, rest, value, wrapped, lazy].filter(isSchema);
}

function isSchema(part: unknown): part is v.GenericSchema {
  return typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'schema';
}

/** The names that do not mean the same as both, by themselves or by what they refer to. */
function differingOf(served: ReadonlyMap<string, unknown>, sent: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const both = [...sent].filter(([name]) => served.has(name)).map(([name, json]) => ({ name, text: JSON.stringify(json), other: JSON.stringify(served.get(name)) }));
  const differing = new Set(both.filter(({ text, other }) => text !== other).map(({ name }) => name));
  for (let size = -1; size !== differing.size; ) {
    size = differing.size;
    for (const { name, text } of both) if ([...differing].some((part) => text.includes(`"${LOCAL}${part}"`))) differing.add(name);
  }
  return differing;
}

const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', '$defs'];
const ONES = ['items', 'additionalProperties', 'not'];

/** Of what is served: a member that has a default is always there, and what stands in for it is nobody's concern. */
function alwaysThere(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { default: _standsIn, ...rest } = schema as JsonObject;
  const told: Record<string, unknown> = { ...rest };
  for (const list of LISTS) if (Array.isArray(rest[list])) told[list] = rest[list].map(alwaysThere);
  for (const one of ONES) if (rest[one] !== undefined) told[one] = alwaysThere(rest[one]);
  for (const map of MAPS) {
    if (rest[map] !== undefined) told[map] = Object.fromEntries(Object.entries(rest[map] as JsonObject).map(([name, inner]) => [name, alwaysThere(inner)]));
  }
  const properties = (rest.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = (rest.required ?? []) as readonly string[];
  const always = Object.keys(properties).filter((name) => required.includes(name) || 'default' in (properties[name] ?? {}));
  return always.length > 0 ? { ...told, required: always } : told;
}

/** A reference within a schema would lead nowhere in the document. */
function referring(value: unknown, nameOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => referring(item, nameOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const isLocal = member === '$ref' && typeof inner === 'string' && inner.startsWith(LOCAL);
      return [member, isLocal ? `${REFERENCE}${nameOf(inner.slice(LOCAL.length).replace(/^(?=\d)/, 'Part'))}` : referring(inner, nameOf)];
    }),
  );
}
