/** The files of `<dataDir>/tls`: keys and certificates that the box has made or fetched itself, for its owner only, each whole or not there. */
import { chownSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { StartRefused } from '../base/start-refused.js';
import { syncFolder } from '../base/sync-folder.js';

const FOLDER = 'tls';

export function ownFile(dataDir: string, name: string): string {
  return path.join(dataDir, FOLDER, name);
}

/** In the place of what is there. @throws as `node:fs` does. */
export function writeOwn(file: string, text: string): void {
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new StartRefused(`${folder} is a link: keys are written into the data directory alone; remove it`); // root would give away what it leads to
  const draft = `${file}.${randomUUID()}`;
  try {
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    giveToOwner(folder, [folder, draft]);
    renameSync(draft, file);
  } catch (fault) {
    rmSync(draft, { force: true });
    throw fault;
  }
  syncFolder(folder);
}

/** Root makes it for the user that the appliance runs as: whoever owns the data directory. */
function giveToOwner(folder: string, files: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path.dirname(folder));
  for (const file of files) chownSync(file, uid, gid);
}
