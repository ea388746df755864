/**
 * The power cut: a shim (power-cut.c) that the process under test is started with remembers what every file held before each
 * write that was not synced. Once the process is killed `forgetUnsynced` puts that back: the files are as the disk would have
 * them, or torn, where some sectors of 512 bytes of an unsynced write had reached it and others not.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

const SOURCE = path.join(process.cwd(), 'tests/torture/power-cut.c');
const HEAD_BYTES = 40;
const SECTOR_BYTES = 512;
const SYNCED = 2;

interface Unsynced {
  readonly file: string;
  readonly offset: number;
  /** What stood there, as far as the file went. */
  readonly old: Buffer;
  /** Of the file before. */
  readonly size: number;
  /** Bytes of the write. */
  readonly written: number;
}

/** What the process is in the middle of when it ends itself: the n-th write to, or sync of, a file with this end of its name. */
export interface EndsIn {
  readonly operation: 'write' | 'sync';
  readonly file: string;
  readonly count: number;
}

export class PowerCut {
  readonly #library: string;
  readonly #journal: string;
  readonly #folder: string;

  /** `work`: a folder for the shim and its journal, not below `folder`, which holds the files that lose their power. */
  constructor(folder: string, work: string) {
    this.#folder = folder;
    this.#library = path.join(work, 'power-cut.so');
    this.#journal = path.join(work, 'power-cut.journal');
    if (!existsSync(this.#library)) execFileSync('cc', ['-O1', '-shared', '-fPIC', SOURCE, '-o', this.#library, '-ldl', '-lpthread']);
  }

  /** Environment of the process under test. Without `endsIn` somebody else kills it. */
  environment(endsIn?: EndsIn): Record<string, string> {
    rmSync(this.#journal, { force: true });
    return {
      LD_PRELOAD: this.#library,
      TORTURE_FOLDER: this.#folder,
      TORTURE_JOURNAL: this.#journal,
      ...(endsIn ? { TORTURE_KILL: `${endsIn.operation}:${endsIn.file}:${endsIn.count}` } : {}),
    };
  }

  /**
   * Puts back what was not synced, newest first. `tears` says of each sector of an unsynced write whether it had reached the disk.
   *
   * @returns bytes put back for each file, by its name below the folder.
   */
  forgetUnsynced(tears: () => boolean = () => false): Map<string, number> {
    const undone = new Map<string, number>();
    for (const { file, offset, old, size, written } of this.#unsynced().reverse()) {
      if (!existsSync(file)) continue; // renamed or removed since: taken to be durable
      const name = path.relative(this.#folder, file);
      const to = openSync(file, 'r+');
      const end = Math.max(written, old.length);
      let lastKept = 0;
      for (let at = 0; at < end; at += SECTOR_BYTES) {
        const length = Math.min(SECTOR_BYTES, end - at);
        if (tears()) lastKept = offset + at + length;
        else writeSync(to, Buffer.concat([old.subarray(at, at + length), Buffer.alloc(Math.max(0, length - Math.max(0, old.length - at)))]), 0, length, offset + at);
      }
      ftruncateSync(to, Math.max(size, lastKept));
      closeSync(to);
      undone.set(name, (undone.get(name) ?? 0) + end);
    }
    rmSync(this.#journal, { force: true });
    return undone;
  }

  #unsynced(): Unsynced[] {
    const journal = existsSync(this.#journal) ? readFileSync(this.#journal) : Buffer.alloc(0);
    const kept = new Map<string, Unsynced[]>();
    for (let at = 0; at + HEAD_BYTES <= journal.length; ) {
      const kind = journal.readUInt32LE(at);
      const text = at + HEAD_BYTES + journal.readUInt32LE(at + 4);
      const [offset, length, size, written] = [8, 16, 24, 32].map((from) => Number(journal.readBigInt64LE(at + from))) as [number, number, number, number];
      const end = text + length;
      if (end > journal.length) break; // the record that was being written when it ended
      const file = journal.subarray(at + HEAD_BYTES, text).toString();
      at = end;
      if (kind === SYNCED) {
        kept.delete(file);
        continue;
      }
      const writes = kept.get(file) ?? [];
      writes.push({ file, offset, old: journal.subarray(text, end), size, written });
      kept.set(file, writes);
    }
    return [...kept.values()].flat(); // each file's in their order
  }
}
