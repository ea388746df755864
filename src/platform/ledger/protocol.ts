/**
 * What the gateway thread asks of the ledger thread, the only writer of `state.db`. One message per loop turn carries
 * many transactions; the ledger commits them together (group commit, synchronous=FULL) and answers with one message.
 */
import type { WallMs } from '../base/times.js';
import type { UnchainedAudit } from '../store/audit-record.js';
import type { PastIndex } from '../store/past-index.js';
import type { Resource, RowFault } from '../store/resource.js';
import type { WrittenAhead } from './written-ahead.js';

/** One entry of an append-only stream beside the audit trail, for example the execution events of a batch. */
export interface Fact {
  /** `events/<site>/<batch>`, `messages/<site>/<batch>`, ... */
  readonly stream: string;
  /** From 1 within the stream. */
  readonly sequence: number;
  readonly body: unknown;
}

export interface LedgerTransaction {
  readonly puts: readonly Resource[];
  readonly removes: readonly { readonly kind: string; readonly site: string; readonly name: string }[];
  readonly audits: readonly UnchainedAudit[];
  readonly facts: readonly Fact[];
  /** SHA-256 (hex) and admission time of nonces. */
  readonly nonces: readonly { readonly hash: string; readonly atMs: WallMs }[];
  /** Runs that have ended. After the puts, which may be of their rows for the last time. */
  readonly pasts?: readonly PastRun[];
  /** Runs that are worked with again; in a transaction of their own. */
  readonly returns?: readonly string[];
  /** Texts of some of what is written, where they were known before. */
  readonly ahead?: WrittenAhead | undefined;
}

/** What leaves the memory with a run that has ended (ADR 0035). */
export interface PastRun {
  /** `kind/site/name` of the resource that the run is named by. */
  readonly run: string;
  /** `entry`: JSON of what stays in memory; '' for nothing. */
  readonly rows: readonly { readonly kind: string; readonly site: string; readonly name: string; readonly entry: string }[];
  readonly streams: readonly string[];
}

/** Why a commit was refused that writes a past row, or into a past stream. */
export function ofPastRun(title: string): string {
  return `${title} belongs to a run that has ended`;
}

export interface LedgerImage {
  /** What is present. */
  readonly resources: readonly Resource[];
  /** Of the past, what its kinds keep in memory; absent when there is none. */
  readonly past?: PastIndex;
  /** Rows of the table that are no resources; absent when there are none. */
  readonly unreadable?: readonly RowFault[];
  /** Rows that were marked as past and are not: they are among the resources. */
  readonly unmarked?: readonly RowFault[];
  readonly resourceVersion: number;
  readonly auditSequence: number;
  readonly auditHead: string;
  /** Last sequence of every fact stream that is present. */
  readonly factSequences: readonly (readonly [string, number])[];
  readonly nonces: readonly { readonly hash: string; readonly atMs: WallMs }[];
}

/** The ledger as the store sees it. */
export interface Ledger {
  /** Reads everything the gateway keeps in memory; no nonces when `nonceWindowMs` is 0, else all that were not kept for a whole window of a run yet. `past` takes what is past. */
  load(nonceWindowMs: number, past?: PastIndex): Promise<LedgerImage>;
  /** Resolves when the transaction is on disk. Transactions are committed in the order of the calls. */
  commit(transaction: LedgerTransaction): Promise<void>;
  /** One small durable write, to find out whether the disk accepts commits again. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
