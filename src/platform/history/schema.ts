/** The tables of `historian.db`. Blocks: rowid table with a unique index, because a blob in a WITHOUT ROWID table takes whole pages. */
import Database from '../base/sqlite.js';

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE tags (
     id INTEGER PRIMARY KEY, site TEXT NOT NULL, unit TEXT NOT NULL, address TEXT NOT NULL, tag TEXT NOT NULL, dataType TEXT NOT NULL,
     firstTs INTEGER, lastTs INTEGER, samples INTEGER NOT NULL DEFAULT 0, persisted INTEGER NOT NULL DEFAULT -1);
   CREATE UNIQUE INDEX tags_key ON tags (site, unit, address);
   CREATE TABLE blocks (
     tag INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, n INTEGER NOT NULL, good INTEGER NOT NULL,
     min REAL, max REAL, sum REAL NOT NULL, first REAL, last REAL, data BLOB NOT NULL);
   CREATE INDEX blocks_key ON blocks (tag, t0);
   CREATE INDEX blocks_age ON blocks (t0);
   CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
   CREATE TABLE events (id INTEGER PRIMARY KEY, list TEXT NOT NULL, at INTEGER NOT NULL, site TEXT NOT NULL, unit TEXT NOT NULL, body TEXT NOT NULL);
   CREATE INDEX events_at ON events (list, at);
   CREATE TABLE gaps (id INTEGER PRIMARY KEY, from_at INTEGER NOT NULL, to_at INTEGER NOT NULL, site TEXT NOT NULL, unit TEXT NOT NULL, address TEXT NOT NULL, cause TEXT NOT NULL, bounds TEXT NOT NULL);
   CREATE INDEX gaps_at ON gaps (from_at);`,
  // when a text was given its number: with what was recorded then it is forgotten; those of before with the newest sample, whatever the clock says
  `ALTER TABLE texts ADD COLUMN at INTEGER;
   UPDATE texts SET at = MAX(1000 * CAST(strftime('%s', 'now') AS INTEGER), (SELECT COALESCE(MAX(lastTs), 0) FROM tags));`,
];

/** The file is good, and not for this version to touch. */
export class NewerHistory extends Error {}

/** The journal carries what a commit here may lose at a power cut, so samples need no sync of their own. */
export function openHistoryDatabase(file: string): Database.Database {
  const database = new Database(file, { timeout: 5000 });
  try {
    return prepared(database);
  } catch (fault) {
    database.close();
    throw fault;
  }
}

function prepared(database: Database.Database): Database.Database {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('wal_autocheckpoint = 4000');
  database.pragma('cache_size = -16384');
  const done = database.pragma('user_version', { simple: true }) as number;
  if (done > MIGRATIONS.length) throw new NewerHistory(`historian.db was written by a newer version of lineside (schema ${done}, this one knows ${MIGRATIONS.length})`);
  for (let version = done + 1; version <= MIGRATIONS.length; version += 1) {
    database.transaction(() => {
      database.exec(MIGRATIONS[version - 1] as string);
      database.pragma(`user_version = ${version}`);
    })();
  }
  return database;
}
