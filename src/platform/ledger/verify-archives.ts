/**
 * Verification of the archive (decisions 8.6): file by file in sequence order, each block as a search would read it. Found
 * are a file that is missing, one whose bytes, records or trailer were changed, and a broken link between two files or
 * between the last file and the table. A file whose blocks are not where they were noted is read again as one text: if
 * somebody has packed it again, what was changed in it is told, and not only that it was.
 */
import type { WallMs } from '../base/times.js';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type Database from '../base/sqlite.js';
import { type ArchiveBlock, readPart, recordOf } from './archive-format.js';
import { ArchiveNotes, type Cut, isNoteGenuine, type SealedNote } from './archive-notes.js';
import { textLimits, textLines } from './archive-text.js';
import { ArchiveWalk, Findings, PROBLEMS_MAX } from './archive-walk.js';
import { GENESIS_HASH, isHeadGenuine, type SignedHead } from './chain.js';
import { readGaps } from './gaps.js';
import { type DeviceKeys, publicKeyOf } from './keys.js';
import type { ArchiveProblem } from './problems.js';
import { areGapsRecorded } from './row-seals.js';
import type { Verification } from './verify-chain.js';

const BLOCKS_MAX = 10_000; // a file has two hundred; a list that has more is none of ours
const TRAILER_BYTES_MAX = 64 * 1024; // it has two hundred

export interface ArchiveFinding {
  readonly file: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly ok: boolean;
  /** The first one that was found. */
  readonly problem?: ArchiveProblem;
  /** Sequence of the record at which it was found; absent when it is the file. */
  readonly sequence?: number;
  /** The file reads as one text, and its blocks are not where they were written: searches do not find its records. */
  readonly repacked?: true;
}

/** `ok` and `problems` are about the records: they may be whole in a file that is not `ok` because it was packed again. */
export interface ArchiveVerification extends Omit<Verification, 'gaps'> {
  readonly archives: readonly ArchiveFinding[];
}

export interface TimeRange {
  readonly fromMs?: WallMs;
  readonly toMs?: WallMs;
}

export interface ArchiveCheck extends TimeRange {
  /** With a rest after every block: nobody waits for the answer. */
  readonly gently?: boolean;
}

/** What a file was found to be. */
interface Checked {
  readonly findings: Findings;
  readonly checked: number;
  /** Of its last record; null when it cannot say. */
  readonly headHash: string | null;
  readonly repacked: boolean;
}

export class ArchiveVerifier {
  readonly #database: Database.Database;
  readonly #notes: ArchiveNotes;
  readonly #keys: DeviceKeys;
  readonly #folder: string;
  readonly #problems: Verification['problems'][number][] = [];
  /** Records whose seal nobody can verify, which an administrator has acknowledged: a gap shows them (D-C-09). */
  readonly #explained: (sequence: number) => boolean;
  #checked = 0;

  constructor(database: Database.Database, keys: DeviceKeys, folder: string) {
    this.#database = database;
    this.#notes = new ArchiveNotes(database);
    this.#keys = keys;
    this.#folder = folder;
    const recorded = areGapsRecorded(database, keys.auditHmac) ? readGaps(database) : [];
    const gaps = recorded.filter(({ acknowledged, covers }) => acknowledged !== null && covers.includes('signature'));
    this.#explained = (sequence) => gaps.some(({ first, last }) => sequence >= first && sequence <= last);
  }

  /** Files that can hold records of these times; all when there are none. `pause` is awaited between blocks. */
  async verify(range: TimeRange, pause: () => Promise<void>): Promise<ArchiveVerification> {
    const { cut, link } = this.#seam();
    const archives: ArchiveFinding[] = [];
    const between = new Findings();
    let previous: string | null = GENESIS_HASH;
    let firstSequence = 0;
    let lastSequence = 0;
    for (let next = 1; next <= cut.sequence; ) {
      const note = this.#notes.noteFrom(next);
      if (!note || note.first > next) {
        previous = null;
        between.lost(next, note ? note.first - 1 : cut.sequence);
        if (!note) break;
      }
      next = note.last + 1;
      if (!this.#isIn(note, range)) {
        previous = note.headHash;
        continue;
      }
      const file = await this.#file(note, previous, pause);
      previous = file.headHash;
      if (note.last >= cut.sequence) checkSeam(file.findings, note, cut, previous, link);
      archives.push(this.#taken(note, file));
      firstSequence ||= note.first;
      lastSequence = note.last;
    }
    const problems = [...between.problems, ...this.#problems].slice(0, PROBLEMS_MAX).sort((a, b) => a.sequence - b.sequence);
    return {
      ok: problems.length === 0,
      checked: this.#checked,
      firstSequence,
      lastSequence,
      headHash: previous ?? '',
      archivedTo: cut.sequence,
      checkedAt: new Date().toISOString(),
      problems,
      archives,
    };
  }

  #taken({ file, first: firstSequence, last: lastSequence }: SealedNote, { findings, checked, repacked }: Checked): ArchiveFinding {
    const { first } = findings;
    // what is wrong with the file and with none of its records is told of its last one
    if (first && findings.problems.length === 0) findings.report(lastSequence, 'hash');
    this.#problems.push(...findings.problems.slice(0, PROBLEMS_MAX - this.#problems.length));
    this.#checked += checked;
    const found = first ?? (repacked ? { problem: 'repacked' as const } : undefined);
    return { file, firstSequence, lastSequence, ok: !found, ...found, ...(repacked ? { repacked } : {}) };
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

  async #file(note: SealedNote, previous: string | null, pause: () => Promise<void>): Promise<Checked> {
    const blocks = this.#notes.blocks({ first: note.first, last: note.last }, 'asc', BLOCKS_MAX);
    const file = await open(path.join(this.#folder, path.basename(String(note.file))), 'r').catch(() => null);
    if (!file) return this.#absent(note, blocks, previous);
    try {
      const noted = this.#walk(note, blocks, previous);
      if (await readsAsNoted(file, noted, pause)) return done(noted, false);
      const text = this.#walk(note, blocks, previous);
      if (await readsAsText(file, text, pause)) return done(text, isListed(blocks, note));
      noted.torn();
      return done(noted, false);
    } finally {
      await file.close();
    }
  }

  #absent(note: SealedNote, blocks: readonly ArchiveBlock[], previous: string | null): Checked {
    const walk = this.#walk(note, blocks, previous);
    walk.findings.wrong('absent');
    walk.findings.lost(note.first, note.last);
    return { findings: walk.findings, checked: 0, headHash: null, repacked: false };
  }

  /** A walk that knows already what is wrong with the note. */
  #walk(note: SealedNote, blocks: readonly ArchiveBlock[], previous: string | null): ArchiveWalk {
    const walk = new ArchiveWalk(note, blocks, this.#keys, previous, this.#explained);
    const { findings } = walk;
    if (!isNoteGenuine(note, this.#keys.auditHmac)) {
      findings.wrong('note');
      findings.report(note.last, 'signature');
    }
    if (previous !== null && note.previousHash !== previous) findings.report(note.first, 'link');
    const head = this.#database.prepare('SELECT * FROM audit_heads WHERE sequence = ?').get(note.last) as SignedHead | undefined;
    const key = head && publicKeyOf(this.#keys, head.kid);
    if (!key || head.hash !== note.headHash || !isHeadGenuine(head, key)) findings.report(note.last, 'signature');
    if (!isListed(blocks, note)) findings.wrong('note');
    return walk;
  }
}

/** Every block begins where the one before ends: else the list was changed, whatever the file holds. */
function isListed(blocks: readonly ArchiveBlock[], note: SealedNote): boolean {
  let end = 0;
  return blocks.every(({ start, bytes, file }) => {
    const follows = start === end && file === note.file;
    end = start + bytes;
    return follows;
  });
}

function done(walk: ArchiveWalk, repacked: boolean): Checked {
  return { findings: walk.findings, checked: walk.checked, headHash: walk.headHash, repacked };
}

/** False when a block is not where it was noted. */
async function readsAsNoted(file: FileHandle, walk: ArchiveWalk, pause: () => Promise<void>): Promise<boolean> {
  try {
    let end = 0;
    for (const block of walk.blocks) {
      end = block.start + block.bytes;
      walk.block(block, await readPart(file, block.start, block.bytes, textLimits([block]).textBytes));
      await pause();
    }
    const rest = (await file.stat()).size - end;
    if (rest > TRAILER_BYTES_MAX) return false;
    walk.end(await readPart(file, end, rest, TRAILER_BYTES_MAX));
    return true;
  } catch {
    return false;
  }
}

/** False when it is no text, or more than a file of its records can hold. */
async function readsAsText(file: FileHandle, walk: ArchiveWalk, pause: () => Promise<void>): Promise<boolean> {
  try {
    let held: Buffer | null = null; // the last line is the trailer
    for await (const lines of textLines(file, textLimits(walk.blocks))) {
      for (const line of lines) {
        if (held) walk.line(held);
        held = line;
      }
      await pause();
    }
    walk.endWith(held);
    return true;
  } catch {
    return false;
  }
}

/** What the table goes on from is what the files end with. */
function checkSeam(findings: Findings, note: SealedNote, cut: Cut, previous: string | null, link: string | null): void {
  const archived = note.last === cut.sequence ? previous : cut.hash; // a file whose rows are still leaving the table
  if (archived !== null && (archived !== cut.hash || (link !== null && link !== archived))) findings.report(cut.sequence + 1, 'link');
}
