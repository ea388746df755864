/**
 * One process per data directory. The lock is an exclusive SQLite lock on `<dataDir>/lock`: the operating system gives
 * it back when the process dies in whatever way, so a crash never leaves an appliance that refuses to start. The pid
 * is in a file of its own, because closing any handle of a POSIX-locked file would release the lock.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { obstacleOf, readDataFileIfUsable } from '../base/data-file.js';
import Database from '../base/sqlite.js';

export interface DataDirLock {
  release(): void;
}

/** @throws Error with one sentence when another process uses the directory. */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  const pidFile = path.join(dataDir, 'pid');
  const file = path.join(dataDir, 'lock');
  const refused = (why: string): Error => new Error(`the lock file ${file} ${why}; it holds no data: remove it and start again`);
  const obstacle = obstacleOf(file, { to: 'write' });
  if (obstacle) throw refused(obstacle.is);
  const database = opened(file, refused);
  try {
    database.pragma('journal_mode = MEMORY');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (fault) {
    database.close();
    if ((fault as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      throw new Error(`another lineside process${holder(pidFile)} already uses the data directory ${dataDir}; stop it or give this one a directory of its own`);
    }
    throw refused(`cannot be used (${(fault as Error).message})`);
  }
  const hasPidFile = !obstacleOf(pidFile, { to: 'write' }); // it only says who holds the lock: nobody is kept from the plant by it
  if (hasPidFile) writeFileSync(pidFile, `${process.pid}\n`);
  return {
    release() {
      if (!database.open) return;
      if (hasPidFile) rmSync(pidFile, { force: true });
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function opened(file: string, refused: (why: string) => Error): Database.Database {
  try {
    return new Database(file, { timeout: 0 });
  } catch (fault) {
    throw refused(`cannot be used (${(fault as Error).message})`);
  }
}

function holder(pidFile: string): string {
  const pid = readDataFileIfUsable(pidFile)?.toString('utf8').trim();
  return pid === undefined ? '' : ` (pid ${pid})`;
}
