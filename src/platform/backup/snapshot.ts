/**
 * Copies of a running box. A database is copied inside one read transaction of a connection of its own: what is written meanwhile goes on,
 * into the WAL, and is not in the copy. Page by page, with the copy synced as it grows, so that the commits of the plant never wait behind
 * a gigabyte that the system writes at once.
 */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import Database from '../base/sqlite.js';

/** Of 4 KiB: four MiB between two syncs. */
const PAGES_AT_ONCE = 1024;

/** @throws Error of SQLite or of the disk. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new Database(from, { readonly: true, timeout: 5000 });
  try {
    source.exec('BEGIN');
    source.prepare('SELECT COUNT(*) FROM sqlite_master').get(); // from here on the moment of the copy is fixed
    let copy = -1;
    try {
      await source.backup(to, {
        progress() {
          if (copy === -1) copy = openSync(to, 'r');
          fdatasyncSync(copy);
          return PAGES_AT_ONCE;
        },
      });
    } finally {
      if (copy !== -1) closeSync(copy);
    }
    source.exec('COMMIT');
  } finally {
    source.close();
  }
  const copy = new Database(to);
  try {
    copy.pragma('journal_mode = DELETE'); // one file, with nothing beside it
  } finally {
    copy.close();
  }
}
