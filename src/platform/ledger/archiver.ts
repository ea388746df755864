/**
 * Keeps the live audit trail within `audit.maxRecords` and `audit.maxAge` (decisions 8.6): looks now and then, has the query
 * thread write the oldest records into a file, and tells the ledger, which takes them out of the table. A disk that refuses
 * it keeps nothing from being written elsewhere: the records stay where they are, and the next look tries again.
 */
import { RetentionTime } from '../base/retention-time.js';
import { guardedPromise } from '../base/guarded.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import type { ArchiveDraft, ArchiveNote } from './archive-format.js';
import type { ArchiveLimits } from './archive-writer.js';
import type { LedgerQueries } from './queries.js';

const LOOK_MS = 60_000;

export interface ArchiverParts {
  readonly queries: Pick<LedgerQueries, 'archiveDue' | 'writeArchive'>;
  readonly ledger: { archived(draft: ArchiveDraft): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: ArchiveLimits;
  /** Time of the last record before this start; null when there is none. */
  readonly newestMs: number | null;
  /** Little space is kept for what must be written. */
  readonly storageLow: () => boolean;
  /** A file is in the archive. */
  readonly archived: (note: ArchiveNote) => void;
}

export class Archiver {
  readonly #parts: ArchiverParts;
  readonly #time: RetentionTime;
  #fault: string | null = null;
  #running: Promise<ArchiveNote | null> | null = null;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(parts: ArchiverParts) {
    this.#parts = parts;
    this.#time = new RetentionTime(parts.clock, parts.newestMs);
  }

  /** Why records that should be archived are not; null when nothing keeps them. */
  get fault(): string | null {
    return this.#fault;
  }

  start(): void {
    this.#cancel = this.#parts.clock.after(LOOK_MS, () => guardedPromise('archiver', () => this.look().finally(() => !this.#stopped && this.start())));
  }

  /** The file that was made; null when there was nothing to do, or it was refused. */
  look(): Promise<ArchiveNote | null> {
    this.#running ??= this.#archive().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Does not wait for a file that is being written: what of it is on disk is made again. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #archive(): Promise<ArchiveNote | null> {
    const { queries, ledger, log, limits, storageLow, archived } = this.#parts;
    try {
      const span = await queries.archiveDue(limits, this.#time.nowMs);
      if (span && storageLow()) throw new Error('the free space of the data directory is below storage.reserveBytes');
      const draft = span && (await queries.writeArchive(span));
      if (draft) await ledger.archived(draft);
      if (this.#fault !== null) log.info('the audit trail is archived again');
      this.#fault = null;
      if (!draft) return null;
      const { file, first, last } = draft.note;
      log.info({ file, first, last }, 'audit records were archived');
      if (draft.aside.length > 0) log.warn({ files: draft.aside }, 'files of the archive with other records, or that cannot be read, were in the way: they are kept aside');
      if (!this.#stopped) archived(draft.note);
      return draft.note;
    } catch (fault) {
      if (this.#stopped) return null;
      const { message } = fault as Error;
      if (this.#fault !== message) log.error({ err: fault }, 'audit records cannot be archived: they stay in the live trail');
      this.#fault = message;
      return null;
    }
  }
}
