/**
 * The tables of `state.db` and how they came to be. A migration runs in one transaction together with its row in
 * `migrations`, so a crash in the middle leaves the version before it. Migrations are only ever added.
 */
import Database from '../base/sqlite.js';

/**
 * Facts of what was consumed and produced: what they say, and the condition that lets a query use their indexes. A body that is no JSON says
 * nothing. The indexes hold all that is asked for, this word of the condition too: no fact is read through them.
 */
export const MATERIAL_FACTS = {
  prefix: 'events/',
  condition: "stream >= 'events/' AND stream < 'events0' AND CASE WHEN json_valid(body) THEN body ->> '$.eventType' END = 'Material'",
  lot: "body ->> '$.previousValue'",
  way: "body ->> '$.eventSubType'",
  quantity: "body ->> '$.value'",
  material: "body ->> '$.message'",
  element: "body ->> '$.element.path'",
  at: "body ->> '$.ts'",
} as const;

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE resources (kind TEXT NOT NULL, site TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL);
   CREATE UNIQUE INDEX resources_key ON resources (kind, site, name);
   CREATE TABLE audit (
     sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, site TEXT NOT NULL, action TEXT NOT NULL, category TEXT NOT NULL, result TEXT NOT NULL,
     kind TEXT NOT NULL, name TEXT NOT NULL, account TEXT NOT NULL, correlation TEXT NOT NULL,
     body TEXT NOT NULL, hash BLOB NOT NULL, mac BLOB NOT NULL, key_id TEXT NOT NULL);
   CREATE INDEX audit_at ON audit (at);
   CREATE INDEX audit_site ON audit (site);
   CREATE INDEX audit_target ON audit (kind, name);
   CREATE INDEX audit_correlation ON audit (correlation);
   CREATE TABLE audit_heads (sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL, at TEXT NOT NULL, kid TEXT NOT NULL, signature BLOB NOT NULL);
   CREATE TABLE streams (stream TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE facts (stream TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL);
   CREATE UNIQUE INDEX facts_key ON facts (stream, sequence);
   CREATE TABLE nonces (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, at INTEGER NOT NULL);`,
  // an index entry per record costs more than the record: audit-index.ts; the nonces of a commit are one row
  `DROP INDEX audit_at;
   DROP INDEX audit_site;
   DROP INDEX audit_target;
   DROP INDEX audit_correlation;
   CREATE TABLE audit_spans (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER NOT NULL);
   CREATE TABLE audit_sites (site TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (site, last)) WITHOUT ROWID;
   CREATE TABLE audit_targets (kind TEXT NOT NULL, name TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (kind, name, sequence)) WITHOUT ROWID;
   CREATE TABLE audit_correlations (correlation TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (correlation, sequence)) WITHOUT ROWID;
   INSERT INTO audit_spans (last, first, from_at, to_at) SELECT MAX(sequence), MIN(sequence), MIN(at), MAX(at) FROM audit GROUP BY (sequence - 1) / 512;
   INSERT INTO audit_sites (site, last) SELECT DISTINCT a.site, s.last FROM audit_spans s CROSS JOIN audit a ON a.sequence BETWEEN s.first AND s.last;
   INSERT INTO audit_targets (kind, name, sequence) SELECT kind, name, sequence FROM audit ORDER BY kind, name, sequence;
   INSERT INTO audit_correlations (correlation, sequence) SELECT correlation, sequence FROM audit ORDER BY correlation, sequence;
   CREATE TABLE nonce_groups (id INTEGER PRIMARY KEY, newest INTEGER NOT NULL, entries TEXT NOT NULL);
   INSERT INTO nonce_groups (newest, entries) SELECT MAX(at), group_concat(hash || ' ' || at, char(10)) FROM nonces GROUP BY id / 512 ORDER BY id / 512;
   DROP TABLE nonces;`,
  // by time only where somebody reads by time: an entry for every fact would cost more than the fact
  `CREATE INDEX facts_timed ON facts (stream, body ->> '$.timestamp', sequence) WHERE stream >= 'alarms/' AND stream < 'alarms0';`,
  // files of archived audit records, and what finds a record in them: archive-notes.ts
  `CREATE TABLE audit_archives (
     last INTEGER PRIMARY KEY, first INTEGER NOT NULL, file TEXT NOT NULL, records INTEGER NOT NULL,
     previous_hash TEXT NOT NULL, head_hash TEXT NOT NULL, sha256 TEXT NOT NULL, archived_at TEXT NOT NULL, mac BLOB NOT NULL);
   CREATE TABLE audit_archive_blocks (
     last INTEGER PRIMARY KEY, first INTEGER NOT NULL, file TEXT NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL,
     from_at INTEGER NOT NULL, to_at INTEGER NOT NULL, sites TEXT NOT NULL, keys BLOB NOT NULL);`,
  // what a block unpacks to: a file that was packed again is told from its original, and never unpacks to more than it may
  `ALTER TABLE audit_archive_blocks ADD COLUMN text_bytes INTEGER;
   ALTER TABLE audit_archive_blocks ADD COLUMN sha256 TEXT;`,
  // what tells a row that the ledger wrote from another: row-seals.ts, which takes over what was there before
  `ALTER TABLE resources ADD COLUMN mac BLOB;
   ALTER TABLE streams ADD COLUMN mac BLOB;`,
  // what has ended leaves the memory and stays here (ADR 0035): `past` names the run, `past_entry` is what is still known without
  // reading. A start reads the present by the first index, and of the past the entries, which their index holds whole.
  `ALTER TABLE resources ADD COLUMN past TEXT NOT NULL DEFAULT '';
   ALTER TABLE resources ADD COLUMN past_entry TEXT NOT NULL DEFAULT '';
   ALTER TABLE streams ADD COLUMN past TEXT NOT NULL DEFAULT '';
   CREATE INDEX resources_present ON resources (past) WHERE past = '';
   CREATE INDEX resources_past ON resources (past) WHERE past <> '';
   CREATE INDEX resources_past_entry ON resources (kind, site, name, past, past_entry) WHERE past_entry <> '';
   CREATE INDEX streams_present ON streams (past) WHERE past = '';
   CREATE INDEX streams_past ON streams (past) WHERE past <> '';`,
  // which batches took a lot, and which lots a batch took, without reading what else was told of them (ADR 0147)
  `CREATE INDEX facts_of_lot ON facts (
     body ->> '$.previousValue', body ->> '$.eventSubType', stream, sequence,
     body ->> '$.value', body ->> '$.message', body ->> '$.element.path', body ->> '$.ts', CASE WHEN json_valid(body) THEN body ->> '$.eventType' END)
     WHERE stream >= 'events/' AND stream < 'events0' AND CASE WHEN json_valid(body) THEN body ->> '$.eventType' END = 'Material';
   CREATE INDEX facts_of_material ON facts (
     stream, body ->> '$.eventSubType', sequence,
     body ->> '$.previousValue', body ->> '$.value', body ->> '$.message', body ->> '$.element.path', body ->> '$.ts', CASE WHEN json_valid(body) THEN body ->> '$.eventType' END)
     WHERE stream >= 'events/' AND stream < 'events0' AND CASE WHEN json_valid(body) THEN body ->> '$.eventType' END = 'Material';`,
];

/** Streams that are read by time, and the condition that lets a query use their index `facts_timed`. */
export const TIMED_STREAMS = { prefix: 'alarms/', condition: "stream >= 'alarms/' AND stream < 'alarms0'", time: "body ->> '$.timestamp'" } as const;

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Opens the database for its only writer: WAL, every commit synced (reliability: NORMAL lost acknowledged rows at 18 of
 * 20 power cuts), checkpoints only when the thread is idle.
 *
 * @throws Error when the file was written by a newer version.
 */
export function openStateDatabase(file: string): Database.Database {
  const database = new Database(file, { timeout: 5000 });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('wal_autocheckpoint = 0');
    database.pragma('journal_size_limit = 67108864');
    database.pragma('cache_size = -16384');
    migrate(database);
  } catch (fault) {
    database.close();
    throw fault;
  }
  return database;
}

function migrate(database: Database.Database): void {
  database.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, at TEXT NOT NULL)');
  const done = database.prepare('SELECT COALESCE(MAX(version), 0) FROM migrations').pluck().get() as number;
  if (done > SCHEMA_VERSION) throw new Error(`state.db was written by a newer version of lineside (schema ${done}, this one knows ${SCHEMA_VERSION})`);
  for (let version = done + 1; version <= SCHEMA_VERSION; version += 1) {
    database.transaction(() => {
      database.exec(MIGRATIONS[version - 1] as string);
      database.prepare('INSERT INTO migrations (version, at) VALUES (?, ?)').run(version, new Date().toISOString());
    })();
  }
}

/** What became of an index that is not there any more. */
export interface IndexMade {
  readonly name: string;
  /** Why it could not be made: a full disk, or two rows of one key. */
  readonly fault?: string;
}

/** Each is made anew from its rows, which are there. One that cannot be made costs time; what cannot do without it says so itself. */
export function makeIndexesAnew(database: Database.Database): readonly IndexMade[] {
  const all = MIGRATIONS.join('\n');
  const dropped = new Set([...all.matchAll(/DROP INDEX (\w+)/g)].map(([, name]) => name));
  const there = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'index'").pluck().all());
  const gone = [...all.matchAll(/CREATE (?:UNIQUE )?INDEX (\w+) [^;]+/g)].filter(([, name]) => !dropped.has(name) && !there.has(name));
  return gone.map(([statement, name = '']) => {
    try {
      database.exec(statement);
      return { name };
    } catch (fault) {
      return { name, fault: (fault as Error).message };
    }
  });
}
