/**
 * A box that was restored from a backup (D-C-06): it says so in its trail, ends every session of before, and drives no output until a person
 * has confirmed with a signature that the other box is off. What was written after the backup is another history, from a sequence that is told.
 */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { conflict } from '../../platform/base/refusal.js';
import { readRestoredMark, removeRestoredMark, type RestoredMark } from '../../platform/backup/restored-mark.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { Session } from '../access/kind.js';
import type { Trouble } from '../alarms/system-conditions.js';
import { CONFIRM_WAY } from '../io-modules/outputs.js';
import { type Signatory, sign, type SigningKeys } from '../signatures/signature.js';

export const RESTORE_KIND = 'Restore';
const UNKNOWN_ID = 'restore-unknown';

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly keys: SigningKeys;
}

/** @throws Refusal 503 while the storage refuses: nobody goes on with the sessions of before. */
export async function openRestoration(parts: Parts): Promise<Restoration> {
  const restoration = new Restoration(parts, readRestoredMark(parts.dataDir));
  await restoration.record();
  return restoration;
}

export class Restoration {
  readonly #parts: Parts;
  readonly #listeners: (() => void)[] = [];
  #mark: RestoredMark | 'unreadable' | undefined;
  /** Of two who confirm at once one does. */
  #isConfirming = false;
  #confirmation: string | undefined;

  constructor(parts: Parts, mark: RestoredMark | 'unreadable' | undefined) {
    this.#parts = parts;
    this.#mark = mark;
  }

  /** Nobody has confirmed yet: no output is driven. */
  get waits(): boolean {
    return this.#mark !== undefined;
  }

  /** Null where nothing waits, or nothing is known of it. */
  get mark(): RestoredMark | null {
    return this.#mark === undefined || this.#mark === 'unreadable' ? null : this.#mark;
  }

  trouble(): Trouble | undefined {
    return this.waits ? { severity: 'High', message: `${whatWas(this.mark)}: its outputs are withheld until ${CONFIRM_WAY}` } : undefined;
  }

  /** Who has confirmed, when and why; undefined before, and after another start. */
  get confirmation(): string | undefined {
    return this.#confirmation;
  }

  /** Told when outputs are driven again. */
  onConfirmed(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Once for each restore, however often the box is started before somebody confirms. */
  async record(): Promise<void> {
    if (!this.waits) return;
    const { store, queries, log } = this.#parts;
    const { mark } = this;
    const id = mark?.id ?? UNKNOWN_ID;
    log.warn({ restore: mark ?? 'unreadable' }, 'this box was restored from a backup: outputs are withheld until somebody confirms that the other one is off');
    const { items } = await queries.auditPage({ correlationID: id, limit: 1 });
    const sessions = store.list(Session, '').map(({ metadata }) => metadata.name);
    // two of which nothing is known look like one: a session that is there may be of before either
    if (items.length > 0 && (mark !== null || sessions.length === 0)) return;
    await store.write({
      removes: sessions.map((name) => ({ kind: Session.kind, site: '', name })),
      audits: [
        {
          site: '',
          actor: component('backup'),
          action: 'Execute',
          category: 'backup',
          target: { kind: RESTORE_KIND, name: id, site: '' },
          result: 'Success',
          reason: 'Restored',
          details: { ...detailsOf(mark), sessionsEnded: sessions.length },
          correlationID: id,
        },
      ],
    });
  }

  /** @throws Refusal 409 `not_restored`, `already_running`. */
  async confirm(by: Signatory, reason: string, audit: (entry: Partial<AuditDraft>) => AuditDraft): Promise<string> {
    const { store, clock, keys, dataDir } = this.#parts;
    if (!this.waits) throw conflict('not_restored', 'no restore of this box waits for a confirmation');
    if (this.#isConfirming) throw conflict('already_running', 'somebody else confirms the restore at this moment; look at it again');
    this.#isConfirming = true;
    try {
      const { mark } = this;
      const id = mark?.id ?? UNKNOWN_ID;
      const at = timestamp(clock.wallMs());
      const { record, digest } = sign(
        {
          meaning: 'restore-confirm',
          signatory: by,
          reason,
          signedAt: at,
          subject: { apiVersion: 'record.lineside.io/v1alpha1', kind: RESTORE_KIND, namespace: '', name: id, revision: 1, digest: canonicalDigest(mark ?? {}) },
          content: { action: 'confirm-restore', otherBoxIsOff: true, ...detailsOf(mark) },
        },
        keys,
      );
      await store.write({
        audits: [
          audit({
            target: { kind: RESTORE_KIND, name: id, site: '' },
            reason: 'RestoreConfirmed',
            operatorReason: reason,
            details: detailsOf(mark),
            signature: { ...record, digest },
          }),
        ],
      });
      removeRestoredMark(dataDir);
      this.#mark = undefined;
      this.#confirmation = `${whatWas(mark)}; ${by.displayName} confirmed at ${at} that the other box is off (${reason}): it withholds no output any more`;
      for (const listener of this.#listeners) listener();
      return digest;
    } finally {
      this.#isConfirming = false;
    }
  }
}

function whatWas(mark: RestoredMark | null): string {
  if (!mark) return 'restored.json says that this box was restored, and cannot be read';
  return `this box was restored at ${mark.restoredAt} from the backup that box ${mark.backup.deviceId} made at ${mark.backup.createdAt}`;
}

/** `otherHistoryFrom`: the number of the first audit record that the box that was may have written otherwise. */
function detailsOf(mark: RestoredMark | null): Record<string, unknown> {
  if (!mark) return { unreadable: true };
  const { restoredAt, deviceId, withKeys, backup, unverified } = mark;
  return { restoredAt, deviceId, withKeys, backup, otherHistoryFrom: backup.head.sequence + 1, unverified };
}
