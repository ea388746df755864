/**
 * Single edits of a closed `state.db`, past the ledger, for suites and for the torture harness: what is edited follows from
 * what the database holds, so every kind of resource and every kind of stream gets its own. One call of `edit` does one edit.
 * `verified` then says what of it is found.
 */
import path from 'node:path';
import Database from '../../src/platform/base/sqlite.js';
import { archiveFolder } from '../../src/platform/ledger/archive-format.js';
import { headFileOf } from '../../src/platform/ledger/head-file.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { ArchiveVerifier } from '../../src/platform/ledger/verify-archives.js';
import { ChainVerifier } from '../../src/platform/ledger/verify-chain.js';
import { verifyRows } from '../../src/platform/ledger/verify-rows.js';
import { at as elementAt } from './at.js';

export interface RowEdit {
  readonly what: string;
  /** @returns whether there was anything to edit. */
  edit(database: Database.Database): boolean;
}

/** Numbers that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Every kind of edit that fits what is in the database, each on a row that `random` chooses. */
export function rowEdits(database: Database.Database, random: () => number): RowEdit[] {
  const column = (text: string): string[] => database.prepare(text).pluck().all() as string[];
  const kinds = column('SELECT DISTINCT kind FROM resources ORDER BY kind');
  const prefixes = [...new Set(column('SELECT stream FROM streams ORDER BY stream').map((stream) => stream.split('/', 1).join()))];
  return [
    ...kinds.flatMap((kind) => ofResource(kind, random)),
    ...prefixes.flatMap((prefix) => ofStream(prefix, random)),
    ...['nonce_groups', 'streams', 'facts', 'resources', 'audit_heads', 'audit_spans', 'audit_targets', 'audit_correlations', 'audit_sites'].map(emptied),
    ...OTHERS.map(([what, text]) => statement(what, text, random)),
    ...(column("SELECT 1 FROM resources WHERE past <> ''").length > 0 ? OF_THE_PAST.map(([what, rows, text]) => onRow(what, rows, [], text, random)) : []),
    ...(column('SELECT file FROM audit_archives').length > 0 ? OF_ARCHIVES.map(([what, text]) => statement(what, text, random)) : []),
  ];
}

/** As many edits as are asked for: all kinds of them in turn, each time on other rows. */
export function manyEdits(database: Database.Database, seed: number, count: number): RowEdit[] {
  const random = randomOf(seed);
  const all: RowEdit[] = [];
  while (all.length < count) {
    const round = rowEdits(database, random);
    for (let at = round.length - 1; at > 0; at -= 1) {
      const other = Math.floor(random() * (at + 1));
      [round[at], round[other]] = [elementAt(round, other), elementAt(round, at)];
    }
    all.push(...round);
  }
  return all.slice(0, count);
}

/** Does one edit in a closed data directory. */
export function editRow(file: string, { edit }: RowEdit): boolean {
  const database = new Database(file);
  try {
    return edit(database);
  } finally {
    database.close();
  }
}

/** What the query thread answers of a closed data directory, without the thread. */
export async function verified(dir: string) {
  const atOnce = (): Promise<void> => Promise.resolve();
  const file = path.join(dir, 'state.db');
  const keys = openDeviceKeys(dir);
  const database = new Database(file, { readonly: true });
  try {
    const chain = await new ChainVerifier(database, keys, headFileOf(dir)).verify({}, atOnce);
    const archives = await new ArchiveVerifier(database, keys, archiveFolder(dir)).verify({}, atOnce);
    const rows = await verifyRows(file, keys, atOnce);
    return { ok: chain.ok && archives.ok && rows.ok, chain: chain.problems, archives: archives.archives.filter(({ ok }) => !ok), rows: rows.problems };
  } finally {
    database.close();
  }
}

/** `@id` is the row that is chosen; `@other` another one, where there is one. */
function onRow(what: string, rows: string, given: readonly unknown[], change: string, random: () => number): RowEdit {
  const [at, beside] = [random(), random()];
  return {
    what,
    edit(database) {
      const ids = database
        .prepare(rows)
        .pluck()
        .all(...given) as number[];
      if (ids.length === 0) return false;
      const id = elementAt(ids, Math.floor(at * ids.length));
      const rest = ids.filter((each) => each !== id);
      const other = rest[Math.floor(beside * rest.length)];
      if (change.includes('@other') && other === undefined) return false;
      return changes(database, change, id, other);
    },
  };
}

function changes(database: Database.Database, change: string, id = 0, other?: number): boolean {
  return change.split(';').reduce((sum, text) => sum + database.prepare(text).run(...[pick(text, id, other)].flat()).changes, 0) > 0;
}

function pick(text: string, id: number, other: number | undefined): readonly unknown[] {
  const named = { ...(text.includes('@id') ? { id } : {}), ...(text.includes('@other') ? { other } : {}) };
  return Object.keys(named).length > 0 ? [named] : [];
}

/** A value inside the spec or status, so that the body stays a document. */
const CHANGED_BODY = `UPDATE resources SET body = json_set(body, '$.edited', json('true')) WHERE rowid = @id`;

function ofResource(kind: string, random: () => number): RowEdit[] {
  const rows = 'SELECT rowid FROM resources WHERE kind = ?';
  const edit = (what: string, change: string, from = rows): RowEdit => onRow(`${kind}: ${what}`, from, [kind], change, random);
  return [
    edit('body changed', CHANGED_BODY),
    edit('a letter of the body changed', "UPDATE resources SET body = replace(body, '2026', '2062') WHERE rowid = @id"),
    edit('row deleted', 'DELETE FROM resources WHERE rowid = @id'),
    edit('column name unlike the body', "UPDATE resources SET name = name || 'x' WHERE rowid = @id"),
    edit('column site unlike the body', "UPDATE resources SET site = site || 'x' WHERE rowid = @id"),
    edit('column kind unlike the body', "UPDATE resources SET kind = kind || 'x' WHERE rowid = @id"),
    edit('name that is no text', 'UPDATE resources SET name = CAST(name AS BLOB) WHERE rowid = @id'),
    edit('version changed', 'UPDATE resources SET version = version + 1 WHERE rowid = @id'),
    edit('said to be past', "UPDATE resources SET past = 'Batch/demo/b', past_entry = '{}' WHERE rowid = @id", `${rows} AND past = ''`),
    edit('mac taken away', 'UPDATE resources SET mac = NULL WHERE rowid = @id'),
    edit(
      'a copy under another name',
      "INSERT INTO resources (kind, site, name, version, body, mac) SELECT kind, site, name || 'x', version, json_set(body, '$.metadata.name', name || 'x'), mac FROM resources WHERE rowid = @id",
    ),
    edit(
      'body of another row',
      'UPDATE resources SET body = (SELECT body FROM resources WHERE rowid = @other), mac = (SELECT mac FROM resources WHERE rowid = @other) WHERE rowid = @id',
    ),
  ];
}

function ofStream(prefix: string, random: () => number): RowEdit[] {
  const rows = "SELECT rowid FROM facts WHERE stream = @prefix OR stream LIKE @prefix || '/%'";
  const edit = (what: string, change: string, from = rows): RowEdit => onRow(`facts ${prefix}: ${what}`, from, [{ prefix }], change, random);
  const present = rows.replace('SELECT rowid FROM facts', "SELECT f.rowid FROM facts f JOIN (SELECT * FROM streams WHERE past = '') USING (stream)");
  const lasts = rows.replace('SELECT rowid FROM facts', 'SELECT f.rowid FROM facts f JOIN streams s USING (stream)').replace('WHERE ', 'WHERE f.sequence = s.last AND (') + ')';
  return [
    edit('body changed', "UPDATE facts SET body = json_set(body, '$.edited', json('true')) WHERE rowid = @id"),
    edit('row deleted', 'DELETE FROM facts WHERE rowid = @id'),
    edit(
      'last row deleted and last set back',
      'UPDATE streams SET last = last - 1 WHERE stream = (SELECT stream FROM facts WHERE rowid = @id);DELETE FROM facts WHERE rowid = @id',
      lasts,
    ),
    edit('last set back', 'UPDATE streams SET last = last - 1 WHERE stream = (SELECT stream FROM facts WHERE rowid = @id)'),
    edit('said to be past', "UPDATE streams SET past = 'Batch/demo/b' WHERE past = '' AND stream = (SELECT stream FROM facts WHERE rowid = @id)", present),
    edit('a row added', 'INSERT INTO facts (stream, sequence, body) SELECT stream, sequence + 100000, body FROM facts WHERE rowid = @id'),
    edit('stream renamed', "UPDATE facts SET stream = stream || 'x' WHERE rowid = @id"),
    edit('stream deleted', 'DELETE FROM streams WHERE stream = (SELECT stream FROM facts WHERE rowid = @id)'),
    edit(
      'body of another row',
      'UPDATE facts SET body = (SELECT body FROM facts WHERE rowid = @other) WHERE rowid = @id AND body <> (SELECT body FROM facts WHERE rowid = @other)',
    ),
  ];
}

function emptied(table: string): RowEdit {
  return { what: `${table}: emptied`, edit: (database) => database.prepare(`DELETE FROM ${table}`).run().changes > 0 };
}

/** `@id` where a row is chosen: of the table that the text names first. */
const OTHERS: readonly (readonly [what: string, text: string])[] = [
  ['meta: resourceVersion set back', "UPDATE meta SET value = CAST(value - 1 AS TEXT) WHERE key = 'resourceVersion'"],
  ['meta: resourceVersion set forward', "UPDATE meta SET value = CAST(value + 1000 AS TEXT) WHERE key = 'resourceVersion'"],
  ['meta: seal deleted', "DELETE FROM meta WHERE key = 'seal'"],
  ['meta: seal changed', "UPDATE meta SET value = json_set(value, '$.seal.rows', json_extract(value, '$.seal.rows') - 1) WHERE key = 'seal'"],
  ['meta: seal emptied', "UPDATE meta SET value = '' WHERE key = 'seal'"],
  [
    'meta: a gap that nobody has found, acknowledged',
    `INSERT INTO meta (key, value) VALUES ('gaps', '[{"kind":"loss","text":"x","first":1,"last":1000000,"covers":["hash","link","missing","signature"],"id":"x","foundAt":"","acknowledged":{"by":"x","accountId":"x","at":"x","reason":"x","signature":"x"}}]') ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  ],
  ['meta: a row that nobody has written', "INSERT INTO meta (key, value) VALUES ('auditArchived', '1')"],
  ['nonce_groups: row deleted', 'DELETE FROM nonce_groups WHERE rowid = @id'],
  ['nonce_groups: entries changed', "UPDATE nonce_groups SET entries = replace(entries, 'a', 'b') WHERE rowid = @id AND instr(entries, 'a')"],
  ['nonce_groups: newest changed', 'UPDATE nonce_groups SET newest = newest - 3600000 WHERE rowid = @id'],
  ['streams: mac changed', 'UPDATE streams SET mac = zeroblob(32) WHERE stream = (SELECT stream FROM streams LIMIT 1)'],
  ['streams: mac cut short', "UPDATE streams SET mac = x'00' WHERE stream = (SELECT stream FROM streams LIMIT 1)"],
  ['streams: mac too long', 'UPDATE streams SET mac = zeroblob(33) WHERE stream = (SELECT stream FROM streams LIMIT 1)'],
  ['audit: body changed', 'UPDATE audit SET body = replace(body, \'"displayName":"\', \'"displayName":"x\') WHERE rowid = @id'],
  ['audit: row deleted', 'DELETE FROM audit WHERE rowid = @id'],
  ['audit: hash changed', 'UPDATE audit SET hash = zeroblob(32) WHERE rowid = @id'],
  ['audit: mac changed', 'UPDATE audit SET mac = zeroblob(32) WHERE rowid = @id'],
  ['audit: hash made a text', "UPDATE audit SET hash = 'x' WHERE rowid = @id"],
  ['audit: hash made a number', 'UPDATE audit SET hash = 5 WHERE rowid = @id'],
  ['audit: mac made a text', 'UPDATE audit SET mac = hex(mac) WHERE rowid = @id'],
  ['audit: mac made a number', 'UPDATE audit SET mac = 5 WHERE rowid = @id'],
  ['audit: key changed', "UPDATE audit SET key_id = 'x' WHERE rowid = @id"],
  ...['site', 'action', 'category', 'result', 'kind', 'name', 'account', 'correlation'].map(
    (name) => [`audit: column ${name} changed`, `UPDATE audit SET ${name} = ${name} || 'x' WHERE rowid = @id`] as const,
  ),
  ['audit: time changed', 'UPDATE audit SET at = at + 1000 WHERE rowid = @id'],
  ['audit_heads: row deleted', 'DELETE FROM audit_heads WHERE rowid = @id'],
  ['audit_heads: hash changed', `UPDATE audit_heads SET ${hashChanged('hash')} WHERE rowid = @id`],
  ['audit_heads: signature changed', 'UPDATE audit_heads SET signature = zeroblob(64) WHERE rowid = @id'],
  ['audit_heads: signature made a text', 'UPDATE audit_heads SET signature = hex(signature) WHERE rowid = @id'],
  ['audit_heads: moved to no record', 'UPDATE audit_heads SET sequence = -sequence WHERE rowid = @id'],
  ['audit_heads: time changed', "UPDATE audit_heads SET at = '2020-01-01T00:00:00.000Z' WHERE rowid = @id"],
  ['audit_spans: row deleted', 'DELETE FROM audit_spans WHERE rowid = @id'],
  ['audit_spans: last row deleted', 'DELETE FROM audit_spans WHERE last = (SELECT MAX(last) FROM audit_spans)'],
  ['audit_spans: first record moved back', 'UPDATE audit_spans SET first = first - 1 WHERE rowid = @id'],
  ['audit_spans: earliest time moved back', 'UPDATE audit_spans SET from_at = from_at - 1 WHERE rowid = @id'],
  [
    'audit_spans: last record made a text, in a table that takes one',
    "ALTER TABLE audit_spans RENAME TO before;CREATE TABLE audit_spans (last, first, from_at, to_at);INSERT INTO audit_spans SELECT 'x', first, from_at, to_at FROM before",
  ],
  ['audit_spans: times changed', 'UPDATE audit_spans SET to_at = from_at - 1 WHERE rowid = @id'],
  ['audit_targets: row deleted', 'DELETE FROM audit_targets WHERE sequence = (SELECT sequence FROM audit_targets LIMIT 1)'],
  ['audit_targets: name changed', "UPDATE audit_targets SET name = name || 'x' WHERE sequence = (SELECT sequence FROM audit_targets LIMIT 1)"],
  ['audit_targets: row added', "INSERT INTO audit_targets (kind, name, sequence) SELECT kind, name || 'x', sequence FROM audit_targets LIMIT 1"],
  ['audit_correlations: row deleted', 'DELETE FROM audit_correlations WHERE sequence = (SELECT sequence FROM audit_correlations LIMIT 1)'],
  ['audit_correlations: row added', "INSERT INTO audit_correlations (correlation, sequence) SELECT correlation || 'x', sequence FROM audit_correlations LIMIT 1"],
  ['audit_sites: row added', "INSERT INTO audit_sites (site, last) SELECT site || 'x', last FROM audit_sites ORDER BY last DESC LIMIT 1"],
  ['audit_sites: row of no span added', 'INSERT INTO audit_sites (site, last) SELECT site, last + 1 FROM audit_sites ORDER BY last DESC LIMIT 1'],
  ['audit_sites: row deleted', 'DELETE FROM audit_sites WHERE last = (SELECT last FROM audit_sites LIMIT 1)'],
];

const PAST_ROWS = "SELECT rowid FROM resources WHERE past <> ''";
const PAST_FACTS = "SELECT f.rowid FROM facts f JOIN streams s USING (stream) WHERE s.past <> ''";
const OF_FACT = 'WHERE stream = (SELECT stream FROM facts WHERE rowid = @id)';

/** Where runs are past. */
const OF_THE_PAST: readonly (readonly [what: string, rows: string, text: string])[] = [
  ['resources: past one said to be present', PAST_ROWS, "UPDATE resources SET past = '' WHERE rowid = @id"],
  ['resources: past one as if it had never been past', PAST_ROWS, "UPDATE resources SET past = '', past_entry = '' WHERE rowid = @id"],
  ['resources: past one moved to another run', PAST_ROWS, "UPDATE resources SET past = past || 'x' WHERE rowid = @id"],
  ['resources: entry of a past one changed', PAST_ROWS, "UPDATE resources SET past_entry = past_entry || ' ' WHERE rowid = @id"],
  ['resources: body of a past one changed', PAST_ROWS, CHANGED_BODY],
  ['resources: past one deleted', PAST_ROWS, 'DELETE FROM resources WHERE rowid = @id'],
  ['streams: past one said to be present', PAST_FACTS, `UPDATE streams SET past = '' ${OF_FACT}`],
  ['streams: past one moved to another run', PAST_FACTS, `UPDATE streams SET past = past || 'x' ${OF_FACT}`],
  ['streams: last of a past one set back', PAST_FACTS, `UPDATE streams SET last = last - 1 ${OF_FACT}`],
  ['facts: body of a past one changed', PAST_FACTS, "UPDATE facts SET body = json_set(body, '$.edited', json('true')) WHERE rowid = @id"],
  ['facts: past one deleted', PAST_FACTS, 'DELETE FROM facts WHERE rowid = @id'],
];

/** Where the audit trail has an archive. */
const OF_ARCHIVES: readonly (readonly [what: string, text: string])[] = [
  ['audit_archives: row deleted', 'DELETE FROM audit_archives WHERE rowid = @id'],
  ['audit_archives: file changed', "UPDATE audit_archives SET file = file || 'x' WHERE rowid = @id"],
  ['audit_archives: hash changed', `UPDATE audit_archives SET ${hashChanged('head_hash')} WHERE rowid = @id`],
  ['audit_archives: digest changed', `UPDATE audit_archives SET ${hashChanged('sha256')} WHERE rowid = @id`],
  ['audit_archives: file made no text', 'UPDATE audit_archives SET file = CAST(file AS BLOB) WHERE rowid = @id'],
  ['audit_archives: first record without end', 'UPDATE audit_archives SET first = 9e999 WHERE rowid = @id'],
  ['audit_archives: number of records without end', 'UPDATE audit_archives SET records = 9e999 WHERE rowid = @id'],
  ['audit_archives: number of records changed', 'UPDATE audit_archives SET records = records - 1 WHERE rowid = @id'],
  ['audit_archive_blocks: row deleted', 'DELETE FROM audit_archive_blocks WHERE rowid = @id'],
  ['audit_archive_blocks: place changed', 'UPDATE audit_archive_blocks SET start = start + 1 WHERE rowid = @id'],
  ['audit_archive_blocks: digest changed', `UPDATE audit_archive_blocks SET ${hashChanged('sha256')} WHERE rowid = @id`],
  ['audit_archive_blocks: first record moved back', 'UPDATE audit_archive_blocks SET first = first - 1 WHERE rowid = @id'],
  ['audit_archive_blocks: last record moved on', 'UPDATE audit_archive_blocks SET last = last + 1 WHERE rowid = @id'],
  ['audit_archive_blocks: sites made a number', "UPDATE audit_archive_blocks SET sites = '5' WHERE rowid = @id"],
  ['audit_archive_blocks: length changed', 'UPDATE audit_archive_blocks SET bytes = bytes - 1 WHERE rowid = @id'],
  ['meta: end of the archive set back', "UPDATE meta SET value = CAST(value - 1 AS TEXT) WHERE key = 'auditArchivedTo'"],
  ['meta: end of the archive no number', "UPDATE meta SET value = '7' || substr(value, 2) || 'e' WHERE key = 'auditArchivedTo'"],
  ['meta: hash of the end of the archive changed', `UPDATE meta SET ${hashChanged('value')} WHERE key = 'auditArchivedHash'`],
];

/** A hash whose first letter is another one: every hash has one, whatever its letters are. */
function hashChanged(column: string): string {
  return `${column} = CASE substr(${column}, 1, 1) WHEN 'a' THEN 'b' ELSE 'a' END || substr(${column}, 2)`;
}

/** What verification cannot tell and a start can: which appliance it is of, and what shape its tables have. */
export const EDITS_FOR_THE_START: readonly RowEdit[] = (
  [
    ['migrations: last row deleted', 'DELETE FROM migrations WHERE version = (SELECT MAX(version) FROM migrations)'],
    ['migrations: row of a later version', "INSERT INTO migrations (version, at) SELECT MAX(version) + 1, '2030-01-01T00:00:00.000Z' FROM migrations"],
    ['meta: appliance deleted', "DELETE FROM meta WHERE key = 'appliance'"],
    ['meta: appliance changed', "UPDATE meta SET value = json_set(value, '$.deviceId', 'another') WHERE key = 'appliance'"],
    ['meta: appliance set forth', "UPDATE meta SET value = json_set(value, '$.head.sequence', 1000000) WHERE key = 'appliance'"],
  ] as const
).map(([what, text]) => ({ what, edit: (database) => database.prepare(text).run().changes > 0 }));

function statement(what: string, text: string, random: () => number): RowEdit {
  if (text.includes('@id')) return onRow(what, `SELECT rowid FROM ${what.slice(0, what.indexOf(':'))}`, [], text, random);
  return { what, edit: (database) => changes(database, text) };
}
