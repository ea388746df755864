/**
 * Writes one file of the archive, on the query thread: the rows of the table go block by block through gzip into a draft,
 * which is synced, gets its name, and is read back and compared with the table. Only then may anybody delete a row.
 *
 * A crash leaves a draft, or a file that no note names: both are made again, since every row is still in the table. A full
 * disk fails the writing and takes the draft away.
 */
import type { WallMs } from '../base/times.js';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type Database from '../base/sqlite.js';
import { putAside } from '../base/put-aside.js';
import { syncFolder } from '../base/sync-folder.js';
import {
  type ArchiveBlock,
  type ArchiveDraft,
  archiveFileName,
  archiveLine,
  BLOCK_RECORDS,
  pack,
  readPart,
  readTrailer,
  summaryOf,
  type Trailer,
  trailerLine,
} from './archive-format.js';
import { ArchiveNotes } from './archive-notes.js';
import type { AuditTableRow } from './audit-row.js';
import { hexOf } from './chain.js';

const DRAFT = '.part';
const TRAILER_LENGTH_MAX = 1000; // some 200 characters
const FILE_RECORDS_MAX = 100_000;
const FILES_PER_TABLE = 10; // a file takes a tenth of the table at least: few files, and not one with every record
const DAY_MS = 86_400_000;
const FILE_SPAN_MS = 7 * DAY_MS;
const FILE_SPAN_SHARE = 10;

export interface ArchiveLimits {
  readonly recordsMax: number;
  readonly ageMaxMs: number;
}

export interface ArchiveSpan {
  readonly first: number;
  readonly last: number;
}

export class ArchiveWriter {
  readonly #database: Database.Database;
  readonly #notes: ArchiveNotes;
  readonly #folder: string;
  readonly #rest: () => Promise<void>;

  /** `rest` is awaited between blocks, so that archiving takes a share of the time and not all of it. */
  constructor(database: Database.Database, folder: string, rest: () => Promise<void>) {
    this.#database = database;
    this.#notes = new ArchiveNotes(database);
    this.#folder = folder;
    this.#rest = rest;
  }

  /**
   * What should go into the next file; null when nothing should. By age a file takes what comes of age within the next week
   * too (or a tenth of the age): else every look would make one of a handful of records. The last record stays.
   */
  due({ recordsMax, ageMaxMs }: ArchiveLimits, nowMs: WallMs): ArchiveSpan | null {
    const { sequence: cut } = this.#notes.cut();
    if (this.#notes.notedTo() > cut) return null; // the file before is still being taken out of the table
    const end = this.#database.prepare('SELECT COALESCE(MAX(sequence), 0) FROM audit').pluck().get() as number;
    const reach = Math.min(end - 1, cut + FILE_RECORDS_MAX);
    const excess = end - cut - recordsMax;
    const byCount = excess > 0 ? cut + Math.max(excess, Math.ceil(recordsMax / FILES_PER_TABLE)) : 0;
    const last = Math.min(reach, Math.max(byCount, this.#oldTo(cut, reach, nowMs - ageMaxMs, Math.min(FILE_SPAN_MS, ageMaxMs / FILE_SPAN_SHARE))));
    return last > cut ? { first: cut + 1, last } : null;
  }

  newestMs(): number | null {
    return (this.#database.prepare('SELECT at FROM audit ORDER BY sequence DESC LIMIT 1').pluck().get() as number | undefined) ?? null;
  }

  /** Last record of those that are so old, once the first one is. */
  #oldTo(cut: number, reach: number, oldMs: number, spanMs: number): number {
    const oldest = this.#database.prepare('SELECT at FROM audit WHERE sequence > ? ORDER BY sequence LIMIT 1').pluck().get(cut) as number | undefined;
    if (oldest === undefined || oldest >= oldMs) return 0;
    const young = this.#database
      .prepare('SELECT sequence FROM audit WHERE sequence > ? AND sequence <= ? AND at >= ? ORDER BY sequence LIMIT 1')
      .pluck()
      .get(cut, reach, oldMs + spanMs) as number | undefined;
    return young === undefined ? reach : young - 1;
  }

  /** @throws Error when the disk refuses it, or what was written does not read back. Then nothing of it is left. */
  async write({ first, last: to }: ArchiveSpan): Promise<ArchiveDraft> {
    const last = this.#database.prepare('SELECT MAX(sequence) FROM audit WHERE sequence BETWEEN ? AND ?').pluck().get(first, to) as number | null;
    if (last === null) throw new Error(`the audit trail has no record from ${first} to ${to}`);
    if (mkdirSync(this.#folder, { recursive: true, mode: 0o750 }) !== undefined) syncFolder(path.dirname(this.#folder));
    const aside = await this.#clear(first);
    const file = archiveFileName(first, last);
    const name = path.join(this.#folder, file);
    try {
      const draft = { ...(await this.#draft(`${name}${DRAFT}`, { first, last }, file)), aside };
      await rename(`${name}${DRAFT}`, name);
      syncFolder(this.#folder);
      await this.#readBack(name, draft);
      return draft;
    } catch (fault) {
      for (const left of [`${name}${DRAFT}`, name]) await rm(left, { force: true }).catch(() => undefined);
      throw fault;
    }
  }

  /**
   * What a crash left is removed: drafts, and files whose records are all in the table still and in no note. A file that cannot be read, or has
   * another record than the table, is none of these: it was whole when it got its name, so its disk is failing, or an older copy of the data
   * directory was put back, and nothing else has what it holds.
   * @returns the names of those that are kept aside.
   */
  async #clear(first: number): Promise<readonly string[]> {
    const aside: string[] = [];
    const end = this.#database.prepare('SELECT COALESCE(MAX(sequence), 0) FROM audit').pluck().get() as number;
    for (const file of await readdir(this.#folder)) {
      const span = spanOf(file);
      const isInTheWay = span && span.first >= first && span.last <= end;
      if (file.endsWith(DRAFT) || (isInTheWay && (await this.#isInTable(file, span.last)))) await rm(path.join(this.#folder, file), { force: true });
      else if (isInTheWay) aside.push(putAside(this.#folder, file, new Date().toISOString()));
    }
    return aside;
  }

  /** The hash of its last record is one over all before it. */
  async #isInTable(file: string, last: number): Promise<boolean> {
    const hash = this.#database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck().get(last);
    const trailer = readTrailer(await lastLineOf(path.join(this.#folder, file)));
    return trailer !== null && trailer.headHash === hexOf(hash);
  }

  async #draft(name: string, span: ArchiveSpan, file: string): Promise<Omit<ArchiveDraft, 'aside'>> {
    const handle = await open(name, 'w', 0o640);
    try {
      const sha = createHash('sha256');
      const blocks: ArchiveBlock[] = [];
      let start = 0;
      let records = 0;
      let headHash = '';
      for await (const rows of this.#rows(span)) {
        const text = textOf(rows);
        sha.update(text);
        const bytes = await pack(text);
        await handle.appendFile(bytes);
        const noted = { textBytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
        blocks.push({ first: (rows[0] as AuditTableRow).sequence, last: (rows.at(-1) as AuditTableRow).sequence, file, start, bytes: bytes.length, ...noted, ...summaryOf(rows) });
        start += bytes.length;
        records += rows.length;
        headHash = hexOf(rows.at(-1)?.hash);
      }
      const trailer: Trailer = { records, headHash, sha256: sha.digest('hex') };
      await handle.appendFile(await pack(trailerLine(trailer)));
      await handle.sync();
      return { note: { ...span, file, previousHash: this.#notes.cut().hash, ...trailer }, blocks };
    } finally {
      await handle.close();
    }
  }

  /** Every block against the rows it was made of: a disk that took the bytes and gives others is found before it matters. */
  async #readBack(name: string, { note, blocks }: Omit<ArchiveDraft, 'aside'>): Promise<void> {
    const handle = await open(name, 'r');
    try {
      let at = 0;
      for await (const rows of this.#rows(note)) {
        const block = blocks[at];
        if (!block || (await readPart(handle, block.start, block.bytes)) !== textOf(rows)) throw new Error(`${note.file} does not hold what was written into it`);
        at += 1;
      }
      const end = blocks.reduce((sum, block) => sum + block.bytes, 0);
      if ((await readPart(handle, end, (await sizeOf(handle)) - end)) !== trailerLine(note)) throw new Error(`the trailer of ${note.file} is not what was written`);
    } finally {
      await handle.close();
    }
  }

  async *#rows({ first, last }: ArchiveSpan): AsyncGenerator<readonly AuditTableRow[]> {
    const slice = this.#database.prepare('SELECT * FROM audit WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?');
    for (let next = first; next <= last; ) {
      const rows = slice.all(next, last, BLOCK_RECORDS) as AuditTableRow[];
      if (rows.length === 0) return;
      yield rows;
      next = (rows.at(-1) as AuditTableRow).sequence + 1;
      await this.#rest();
    }
  }
}

function textOf(rows: readonly AuditTableRow[]): string {
  return rows.map(archiveLine).join('');
}

/** '' of a file that cannot be read to its end. */
async function lastLineOf(file: string): Promise<string> {
  let end = '';
  try {
    await pipeline(createReadStream(file), createGunzip(), async (texts: AsyncIterable<Buffer>) => {
      for await (const text of texts) end = (end + text.toString('latin1')).slice(-TRAILER_LENGTH_MAX);
    });
  } catch {
    return '';
  }
  return end.trimEnd().split('\n').at(-1) ?? '';
}

async function sizeOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).size;
}

function spanOf(file: string): ArchiveSpan | null {
  const found = /^audit-(\d{12,15})-(\d{12,15})\.ndjson\.gz$/.exec(file);
  return found ? { first: Number(found[1]), last: Number(found[2]) } : null;
}
