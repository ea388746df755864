/**
 * That this data directory has a historian.db: a file beside the keys. Where it lies and the database does not, the history was
 * lost, and nobody takes the new one for all there ever was.
 */
import { closeSync, existsSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isThere } from '../base/data-file.js';

/** Whether a history was begun here whose database is gone. */
export function isHistoryLost(dataDir: string, database: string): boolean {
  const file = path.join(dataDir, database);
  return isThere(fileOf(dataDir)) && (!existsSync(file) || statSync(file).size === 0);
}

export function markHistoryBegun(dataDir: string): void {
  const file = fileOf(dataDir);
  if (isThere(file)) return;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fd = openSync(file, 'w', 0o600);
  writeSync(fd, 'historian.db is begun\n');
  closeSync(fd);
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'keys', 'historian-begun');
}
