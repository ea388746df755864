/**
 * Reads of `state.db` on the query thread, over a read-only connection: audit lists and exports, facts. Audit records are
 * served as the bytes that were hashed, so nothing is parsed on the way out.
 */
import path from 'node:path';
import { assert } from '../base/assert.js';
import Database from '../base/sqlite.js';
import { encodeCursor } from '../base/cursor.js';
import type { AuditFilter } from './audit-filter.js';
import { type AuditOfRequest, type AuditRow, AuditSearch } from './audit-search.js';
import { servedAudit } from './chain.js';
import { headFileOf } from './head-file.js';
import type { DeviceKeys } from './keys.js';
import { TIMED_STREAMS } from './schema.js';
import { ChainVerifier, type Verification } from './verify-chain.js';

export interface AuditPageRequest extends AuditFilter {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Sequence of the last record of the page before. */
  readonly beyond?: number;
}

export interface FactPageRequest {
  readonly stream: string;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly beyond?: number;
  /** Bounds on a member of the body that holds a timestamp: from inclusive, to exclusive, RFC 3339 in UTC. */
  readonly from?: string;
  readonly to?: string;
  readonly timeMember: string;
  /** Members of the body that must equal these texts. */
  readonly equals: Readonly<Record<string, string>>;
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
  readonly after?: { readonly at: string; readonly sequence: number };
}

export interface TimedFacts {
  /** A JSON array. */
  readonly text: string;
  /** Absent on the last page. */
  readonly next?: TimedFactsRequest['after'];
}

export type { AuditOfRequest } from './audit-search.js';

export const AUDIT_CURSOR = 'audit';
export const FACT_CURSOR = 'fact';

export class StateReader {
  readonly #database: Database.Database;
  readonly #keys: DeviceKeys;
  readonly #dataDir: string;
  readonly #search: AuditSearch;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(dataDir: string, keys: DeviceKeys) {
    this.#dataDir = dataDir;
    this.#keys = keys;
    this.#database = new Database(path.join(dataDir, 'state.db'), { readonly: true, timeout: 5000 });
    this.#database.pragma('cache_size = -8192');
    this.#search = new AuditSearch(this.#database);
  }

  /** `{items, nextCursor}` as JSON text. */
  auditPage({ order, limit, beyond, ...filter }: AuditPageRequest): string {
    const rows = this.#search.rows(filter, { order, limit: limit + 1, beyond });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return pageText(
      page.map((row) => servedAudit(row.body, row.hash)),
      rows.length > page.length && last ? encodeCursor(AUDIT_CURSOR, last.sequence) : null,
    );
  }

  /** One record as JSON text; null when there is none that the filter admits. */
  auditRecord(sequence: number, filter: AuditFilter): string | null {
    const row = this.#search.row(sequence, filter);
    return row ? servedAudit(row.body, row.hash) : null;
  }

  /** Oldest first, as a JSON array. */
  auditOf(request: AuditOfRequest): string {
    const rows = this.#search.of(request);
    return `[${rows.map((row) => servedAudit(row.body, row.hash)).join(',')}]`;
  }

  /** Records after a sequence, one JSON text per line, with `mac` and `keyId` (decisions 8.6, archives and backup). */
  auditLines(after: number, limit: number): { readonly text: string; readonly last: number; readonly count: number } {
    const rows = this.#prepare('SELECT sequence, body, hash, mac, key_id FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?').all(after, limit) as (AuditRow & {
      readonly mac: Buffer;
      readonly key_id: string;
    })[];
    const lines = rows.map((row) => `${servedAudit(row.body, row.hash).slice(0, -1)},"mac":"${row.mac.toString('base64')}","keyId":${JSON.stringify(row.key_id)}}\n`);
    return { text: lines.join(''), last: rows.at(-1)?.sequence ?? after, count: rows.length };
  }

  /** `{items, nextCursor}` of an append-only stream as JSON text. */
  factPage(request: FactPageRequest): string {
    const down = request.order === 'desc';
    const texts = ['stream = ?'];
    const values: (string | number)[] = [request.stream];
    const add = (text: string, ...given: (string | number)[]): void => {
      texts.push(text);
      values.push(...given);
    };
    if (request.beyond !== undefined) add(`sequence ${down ? '<' : '>'} ?`, request.beyond);
    if (request.from !== undefined) add('body ->> ? >= ?', memberPath(request.timeMember), request.from);
    if (request.to !== undefined) add('body ->> ? < ?', memberPath(request.timeMember), request.to);
    for (const [member, value] of Object.entries(request.equals)) add('CAST(body ->> ? AS TEXT) = ?', memberPath(member), value);
    const rows = this.#prepare(`SELECT sequence, body FROM facts WHERE ${texts.join(' AND ')} ORDER BY sequence ${down ? 'DESC' : 'ASC'} LIMIT ?`).all(
      ...values,
      request.limit + 1,
    ) as { sequence: number; body: string }[];
    const page = rows.slice(0, request.limit);
    const last = page.at(-1);
    return pageText(
      page.map((row) => row.body),
      rows.length > page.length && last ? encodeCursor(FACT_CURSOR, last.sequence) : null,
    );
  }

  /** Reads only what lies between the times, by their index. */
  timedFacts({ stream, from, to, equals, limit, after }: TimedFactsRequest): TimedFacts {
    const { prefix, condition, time } = TIMED_STREAMS;
    assert(stream.startsWith(prefix), 'only streams with an index of their times are read by time');
    const filters = Object.entries(equals);
    const texts = ['stream = ?', condition, `(${time}, sequence) > (?, ?)`, `${time} < ?`, ...filters.map(() => 'CAST(body ->> ? AS TEXT) = ?')];
    const rows = this.#prepare(`SELECT ${time} AS at, sequence, body FROM facts WHERE ${texts.join(' AND ')} ORDER BY ${time}, sequence LIMIT ?`).all(
      stream,
      after?.at ?? from,
      after?.sequence ?? -1,
      to,
      ...filters.flatMap(([member, value]) => [memberPath(member), value]),
      limit,
    ) as { at: string; sequence: number; body: string }[];
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return { text: `[${rows.map((row) => row.body).join(',')}]`, ...(last ? { next: { at: last.at, sequence: last.sequence } } : {}) };
  }

  verify(range: { readonly fromMs?: number; readonly toMs?: number }): Promise<Verification> {
    const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    return new ChainVerifier(this.#database, this.#keys, headFileOf(this.#dataDir)).verify(range, pause);
  }

  close(): void {
    this.#database.close();
  }

  #prepare(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

function memberPath(member: string): string {
  return `$.${member
    .split('.')
    .map((part) => JSON.stringify(part))
    .join('.')}`;
}

function pageText(items: readonly string[], nextCursor: string | null): string {
  return `{"items":[${items.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}
