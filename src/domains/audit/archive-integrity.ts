/**
 * Integrity runs over the files of the audit archive (contract 2, Audit; decisions Q-TAG-16): one at a time, because each
 * reads every file, and each result is kept together with the audit record of who asked for it.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict } from '../../platform/base/refusal.js';
import type { LedgerQueries, Page } from '../../platform/ledger/queries.js';
import type { ArchiveFinding } from '../../platform/ledger/verify-archives.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';

/** Facts: results in the order in which their runs ended. */
export const INTEGRITY_STREAM = 'archive-integrity';
export const INTEGRITY_KIND = 'ArchiveReport';

export interface IntegrityRun {
  readonly runId: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly ok: boolean;
  readonly archives: readonly ArchiveFinding[];
  /** Records read. */
  readonly checked: number;
}

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'verifyArchives' | 'factPage'>;
  readonly clock: Clock;
}

type DraftOf = (entry: Pick<AuditDraft, 'target' | 'details'>) => AuditDraft;

export class ArchiveIntegrity {
  readonly #parts: Parts;
  #running = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws Refusal `already_running`. */
  async run(audit: DraftOf): Promise<IntegrityRun> {
    if (this.#running) throw conflict('already_running', 'an integrity run over the audit archive is under way; read its result when it has ended');
    this.#running = true;
    try {
      return await this.#run(audit);
    } finally {
      this.#running = false;
    }
  }

  /** Undefined when there was no run yet. */
  async latest(): Promise<IntegrityRun | undefined> {
    const { items }: Page<IntegrityRun> = await this.#parts.queries.factPage(INTEGRITY_STREAM, { limit: 1 });
    return items[0];
  }

  async #run(audit: DraftOf): Promise<IntegrityRun> {
    const { store, queries, clock } = this.#parts;
    const runId = randomUUID();
    const startedAt = timestamp(clock.wallMs());
    const { checked, archives, ...records } = await queries.verifyArchives();
    // records can be whole in a file in which no search finds them: the archive is not as it should be
    const ok = records.ok && archives.every((archive) => archive.ok);
    const run: IntegrityRun = { runId, startedAt, finishedAt: timestamp(clock.wallMs()), ok, checked, archives };
    const { file, problem } = archives.find((archive) => !archive.ok) ?? {};
    const found = { ok, files: archives.length, records: checked, ...(file === undefined ? {} : { file, problem }) };
    await store.write({
      audits: [audit({ target: { kind: INTEGRITY_KIND, name: runId, site: '' }, details: found })],
      facts: [{ stream: INTEGRITY_STREAM, body: () => run }],
    });
    return run;
  }
}
