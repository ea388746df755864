/**
 * Judges manifests without a box: the product's own apply, as a dry run on a box that holds nothing. What passes here is refused by a box
 * only for the sake of what that box holds.
 */
import { applyManifests } from '../../domains/apply/apply.js';
import { APPLIED_KINDS, STORED_KINDS } from '../../domains/index.js';
import { systemClock } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { Ledger } from '../../platform/ledger/protocol.js';
import { Store } from '../../platform/store/store.js';

/** A row of `errors` of a refused apply (D-C-03). */
export interface JudgedError {
  readonly index: number;
  readonly kind: string;
  readonly name: string;
  readonly code: string;
  readonly error: string;
  readonly field?: string;
  readonly diagnostics?: readonly unknown[];
}

export interface Judged {
  readonly errors: readonly JudgedError[];
  /** By manifest; only where nothing is refused. */
  readonly warnings: readonly { readonly index: number; readonly warning: string }[];
}

/** A ledger of nothing, on which nothing is written. */
const NO_LEDGER: Ledger = {
  load: async () => ({ resources: [], resourceVersion: 0, auditSequence: 0, auditHead: '', factSequences: [], nonces: [] }),
  commit: () => Promise.reject(new Error('a dry run writes nothing')),
  probe: async () => undefined,
  close: async () => undefined,
};

/** @param values what the documents stand for, in their order. */
export async function judgeOffline(values: readonly unknown[]): Promise<Judged> {
  if (values.length === 0) return { errors: [], warnings: [] };
  const store = new Store(NO_LEDGER, systemClock, undefined, STORED_KINDS);
  await store.open(0);
  const actor = {
    displayName: 'offline',
    sites: null,
    may: () => true,
    audit: () =>
      ({ site: '', actor: { id: '', displayName: '', type: 'system' }, action: 'Update', category: 'apply', target: { kind: '', name: '', site: '' }, result: 'Success' }) as never,
  };
  try {
    const applied = await applyManifests(values, actor, { store, clock: systemClock, kinds: APPLIED_KINDS }, { dryRun: true, isWhole: true, tellsAll: true });
    return { errors: [], warnings: applied.flatMap(({ warnings }, index) => warnings.map((warning) => ({ index, warning }))) };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return { errors: errorsOf(fault, values), warnings: [] };
  }
}

function errorsOf({ message, context }: Refusal, values: readonly unknown[]): readonly JudgedError[] {
  if (Array.isArray(context.errors)) return context.errors as readonly JudgedError[];
  const { kind, metadata } = (values[0] ?? {}) as { readonly kind?: string; readonly metadata?: { readonly name?: string } };
  const { code = '', field, diagnostics, index } = context;
  return [
    {
      index: typeof index === 'number' ? index : 0,
      kind: kind ?? '',
      name: metadata?.name ?? '',
      code,
      error: message,
      ...(field === undefined ? {} : { field }),
      ...(Array.isArray(diagnostics) ? { diagnostics } : {}),
    },
  ];
}
