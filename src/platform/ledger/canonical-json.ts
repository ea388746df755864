/**
 * Canonical JSON (RFC 8785, JCS): the bytes that hashes and signatures cover (decisions 8.6).
 *
 * Members are sorted by UTF-16 code units, numbers and strings are written as ECMAScript writes them, nothing is between
 * tokens. Members that are `undefined` are left out, as in JSON.
 */
import { createHash } from 'node:crypto';

/** @throws TypeError for what JSON cannot say (NaN, infinities, functions, bigint). */
export function canonicalJson(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN and no infinities');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`);
  }
}

/** Lower-case hex SHA-256 of the canonical bytes: D(x) of decisions 8.6. */
export function canonicalDigest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}

function canonicalArray(items: readonly unknown[]): string {
  return `[${items.map((item) => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`;
}

function canonicalObject(members: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const name of Object.keys(members).sort()) {
    const value = members[name];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(name)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}
