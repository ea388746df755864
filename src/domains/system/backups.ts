/**
 * The backups that the box makes by itself (component `backup`, decisions Q-CHANGE-13): into a folder, encrypted for a public key, one at a
 * time and in a thread that gives way to the plant. The last outcome is known again after a start; one that failed, or is overdue, is an alarm.
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { elapsedSince, type Moment } from '../../platform/base/moment.js';
import { conflict } from '../../platform/base/refusal.js';
import { noteStuck } from '../../platform/base/stuck-threads.js';
import { WorkerCalls } from '../../platform/base/worker-calls.js';
import type { KeptWish } from '../../platform/backup/kept.js';
import type { BackupMade, BackupWish } from '../../platform/backup/make.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import { StoredTerm } from '../../platform/store/fields.js';
import type { Store } from '../../platform/store/store.js';
import type { Settings } from '../../settings.js';
import type { Trouble } from '../alarms/system-conditions.js';
import { scheduleIntegrity } from '../audit/integrity-schedule.js';
import { recalled } from '../audit/one-run.js';

/** Facts: outcomes in the order in which their runs ended. */
const BACKUP_STREAM = 'backups';
/** After a start what it brings about comes first. */
const QUIET_MS = 5 * 60_000;
/** So many intervals without a backup are too many. */
const OVERDUE = 2;
/** One that takes longer than any box takes waits for a folder that does not answer. */
const LONG_MS = 6 * 3_600_000;
/** So long a stop waits for the thread: whoever hangs in a share ends with the process, and the store is closed before. */
const STOP_MS = 5000;
const TERMINATED_MS = 1000;

/** Of one backup, as it is kept. */
const BackupRun = v.looseObject({
  runId: v.string(),
  startedAt: v.string(),
  finishedAt: v.string(),
  ok: v.boolean(),
  file: v.string(),
  bytes: v.number(),
  /** Last audit record in it; 0 of one that failed. */
  headSequence: v.number(),
  missing: v.array(v.string()),
  /** Why it failed; '' where it did not. */
  fault: v.string(),
  at: StoredTerm.entries.from,
});
export type BackupRun = ToldBy<typeof BackupRun>;

interface Parts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'factPage'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly deviceId: string;
  readonly product: BackupWish['product'];
  readonly settings: Pick<Settings, 'backupDirectory' | 'backupRecipient' | 'backupIntervalMs' | 'backupsKept' | 'configFile' | 'secretsDir'>;
  readonly time: { now(): Moment; synchronised(): boolean };
  readonly died: (thread: string, fault: string) => void;
  /** The thread that makes them. */
  readonly calls?: Pick<WorkerCalls, 'call' | 'close' | 'terminate'>;
}

type Answer = { readonly made: BackupMade } | { readonly fault: string; readonly isRefused: boolean };

export class Backups {
  readonly #parts: Parts;
  readonly #calls: Pick<WorkerCalls, 'call' | 'close' | 'terminate'>;
  /** Since the one that is under way was begun. */
  #running: Stopwatch | undefined;
  #last: BackupRun | undefined;
  /** Why what the last one came to is not known. */
  #unread = '';
  /** Since the last good one, or since the start. */
  readonly #age: Stopwatch;
  /** How old the last good one was at the start; 0 where nobody knows. */
  #ageBeforeMs = 0;
  #stop = (): void => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#age = new Stopwatch(parts.clock);
    this.#calls =
      parts.calls ?? new WorkerCalls({ url: new URL('../../platform/backup/backup-thread.js', import.meta.url), name: 'backup', data: {} }, undefined, { died: parts.died });
  }

  /** Whether the settings say where to and for whom. */
  get isConfigured(): boolean {
    const { backupDirectory, backupRecipient } = this.#parts.settings;
    return backupDirectory !== null && backupRecipient !== null;
  }

  get view(): { readonly configured: boolean; readonly running: boolean; readonly ok: boolean | null; readonly lastAt: string; readonly message: string } {
    const last = this.#last;
    const message = this.trouble()?.message ?? (last ? `${last.file}, to audit record ${last.headSequence}` : '');
    return { configured: this.isConfigured, running: this.#running !== undefined, ok: last ? last.ok : null, lastAt: last?.finishedAt ?? '', message };
  }

  trouble(): Trouble | undefined {
    if (!this.isConfigured) return undefined;
    const last = this.#last;
    const directory = this.#parts.settings.backupDirectory ?? '';
    const runsMs = this.#running?.elapsedMs ?? 0;
    if (runsMs > LONG_MS)
      return {
        severity: 'High',
        message: `a backup into ${directory} was begun ${Math.floor(runsMs / 3_600_000)} h ago and has not come to its end: look whether the folder answers`,
      };
    if (last && !last.ok)
      return { severity: 'High', message: `the backup of ${last.startedAt} has failed: ${last.fault}; the next one is made at its time, or with POST system/services/backup/run` };
    if (last && last.missing.length > 0) return { severity: 'High', message: `the backup of ${last.startedAt} is not whole: ${last.missing.join(', ')} was not there` };
    const { backupIntervalMs: intervalMs } = this.#parts.settings;
    if (intervalMs === 0 || this.#ageBeforeMs + this.#age.elapsedMs < OVERDUE * intervalMs) return undefined;
    const since = last ? `the last backup in ${directory} is of ${last.finishedAt}` : `there is no backup in ${directory} yet`;
    return { severity: 'High', message: `${since}, and one is due every ${Math.round(intervalMs / 3_600_000)} h${this.#unread === '' ? '' : ` (${this.#unread})`}` };
  }

  async start(): Promise<void> {
    const { queries, clock, log, settings, time } = this.#parts;
    if (!this.isConfigured) return;
    const { run, unread } = await recalled<BackupRun>(queries, BACKUP_STREAM, BackupRun);
    this.#last = run;
    this.#unread = unread === undefined ? '' : `what the last one came to cannot be read: ${unread}`;
    const elapsedMs = run?.ok === true ? elapsedSince(run.at, time.now(), time.synchronised()) : undefined;
    this.#ageBeforeMs = elapsedMs ?? 0;
    const { backupIntervalMs: intervalMs } = settings;
    const firstMs = elapsedMs === undefined ? QUIET_MS : Math.max(QUIET_MS, intervalMs - elapsedMs);
    this.#stop = scheduleIntegrity({ integrity: { runQuietly: () => this.#byItself() }, clock, log, intervalMs, firstMs, what: 'the backup' });
  }

  /** One that is under way comes to its end with the thread. */
  async stop(): Promise<void> {
    this.#stop();
    const isGone = this.#calls.close().finally(noteStuck('the thread of the backup'));
    if (await this.#within(STOP_MS, isGone)) return;
    guardedPromise('end of the thread of the backup', () => this.#calls.terminate()); // one that only works ends by it
    await this.#within(TERMINATED_MS, isGone);
  }

  async #within(ms: number, ended: Promise<void>): Promise<boolean> {
    let cancel = (): void => undefined;
    const late = new Promise<boolean>((resolve) => (cancel = this.#parts.clock.after(ms, () => resolve(false))));
    const isInTime = await Promise.race([ended.then(() => true), late]);
    cancel();
    return isInTime;
  }

  /** @throws Refusal 409 `not_runnable`, `already_running`. */
  judge(): void {
    if (!this.isConfigured)
      throw conflict('not_runnable', 'no backup is made without the settings backup.directory and backup.recipient; set them, or run lineside backup on the box');
    if (this.#running) throw conflict('already_running', 'a backup is being made already; system/health tells what the last one came to');
  }

  /** In the turn of the judgement. What came of it is on record under the same correlation id. */
  begin(correlationID: string): { readonly runID: string; readonly startedAt: string } {
    const runID = randomUUID();
    const startedAt = timestamp(this.#parts.clock.wallMs());
    guardedPromise('backup', () => this.#run(runID, startedAt, correlationID));
    return { runID, startedAt };
  }

  async #byItself(): Promise<void> {
    if (this.#running) return;
    const runID = randomUUID();
    await this.#run(runID, timestamp(this.#parts.clock.wallMs()), runID);
  }

  async #run(runId: string, startedAt: string, correlationID: string): Promise<void> {
    this.#running = new Stopwatch(this.#parts.clock);
    try {
      const answer = await this.#made();
      const { clock, time } = this.#parts;
      const ended = { runId, startedAt, finishedAt: timestamp(clock.wallMs()), at: time.now() };
      const run: BackupRun =
        'made' in answer
          ? { ...ended, ok: true, file: answer.made.file, bytes: answer.made.bytes, headSequence: answer.made.head.sequence, missing: answer.made.missing, fault: '' }
          : { ...ended, ok: false, file: '', bytes: 0, headSequence: 0, missing: [], fault: answer.fault };
      await this.#keep(run, correlationID);
    } finally {
      this.#running = undefined;
    }
  }

  async #made(): Promise<Answer> {
    const { dataDir, deviceId, product, settings, store, clock } = this.#parts;
    const { backupDirectory, backupRecipient, configFile, secretsDir, backupsKept } = settings;
    try {
      await store.recorded.catch(() => undefined); // what was answered is in it
      const what = { dataDir, configFile, secretsDir, sealedFor: { recipients: [backupRecipient ?? ''] }, product };
      return await this.#calls.call<Answer>('make', { ...what, folder: backupDirectory ?? '', kept: backupsKept, deviceId, atMs: clock.wallMs() } satisfies KeptWish);
    } catch (fault) {
      return { fault: (fault as Error).message, isRefused: false };
    }
  }

  async #keep(run: BackupRun, correlationID: string): Promise<void> {
    const { store, log } = this.#parts;
    this.#last = run;
    this.#unread = '';
    if (run.ok) {
      this.#age.restart();
      this.#ageBeforeMs = 0;
    } else log.error({ fault: run.fault }, 'the backup has failed');
    const { runId, ok, file, bytes, headSequence, missing, fault } = run;
    const audit: AuditDraft = {
      site: '',
      actor: component('backup'),
      action: 'Execute',
      category: 'backup',
      target: { kind: 'Backup', name: runId, site: '' },
      result: ok ? 'Success' : 'Failed',
      ...(ok ? {} : { reason: 'BackupFailed' }),
      details: { file, bytes, headSequence, ...(missing.length === 0 ? {} : { missing }), ...(fault === '' ? {} : { fault }) },
      correlationID,
    };
    await store.write({ audits: [audit], facts: [{ stream: BACKUP_STREAM, body: () => run }] });
  }
}
