/** Gaps in the stored past (D-C-09): told until an administrator acknowledges them with a signature, visible for ever. */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Gap } from '../../platform/ledger/gaps.js';
import type { ThreadLedger } from '../../platform/ledger/ledger.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { Trouble } from '../alarms/system-conditions.js';
import { type Signatory, sign, type SigningKeys } from '../signatures/signature.js';

export const GAP_KIND = 'AuditGap';

interface Parts {
  readonly store: Store;
  readonly ledger: Pick<ThreadLedger, 'gaps' | 'newGaps' | 'acknowledge'>;
  readonly clock: Clock;
  readonly keys: SigningKeys;
}

export class AuditGaps {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get all(): readonly Gap[] {
    return this.#parts.ledger.gaps;
  }

  get open(): readonly Gap[] {
    return this.all.filter(({ acknowledged }) => !acknowledged);
  }

  /** Whether the appliance ever went on without what it had stored: then no code makes an administrator by itself. */
  get hasLost(): boolean {
    return this.all.some(({ kind }) => kind === 'loss');
  }

  trouble(): Trouble | undefined {
    const { open } = this;
    if (open.length === 0) return undefined;
    const severity = open.some(({ kind }) => kind === 'loss') ? 'Critical' : 'High';
    return {
      severity,
      message: `${open.map(({ text }) => text).join('; ')}; an administrator acknowledges it with POST audit/gaps/acknowledge, and it stays in every verification`,
    };
  }

  /** What this start found is on record, each once. */
  async record(): Promise<void> {
    const audits = this.#parts.ledger.newGaps.map(
      (gap): AuditDraft => ({
        site: '',
        actor: component('ledger'),
        action: 'Execute',
        category: 'storage',
        target: { kind: GAP_KIND, name: gap.id, site: '' },
        result: 'Failed',
        details: { kind: gap.kind, text: gap.text, firstSequence: gap.first, lastSequence: gap.last },
        correlationID: randomUUID(),
      }),
    );
    if (audits.length > 0) await this.#parts.store.write({ audits });
  }

  /** @throws Refusal 409 `no_gap` when none waits. */
  async acknowledge(by: Signatory, reason: string, audit: (entry: Partial<AuditDraft>) => AuditDraft): Promise<readonly Gap[]> {
    const { store, ledger, clock, keys } = this.#parts;
    const { open } = this;
    const [first] = open;
    if (!first) throw conflict('no_gap', 'no gap of the audit trail waits for an acknowledgement');
    const ids = open.map(({ id }) => id);
    const at = timestamp(clock.wallMs());
    const { record, digest } = sign(
      {
        meaning: 'audit-gap-acknowledge',
        signatory: by,
        reason,
        signedAt: at,
        subject: { apiVersion: 'record.lineside.io/v1alpha1', kind: GAP_KIND, namespace: '', name: ids.join(','), revision: 1, digest: canonicalDigest(open) },
        content: { action: 'acknowledge', gaps: open.map(({ id, text }) => ({ id, text })) },
      },
      keys,
    );
    const target = { kind: GAP_KIND, name: first.id, site: '' };
    await store.write({ audits: [audit({ target, operatorReason: reason, details: { gaps: ids, texts: open.map(({ text }) => text) }, signature: { ...record, digest } })] });
    await ledger.acknowledge(ids, { by: by.displayName, accountId: by.accountId, at, reason, signature: digest });
    return this.all;
  }
}
