/**
 * The messages between the gateway thread and the ledger thread. The transactions of a message travel as one flat list of
 * texts and numbers: what the structured clone costs is the objects, not the bytes, so there are none. Bodies are JSON
 * text, which the ledger stores as it is.
 */
import type { WallMs } from '../base/times.js';
import type { ArchiveDraft } from './archive-format.js';
import type { RecordColumns } from './audit-row.js';
import { auditText } from './audit-text.js';
import type { Gap, GapAcknowledgement } from './gaps.js';
import type { LedgerTransaction, PastRun } from './protocol.js';
import type { WrittenAhead } from './written-ahead.js';
import type { UnchainedAudit } from '../store/audit-record.js';
import type { PastSlice } from '../store/past-index.js';
import type { Resource, RowFault } from '../store/resource.js';

export type WireField = string | number;

/** An audit record as the ledger stores it: what finds it, and its canonical text around previousHash. */
export interface WireAudit extends RecordColumns {
  readonly sequence: number;
  readonly head: string;
  readonly tail: string;
}

export interface WireTransaction {
  readonly puts: readonly { readonly kind: string; readonly site: string; readonly name: string; readonly version: number; readonly body: string }[];
  readonly removes: LedgerTransaction['removes'];
  readonly audits: readonly WireAudit[];
  readonly facts: readonly { readonly stream: string; readonly sequence: number; readonly body: string }[];
  readonly nonces: LedgerTransaction['nonces'];
  readonly pasts: readonly PastRun[];
  readonly returns: readonly string[];
}

export type ToLedger =
  /** Transactions in the order of the calls. */
  | { readonly type: 'commit'; readonly count: number; readonly fields: readonly WireField[] }
  /** What stands before the fields of the next `commit`, where they are too many for one message. */
  | { readonly type: 'part'; readonly fields: readonly WireField[] }
  | { readonly type: 'load'; readonly id: number; readonly nonceWindowMs: number }
  /** The next entries of the past behind a place; none at their end, or 'again' where all is to be loaded anew. */
  | { readonly type: 'load-past'; readonly id: number; readonly after: PastPlace }
  | { readonly type: 'probe'; readonly id: number }
  /** A file of archived audit records is on disk and was read back: its rows may go. */
  | { readonly type: 'archived'; readonly id: number; readonly draft: ArchiveDraft }
  | { readonly type: 'acknowledge'; readonly id: number; readonly ids: readonly string[]; readonly by: GapAcknowledgement }
  | { readonly type: 'close'; readonly id: number };

export type FromLedger =
  | { readonly type: 'ready'; readonly gaps: readonly Gap[]; readonly fresh: readonly string[] }
  /** The next `count` transactions are settled; those named in `refused`, from 0, are not on disk and never will be. */
  | { readonly type: 'settled'; readonly count: number; readonly refused: readonly (readonly [number, string])[] }
  /** Why the WAL is not copied into the database; null when it is again. */
  | { readonly type: 'checkpoints'; readonly trouble: string | null }
  | { readonly type: 'answer'; readonly id: number; readonly image?: WireImage; readonly past?: LoadedSlice | 'again' | undefined; readonly fault?: string };

/** As they are stored: of a damaged file no texts. */
export type PastPlace = readonly [kind: unknown, site: unknown, name: unknown];

export interface LoadedSlice extends PastSlice {
  /** Of its last entry. */
  readonly end: PastPlace;
}

export interface WireImage {
  /** Kind, site, name and body of one row after the other. */
  readonly resources: readonly unknown[];
  /** Of these, rows whose mark of the past was wrong; absent when there are none. */
  readonly unmarked?: readonly RowFault[];
  readonly resourceVersion: number;
  readonly auditSequence: number;
  readonly auditHead: string;
  readonly factSequences: readonly (readonly [string, number])[];
  readonly nonces: readonly { readonly hash: string; readonly atMs: WallMs }[];
}

/** What the fields that follow are; `END` closes a transaction. */
const END = 0;
const PUT = 1;
const REMOVE = 2;
const AUDIT = 3;
const FACT = 4;
const NONCE = 5;
const PAST = 6;
const RETURN = 7;

/** In place of a column of an audit record: what the record before it in the message has there. */
const SAME = 0;

/** The transactions of one message, in the making. */
export class Message {
  readonly fields: WireField[] = [];
  count = 0;
  /** Columns of the last audit record. */
  readonly #columns: string[] = ['', '', '', '', '', ''];

  /** Adds the whole transaction, or, when a body of it cannot be written, nothing. */
  add(transaction: LedgerTransaction): void {
    const before = this.fields.length;
    try {
      this.#encode(transaction);
      this.count += 1;
    } catch (fault) {
      this.fields.length = before;
      this.#columns.fill('');
      throw fault;
    }
  }

  #encode({ puts, removes, audits, facts, nonces, pasts, returns, ahead }: LedgerTransaction): void {
    const { fields } = this;
    for (const resource of puts) {
      const { site, name, resourceVersion } = resource.metadata;
      fields.push(PUT, resource.kind, site, name, resourceVersion, ahead ? rowText(resource, ahead) : JSON.stringify(resource));
    }
    for (const { kind, site, name } of removes) fields.push(REMOVE, kind, site, name);
    for (const record of audits) this.#encodeAudit(record, ahead);
    for (const { stream, sequence, body } of facts) fields.push(FACT, stream, sequence, JSON.stringify(body) ?? 'null');
    for (const { hash, atMs } of nonces) fields.push(NONCE, hash, atMs);
    for (const past of pasts ?? []) {
      fields.push(PAST, past.run, past.rows.length, past.streams.length);
      for (const { kind, site, name, entry } of past.rows) fields.push(kind, site, name, entry);
      for (const stream of past.streams) fields.push(stream);
    }
    for (const run of returns ?? []) fields.push(RETURN, run);
    fields.push(END);
  }

  #encodeAudit(record: UnchainedAudit, ahead: WrittenAhead | undefined): void {
    const { head, tail } = auditText(record, ahead);
    const { sequence, timestamp, correlationID, target } = record;
    this.fields.push(AUDIT, sequence, wallMs(timestamp), head, tail, correlationID, target.name);
    this.#column(0, record.site);
    this.#column(1, record.action);
    this.#column(2, record.category);
    this.#column(3, record.result);
    this.#column(4, target.kind);
    this.#column(5, record.accountId);
  }

  #column(at: number, text: string): void {
    const same = this.#columns[at] === text && text !== '';
    this.#columns[at] = text;
    this.fields.push(same ? SAME : text);
  }
}

/** Of a resource, as `JSON.stringify` writes it. */
function rowText(resource: Resource, ahead: WrittenAhead): string {
  const spec = ahead.plain(resource.spec);
  if (spec === undefined) return JSON.stringify(resource);
  const { kind, metadata, spec: _, ...others } = resource;
  const rest = JSON.stringify(others).slice(1);
  return `{"kind":${JSON.stringify(kind)},"metadata":${JSON.stringify(metadata)},"spec":${spec}${rest === '}' ? rest : `,${rest}`}`;
}

let parsedText = '';
let parsedMs = 0;

/** Records of one millisecond carry the same text. */
function wallMs(timestamp: string): number {
  if (timestamp !== parsedText) {
    parsedText = timestamp;
    parsedMs = Date.parse(timestamp);
  }
  return parsedMs;
}

/** The transactions of a message. */
export function decode(fields: readonly WireField[]): WireTransaction[] {
  const reader = new Reader(fields);
  const transactions: WireTransaction[] = [];
  while (!reader.done) transactions.push(reader.transaction());
  return transactions;
}

class Reader {
  readonly #fields: readonly WireField[];
  readonly #columns: string[] = ['', '', '', '', '', ''];
  #at = 0;

  constructor(fields: readonly WireField[]) {
    this.#fields = fields;
  }

  get done(): boolean {
    return this.#at >= this.#fields.length;
  }

  transaction(): WireTransaction {
    const puts: WireTransaction['puts'][number][] = [];
    const removes: LedgerTransaction['removes'][number][] = [];
    const audits: WireAudit[] = [];
    const facts: WireTransaction['facts'][number][] = [];
    const nonces: LedgerTransaction['nonces'][number][] = [];
    const pasts: PastRun[] = [];
    const returns: string[] = [];
    for (let what = this.#number(); what !== END; what = this.#number()) {
      if (what === PUT) puts.push({ kind: this.#text(), site: this.#text(), name: this.#text(), version: this.#number(), body: this.#text() });
      else if (what === REMOVE) removes.push({ kind: this.#text(), site: this.#text(), name: this.#text() });
      else if (what === AUDIT) audits.push(this.#audit());
      else if (what === FACT) facts.push({ stream: this.#text(), sequence: this.#number(), body: this.#text() });
      else if (what === PAST) pasts.push(this.#past());
      else if (what === RETURN) returns.push(this.#text());
      else nonces.push({ hash: this.#text(), atMs: this.#number() });
    }
    return { puts, removes, audits, facts, nonces, pasts, returns };
  }

  #past(): PastRun {
    const [run, rows, streams] = [this.#text(), this.#number(), this.#number()];
    return {
      run,
      rows: Array.from({ length: rows }, () => ({ kind: this.#text(), site: this.#text(), name: this.#text(), entry: this.#text() })),
      streams: Array.from({ length: streams }, () => this.#text()),
    };
  }

  #audit(): WireAudit {
    return {
      sequence: this.#number(),
      at: this.#number(),
      head: this.#text(),
      tail: this.#text(),
      correlation: this.#text(),
      name: this.#text(),
      site: this.#column(0),
      action: this.#column(1),
      category: this.#column(2),
      result: this.#column(3),
      kind: this.#column(4),
      account: this.#column(5),
    };
  }

  #column(at: number): string {
    const field = this.#fields[this.#at++];
    if (field !== SAME) this.#columns[at] = field as string;
    return this.#columns[at] as string;
  }

  #text(): string {
    return this.#fields[this.#at++] as string;
  }

  #number(): number {
    return this.#fields[this.#at++] as number;
  }
}
