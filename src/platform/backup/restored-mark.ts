/**
 * `<dataDir>/restored.json`: that the box was restored and nobody has confirmed yet that the other one is off (D-C-06). It is there with the
 * first file that a start can read, and goes when somebody has signed for it.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { isThere, readDataFileIfUsable } from '../base/data-file.js';
import { syncFolder } from '../base/sync-folder.js';

const RestoredMark = v.object({
  id: v.string(),
  restoredAt: v.string(),
  /** Of the box as it is from now on; another one than that of the backup where its keys were not given. */
  deviceId: v.string(),
  withKeys: v.boolean(),
  backup: v.object({
    id: v.string(),
    createdAt: v.string(),
    version: v.string(),
    deviceId: v.string(),
    head: v.object({ sequence: v.number(), hash: v.string() }),
  }),
  /** What could not be verified, in sentences. */
  unverified: v.array(v.string()),
});
export type RestoredMark = Readonly<v.InferOutput<typeof RestoredMark>>;

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'restored.json');
}

/** `unreadable`: somebody has put something else there; it counts as a restore of which nothing is known. Undefined: the box was not restored, or it is confirmed. */
export function readRestoredMark(dataDir: string): RestoredMark | 'unreadable' | undefined {
  if (!isThere(fileOf(dataDir))) return undefined;
  try {
    return v.parse(RestoredMark, JSON.parse(readDataFileIfUsable(fileOf(dataDir))?.toString('utf8') ?? ''));
  } catch {
    return 'unreadable';
  }
}

export function writeRestoredMark(dataDir: string, mark: RestoredMark): void {
  const fd = openSync(fileOf(dataDir), 'wx', 0o600);
  try {
    writeSync(fd, `${JSON.stringify(mark, null, 1)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(dataDir);
}

export function removeRestoredMark(dataDir: string): void {
  rmSync(fileOf(dataDir), { recursive: true, force: true });
  syncFolder(dataDir);
}
