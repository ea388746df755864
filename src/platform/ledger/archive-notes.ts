/**
 * What `state.db` knows of the archive: a note per file, sealed with the audit key, and how far the records have been taken
 * out of the table. A record with a sequence up to the cut is read from the files, every other one from the table: the cut
 * moves in the transaction that deletes the rows, so no reader sees a record twice or not at all.
 */
import type { WallMs } from '../base/times.js';
import { createHmac } from 'node:crypto';
import type Database from '../base/sqlite.js';
import type { ArchiveBlock, ArchiveNote } from './archive-format.js';
import { canonicalJson } from './canonical-json.js';
import { GENESIS_HASH, isStored } from './chain.js';
import { countIn } from './counts.js';

export const CUT_AT = 'auditArchivedTo';
export const CUT_HASH = 'auditArchivedHash';

export interface Cut {
  /** Last record that is in the files only; 0 when nothing is archived. */
  readonly sequence: number;
  /** Its hash, to which the first record of the table links. */
  readonly hash: string;
  /** It is no number in `state.db`: the last file before the records of the table counts. */
  readonly isDamaged: boolean;
}

export interface SealedNote extends ArchiveNote {
  readonly mac: Buffer;
}

export function macOfNote(note: ArchiveNote, key: Buffer): Buffer {
  const { first, last, file, records, previousHash, headHash, sha256 } = note;
  return createHmac('sha256', key)
    .update(`audit-archive|${canonicalJson({ first, last, file, records, previousHash, headHash, sha256 })}`)
    .digest();
}

export function isNoteGenuine(note: SealedNote, key: Buffer): boolean {
  const { first, records, mac } = note;
  return Number.isInteger(first) && Number.isInteger(records) && isStored(mac, macOfNote(note, key));
}

const NOTE = 'SELECT first, last, file, records, previous_hash AS previousHash, head_hash AS headHash, sha256, mac FROM audit_archives';
const BLOCK = 'SELECT first, last, file, start, bytes, text_bytes AS textBytes, sha256, from_at AS fromAt, to_at AS toAt, sites, keys FROM audit_archive_blocks';

export interface BlockRange {
  readonly first: number;
  readonly last: number;
  /** Wall ms: from inclusive, to exclusive. */
  readonly fromMs?: WallMs | undefined;
  readonly toMs?: WallMs | undefined;
}

interface BlockRow extends Omit<ArchiveBlock, 'sites'> {
  readonly sites: string;
}

export class ArchiveNotes {
  readonly #sql: ReturnType<typeof prepareAll>;

  constructor(database: Database.Database) {
    this.#sql = prepareAll(database);
  }

  cut(): Cut {
    const [stored = '0', hash = GENESIS_HASH] = [CUT_AT, CUT_HASH].map((key) => this.#sql.meta.get(key) as string | undefined);
    const sequence = countIn(stored);
    return { sequence: sequence ?? (this.#sql.notedBefore.get() as number), hash, isDamaged: sequence === undefined };
  }

  /** Last record of the last file. Rows up to there are about to be deleted, when the cut is before it. */
  notedTo(): number {
    return this.#sql.notedTo.get() as number;
  }

  /** The file that holds a record, or, when no file does, the first one after it. */
  noteFrom(sequence: number): SealedNote | undefined {
    return this.#sql.noteFrom.get(sequence) as SealedNote | undefined;
  }

  /** Blocks that can hold records of the range, in order, at most `limit`. */
  blocks({ first, last, fromMs, toMs }: BlockRange, order: 'asc' | 'desc', limit: number): ArchiveBlock[] {
    const rows = this.#sql[order].all({ first, last, from: fromMs ?? Number.MIN_SAFE_INTEGER, to: toMs ?? Number.MAX_SAFE_INTEGER, limit }) as BlockRow[];
    return rows.map((row) => ({ ...row, sites: sitesOf(row.sites) }));
  }
}

/** A damaged list names no site; verification says so. */
function sitesOf(text: string): readonly string[] {
  try {
    const sites: unknown = JSON.parse(text);
    return Array.isArray(sites) ? (sites as readonly string[]) : [];
  } catch {
    return [];
  }
}

function prepareAll(database: Database.Database) {
  const inRange = 'WHERE last >= @first AND first <= @last AND to_at >= @from AND from_at < @to';
  return {
    meta: database.prepare('SELECT value FROM meta WHERE key = ?').pluck(),
    notedTo: database.prepare('SELECT COALESCE(MAX(last), 0) FROM audit_archives').pluck(),
    notedBefore: database
      .prepare('SELECT COALESCE(MAX(last), 0) FROM audit_archives WHERE last < COALESCE((SELECT MIN(sequence) FROM audit), (SELECT MAX(last) + 1 FROM audit_archives))')
      .pluck(),
    noteFrom: database.prepare(`${NOTE} WHERE last >= ? ORDER BY last LIMIT 1`),
    asc: database.prepare(`${BLOCK} ${inRange} ORDER BY last ASC LIMIT @limit`),
    desc: database.prepare(`${BLOCK} ${inRange} ORDER BY last DESC LIMIT @limit`),
  };
}
