/**
 * The audit trail as a reader knows it: the table and the files of the archive as one. The cut is read in the same snapshot
 * as the rows of the table, so that a slice that leaves the table meanwhile is seen once, here or there.
 */
import type { WallMs } from '../base/times.js';
import type Database from '../base/sqlite.js';
import { archiveLine, columnsOf } from './archive-format.js';
import type { SealedRow } from './audit-row.js';
import { ArchiveNotes } from './archive-notes.js';
import { type ArchivePart, ArchiveSearch } from './archive-search.js';
import type { AuditFilter } from './audit-filter.js';
import { type AuditOfRequest, type AuditRow, AuditSearch, type AuditWalk } from './audit-search.js';

export interface TrailPage {
  readonly rows: readonly AuditRow[];
  /** Sequence after which the next page begins; absent on the last one. */
  readonly next?: number;
  /** Files of the archive that the page should have looked into and could not read. */
  readonly unreadable: readonly string[];
}

export interface ExportRange {
  /** Wall ms: from inclusive, to exclusive. */
  readonly fromMs?: WallMs | undefined;
  readonly toMs?: WallMs | undefined;
  /** Sequence, inclusive. */
  readonly last?: number | undefined;
}

export interface ExportedLines {
  readonly text: string;
  readonly last: number;
  readonly more: boolean;
}

/** Records that follow each other, for whoever sends them away one after the other. */
export interface NextRecords {
  readonly rows: readonly NextRecord[];
  /** Why those from the next one on cannot be read, up to where others may follow; absent while they can. */
  readonly lost?: { readonly last: number; readonly why: string };
}

export interface NextRecord extends AuditRow {
  /** Wall ms. */
  readonly at: number;
  readonly result: string;
}

/** A record lies in a file that is not there, or not readable. */
export class UnreadableArchive extends Error {
  readonly file: string;

  constructor(file: string) {
    super(`${file} is not in the archive or cannot be read`);
    this.name = 'UnreadableArchive';
    this.file = file;
  }
}

export class AuditTrail {
  readonly #database: Database.Database;
  readonly #live: AuditSearch;
  readonly #archive: ArchiveSearch;
  readonly #notes: ArchiveNotes;

  /** `pause` is awaited between blocks of the archive; a page opens at most `blocksPerPage` of them. */
  constructor(database: Database.Database, folder: string, pause: () => Promise<void>, blocksPerPage?: number) {
    this.#database = database;
    this.#live = new AuditSearch(database);
    this.#archive = new ArchiveSearch(database, folder, pause, blocksPerPage);
    this.#notes = new ArchiveNotes(database);
  }

  page(filter: AuditFilter, walk: AuditWalk): Promise<TrailPage> {
    return walk.order === 'desc' ? this.#newestFirst(filter, walk) : this.#oldestFirst(filter, walk);
  }

  /** @throws UnreadableArchive */
  async row(sequence: number, filter: AuditFilter): Promise<AuditRow | undefined> {
    const { cut, rows } = this.#seen(() => [this.#live.row(sequence, filter)].filter((row) => row !== undefined));
    if (rows.length > 0 || sequence > cut) return rows[0];
    const block = this.#archive.blockOf(sequence);
    if (!block || (filter.site !== undefined && !block.sites.includes(filter.site))) return undefined;
    const found = await this.#archive.rows(filter, { first: sequence, last: sequence }, 'asc', 1);
    if (found.unreadable.size > 0) throw new UnreadableArchive(block.file);
    return found.rows[0];
  }

  /** Oldest first; with the files that may hold more of it and could not be read. */
  async of(request: AuditOfRequest): Promise<Pick<ArchivePart, 'rows' | 'unreadable'>> {
    const found: AuditRow[] = [];
    const unreadable = new Set<string>();
    for (let after = 0; ; ) {
      const { sequence: cut } = this.#notes.cut();
      if (after < cut) {
        const archived = await this.#archive.of({ ...request, limit: request.limit - found.length }, { first: after + 1, last: cut });
        found.push(...archived.rows);
        for (const file of archived.unreadable) unreadable.add(file);
      }
      const seen = this.#seen(() => this.#live.of({ ...request, limit: Math.max(0, request.limit - found.length) }));
      if (seen.cut === cut) return { rows: [...found, ...seen.rows], unreadable };
      after = cut;
    }
  }

  /**
   * Records after a sequence as lines of the archive. At most `limit` of the table, or a block of a file, are looked at; those
   * of other times are left out.
   *
   * @throws UnreadableArchive
   */
  async lines(after: number, limit: number, { last: end = Number.MAX_SAFE_INTEGER, ...times }: ExportRange = {}): Promise<ExportedLines> {
    const rows = this.#database.prepare(
      'SELECT sequence, at, body, hash, mac, key_id FROM audit WHERE sequence > @after AND sequence <= @end AND @after >= @cut ORDER BY sequence LIMIT @limit',
    );
    const seen = this.#seen((cut) => rows.all({ after, end, cut, limit }) as (SealedRow & { readonly at: number })[]);
    if (after >= seen.cut) {
      const within = seen.rows.filter(({ at }) => isWithin(at, times));
      return { text: within.map(archiveLine).join(''), last: seen.rows.at(-1)?.sequence ?? after, more: seen.rows.length === limit };
    }
    const reach = Math.min(seen.cut, end);
    const [block] = this.#notes.blocks({ first: after + 1, last: reach, ...times }, 'asc', 1);
    if (!block) return { text: '', last: reach, more: reach < end };
    const archived = await this.#archive.lines(block).catch(() => {
      throw new UnreadableArchive(block.file);
    });
    const within = archived.filter(({ sequence, record }) => sequence > after && sequence <= end && isWithin(columnsOf(record).at, times));
    return { text: within.map(archiveLine).join(''), last: block.last, more: block.last < end };
  }

  /** Those after a sequence without a hole, of the table or of a block of a file: about `bytesMax` of them, and at least one where it can be read. */
  async next(after: number, bytesMax: number): Promise<NextRecords> {
    const rows = this.#database.prepare('SELECT sequence, at, result, body, hash FROM audit WHERE sequence > ? ORDER BY sequence LIMIT 2000');
    const seen = this.#seen((cut) => (after >= cut ? upTo(bytesMax, rows.iterate(after) as IterableIterator<NextRecord>) : []));
    if (after >= seen.cut) return withoutHole(after, seen.rows, 'they are not in the trail');
    const [block] = this.#notes.blocks({ first: after + 1, last: seen.cut }, 'asc', 1);
    const isListed = block !== undefined && block.first <= after + 1;
    if (!isListed) return { rows: [], lost: { last: block ? block.first - 1 : seen.cut, why: 'no file of the archive lists them' } };
    try {
      const archived = (await this.#archive.lines(block)).filter(({ sequence }) => sequence > after);
      const found = archived.map(({ sequence, body, hash, record }) => ({ sequence, body, hash, at: columnsOf(record).at, result: columnsOf(record).result }));
      return withoutHole(after, upTo(bytesMax, found), `they are not in ${block.file}`);
    } catch (fault) {
      const isThere = await this.#archive.has(block.file);
      const last = isThere ? block.last : (this.#notes.noteFrom(after + 1)?.last ?? block.last);
      return { rows: [], lost: { last, why: isThere ? `${block.file} cannot be read (${(fault as Error).message})` : `${block.file} is not in the archive folder` } };
    }
  }

  /** Files that `lines` would need and that are not there. */
  async missingFiles({ last = Number.MAX_SAFE_INTEGER, ...times }: ExportRange): Promise<string[]> {
    const missing: string[] = [];
    const reach = Math.min(this.#notes.cut().sequence, last);
    for (let next = 1; next <= reach; ) {
      const note = this.#notes.noteFrom(next);
      if (!note) break;
      const [block] = this.#notes.blocks({ first: note.first, last: Math.min(note.last, reach), ...times }, 'asc', 1);
      if (block && !(await this.#archive.has(note.file))) missing.push(note.file);
      next = note.last + 1;
    }
    return missing;
  }

  close(): void {
    this.#archive.close();
  }

  async #newestFirst(filter: AuditFilter, { limit, beyond }: AuditWalk): Promise<TrailPage> {
    const { cut, rows } = this.#seen(() => this.#live.rows(filter, { order: 'desc', limit: limit + 1, beyond }));
    const last = Math.min(cut, beyond === undefined ? cut : beyond - 1);
    if (rows.length > limit || last < 1) return pageOf(rows, limit, []);
    const part = await this.#archive.rows(filter, { first: 1, last }, 'desc', limit + 1 - rows.length);
    return pageOf([...rows, ...part.rows], limit, [...part.unreadable], part.reached);
  }

  async #oldestFirst(filter: AuditFilter, { limit, beyond = 0 }: AuditWalk): Promise<TrailPage> {
    const rows: AuditRow[] = [];
    const unreadable = new Set<string>();
    for (let after = beyond; ; ) {
      const { sequence: cut } = this.#notes.cut();
      if (after < cut) {
        const part = await this.#archive.rows(filter, { first: after + 1, last: cut }, 'asc', limit + 1 - rows.length);
        rows.push(...part.rows);
        for (const file of part.unreadable) unreadable.add(file);
        if (rows.length > limit || part.reached !== undefined) return pageOf(rows, limit, [...unreadable], part.reached);
      }
      const seen = this.#seen(() => this.#live.rows(filter, { order: 'asc', limit: limit + 1 - rows.length, beyond: Math.max(after, cut) }));
      if (seen.cut === cut) return pageOf([...rows, ...seen.rows], limit, [...unreadable]);
      after = Math.max(after, cut); // a slice has left the table meanwhile: it is read from its file
    }
  }

  /** Rows of the table with the cut that holds for them. */
  #seen<Row>(read: (cut: number) => readonly Row[]): { readonly cut: number; readonly rows: readonly Row[] } {
    return this.#database.transaction(() => {
      const cut = this.#notes.cut().sequence;
      return { cut, rows: read(cut) };
    })();
  }
}

function upTo(bytesMax: number, rows: Iterable<NextRecord>): NextRecord[] {
  const found: NextRecord[] = [];
  let length = 0;
  for (const row of rows) {
    found.push(row);
    length += row.body.length;
    if (length >= bytesMax) break;
  }
  return found;
}

function withoutHole(after: number, rows: readonly NextRecord[], why: string): NextRecords {
  const [first] = rows;
  if (first && first.sequence !== after + 1) return { rows: [], lost: { last: first.sequence - 1, why } };
  const end = rows.findIndex(({ sequence }, index) => sequence !== after + 1 + index);
  return { rows: end === -1 ? rows : rows.slice(0, end) };
}

function isWithin(at: number, { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY }: ExportRange): boolean {
  return at >= fromMs && at < toMs;
}

function pageOf(rows: readonly AuditRow[], limit: number, unreadable: readonly string[], reached?: number): TrailPage {
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: (rows[limit - 1] as AuditRow).sequence, unreadable };
  return { rows, ...(reached === undefined ? {} : { next: reached }), unreadable };
}
