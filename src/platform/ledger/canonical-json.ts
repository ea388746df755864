/**
 * Canonical JSON (RFC 8785, JCS): the bytes that hashes and signatures cover (decisions 8.6).
 *
 * Members are sorted by UTF-16 code units, numbers and strings are written as ECMAScript writes them, nothing is between
 * tokens. Members that are `undefined` are left out, as in JSON.
 */
import { hash } from 'node:crypto';

/** @throws TypeError for what JSON cannot say (NaN, infinities, functions, bigint). */
export function canonicalJson(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'string':
      return quoted(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN and no infinities');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`);
  }
}

/**
 * Canonical form of what `JSON.stringify` would write: dates as text, NaN as null, functions left out.
 *
 * @throws TypeError for what `JSON.stringify` refuses too (bigint, a circle).
 */
export function canonicalText(value: unknown): string {
  return isPlain(value) ? canonicalJson(value) : canonicalJson(JSON.parse(JSON.stringify(value) ?? 'null'));
}

/** Lower-case hex SHA-256 of the canonical bytes: D(x) of decisions 8.6. */
export function canonicalDigest(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'hex');
}

/** A JSON string. Most texts need no escape, which a look at them finds out faster than writing them does. */
export function quoted(text: string): string {
  return NEEDS_CARE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

const NEEDS_CARE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;

/** Whether a value consists of nothing but what JSON has. */
function isPlain(value: unknown): boolean {
  if (value === null) return true;
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return isPlainObject(value as object);
    default:
      return false;
  }
}

function isPlainObject(value: object): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false;
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined && !isPlain(member)) return false;
  }
  return true;
}

function canonicalArray(items: readonly unknown[]): string {
  return `[${items.map((item) => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`;
}

function canonicalObject(members: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const name of sorted(Object.keys(members))) {
    const value = members[name];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${quoted(name)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}

/** Many objects come with their members in order: looking is cheaper than sorting. */
function sorted(names: string[]): string[] {
  for (let at = 1; at < names.length; at += 1) if ((names[at - 1] as string) > (names[at] as string)) return names.sort();
  return names;
}
