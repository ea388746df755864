/**
 * The journal of the historian: every sample, in the order of arrival, as the 24 bytes it had in the ring. Samples stay
 * here until the block that holds them is in the database and synced, so a crash or a power cut loses only what was not
 * yet synced (decisions 8.7: at most `historian.flushInterval`).
 *
 * A sample's number is the base of its file (in the name) plus its index. A file is removed when all of its samples are in
 * blocks. A record with tag 0 ends a file: that is what an unsynced page reads as after a power cut. A record in front of it that
 * begins in the page before has lost its end with it.
 */
import type { WallMs } from '../base/times.js';
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { obstacleOf } from '../base/data-file.js';
import { syncFolder } from '../base/sync-folder.js';
import { SLOT_BYTES } from './sample-ring.js';

const NAME = /^historian-journal-(\d{16})\.bin$/;
const FILE_BYTES_MAX = 32 * 1024 * 1024;
/** What reaches a disk as one, at least. */
const PAGE_BYTES = 512;

interface Part {
  readonly file: string;
  readonly base: number;
  /** One past the number of the last sample. */
  end: number;
}

/** Keeps the parts of a journal whose database was put aside, under names that nobody reads. */
export function putJournalAside(dataDir: string, at: string): void {
  for (const name of readdirSync(dataDir)) if (NAME.test(name)) renameSync(path.join(dataDir, name), path.join(dataDir, `${name}.lost-${at.replaceAll(/[:.]/g, '-')}`));
}

/** Names in the place of parts that are no files: nothing can be read from them, nor written over them. */
export function oddParts(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => NAME.test(name) && isOdd(path.join(dataDir, name)));
}

function isOdd(file: string): boolean {
  const obstacle = obstacleOf(file, { to: 'write' });
  return obstacle !== undefined && !obstacle.isOutOfReach;
}

export class Journal {
  readonly #dataDir: string;
  #parts: Part[];
  #fd: number | null = null;
  #dirty = false;
  #floor = 0;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#parts = readdirSync(dataDir)
      .flatMap((name) => {
        const base = NAME.exec(name)?.[1];
        if (base === undefined) return [];
        const file = path.join(dataDir, name);
        return [{ file, base: Number(base), end: Number(base) + Math.floor(statSync(file).size / SLOT_BYTES) }];
      })
      .sort((a, b) => a.base - b.base);
  }

  /** Number the next sample gets. */
  get next(): number {
    return Math.max(this.#parts.at(-1)?.end ?? 0, this.#floor);
  }

  /** The next sample gets at least this number: what is in blocks keeps its numbers even when the journal was lost. */
  startAt(number: number): void {
    this.#floor = number;
  }

  get bytes(): number {
    return this.#parts.reduce((sum, part) => sum + (part.end - part.base) * SLOT_BYTES, 0);
  }

  /** Calls back for every sample in order; only before the first append. */
  replay(sample: (number: number, tag: number, code: number, atMs: WallMs, value: number) => void): void {
    for (const part of this.#parts) {
      const bytes = readFileSync(part.file);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const count = wholeRecords(bytes);
      part.end = part.base + count;
      for (let index = 0; index < count; index += 1) {
        const at = index * SLOT_BYTES;
        sample(part.base + index, view.getUint32(at, true), view.getUint32(at + 4, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true));
      }
    }
  }

  /** Appends whole slots. @throws when the disk refuses; then nothing of the piece counts as written. */
  append(piece: Uint8Array): void {
    const part = this.#current();
    const fd = this.#fd as number;
    const offset = (part.end - part.base) * SLOT_BYTES;
    for (let written = 0; written < piece.length; ) written += writeSync(fd, piece, written, piece.length - written, offset + written);
    part.end += piece.length / SLOT_BYTES;
    this.#dirty = true;
  }

  sync(): void {
    if (!this.#dirty || this.#fd === null) return;
    fdatasyncSync(this.#fd);
    this.#dirty = false;
  }

  /** Begins a new file with the next append, so that the old ones can go once their blocks are in the database. */
  rotate(): void {
    if (this.#fd === null) return;
    this.sync();
    closeSync(this.#fd);
    this.#fd = null;
  }

  /** Removes files that hold only samples before `number`. */
  removeBefore(number: number): void {
    const last = this.#parts.at(-1);
    const removable = this.#parts.filter((part) => part.end <= number && !(part === last && this.#fd !== null));
    // the newest file stays, closed or not: its name carries the numbering over a restart
    for (const part of removable) if (part !== last) rmSync(part.file, { force: true });
    this.#parts = this.#parts.filter((part) => part === last || !removable.includes(part));
  }

  get files(): number {
    return this.#parts.length;
  }

  close(): void {
    this.rotate();
  }

  #current(): Part {
    const last = this.#parts.at(-1);
    if (last && this.#fd !== null && (last.end - last.base) * SLOT_BYTES < FILE_BYTES_MAX) return last;
    this.rotate();
    const base = this.next;
    const file = path.join(this.#dataDir, `historian-journal-${String(base).padStart(16, '0')}.bin`);
    if (last?.base === base) this.#parts.pop(); // an empty file of an earlier start
    this.#fd = openSync(file, 'w', 0o640);
    ftruncateSync(this.#fd, 0);
    syncFolder(this.#dataDir);
    const part: Part = { file, base, end: base };
    this.#parts.push(part);
    return part;
  }
}

/** Records up to the first that never reached the disk; one whose end lies behind the edge of a page, and is all zero, did not either. */
function wholeRecords(bytes: Buffer): number {
  const there = Math.floor(bytes.length / SLOT_BYTES);
  let count = 0;
  while (count < there && bytes.readUInt32LE(count * SLOT_BYTES) !== 0) count += 1;
  if (count === there || count === 0) return count;
  const end = count * SLOT_BYTES;
  const edge = end - (end % PAGE_BYTES);
  const isCut = edge > end - SLOT_BYTES && edge < end && bytes.subarray(edge, end).every((byte) => byte === 0);
  return isCut ? count - 1 : count;
}
