/**
 * Checks the archive of the audit trail without being asked: some time after each start, when what a start brings about is
 * over, and then at the interval of `audit.archiveIntegrityInterval`. What it finds is kept as that of a run that somebody
 * asked for, and stands as an alarm until a run finds nothing. A check that could not be made is made a little later.
 */
import { guardedPromise } from '../../platform/base/guarded.js';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { component } from '../../platform/store/audit-record.js';
import type { DraftOf } from './archive-integrity.js';

const QUIET_MS = 10 * 60_000;
const RETRY_MS = 10 * 60_000;
const WAIT_MAX_MS = 86_400_000; // a timer holds no more than 24 days

export interface IntegritySchedule {
  readonly integrity: { runQuietly(audit: DraftOf): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
  /** 0: only when somebody asks. */
  readonly intervalMs: number;
  /** After the start; ten minutes when absent. */
  readonly firstMs?: number;
  /** What is checked, for the log. */
  readonly what?: string;
  readonly audit?: DraftOf;
}

/** @returns ends it; a check that is under way is not waited for. */
export function scheduleIntegrity({
  integrity,
  clock,
  log,
  intervalMs,
  firstMs = QUIET_MS,
  what = 'the archive of the audit trail',
  audit = byItself,
}: IntegritySchedule): () => void {
  if (intervalMs === 0) return () => undefined;
  let cancel = (): void => undefined;
  let stopped = false;
  const after = (delayMs: number): void => {
    const partMs = Math.min(delayMs, WAIT_MAX_MS);
    cancel = clock.after(partMs, () => (delayMs > partMs ? after(delayMs - partMs) : guardedPromise('check of what is stored', check)));
  };
  const check = async (): Promise<void> => {
    let nextMs = intervalMs;
    try {
      await integrity.runQuietly(audit);
    } catch (err) {
      if (!stopped) log.error({ err }, `${what} could not be checked; it is tried again`);
      nextMs = Math.min(RETRY_MS, intervalMs);
    }
    if (!stopped) after(nextMs);
  };
  after(firstMs);
  return () => {
    stopped = true;
    cancel();
  };
}

const byItself = draftsBy('archiver', 'audit-archive');

/** Of a run that the appliance makes by itself. */
export function draftsBy(name: string, category: string): DraftOf {
  return (entry) => ({
    site: '',
    actor: component(name),
    action: 'Execute',
    category,
    result: 'Success',
    correlationID: randomUUID(),
    ...entry,
  });
}
