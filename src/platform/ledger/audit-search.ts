/**
 * Finds audit records by way of the index (audit-index.ts), newest or oldest first. The index only says where to look:
 * every condition is asked of the records themselves, so the answer is that of a walk over all of them.
 */
import type Database from '../base/sqlite.js';
import { type AuditFilter, auditCondition, type Condition } from './audit-filter.js';

export interface AuditRow {
  readonly sequence: number;
  readonly body: string;
  readonly hash: Buffer;
}

/** Which audit records belong to a thing: those that name a target, and those of a correlation. */
export interface AuditOfRequest {
  readonly site: string;
  readonly targets: readonly { readonly kind: string; readonly name: string }[];
  readonly correlationIDs: readonly string[];
  readonly limit: number;
}

export interface AuditWalk {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Sequence of the last record that was seen already. */
  readonly beyond?: number | undefined;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Records after it are in no span yet. */
const INDEXED_TO = '(SELECT COALESCE(MAX(last), 0) FROM audit_spans)';

export class AuditSearch {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  rows(filter: AuditFilter, walk: AuditWalk): AuditRow[] {
    const condition = auditCondition(filter);
    if (filter.correlationID !== undefined) return this.#looked('audit_correlations', ['correlation'], [filter.correlationID], condition, walk);
    if (filter.kind !== undefined && filter.name !== undefined) return this.#looked('audit_targets', ['kind', 'name'], [filter.kind, filter.name], condition, walk);
    return this.#walked(this.#ranges(filter), condition, walk);
  }

  row(sequence: number, filter: AuditFilter): AuditRow | undefined {
    const { text, values } = auditCondition(filter);
    return this.#prepare(`SELECT sequence, body, hash FROM audit WHERE ${text} AND sequence = ?`).get(...values, sequence) as AuditRow | undefined;
  }

  /** Oldest first. */
  of({ site, targets, correlationIDs, limit }: AuditOfRequest): AuditRow[] {
    return this.#prepare(
      `SELECT sequence, body, hash FROM audit WHERE sequence IN (
         SELECT i.sequence FROM json_each(@targets) t JOIN audit_targets i ON i.kind = t.value ->> 'kind' AND i.name = t.value ->> 'name'
         UNION SELECT i.sequence FROM json_each(@correlations) c JOIN audit_correlations i ON i.correlation = c.value
         UNION SELECT sequence FROM audit WHERE sequence > ${INDEXED_TO} AND (
           (kind, name) IN (SELECT value ->> 'kind', value ->> 'name' FROM json_each(@targets)) OR correlation IN (SELECT value FROM json_each(@correlations))))
       AND site = @site ORDER BY sequence LIMIT @limit`,
    ).all({ targets: JSON.stringify(targets), correlations: JSON.stringify(correlationIDs), site, limit }) as AuditRow[];
  }

  /** The records that an index table names, and those after its end. */
  #looked(table: string, columns: readonly string[], key: readonly string[], { text, values }: Condition, { order, limit, beyond }: AuditWalk): AuditRow[] {
    const equal = columns.map((column) => `${column} = ?`).join(' AND ');
    return this.#prepare(
      `SELECT sequence, body, hash FROM audit WHERE sequence IN (
         SELECT sequence FROM ${table} WHERE ${equal} UNION ALL SELECT sequence FROM audit WHERE sequence > ${INDEXED_TO} AND ${equal})
       AND ${text} AND sequence BETWEEN ? AND ? ORDER BY sequence ${order} LIMIT ?`,
    ).all(...key, ...key, ...values, ...bounds({ first: 1, last: Number.MAX_SAFE_INTEGER }, order, beyond), limit) as AuditRow[];
  }

  #walked(ranges: readonly Range[], { text, values }: Condition, { order, limit, beyond }: AuditWalk): AuditRow[] {
    const found: AuditRow[] = [];
    const statement = this.#prepare(`SELECT sequence, body, hash FROM audit WHERE ${text} AND sequence BETWEEN ? AND ? ORDER BY sequence ${order} LIMIT ?`);
    for (const range of order === 'desc' ? ranges.toReversed() : ranges) {
      if (found.length >= limit) break;
      const [first, last] = bounds(range, order, beyond);
      if (first <= last) found.push(...(statement.all(...values, first, last, limit - found.length) as AuditRow[]));
    }
    return found;
  }

  /** Where records of these times and sites can be, oldest first; neighbours are one range. */
  #ranges({ fromMs, toMs, site, sites }: AuditFilter): Range[] {
    const end = this.#prepare(`SELECT ${INDEXED_TO}`).pluck().get() as number;
    const wanted = site === undefined ? sites : [site];
    const spans = this.#prepare(
      `SELECT first, last FROM audit_spans s WHERE last <= @end AND to_at >= @from AND from_at < @to
       AND (@sites IS NULL OR EXISTS (SELECT 1 FROM json_each(@sites) w JOIN audit_sites i ON i.site = w.value AND i.last = s.last)) ORDER BY last`,
    ).all({ end, from: fromMs ?? Number.MIN_SAFE_INTEGER, to: toMs ?? Number.MAX_SAFE_INTEGER, sites: wanted ? JSON.stringify(wanted) : null }) as Range[];
    return merged([...spans, { first: end + 1, last: Number.MAX_SAFE_INTEGER }]);
  }

  #prepare(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

function bounds({ first, last }: Range, order: 'asc' | 'desc', beyond: number | undefined): [number, number] {
  if (beyond === undefined) return [first, last];
  return order === 'desc' ? [first, Math.min(last, beyond - 1)] : [Math.max(first, beyond + 1), last];
}

function merged(ranges: readonly Range[]): Range[] {
  const whole: { first: number; last: number }[] = [];
  for (const { first, last } of ranges) {
    const before = whole.at(-1);
    if (before?.last === first - 1) before.last = last;
    else whole.push({ first, last });
  }
  return whole;
}
