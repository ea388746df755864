/**
 * The query thread as the gateway thread holds it. A `...Json` call answers with bytes ready to be sent, the same call
 * without it with objects.
 */
import type { WallMs } from '../base/times.js';
import { decodeCursor } from '../base/cursor.js';
import { damageOf } from '../base/storage-damage.js';
import { WorkerCalls } from '../base/worker-calls.js';
import type { AuditRecord } from '../store/audit-record.js';
import type { ChainEnd } from './head-file.js';
import type { AnchorsAgainst } from './anchors-check.js';
import type { ArchiveDraft } from './archive-format.js';
import type { ArchiveLimits, ArchiveSpan } from './archive-writer.js';
import type { AuditFilter } from './audit-filter.js';
import type { ExportRange } from './audit-trail.js';
import type { MaterialFact, MaterialRequest, MaterialSum, MaterialSumsRequest } from './material-facts.js';
import {
  AUDIT_CURSOR,
  type AuditOfRequest,
  type AuditPageRequest,
  FACT_CURSOR,
  type FactPageRequest,
  type PastKey,
  type PastPageRequest,
  type PastRunRows,
  type PastTextsRequest,
  type SyslogRequest,
  type SyslogSlice,
  type TimedFacts,
  type TimedFactsRequest,
} from './state-reader.js';
import type { ArchiveCheck, ArchiveVerification, TimeRange } from './verify-archives.js';
import type { Verification } from './verify-chain.js';
import type { RowVerification } from './verify-rows.js';

const ANSWER_MAX_MS = 120_000;
/** What reads everything there is: a million records a minute or two. */
const WHOLE_MAX_MS = 3_600_000;
const WHOLE: readonly string[] = ['verify', 'verifyArchives', 'verifyRows', 'writeArchive'];
const LIMIT_DEFAULT = 100; // decisions Q-ERR-15
const LINES_PER_CHUNK = 2000;
/** Some 600 kB, which the gateway parses in a few milliseconds. */
const FACTS_PER_CHUNK = 2000;
/** Whoever has read of so many damaged entries needs no more of them. */
const TOLD_MAX = 1000;

export interface Paging {
  readonly order?: 'asc' | 'desc';
  readonly limit?: number;
  /** Opaque; from an earlier page of the same list. */
  readonly cursor?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  /** Files of the audit archive that hold what may belong to the page and could not be read; absent when there are none. */
  readonly unreadable?: readonly string[];
  /** What would stand on the page and is damaged on the disk: names of audit records, numbers of entries of a stream; absent when nothing is. */
  readonly damaged?: readonly (string | number)[];
}

/** Met by a query: a part of the file, or one entry of a stream. */
export interface Damage {
  readonly fault: string;
  readonly stream?: string;
}

export type AuditQuery = AuditFilter & Paging;

export interface FactQuery extends Paging {
  /** Wall ms: from inclusive, to exclusive. */
  readonly fromMs?: WallMs;
  readonly toMs?: WallMs;
  /** Member of the body that `fromMs` and `toMs` bound; `timestamp` when absent. */
  readonly timeMember?: string;
  readonly equals?: Readonly<Record<string, string>>;
  /** Only what has a larger number. */
  readonly after?: number | undefined;
  /** The page gets a member `recorded`: whether the whole stream is what was recorded. */
  readonly judged?: boolean;
}

export interface TimedFactQuery {
  /** Wall ms: from inclusive, to exclusive. */
  readonly fromMs: WallMs;
  readonly toMs: WallMs;
  readonly equals?: Readonly<Record<string, string>>;
}

export type SyslogBytes = Omit<SyslogSlice, 'text'> & { readonly bytes: Uint8Array };

export interface LedgerQueries {
  /** @throws Refusal `invalid_query` for a cursor that no list handed out; so do all paged calls. */
  auditPageJson(query: AuditQuery): Promise<Uint8Array>;
  auditPage(query: AuditQuery): Promise<Page<AuditRecord>>;
  /** Undefined when there is no such record, or the filter does not admit it. */
  auditRecord(sequence: number, filter: AuditFilter): Promise<AuditRecord | undefined>;
  /** Oldest first, at most `limit` (100000 when absent). */
  auditOf(request: Omit<AuditOfRequest, 'limit'> & { readonly limit?: number }): Promise<Page<AuditRecord>>;
  /** The last record in the table; null when all are archived, or there is none. */
  newestAudit(): Promise<ChainEnd | null>;
  /** Hash (hex) of those of the sequences that are in the table: of the others the files of the archive tell. */
  hashesOf(sequences: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Records after a sequence as messages of syslog. */
  syslogSlice(request: SyslogRequest): Promise<SyslogBytes>;
  /** What a file outside the box says against this trail. @throws Error when it cannot be read. */
  anchorsIn(file: string): Promise<AnchorsAgainst>;
  verify(range?: TimeRange): Promise<Verification>;
  /** The files of the archive: those that can hold records of these times, all without. */
  verifyArchives(check?: ArchiveCheck): Promise<ArchiveVerification>;
  /** Everything beside the audit trail: whether it is what the ledger wrote. */
  verifyRows(): Promise<RowVerification>;
  /**
   * The whole trail, or what follows `after` and lies within the range, in chunks of NDJSON with `mac` and `keyId`; a chunk is
   * read when it is asked for.
   *
   * @throws Refusal `archive_unreadable` when a file is not there or cannot be read.
   */
  auditLines(after?: number, range?: ExportRange): AsyncIterable<Uint8Array>;
  /** Files that `auditLines` would need and that are not there. */
  missingArchives(range: ExportRange): Promise<readonly string[]>;
  /** What should go into the next file of the archive; null when nothing should. */
  archiveDue(limits: ArchiveLimits, nowMs: WallMs): Promise<ArchiveSpan | null>;
  /** Time of the last audit record in the table; null when there is none. */
  newestAuditMs(): Promise<number | null>;
  /**
   * Writes the file and reads it back; the ledger is told of it next (`ThreadLedger.archived`).
   * @throws Error when the disk refuses it; then nothing of it is left.
   */
  writeArchive(span: ArchiveSpan): Promise<ArchiveDraft>;
  factPageJson(stream: string, query?: FactQuery): Promise<Uint8Array>;
  factPage<Body = unknown>(stream: string, query?: FactQuery): Promise<Page<Body>>;
  /** Every entry of a stream that can be read, oldest first. `damaged` is called with the numbers of the others. */
  facts<Body = unknown>(stream: string, after?: number, damaged?: (entries: readonly number[]) => void): Promise<readonly Body[]>;
  /** What lies between two times of a stream that has an index of its times, in the order of the times, in chunks. */
  timedFacts<Body = unknown>(stream: string, query: TimedFactQuery): AsyncIterable<readonly Body[]>;
  /** Without waiting for what is on its way to the disk, as the next one: `upTo` is there. What was consumed or produced, by lots or by streams: as many as are wanted, name by name. */
  materialFacts(request: MaterialRequest): Promise<readonly MaterialFact[]>;
  /** How much of it, by names and by what was recorded as material. */
  materialSums(request: MaterialSumsRequest): Promise<readonly MaterialSum[]>;
  /** Of the fact that was written last: what is asked for up to it is of one moment, page after page. 0 where there is none. */
  lastFactRow(): Promise<number>;
  /** Body of a past resource; null when there is none, or it is present. */
  pastRow(key: PastKey): Promise<string | null>;
  /** All that left the memory with a run. */
  pastRun(run: string): Promise<PastRunRows>;
  /** Name and body of past resources of a kind and site, in the order of names. */
  pastPage(request: PastPageRequest): Promise<readonly string[]>;
  /** What a search looks at of all that left with these runs: JSON of one `PastText` after the other, for each of them. */
  pastTexts(request: PastTextsRequest): Promise<readonly (readonly string[])[]>;
  /** Whether the row of a resource is the one that the ledger wrote. */
  isRowRecorded(ref: PastKey): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * The ledger of the same data directory has to be open: it makes and migrates the database. `recorded` settles when all
 * that was written before is on disk: every answer waits for it, so that a log never lags behind the state it explains.
 */
export function openQueries(
  dataDir: string,
  recorded: () => Promise<void> = () => Promise.resolve(),
  died?: (name: string, fault: string) => void,
  damaged?: (damage: Damage) => void,
): LedgerQueries {
  return new ThreadQueries(dataDir, recorded, died, damaged);
}

class ThreadQueries implements LedgerQueries {
  readonly #calls: WorkerCalls;
  readonly #recorded: () => Promise<void>;
  readonly #damaged: (damage: Damage) => void;
  /** Entries of streams that were told of. */
  readonly #told = new Set<string>();

  /** `damaged`: told when a part of the file cannot be read, and once of each entry of a stream. */
  constructor(dataDir: string, recorded: () => Promise<void>, died?: (name: string, fault: string) => void, damaged: (damage: Damage) => void = () => undefined) {
    this.#recorded = recorded;
    this.#damaged = damaged;
    this.#calls = new WorkerCalls({ url: new URL('./query-thread.js', import.meta.url), name: 'query', data: { dataDir } }, undefined, { withinMs: ANSWER_MAX_MS, died });
  }

  async auditPageJson({ cursor, order = 'desc', limit = LIMIT_DEFAULT, ...filter }: AuditQuery): Promise<Uint8Array> {
    const beyond = cursor === undefined ? undefined : decodeCursor(AUDIT_CURSOR, cursor, 1)[0];
    return this.#call('auditPage', { ...filter, order, limit, beyond } satisfies AuditPageRequest);
  }

  async auditPage(query: AuditQuery): Promise<Page<AuditRecord>> {
    return parsed(await this.auditPageJson(query));
  }

  async auditRecord(sequence: number, filter: AuditFilter): Promise<AuditRecord | undefined> {
    const text = await this.#call<string | null>('auditRecord', { sequence, filter });
    return text === null ? undefined : (JSON.parse(text) as AuditRecord);
  }

  async auditOf({ limit = 100_000, ...request }: Omit<AuditOfRequest, 'limit'> & { readonly limit?: number }): Promise<Page<AuditRecord>> {
    return parsed(await this.#call<Uint8Array>('auditOf', { ...request, limit }));
  }

  newestAudit(): Promise<ChainEnd | null> {
    return this.#call('newestAudit', {});
  }

  hashesOf(sequences: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.#call('hashesOf', { sequences });
  }

  syslogSlice(request: SyslogRequest): Promise<SyslogBytes> {
    return this.#call('syslogSlice', request);
  }

  anchorsIn(file: string): Promise<AnchorsAgainst> {
    return this.#call('anchorsIn', { file });
  }

  verify(range: TimeRange = {}): Promise<Verification> {
    return this.#call('verify', range);
  }

  verifyArchives(check: ArchiveCheck = {}): Promise<ArchiveVerification> {
    return this.#call('verifyArchives', check);
  }

  verifyRows(): Promise<RowVerification> {
    return this.#call('verifyRows', {});
  }

  missingArchives(range: ExportRange): Promise<readonly string[]> {
    return this.#call('missingArchives', range);
  }

  async *auditLines(after = 0, range: ExportRange = {}): AsyncIterable<Uint8Array> {
    for (let from = after; ; ) {
      const { bytes, last, more } = await this.#call<{ bytes: Uint8Array; last: number; more: boolean }>('auditLines', { after: from, limit: LINES_PER_CHUNK, range });
      if (bytes.length > 0) yield bytes;
      if (!more) return;
      from = last;
    }
  }

  newestAuditMs(): Promise<number | null> {
    return this.#call('newestAuditMs', {});
  }

  archiveDue(limits: ArchiveLimits, nowMs: WallMs): Promise<ArchiveSpan | null> {
    return this.#call('archiveDue', { limits, nowMs });
  }

  writeArchive(span: ArchiveSpan): Promise<ArchiveDraft> {
    return this.#call('writeArchive', span);
  }

  async factPageJson(
    stream: string,
    { cursor, order = 'desc', limit = LIMIT_DEFAULT, timeMember = 'timestamp', equals = {}, judged = false, after, fromMs, toMs }: FactQuery = {},
  ): Promise<Uint8Array> {
    const beyond = cursor === undefined ? undefined : decodeCursor(FACT_CURSOR, cursor, 1)[0];
    const request = { stream, order, limit, timeMember, equals, judged, beyond, after, from: utc(fromMs), to: utc(toMs) } satisfies FactPageRequest;
    const { bytes, damaged } = await this.#call<{ bytes: Uint8Array; damaged: readonly number[] }>('factPage', request);
    this.#tell(stream, damaged);
    return bytes;
  }

  async factPage<Body>(stream: string, query: FactQuery = {}): Promise<Page<Body>> {
    return parsed(await this.factPageJson(stream, query));
  }

  async facts<Body>(stream: string, after?: number, damaged: (entries: readonly number[]) => void = () => undefined): Promise<readonly Body[]> {
    const all: Body[] = [];
    let cursor: string | undefined;
    do {
      const page: Page<Body> = await this.factPage(stream, { order: 'asc', limit: 5000, cursor, after });
      all.push(...page.items);
      if (page.damaged) damaged(page.damaged.map(Number));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return all;
  }

  async *timedFacts<Body>(stream: string, { fromMs, toMs, equals = {} }: TimedFactQuery): AsyncIterable<readonly Body[]> {
    const request = { stream, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), equals, limit: FACTS_PER_CHUNK };
    let after: TimedFactsRequest['after'];
    do {
      const asked = { ...request, after } satisfies TimedFactsRequest;
      const { bytes, next, damaged } = await this.#call<Omit<TimedFacts, 'text'> & { bytes: Uint8Array }>('timedFacts', asked);
      this.#tell(stream, damaged);
      yield parsed<readonly Body[]>(bytes);
      after = next;
    } while (after);
  }

  async materialFacts(request: MaterialRequest): Promise<readonly MaterialFact[]> {
    return parsed(await this.#read<Uint8Array>('materialFacts', request));
  }

  materialSums(request: MaterialSumsRequest): Promise<readonly MaterialSum[]> {
    return this.#read('materialSums', request);
  }

  lastFactRow(): Promise<number> {
    return this.#call('lastFactRow', {});
  }

  pastRow(key: PastKey): Promise<string | null> {
    return this.#read('pastRow', key);
  }

  pastRun(run: string): Promise<PastRunRows> {
    return this.#read('pastRun', { run });
  }

  pastPage(request: PastPageRequest): Promise<readonly string[]> {
    return this.#read('pastPage', request);
  }

  pastTexts(request: PastTextsRequest): Promise<readonly (readonly string[])[]> {
    return this.#read('pastTexts', request);
  }

  isRowRecorded(ref: PastKey): Promise<boolean> {
    return this.#call('isRowRecorded', ref);
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  #tell(stream: string, damaged: readonly number[]): void {
    for (const entry of damaged) {
      const key = `${stream} ${entry}`;
      if (this.#told.has(key) || this.#told.size >= TOLD_MAX) continue;
      this.#told.add(key);
      this.#damaged({ stream, fault: `entry ${entry} is damaged and cannot be read; the others are` });
    }
  }

  async #call<Result>(name: string, request: unknown): Promise<Result> {
    await this.#recorded().catch(() => undefined); // a full disk keeps nothing from being read
    return this.#read(name, request);
  }

  /** Without waiting for what is on its way to the disk: of what is past nothing is. */
  #read<Result>(name: string, request: unknown): Promise<Result> {
    return this.#calls.call<Result>(name, request, WHOLE.includes(name) ? WHOLE_MAX_MS : ANSWER_MAX_MS).catch((fault: unknown) => {
      const damage = damageOf(fault, 'state.db');
      if (!damage) throw fault;
      this.#damaged({ fault: (fault as Error).message });
      throw damage;
    });
  }
}

/** In the form in which bodies hold times, so that text compares as time does. */
function utc(atMs: WallMs | undefined): string | undefined {
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

function parsed<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}
