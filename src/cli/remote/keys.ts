/** key: API keys of an MES. A key is shown once, or written into a file of its owner; no command takes one. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Answered } from '../../client/typed.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { type Outcome, table, usage } from './outcome.js';
import { isoOf, parseTime } from './times.js';

const KEYS = '/api/v1/mes/apikeys';
const OWNER_ONLY = 0o600;

type Key = Answered<'/api/v1/mes/apikeys', 'get'>[number];

async function list({ box }: CommandContext): Promise<Outcome> {
  const keys = await box.typed.all(KEYS, {});
  const rows = keys.map(({ name, site, keyPrefix, test, expiresAt, lastUsedAt, previous, createdBy }) => [
    name,
    site,
    `${keyPrefix}…${test ? ' (test)' : ''}`,
    expiresAt ?? 'never',
    lastUsedAt ?? '-',
    previous === null ? '-' : `${previous.keyPrefix}… until ${previous.validUntil}, used ${previous.lastUsedAt ?? 'never'}`,
    createdBy,
  ]);
  return { data: keys, text: rows.length === 0 ? 'there is no API key' : table(['key', 'site', 'begins', 'expires', 'used last', 'replaced one', 'made by'], rows) };
}

/** A duration is from now on; `never` is no end. Undefined where nothing was given. */
async function expiryOf(box: Pick<Box, 'nowMs'>, given: string | undefined): Promise<string | null | undefined> {
  if (given === undefined) return undefined;
  if (given === 'never') return null;
  const after = parseDuration(given);
  const expiresAt = isoOf(after === null ? parseTime(given) : (await box.nowMs()) + after);
  if (expiresAt === undefined) throw usage(`--expires ${given}: give a duration from now on, such as 90d, a time such as 2027-01-01T00:00:00Z, or never`);
  return expiresAt;
}

/** The file is there before the key is: a key that cannot be kept is not made. */
async function keptKey<T extends { readonly key: string }>(file: string | undefined, make: () => Promise<T>): Promise<{ readonly made: T; readonly where: string }> {
  if (file === undefined) {
    const made = await make();
    return { made, where: `keep it now, it is not shown again:\n${made.key}` };
  }
  const fd = openSync(file, 'wx', OWNER_ONLY);
  try {
    const made = await make();
    writeSync(fd, `${made.key}\n`);
    return { made, where: `it stands in ${file}, which you alone can read, and is not shown again` };
  } catch (fault) {
    rmSync(file, { force: true });
    throw fault;
  } finally {
    closeSync(fd);
  }
}

/** What stands in a file stands in no output. */
function withoutKey<T extends { readonly key: string }>(made: T, file: string | undefined): object {
  if (file === undefined) return made;
  const { key: _kept, ...told } = made;
  return { ...told, file };
}

async function create({ box, args, options }: CommandContext): Promise<Outcome> {
  const [name = ''] = args;
  const file = textOf(options, 'out');
  const expiresAt = await expiryOf(box, textOf(options, 'expires'));
  const site = await box.site();
  const body = { name, site, ...(expiresAt === undefined ? {} : { expiresAt }), ...(options.test === true ? { test: true } : {}) };
  const { made, where } = await keptKey(file, () => box.typed.post(KEYS, { body }));
  return { data: withoutKey(made, file), text: `API key ${name} of ${site}, ${endText(made.expiresAt)}; ${where}` };
}

async function rotate({ box, args, options }: CommandContext): Promise<Outcome> {
  const [name = ''] = args;
  const file = textOf(options, 'out');
  const overlap = textOf(options, 'overlap');
  const expiresAt = await expiryOf(box, textOf(options, 'expires'));
  const body = { ...(overlap === undefined ? {} : { overlap }), ...(expiresAt === undefined ? {} : { expiresAt }) };
  const { made, where } = await keptKey(file, () => box.typed.post(`${KEYS}/{name}/rotate`, { path: { name }, body }));
  const old =
    made.previous === null ? 'the old one is refused from now on' : `the old one is accepted until ${made.previous.validUntil}, or until lineside key end-previous ${name}`;
  return { data: withoutKey(made, file), text: `API key ${name} has a new key; ${old}; ${where}` };
}

async function expire({ box, args: [name = '', when = ''] }: CommandContext): Promise<Outcome> {
  const expiresAt = (await expiryOf(box, when)) ?? null;
  const key = await box.typed.put(`${KEYS}/{name}`, { path: { name }, body: { expiresAt } });
  return { data: key, text: `API key ${name} ${endText(key.expiresAt)}` };
}

async function endPrevious({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove(`${KEYS}/{name}/previous`, { path: { name } });
  return { data: { name }, text: `the key that ${name} replaced is refused from now on` };
}

async function revoke({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  await box.typed.remove(`${KEYS}/{name}`, { path: { name } });
  return { data: { name }, text: `API key ${name} is revoked: the next request with it is refused` };
}

function endText(expiresAt: Key['expiresAt']): string {
  return expiresAt === null ? 'never expires' : `expires ${expiresAt}`;
}

const namesOf = async ({ box }: CommandContext): Promise<readonly string[]> => (await box.typed.all(KEYS, {})).map(({ name }) => name);

const OUT = ['--out <file>', 'write the key into a new file that you alone can read, and show it nowhere'] as const;
const EXPIRES = ['--expires <time>', 'a duration from now on such as 90d, a time, or never'] as const;

export const KEY_COMMANDS: readonly CommandRow[] = [
  { typed: 'key list', about: 'API keys by name: whose, until when, used when; never the key itself', run: list },
  {
    typed: 'key create <key>',
    about: 'make an API key of a site; it is shown once, and sent as Authorization: ApiKey KEY',
    options: [EXPIRES, ['--test', 'it starts nothing: what would change something is judged and refused'], OUT],
    examples: ['lineside key create mes --expires 365d --out mes.key'],
    run: create,
  },
  {
    typed: 'key rotate <key>',
    about: 'replace the key; both are accepted for the overlap, so that the MES can be given the new one',
    options: [['--overlap <time>', '24h where it is left out, at most 30d; 0s: the old one is refused at once'], EXPIRES, OUT],
    names: { key: namesOf },
    run: rotate,
  },
  { typed: 'key end-previous <key>', about: 'end the overlap: the key that was replaced is refused', names: { key: namesOf }, run: endPrevious },
  { typed: 'key expire <key> <time>', about: 'change when it expires: a duration from now on, a time, or never; the key stays the same', names: { key: namesOf }, run: expire },
  { typed: 'key revoke <key>', about: 'the key, and the one that it replaced, are refused from now on', names: { key: namesOf }, run: revoke },
];
