import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Puts the names in a folder on disk: a new or renamed file is only kept over a power cut once its folder is synced. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
