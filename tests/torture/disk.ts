/**
 * A disk that is as bad as a scenario asks for: the process under test is started with a shim (disk.c) that refuses, delays or
 * survives an operation on the files of one folder by rules, which may change while it runs.
 *
 * The power cut: the shim remembers what every file held before each write that was not synced. Once the process is killed
 * `forgetUnsynced` puts that back: the files are as the disk would have them, or torn, where some sectors of 512 bytes of an
 * unsynced write had reached it and others not.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const SOURCE = path.join(process.cwd(), 'tests/torture/disk.c');
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

export type Operation = 'write' | 'sync' | 'read' | 'open';

/** What becomes of the operations on a file. */
export interface Rule {
  /** `open` is to open for writing. */
  readonly operation: Operation;
  /** End of the file's name, '' for every file; `*` before a part of it. */
  readonly file: string;
  /** The operation fails with the error, waits so many ms first, or is the last thing that the process does. */
  readonly does: 'EIO' | 'ENOSPC' | 'EROFS' | number | 'kill';
  /** Writes of this text only; the process is ended by them, not refused. */
  readonly holds?: string;
  /** So many of them go through first. */
  readonly after?: number;
  /** So often; for ever without it. */
  readonly times?: number;
}

const OPERATIONS: Readonly<Record<Operation, number>> = { write: 1, sync: 2, read: 3, open: 4 };
const KILL = 1;
const FAIL = 2;
const WAIT = 3;
/** As disk.c reads them. */
const RULE_BYTES = 256;
const RULES_MAX = 16;
const MET_AT = 32;

export class Disk {
  readonly #library: string;
  readonly #journal: string;
  readonly #rules: string;
  readonly #folder: string;

  /** `work`: a folder for the shim and what it keeps, not below `folder`, which holds the files of the bad disk. */
  constructor(folder: string, work: string) {
    this.#folder = folder;
    this.#library = path.join(work, 'disk.so');
    this.#journal = path.join(work, 'disk.journal');
    this.#rules = path.join(work, 'disk.rules');
    if (!existsSync(this.#library)) execFileSync('cc', ['-O1', '-shared', '-fPIC', SOURCE, '-o', this.#library, '-ldl', '-lpthread']);
  }

  /** Environment of the process under test; its power can be cut. */
  environment(...rules: readonly Rule[]): Record<string, string> {
    rmSync(this.#journal, { force: true });
    return { ...this.faulty(...rules), TORTURE_JOURNAL: this.#journal };
  }

  /** Environment of a process that has the rules only, and so the speed of the machine. */
  faulty(...rules: readonly Rule[]): Record<string, string> {
    writeFileSync(this.#rules, Buffer.alloc(RULE_BYTES * (RULES_MAX + 1)));
    this.set(...rules);
    return { LD_PRELOAD: this.#library, TORTURE_FOLDER: this.#folder, TORTURE_RULES: this.#rules };
  }

  /** Other rules from now on; none: the disk is good. */
  set(...rules: readonly Rule[]): void {
    const file = openSync(this.#rules, 'r+');
    const count = (rules: number, reads: boolean): void => {
      const head = Buffer.alloc(8);
      head.writeInt32LE(rules, 0);
      head.writeInt32LE(reads ? 1 : 0, 4);
      writeSync(file, head, 0, head.length, 0);
    };
    count(0, false); // none while they change
    rules.forEach((rule, index) => writeSync(file, encoded(rule), 0, RULE_BYTES, RULE_BYTES * (index + 1)));
    count(
      rules.length,
      rules.some(({ operation }) => operation === 'read'),
    );
    closeSync(file);
  }

  /** How many operations have met one of the rules. */
  get met(): number {
    const bytes = readFileSync(this.#rules);
    let sum = 0;
    for (let index = 0; index < bytes.readInt32LE(0); index += 1) sum += Number(bytes.readBigInt64LE(RULE_BYTES * (index + 1) + MET_AT));
    return sum;
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

function encoded({ operation, file, does, holds = '', after = 0, times = -1 }: Rule): Buffer {
  const rule = Buffer.alloc(RULE_BYTES);
  rule.writeInt32LE(OPERATIONS[operation], 0);
  rule.writeInt32LE(does === 'kill' ? KILL : typeof does === 'number' ? WAIT : FAIL, 4);
  rule.writeInt32LE(typeof does === 'string' && does !== 'kill' ? constants.errno[does] : 0, 8);
  rule.writeInt32LE(typeof does === 'number' ? does : 0, 12);
  rule.writeBigInt64LE(BigInt(after), 16);
  rule.writeBigInt64LE(BigInt(times), 24);
  rule.write(file, 40);
  rule.write(holds, 128);
  return rule;
}
