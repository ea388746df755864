import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';

/** A database that cannot be worked with is kept beside the new one. @returns its new name. */
export function putAside(dataDir: string, name: string, at: string): string {
  const aside = `${name}.lost-${at.replaceAll(/[:.]/g, '-')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    const file = path.join(dataDir, `${name}${suffix}`);
    if (existsSync(file)) renameSync(file, path.join(dataDir, `${aside}${suffix}`));
  }
  return aside;
}
