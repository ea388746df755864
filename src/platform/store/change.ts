/** What is written to the store at once, and what it says of it: one transaction, with its records and facts. */
import type { WallMs } from '../base/times.js';
import type { WrittenAhead } from '../ledger/written-ahead.js';
import type { AuditDraft } from './audit-record.js';
import type { Put } from './kind.js';
import type { Ref, Resource, RowFault } from './resource.js';

export interface Change {
  // biome-ignore lint/suspicious/noExplicitAny: one change may touch several kinds
  readonly puts?: readonly Put<any, any>[];
  readonly removes?: readonly Ref[];
  readonly audits?: readonly AuditDraft[];
  readonly facts?: readonly { readonly stream: string; readonly body: (sequence: number) => unknown }[];
  readonly nonces?: readonly Nonce[];
  /** Runs that have ended and leave the memory, after the puts and removes. */
  readonly pasts?: readonly Past[];
  /** Texts of specs, and of `before` and `after` of the records, written in earlier turns: for whoever writes megabytes at once. */
  readonly ahead?: WrittenAhead;
}

/** A run that has ended, with all that is of it alone (ADR 0035). */
export interface Past {
  /** What the run is named by; one of its members. */
  readonly run: Ref;
  /** All of them have to be present. */
  readonly members: readonly Ref[];
  /** Streams of facts that nobody adds to any more. */
  readonly streams: readonly string[];
  /** Stays in memory with the entry of what the run is named by. */
  readonly kept?: Readonly<Record<string, unknown>>;
}

/** A run as it was read, to be worked with again. */
export interface Returned {
  readonly run: Ref;
  readonly rows: readonly Resource[];
  readonly streams: readonly (readonly [stream: string, last: number])[];
  /** Rows of it that cannot be used: they are present again too, and named as after a start. */
  readonly faults?: readonly RowFault[];
}

/** SHA-256 (hex) of a request nonce and when it was admitted. */
export interface Nonce {
  readonly hash: string;
  readonly atMs: WallMs;
}

export interface Applied {
  readonly resources: readonly Resource[];
  /** Names of the audit records of this change, in order, known before they are on disk. */
  readonly auditNames: readonly string[];
  readonly factSequences: readonly number[];
  /** Settles when the change is on disk; rejects with a Refusal `unavailable` when it never will be. */
  readonly durable: Promise<void>;
}

export interface StoreEvent<Spec = unknown, Status = unknown> {
  readonly type: 'put' | 'remove';
  readonly resource: Resource<Spec, Status>;
  readonly before: Resource<Spec, Status> | undefined;
  /** Whether spec, labels, annotations (not only status) changed. */
  readonly configuration: boolean;
  /** Nothing of the resource has changed: it left the memory with its run (`remove`), or came back with it (`put`). */
  readonly past?: true;
}
