/**
 * The backups that a box makes by itself, in a folder of which it keeps the newest. All of it is done by the thread of the backup: the folder
 * may be a share, and one that does not answer holds whoever asks.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { WallMs } from '../base/times.js';
import { type BackupMade, type BackupWish, makeBackup } from './make.js';
import { backupName, isBackupOf } from './names.js';

export interface KeptWish extends Omit<BackupWish, 'to' | 'keysTo'> {
  /** Made where it is not there. */
  readonly folder: string;
  /** How many stay. */
  readonly kept: number;
  readonly deviceId: string;
  readonly atMs: WallMs;
}

/** @throws as `makeBackup`, and where one was made and older ones cannot be removed. */
export async function makeKept({ folder, kept, deviceId, atMs, ...wish }: KeptWish): Promise<BackupMade> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = await makeBackup({ ...wish, to: path.join(folder, backupName(wish.dataDir, new Date(atMs))) });
  try {
    const ours = readdirSync(folder).filter((name) => isBackupOf(name, deviceId));
    for (const name of notKept(ours, path.basename(made.file), kept)) rmSync(path.join(folder, name), { force: true });
  } catch (fault) {
    throw new Error(`${made.file} was made, and older ones could not be removed: ${(fault as Error).message}`);
  }
  return made;
}

/**
 * Their names are in the order of their times, as long as the clock was right. The one that was just made is the newest whatever they say: those
 * of a later time were made before it, while the clock was ahead, or before it was set back. They go first.
 */
export function notKept(ours: readonly string[], made: string, kept: number): readonly string[] {
  const others = ours.filter((name) => name !== made).sort();
  const inOrder = [...others.filter((name) => name > made), ...others.filter((name) => name < made)];
  return inOrder.slice(0, Math.max(0, inOrder.length - Math.max(0, kept - 1)));
}
