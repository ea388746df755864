/**
 * One process per data directory. The lock is an exclusive SQLite lock on `<dataDir>/lock`: the operating system gives
 * it back when the process dies in whatever way, so a crash never leaves an appliance that refuses to start. The pid
 * is in a file of its own, because closing any handle of a POSIX-locked file would release the lock.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { faultOfStart, obstacleOf, readDataFileIfUsable } from '../base/data-file.js';
import { StartRefused } from '../base/start-refused.js';
import Database from '../base/sqlite.js';

export interface DataDirLock {
  release(): void;
}

/** What SQLite says of a disk, which may be well the next time. */
const OF_THE_DISK = /^SQLITE_(IOERR|FULL|NOMEM|PROTOCOL)/;

/** @throws StartRefused with one sentence when another process uses the directory, or something else is in the place of the lock; Error for a disk that fails. */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  const pidFile = path.join(dataDir, 'pid');
  const file = path.join(dataDir, 'lock');
  const refused: Refuse = (why, mayPass) => faultOfStart(mayPass ? { mayPass } : {}, `the lock file ${file} ${why}; it holds no data: remove it and start again`);
  const obstacle = obstacleOf(file, { to: 'write' });
  if (obstacle) throw refused(obstacle.is, obstacle.mayPass);
  const database = opened(file, refused);
  try {
    database.pragma('journal_mode = MEMORY');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (fault) {
    database.close();
    if ((fault as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      throw new StartRefused(`another lineside process${holder(pidFile)} already uses the data directory ${dataDir}; stop it or give this one a directory of its own`);
    }
    throw refusedBy(fault, refused);
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

type Refuse = (why: string, mayPass?: true) => Error;

function refusedBy(fault: unknown, refused: Refuse): Error {
  const { code = '', message } = fault as Error & { readonly code?: string };
  return refused(`cannot be used (${message})`, OF_THE_DISK.test(code) ? true : undefined);
}

function opened(file: string, refused: Refuse): Database.Database {
  try {
    return new Database(file, { timeout: 0 });
  } catch (fault) {
    throw refusedBy(fault, refused);
  }
}

function holder(pidFile: string): string {
  const pid = readDataFileIfUsable(pidFile)?.toString('utf8').trim();
  return pid === undefined ? '' : ` (pid ${pid})`;
}
