/**
 * Schemas of the values of settings. Each reads what YAML gives and the text of a flag or an environment variable alike;
 * its description says what a bad value is told, its metadata how the value is written in reports.
 */
import * as v from 'valibot';
import { parseDuration } from './platform/base/duration-text.js';
import { isResourceName } from './platform/base/resource-name.js';
import { isRecipient } from './platform/backup/recipient.js';
import { isCidr } from './platform/http/source-ip.js';

export type SettingSchema<T> = v.GenericSchema<unknown, T>;

interface Shown<T> {
  readonly show: (value: T) => unknown;
}

/** @param expects for example `must be a duration such as 90s`. */
function value<T>(expects: string, schema: v.GenericSchema<unknown, T>, show: (value: T) => unknown = (shown) => shown): SettingSchema<T> {
  return v.pipe(schema, v.description(expects), v.metadata({ show } satisfies Shown<T>));
}

export function expectsOf(schema: SettingSchema<unknown>): string {
  return v.getDescription(schema) ?? '';
}

/** The form shown by `check-config` and `qualify/iq/snapshot`. */
export function shown(schema: SettingSchema<unknown>, value: unknown): unknown {
  const { show } = v.getMetadata(schema);
  return (show as Shown<unknown>['show'])(value);
}

// ---------------------------------------------------------------- plain ones

const words = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

export const text = value('must be text', words);

/** Null, or an empty text, as an environment variable says it. */
function orNothing<T>(schema: v.GenericSchema<unknown, T>) {
  return v.union([
    v.pipe(
      v.union([v.null(), v.literal('')]),
      v.transform(() => null),
    ),
    schema,
  ]);
}

export const maybeText = value<string | null>('must be text', orNothing(words));

export const recipient = value<string | null>('must be a public key of age, such as age1…', orNothing(v.pipe(v.string(), v.check(isRecipient))));

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function isHostName(input: string): boolean {
  return HOST_NAME.test(input);
}

export const maybeHostName = value<string | null>('must be a host name such as line3.plant.example', orNothing(v.pipe(v.string(), v.check(isHostName))));

/** Of a server that is asked for certificates. */
export const maybeHttps = value<string | null>(
  'must be an address that begins with https://',
  orNothing(
    v.pipe(
      v.string(),
      v.check((input) => URL.canParse(input) && input.startsWith('https://')),
    ),
  ),
);

export const label = value('must be a lower-case label', v.pipe(v.string(), v.check(isResourceName)));

export const flag = value(
  'must be true or false',
  v.union([
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((word) => word === 'true'),
    ),
  ]),
);

export function integer(min: number, max: number): SettingSchema<number> {
  const read = v.union([v.number(), v.pipe(v.string(), v.digits(), v.transform(Number))]);
  return value(`must be a whole number from ${min} to ${max}`, v.pipe(read, v.integer(), v.minValue(min), v.maxValue(max)));
}

export function decimal(min: number, max: number): SettingSchema<number> {
  const read = v.union([
    v.number(),
    v.pipe(
      v.string(),
      v.check((input) => input.trim() !== ''),
      v.transform(Number),
      v.number(),
    ),
  ]);
  return value(`must be a number from ${min} to ${max}`, v.pipe(read, v.minValue(min), v.maxValue(max)));
}

export function oneOf<const Word extends string>(...choice: Word[]): SettingSchema<Word> {
  return value(`must be ${choice.join(' or ')}`, v.picklist(choice));
}

/** Bytes, written as a number or `512 MiB`. */
export const bytes = value(
  'must be a size such as 512 MiB',
  v.union([
    v.pipe(v.number(), v.integer(), v.minValue(0)),
    v.pipe(
      v.string(),
      v.transform((input) => /^(\d+)\s*(B|KiB|MiB|GiB)?$/.exec(input.trim())),
      v.check((parts) => parts !== null),
      v.transform((parts) => Number(parts?.[1]) * { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }[(parts?.[2] ?? 'B') as 'B' | 'KiB' | 'MiB' | 'GiB']),
    ),
  ]),
);

// ---------------------------------------------------------------- durations

const NO_END = Number.MAX_SAFE_INTEGER;

export function showDuration(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

const milliseconds = v.pipe(v.string(), v.transform(parseDuration), v.number());

/** Milliseconds, written `90s`. */
export function duration(minMs: number, maxMs = NO_END): SettingSchema<number> {
  const expects = `must be a duration such as 90s, at least ${showDuration(minMs)}${maxMs === NO_END ? '' : ` and at most ${showDuration(maxMs)}`}`;
  return value(expects, v.pipe(milliseconds, v.minValue(minMs), v.maxValue(maxMs)), showDuration);
}

export function durationOrNever(minMs: number): SettingSchema<number> {
  const some = duration(minMs);
  const never = v.pipe(v.union([v.literal(0), v.pipe(v.literal('0'), v.transform(Number)), v.pipe(milliseconds, v.literal(0))]));
  return value(`${expectsOf(some)}, or 0 for never`, v.union([never, some]), (ms) => (ms === 0 ? 0 : showDuration(ms)));
}

// ---------------------------------------------------------------- lists and tables

function textList(expects: string, accept: (entry: string) => boolean = () => true): SettingSchema<readonly string[]> {
  const split = (input: string): string[] =>
    input
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  return value(expects, v.pipe(v.union([v.pipe(v.string(), v.transform(split)), v.array(v.string())]), v.everyItem(accept)));
}

/** Names that a certificate can be asked for. */
export const hostNames = textList('must be a list of host names such as line3.plant.example', isHostName);
export const roleGroups = textList('must be a list of role groups such as lineside-admin');
export const siteNames = textList('must be a list of site names');
export const addressRanges = textList('must be a list of addresses or CIDR ranges', isCidr);
export const origins = textList('must be a list of origins such as https://panel.example', (entry) => /^https?:\/\/[^/]+$/.test(entry));

/** What a flag or a variable gives is JSON, YAML has read it already. */
const table = v.pipe(
  v.unknown(),
  v.transform((input) => (typeof input === 'string' ? readJson(input) : input)),
);

function readJson(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return undefined; // no table is a table that does not read
  }
}

const RoleEntry = v.strictObject({
  group: v.string(),
  grant: v.optional(v.array(v.string()), []),
  deny: v.optional(v.array(v.string()), []),
  tier: v.exactOptional(v.string()),
});

export type RoleSetting = Readonly<v.InferOutput<typeof RoleEntry>>;

export const roles = value<readonly RoleSetting[]>('must be a list of {group, tier, grant, deny}', v.pipe(table, v.array(RoleEntry)));

/** Power settings per node (D-NODE-01). */
export const powerNodes = value<Readonly<Record<string, { readonly address: string; readonly secret: string }>>>(
  'must be {node: {address, secret}}',
  v.pipe(
    table,
    v.check((input) => !Array.isArray(input)),
    v.record(v.string(), v.strictObject({ address: v.string(), secret: v.optional(v.string(), '') })),
  ),
);
