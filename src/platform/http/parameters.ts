/**
 * The query parameters of the routes as openapi.json shows them (D-C-04). A row declares those that its handler reads: any
 * other is refused, and reading another does not compile. All come as text; what a value may be is judged where it is read
 * (log-query.ts), so that the refusal names the parameter and what it must be.
 */
import * as v from 'valibot';
import type { QuerySchema, RouteColumns } from './route.js';

const PAGE_LENGTH_MAX = 1000;

export function parameters<const Entries extends v.ObjectEntries>(entries: Entries): v.StrictObjectSchema<Entries, undefined> {
  return v.strictObject(entries);
}

/** One that the request must carry. */
export function required<Schema extends v.GenericSchema>(parameter: v.OptionalSchema<Schema, undefined>): Schema {
  return parameter.wrapped;
}

export function text(description = '') {
  return v.optional(v.pipe(v.string(), v.description(description)));
}

export function flag(description = '') {
  return v.optional(v.pipe(v.boolean(), v.description(description)));
}

export function whole(least: number, most: number, description = '') {
  return v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description)));
}

/** A time with any offset. */
export function instant(description = '') {
  return v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description(description)));
}

/** One of the words; the empty text is as none. */
export function word<const Words extends readonly string[]>(allowed: Words, description = '') {
  return v.optional(v.pipe(v.picklist(allowed), v.description(description)));
}

/** Some of the words, separated by commas or one by one. */
export function words<const Words extends readonly string[]>(allowed: Words, description = '') {
  return v.optional(v.pipe(v.array(v.picklist(allowed)), v.description(description)));
}

/** Texts separated by commas or one by one. */
export function texts(description = '') {
  return v.optional(v.pipe(v.array(v.string()), v.description(description)));
}

const limit = whole(1, PAGE_LENGTH_MAX, 'entries of a page');
const cursor = text('of the page before');

/** Of a list of resources (paged-list.ts). */
export const LIST = { limit, cursor };

/** Of a log that grows with time (log-query.ts). */
export const LOG = {
  from: instant('first instant'),
  to: instant('instant after the last'),
  order: word(['desc', 'asc'], 'by time; desc unless asked otherwise'),
  limit,
  cursor,
};

/** Every parameter that a route knows: those of its row, and those that the gateway itself reads of it. */
export function parametersOf({ query, formats, stream }: Pick<RouteColumns, 'query' | 'formats' | 'stream'>): QuerySchema {
  return parameters({
    ...query?.entries,
    ...(formats ? { format: word(['json', ...formats], 'form of the answer; wins over Accept') } : {}),
    ...(stream ? { token: text('access token, where the client cannot send a header') } : {}),
  });
}

/** The names of those that may be given several times. */
export function listsOf({ entries }: QuerySchema): readonly string[] {
  const isList = ({ type, wrapped }: { readonly type: string; readonly wrapped?: { readonly type: string } }): boolean => (wrapped ?? { type }).type === 'array';
  return Object.keys(entries).filter((name) => isList(entries[name] as { readonly type: string }));
}
