/**
 * The messages between the gateway thread and the ledger thread. Bodies travel as JSON text: text crosses threads as one
 * copy, and the ledger stores most of it as it is.
 */
import type { LedgerTransaction } from './protocol.js';

export interface WireTransaction {
  readonly puts: readonly { readonly kind: string; readonly site: string; readonly name: string; readonly version: number; readonly body: string }[];
  readonly removes: LedgerTransaction['removes'];
  readonly audits: readonly string[];
  readonly facts: readonly { readonly stream: string; readonly sequence: number; readonly body: string }[];
  readonly nonces: LedgerTransaction['nonces'];
}

export type ToLedger =
  /** Transactions `first`, `first + 1`, ... in the order of the calls. */
  | { readonly type: 'commit'; readonly first: number; readonly transactions: readonly WireTransaction[] }
  | { readonly type: 'load'; readonly id: number; readonly nonceWindowMs: number; readonly nowMs: number }
  | { readonly type: 'probe'; readonly id: number }
  | { readonly type: 'close'; readonly id: number };

export type FromLedger =
  | { readonly type: 'ready'; readonly findings: readonly string[] }
  /** `count` transactions from `first` are settled; those named in `refused` are not on disk and never will be. */
  | { readonly type: 'settled'; readonly first: number; readonly count: number; readonly refused: readonly (readonly [number, string])[] }
  | { readonly type: 'answer'; readonly id: number; readonly image?: WireImage; readonly fault?: string };

export interface WireImage {
  readonly resources: readonly string[];
  readonly resourceVersion: number;
  readonly auditSequence: number;
  readonly auditHead: string;
  readonly factSequences: readonly (readonly [string, number])[];
  readonly nonces: readonly { readonly hash: string; readonly atMs: number }[];
}

export function toWire(transaction: LedgerTransaction): WireTransaction {
  return {
    puts: transaction.puts.map((resource) => ({
      kind: resource.kind,
      site: resource.metadata.site,
      name: resource.metadata.name,
      version: resource.metadata.resourceVersion,
      body: JSON.stringify(resource),
    })),
    removes: transaction.removes.map(({ kind, site, name }) => ({ kind, site, name })),
    audits: transaction.audits.map((record) => JSON.stringify(record)),
    facts: transaction.facts.map(({ stream, sequence, body }) => ({ stream, sequence, body: JSON.stringify(body) ?? 'null' })),
    nonces: transaction.nonces,
  };
}
