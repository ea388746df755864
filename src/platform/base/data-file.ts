/**
 * The files of the data directory, as a start finds them: somebody may have put a folder, a pipe or a link to nothing in the place of
 * one, or taken the right to read it. Node and SQLite then fail without a name, or wait for ever; here it is told in words.
 */
import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';
import { kindOf, readPlainFile } from './plain-file.js';
import { StartRefused } from './start-refused.js';

/** What keeps a file from being used. */
export interface Obstacle {
  readonly file: string;
  /** What it is, as the end of a sentence that begins with the file. */
  readonly is: string;
  /** The bytes may be whole, and only this process is kept from them: nobody puts such a file aside. */
  readonly isOutOfReach: boolean;
  /** The disk failed in looking at it or reading it; the next start may find it well. */
  readonly mayPass?: true;
}

/** What the system says of rights and names: it says the same the next time. Everything else it says of a file is of the disk. */
const STANDING_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR']);

/** @returns what ends a start for it: refused where the next one would meet it again. */
export function faultOfStart(obstacle: Pick<Obstacle, 'mayPass'>, sentence: string): Error {
  return obstacle.mayPass ? new Error(sentence) : new StartRefused(sentence);
}

/** As a member of an obstacle: whether what the system says may be gone the next time. */
export function passing(code: string | undefined): { readonly mayPass?: true } {
  return code !== undefined && STANDING_CODES.has(code) ? {} : { mayPass: true };
}

/** One sentence that names the file; who meets it says the way out. */
export class DataFileFault extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle, wayOut: string) {
    super(`${obstacle.file} ${obstacle.is}; ${wayOut}`);
    this.obstacle = obstacle;
  }
}

/** Whether anything has that name, were it a link to nothing. */
export function isThere(file: string): boolean {
  try {
    return lookAt(file, lstatSync) !== undefined;
  } catch {
    return true; // nobody may look: whoever opens it is told
  }
}

export interface Needed {
  /** A file where nothing is said. */
  readonly as?: 'file' | 'folder';
  /** Who only reads it must be able to where it is write-protected. */
  readonly to: 'read' | 'write';
}

/** What stands in the way of using `file`; undefined where it can be used, and where nothing is there. */
export function obstacleOf(file: string, { as: expected = 'file', to }: Needed): Obstacle | undefined {
  try {
    if (!lookAt(file, lstatSync)) return undefined;
    const stats = lookAt(file, statSync);
    if (!stats) return { file, is: 'is a link to nothing', isOutOfReach: false };
    const is = kindOf(stats);
    if (is !== expected) return { file, is: `is a ${is}, and a ${expected} has to stand there`, isOutOfReach: false };
    accessSync(file, to === 'write' ? constants.R_OK | constants.W_OK : constants.R_OK);
    return undefined;
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    const user = process.getuid?.();
    return {
      file,
      is: `cannot be ${to === 'write' ? 'read and written' : 'read'} (${code})${user === undefined ? '' : ` by the user that lineside runs as, uid ${user}`}`,
      isOutOfReach: true,
      ...passing(code),
    };
  }
}

/**
 * The bytes of a file; null where there is none.
 * @param wayOut what somebody does about a file that cannot be used.
 * @throws DataFileFault
 */
export function readDataFile(file: string, wayOut: string, bytesMax = Number.MAX_SAFE_INTEGER): Buffer | null {
  const obstacle = obstacleOf(file, { to: 'read' });
  if (obstacle) throw new DataFileFault(obstacle, wayOut);
  try {
    return isThere(file) ? readPlainFile(file, bytesMax) : null;
  } catch (fault) {
    throw new DataFileFault({ file, is: `cannot be read (${(fault as Error).message})`, isOutOfReach: true, ...passing((fault as NodeJS.ErrnoException).code) }, wayOut);
  }
}

/** The same where one that cannot be used counts as none: its obstacle is told by whoever looks for it. */
export function readDataFileIfUsable(file: string): Buffer | null {
  try {
    return readDataFile(file, '');
  } catch {
    return null;
  }
}

function lookAt(file: string, look: typeof statSync | typeof lstatSync): Stats | undefined {
  try {
    return look(file, { throwIfNoEntry: false });
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined; // what it should lie in is no folder
    throw fault;
  }
}
