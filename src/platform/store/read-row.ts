/**
 * What a row of the store must be to be worked with (D-C-02). Two degrees: a row that is no resource, or whose spec has
 * another shape than its kind works with, is left out and named; one whose values are not allowed today (an earlier version
 * allowed them, somebody edited the file) is kept and named. What runs is kept whenever it can be, so that it can still be
 * held, stopped, aborted and deleted; equipment is kept where only its status does not fit.
 */
import * as v from 'valibot';
import type { Kind } from './kind.js';
import type { Ref, Resource, RowFault } from './resource.js';

/** Member names and texts of a row may be long. */
const FAULT_LENGTH_MAX = 300;

const Texts = v.record(v.string(), v.string());
const Envelope = v.looseObject({
  kind: v.string(),
  metadata: v.looseObject({
    name: v.string(),
    site: v.string(),
    uid: v.string(),
    labels: Texts,
    annotations: Texts,
    ownerReferences: v.array(v.looseObject({ kind: v.string(), name: v.string(), uid: v.string() })),
    generation: v.number(),
    resourceVersion: v.number(),
    createdAt: v.string(),
    updatedAt: v.string(),
  }),
  spec: v.looseObject({}),
  status: v.looseObject({}),
});

/** The resource of a row as it lies in the table, or why it is none. */
export function readRow({ kind, site, name }: Ref, body: unknown): Resource | RowFault {
  const bad = (fault: string): RowFault => ({ kind, site, name, fault: fault.slice(0, FAULT_LENGTH_MAX), kept: false, ...(typeof body === 'string' ? { text: body } : {}) });
  if (typeof body !== 'string') return bad('its body is not text');
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (fault) {
    return bad(`its body is not JSON: ${(fault as Error).message}`);
  }
  const read = v.safeParse(Envelope, parsed, { abortEarly: true });
  if (!read.success) return bad(words(read.issues[0]));
  const resource = parsed as Resource;
  const { metadata } = resource;
  if (resource.kind !== kind || metadata.site !== site || metadata.name !== name) return bad(`its body is that of ${title({ kind: resource.kind, ...metadata })}`);
  return resource;
}

export function isRowFault(row: Resource | RowFault): row is RowFault {
  return 'fault' in row;
}

/** How a resource does not fit its kind; undefined when it does. */
export function unfitRow(resource: Resource, kind: Kind): RowFault | undefined {
  const { metadata, spec, status } = resource;
  const read = v.safeParse(kind.spec, spec);
  const issues = read.success ? [] : read.issues;
  // an unknown member or a value that is not allowed harms nobody who reads; a member of another type does
  const shape = issues.find(isOfAnotherType);
  const brokenSpec = Array.isArray(spec) ? 'spec is a list where an object is expected' : shape && words(shape, 'spec'); // of members that need not be there a list has all
  const broken = brokenSpec ?? unfitStatus(status, kind, spec);
  const isRepaired = kind.runs === true || (brokenSpec === undefined && kind.mendsStatus === true);
  const first = broken ?? (issues[0] && words(issues[0], 'spec'));
  if (first === undefined) return undefined;
  return { kind: resource.kind, site: metadata.site, name: metadata.name, fault: first.slice(0, FAULT_LENGTH_MAX), kept: broken === undefined || isRepaired };
}

function isOfAnotherType(issue: v.BaseIssue<unknown>): boolean {
  return issue.kind === 'schema' && issue.expected !== 'never' && !isWithdrawnWord(issue);
}

/** One word of a list that was longer once: of the type that is worked with, and only not allowed today. */
function isWithdrawnWord({ type, input }: v.BaseIssue<unknown>): boolean {
  return (type === 'picklist' || type === 'literal') && typeof input === 'string';
}

/**
 * What is kept although it has lost its shape: with what its kind begins with in place of each member that is of another
 * type, so that whoever reads it reads what he knows. The resource itself when there is none.
 */
export function usableRow(resource: Resource, kind: Kind): Resource {
  const spec = { ...(resource.spec as Members) };
  const status = { ...(resource.status as Members) };
  let isReplaced = false;
  for (const [member, schema] of Object.entries(entriesOf(kind.spec) ?? {})) {
    if (hasShape(schema, spec[member])) continue;
    spec[member] = BEGINNINGS.map((value) => v.safeParse(schema, value)).find(({ success }) => success)?.output;
    isReplaced = true;
  }
  const initial = initialStatusOf(kind, spec);
  for (const member of judgedMembers(kind, initial)) {
    if (unfitMember(kind, initial, member, status[member]) === undefined) continue;
    if (member in initial) status[member] = initial[member];
    else delete status[member];
    isReplaced = true;
  }
  return isReplaced ? { ...resource, spec, status } : resource;
}

/** What is worked with of a row, given how it does not fit; undefined where it cannot be used. */
export function workable(resource: Resource, kind: Kind, fault: RowFault | undefined = unfitRow(resource, kind)): Resource | undefined {
  if (fault?.kept === false) return undefined;
  return fault && (kind.runs || kind.mendsStatus) ? usableRow(resource, kind) : resource;
}

type Members = Record<string, unknown>;

/** What a member may begin with: its default, or the least of its type. */
const BEGINNINGS: readonly unknown[] = [undefined, '', [], {}, null, false, 0];

/** An unknown word of a list has it; so does a member that is not there and need not be. */
function hasShape(schema: v.GenericSchema, value: unknown): boolean {
  const read = v.safeParse(schema, value);
  return read.success || !read.issues.some(isOfAnotherType);
}

/** Members of a strict object, also when checks are piped after it. */
function entriesOf(schema: unknown): Readonly<Record<string, v.GenericSchema>> | undefined {
  const { entries, pipe } = schema as { readonly entries?: Readonly<Record<string, v.GenericSchema>>; readonly pipe?: readonly unknown[] };
  return entries ?? (pipe?.[0] === undefined || pipe[0] === schema ? undefined : entriesOf(pipe[0]));
}

function unfitStatus(status: unknown, kind: Kind, spec: unknown): string | undefined {
  if (Array.isArray(status)) return 'status is a list where an object is expected';
  const initial = initialStatusOf(kind, spec);
  for (const member of judgedMembers(kind, initial)) {
    const fault = unfitMember(kind, initial, member, (status as Members)[member]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Those with which it begins, and those that it may have later. */
function judgedMembers(kind: Kind, initial: Members): readonly string[] {
  return Object.keys(kind.status ? { ...initial, ...kind.status } : initial);
}

/** A status without schemas has members of the types with which it began. */
function unfitMember({ status: schemas = {}, runs, mendsStatus }: Kind, initial: Members, member: string, now: unknown): string | undefined {
  const before = initial[member];
  if (now === undefined && before !== undefined && (runs || mendsStatus)) return `status.${member} is not there`; // what is worked with all the time has all of them
  if (!isOfType(now, before)) return `status.${member} is ${typeOf(now)} where ${typeOf(before)} is expected`;
  const schema = schemas[member];
  if (!schema || now === undefined || (now === null && before !== undefined)) return undefined;
  const issue = v.safeParse(schema, now).issues?.find(isOfAnotherType);
  return issue && words(issue, `status.${member}`);
}

function initialStatusOf(kind: Kind, spec: unknown): Members {
  try {
    return (kind.initialStatus(spec) ?? {}) as Members;
  } catch {
    return {}; // the spec is at fault, which is told by itself
  }
}

/** A release before this one may have had no such member, and a single value may have become none; a list or an object never does. */
function isOfType(now: unknown, before: unknown): boolean {
  if (before === null || before === undefined || now === undefined) return true;
  return now === null ? typeof before !== 'object' : typeOf(now) === typeOf(before);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `${typeof value}`;
}

function words(issue: v.BaseIssue<unknown>, prefix = ''): string {
  const at = [prefix, v.getDotPath(issue) ?? ''].filter((part) => part !== '').join('.');
  return `${at === '' ? 'the row' : at}: ${issue.message}`;
}

/** `Batch north/b-1`. */
export function title({ kind, site, name }: Ref): string {
  return `${kind} ${site === '' ? '' : `${site}/`}${name}`;
}
