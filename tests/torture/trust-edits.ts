/** Single edits of a data directory whose box is off: rows, the trail, the files themselves, and the files of the archive. */
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Database from '../../src/platform/base/sqlite.js';
import { archiveFolder, archiveLine, readLine } from '../../src/platform/ledger/archive-format.js';
import { hashOf } from '../../src/platform/ledger/chain.js';
import { headFileOf } from '../../src/platform/ledger/head-file.js';
import { quickCheck } from '../../src/platform/ledger/inspect.js';
import { ChainVerifier } from '../../src/platform/ledger/verify-chain.js';
import { ArchiveVerifier } from '../../src/platform/ledger/verify-archives.js';
import { verifyRows } from '../../src/platform/ledger/verify-rows.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { editRow, manyEdits, type RowEdit } from '../support/row-edits.js';
import { at } from '../support/at.js';
import type { Bench } from './bench.js';
import { copied, type Edited, type Family } from './trust.js';

export interface Places {
  readonly older: string;
  readonly stopped: string;
  readonly killed: string;
}

const MANY = 20_000;
const TAIL_MAX = 50;

/** A number below `end`. */
export type Below = (end: number) => number;
export const belowOf =
  (random: () => number): Below =>
  (end) =>
    Math.floor(random() * end);

export function dataEdits(bench: Bench, { older, stopped, killed }: Places): readonly Family[] {
  const below = belowOf(bench.random);
  const state = (dir: string): string => path.join(dir, 'state.db');
  const database = new Database(state(stopped), { readonly: true });
  const known = manyEdits(database, below(2 ** 31), MANY);
  database.close();
  const onRows = async (from: string, edit: RowEdit, first?: Part): Promise<Edited | undefined> => {
    const dir = copied(from, bench);
    return editRow(state(dir), edit) ? { what: edit.what, found: await isFound(dir, first) } : undefined;
  };
  const onFiles = async (from: string, edit: (dir: string) => string | undefined): Promise<Edited | undefined> => {
    const dir = copied(from, bench);
    const before = contentOf(state(dir));
    const what = edit(dir);
    return what === undefined ? undefined : { what, found: (await isFound(dir)) || contentOf(state(dir)) === before };
  };
  return [
    { name: 'rows, every kind of edit', share: 19, edit: () => onRows(stopped, at(known, below(known.length))) },
    { name: 'rows, any value of any column', share: 24, edit: () => onRows(stopped, anyRow(below)) },
    { name: 'trail', share: 10, edit: () => onRows(stopped, anyTrail(below), 'trail') },
    { name: 'files of the database', share: 4, edit: () => onFiles(stopped, (dir) => fileEdit(dir, 'state.db', older, below)) },
    {
      name: 'audit-head',
      share: 1,
      async edit() {
        const from = at([stopped, killed], below(2)); // that of the stop before the kill is as one that lags: nobody can tell
        const dir = copied(from, bench);
        cpSync(headFileOf(older), headFileOf(dir));
        return { what: `an older one put back, in that of the ${path.basename(from)} box`, found: await isFound(dir, 'trail') };
      },
    },
    { name: 'WAL after a kill', share: 3, edit: () => onFiles(killed, (dir) => fileEdit(dir, 'state.db-wal', undefined, below)) },
    {
      name: 'archive',
      share: 12,
      edit: async () => {
        const dir = copied(stopped, bench);
        const what = archiveEdit(archiveFolder(dir), below);
        return what === undefined ? undefined : { what, found: await isFound(dir, 'archive') };
      },
    },
  ];
}

type Part = 'rows' | 'trail' | 'archive';

/** As a verification of the box goes about it; the part that is named looks first, and one that finds something is enough. */
export async function isFound(dir: string, first: Part = 'rows'): Promise<boolean> {
  const atOnce = (): Promise<void> => Promise.resolve();
  const file = path.join(dir, 'state.db');
  const keys = openDeviceKeys(dir);
  const withFile = async (look: (database: Database.Database) => Promise<boolean>): Promise<boolean> => {
    const database = new Database(file, { readonly: true });
    try {
      return await look(database);
    } finally {
      database.close();
    }
  };
  const parts: Readonly<Record<Part, () => Promise<boolean>>> = {
    rows: async () => (await verifyRows(file, keys, atOnce)).ok,
    trail: () => withFile(async (database) => (await new ChainVerifier(database, keys, headFileOf(dir)).verify({}, atOnce)).ok),
    archive: () =>
      withFile(async (database) => {
        const { ok, archives } = await new ArchiveVerifier(database, keys, archiveFolder(dir)).verify({}, atOnce);
        return ok && archives.every((each) => each.ok && each.repacked !== true); // a file whose list of blocks was changed is named as one that was packed again
      }),
  };
  const { [first]: look, ...others } = parts;
  try {
    for (const each of [look, ...Object.values<() => Promise<boolean>>(others)]) if (!(await each())) return true;
  } catch (fault) {
    if (!String((fault as { code?: unknown }).code).startsWith('SQLITE_')) throw fault;
    return true; // the run of a verification ends with the file that cannot be read
  }
  return quickCheck(file) !== null;
}

/** Of every row of every table; '' where it cannot be read to the end. */
function contentOf(file: string): string {
  const hash = createHash('sha256');
  try {
    const database = new Database(file, { readonly: true });
    try {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all() as string[];
      for (const table of tables) for (const row of database.prepare(`SELECT * FROM "${table}"`).raw().iterate() as Iterable<unknown[]>) hash.update(JSON.stringify(row));
    } finally {
      database.close();
    }
    return hash.digest('hex');
  } catch {
    return '';
  }
}

/** What a start finds and verification does not: which appliance it is of, and the shape of its tables (EDITS_FOR_THE_START). */
const FOR_THE_START = /^(migrations|sqlite_.*)$/;

type Values = Readonly<Record<string, unknown>>;

/** Each as often as it stands here, all others once. */
const OFTEN = ['resources', 'resources', 'resources', 'resources', 'resources', 'facts', 'facts', 'audit', 'audit'];

/** A field, a row taken out, put in, or a value that changes places with that of another row: in any table. */
function anyRow(below: Below): RowEdit {
  let what = '';
  return {
    get what() {
      return what;
    },
    edit(database) {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all() as string[];
      const all = [...tables.filter((name) => !FOR_THE_START.test(name)), ...OFTEN];
      const table = at(all, below(all.length));
      const row = rowOf(database, table, below);
      if (!row) return false;
      const columns = Object.keys(row).filter((name) => name !== 'archived_at'); // nobody reads it
      const column = at(columns, below(columns.length));
      const edits: readonly (readonly [string, () => number])[] = [
        ['field', () => update(database, table, row, column, otherValue(row[column], below))],
        ['field', () => update(database, table, row, column, otherValue(row[column], below))],
        ['delete', () => database.prepare(`DELETE FROM "${table}" WHERE ${isRow(row)}`).run(...Object.values(row)).changes],
        ['insert', () => insert(database, table, { ...row, [column]: otherValue(row[column], below) })],
        ['swap', () => swap(database, table, row, rowOf(database, table, below), column)],
      ];
      const [name, edit] = at(edits, below(edits.length));
      const key = [row.kind, row.name ?? row.stream ?? row.sequence ?? row.last ?? row.key].filter((value) => value !== undefined).join(' ');
      what = `${name} ${table} ${key}: ${column}`;
      try {
        return edit() > 0;
      } catch (fault) {
        if (String((fault as { code?: unknown }).code).startsWith('SQLITE_CONSTRAINT')) return false; // the file takes no such row
        throw fault;
      }
    },
  };
}

/** Of the resources of any kind, however many others there are. */
function rowOf(database: Database.Database, table: string, below: Below): Values | undefined {
  const kinds = table === 'resources' ? (database.prepare('SELECT DISTINCT kind FROM resources ORDER BY kind').pluck().all() as string[]) : [];
  const [where, given] = kinds.length > 0 ? ['WHERE kind = ?', [at(kinds, below(kinds.length))]] : table === 'meta' ? ["WHERE key NOT IN ('appliance', 'probe')", []] : ['', []];
  const rows = database
    .prepare(`SELECT COUNT(*) FROM "${table}" ${where}`)
    .pluck()
    .get(...given) as number;
  return rows === 0 ? undefined : (database.prepare(`SELECT * FROM "${table}" ${where} LIMIT 1 OFFSET ?`).get(...given, below(rows)) as Values);
}

function isRow(row: Values): string {
  return Object.keys(row)
    .map((name) => `"${name}" IS ?`)
    .join(' AND ');
}

function update(database: Database.Database, table: string, row: Values, column: string, value: unknown): number {
  return database.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${isRow(row)}`).run(value, ...Object.values(row)).changes;
}

function insert(database: Database.Database, table: string, values: Values): number {
  const names = Object.keys(values);
  return database.prepare(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(...Object.values(values))
    .changes;
}

function swap(database: Database.Database, table: string, one: Values, other: Values | undefined, column: string): number {
  if (!other || same(one[column], other[column])) return 0;
  return database.transaction(() => update(database, table, one, column, other[column]) + update(database, table, other, column, one[column]))();
}

function same(one: unknown, other: unknown): boolean {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : one === other;
}

/** One leaf of a document, one letter of a text, one bit of bytes, a number beside the one there was. */
function otherValue(value: unknown, below: Below): unknown {
  if (typeof value === 'number') return value + (below(2) === 0 ? 1 : -1);
  if (value === null) return 'x';
  if (Buffer.isBuffer(value)) return value.length === 0 ? Buffer.from([0]) : flipped(value, below);
  const text = String(value);
  const document = objectIn(text);
  if (document !== undefined) return JSON.stringify(withOtherLeaf(document, below));
  if (text === '') return 'x';
  const place = below(text.length);
  return `${text.slice(0, place)}${text[place] === 'e' ? 'a' : 'e'}${text.slice(place + 1)}`;
}

function objectIn(text: string): object | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** Down any member until there is none below. */
export function withOtherLeaf(value: unknown, below: Below): unknown {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') return `${value}${at('xyz', below(3))}`;
    return typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : 'x';
  }
  const keys = Object.keys(value);
  if (keys.length === 0) return Array.isArray(value) ? ['x'] : { x: 'x' };
  const key = at(keys, below(keys.length));
  const member = withOtherLeaf((value as Record<string, unknown>)[key], below);
  return Array.isArray(value) ? value.with(Number(key), member) : { ...value, [key]: member };
}

export function flipped(bytes: Buffer, below: Below): Buffer {
  const copy = Buffer.from(bytes);
  const place = below(copy.length);
  copy.writeUInt8(copy.readUInt8(place) ^ (1 << below(8)), place);
  return copy;
}

/** What somebody does to the trail who knows how it is made and has no key. */
function anyTrail(below: Below): RowEdit {
  const kinds: readonly (readonly [string, (database: Database.Database, first: number, last: number) => number])[] = [
    ['two records change places', (database, first, last) => changePlaces(database, first + below(last - first), last)],
    ['a record changed and hashed anew', (database, first, last) => forge(database, first + below(last - first + 1), false)],
    ['a record put in behind the last', (database, _, last) => forge(database, last, true)],
    ['records cut off the end, with all that names them', (database, _, last) => cutTail(database, last - below(TAIL_MAX), last)],
    ['records taken out', (database, first, last) => takeOut(database, first + below(last - first - TAIL_MAX), 1 + below(TAIL_MAX))],
    ['records taken off the beginning and called archived', (database, first) => callArchived(database, first, first + below(TAIL_MAX))],
  ];
  const [what, edit] = at(kinds, below(kinds.length));
  return {
    what,
    edit(database) {
      const { first, last } = database.prepare('SELECT MIN(sequence) AS first, MAX(sequence) AS last FROM audit').get() as { first: number; last: number };
      return edit(database, first, last) > 0;
    },
  };
}

const OF_A_RECORD = ['at', 'site', 'action', 'category', 'result', 'kind', 'name', 'account', 'correlation', 'body', 'hash', 'mac'];

function changePlaces(database: Database.Database, one: number, other: number): number {
  const row = (sequence: number): Record<string, unknown> => database.prepare('SELECT * FROM audit WHERE sequence = ?').get(sequence) as Record<string, unknown>;
  const [first, second] = [row(one), row(other)];
  const set = database.prepare(`UPDATE audit SET ${OF_A_RECORD.map((name) => `${name} = @${name}`).join(', ')} WHERE sequence = @sequence`);
  return one === other ? 0 : set.run({ ...second, sequence: one }).changes + set.run({ ...first, sequence: other }).changes;
}

function forge(database: Database.Database, sequence: number, isNew: boolean): number {
  const row = database.prepare('SELECT * FROM audit WHERE sequence = ?').get(sequence) as { body: string; hash: Buffer };
  const record = JSON.parse(row.body) as Record<string, unknown>;
  const next = isNew ? { sequence: sequence + 1, name: `audit-${String(sequence + 1).padStart(12, '0')}`, previousHash: row.hash.toString('hex') } : {};
  const body = JSON.stringify({ ...record, ...next, displayName: 'Eve' });
  const forged = { ...row, ...(isNew ? { sequence: sequence + 1 } : {}), body, hash: hashOf(body) };
  if (isNew) return insert(database, 'audit', forged);
  return database.prepare('UPDATE audit SET body = ?, hash = ? WHERE sequence = ?').run(body, forged.hash, sequence).changes;
}

function cutTail(database: Database.Database, from: number, last: number): number {
  if (from > last) return 0;
  for (const table of ['audit_targets', 'audit_correlations', 'audit_heads']) database.prepare(`DELETE FROM ${table} WHERE sequence >= ?`).run(from);
  database.prepare('UPDATE audit_spans SET last = ? WHERE first < ? AND last >= ?').run(from - 1, from, from);
  return database.prepare('DELETE FROM audit WHERE sequence >= ?').run(from).changes;
}

function takeOut(database: Database.Database, from: number, count: number): number {
  for (const table of ['audit_targets', 'audit_correlations']) database.prepare(`DELETE FROM ${table} WHERE sequence BETWEEN ? AND ?`).run(from, from + count - 1);
  return database.prepare('DELETE FROM audit WHERE sequence BETWEEN ? AND ?').run(from, from + count - 1).changes;
}

function callArchived(database: Database.Database, first: number, last: number): number {
  const hash = database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck().get(last) as Buffer;
  const set = database.prepare('UPDATE meta SET value = ? WHERE key = ?');
  set.run(String(last), 'auditArchivedTo');
  set.run(hash.toString('hex'), 'auditArchivedHash');
  return database.prepare('DELETE FROM audit WHERE sequence BETWEEN ? AND ?').run(first, last).changes;
}

/** @param older a data directory of before; absent: the file did not live then. */
function fileEdit(dir: string, name: string, older: string | undefined, below: Below): string | undefined {
  const file = path.join(dir, name);
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return undefined;
  const place = below(bytes);
  const edits: readonly (readonly [string, () => void])[] = [
    [`${name}: a bit at ${place}`, () => writeFileSync(file, flippedAt(readFileSync(file), place))],
    [`${name}: cut off at ${place}`, () => truncateSync(file, place)],
    [`${name}: taken away`, () => rmSync(file)],
    ...(older === undefined ? [] : [[`${name}: put back from an older copy`, () => cpSync(path.join(older, name), file)] as const]),
  ];
  const [what, edit] = at(edits, below(edits.length));
  edit();
  return what;
}

function flippedAt(bytes: Buffer, place: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0x10, place);
  return bytes;
}

/** One file of the archive of the trail. */
function archiveEdit(folder: string, below: Below): string | undefined {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson.gz'));
  const name = at(names, below(names.length));
  const file = path.join(folder, name);
  const bytes = readFileSync(file);
  const text = gunzipSync(bytes).toString('utf8');
  const lines = text.split(/(?<=\n)/);
  const line = below(lines.length - 1);
  const packed = (changed: readonly string[]): Buffer => gzipSync(changed.join(''));
  const place = below(bytes.length);
  const edits: readonly (readonly [string, () => Buffer | undefined])[] = [
    [`a bit near ${place}`, () => flipped(bytes, below)],
    [`cut off at ${place}`, () => bytes.subarray(0, place)],
    [`a byte taken out at ${place}`, () => Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)])],
    [`a byte put in at ${place}`, () => Buffer.concat([bytes.subarray(0, place), Buffer.from([below(256)]), bytes.subarray(place)])],
    [`line ${line} taken out`, () => packed(lines.toSpliced(line, 1))],
    [`line ${line} twice`, () => packed(lines.toSpliced(line, 0, at(lines, line)))],
    [`line ${line} changes places with the first`, () => (line === 0 ? undefined : packed(lines.with(0, at(lines, line)).with(line, at(lines, 0))))],
    [`a field of line ${line}`, () => packed(lines.with(line, `${JSON.stringify(withOtherLeaf(JSON.parse(at(lines, line)), below))}\n`))],
    [`line ${line} changed and hashed anew`, () => packed(lines.with(line, hashedAnew(at(lines, line), below)))],
    [`the lines from ${line} on cut off`, () => packed([...lines.slice(0, line), at(lines, lines.length - 1)])],
    ['packed again', () => packed(lines)],
    ['the other file in its place', () => readFileSync(path.join(folder, at(names, (names.indexOf(name) + 1) % names.length)))],
    ['taken away', () => Buffer.alloc(0)],
  ];
  const [what, edit] = at(edits, below(edits.length));
  const edited = edit();
  if (!edited || edited.equals(bytes)) return undefined;
  if (what === 'taken away') rmSync(file);
  else writeFileSync(file, edited);
  return `${name}: ${what}`;
}

function hashedAnew(line: string, below: Below): string {
  const row = readLine(line.trimEnd());
  if (!row) throw new Error(`${line.slice(0, 80)} is no record`);
  const body = JSON.stringify(withOtherLeaf(JSON.parse(row.body), below));
  return archiveLine({ ...row, body, hash: hashOf(body) });
}
