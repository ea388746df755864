/**
 * Files that somebody else may have put there. A pipe is waited at for ever, a device has no end and may begin to work when it is opened: only
 * a plain file is read, and no more of it than such a file has.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

/** What is there cannot be what was meant; the message is a sentence that begins with the file. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
}

export function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'device';
}

/** @throws UnfitFile where it is no plain file or is longer than `bytesMax`; as `node:fs` does where it cannot be read. */
export function readPlainFile(file: string, bytesMax: number): Buffer {
  checkPlain(file, statSync(file)); // before it is opened: that alone sets a watchdog going
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkPlain(file, fstatSync(fd));
    return readBounded(file, fd, bytesMax);
  } finally {
    closeSync(fd);
  }
}

/** As a shell names what it has opened itself, such as `<(…)`. */
const OPENED_ALREADY = /^\/(dev\/stdin|(dev|proc\/(self|\d+))\/fd\/\d+)$/;

/** As `readPlainFile`, of what a shell has opened as well: a pipe of it is waited for, since somebody writes to it. */
export function readBoundedFile(file: string, bytesMax: number): Buffer {
  if (!OPENED_ALREADY.test(file)) return readPlainFile(file, bytesMax);
  const fd = openSync(file, 'r');
  try {
    return readBounded(file, fd, bytesMax);
  } finally {
    closeSync(fd);
  }
}

/** @throws UnfitFile */
export function checkPlain(file: string, stats: Stats): void {
  const kind = kindOf(stats);
  if (kind !== 'file') throw new UnfitFile(`${file} is a ${kind}, and a file has to stand there`);
}

const CHUNK_BYTES = 64 * 1024;

/** The size that the kernel says is no measure: in /proc it is zero. */
function readBounded(file: string, fd: number, bytesMax: number): Buffer {
  const chunks: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readSync(fd, chunk);
    if (read === 0) return Buffer.concat(chunks);
    bytes += read;
    if (bytes > bytesMax) throw new UnfitFile(`${file} is longer than ${bytesMax} bytes`);
    chunks.push(chunk.subarray(0, read));
  }
}
