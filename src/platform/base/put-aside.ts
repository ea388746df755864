import { renameSync } from 'node:fs';
import path from 'node:path';
import { isThere } from './data-file.js';

/** A database that cannot be worked with, or whatever stands in the place of a file, is kept beside the new one. @returns its new name. */
export function putAside(dataDir: string, name: string, at: string): string {
  const aside = `${name}.lost-${at.replaceAll(/[:.]/g, '-')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    const file = path.join(dataDir, `${name}${suffix}`);
    if (isThere(file)) renameSync(file, path.join(dataDir, `${aside}${suffix}`));
  }
  return aside;
}
