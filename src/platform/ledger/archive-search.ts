/**
 * Finds records in the files of the archive. The notes say which blocks can hold them; a block is read, taken apart and put
 * into a small table in memory, of which the same conditions are asked as of the live table: the answer is the same on both
 * sides of the cut. One block is in memory at a time, and other queries go on between two of them.
 */
import { createHash } from 'node:crypto';
import { access, constants, open } from 'node:fs/promises';
import path from 'node:path';
import Database from '../base/sqlite.js';
import { type ArchiveBlock, type ArchivedRow, columnsOf, correlationKey, readLine, readPart, targetKey } from './archive-format.js';
import { ArchiveNotes, type BlockRange } from './archive-notes.js';
import { type AuditFilter, auditCondition, type Condition } from './audit-filter.js';
import type { AuditOfRequest, AuditRow } from './audit-search.js';
import { hashOf } from './chain.js';
import { KeyFilter, type Probe, probeOf } from './key-filter.js';

const BLOCKS_AT_ONCE = 256; // notes of blocks that are looked at between two pauses
/** Blocks that a page opens at most: some third of a second. A page that ends there has a cursor and may hold less than asked for. */
const BLOCKS_PER_PAGE = 32;

export interface ArchivePart {
  readonly rows: AuditRow[];
  /** Where a page stopped that may open no more blocks: everything up to there has been looked at. */
  readonly reached?: number;
  /** Files that could not be read. */
  readonly unreadable: ReadonlySet<string>;
}

interface Wanted {
  readonly range: BlockRange;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly blocksMax: number;
  readonly condition: Condition;
  /** Null for all. */
  readonly sites: readonly string[] | null;
  /** One of them is in the block; null for all. */
  readonly probes: readonly Probe[] | null;
}

export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

export class ArchiveSearch {
  readonly #notes: ArchiveNotes;
  readonly #folder: string;
  readonly #pause: () => Promise<void>;
  readonly #blocksPerPage: number;
  #table: BlockTable | undefined;

  constructor(database: Database.Database, folder: string, pause: () => Promise<void>, blocksPerPage = BLOCKS_PER_PAGE) {
    this.#notes = new ArchiveNotes(database);
    this.#folder = folder;
    this.#pause = pause;
    this.#blocksPerPage = blocksPerPage;
  }

  /** At most `limit` records of a range of sequences that the filter admits. */
  rows(filter: AuditFilter, { first, last }: SequenceRange, order: 'asc' | 'desc', limit: number): Promise<ArchivePart> {
    return this.#find({
      range: { first, last, fromMs: filter.fromMs, toMs: filter.toMs },
      order,
      limit,
      blocksMax: this.#blocksPerPage,
      condition: auditCondition(filter),
      sites: filter.site === undefined ? (filter.sites ?? null) : [filter.site],
      probes: probesOf(filter),
    });
  }

  /** What belongs to a thing, oldest first: as many blocks as it takes. */
  of({ site, targets, correlationIDs, limit }: AuditOfRequest, range: SequenceRange): Promise<ArchivePart> {
    const keys = [...targets.map(({ kind, name }) => targetKey(kind, name)), ...correlationIDs.map(correlationKey)];
    const text = `site = ? AND ((kind, name) IN (SELECT value ->> 'kind', value ->> 'name' FROM json_each(?)) OR correlation IN (SELECT value FROM json_each(?)))`;
    return this.#find({
      range,
      order: 'asc',
      limit,
      blocksMax: Number.POSITIVE_INFINITY,
      condition: { text, values: [site, JSON.stringify(targets), JSON.stringify(correlationIDs)] },
      sites: [site],
      probes: keys.map(probeOf),
    });
  }

  /** The block that holds a record. */
  blockOf(sequence: number): ArchiveBlock | undefined {
    return this.#notes.blocks({ first: sequence, last: sequence }, 'asc', 1)[0];
  }

  /** @throws Error when the file is not there or does not hold the block as it was written: no reader gets another record in its place. */
  async lines(block: ArchiveBlock): Promise<readonly ArchivedRow[]> {
    const handle = await open(path.join(this.#folder, path.basename(block.file)), 'r');
    try {
      const rows = rowsOf(block, await readPart(handle, block.start, block.bytes, block.textBytes));
      if (!rows) throw new Error(`${block.file} does not hold records ${block.first} to ${block.last} as they were written`);
      return rows;
    } finally {
      await handle.close();
    }
  }

  /** Whether a file is there; what is in it shows when it is read. */
  has(file: string): Promise<boolean> {
    return access(path.join(this.#folder, path.basename(file)), constants.R_OK).then(
      () => true,
      () => false,
    );
  }

  close(): void {
    this.#table?.close();
  }

  async #find(wanted: Wanted): Promise<ArchivePart> {
    const rows: AuditRow[] = [];
    const unreadable = new Set<string>();
    const down = wanted.order === 'desc';
    let { first, last } = wanted.range;
    let left = wanted.blocksMax;
    for (;;) {
      const blocks = this.#notes.blocks({ ...wanted.range, first, last }, wanted.order, BLOCKS_AT_ONCE);
      for (const block of blocks) {
        if (rows.length >= wanted.limit) return { rows, unreadable };
        if (canHold(block, wanted)) {
          if (left === 0) return { rows, reached: down ? last + 1 : first - 1, unreadable };
          left -= 1;
          await this.#look(block, wanted, rows, unreadable);
        }
        if (down) last = block.first - 1;
        else first = block.last + 1;
      }
      if (blocks.length < BLOCKS_AT_ONCE) return { rows, unreadable };
      await this.#pause();
    }
  }

  async #look(block: ArchiveBlock, { condition, range, order, limit }: Wanted, rows: AuditRow[], unreadable: Set<string>): Promise<void> {
    if (unreadable.has(block.file)) return;
    const lines = await this.lines(block).catch(() => null);
    if (!lines) {
      unreadable.add(block.file); // taken away or damaged: verification says which, and the answer names the file
      return;
    }
    this.#table ??= new BlockTable();
    this.#table.load(lines);
    rows.push(...this.#table.select(condition, range, order, limit - rows.length));
    await this.#pause();
  }
}

/** Null when the text is not that of the block. */
function rowsOf({ first, last, sha256 }: ArchiveBlock, text: string): readonly ArchivedRow[] | null {
  if (sha256 !== null && createHash('sha256').update(text).digest('hex') !== sha256) return null;
  const rows = text.split('\n').slice(0, -1).map(readLine);
  const whole = rows.every((row, at) => row !== null && hashOf(row.body).equals(row.hash) && row.sequence > (rows[at - 1]?.sequence ?? 0));
  return whole && rows[0]?.sequence === first && rows.at(-1)?.sequence === last ? (rows as ArchivedRow[]) : null;
}

function canHold({ sites, keys }: ArchiveBlock, wanted: Wanted): boolean {
  if (wanted.sites && !wanted.sites.some((site) => sites.includes(site))) return false;
  if (!wanted.probes) return true;
  const filter = new KeyFilter(keys);
  return wanted.probes.some((probe) => filter.mayHave(probe));
}

function probesOf({ correlationID, kind, name }: AuditFilter): readonly Probe[] | null {
  if (correlationID !== undefined) return [probeOf(correlationKey(correlationID))];
  return kind !== undefined && name !== undefined ? [probeOf(targetKey(kind, name))] : null;
}

/** The columns of the live table that conditions speak of, over the records of one block. */
class BlockTable {
  readonly #database = new Database(':memory:');
  readonly #statements = new Map<string, Database.Statement>();
  readonly #put: Database.Statement;

  constructor() {
    this.#database.exec(
      `CREATE TABLE audit (sequence INTEGER PRIMARY KEY, at INTEGER, site TEXT, action TEXT, category TEXT, result TEXT,
         kind TEXT, name TEXT, account TEXT, correlation TEXT, body TEXT, hash BLOB)`,
    );
    this.#put = this.#database.prepare(
      `INSERT OR REPLACE INTO audit (sequence, at, site, action, category, result, kind, name, account, correlation, body, hash)
       VALUES (@sequence, @at, @site, @action, @category, @result, @kind, @name, @account, @correlation, @body, @hash)`,
    );
  }

  load(rows: readonly ArchivedRow[]): void {
    this.#database.exec('BEGIN; DELETE FROM audit');
    for (const { record, sequence, body, hash } of rows) this.#put.run({ ...columnsOf(record), sequence, body, hash });
    this.#database.exec('COMMIT');
  }

  select({ text, values }: Condition, { first, last }: SequenceRange, order: 'asc' | 'desc', limit: number): AuditRow[] {
    const statement = `SELECT sequence, body, hash FROM audit WHERE ${text} AND sequence BETWEEN ? AND ? ORDER BY sequence ${order} LIMIT ?`;
    let prepared = this.#statements.get(statement);
    if (!prepared) this.#statements.set(statement, (prepared = this.#database.prepare(statement)));
    return prepared.all(...values, first, last, limit) as AuditRow[];
  }

  close(): void {
    this.#database.close();
  }
}
