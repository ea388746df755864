/**
 * What a GET gives can be sent back by PUT (D-C-05): the members of a body that only repeat what is served are left out
 * before it is decoded. That goes for what cannot be written, and for what would be written as it is shown where it is kept
 * in another way (a value inherited from a template, a secret that is not shown).
 */
import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../base/refusal.js';

/** What is read of a schema to follow an input through it. */
export interface Shape {
  readonly type: string;
  readonly entries?: Readonly<Record<string, Shape>>;
  readonly value?: Shape;
  readonly item?: Shape;
  readonly wrapped?: Shape;
  getter?(input: unknown): Shape;
}

/**
 * When and how often it was written, or executed: they say nothing that could be meant otherwise. In a document they stand in its metadata, or
 * beside what is written of its spec.
 */
const COUNTED: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'generation', 'resourceVersion', 'scanCount']);
const COUNTED_IN: readonly string[] = ['', 'metadata', 'spec'];

type JsonObject = Readonly<Record<string, unknown>>;

export interface Served {
  /** The read body of the resource as it is. */
  readonly body: unknown;
  /** Members that must never come back, whatever they hold (PROG-04, CM-10). */
  readonly never?: readonly string[] | undefined;
  /** The body states the whole spec: what may be written is taken as it is. */
  readonly whole?: boolean | undefined;
  /** @throws Refusal 412 when it is not any more as the client has read it: then what differs is nothing that he wants to write. */
  readonly checkRead?: ((ifMatch: string | undefined) => void) | undefined;
}

/**
 * @param shape that of the body.
 * @throws Refusal 400 `read_only_field` for a member that cannot be written and is not as it is served.
 */
export function withoutRepeated(input: unknown, shape: Shape, { body, never = [], whole = false }: Served): unknown {
  const served: unknown = JSON.parse(JSON.stringify(body)); // as the client has it
  const { entries } = unwrapped(shape, input);
  if (!isObject(input) || !isObject(served) || !entries) return input;
  const isNested = isObject(input.spec) && entries.spec !== undefined;
  const given = isNested ? withOneSpec(input, entries, served, never) : input;
  const writable = (given: JsonObject, shown: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(given).filter(([member, value]) => whole || member === 'name' || never.includes(member) || !isDeepStrictEqual(value, shown[member])));
  const spec = isNested && isObject(served.spec) ? { spec: writable(given.spec as JsonObject, served.spec) } : {};
  const changed = isNested ? { ...given, ...spec } : writable(input, served);
  return readOnlyLeftOut(changed, shape, served, '', never);
}

/**
 * What is read has members of the spec twice, by themselves and in `spec`, and a client changes one of the two: the other one, which is as it
 * is served, says nothing.
 * @throws Refusal 400 `invalid_field` where both are changed, to something else.
 */
function withOneSpec(input: JsonObject, entries: Readonly<Record<string, Shape>>, served: JsonObject, never: readonly string[]): JsonObject {
  const spec = input.spec as JsonObject;
  const members = entries.spec && unwrapped(entries.spec, spec).entries;
  if (!members || !isObject(served.spec)) return input;
  const rest = { ...input };
  const moved: [string, unknown][] = [];
  for (const [member, value] of Object.entries(input)) {
    const isTwice = !Object.hasOwn(entries, member) && Object.hasOwn(members, member) && Object.hasOwn(served, member) && Object.hasOwn(served.spec, member);
    if (!isTwice || never.includes(member) || isDeepStrictEqual(value, served[member])) continue;
    const isSaidBySpec = Object.hasOwn(spec, member) && !isDeepStrictEqual(spec[member], served.spec[member]);
    if (isSaidBySpec && !isDeepStrictEqual(spec[member], value))
      throw invalid(
        'invalid_field',
        member,
        `${member} and spec.${member} say two things, and neither is what is stored: change one of them, and leave the other out or send it as it is read`,
      );
    moved.push([member, value]);
    delete rest[member];
  }
  return moved.length === 0 ? input : { ...rest, spec: { ...spec, ...Object.fromEntries(moved) } };
}

function readOnlyLeftOut(input: unknown, shape: Shape | undefined, served: unknown, path: string, never: readonly string[]): unknown {
  if (!shape || typeof input !== 'object' || input === null) return input;
  const { entries, item } = unwrapped(shape, input);
  if (Array.isArray(input)) {
    if (!item || !Array.isArray(served)) return input;
    return input.map((member, at) => readOnlyLeftOut(member, item, counterpart(member, at, served), `${path}[${at}]`, []));
  }
  if (!entries || !isObject(served)) return input;
  const left: [string, unknown][] = [];
  for (const [member, value] of Object.entries(input)) {
    const where = path === '' ? member : `${path}.${member}`;
    if (Object.hasOwn(entries, member)) left.push([member, readOnlyLeftOut(value, entries[member], served[member], where, path === '' && member === 'spec' ? never : [])]);
    else if (!Object.hasOwn(served, member) || never.includes(member))
      left.push([member, value]); // refused as it is
    else if (COUNTED_IN.includes(path) && COUNTED.has(member)) continue;
    else if (!isDeepStrictEqual(value, served[member])) throw invalid('read_only_field', where, `${where} cannot be written: leave it out, or send it as it is read`);
  }
  return Object.fromEntries(left); // a member __proto__ too is one that there is
}

/** Entries of a list are found again by their name, which may have moved. */
function counterpart(member: unknown, at: number, served: readonly unknown[]): unknown {
  if (!isObject(member) || typeof member.name !== 'string') return served[at];
  return served.find((each) => isObject(each) && each.name === member.name);
}

function unwrapped(shape: Shape, input: unknown): Shape {
  let at = shape;
  for (;;) {
    const inner = at.wrapped ?? (at.type === 'lazy' ? at.getter?.(input) : undefined);
    if (!inner) return at;
    at = inner;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
