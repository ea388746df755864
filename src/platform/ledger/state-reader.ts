/**
 * Reads of `state.db` on the query thread, over a read-only connection: audit lists and exports, facts. Audit records are
 * served as the bytes that were hashed, so nothing is parsed on the way out.
 */
import type { WallMs } from '../base/times.js';
import path from 'node:path';
import { assert } from '../base/assert.js';
import Database from '../base/sqlite.js';
import { encodeCursor } from '../base/cursor.js';
import { auditName } from '../base/audit-name.js';
import { Refusal } from '../base/refusal.js';
import type { Ref } from '../store/resource.js';
import { type ArchiveDraft, archiveFolder } from './archive-format.js';
import type { ChainEnd } from './head-file.js';
import { type ArchiveLimits, type ArchiveSpan, ArchiveWriter } from './archive-writer.js';
import type { AuditFilter } from './audit-filter.js';
import type { AuditOfRequest, AuditRow } from './audit-search.js';
import { type AnchorsAgainst, endOfAnchors, judgedAnchors } from './anchors-check.js';
import { recordFrame, type RecordFormat } from '../syslog/record-message.js';
import { AuditTrail, type ExportedLines, type ExportRange, UnreadableArchive } from './audit-trail.js';
import { hexOf, servedAudit } from './chain.js';
import { headFileOf } from './head-file.js';
import type { DeviceKeys } from './keys.js';
import { MaterialFacts } from './material-facts.js';
import { pastTextOf } from './past-text.js';
import { TIMED_STREAMS } from './schema.js';
import { type ArchiveCheck, type ArchiveVerification, ArchiveVerifier, type TimeRange } from './verify-archives.js';
import { ChainVerifier, type Verification } from './verify-chain.js';
import { isRowRecorded, isStreamRecorded, type RowVerification, verifyRows } from './verify-rows.js';

export interface AuditPageRequest extends AuditFilter {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Sequence of the last record of the page before. */
  readonly beyond?: number | undefined;
}

export interface FactPageRequest {
  readonly stream: string;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly beyond?: number | undefined;
  /** Sequence, exclusive. */
  readonly after?: number | undefined;
  /** Bounds on a member of the body that holds a timestamp: from inclusive, to exclusive, RFC 3339 in UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly timeMember: string;
  /** Members of the body that must equal these texts. */
  readonly equals: Readonly<Record<string, string>>;
  /** Whether the answer says, in member `recorded`, that the stream is what was recorded. */
  readonly judged: boolean;
}

/** One page of a stream in the order of its times, which a wall clock that is set may make another than that of its sequences. */
export interface TimedFactsRequest {
  readonly stream: string;
  /** RFC 3339 in UTC: from inclusive, to exclusive. */
  readonly from: string;
  readonly to: string;
  readonly equals: Readonly<Record<string, string>>;
  readonly limit: number;
  /** The last fact of the page before. */
  readonly after?: { readonly at: string; readonly sequence: number } | undefined;
}

/** A JSON text of what could be read of a stream, and the numbers of the entries that could not. */
export interface DamagedAmong {
  readonly text: string;
  readonly damaged: readonly number[];
}

/** The text is an array. */
export interface TimedFacts extends DamagedAmong {
  /** Absent on the last page. */
  readonly next?: TimedFactsRequest['after'];
}

export type PastKey = Ref;

export interface PastRunRows {
  readonly rows: readonly string[];
  readonly streams: readonly (readonly [stream: string, last: number])[];
}

export interface PastPageRequest {
  readonly kind: string;
  readonly site: string;
  /** Name of the last one of the page before; '' for the first page. */
  readonly after: string;
  readonly limit: number;
}

export interface PastTextsRequest {
  /** `kind/site/name`. */
  readonly runs: readonly string[];
  /** Longer texts are left out. */
  readonly lengthMax: number;
}

export interface SyslogRequest extends RecordFormat {
  /** Sequence of the last one that was sent. */
  readonly after: number;
  /** Of the records, about. */
  readonly bytesMax: number;
}

/** Records as messages of syslog, one after the other. */
export interface SyslogSlice {
  readonly text: string;
  /** Of the last one; `after` where there is none. */
  readonly last: number;
  /** Hexadecimal; '' where there is none. */
  readonly hash: string;
  /** The next ones up to here cannot be read. */
  readonly lost?: { readonly last: number; readonly why: string };
}

export type { AuditOfRequest } from './audit-search.js';

const BLOCK_REST_MS = 10;

export const AUDIT_CURSOR = 'audit';
export const FACT_CURSOR = 'fact';

export class StateReader {
  readonly #database: Database.Database;
  readonly #keys: DeviceKeys;
  readonly #dataDir: string;
  readonly #trail: AuditTrail;
  readonly materials: MaterialFacts;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(dataDir: string, keys: DeviceKeys) {
    this.#dataDir = dataDir;
    this.#keys = keys;
    this.#database = new Database(path.join(dataDir, 'state.db'), { readonly: true, timeout: 5000 });
    this.#database.pragma('cache_size = -8192');
    this.#trail = new AuditTrail(this.#database, archiveFolder(dataDir), pause);
    this.materials = new MaterialFacts(this.#database);
  }

  /** `{items, nextCursor}` as JSON text; `unreadable` names files of the archive that should have been looked into. */
  async auditPage({ order, limit, beyond, ...filter }: AuditPageRequest): Promise<string> {
    const { rows, next, unreadable } = await this.#trail.page(filter, { order, limit, beyond });
    return auditPageText(rows, next === undefined ? null : encodeCursor(AUDIT_CURSOR, next), unreadable);
  }

  /**
   * One record as JSON text; null when there is none that the filter admits.
   * @throws Refusal `missing` when it lies in a file that is not there.
   */
  async auditRecord(sequence: number, filter: AuditFilter): Promise<string | null> {
    const row = await named(this.#trail.row(sequence, filter), `AuditRecord ${auditName(sequence)} is archived in`, 'put it back to read the record');
    if (row && !isEntry(row.body)) throw damagedEntry(`AuditRecord ${auditName(sequence)}`);
    return row ? servedRow(row) : null;
  }

  /** Oldest first, all on one page. */
  async auditOf(request: AuditOfRequest): Promise<string> {
    const { rows, unreadable } = await this.#trail.of(request);
    return auditPageText(rows, null, [...unreadable]);
  }

  /**
   * Records after a sequence, one JSON text per line, with `mac` and `keyId` (decisions 8.6, archives and backup).
   * @throws Refusal `missing` when they lie in a file that is not there.
   */
  auditLines(after: number, limit: number, range: ExportRange): Promise<ExportedLines> {
    return named(this.#trail.lines(after, limit, range), `the records after ${auditName(after)} are archived in`, 'put it back, or ask for other times');
  }

  async syslogSlice({ after, bytesMax, ...format }: SyslogRequest): Promise<SyslogSlice> {
    const { rows, lost } = await this.#trail.next(after, bytesMax);
    const end = rows.at(-1);
    return { text: rows.map((row) => recordFrame(row, format)).join(''), last: end?.sequence ?? after, hash: hexOf(end?.hash), ...(lost ? { lost } : {}) };
  }

  /** Whether the ends of the trail that a file outside the box holds are of this trail. @throws as `node:fs` does. */
  async anchorsIn(file: string): Promise<AnchorsAgainst> {
    const text = await endOfAnchors(file);
    return judgedAnchors(text, { key: this.#keys.publicKey, end: this.newestAudit()?.sequence ?? 0, hashesOf: (sequences) => this.hashesOf(sequences), pause });
  }

  hashesOf(sequences: readonly number[]): ReadonlyMap<number, string> {
    const hash = this.#database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck();
    return new Map(sequences.flatMap((sequence) => hashed(sequence, hash.get(sequence))));
  }

  newestAudit(): ChainEnd | null {
    const row = this.#database.prepare('SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1').get() as { readonly sequence: number; readonly hash: Buffer } | undefined;
    return row ? { sequence: row.sequence, hash: hexOf(row.hash) } : null;
  }

  missingArchives(range: ExportRange): Promise<string[]> {
    return this.#trail.missingFiles(range);
  }

  newestAuditMs(): number | null {
    return this.#writer().newestMs();
  }

  archiveDue(limits: ArchiveLimits, nowMs: WallMs): ArchiveSpan | null {
    return this.#writer().due(limits, nowMs);
  }

  writeArchive(span: ArchiveSpan): Promise<ArchiveDraft> {
    return this.#writer().write(span);
  }

  /** `{items, nextCursor}` of an append-only stream as JSON text; `damaged` has the numbers of entries that cannot be read, whatever is asked for. */
  factPage(request: FactPageRequest): DamagedAmong {
    const down = request.order === 'desc';
    const texts = ['stream = ?'];
    const values: (string | number)[] = [request.stream];
    const add = (text: string, ...given: (string | number)[]): void => {
      texts.push(text);
      values.push(...given);
    };
    if (request.beyond !== undefined) add(`sequence ${down ? '<' : '>'} ?`, request.beyond);
    if (request.after !== undefined) add('sequence > ?', request.after);
    if (request.from !== undefined) add(whereReadable('body ->> ? >= ?'), memberPath(request.timeMember), request.from);
    if (request.to !== undefined) add(whereReadable('body ->> ? < ?'), memberPath(request.timeMember), request.to);
    for (const [member, value] of Object.entries(request.equals)) add(whereReadable(MEMBER_EQUALS), memberPath(member), value);
    const rows = this.#prepare(`SELECT sequence, body FROM facts WHERE ${texts.join(' AND ')} ORDER BY sequence ${down ? 'DESC' : 'ASC'} LIMIT ?`).all(
      ...values,
      request.limit + 1,
    ) as FactRow[];
    const page = rows.slice(0, request.limit);
    const last = page.at(-1);
    const { sound, damaged } = judged(page);
    const more = {
      ...(damaged.length > 0 ? { damaged } : {}),
      ...(request.judged ? { recorded: isStreamRecorded(this.#database, this.#keys, request.stream) } : {}),
    };
    return {
      text: pageText(
        sound.map(({ body }) => body),
        rows.length > page.length && last ? encodeCursor(FACT_CURSOR, last.sequence) : null,
        more,
      ),
      damaged,
    };
  }

  /** Reads only what lies between the times, by their index. */
  timedFacts({ stream, from, to, equals, limit, after }: TimedFactsRequest): TimedFacts {
    const { prefix, condition, time } = TIMED_STREAMS;
    assert(stream.startsWith(prefix), 'only streams with an index of their times are read by time');
    const filters = Object.entries(equals);
    const texts = ['stream = ?', condition, `(${time}, sequence) > (?, ?)`, `${time} < ?`, ...filters.map(() => whereReadable(MEMBER_EQUALS))];
    const rows = this.#prepare(`SELECT ${time} AS at, sequence, body FROM facts WHERE ${texts.join(' AND ')} ORDER BY ${time}, sequence LIMIT ?`).all(
      stream,
      after?.at ?? from,
      after?.sequence ?? -1,
      to,
      ...filters.flatMap(([member, value]) => [memberPath(member), value]),
      limit,
    ) as (FactRow & { at: string })[];
    const last = rows.length === limit ? rows.at(-1) : undefined;
    const { sound, damaged } = judged(rows);
    return { text: `[${sound.map(({ body }) => body).join(',')}]`, damaged, ...(last ? { next: { at: last.at, sequence: last.sequence } } : {}) };
  }

  /** Body of a past resource; null when there is none, or it is present. */
  pastRow({ kind, site, name }: PastKey): string | null {
    const body = this.#prepare("SELECT body FROM resources WHERE kind = ? AND site = ? AND name = ? AND past <> ''").pluck().get(kind, site, name) as string | undefined;
    return body ?? null;
  }

  /** What left with a run: kind, site, name and body of one row after the other, and its streams with their last numbers. */
  pastRun(run: string): PastRunRows {
    return {
      rows: (this.#prepare("SELECT kind, site, name, body FROM resources WHERE past = ? AND past <> '' ORDER BY rowid").raw().all(run) as string[][]).flat(),
      streams: this.#prepare("SELECT stream, last FROM streams WHERE past = ? AND past <> '' ORDER BY stream").raw().all(run) as [string, number][],
    };
  }

  /** Past resources of a kind and site in the order of their names: name and body of one row after the other. */
  pastPage({ kind, site, after, limit }: PastPageRequest): readonly string[] {
    const rows = this.#prepare("SELECT name, body FROM resources WHERE kind = ? AND site = ? AND name > ? AND past <> '' ORDER BY name LIMIT ?")
      .raw()
      .all(kind, site, after, limit);
    return (rows as string[][]).flat();
  }

  /** JSON of one `PastText` after the other, for each of the runs; a row that cannot be read is left out. */
  pastTexts({ runs, lengthMax }: PastTextsRequest): readonly (readonly string[])[] {
    const bodies = this.#prepare("SELECT body FROM resources WHERE past = ? AND past <> '' ORDER BY rowid").pluck();
    return runs.map((run) => (bodies.all(run) as unknown[]).flatMap((body) => pastTextOf(body, run.slice(run.lastIndexOf('/') + 1), lengthMax) ?? []));
  }

  verify(range: TimeRange): Promise<Verification> {
    return new ChainVerifier(this.#database, this.#keys, headFileOf(this.#dataDir)).verify(range, pause);
  }

  verifyArchives({ gently = false, ...range }: ArchiveCheck): Promise<ArchiveVerification> {
    return new ArchiveVerifier(this.#database, this.#keys, archiveFolder(this.#dataDir)).verify(range, gently ? restAfterBlock : pause);
  }

  verifyRows(): Promise<RowVerification> {
    return verifyRows(path.join(this.#dataDir, 'state.db'), this.#keys, pause);
  }

  isRowRecorded(ref: Ref): boolean {
    return isRowRecorded(this.#database, this.#keys, ref);
  }

  close(): void {
    this.#trail.close();
    this.#database.close();
  }

  #writer(): ArchiveWriter {
    return new ArchiveWriter(this.#database, archiveFolder(this.#dataDir), restAfterBlock);
  }

  #prepare(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

/** A file that cannot be read is told with what it is needed for, and what to do. */
function named<T>(work: Promise<T>, what: string, remedy: string): Promise<T> {
  return work.catch((fault: unknown) => {
    if (!(fault instanceof UnreadableArchive)) throw fault;
    throw new Refusal('missing', `${what} ${fault.file}, which is not in the archive folder or cannot be read; ${remedy}`, { code: 'archive_unreadable', file: fault.file });
  });
}

function memberPath(member: string): string {
  return `$.${member
    .split('.')
    .map((part) => JSON.stringify(part))
    .join('.')}`;
}

/** Members that a page has beside its items; each only where it says something. */
interface PageMore {
  /** Files of the archive that should have been looked into. */
  readonly unreadable?: readonly string[];
  /** Names of audit records, or numbers of entries of a stream. */
  readonly damaged?: readonly (string | number)[];
  readonly recorded?: boolean;
}

function pageText(items: readonly string[], nextCursor: string | null, more: PageMore): string {
  return `{"items":[${items.join(',')}],${JSON.stringify({ nextCursor, ...more }).slice(1)}`;
}

function auditPageText(rows: readonly AuditRow[], nextCursor: string | null, unreadable: readonly string[] = []): string {
  const { sound, damaged } = judged(rows);
  return pageText(sound.map(servedRow), nextCursor, { ...(unreadable.length > 0 ? { unreadable } : {}), ...(damaged.length > 0 ? { damaged: damaged.map(auditName) } : {}) });
}

interface FactRow {
  readonly sequence: number;
  readonly body: string;
}

const MEMBER_EQUALS = 'CAST(body ->> ? AS TEXT) = ?';

/** What an entry that cannot be read would have said nobody knows: no condition keeps it out. */
function whereReadable(condition: string): string {
  return `CASE WHEN typeof(body) = 'text' AND json_valid(body) THEN ${condition} ELSE TRUE END`;
}

/** One that is damaged on the disk must not take the others with it. */
function judged<Row extends { readonly sequence: number; readonly body: string }>(rows: readonly Row[]): { readonly sound: readonly Row[]; readonly damaged: readonly number[] } {
  const sound = rows.filter(({ body }) => isEntry(body));
  if (sound.length === rows.length) return { sound, damaged: [] };
  const known = new Set(sound);
  return { sound, damaged: rows.filter((row) => !known.has(row)).map(({ sequence }) => sequence) };
}

/** Whether it is what was written there in its form; what it says is judged by its seal. */
function isEntry(body: unknown): boolean {
  if (typeof body !== 'string') return false;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Of one thing that is asked for by its name. */
function damagedEntry(what: string): Refusal {
  const message = `${what} is damaged in state.db and cannot be read; keep a copy of the data directory, a backup from before the damage has it`;
  return new Refusal('unavailable', message, { code: 'storage_damaged', file: 'state.db' });
}

function servedRow({ body, hash }: AuditRow): string {
  return servedAudit(body, hash);
}

/** Other queries are answered first. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A block takes some ten milliseconds of a core, its rest as long: archiving and checking by themselves are in no hurry. */
function restAfterBlock(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, BLOCK_REST_MS));
}

function hashed(sequence: number, hash: unknown): (readonly [sequence: number, hash: string])[] {
  return hash === undefined ? [] : [[sequence, hexOf(hash)]];
}
