/** A row of the audit table: the sealed record, and what finds it. */

export interface SealedRow {
  readonly sequence: number;
  /** Canonical JSON of the record without `hash`. */
  readonly body: string;
  readonly hash: Buffer;
  readonly mac: Buffer;
  readonly key_id: string;
}

/** What finds a record. */
export interface RecordColumns {
  /** Wall ms. */
  readonly at: number;
  readonly site: string;
  readonly action: string;
  readonly category: string;
  readonly result: string;
  readonly kind: string;
  readonly name: string;
  readonly account: string;
  readonly correlation: string;
}

export type AuditTableRow = SealedRow & RecordColumns;
