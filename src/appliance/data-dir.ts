/** The data directory of this appliance: made if need be, kept from other users of the machine, and held by one process. */
import { chmodSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { faultOfStart, obstacleOf, passing } from '../platform/base/data-file.js';
import type { Log } from '../platform/base/log.js';
import type { Part } from '../platform/base/parts.js';
import { lockDataDir } from '../platform/ledger/lock.js';

const WAY_OUT = 'it is to be the data directory: put it right, or name another one with --data-dir';

/**
 * Held until it is stopped.
 * @throws StartRefused when there is something else in its place, it cannot be made, or another process has it; Error for a disk that fails.
 */
export function takeDataDir(dataDir: string, log: Log): Part {
  process.umask(0o077); // what is made from here on is for the owner only
  const obstacle = obstacleOf(dataDir, { as: 'folder', to: 'write' });
  if (obstacle) throw faultOfStart(obstacle, `${obstacle.file} ${obstacle.is}; ${WAY_OUT}`);
  makeFolder(dataDir);
  const lock = lockDataDir(dataDir);
  tighten(dataDir, log);
  return { stop: () => lock.release() };
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o750 });
  } catch (fault) {
    throw faultOfStart(passing((fault as NodeJS.ErrnoException).code), `${dataDir} cannot be made (${(fault as Error).message}); ${WAY_OUT}`);
  }
}

/** Password hashes are in there: a directory that somebody made beforehand, and files of an earlier version, are for the owner only. */
function tighten(dataDir: string, log: Log): void {
  try {
    const { mode } = statSync(dataDir);
    if (mode & 0o027) {
      chmodSync(dataDir, mode & 0o750);
      log.warn({ dataDir }, 'the data directory could be read by everybody on this machine; it is for its owner and group now');
    }
    for (const entry of readdirSync(dataDir, { withFileTypes: true })) if (entry.isFile() && entry.name !== 'config.yaml') chmodSync(path.join(dataDir, entry.name), 0o600);
  } catch (fault) {
    log.warn({ dataDir, fault: (fault as Error).message }, 'the data directory cannot be kept from other users of this machine');
  }
}

/** A folder that cannot be looked at (taken away, a volume that does not answer) has another alarm: its storage refuses changes. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
