/**
 * That the rows of this data directory were sealed once (row-seals.ts): a file beside the keys. Where it lies and `state.db`
 * has no seal, the seal was taken away; where it does not, the rows are those of a version that knew none.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isThere } from '../base/data-file.js';
import { syncFolder } from '../base/sync-folder.js';

export function wasSealed(dataDir: string): boolean {
  return isThere(fileOf(dataDir)); // whatever it is: somebody put it where the mark had been, or would be
}

export function markSealed(dataDir: string): void {
  const file = fileOf(dataDir);
  if (isThere(file)) return;
  const fd = openSync(file, 'wx', 0o600);
  try {
    writeSync(fd, 'the rows of state.db are sealed\n');
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(path.dirname(file));
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'keys', 'rows-sealed');
}
