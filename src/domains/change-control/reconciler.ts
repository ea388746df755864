/**
 * The end of requests that nobody has decided (decisions Q-CHANGE-02; D-C-07): by elapsed time, and across a restart as soon as it is unknown
 * how long nobody was there. One that has expired stays so.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Key } from '../../platform/reconcile/key.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { ChangeRequest } from './kind.js';
import { leftMsOf } from './rules.js';
import { CHANGE_CATEGORY } from './trail.js';

const SELF = component('change-control');
/** A timer holds 24 days, and an expiry up to a year. */
const LOOK_MS_MAX = 3_600_000;

export class ExpiryReconciler implements Reconciler {
  readonly name = 'change-control';
  readonly #store: Store;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  *keys(): Iterable<Key> {
    for (const { metadata, status } of this.#store.list(ChangeRequest)) if (status.phase === 'Pending') yield metadata;
  }

  sourceOf({ name }: Key): string {
    return `${ChangeRequest.kind}/${name}`;
  }

  reconcile({ site, name }: Key): Outcome {
    const request = this.#store.get(ChangeRequest, site, name);
    if (request?.status.phase !== 'Pending') return 'settled';
    const leftMs = leftMsOf(request, this.#store.terms);
    if (leftMs > 0) return { lookAgainMs: Math.min(leftMs, LOOK_MS_MAX) };
    const at = timestamp(this.#clock.wallMs());
    const { status } = request;
    const move = {
      ts: at,
      phase: 'Expired' as const,
      by: '',
      reason: '',
      digestBefore: status.baseDigest,
      digestAfter: status.baseDigest,
      auditRecordRef: this.#store.nextAuditName(),
    };
    this.#store.apply({
      puts: [{ kind: ChangeRequest, site, name, status: { ...status, phase: 'Expired', decidedAt: at, moves: [...status.moves, move] } }],
      audits: [
        {
          site,
          action: 'Lifecycle',
          category: CHANGE_CATEGORY,
          target: { kind: ChangeRequest.kind, name, site },
          result: 'Success',
          rule: 'expired',
          before: { phase: 'Pending' },
          after: { phase: 'Expired' },
          details: { phase: 'Expired', until: status.until },
          actor: SELF,
          correlationID: randomUUID(),
        },
      ],
    });
    return 'settled';
  }
}
