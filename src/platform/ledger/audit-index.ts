/**
 * What finds audit records without a walk over all of them. It is kept span by span, inside the commit that fills a span:
 * sorted rows by the hundreds touch each page once, where an entry per record touched a page of every index with every
 * commit and cost more than the record itself. The records after the last span are few and are looked through.
 *
 * For each span: the bounds of its times and the sites it names; for each record in it: its target and its correlation.
 */
import type Database from '../base/sqlite.js';

const SPAN_RECORDS = 512;

export class AuditIndex {
  readonly #sql: ReturnType<typeof prepareAll>;
  /** Last record in a span. */
  #end = 0;

  constructor(database: Database.Database) {
    this.#sql = prepareAll(database);
    this.reload();
  }

  /** Last record that it covers. */
  get end(): number {
    return this.#end;
  }

  /** After a transaction that was not committed. What was once covered and is not any more is missed, not covered anew. */
  reload(once = 0): void {
    this.#end = Math.max(this.#sql.end.get() as number, once);
  }

  /** Adds the records up to `sequence` when they fill a span. Inside the transaction that writes them. */
  extend(sequence: number): void {
    if (sequence - this.#end < SPAN_RECORDS) return;
    if (this.#sql.isThere.get(sequence) === undefined) return; // the trail goes on after a hole, and nothing was written behind it yet
    for (const add of this.#sql.add) add.run({ after: this.#end, last: sequence });
    this.#end = sequence;
  }
}

function prepareAll(database: Database.Database) {
  return {
    end: database.prepare('SELECT COALESCE(MAX(last), 0) FROM audit_spans').pluck(),
    isThere: database.prepare('SELECT 1 FROM audit WHERE sequence = ?').pluck(),
    add: [
      'INSERT INTO audit_spans (last, first, from_at, to_at) SELECT MAX(sequence), MIN(sequence), MIN(at), MAX(at) FROM audit WHERE sequence > @after AND sequence <= @last',
      'INSERT INTO audit_sites (site, last) SELECT DISTINCT site, @last FROM audit WHERE sequence > @after AND sequence <= @last',
      'INSERT INTO audit_targets (kind, name, sequence) SELECT kind, name, sequence FROM audit WHERE sequence > @after AND sequence <= @last ORDER BY kind, name, sequence',
      'INSERT INTO audit_correlations (correlation, sequence) SELECT correlation, sequence FROM audit WHERE sequence > @after AND sequence <= @last ORDER BY correlation, sequence',
    ].map((text) => database.prepare(text)),
  };
}
