/**
 * Whether the marks of the past (ADR 0035) are those that the ledger has set. A row that somebody has marked past the ledger is gone
 * from memory without being gone: the phase of a batch at work, the stream that its events are told in. A start that finds the marks
 * other than sealed looks at each of them, and what nobody has recorded as past is present again, and told.
 *
 * A run is past where the row that it is named by says so and has an entry; a row is past with such a run, and a stream with such a
 * run of its own name. What is past by that and was recorded as present, which its seal says without the mark, is present all the same.
 */
import type Database from '../base/sqlite.js';
import { keyOf, type Ref } from '../store/resource.js';
import { MAC_BYTES, mix, type ResourceRow, type RowSeals } from './row-seals.js';

/** A row that is marked, or has an entry, and is present. */
export interface Marked extends Ref {
  readonly past: string;
}

export interface WrongMarks {
  readonly rows: readonly Marked[];
  readonly streams: readonly string[];
}

const NOTHING = Buffer.alloc(MAC_BYTES);

type StoredRow = Required<ResourceRow> & { readonly mac: Buffer | null };

export class PastMarks {
  readonly #seals: RowSeals;
  readonly #sql: ReturnType<typeof prepareAll>;
  /** Met with a mark that cannot be right: the next load looks, and until it has taken them away each one after it. */
  readonly #doubtedRows = new Map<string, Ref>();
  readonly #doubtedStreams = new Set<string>();
  /**
   * What the seal misses when all of the past was read and nothing more found: a row that is present was changed. As long as it misses the same
   * there is nothing to be found, and a load that cannot seal anew (a full disk) does not read gigabytes each time.
   */
  readonly #inVain: { rows: Buffer; streams: Buffer } = { rows: NOTHING, streams: NOTHING };

  constructor(database: Database.Database, seals: RowSeals) {
    this.#seals = seals;
    this.#sql = prepareAll(database);
  }

  /** Whether what is present is as it was sealed, and nothing else was met. @param present as of `look`. */
  areRight(present: Buffer): boolean {
    return this.#doubtedRows.size + this.#doubtedStreams.size === 0 && this.#seals.missedRows(present).equals(NOTHING) && this.#seals.missedStreams().equals(NOTHING);
  }

  /** Whether a past row that is written may be believed to be past. One that was damaged is past all the same. */
  believesRow(ref: Ref): boolean {
    const row = this.#row(ref);
    const isBelieved = !row || !this.#isPresent(row);
    if (!isBelieved) this.#doubtedRows.set(keyOf(ref), ref);
    return isBelieved;
  }

  /** The same of a stream that is told something. */
  believesStream(stream: string, past: string): boolean {
    const isBelieved = isOfRun(stream, past) && this.#isRun(past) && !this.#seals.isPresentStream(stream);
    if (!isBelieved) this.#doubtedStreams.add(stream);
    return isBelieved;
  }

  /** Whether a row that has an entry and is not the one that its run is named by can be of that run. */
  isMember(row: Marked): boolean {
    const past = String(row.past); // as it is stored: of a damaged file no text
    return !past.startsWith(`${row.kind}/`) && isNamedIn(row, past) && this.#isRun(past);
  }

  /** Whether the row that a run is named by says so and has an entry. */
  #isRun(run: string): boolean {
    const [kind = '', site = '', name = '', more] = run.split('/');
    return more === undefined && this.#sql.isRun.get(kind, site, name, run) !== undefined;
  }

  /**
   * Marks that are wrong. By their runs first; where the rows that are present then are still not those that were sealed, by what was
   * recorded of each, which reads all that is past.
   * @param present XOR of what stands for the rows that are listed as present.
   */
  look(present: Buffer): WrongMarks {
    const runs = new Set(this.#sql.runs.all() as string[]);
    const found = new Map<string, Marked>();
    this.#addWithoutRun(runs, found);
    for (const ref of this.#doubtedRows.values()) {
      const row = this.#row(ref);
      if (row && row.past !== '' && this.#isPresent(row)) found.set(keyOf(row), markedOf(row));
    }
    const missed = this.#missed(present, found.values());
    if (!missed.equals(NOTHING) && !missed.equals(this.#inVain.rows)) {
      const before = found.size;
      for (const row of this.#sql.pastRows.iterate() as IterableIterator<StoredRow>) {
        if (found.has(keyOf(row)) || !this.#isPresent(row)) continue;
        found.set(keyOf(row), markedOf(row));
        runs.delete(keyOf(row));
      }
      this.#addWithoutRun(runs, found); // of a run that was none
      if (found.size === before) this.#inVain.rows = missed;
    }
    return { rows: [...found.values()], streams: this.#lookAtStreams(runs) };
  }

  #lookAtStreams(runs: ReadonlySet<string>): readonly string[] {
    const found: string[] = [];
    const others: string[] = [];
    for (const { stream, past } of this.#sql.pastStreams.all() as { stream: string; past: string }[]) {
      const isOfPast = runs.has(past) && isOfRun(stream, past) && !(this.#doubtedStreams.has(stream) && this.#seals.isPresentStream(stream));
      (isOfPast ? others : found).push(stream);
    }
    const missed = this.#seals.missedStreams(found);
    if (missed.equals(NOTHING) || missed.equals(this.#inVain.streams)) return found;
    const more = others.filter((stream) => this.#seals.isPresentStream(stream));
    if (more.length === 0) this.#inVain.streams = missed;
    return [...found, ...more];
  }

  #addWithoutRun(runs: ReadonlySet<string>, found: Map<string, Marked>): void {
    for (const run of this.#sql.marks.all() as string[]) if (!runs.has(run)) for (const row of this.#sql.rowsOf.all(run) as Marked[]) found.set(keyOf(row), row);
    for (const row of this.#sql.entriesOfOthers.all() as Marked[]) if (!this.isMember(row)) found.set(keyOf(row), row);
  }

  /** What the seal misses beside the rows that were found. */
  #missed(present: Buffer, found: Iterable<Marked>): Buffer {
    const sum = Buffer.from(present);
    for (const { kind, site, name, past } of found) {
      const row = this.#row({ kind, site, name });
      if (!row) continue; // an index that is damaged lists what is not in its table
      if (past !== '' && row.mac && this.#isRecordedPresent(row)) mix(sum, row.mac);
    }
    return this.#seals.missedRows(sum);
  }

  #isPresent(row: StoredRow): boolean {
    if (this.#isRecordedPresent(row)) return true;
    return !isNamedIn(row, row.past) && !this.#seals.isGenuine(row);
  }

  /** But for its mark it is what was recorded. */
  #isRecordedPresent(row: StoredRow): boolean {
    return this.#seals.isGenuine({ ...row, past: '', entry: '' });
  }

  /**
   * Takes the marks away; inside a transaction.
   * @returns those that were there: an index that is damaged lists what its table has not, and goes on doing so.
   */
  takeAway({ rows, streams }: WrongMarks): WrongMarks {
    return {
      rows: rows.filter(({ kind, site, name }) => {
        const mac = this.#seals.unmark({ kind, site, name });
        return mac !== undefined && this.#sql.unmark.run(mac, kind, site, name).changes > 0;
      }),
      streams: streams.filter((stream) => {
        const mac = this.#seals.unmarkStream(stream);
        return mac !== undefined && this.#sql.unmarkStream.run(mac, stream).changes > 0;
      }),
    };
  }

  /** What was taken away is so on disk. */
  settled(): void {
    this.#doubtedRows.clear();
    this.#doubtedStreams.clear();
  }

  #row({ kind, site, name }: Ref): StoredRow | undefined {
    return this.#sql.row.get(kind, site, name) as StoredRow | undefined;
  }

  get entries(): number {
    return this.#sql.countEntries.get() as number;
  }

  get past(): number {
    return this.#sql.countPast.get() as number;
  }
}

function markedOf({ kind, site, name, past }: StoredRow): Marked {
  return { kind, site, name, past };
}

/** The last parts of the name of a stream are those of whose it is. */
function isOfRun(stream: string, run: string): boolean {
  return stream.endsWith(run.slice(run.indexOf('/')));
}

/** The members of a run have its name, or begin with it. */
function isNamedIn({ site, name }: Ref, run: string): boolean {
  const [, ofSite, ofName] = String(run).split('/');
  return site === ofSite && (name === ofName || String(name).startsWith(`${ofName}-`));
}

function prepareAll(database: Database.Database) {
  const columns = 'kind, site, name, version, body, mac, past, past_entry AS entry';
  return {
    row: database.prepare(`SELECT ${columns} FROM resources WHERE kind = ? AND site = ? AND name = ?`),
    isRun: database.prepare("SELECT 1 FROM resources WHERE kind = ? AND site = ? AND name = ? AND past = ? AND past_entry <> ''").pluck(),
    runs: database.prepare("SELECT past FROM resources INDEXED BY resources_past_entry WHERE past_entry <> '' AND past = kind || '/' || site || '/' || name").pluck(),
    marks: database.prepare("SELECT DISTINCT past FROM resources INDEXED BY resources_past WHERE past <> ''").pluck(),
    rowsOf: database.prepare("SELECT kind, site, name, past FROM resources WHERE past = ? AND past <> ''"),
    entriesOfOthers: database.prepare(
      "SELECT kind, site, name, past FROM resources INDEXED BY resources_past_entry WHERE past_entry <> '' AND past <> kind || '/' || site || '/' || name",
    ),
    pastRows: database.prepare(`SELECT ${columns} FROM resources WHERE past <> '' ORDER BY rowid`),
    pastStreams: database.prepare("SELECT stream, past FROM streams INDEXED BY streams_past WHERE past <> ''"),
    unmark: database.prepare("UPDATE resources SET past = '', past_entry = '', mac = ? WHERE kind = ? AND site = ? AND name = ?"),
    unmarkStream: database.prepare("UPDATE streams SET past = '', mac = ? WHERE stream = ?"),
    countEntries: database.prepare("SELECT COUNT(*) FROM resources INDEXED BY resources_past_entry WHERE past_entry <> ''").pluck(),
    countPast: database.prepare("SELECT COUNT(*) FROM resources INDEXED BY resources_past WHERE past <> ''").pluck(),
  };
}
