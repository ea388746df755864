/**
 * One process per data directory. The lock is an exclusive SQLite lock on `<dataDir>/lock`: the operating system gives
 * it back when the process dies in whatever way, so a crash never leaves an appliance that refuses to start. The pid
 * is in a file of its own, because closing any handle of a POSIX-locked file would release the lock.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from '../base/sqlite.js';

export interface DataDirLock {
  release(): void;
}

/** @throws Error with one sentence when another process uses the directory. */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  const pidFile = path.join(dataDir, 'pid');
  const database = new Database(path.join(dataDir, 'lock'), { timeout: 0 });
  try {
    database.pragma('journal_mode = MEMORY');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (fault) {
    database.close();
    if ((fault as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      throw new Error(`another lineside process${holder(pidFile)} already uses the data directory ${dataDir}; stop it or give this one a directory of its own`);
    }
    const file = path.join(dataDir, 'lock');
    throw new Error(`the lock file ${file} cannot be used (${(fault as Error).message}); it holds no data: remove it and start again`);
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    release() {
      if (!database.open) return;
      rmSync(pidFile, { force: true });
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function holder(pidFile: string): string {
  try {
    return ` (pid ${readFileSync(pidFile, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
