/**
 * Verification of the archive (decisions 8.6): file by file in sequence order, each block as a search would read it. Found
 * are a file that is missing, one whose bytes, records or trailer were changed, a record that was changed together with
 * everything around it (its hash, its MAC, the link of the next one, the note in `state.db`), and a broken link between two
 * files or between the last file and the table.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type Database from '../base/sqlite.js';
import { auditName } from '../base/audit-name.js';
import { type ArchiveBlock, type ArchivedRow, archiveLine, columnsOf, correlationKey, readLine, readPart, readTrailer, recordOf, targetKey } from './archive-format.js';
import { ArchiveNotes, type Cut, isNoteGenuine, type SealedNote } from './archive-notes.js';
import { GENESIS_HASH, hashOf, isHeadGenuine, macOf, type SignedHead } from './chain.js';
import type { DeviceKeys } from './keys.js';
import { KeyFilter, probeOf } from './key-filter.js';
import type { ChainProblem, Verification } from './verify-chain.js';

const PROBLEMS_MAX = 1000;
const BLOCKS_AT_ONCE = 64;

/**
 * What is wrong with a file: it is not there; it does not read as what was written; its trailer or the digest in it does not
 * fit; its note in `state.db`, or the list of its blocks, was changed; or, as in the table, a record of it.
 */
export type ArchiveProblem = 'absent' | 'unreadable' | 'trailer' | 'sha256' | 'note' | ChainProblem;

export interface ArchiveFinding {
  readonly file: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly ok: boolean;
  /** The first one that was found. */
  readonly problem?: ArchiveProblem;
  /** Sequence of the record at which it was found; absent when it is the file. */
  readonly sequence?: number;
}

export interface ArchiveVerification extends Verification {
  readonly archives: readonly ArchiveFinding[];
}

export interface TimeRange {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The walk through one file. */
interface Walk {
  readonly note: SealedNote;
  readonly sha: ReturnType<typeof createHash>;
  records: number;
  /** Hash of the record before; null when nobody can say what it was. */
  previous: string | null;
  /** Sequence that comes next. */
  next: number;
}

export class ArchiveVerifier {
  readonly #database: Database.Database;
  readonly #notes: ArchiveNotes;
  readonly #keys: DeviceKeys;
  readonly #folder: string;
  readonly #problems: { sequence: number; name: string; problem: ChainProblem }[] = [];
  #found: { problem: ArchiveProblem; sequence?: number } | undefined;
  #checked = 0;

  constructor(database: Database.Database, keys: DeviceKeys, folder: string) {
    this.#database = database;
    this.#notes = new ArchiveNotes(database);
    this.#keys = keys;
    this.#folder = folder;
  }

  /** Files that can hold records of these times; all when there are none. `pause` is awaited between blocks. */
  async verify(range: TimeRange, pause: () => Promise<void>): Promise<ArchiveVerification> {
    const { cut, link } = this.#seam();
    const archives: ArchiveFinding[] = [];
    let previous: string | null = GENESIS_HASH;
    let firstSequence = 0;
    let lastSequence = 0;
    for (let next = 1; next <= cut.sequence; ) {
      const note = this.#notes.noteFrom(next);
      if (!note || note.first > next) {
        previous = null;
        this.#lost(next, note ? note.first - 1 : cut.sequence);
        if (!note) break;
      }
      next = note.last + 1;
      if (!this.#isIn(note, range)) {
        previous = note.headHash;
        continue;
      }
      this.#found = undefined;
      const known = this.#problems.length;
      previous = await this.#file(note, previous, pause);
      if (note.last >= cut.sequence) this.#checkSeam(note, cut, previous, link);
      archives.push(this.#finding(note, known));
      firstSequence ||= note.first;
      lastSequence = note.last;
    }
    this.#problems.sort((a, b) => a.sequence - b.sequence);
    return {
      ok: this.#problems.length === 0 && archives.every((archive) => archive.ok),
      checked: this.#checked,
      firstSequence,
      lastSequence,
      headHash: previous ?? '',
      archivedTo: cut.sequence,
      checkedAt: new Date().toISOString(),
      problems: this.#problems,
      archives,
    };
  }

  #finding({ file, first, last }: SealedNote, known: number): ArchiveFinding {
    const found = this.#found;
    // what is wrong with the file and with none of its records is told of its last one
    if (found && this.#problems.length === known) this.#report(last, 'hash');
    return { file, firstSequence: first, lastSequence: last, ok: found === undefined, ...(found ?? {}) };
  }

  /** The cut, and what the first record of the table says of the one before it. */
  #seam(): { readonly cut: Cut; readonly link: string | null } {
    return this.#database.transaction(() => {
      const cut = this.#notes.cut();
      const body = this.#database
        .prepare('SELECT body FROM audit WHERE sequence = ?')
        .pluck()
        .get(cut.sequence + 1) as string | undefined;
      const link = body === undefined ? undefined : recordOf(body)?.previousHash;
      return { cut, link: typeof link === 'string' ? link : null };
    })();
  }

  #isIn(note: SealedNote, { fromMs, toMs }: TimeRange): boolean {
    if (fromMs === undefined && toMs === undefined) return true;
    return this.#notes.blocks({ first: note.first, last: note.last, fromMs, toMs }, 'asc', 1).length > 0;
  }

  /** @returns the hash of its last record; null when the file cannot say. */
  async #file(note: SealedNote, previous: string | null, pause: () => Promise<void>): Promise<string | null> {
    this.#checkNote(note, previous);
    const file = await open(path.join(this.#folder, path.basename(note.file)), 'r').catch(() => null);
    if (!file) {
      this.#wrong('absent');
      this.#lost(note.first, note.last);
      return null;
    }
    const walk: Walk = { note, sha: createHash('sha256'), records: 0, previous, next: note.first };
    try {
      const end = await this.#blocks(file, walk, pause);
      if (walk.next <= note.last) walk.previous = null;
      this.#lost(walk.next, note.last);
      await this.#trailer(file, end, walk);
      return walk.previous;
    } catch {
      this.#wrong('unreadable');
      this.#lost(walk.next, note.last);
      return null;
    } finally {
      await file.close();
    }
  }

  #checkNote(note: SealedNote, previous: string | null): void {
    if (!isNoteGenuine(note, this.#keys.auditHmac)) {
      this.#wrong('note');
      this.#report(note.last, 'signature');
    }
    if (previous !== null && note.previousHash !== previous) this.#report(note.first, 'link');
    const head = this.#database.prepare('SELECT * FROM audit_heads WHERE sequence = ?').get(note.last) as SignedHead | undefined;
    if (!head || head.kid !== this.#keys.kid || head.hash !== note.headHash || !isHeadGenuine(head, this.#keys.publicKey)) this.#report(note.last, 'signature');
  }

  /** @returns where the trailer begins. */
  async #blocks(file: FileHandle, walk: Walk, pause: () => Promise<void>): Promise<number> {
    let end = 0;
    for (let from = walk.note.first; ; ) {
      const blocks = this.#notes.blocks({ first: from, last: walk.note.last }, 'asc', BLOCKS_AT_ONCE);
      for (const block of blocks) {
        if (block.start !== end || block.file !== walk.note.file) this.#wrong('note');
        end = block.start + block.bytes;
        const text = await readPart(file, block.start, block.bytes);
        walk.sha.update(text);
        this.#records(text, block, walk);
        await pause();
      }
      const last = blocks.at(-1);
      if (!last || blocks.length < BLOCKS_AT_ONCE) return end;
      from = last.last + 1;
    }
  }

  #records(text: string, block: ArchiveBlock, walk: Walk): void {
    const filter = new KeyFilter(block.keys);
    for (const line of text.split('\n').slice(0, -1)) {
      const row = readLine(line);
      if (!row || `${line}\n` !== archiveLine(row)) {
        this.#wrong('unreadable', walk.next);
        this.#report(walk.next, 'hash');
        walk.previous = null;
        continue;
      }
      if (row.sequence !== walk.next) {
        this.#lost(walk.next, row.sequence - 1);
        walk.previous = null;
      }
      this.#record(row, block, filter, walk.previous);
      walk.previous = row.hash.toString('hex');
      walk.next = row.sequence + 1;
      walk.records += 1;
      this.#checked += 1;
    }
  }

  #record(row: ArchivedRow, block: ArchiveBlock, filter: KeyFilter, previous: string | null): void {
    const { record } = row;
    const { at, site, kind, name, correlation } = columnsOf(record);
    const found =
      at >= block.fromAt &&
      at <= block.toAt &&
      block.sites.includes(site) &&
      filter.mayHave(probeOf(targetKey(kind, name))) &&
      filter.mayHave(probeOf(correlationKey(correlation)));
    if (!found || !hashOf(row.body).equals(row.hash) || record.name !== auditName(row.sequence)) this.#report(row.sequence, 'hash');
    if (previous !== null && record.previousHash !== previous) this.#report(row.sequence, 'link');
    if (row.key_id !== this.#keys.auditKeyId || !macOf(row.hash, this.#keys.auditHmac).equals(row.mac)) this.#report(row.sequence, 'signature');
  }

  async #trailer(file: FileHandle, start: number, { note, sha, records, previous }: Walk): Promise<void> {
    const trailer = readTrailer(await readPart(file, start, (await file.stat()).size - start));
    if (!trailer || trailer.records !== records || trailer.records !== note.records || trailer.headHash !== previous || trailer.headHash !== note.headHash) this.#wrong('trailer');
    const sha256 = sha.digest('hex');
    if (trailer?.sha256 !== sha256 || note.sha256 !== sha256) this.#wrong('sha256');
  }

  /** What the table goes on from is what the files end with. */
  #checkSeam(note: SealedNote, cut: Cut, previous: string | null, link: string | null): void {
    const archived = note.last === cut.sequence ? previous : cut.hash; // a file whose rows are still leaving the table
    if (archived !== null && (archived !== cut.hash || (link !== null && link !== archived))) this.#report(cut.sequence + 1, 'link');
  }

  #wrong(problem: ArchiveProblem, sequence?: number): void {
    this.#found ??= { problem, ...(sequence === undefined ? {} : { sequence }) };
  }

  #lost(first: number, last: number): void {
    for (let sequence = first; sequence <= last && this.#problems.length < PROBLEMS_MAX; sequence += 1) this.#report(sequence, 'missing');
  }

  #report(sequence: number, problem: ChainProblem): void {
    this.#wrong(problem, sequence);
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ sequence, name: auditName(sequence), problem });
  }
}
