/**
 * Step 11 of the order of evaluation: JSON syntax, unknown fields, required fields, types, value rules (decisions
 * Q-ERR-04, Q-ERR-06, Q-ERR-07). One schema gives all of them; the first in that order answers.
 */
import { isUtf8 } from 'node:buffer';
import { type BaseIssue, type GenericSchema, safeParse } from 'valibot';
import { DEPTH_MAX } from '../base/nesting.js';
import { nearest } from '../base/nearest.js';
import { invalid, Refusal } from '../base/refusal.js';
import { LONE_SURROGATE } from '../base/short-text.js';
import { type OtherLevel, otherLevelOf, type PathItem } from './other-level.js';
import { type Served, type Shape, withoutRepeated } from './sent-back.js';
import { whatStands } from './what-stands.js';
import { isDuration } from '../store/fields.js';

/** @throws Refusal `invalid_json`, or `invalid_field` for what is no Unicode text. An empty body reads as `{}`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw invalid('invalid_json', 'body', 'the body is not valid UTF-8');
  const escapesSurrogates = checkDepth(bytes);
  let value: unknown;
  try {
    value = JSON.parse((Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString('utf8'));
  } catch (fault) {
    throw invalid('invalid_json', 'body', `the body is not valid JSON: ${(fault as Error).message}`);
  }
  const field = escapesSurrogates ? notText(value, '') : undefined;
  if (field !== undefined) throw invalid('invalid_field', field, `${field} holds half of a surrogate pair, which is no Unicode text`);
  return value;
}

/**
 * Half of a surrogate pair, which only an escape can bring: it is no text, cannot be written as UTF-8, in a URL or in a document.
 * What is nested deeper than a body may be is not followed: no field of a frame is, so it is refused for what it is.
 * @returns the path of the first; that of the object for one in the name of a member.
 */
export function notText(value: unknown, path: string, depth = 0): string | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? path || 'body' : undefined;
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return first(value, (member, at) => notText(member, `${path}[${at}]`, depth + 1));
  return first(Object.entries(value), ([name, member]) => (LONE_SURROGATE.test(name) ? path || 'body' : notText(member, path === '' ? name : `${path}.${name}`, depth + 1)));
}

/** A text longer than this is passed over as one: a package of 12 MB is looked at in a fortieth of the time. */
const LONG_TEXT_BYTES = 256;

/** @returns whether a text holds the escape of a surrogate, `\ud800` to `\udfff`. */
function checkDepth(bytes: Uint8Array): boolean {
  let depth = 0;
  let inText = false;
  let escapesSurrogates = false;
  let plainFrom = 0; // where the text began, or its last escape ended
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (inText) {
      if (i - plainFrom > LONG_TEXT_BYTES) {
        const to = plainUntil(bytes, i, i - plainFrom);
        if (to > i) {
          i = to - 1;
          continue;
        }
      }
      if (byte === 0x5c) {
        i += 1;
        plainFrom = i;
        if (bytes[i] === 0x75 && ((bytes[i + 1] ?? 0) | 0x20) === 0x64) escapesSurrogates = true;
      } else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) {
      inText = true;
      plainFrom = i;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > DEPTH_MAX) throw invalid('invalid_json', 'body', `the body is nested deeper than ${DEPTH_MAX} levels`);
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return escapesSurrogates;
}

const PLAIN_BYTES_MAX = 65_536;

/** @returns up to where a text has neither its end nor an escape; no more is looked at than has been plain, so that what is looked at stays a few times the text. */
function plainUntil(bytes: Uint8Array, from: number, plainBytes: number): number {
  const piece = bytes.subarray(from, from + Math.min(plainBytes, PLAIN_BYTES_MAX));
  const quote = piece.indexOf(0x22);
  const plain = quote < 0 ? piece : piece.subarray(0, quote);
  const escape = plain.indexOf(0x5c);
  return from + (escape < 0 ? plain.length : escape);
}

/**
 * @param whole of which the schema reads a part, with the same paths: where a member is known that stands at the wrong level.
 * @throws Refusal `unknown_field`, `missing_field` or `invalid_field` naming the JSON path.
 */
export function decode<Output>(schema: GenericSchema<unknown, Output>, input: unknown, whole: () => unknown = () => schema): Output {
  const field = holdsArray(input) ? arrayForObject(schema as Shape, input, '') : undefined;
  const result = safeParse(schema, input);
  if (!result.success && field !== 'body') throw refusalOf(result.issues, schema as Shape, whole() as Shape);
  if (field !== undefined) throw invalid('invalid_field', field, `${field} must be an object`);
  return (result as { readonly output: Output }).output;
}

const MISSING_TOLD_MAX = 20;

/** As `decode`, for a route that tells one refusal alone: all that is missing is told in that, so that nobody sends the body once for each. */
export function decodeBody<Output>(schema: GenericSchema<unknown, Output>, input: unknown): Output {
  try {
    return decode(schema, input);
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.context.code !== 'missing_field') throw fault;
    const others = fault.beside.flatMap(({ context: { code, field } }) => (code === 'missing_field' && field !== undefined ? [field] : []));
    if (others.length === 0) throw fault;
    const fields = [fault.context.field ?? '', ...others].slice(0, MISSING_TOLD_MAX);
    throw new Refusal(fault.kind, `fields ${fields.join(', ')} are required`, { ...fault.context, fields });
  }
}

/**
 * As `decode`; a body that repeats what is served of the resource is decoded without that (D-C-05). Whoever repeats what was served
 * some time ago and says so by his If-Match is told that first.
 */
export function decodeChange<Output>(schema: GenericSchema<unknown, Output>, input: unknown, served: () => Served, ifMatch?: string): Output {
  if (safeParse(schema, input).success) return decode(schema, input);
  const now = served();
  try {
    return decode(schema, withoutRepeated(input, schema as Shape, now));
  } catch (fault) {
    if (fault instanceof Refusal && fault.context.code === 'read_only_field') now.checkRead?.(ifMatch);
    throw fault;
  }
}

/** @returns the members that the object may have in which the path ends; undefined where alternatives decide it. */
function membersAt(shape: Shape, path: readonly PathItem[]): string[] | undefined {
  const last = path.at(-1);
  const within = last && shapeAt(shape, path.slice(0, -1), last.input);
  return within?.entries && Object.keys(within.entries);
}

/** What `input` must be, to which the path leads; undefined where alternatives decide it. */
function shapeAt(shape: Shape, path: readonly PathItem[], input: unknown): Shape | undefined {
  let at = unwrapped(shape, path[0]?.input ?? input);
  for (const [depth, { key }] of path.entries()) {
    const next: Shape | undefined = typeof key === 'number' ? at?.item : at?.entries && Object.hasOwn(at.entries, String(key)) ? at.entries[String(key)] : at?.value;
    at = unwrapped(next, path[depth + 1]?.input ?? input);
  }
  return at;
}

function unwrapped(shape: Shape | undefined, input: unknown): Shape | undefined {
  let at = shape;
  while (at && (at.wrapped || (at.type === 'lazy' && at.getter))) at = at.wrapped ?? at.getter?.(input);
  return at;
}

/** Most bodies hold none, and are followed no further. */
function holdsArray(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  if (Array.isArray(input)) return true;
  for (const name in input) if (holdsArray(input[name as keyof typeof input])) return true;
  return false;
}

/** An array passes for an object in valibot, at any depth. @returns the path of the first that does. */
function arrayForObject(shape: Shape, input: unknown, path: string): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  if (shape.type === 'lazy' && shape.getter) return arrayForObject(shape.getter(input), input, path);
  if (shape.wrapped) return arrayForObject(shape.wrapped, input, path);
  const { item, entries, value } = shape;
  if (Array.isArray(input)) {
    if (shape.type === 'record' || shape.type.endsWith('object')) return path === '' ? 'body' : path;
    return item && first(input, (member, at) => arrayForObject(item, member, `${path}[${at}]`));
  }
  return first(Object.entries(input), ([name, member]) => {
    const inner = entries && Object.hasOwn(entries, name) ? entries[name] : value;
    return inner && arrayForObject(inner, member, path === '' ? name : `${path}.${name}`);
  });
}

function first<Item>(items: readonly Item[], find: (item: Item, at: number) => string | undefined): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Issue = BaseIssue<unknown>;

/** 0 unknown, 1 missing, 2 type, 3 value. */
function rank(issue: Issue): number {
  if (issue.kind === 'schema' && issue.expected === 'never' && issue.path?.length) return 0;
  if (issue.kind === 'schema' && issue.received === 'undefined') return 1;
  return issue.kind === 'schema' ? 2 : 3;
}

/** The first by what kind of wrong it is, with the others beside it in the order of the body, which are looked at when they are asked for. */
export function refusalOf(issues: readonly Issue[], shape?: Shape, whole = shape): Refusal {
  let first = issues[0] as Issue; // a body without an issue is not refused
  for (const issue of issues) if (rank(issue) < rank(first)) first = issue;
  const known: Known = { shape, whole, lists: new Map(), elsewhere: new Map() };
  const { kind, message, context } = refusalOfOne(first, known);
  const told = pathOf(first);
  return new Refusal(kind, message, context, () =>
    withoutFollowing(firstOf(issues, shape), known)
      .filter((issue) => pathOf(issue) !== told)
      .slice(0, ISSUES_TOLD_MAX - 1)
      .map((issue) => refusalOfOne(issue, known)),
  );
}

/** A body may hold a million members that nobody knows: no more of its issues than these are looked at, whatever tells them. */
const ISSUES_TOLD_MAX = 100;

function firstOf(issues: readonly Issue[], shape: Shape | undefined): readonly Issue[] {
  const found: Issue[] = [];
  for (const issue of issues) {
    if (found.length >= ISSUES_TOLD_MAX) break;
    found.push(...allUnknown(issue, shape, ISSUES_TOLD_MAX - found.length));
  }
  return found;
}

/** Of an object valibot tells one unknown member only. */
function allUnknown(issue: Issue, shape: Shape | undefined, max: number): readonly Issue[] {
  const path = issue.path ?? [];
  const last = path.at(-1);
  if (rank(issue) !== 0 || last === undefined) return [issue];
  const allowed = shape && membersAt(shape, path as readonly PathItem[]);
  const { input } = last;
  if (!allowed || typeof input !== 'object' || input === null) return [issue];
  const unknown: Issue[] = [];
  for (const key of Object.keys(input)) {
    if (unknown.length >= max) break;
    if (allowed.includes(key)) continue;
    const own = [...path.slice(0, -1), { ...last, key }];
    // it ends with one, so it is not empty
    unknown.push({ ...issue, path: own as unknown as NonNullable<Issue['path']> });
  }
  return unknown;
}

/** A member that is missing because it was written otherwise, or elsewhere, is told as that alone. */
function withoutFollowing(issues: readonly Issue[], known: Known): readonly Issue[] {
  const meant = new Set(
    issues.flatMap((issue) => {
      if (rank(issue) !== 0) return [];
      const path = (issue.path ?? []) as readonly PathItem[];
      const near = nearest(String(path.at(-1)?.key), (known.shape && membersAt(known.shape, path)) ?? []);
      const elsewhere = elsewhereOf(path, known);
      return [...(near === undefined ? [] : [pathText([...path.slice(0, -1), { key: near }])]), ...(elsewhere?.paths ?? [])];
    }),
  );
  return issues.filter((issue) => rank(issue) !== 1 || !meant.has(pathOf(issue)));
}

/** What may stand where. */
interface Known {
  readonly shape: Shape | undefined;
  readonly whole: Shape | undefined;
  /** Lists that were told, and of which field. */
  readonly lists: Map<string, string>;
  /** Of members that were looked for at other levels, by their fields. */
  readonly elsewhere: Map<string, OtherLevel | undefined>;
}

function elsewhereOf(path: readonly PathItem[], { whole, elsewhere }: Known): OtherLevel | undefined {
  const field = pathText(path);
  if (whole && !elsewhere.has(field)) elsewhere.set(field, otherLevelOf(whole, path));
  return elsewhere.get(field);
}

function refusalOfOne(issue: Issue, known: Known): Refusal {
  const { shape } = known;
  const field = pathOf(issue);
  switch (rank(issue)) {
    case 0:
      return unknownField(issue, field, known);
    case 1:
      return invalid('missing_field', field, `field ${field} is required`);
    case 2: {
      const allowed = allowedOf(issue);
      const message = allowed
        ? `${field} must be ${allowed.includes('') ? 'empty or ' : ''}one of ${allowed.filter((word) => word !== '').join(', ')}`
        : `${field} must be ${article(issue.expected ?? 'of another type')}`;
      return invalid(
        'invalid_field',
        field,
        `${message}${whatStands(issue, { allowed, isDuration: shape !== undefined && isDuration(shapeAt(shape, (issue.path ?? []) as readonly PathItem[], issue.input)) })}`,
        allowed ? { allowed } : {},
      );
    }
    default:
      return invalid('invalid_field', field, `${field} ${ruleOf(issue)}`);
  }
}

/** What may stand there is told with it, once: most unknown fields are known ones by another name, or at another level. */
function unknownField(issue: Issue, field: string, known: Known): Refusal {
  const { shape, lists } = known;
  const path = (issue.path ?? []) as readonly PathItem[];
  const allowed = shape && membersAt(shape, path);
  if (!allowed?.length) return invalid('unknown_field', field, `unknown field ${field}`);
  const near = nearest(String(path.at(-1)?.key), allowed);
  const elsewhere = elsewhereOf(path, known);
  const more = { allowed, ...(near === undefined ? {} : { nearest: near }), ...(elsewhere === undefined ? {} : { knownAt: elsewhere.paths }) };
  if (near !== undefined || elsewhere !== undefined) {
    const ways = [
      ...(near === undefined ? [] : [`the nearest known one is ${near}`]),
      ...(elsewhere === undefined ? [] : [`known as ${elsewhere.paths.join(' and ')}: ${elsewhere.words}`]),
    ];
    return invalid('unknown_field', field, `unknown field ${field}; ${ways.join('; or ')}`, more);
  }
  const list = allowed.join(', ');
  const toldOf = lists.get(list);
  if (toldOf !== undefined) return invalid('unknown_field', field, `unknown field ${field}; known here: as for ${toldOf}`);
  lists.set(list, field);
  return invalid('unknown_field', field, `unknown field ${field}; known here: ${list}`, more);
}

/** A value rule in words: the schema's own, or ours for the rules that most fields share. */
function ruleOf(issue: Issue): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  const { requirement } = issue;
  const many = Array.isArray(issue.input) ? 'entries' : 'characters';
  switch (issue.type) {
    case 'min_length':
      return requirement === 1 ? 'must not be empty' : `must have at least ${String(requirement)} ${many}`;
    case 'max_length':
      return `must have at most ${String(requirement)} ${many}`;
    case 'min_value':
      return `must be at least ${String(requirement)}`;
    case 'max_value':
      return `must be at most ${String(requirement)}`;
    case 'integer':
      return 'must be a whole number';
    default:
      return `is not possible: ${issue.message}`;
  }
}

function pathOf(issue: Issue): string {
  return pathText(issue.path ?? []);
}

function pathText(path: readonly { readonly key: unknown }[]): string {
  let text = '';
  for (const { key } of path) {
    text += typeof key === 'number' ? `[${key}]` : text === '' ? String(key) : `.${String(key)}`;
  }
  return text === '' ? 'body' : text;
}

function article(expected: string): string {
  if (expected === 'Object' || expected === 'Array') return expected === 'Object' ? 'an object' : 'an array';
  if (expected === '(string | number | boolean)') return 'a text, a number, or true or false';
  return expected === 'string' || expected === 'number' || expected === 'boolean' ? `a ${expected}` : expected;
}

/** The words of a picklist, from valibot's `("a" | "b")`. */
function allowedOf(issue: Issue): string[] | undefined {
  if (issue.type !== 'picklist' || !issue.expected) return undefined;
  try {
    return issue.expected
      .replace(/^\(|\)$/g, '')
      .split(' | ')
      .map((word) => String(JSON.parse(word)));
  } catch {
    return undefined;
  }
}
