/**
 * The check of a disk that only a power cut can make. `writeBlocks` writes numbered blocks and says each number once the disk has acknowledged
 * it; whoever cuts the power keeps what was said on another machine. `verifyBlocks` then says whether all of it is there.
 *
 * A disk that forgets may bring back the whole file of an earlier run, under the same name and with more blocks. So each run has a name of
 * its own, which stands in each block and is kept on the other machine as well.
 *
 * A block is 4 KiB: JSON with run, number and digest of the rest, a line feed, and bytes that follow from run and number.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, fstatSync, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

export const BLOCK_BYTES = 4096;
/** 400 MiB; a run that nobody cuts ends there. */
export const BLOCKS_MAX = 100_000;

/** Eight hexadecimal digits: short enough to be typed at a console. */
export const RUN = /^[0-9a-f]{8}$/;

interface Head {
  readonly run: string;
  readonly number: number;
  readonly sha256: string;
}

/** Of the data directory, or of any other folder on the disk that is asked. */
export function blockFile(folder: string): string {
  return path.join(folder, 'doctor-power-cut.blocks');
}

function blockOf(run: string, number: number): Buffer {
  const body = createHash('sha512').update(`${run}/${number}`).digest('hex').repeat(30);
  const head = `${JSON.stringify({ run, number, sha256: createHash('sha256').update(body).digest('hex') } satisfies Head)}\n`;
  return Buffer.from((head + body).slice(0, BLOCK_BYTES - 1).padEnd(BLOCK_BYTES - 1, '.') + '\n');
}

/**
 * Writes until `goesOn` says no, or `blocks` are written. An earlier file is begun anew.
 * @param acknowledged told once the block with the number is synchronised
 */
export function writeBlocks(folder: string, acknowledged: (number: number, run: string) => void, goesOn: () => boolean, blocks = BLOCKS_MAX): number {
  const file = blockFile(folder);
  rmSync(file, { force: true });
  const fd = openSync(file, 'wx', 0o600);
  const run = randomBytes(4).toString('hex');
  let number = 0;
  try {
    syncFolderOf(file);
    while (number < blocks && goesOn()) {
      number += 1;
      writeSync(fd, blockOf(run, number));
      fdatasyncSync(fd);
      acknowledged(number, run);
    }
  } finally {
    closeSync(fd);
  }
  return number;
}

/** Its name has to survive as well. */
function syncFolderOf(file: string): void {
  const fd = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Takes the blocks away once they have been judged, so that no later run can find them. */
export function removeBlocks(folder: string): void {
  const file = blockFile(folder);
  rmSync(file, { force: true });
  syncFolderOf(file);
}

export interface Kept {
  /** All blocks of the run up to this number are whole; 0 when the first is not. */
  readonly whole: number;
  /** Numbers up to the acknowledged one that are missing, damaged or of another run, the first hundred. */
  readonly lost: readonly number[];
  /** Another run that whole blocks are of; undefined where there is none. */
  readonly otherRun: string | undefined;
}

/**
 * @param run as it was said with each number
 * @param acknowledged the last number that was said before the power went. Undefined where there is no file of blocks; `unfit` where something else
 * has its name.
 */
export function verifyBlocks(folder: string, run: string, acknowledged: number): Kept | 'unfit' | undefined {
  const file = blockFile(folder);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) return stats && 'unfit';
  const fd = openSync(file, 'r');
  try {
    const stored = Math.ceil(fstatSync(fd).size / BLOCK_BYTES);
    const block = Buffer.alloc(BLOCK_BYTES);
    let whole = 0;
    let otherRun: string | undefined;
    const lost: number[] = [];
    for (let number = 1; number <= Math.max(acknowledged, stored); number += 1) {
      block.fill(0);
      readSync(fd, block, 0, BLOCK_BYTES, (number - 1) * BLOCK_BYTES);
      const of = runOf(block, number);
      if (of !== run) otherRun ??= of;
      if (of === run) {
        if (whole === number - 1) whole = number;
      } else if (number <= acknowledged) lost.push(number);
      if (lost.length === LOST_MAX) break; // a number that was mistyped may name blocks of a hundred years
    }
    return { whole, lost, otherRun };
  } finally {
    closeSync(fd);
  }
}

/** Of more, the disk is no better. */
const LOST_MAX = 100;

/** The run of a block that is whole and has the number; undefined for any other. */
function runOf(block: Buffer, number: number): string | undefined {
  try {
    const head = JSON.parse(block.subarray(0, block.indexOf('\n')).toString()) as Head;
    return head.number === number && typeof head.run === 'string' && blockOf(head.run, number).equals(block) ? head.run : undefined;
  } catch {
    return undefined;
  }
}
