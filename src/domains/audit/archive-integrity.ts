/**
 * Integrity runs over the files of the audit archive (contract 2, Audit; decisions Q-TAG-16): one at a time, because each
 * reads every file, and each result is kept together with the audit record of who asked for it.
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict } from '../../platform/base/refusal.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { ArchiveRun } from './bodies.js';
import { latestOf, OneRun, recalled } from './one-run.js';

/** Facts: results in the order in which their runs ended. */
export const INTEGRITY_STREAM = 'archive-integrity';
export const INTEGRITY_KIND = 'ArchiveReport';

const Recalled = v.looseObject({ ok: v.boolean(), finishedAt: v.string(), archives: v.array(v.looseObject({ file: v.string(), ok: v.boolean() })) });

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'verifyArchives' | 'factPage'>;
  readonly clock: Clock;
}

/** Who asks for a run: a person in a request, or the appliance itself. */
export type DraftOf = (entry: Pick<AuditDraft, 'target' | 'details'>) => AuditDraft;

export class ArchiveIntegrity {
  readonly #parts: Parts;
  readonly #runs = new OneRun();
  #last: ArchiveRun | undefined;
  /** Why the last run cannot be recalled, until there is another. */
  #unread: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the last run found wrong, in words; null when nothing, or there was none. */
  get damage(): string | null {
    return this.#last ? damageOf(this.#last) : this.#unread;
  }

  /** What the last run before this start found. */
  async recall(): Promise<void> {
    const { run, unread } = await recalled<ArchiveRun>(this.#parts.queries, INTEGRITY_STREAM, Recalled);
    this.#last = run;
    if (unread !== undefined) this.#unread = `what the last check of the archive found cannot be read (${unread})`;
  }

  /** @throws Refusal `already_running`. */
  async run(audit: DraftOf): Promise<ArchiveRun> {
    if (this.#runs.underWay) throw conflict('already_running', 'an integrity run over the audit archive is under way; read its result when it has ended');
    return this.#runs.alone(async () => this.#keep(await this.#check(false), audit));
  }

  /** A run that nobody waits for; nothing while there is one, and nothing is kept of one that found no archive. */
  async runQuietly(audit: DraftOf): Promise<void> {
    if (this.#runs.underWay) return;
    await this.#runs.alone(async () => {
      const run = await this.#check(true);
      if (run.archives.length > 0 || !run.ok || this.damage !== null) await this.#keep(run, audit);
    });
  }

  /** Undefined when there was no run yet. */
  async latest(): Promise<ArchiveRun | undefined> {
    return latestOf<ArchiveRun>(this.#parts.queries, INTEGRITY_STREAM);
  }

  async #check(gently: boolean): Promise<ArchiveRun> {
    const { queries, clock } = this.#parts;
    const runId = randomUUID();
    const startedAt = timestamp(clock.wallMs());
    const { checked, archives, ...records } = await queries.verifyArchives({ gently });
    // records can be whole in a file in which no search finds them: the archive is not as it should be
    const ok = records.ok && archives.every((archive) => archive.ok);
    return { runId, startedAt, finishedAt: timestamp(clock.wallMs()), ok, checked, archives };
  }

  async #keep(run: ArchiveRun, audit: DraftOf): Promise<ArchiveRun> {
    const { runId, ok, checked: records, archives } = run;
    const { file, problem } = archives.find((archive) => !archive.ok) ?? {};
    const details = { ok, files: archives.length, records, ...(file === undefined ? {} : { file, problem }) };
    await this.#parts.store.write({
      audits: [audit({ target: { kind: INTEGRITY_KIND, name: runId, site: '' }, details })],
      facts: [{ stream: INTEGRITY_STREAM, body: () => run }],
    });
    this.#last = run;
    this.#unread = null;
    return run;
  }
}

function damageOf({ ok, archives, finishedAt }: ArchiveRun): string | null {
  if (ok) return null;
  const bad = archives.filter((archive) => !archive.ok);
  const [first] = bad;
  if (!first) return `the check of ${finishedAt} missed files of the archive`;
  const at = first.sequence === undefined ? '' : ` at record ${first.sequence}`;
  const more = bad.length > 1 ? `, and ${bad.length - 1} more` : '';
  return `the check of ${finishedAt} found ${first.file} not as it was written (${first.problem}${at})${more}`;
}
